/*-------------------------------------------------------------------------
 *
 * planner.c
 *	  Settings and planner hooks.
 *
 * The hooks run for every query of every session, so each returns after a
 * few comparisons where Penumbra has nothing to offer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "utils/guc.h"

#include "query/attempt.h"
#include "query/custom_scan.h"
#include "query/explain.h"
#include "query/inline_ctes.h"
#include "query/join_search.h"
#include "query/paths.h"
#include "query/planner.h"
#include "query/planning.h"
#include "query/privileges.h"
#include "query/refusal.h"
#include "query/repeats.h"
#include "query/require.h"
#include "query/row_source.h"
#include "query/translate.h"
#include "query/wishes.h"

int			penumbra_mode = MODE_AUTO;
int			penumbra_workers = -1;

static planner_hook_type previous_planner_hook = NULL;
static set_rel_pathlist_hook_type previous_set_rel_pathlist_hook = NULL;
static set_join_pathlist_hook_type previous_set_join_pathlist_hook = NULL;
static join_search_hook_type previous_join_search_hook = NULL;
static create_upper_paths_hook_type previous_create_upper_paths_hook = NULL;

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

void
planning_refuse(const char *reason)
{
	planning_current()->reason = reason;
	refusal_count(reason);
}

/* Whether a subquery has one row at most. */
static bool
is_single_row(const Query *query)
{
	const Const *limit = (const Const *) query->limitCount;
	const Node *from = list_length(query->jointree->fromlist) != 1 ? NULL : linitial(query->jointree->fromlist);

	if (from != NULL && IsA(from, RangeTblRef) && query->setOperations == NULL && !query->hasTargetSRFs)
	{
		const RangeTblEntry *rte = rt_fetch(((const RangeTblRef *) from)->rtindex, query->rtable);

		if (rte->rtekind == RTE_SUBQUERY && is_single_row(rte->subquery))
			return true;
	}
	if (limit != NULL && IsA(limit, Const) && !limit->constisnull && DatumGetInt64(limit->constvalue) == 1)
		return true;
	return query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL &&
		!query->hasTargetSRFs;
}

bool
planning_init_plan_must_wait(PlannerInfo *root, const SubPlan *subplan, bool is_conditional, bool is_in_branch)
{
	Query	   *query = list_nth_node(PlannerInfo, root->glob->subroots, subplan->plan_id - 1)->parse;

	if (contains_volatile((Node *) query, root->glob))
		return true;
	if (is_conditional && subplan->subLinkType != EXISTS_SUBLINK && subplan->subLinkType != ARRAY_SUBLINK &&
		!is_single_row(query))
		return true;
	return is_in_branch && translate_can_fail((Node *) query);
}

typedef struct MustWait
{
	bool		is_conditional;
	bool		is_in_branch;
} MustWait;

static bool
must_param_wait(const Param *param, const MustWait *context)
{
	Planning   *planning = planning_current();
	ListCell   *lc;

	if (param->paramkind != PARAM_EXEC || planning == NULL)
		return false;
	for (PlannerInfo *root = planning->root; root != NULL; root = root->parent_root)
	{
		foreach(lc, root->init_plans)
		{
			const SubPlan *subplan = lfirst_node(SubPlan, lc);

			if (list_member_int(subplan->setParam, param->paramid))
				return planning_init_plan_must_wait(root, subplan, context->is_conditional, context->is_in_branch);
		}
	}
	return false;
}

static bool
must_wait_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return must_param_wait((Param *) node, context);
	return expression_tree_walker(node, must_wait_walker, context);
}

bool
planning_must_wait(Node *node, bool is_conditional, bool is_in_branch)
{
	MustWait	context = {.is_conditional = is_conditional || is_in_branch,.is_in_branch = is_in_branch};

	return must_wait_walker(node, &context);
}

static void
penumbra_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	Planning   *planning;

	if (previous_set_rel_pathlist_hook)
		previous_set_rel_pathlist_hook(root, rel, rti, rte);
	if (paths_may_add_scan(rel, rte) && (planning = planning_current()) != NULL &&
		planning->is_enabled)
	{
		planning->root = root;
		paths_add_scan(root, rel, rte);
	}
}

static void
penumbra_set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer_rel,
						   RelOptInfo *inner_rel, JoinType join_type, JoinPathExtraData *extra)
{
	Planning   *planning;

	if (previous_set_join_pathlist_hook)
		previous_set_join_pathlist_hook(root, joinrel, outer_rel, inner_rel, join_type, extra);
	planning = planning_current();
	if (planning != NULL && planning->tables != NIL && !compat_is_partly_aggregated(joinrel))
	{
		planning->root = root;
		paths_add_join(root, joinrel, outer_rel, inner_rel, join_type, extra);
	}
}

static RelOptInfo *
penumbra_join_search(PlannerInfo *root, int levels_needed, List *initial_rels)
{
	Planning   *planning = planning_current();
	bool		is_genetic = enable_geqo && levels_needed >= geqo_threshold;
	RelOptInfo *rel = NULL;

	if (is_genetic && planning != NULL && planning->tables != NIL)
	{
		planning->root = root;
		rel = join_search_greedy(root, initial_rels);
	}
	if (rel != NULL)
		return rel;
	if (previous_join_search_hook)
		return previous_join_search_hook(root, levels_needed, initial_rels);
	return is_genetic ? geqo(root, levels_needed, initial_rels)
		: standard_join_search(root, levels_needed, initial_rels);
}

static void
penumbra_create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
							RelOptInfo *output_rel, void *extra)
{
	Planning   *planning;

	if (previous_create_upper_paths_hook)
		previous_create_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	planning = planning_current();
	if (planning != NULL && planning->is_enabled &&
		(planning->tables != NIL || root->parent_root != NULL))
	{
		planning->root = root;
		paths_add_upper(root, stage, input_rel, output_rel, extra);
	}
}

/* One call of the planners below us, of which `planning` knows. */
static PlannedStmt *
plan_query(COMPAT_PLANNER_PARAMETERS, Planning *planning)
{
	ErrorContextCallback mark = {.previous = error_context_stack, .callback = mark_planning,
								 .arg = planning};
	PlannedStmt *stmt;

	error_context_stack = &mark;
	stmt = (previous_planner_hook ? previous_planner_hook : standard_planner) (COMPAT_PLANNER_ARGUMENTS);
	error_context_stack = mark.previous;
	row_source_resolve(planning, stmt);
	return stmt;
}

/* A plan that costs less is not worth the time that another one takes to make. */
#define REPLAN_COST_MIN 5000

/*
 * Nothing is known of a CTE's columns, so the rows of conditions on them are
 * guessed, and joins of what is guessed to be few are nested loops.  A plan in
 * vectors throughout is linear in its inputs and may seem to cost more.
 */
#define VECTORS_ADVANTAGE 2

static bool
is_better(PlannedStmt *inlined, PlannedStmt *ordinary)
{
	return require_plan_is_penumbra(inlined) &&
		(MODE_IS_FORCED() ||
		 inlined->planTree->total_cost < ordinary->planTree->total_cost * VECTORS_ADVANTAGE);
}

/* A plan that uses Penumbra wherever it can, whatever it seems to cost. */
static PlannedStmt *
plan_forced(COMPAT_PLANNER_PARAMETERS, Planning *planning)
{
	const int	mode = penumbra_mode;
	PlannedStmt *stmt;

	PG_TRY();
	{
		if (!MODE_IS_FORCED())
			penumbra_mode = MODE_PREFER;
		stmt = plan_query(COMPAT_PLANNER_ARGUMENTS, planning);
	}
	PG_FINALLY();
	{
		penumbra_mode = mode;
	}
	PG_END_TRY();
	return stmt;
}

/* The arguments of plan_forced(), and its result. */
typedef struct SecondPlanning
{
	COMPAT_PLANNER_FIELDS
	Planning   *planning;
	PlannedStmt *stmt;
} SecondPlanning;

static void
plan_second(void *argument)
{
	SecondPlanning *second = argument;

	second->stmt = plan_forced(COMPAT_PLANNER_ARGUMENTS_OF(second), second->planning);
}

static PlannedStmt *
penumbra_planner(COMPAT_PLANNER_PARAMETERS)
{
	Planning	planning = {.is_cursor = (cursor_options & CURSOR_OPT_FAST_PLAN) != 0,
							.is_enabled = penumbra_mode != MODE_OFF &&
							(penumbra_mode != MODE_AUTO || cache_is_available())};
	Planning	other;
	/* The planner writes into the query, so the copy is made before. */
	Query	   *inlined = planning.is_enabled ? inline_ctes(query) : NULL;
	PlannedStmt *stmt;

	planning.is_permitted = planning.is_enabled && privileges_permit(query);
	other = planning;
	stmt = plan_query(COMPAT_PLANNER_ARGUMENTS, &planning);
	if (inlined != NULL && planning.tables != NIL &&
		(MODE_IS_FORCED() || stmt->planTree->total_cost >= REPLAN_COST_MIN))
	{
		SecondPlanning second = {COMPAT_PLANNER_VALUES, .query = inlined, .planning = &other};

		/* In the place of a reference a CTE's constants may meet conditions that fail on them. */
		if (attempt(plan_second, &second) && is_better(second.stmt, stmt))
		{
			stmt = second.stmt;
			planning = other;
		}
	}
	if (planning.wishes != NIL)
		wishes_tell(&planning, stmt);
	if (penumbra_mode == MODE_REQUIRE)
		require_check_plan(stmt, &planning);
	/* What was refused on the way to a plan that is all ours is of no interest. */
	if (planning.reason != NULL && require_plan_is_penumbra(stmt))
		planning.reason = NULL;
	explain_note_planning(planning.reason, planning.reason != NULL &&
						  require_plan_uses_penumbra(stmt));
	return stmt;
}

void
planner_define_settings(void)
{
	DefineCustomEnumVariable("penumbra.mode",
							 "Whether queries use Penumbra: by cost, wherever it can, always or never.",
							 "With \"require\" a query that reads user tables without it is an error; "
							 "\"prefer\" and \"require\" are for tests.",
							 &penumbra_mode, MODE_AUTO, mode_options, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("penumbra.workers",
							"Engine threads per query besides the backend itself.",
							"-1 takes max_parallel_workers_per_gather.",
							&penumbra_workers, -1, -1, 1024, PGC_USERSET, 0, NULL, NULL, NULL);
}

void
planner_install_hooks(void)
{
	custom_scan_register();
	explain_install_hook();
	previous_planner_hook = planner_hook;
	planner_hook = penumbra_planner;
	previous_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = penumbra_set_rel_pathlist;
	previous_join_search_hook = join_search_hook;
	join_search_hook = penumbra_join_search;
	previous_set_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = penumbra_set_join_pathlist;
	previous_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = penumbra_create_upper_paths;
}
