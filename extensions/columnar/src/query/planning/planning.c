/*-------------------------------------------------------------------------
 *
 * planning.c
 *	  What is known during one planner() call; penumbra.mode.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sched.h>
#include <unistd.h>

#include "utils/guc.h"

#include "query/planning/planning.h"

int			penumbra_mode = MODE_AUTO;
int			penumbra_threads_per_query = -1;
int			penumbra_max_threads;

#define MAX_THREADS 1024

static const struct config_enum_entry mode_options[] = {
	{"auto", MODE_AUTO, false},
	{"prefer", MODE_PREFER, false},
	{"require", MODE_REQUIRE, false},
	{"off", MODE_OFF, false},
	{NULL, 0, false}
};

/* Marks a planner() call on error_context_stack; has nothing to add to errors. */
static void
mark_planning(void *argument)
{
}

void
planning_begin(Planning *planning, ErrorContextCallback *mark)
{
	mark->previous = error_context_stack;
	mark->callback = mark_planning;
	mark->arg = planning;
	error_context_stack = mark;
}

void
planning_end(const ErrorContextCallback *mark)
{
	error_context_stack = mark->previous;
}

/*
 * Whoever catches an error also takes error_context_stack back, so calls that
 * an error ended are not on it.  A static variable would need a PG_TRY, which
 * costs each query more than all other work of the hooks.
 */
Planning *
planning_current(void)
{
	for (ErrorContextCallback *mark = error_context_stack; mark != NULL; mark = mark->previous)
	{
		if (mark->callback == mark_planning)
			return mark->arg;
	}
	return NULL;
}

PlannerInfo *
planning_level_of(const PlannerGlobal *glob, const SubPlan *subplan)
{
	return list_nth_node(PlannerInfo, glob->subroots, subplan->plan_id - 1);
}

bool
planning_level_is_repeated(const PlannerInfo *root)
{
	for (root = root->parent_root; root != NULL; root = root->parent_root)
	{
		if (root->plan_params != NIL)
			return true;
	}
	return false;
}

int
planning_number_of_level(const PlannerInfo *subroot)
{
	int			number = 1;

	while (list_nth(subroot->glob->subroots, number - 1) != subroot)
		number++;
	return number;
}

CommonTableExpr *
planning_find_cte(const PlannerInfo *root, const RangeTblEntry *rte, PlannerInfo **subroot)
{
	const PlannerInfo *level = root;
	ListCell   *lc;

	if (rte->self_reference)
		return NULL;
	for (Index up = rte->ctelevelsup; up > 0; up--)
		level = level->parent_root;
	foreach(lc, level->parse->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);
		int			plan_id = list_nth_int(level->cte_plan_ids, foreach_current_index(lc));

		if (strcmp(cte->ctename, rte->ctename) != 0)
			continue;
		*subroot = plan_id <= 0 ? NULL : list_nth(root->glob->subroots, plan_id - 1);
		return plan_id <= 0 ? NULL : cte;
	}
	return NULL;
}

PlannerInfo *
planning_level_of_cte(const PlannerInfo *root, const RangeTblEntry *rte, CommonTableExpr **found)
{
	PlannerInfo *subroot;

	*found = planning_find_cte(root, rte, &subroot);
	return *found == NULL || (*found)->cterecursive ? NULL : subroot;
}

void
planning_refuse(const char *reason, const char *subject)
{
	Planning   *planning = planning_current();
	const Refusal *refusal = refusal_find(reason, subject);
	int			place = 0;

	while (place < planning->refusal_count && planning->refusals[place] != refusal)
		place++;
	if (place == PLAN_REFUSALS_MAX)
		place = 0;				/* the oldest is forgotten */
	else if (place == planning->refusal_count)
		planning->refusal_count++;
	memmove(&planning->refusals[place], &planning->refusals[place + 1],
			sizeof(planning->refusals[0]) * (planning->refusal_count - 1 - place));
	planning->refusals[planning->refusal_count - 1] = refusal;
}

const Refusal *
planning_refusal(const Planning *planning)
{
	return planning->refusal_count == 0 ? NULL : planning->refusals[planning->refusal_count - 1];
}

/* That this process may use. */
static int
processor_count(void)
{
	cpu_set_t	processors;

	if (sched_getaffinity(0, sizeof(processors), &processors) == 0)
		return CPU_COUNT(&processors);
	return Max((int) sysconf(_SC_NPROCESSORS_ONLN), 1);
}

void
planning_define_settings(void)
{
	DefineCustomEnumVariable("penumbra.mode",
							 "Whether queries use Penumbra: by cost, wherever it can, always or never.",
							 "With \"require\" a query that reads user tables without it is an error; "
							 "\"prefer\" and \"require\" are for tests.",
							 &penumbra_mode, MODE_AUTO, mode_options, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("penumbra.threads_per_query",
							"Engine threads per query besides the backend itself.",
							"-1 takes max_parallel_workers_per_gather.",
							&penumbra_threads_per_query, -1, -1, MAX_THREADS, PGC_USERSET, GUC_EXPLAIN,
							NULL, NULL, NULL);
	DefineCustomIntVariable("penumbra.max_threads",
							"Threads that run queries in the engine at a time, of all sessions together.",
							"The sessions' own threads count, and run in any case. "
							"The default is the number of processors.",
							&penumbra_max_threads, Min(processor_count(), MAX_THREADS), 1, MAX_THREADS,
							PGC_SIGHUP, GUC_EXPLAIN, NULL, NULL, NULL);
}
