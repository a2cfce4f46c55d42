/*-------------------------------------------------------------------------
 *
 * core_path.c
 *	  Ours beside PostgreSQL's own paths, which are costed by our estimates of
 *	  rows.
 *
 * A nested loop over an index costs as much as there are rows outside, so it
 * seems cheapest of all where their number is underestimated.  Ours costs
 * about the same whatever their number is.  Where we know better (see
 * join_paths.c), the path that ours competes with is costed by what we know.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/restrictinfo.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/core_path.h"
#include "query/paths/window_reads.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/init_plans.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/planning/node_kinds.h"
#include "query/planning/path_walk.h"
#include "query/planning/planning.h"

/*
 * What PostgreSQL's hash tables cost at least for a row, as measured on tables
 * in memory: 150 to 600 ns, of which its own model has a tenth.
 */
#define HASH_BUILD_COST (cpu_tuple_cost * 16)
#define HASH_PROBE_COST (cpu_tuple_cost * 8)
/* A row's way through the inner side of a nested loop, be it Memoize that finds its row: 250 to 400 ns. */
#define INNER_SCAN_COST (cpu_tuple_cost * 16)
/* A row's way through a WindowAgg, which keeps and reads it: 200 to 400 ns. */
#define WINDOW_ROW_COST (cpu_tuple_cost * 10)

/*
 * A sort or a limit above a node of ours at least: rows that leave it may be more
 * than expected, and the engine, which has them, can sort and choose for less.
 */
#define COST_ABOVE_OURS 10

#define DOUBT_OF_JOIN 1.5
#define DOUBT_MAX 8

/* How many times the rows that PostgreSQL expects of the path. */
static double
more_rows(PlannerInfo *root, const Path *path)
{
	const RelPipeline *planned = path->param_info != NULL ? NULL
		: base_pipelines_find(root, path->parent);

	return planned == NULL ? 1 : Max(planned->rows / Max(path->parent->rows, 1), 1);
}

/*
 * By which factor there may be more rows than expected.  Errors of joins multiply,
 * and PostgreSQL, which takes values for evenly spread and independent of each
 * other, mostly expects too few (Leis et al., How Good Are Query Optimizers,
 * Really?, 2015).  Where each row finds one at most, there are no more than before.
 */
static double
doubt(const PlannerInfo *root, const Path *path)
{
	const Path *subpath = path_walk_input(path);
	const JoinPath *join = (const JoinPath *) path;
	double		factor;

	if (subpath != NULL)
		return doubt(root, subpath);
	if (path_is_ours(path))
		factor = pow(DOUBT_OF_JOIN, cost_count_relations(root, path->parent) - 1);
	else if (IsA(path, NestPath) || IsA(path, HashPath) || IsA(path, MergePath))
		factor = doubt(root, join->outerjoinpath) *
			(join->inner_unique ? 1 : DOUBT_OF_JOIN * doubt(root, join->innerjoinpath));
	else
		factor = 1;
	return Min(factor, DOUBT_MAX);
}

static bool
is_of_ours(const Path *path)
{
	while (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	return path_is_ours(path);
}

/* Without what its input costs. */
static Cost
own_cost_above(const Path *path, const Path *subpath)
{
	Cost		own_cost = Max(path->total_cost - subpath->total_cost, 0);

	if (IsA(path, AggPath) && ((const AggPath *) path)->aggstrategy == AGG_HASHED)
		own_cost = Max(own_cost, subpath->rows * HASH_PROBE_COST);
	if (IsA(path, WindowAggPath))
		own_cost = Max(own_cost, subpath->rows * WINDOW_ROW_COST);
	if (IsA(path, SortPath) && is_of_ours(subpath))
		own_cost = Max(own_cost, COST_ABOVE_OURS);
	return own_cost;
}

typedef struct HashedSubplans
{
	const PlannerGlobal *glob;
	int			count;
	double		rows;			/* in all of them */
} HashedSubplans;

static bool
find_hashed_walker(Node *node, void *context)
{
	HashedSubplans *found = context;

	if (node == NULL || IsA(node, AlternativeSubPlan))
		return false;
	if (IsA(node, SubPlan) && ((SubPlan *) node)->useHashTable)
	{
		const Plan *plan = list_nth(found->glob->subplans, ((SubPlan *) node)->plan_id - 1);

		found->count++;
		found->rows += plan->plan_rows;
	}
	return expression_tree_walker(node, find_hashed_walker, context);
}

/* What a scan costs with the hash tables of subqueries, which it builds and looks up. */
static Cost
cost_of_scan(const PlannerInfo *root, const Path *path)
{
	const RelOptInfo *rel = path->parent;
	const bool	is_ours = path_is_ours(path);
	List	   *quals = is_ours ? ((const PenumbraPath *) path)->kept_quals : rel->baserestrictinfo;
	Cost		total_cost = is_ours ? ((const PenumbraPath *) path)->total_cost : path->total_cost;
	HashedSubplans found = {.glob = root->glob};

	if (IS_SIMPLE_REL(rel))
		(void) find_hashed_walker((Node *) extract_actual_clauses(quals, false), &found);
	/* It is tested last, and half of the rows are taken to pass. */
	return total_cost + found.rows * HASH_BUILD_COST + found.count * 2 * path->rows * HASH_PROBE_COST;
}

/* How near the rows are that LIMIT wants. */
typedef enum FirstRows
{
	FIRST_ROWS_EARLY,			/* as near as their share says: a table's, read one by one, and their groups */
	FIRST_ROWS_ANYWHERE,		/* filtered, joined or sorted, they may all come last */
	FIRST_ROWS_LAST,			/* behind all others: a window reads to the end of these */
} FirstRows;

/* As their rows come. */
static bool
gives_all_groups(const Path *path)
{
	return (IsA(path, GroupPath) && ((const GroupPath *) path)->qual == NIL) ||
		(IsA(path, AggPath) && ((const AggPath *) path)->aggstrategy == AGG_SORTED &&
		 ((const AggPath *) path)->qual == NIL);
}

static FirstRows
first_rows_of(PlannerInfo *root, const Path *path)
{
	FirstRows	first = FIRST_ROWS_EARLY;
	const Path *subpath;

	for (; (subpath = path_walk_input(path)) != NULL; path = subpath)
	{
		if (IsA(path, WindowAggPath))
		{
			WindowReads reads = window_reads_of(root, (const WindowAggPath *) path);

			if (reads == WINDOW_READS_ALL)
				return FIRST_ROWS_LAST;
			if (reads != WINDOW_READS_BEHIND || compat_run_conditions((const WindowAggPath *) path) != NIL)
				first = FIRST_ROWS_ANYWHERE;
		}
		else if (!IsA(path, ProjectionPath) && !gives_all_groups(path))
			first = FIRST_ROWS_ANYWHERE;
	}
	return IS_SIMPLE_REL(path->parent) && path->parent->rtekind == RTE_RELATION &&
		path->parent->baserestrictinfo == NIL ? first : FIRST_ROWS_ANYWHERE;
}

/*
 * LIMIT ends a path early if the rows that it wants are near.  Where they may be
 * anywhere, the mean of both is at most as many times wrong one way as the other.
 * They do not come last in each execution of a subquery that is run for many rows.
 */
static Cost
cost_of_limit(PlannerInfo *root, const Path *limit, const Path *subpath)
{
	Cost		all = core_path_cost(root, subpath);
	double		times = all / Max(subpath->total_cost, 1);
	Cost		startup = subpath->startup_cost * times;
	Cost		run = Max(limit->total_cost - subpath->startup_cost, 0);
	Cost		least = is_of_ours(subpath) ? COST_ABOVE_OURS : 0;
	FirstRows	first = first_rows_of(root, subpath);

	if (first == FIRST_ROWS_LAST)
		return least + all;
	if (first == FIRST_ROWS_EARLY)
		return least + startup + run * times;
	if (planning_level_is_repeated(root))
		return least + startup + run;
	return least + sqrt(Min(startup + run, all) * all);
}

Cost
core_path_cost(PlannerInfo *root, const Path *path)
{
	const Path *subpath = path_walk_input(path);
	const JoinPath *join = (const JoinPath *) path;
	const Path *outer;
	const Path *inner;
	Cost		own_cost;

	check_stack_depth();
	if (IsA(path, LimitPath))
		return cost_of_limit(root, path, ((const LimitPath *) path)->subpath);
	if (subpath != NULL)
		return own_cost_above(path, subpath) * more_rows(root, subpath) +
			core_path_cost(root, subpath);
	if (!IsA(path, NestPath) && !IsA(path, HashPath) && !IsA(path, MergePath))
		return cost_of_scan(root, path);
	outer = join->outerjoinpath;
	inner = join->innerjoinpath;
	/* The inner side runs for each outer row, and the loop's own cost contains it. */
	if (IsA(path, NestPath))
		return Max(path->total_cost - outer->total_cost, outer->rows * INNER_SCAN_COST) * more_rows(root, outer) *
			doubt(root, outer) + core_path_cost(root, outer);
	own_cost = Max(path->total_cost - outer->total_cost - inner->total_cost, 0);
	if (IsA(path, HashPath))
		own_cost = Max(own_cost, inner->rows * HASH_BUILD_COST + outer->rows * HASH_PROBE_COST);
	return own_cost * Max(more_rows(root, outer), more_rows(root, inner)) +
		core_path_cost(root, outer) + core_path_cost(root, inner);
}

/* add_path() takes a path for cheaper that costs 1 % less. */
#define WINNING_SHARE 0.98

static bool
finds_second_row_walker(Node *node, void *context)
{
	PlannerInfo *root = context;

	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) && ((SubPlan *) node)->parParam != NIL && subplan_has_second_row(root, (SubPlan *) node))
		return true;
	return expression_tree_walker(node, finds_second_row_walker, context);
}

/*
 * Whether LIMIT may end before a row whose subquery finds two rows, which is an
 * error: in an order that PostgreSQL has below the subquery, without a sort above it.
 */
static bool
may_end_before_error(PlannerInfo *root)
{
	bool		can_fail = false;

	for (; root != NULL; root = root->parent_root)
	{
		can_fail |= root->parse->hasSubLinks &&
			(finds_second_row_walker((Node *) root->parse->jointree->quals, root) ||
			 finds_second_row_walker((Node *) root->parse->targetList, root));
		if (can_fail && limit_needed(root->parse))
			return true;
	}
	return false;
}

/*
 * Drops paths that are kept for their order, though by our estimates of rows
 * ours costs less even with a sort above it, and starts earlier.
 */
static void
drop_worse_orders(PlannerInfo *root, RelOptInfo *rel, const Path *ours)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);
		Path		sorted;

		if (path_is_ours(path) || path->param_info != NULL || path->pathkeys == NIL ||
			path->startup_cost < ours->startup_cost)
			continue;
		compat_cost_sort(&sorted, root, path->pathkeys, ours);
		if (core_path_cost(root, path) > sorted.total_cost && !may_end_before_error(root))
			rel->pathlist = foreach_delete_current(rel->pathlist, lc);
	}
}

void
core_path_outbid(PlannerInfo *root, Path *ours, const Path *core_path)
{
	Cost		total_cost = WINNING_SHARE * core_path->total_cost;

	if (ours->total_cost <= total_cost || core_path_cost(root, core_path) <= ours->total_cost)
		return;
	ours->startup_cost *= total_cost / ours->total_cost;
	ours->total_cost = total_cost;
}

/* Those that are kept for their order. */
static List *
ordered_paths(const RelOptInfo *rel)
{
	List	   *ordered = NIL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (path->pathkeys != NIL && path->param_info == NULL && !path_is_ours(path))
			ordered = lappend(ordered, path);
	}
	return ordered;
}

/* Where Penumbra is forced there is no choice but that of ordinary plans above. */
void
core_path_offer(PlannerInfo *root, RelOptInfo *rel, PenumbraPath *path, const Path *core_path)
{
	Path	   *ours = &path->custom.path;

	if (path->pipeline->reads_working_table)
		return;
	path->total_cost = ours->total_cost;
	if (MODE_IS_FORCED())
	{
		rel->pathlist = lcons(path, may_end_before_error(root) ? ordered_paths(rel) : NIL);
		rel->partial_pathlist = NIL;
		return;
	}
	if (core_path != NULL)
		core_path_outbid(root, ours, core_path);
	add_path(rel, ours);
	if (list_member_ptr(rel->pathlist, path))
		drop_worse_orders(root, rel, ours);
}
