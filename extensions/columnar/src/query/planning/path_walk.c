/*-------------------------------------------------------------------------
 *
 * path_walk.c
 *	  What PostgreSQL's paths read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "query/planning/path_walk.h"

const Path *
path_walk_input(const Path *path)
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
			/* an IncrementalSortPath begins with a SortPath */
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
		default:
			return NULL;
	}
}

double
path_walk_rows(const Path *path)
{
	const Path *subpath = path_walk_input(path);
	const JoinPath *join = (const JoinPath *) path;

	check_stack_depth();
	if (subpath != NULL)
		return path_walk_rows(subpath);
	if (IsA(path, LimitPath))
		return Min(path->rows, path_walk_rows(((const LimitPath *) path)->subpath));
	if (IsA(path, NestPath) || IsA(path, HashPath) || IsA(path, MergePath))
		return path->rows + path_walk_rows(join->outerjoinpath) + path_walk_rows(join->innerjoinpath);
	return path->rows;
}

/* A smaller table is read as a whole. */
#define FOUND_IN_ROWS_MIN 10000

bool
path_walk_rows_are_found(const RelOptInfo *rel)
{
	const Path *path = rel->cheapest_total_path;

	return rel->tuples >= FOUND_IN_ROWS_MIN && (IsA(path, IndexPath) || IsA(path, BitmapHeapPath));
}

bool
path_walk_is_looked_up(const Path *path)
{
	const Path *subpath = path_walk_input(path);

	check_stack_depth();
	if (subpath != NULL)
		return path_walk_is_looked_up(subpath);
	switch (nodeTag(path))
	{
		case T_IndexPath:
		case T_BitmapHeapPath:
		case T_MinMaxAggPath:
			return true;
		case T_Path:
			/* What a CTE reads is its InitPlan's. */
			return path->pathtype == T_CteScan;
		case T_LimitPath:
			return path_walk_is_looked_up(((const LimitPath *) path)->subpath);
		case T_SubqueryScanPath:
			return path_walk_is_looked_up(((const SubqueryScanPath *) path)->subpath);
		case T_NestPath:
		case T_HashPath:
		case T_MergePath:
			return path_walk_is_looked_up(((const JoinPath *) path)->outerjoinpath) &&
				path_walk_is_looked_up(((const JoinPath *) path)->innerjoinpath);
		default:
			return false;
	}
}
