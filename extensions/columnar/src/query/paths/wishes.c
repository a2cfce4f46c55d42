/*-------------------------------------------------------------------------
 *
 * wishes.c
 *	  The columns that a finished plan asks the loader for.
 *
 * The paths of a table do not tell how much of it a query reads: an index path
 * of a join is run once per row of the other side.  So the chosen plan is asked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/float.h"

#include "cache/cache.h"
#include "query/paths/wishes.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/planning/node_kinds.h"
#include "query/planning/plan_walk.h"
#include "query/planning/planning.h"

/* A table is worth loading if the plan spends on it such a share of what a sequential scan would cost. */
#define WANTED_SHARE (1.0 / 8)
/* Look-ups by index that cost less, some 10 ms, are no analysis, however small the table. */
#define LOOKUPS_COST_MIN 1000

typedef struct Wish
{
	ServedTable table;
	Oid			named_oid;		/* the table that the query names: of a partition, that of the whole tree */
	bool		is_told;
} Wish;

typedef struct PlanReads
{
	const Planning *planning;
	PlannedStmt *stmt;
	double		loops;			/* how often the plan that is looked at runs */
	Cost		limit;			/* no scan costs more: the plan's total, which knows of LIMIT and Memoize */
	Bitmapset  *visited;		/* the subplans that run once */
} PlanReads;

/* Only while the query is planned: append_rel_array is renumbered then. */
static Oid
named_table(PlannerInfo *root, Index relid)
{
	while (root->append_rel_array != NULL && root->append_rel_array[relid] != NULL &&
		   OidIsValid(root->append_rel_array[relid]->parent_reloid))
		relid = root->append_rel_array[relid]->parent_relid;
	return root->simple_rte_array[relid]->relid;
}

void
wishes_add(PlannerInfo *root, const ServedTable *table)
{
	Planning   *planning = planning_current();
	MemoryContext old_context;
	Wish	   *wish;
	ListCell   *lc;

	foreach(lc, planning->wishes)
	{
		if (((const Wish *) lfirst(lc))->table.rel == table->rel)
			return;
	}
	/* The genetic search for joins frees what it made for each order. */
	old_context = MemoryContextSwitchTo(root->planner_cxt);
	wish = palloc0(sizeof(Wish));
	wish->table = *table;
	wish->table.columns = palloc(sizeof(ColumnKey) * Max(list_length(table->attnums), 1));
	memcpy(wish->table.columns, table->columns, sizeof(ColumnKey) * list_length(table->attnums));
	wish->table.attnums = list_copy(table->attnums);
	wish->named_oid = named_table(root, table->rel->relid);
	planning->wishes = lappend(planning->wishes, wish);
	MemoryContextSwitchTo(old_context);
}

/* What the plan has to spend on the table. */
static Cost
least_cost(const ServedTable *table)
{
	return WANTED_SHARE * (table->rel->pages * seq_page_cost + table->rel->tuples * cpu_tuple_cost);
}

static void
note_read(const PlanReads *reads, Index relid, Cost spent)
{
	Oid			oid = rt_fetch(relid, reads->stmt->rtable)->relid;
	ListCell   *lc;

	foreach(lc, reads->planning->wishes)
	{
		Wish	   *wish = lfirst(lc);
		const ServedTable *table = &wish->table;
		Oid			user;

		if (table->oid != oid || wish->is_told || spent < least_cost(table))
			continue;
		wish->is_told = true;
		user = OidIsValid(table->rel->userid) ? table->rel->userid : GetUserId();
		/* PostgreSQL checks it at executor start only, so planning alone must not load others' tables. */
		if (cache_may_read(user, wish->named_oid, 0))
			cache_note_wanted(oid, table->columns, list_length(table->attnums));
	}
}

static bool visit_reads(Plan *plan, void *context);

static void
visit_with(PlanReads *reads, Plan *plan, double loops, Cost limit)
{
	PlanReads	below = *reads;

	below.loops = loops;
	below.limit = limit;
	plan_walk(plan, visit_reads, &below);
	reads->visited = below.visited;
}

static void
visit_init_plans(PlanReads *reads, List *subplans)
{
	ListCell   *lc;

	foreach(lc, subplans)
	{
		int			id = lfirst_node(SubPlan, lc)->plan_id;

		reads->visited = bms_add_member(reads->visited, id);
		plan_walk(list_nth(reads->stmt->subplans, id - 1), visit_reads, reads);
	}
}

/* A node of ours reads its tables wherever it can; it costs less than the plans below it that compute the same. */
static void
visit_ours(PlanReads *reads, CustomScan *scan)
{
	ListCell   *lc;
	int			relid = -1;

	foreach(lc, scan->custom_plans)
		visit_with(reads, lfirst(lc), reads->loops, get_float8_infinity());
	while (scan->custom_plans == NIL && (relid = bms_next_member(scan->custom_relids, relid)) >= 0)
		note_read(reads, relid, get_float8_infinity());
}

static bool
visit_reads(Plan *plan, void *context)
{
	PlanReads  *reads = context;
	Cost		spent = Min(plan->total_cost * reads->loops, reads->limit);

	visit_init_plans(reads, plan->initPlan);
	switch (nodeTag(plan))
	{
			/* The inner side runs for each outer row. */
		case T_NestLoop:
			plan_walk(outerPlan(plan), visit_reads, reads);
			visit_with(reads, innerPlan(plan), reads->loops * Max(outerPlan(plan)->plan_rows, 1), reads->limit);
			return false;
		case T_CustomScan:
			if (!plan_is_ours(plan))
				return true;
			visit_ours(reads, (CustomScan *) plan);
			return false;
		case T_SeqScan:
		case T_SampleScan:
			note_read(reads, ((Scan *) plan)->scanrelid, spent);
			return false;
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
			if (spent >= LOOKUPS_COST_MIN)
				note_read(reads, ((Scan *) plan)->scanrelid, spent);
			return false;
		default:
			return true;
	}
}

/* Whether the plan costs enough to ask for anything: a look-up is not walked. */
static bool
may_ask(const Planning *planning, Cost cost)
{
	ListCell   *lc;

	/* What is cached costs little. */
	if (planning->tables != NIL)
		return true;
	foreach(lc, planning->wishes)
	{
		if (cost >= least_cost(&((const Wish *) lfirst(lc))->table))
			return true;
	}
	return false;
}

void
wishes_tell(const Planning *planning, PlannedStmt *stmt)
{
	const Cost	cost = stmt->planTree->total_cost;
	PlanReads	reads = {.planning = planning, .stmt = stmt, .loops = 1, .limit = cost};
	ListCell   *lc;

	if (!may_ask(planning, cost))
		return;
	plan_walk(stmt->planTree, visit_reads, &reads);
	/* How often the others run is not known: as often as the plan's cost allows. */
	reads.loops = get_float8_infinity();
	foreach(lc, stmt->subplans)
	{
		if (!bms_is_member(foreach_current_index(lc) + 1, reads.visited))
			plan_walk(lfirst(lc), visit_reads, &reads);
	}
}
