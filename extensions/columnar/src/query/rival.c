/*-------------------------------------------------------------------------
 *
 * rival.c
 *	  PostgreSQL's own paths by our estimates of rows.
 *
 * A nested loop over an index costs as much as there are rows outside, so it
 * seems cheapest of all where their number is underestimated.  Ours costs
 * about the same whatever their number is.  Where we know better (see
 * join_paths.c), the path that ours competes with is costed by what we know.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/pathnodes.h"

#include "query/custom_path.h"
#include "query/planned.h"

/* How many times the rows that PostgreSQL expects of the path. */
static double
more_rows(PlannerInfo *root, const Path *path)
{
	const PlannedPipeline *planned = path->param_info != NULL ? NULL
		: planned_of_rel(root, path->parent);

	return planned == NULL ? 1 : Max(planned->rows / Max(path->parent->rows, 1), 1);
}

/* The path that it reads, if it reads one. */
static const Path *
subpath_of(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_MaterialPath:
			return ((const MaterialPath *) path)->subpath;
		case T_MemoizePath:
			return ((const MemoizePath *) path)->subpath;
		case T_GatherPath:
			return ((const GatherPath *) path)->subpath;
		case T_GatherMergePath:
			return ((const GatherMergePath *) path)->subpath;
		case T_ProjectionPath:
			return ((const ProjectionPath *) path)->subpath;
		case T_SortPath:
		case T_IncrementalSortPath:
			return ((const SortPath *) path)->subpath;
		case T_GroupPath:
			return ((const GroupPath *) path)->subpath;
		case T_GroupingSetsPath:
			return ((const GroupingSetsPath *) path)->subpath;
		case T_AggPath:
			return ((const AggPath *) path)->subpath;
		case T_WindowAggPath:
			return ((const WindowAggPath *) path)->subpath;
		case T_LimitPath:
			return ((const LimitPath *) path)->subpath;
		default:
			return NULL;
	}
}

Cost
planned_cost_of_rival(PlannerInfo *root, const Path *path)
{
	const Path *subpath = subpath_of(path);
	const JoinPath *join = (const JoinPath *) path;
	const Path *outer;
	const Path *inner;
	Cost		own_cost;

	check_stack_depth();
	if (custom_path_is_ours(path))
		return ((const PenumbraPath *) path)->total_cost;
	if (subpath != NULL)
		return Max(path->total_cost - subpath->total_cost, 0) * more_rows(root, subpath) +
			planned_cost_of_rival(root, subpath);
	if (!IsA(path, NestPath) && !IsA(path, HashPath) && !IsA(path, MergePath))
		return path->total_cost;
	outer = join->outerjoinpath;
	inner = join->innerjoinpath;
	if (IsA(path, NestPath))
		return Max(path->total_cost - outer->total_cost, 0) * more_rows(root, outer) +
			planned_cost_of_rival(root, outer);
	own_cost = Max(path->total_cost - outer->total_cost - inner->total_cost, 0);
	return own_cost * Max(more_rows(root, outer), more_rows(root, inner)) +
		planned_cost_of_rival(root, outer) + planned_cost_of_rival(root, inner);
}
