/*-------------------------------------------------------------------------
 *
 * ordinary_first.c
 *	  Paths whose nodes run PostgreSQL's plan first, and leave it when it has
 *	  cost as much as all of ours.
 *
 *	  Where nobody knows what PostgreSQL's plan costs, ours is known: it reads
 *	  everything in any case.  So a wrong guess costs at most as much again as ours,
 *	  and a right one nothing.  The rows of PostgreSQL's plan wait until it is not
 *	  left any more, which is right only where all of them are read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "query/paths/core_path.h"
#include "query/paths/custom_path.h"
#include "query/paths/ordinary_first.h"
#include "query/paths/upper_targets.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/stages.h"
#include "query/planning/path_walk.h"
#include "query/planning/planning.h"

PenumbraPath *
ordinary_first_create(PlannerInfo *root, RelOptInfo *rel, PathTarget *target, NodeKind kind, const RelPipeline *planned,
					  Path *ordinary)
{
	RelPipeline *copy = rel_pipeline_copy(planned);
	PenumbraPath *path;

	if (!rel_pipeline_set_target(root, copy, target) || !rel_pipeline_check(copy->pipeline))
		return NULL;
	path = custom_path_create(root, rel, target, kind, copy, ordinary);
	path->scan_exprs = target->exprs;
	return path;
}

void
ordinary_first_offer(RelOptInfo *rel, PenumbraPath *path, const Path *ordinary)
{
	path->custom.path.rows = ordinary->rows;
	path->custom.path.startup_cost = path->custom.path.total_cost = path->total_cost = ordinary->total_cost * 0.98;
	add_path(rel, &path->custom.path);
}

/* What the groups on top are made of, in the leader's process alone; NULL: there are none. */
static const Path *
input_of_groups(const Path *path)
{
	const Path *subpath;

	while (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	if (!IsA(path, GroupPath) && !IsA(path, AggPath))
		return NULL;
	for (; (subpath = path_walk_input(path)) != NULL; path = subpath)
	{
		if (!IsA(path, ProjectionPath) && !IsA(path, SortPath) && !IsA(path, IncrementalSortPath) &&
			!IsA(path, GroupPath) && !IsA(path, AggPath))
			return NULL;
	}
	return !path_is_ours(path) && path->parallel_workers == 0 ? path : NULL;
}

/* The sort at the top without the projection below it, if that only gives outputs of groups: keys come through it. */
static RelPipeline *
sort_of_groups(const RelPipeline *planned)
{
	RelPipeline *copy = rel_pipeline_copy(planned);
	const PipelineStage *top = planned->pipeline->top;
	const PipelineStage *outputs = top->kind == PIPELINE_SORT ? linitial(top->inputs) : NULL;
	PipelineStage *sort;
	ListCell   *lc;

	if (outputs == NULL || outputs->kind != PIPELINE_PROJECTION || outputs->names != NIL)
		return copy;
	foreach(lc, top->exprs)
	{
		if (pipeline_find_expr(stage_outputs(linitial(outputs->inputs)), lfirst(lc)) < 0)
			return copy;
	}
	sort = palloc(sizeof(PipelineStage));
	*sort = *top;
	sort->inputs = outputs->inputs;
	copy->pipeline->top = sort;
	return copy;
}

/*
 * Statistics know nothing of HAVING: the wanted groups may be the first ones, or
 * none.  When PostgreSQL's plan is left its last group has a part of its rows, so
 * HAVING must not fail; outputs are computed of the rows that the node gives.
 */
void
ordinary_first_offer_groups(PlannerInfo *root, RelOptInfo *output_rel, PathTarget *target, const RelPipeline *planned)
{
	Path	   *ordinary = custom_path_ordinary(root, output_rel, root->sort_pathkeys);
	const Path *groups = ordinary != NULL && IsA(ordinary, LimitPath) ? ((LimitPath *) ordinary)->subpath : NULL;
	const Path *input = groups == NULL ? NULL : input_of_groups(groups);
	PathTarget *below;
	PenumbraPath *path;
	Cost		cost;
	Cost		all;

	if (MODE_IS_FORCED() || root->parse->havingQual == NULL || input == NULL || root->query_level > 1 ||
		planning_current()->is_cursor || !equal(ordinary->pathtarget->exprs, target->exprs) ||
		contain_subplans((Node *) target->exprs) || groups_can_fail(root->parse->havingQual))
		return;
	below = upper_targets_below_projection(root, UPPERREL_FINAL, target, NIL);
	ordinary = upper_targets_ordinary_below(ordinary, below);
	path = ordinary == NULL ? NULL : ordinary_first_create(root, output_rel, below, NODE_TOP_N,
														 sort_of_groups(planned), ordinary);
	if (path == NULL)
		return;
	cost = path->custom.path.total_cost;
	all = core_path_cost(root, groups);
	if (ordinary->total_cost > cost || cost > all)
		return;
	path->custom.path.pathtarget = target;
	path->custom.path.pathkeys = root->sort_pathkeys;
	path->pipeline->ordinary_input_rows = clamp_row_est(input->rows * cost / all);
	ordinary_first_offer(output_rel, path, ordinary);
}
