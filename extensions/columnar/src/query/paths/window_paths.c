/*-------------------------------------------------------------------------
 *
 * window_paths.c
 *	  Window functions over rows that the engine has sorted.
 *
 * The functions are PostgreSQL's; what they cost is mostly the sort below
 * them.  When the hook is called their paths are made, so the cheapest is
 * copied, down to the lowest WindowAgg, and gets another input.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/stratnum.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/typcache.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/core_path.h"
#include "query/paths/custom_path.h"
#include "query/paths/window_paths.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

static WindowAggPath *
cheapest_of(RelOptInfo *rel)
{
	Path	   *cheapest = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (IsA(path, WindowAggPath) && path->param_info == NULL &&
			(cheapest == NULL || path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	return (WindowAggPath *) cheapest;
}

/* The lowest WindowAgg; between two there may be a sort and a projection. */
static WindowAggPath *
lowest_window(WindowAggPath *top)
{
	WindowAggPath *lowest = top;
	Path	   *path = top->subpath;

	for (;;)
	{
		switch (nodeTag(path))
		{
			case T_WindowAggPath:
				lowest = (WindowAggPath *) path;
				path = lowest->subpath;
				break;
			case T_SortPath:
			case T_IncrementalSortPath:
				path = ((SortPath *) path)->subpath;
				break;
			case T_ProjectionPath:
				path = ((ProjectionPath *) path)->subpath;
				break;
			default:
				return lowest;
		}
	}
}

/* The path with another input below `lowest`; what is above a sort starts when all of that has come. */
static Path *
copy_above(const Path *path, const WindowAggPath *lowest, Path *input, Cost *startup_change)
{
	Path	   *copy = custom_path_copy_node(path);
	Cost		total_change = input->total_cost - lowest->subpath->total_cost;
	bool		is_sort = IsA(path, SortPath) || IsA(path, IncrementalSortPath);
	Path	  **subpath = IsA(path, WindowAggPath) ? &((WindowAggPath *) copy)->subpath
		: is_sort ? &((SortPath *) copy)->subpath : &((ProjectionPath *) copy)->subpath;

	if (path == (const Path *) lowest)
	{
		*subpath = input;
		*startup_change = input->startup_cost - lowest->subpath->startup_cost;
	}
	else
		*subpath = copy_above(*subpath, lowest, input, startup_change);
	if (is_sort)
		*startup_change = total_change;
	copy->startup_cost += *startup_change;
	copy->total_cost += total_change;
	return copy;
}

/* The target's expression that the pathkey sorts by; NULL: none, or not in a default btree order. */
static Node *
key_of(const PathKey *pathkey, const PathTarget *target)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, pathkey->pk_eclass->ec_members)
	{
		EquivalenceMember *member = lfirst_node(EquivalenceMember, lc);
		Oid			type = exprType((Node *) member->em_expr);
		/* varchar is sorted as text */
		Node	   *expr = strip_implicit_coercions((Node *) member->em_expr);

		foreach(lc2, target->exprs)
		{
			if (equal(strip_implicit_coercions(lfirst(lc2)), expr) &&
				exprCollation(lfirst(lc2)) == pathkey->pk_eclass->ec_collation &&
				lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf == pathkey->pk_opfamily)
				return lfirst(lc2);
		}
	}
	return NULL;
}

/* Adds the sort below the lowest window; false: a key is constant, no column of its input, or of another order. */
static bool
add_sort(PlannerInfo *root, RelPipeline *planned, const Path *sorted)
{
	PipelineStage *stage = pipeline_add_stage(planned->pipeline, PIPELINE_SORT, NIL);
	ListCell   *lc;

	foreach(lc, sorted->pathkeys)
	{
		const PathKey *pathkey = lfirst_node(PathKey, lc);
		Node	   *key = key_of(pathkey, sorted->pathtarget);

		if (key == NULL || rel_pipeline_needs_no_input(key))
			return false;
		stage->exprs = lappend(stage->exprs, relation_numbers_normalize(root, key));
		stage->sort_flags = lappend_int(stage->sort_flags,
										(compat_pathkey_is_descending(pathkey) ? PIPELINE_SORT_DESCENDING : 0) |
										(pathkey->pk_nulls_first ? PIPELINE_SORT_NULLS_FIRST : 0));
	}
	cost_add_sort(planned, list_length(stage->exprs), sorted->pathtarget->width, -1);
	return true;
}

void
window_paths_add(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	/* Peers may come in another order, which "prefer" is not to show: PostgreSQL's own tests do. */
	RelPipeline *planned = penumbra_mode == MODE_PREFER ? NULL : base_pipelines_copy(root, input_rel);
	WindowAggPath *top = planned == NULL ? NULL : cheapest_of(output_rel);
	WindowAggPath *lowest;
	PenumbraPath *input;
	Path	   *path;
	Cost		startup_change;

	if (top == NULL)
		return;
	lowest = lowest_window(top);
	if (lowest->subpath->pathkeys == NIL || custom_path_copy_node(lowest->subpath) == NULL ||
		!add_sort(root, planned, lowest->subpath))
		return;
	if (!rel_pipeline_set_target(root, planned, lowest->subpath->pathtarget) || !rel_pipeline_check(planned->pipeline))
		return;
	input = custom_path_create(root, output_rel, lowest->subpath->pathtarget, NODE_SORT, planned,
							   custom_path_copy_node(lowest->subpath));
	input->scan_exprs = lowest->subpath->pathtarget->exprs;
	input->custom.path.pathkeys = lowest->subpath->pathkeys;
	input->total_cost = input->custom.path.total_cost;
	path = copy_above((Path *) top, lowest, (Path *) input, &startup_change);
	if (MODE_IS_FORCED())
	{
		output_rel->pathlist = list_make1(path);
		output_rel->partial_pathlist = NIL;
		return;
	}
	core_path_outbid(root, path, &top->path);
	add_path(output_rel, path);
}
