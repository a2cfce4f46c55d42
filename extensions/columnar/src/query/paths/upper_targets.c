/*-------------------------------------------------------------------------
 *
 * upper_targets.c
 *	  The target list of an aggregation, a sort and what else PostgreSQL plans above
 *	  joins: the engine's, or PostgreSQL's projection of the engine's rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/core_path.h"
#include "query/paths/custom_path.h"
#include "query/paths/order_clauses.h"
#include "query/paths/scan_paths.h"
#include "query/paths/subplans.h"
#include "query/paths/upper_targets.h"
#include "query/planning/expression_columns.h"

void
upper_targets_finish_stage(PlannerInfo *root, UpperRelationKind stage, RelPipeline *planned, int done,
						   RelOptInfo *output_rel, PathTarget *target, NodeKind kind, List *pathkeys)
{
	Path	   *ordinary;
	PenumbraPath *path;

	planned->clauses |= done;
	if (!rel_pipeline_remember_stage(root, stage, output_rel, planned))
		return;
	ordinary = custom_path_ordinary(root, output_rel, pathkeys);
	if (ordinary == NULL || !equal(ordinary->pathtarget->exprs, target->exprs))
		return;
	path = custom_path_create(root, output_rel, target, kind, planned, ordinary);
	path->scan_exprs = target->exprs;
	path->custom.path.pathkeys = pathkeys;
	core_path_offer(root, output_rel, path, custom_path_cheapest_ordinary(output_rel, false));
}

bool
upper_targets_can_have(PlannerInfo *root, RelPipeline *planned, const PathTarget *target)
{
	return planned != NULL && rel_pipeline_set_target(root, planned, target) && rel_pipeline_check(planned->pipeline);
}

typedef struct ProjectionInputs
{
	const PlannerInfo *root;
	List	   *keys;			/* expressions that come as a whole, as the query writes them */
	List	   *exprs;			/* found */
} ProjectionInputs;

static bool
projection_inputs_walker(Node *node, void *context)
{
	ProjectionInputs *inputs = context;

	if (node == NULL)
		return false;
	/* a placeholder's value was null before its expression's would be */
	if (!IsA(node, Aggref) && !IsA(node, GroupingFunc) && !IsA(node, WindowFunc) && !IsA(node, Var) &&
		!IsA(node, PlaceHolderVar) && !list_member(inputs->keys, node) &&
		!expression_columns_is_one(inputs->root, node))
		return expression_tree_walker(node, projection_inputs_walker, context);
	inputs->exprs = list_append_unique(inputs->exprs, node);
	return false;
}

/* What windows partition and order by: their input has it computed. */
static List *
window_keys(PlannerInfo *root)
{
	List	   *keys = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, root->parse->windowClause)
	{
		WindowClause *window = lfirst_node(WindowClause, lc);

		foreach(lc2, list_concat_copy(window->partitionClause, window->orderClause))
			keys = lappend(keys, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc2), root->processed_tlist));
	}
	return keys;
}

PathTarget *
upper_targets_below_projection(PlannerInfo *root, UpperRelationKind stage, const PathTarget *target, List *quals)
{
	PathTarget *below = create_empty_pathtarget();
	ProjectionInputs inputs = {.root = root};
	ListCell   *lc;

	(void) order_clauses_keys(root->parse->groupClause, root->processed_tlist, &inputs.keys);
	if (stage != UPPERREL_GROUP_AGG)
		inputs.keys = list_concat(inputs.keys, window_keys(root));
	(void) projection_inputs_walker((Node *) target->exprs, &inputs);
	(void) projection_inputs_walker((Node *) quals, &inputs);
	foreach(lc, inputs.exprs)
		add_column_to_pathtarget(below, lfirst(lc), 0);
	return set_pathtarget_cost_width(root, below);
}

/* Where the path keeps the one that it passes the rows of, as they are; NULL: it is no such path. */
static Path **
passed_path(Path *path)
{
	switch (nodeTag(path))
	{
		case T_SortPath:
		case T_IncrementalSortPath:
			return &((SortPath *) path)->subpath;
		case T_LimitPath:
			return &((LimitPath *) path)->subpath;
		case T_GatherPath:
			return &((GatherPath *) path)->subpath;
		case T_GatherMergePath:
			return &((GatherMergePath *) path)->subpath;
		default:
			return NULL;
	}
}

/* Whether the path's node computes a target from what it reads. */
static bool
computes_target(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_CustomPath:
		case T_Path:
		case T_IndexPath:
		case T_BitmapHeapPath:
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
		case T_GroupPath:
		case T_AggPath:
		case T_GroupingSetsPath:
		case T_WindowAggPath:
			return true;
		default:
			return false;
	}
}

Path *
upper_targets_ordinary_below(const Path *path, PathTarget *below)
{
	Path	   *copy;
	Path	  **subpath;

	if (IsA(path, ProjectionPath))
		return upper_targets_ordinary_below(((const ProjectionPath *) path)->subpath, below);
	copy = path_is_ours(path) ? memcpy(palloc(sizeof(PenumbraPath)), path, sizeof(PenumbraPath))
		: custom_path_copy_node(path);
	if (copy == NULL)
		return NULL;
	subpath = passed_path(copy);
	if (subpath != NULL)
	{
		*subpath = upper_targets_ordinary_below(*subpath, below);
		if (*subpath == NULL)
			return NULL;
	}
	else if (!computes_target(copy))
		return NULL;
	copy->pathtarget = below;
	return copy;
}

/*
 * Adds a path whose node's projection is PostgreSQL's: it computes from the
 * engine's rows what the engine does not know.  False: there is none.
 */
static bool
finish_below_projection(PlannerInfo *root, UpperRelationKind stage, RelPipeline *planned, int done,
						RelOptInfo *output_rel, PathTarget *target, NodeKind kind, List *pathkeys)
{
	PathTarget *below;
	Path	   *ordinary;
	PenumbraPath *path;

	if (planned == NULL || target == NULL || contain_subplans((Node *) target->exprs))
		return false;
	below = upper_targets_below_projection(root, stage, target, NIL);
	if (equal(below->exprs, target->exprs) || !upper_targets_can_have(root, planned, below))
		return false;
	planned->clauses |= done;
	planned->is_below_projection = true;
	if (planned->before_sort != NULL)
		planned->before_sort->is_below_projection = true;
	ordinary = custom_path_ordinary(root, output_rel, pathkeys);
	if (ordinary == NULL || !equal(ordinary->pathtarget->exprs, target->exprs))
		return false;
	ordinary = upper_targets_ordinary_below(ordinary, below);
	if (ordinary == NULL || !rel_pipeline_remember_stage(root, stage, output_rel, planned))
		return false;
	path = custom_path_create(root, output_rel, target, kind, planned, ordinary);
	path->scan_exprs = below->exprs;
	path->custom.path.pathkeys = pathkeys;
	path->custom.path.startup_cost += target->cost.startup;
	path->custom.path.total_cost += target->cost.startup + target->cost.per_tuple * path->custom.path.rows;
	core_path_offer(root, output_rel, path, custom_path_cheapest_ordinary(output_rel, false));
	return true;
}

/* Whether few of the rows ask for the target's subqueries: with LIMIT, unless one tells rows apart or orders them. */
static bool
wants_few_targets(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return limit_needed(parse) && parse->distinctClause == NIL &&
		!contain_subplans((Node *) get_sortgrouplist_exprs(parse->sortClause, root->processed_tlist));
}

bool
upper_targets_join_subplans(PlannerInfo *root, RelPipeline *planned, List *exprs)
{
	return !contain_subplans((Node *) exprs) || subplans_join_outputs(root, planned, exprs);
}

bool
upper_targets_finish(PlannerInfo *root, UpperRelationKind stage, RelPipeline *planned, int done, RelOptInfo *output_rel,
			  PathTarget *target, NodeKind kind, List *pathkeys)
{
	RelPipeline *below = planned == NULL ? NULL : rel_pipeline_copy(planned);

	if (planned == NULL || (!wants_few_targets(root) && !upper_targets_join_subplans(root, planned, target->exprs)) ||
		!upper_targets_can_have(root, planned, target))
		return finish_below_projection(root, stage, below, done, output_rel, target, kind, pathkeys);
	planned->is_below_projection = false;
	upper_targets_finish_stage(root, stage, planned, done, output_rel, target, kind, pathkeys);
	return true;
}

RelPipeline *
upper_targets_join_subplans_of(PlannerInfo *root, RelOptInfo *rel, RelPipeline *planned, List *exprs)
{
	return upper_targets_join_subplans(root, planned, exprs) ? planned : base_pipelines_copy(root, rel);
}

RelPipeline *
upper_targets_rows(PlannerInfo *root, RelOptInfo *rel, const PathTarget *target)
{
	RelPipeline *planned = base_pipelines_copy_below_projection(root, rel);

	if (planned == NULL || planned->clauses != 0 || target == NULL || scan_paths_is_simply_updatable(root) ||
		wants_few_targets(root))
		return planned;
	return upper_targets_join_subplans_of(root, rel, planned, target->exprs);
}
