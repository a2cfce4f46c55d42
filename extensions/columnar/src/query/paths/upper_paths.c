/*-------------------------------------------------------------------------
 *
 * upper_paths.c
 *	  DISTINCT, set operations, windows, ORDER BY and LIMIT over tables that
 *	  Penumbra serves: one path that does all of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/core_path.h"
#include "query/paths/custom_path.h"
#include "query/paths/group_paths.h"
#include "query/paths/limits.h"
#include "query/paths/order_clauses.h"
#include "query/paths/ordinary_first.h"
#include "query/paths/recursion_paths.h"
#include "query/paths/row_order.h"
#include "query/paths/set_operations.h"
#include "query/paths/subplan_memo.h"
#include "query/paths/unnest.h"
#include "query/paths/upper_paths.h"
#include "query/paths/upper_targets.h"
#include "query/paths/window_paths.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/planning/level_columns.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

/* ---------------------------------------------------------------- DISTINCT */

/*
 * DISTINCT is an aggregation without aggregates, of whose keys the constant
 * ones can go: they make no more groups.  NULL: it is PostgreSQL's.
 */
static RelPipeline *
distinct_rows(PlannerInfo *root, RelOptInfo *output_rel, const PathTarget *target, RelPipeline *planned)
{
	List	   *keys = NIL;

	if (!order_clauses_keys(root->parse->distinctClause, root->processed_tlist, &keys))
		return NULL;
	keys = order_clauses_drop_constants(keys);
	if (keys == NIL)
	{
		planning_refuse("DISTINCT of constants only", NULL);
		return NULL;
	}
	pipeline_add_stage(planned->pipeline, PIPELINE_AGGREGATION,
					   (List *) rel_pipeline_normalize(root, planned, (Node *) keys));
	cost_add_aggregation(planned, list_length(keys), 0, custom_path_ordinary_rows(output_rel));
	planned->pipeline->top->rows = planned->rows;
	planned->clauses |= CLAUSE_DISTINCT;
	return planned;
}

/*
 * DISTINCT ON keeps the rows whose row_number() over a window of its keys, in the order of ORDER BY's others, is 1.
 * Every row's outputs are computed, as PostgreSQL does it.  NULL: it is PostgreSQL's.
 */
static RelPipeline *
first_rows(PlannerInfo *root, RelOptInfo *output_rel, const PathTarget *target, RelPipeline *planned)
{
	const Query *parse = root->parse;
	List	   *keys = NIL;
	List	   *others = NIL;
	WindowFunc *number;
	PipelineStage *stage;
	ListCell   *lc;

	/* Which of several first rows it is may change, which "prefer" is not to show. */
	if (penumbra_mode == MODE_PREFER || !order_clauses_keys(parse->distinctClause, root->processed_tlist, &keys) ||
		!rel_pipeline_set_target(root, planned, target))
		return NULL;
	foreach(lc, parse->sortClause)
	{
		if (!list_member(parse->distinctClause, lfirst(lc)))
			others = lappend(others, lfirst(lc));
	}
	keys = (List *) rel_pipeline_normalize(root, planned, (Node *) order_clauses_drop_constants(keys));
	number = pipeline_add_row_number(planned->pipeline, keys, NIL);
	stage = planned->pipeline->top;
	if (!order_clauses_add(root, planned, others, stage))
		return NULL;
	if (stage->sort_flags == NIL)
	{
		planning_refuse("DISTINCT ON without a further order", NULL);
		return NULL;
	}
	stage->rows = planned->rows;
	cost_add_sort(planned, list_length(stage->exprs), target->width, -1);
	cost_add_window(planned, 1);
	pipeline_add_stage(planned->pipeline, PIPELINE_FILTER,
					   list_make1(pipeline_compare_int8(number, BTEqualStrategyNumber, 1)));
	cost_add_filter(planned, 1, custom_path_ordinary_rows(output_rel));
	return planned;
}

static void
add_distinct(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	PathTarget *target = root->upper_targets[UPPERREL_DISTINCT];
	RelPipeline *planned = upper_targets_rows(root, input_rel, target);

	if (planned == NULL || planned->is_below_projection)
		return;
	if (unnest_is_below(root, input_rel) &&
		(root->parse->hasDistinctOn || !unnest_add_targets(root, planned, target->exprs)))
	{
		planning_current()->refused_stages++;
		return;
	}
	planned = (root->parse->hasDistinctOn ? first_rows : distinct_rows) (root, output_rel, target, planned);
	if (upper_targets_can_have(root, planned, target))
		upper_targets_finish_stage(root, UPPERREL_DISTINCT, planned, CLAUSE_DISTINCT, output_rel, target,
								   NODE_DISTINCT, NIL);
	else
		planning_current()->refused_stages++;
}

/* ---------------------------------------------------------------- set operations */

static void
add_set_operation(PlannerInfo *root, RelOptInfo *output_rel)
{
	const SetOperationStmt *operation = castNode(SetOperationStmt, root->parse->setOperations);
	RelPipeline *planned = set_operations_find(root, output_rel);

	if (planned == NULL)
		return;
	/* What it has done are clauses of its leftmost level. */
	planned->clauses = CLAUSE_SET_OPERATION;
	if (!upper_targets_can_have(root, planned, output_rel->reltarget))
		return;
	/* Its rows are computed as they are asked for, maybe without an end. */
	if (root->hasRecursion && planned->pipeline->holds_rows)
		planning_refuse("recursion of which rows would be held back", NULL);
	else if (root->hasRecursion)
	{
		upper_targets_finish_stage(root, UPPERREL_SETOP, planned, CLAUSE_SET_OPERATION, output_rel,
								   output_rel->reltarget, NODE_RECURSION, NIL);
		if (!MODE_IS_FORCED())
			recursion_paths_offer_after_ordinary(root, output_rel, planned);
	}
	/* PostgreSQL's UNION ALL is as good, and its rows come in the members' order. */
	else if (operation->op == SETOP_UNION && operation->all)
		(void) rel_pipeline_remember_stage(root, UPPERREL_SETOP, output_rel, planned);
	else
		upper_targets_finish_stage(root, UPPERREL_SETOP, planned, CLAUSE_SET_OPERATION, output_rel,
								   output_rel->reltarget, NODE_SET_OPERATION, NIL);
}

/* ---------------------------------------------------------------- ORDER BY, LIMIT */

/* Of set operations the planner tells it by their paths only. */
static PathTarget *
final_target(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *rel)
{
	return root->parse->setOperations == NULL ? root->upper_targets[stage]
		: ((Path *) linitial(rel->pathlist))->pathtarget;
}

/* NULL: no key is left, or one has an order of its own. */
static PipelineStage *
add_sort_stage(PlannerInfo *root, RelPipeline *planned)
{
	PipelineStage *stage = pipeline_add_stage(planned->pipeline, PIPELINE_SORT, NIL);

	if (!order_clauses_add(root, planned, root->parse->sortClause, stage) || stage->exprs == NIL)
		return NULL;
	/* WITH TIES looks at the keys. */
	if (root->parse->limitOption != LIMIT_OPTION_WITH_TIES)
		window_paths_keep_peers(stage);
	return stage;
}

/* Drops what only the filters read, before the rows are copied. */
static void
keep_needed_columns(PlannerInfo *root, RelPipeline *planned, List *exprs)
{
	List	   *vars = pull_var_clause(rel_pipeline_normalize(root, planned, (Node *) exprs),
									   PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS);
	List	   *outputs = stage_outputs(planned->pipeline->top);
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, outputs)
	{
		if (!IsA(lfirst(lc), Var) || pipeline_find_expr(vars, lfirst(lc)) >= 0)
			columns = lappend(columns, lfirst(lc));
	}
	if (list_length(columns) < list_length(outputs))
		pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, columns);
}

static void
add_ordered(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	PathTarget *target = final_target(root, UPPERREL_ORDERED, output_rel);
	RelPipeline *planned = upper_targets_rows(root, input_rel, target);

	if (planned == NULL)
		return;
	planned->before_sort = rel_pipeline_copy(planned);
	if (IS_SIMPLE_REL(input_rel) || IS_JOIN_REL(input_rel))
	{
		List	   *exprs = list_copy(target->exprs);
		ListCell   *lc;

		foreach(lc, root->parse->sortClause)
			exprs = lappend(exprs, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), root->processed_tlist));
		keep_needed_columns(root, planned, exprs);
	}
	if (add_sort_stage(root, planned) == NULL)
		return;
	cost_add_sort(planned, list_length(root->parse->sortClause), target->width, -1);
	(void) upper_targets_finish(root, UPPERREL_ORDERED, planned, CLAUSE_ORDER, output_rel, target, NODE_SORT,
						 root->sort_pathkeys);
}

/*
 * What comes out of tables and joins is PostgreSQL's projection of our rows, unless it has subqueries, or expressions
 * that are columns.
 */
static void
add_subqueries(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	PathTarget *target = root->upper_targets[UPPERREL_FINAL];
	RelPipeline *planned = upper_targets_rows(root, input_rel, target);

	if (planned == NULL || planned->clauses != 0 ||
		(planned->subplans == NIL && !level_columns_hide(root, target->exprs)))
		return;
	if (upper_targets_can_have(root, planned, target))
		upper_targets_finish_stage(root, UPPERREL_FINAL, planned, 0, output_rel, target, NODE_JOIN, NIL);
}

static void
add_limited(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	Query	   *parse = root->parse;
	PathTarget *target = final_target(root, UPPERREL_FINAL, output_rel);
	RelPipeline *planned;
	RelPipeline limited;
	PipelineStage *sort;
	/* the planner does not say it of set operations */
	double		bound = parse->setOperations != NULL ? custom_path_ordinary_rows(output_rel) : root->limit_tuples;

	if (parse->limitCount == NULL || parse->sortClause == NIL)
		return;
	planned = base_pipelines_copy_below_projection(root, input_rel);
	if (planned == NULL)
		return;
	/* The sort stands below a projection to the target at most; both are made anew. */
	sort = limits_sort(planned->pipeline);
	if (sort == NULL)
		return;
	if (parse->limitOption != LIMIT_OPTION_WITH_TIES)
	{
		sort->limit = parse->limitCount;
		sort->offset = parse->limitOffset;
	}
	else
		limits_add_ties(root, planned->pipeline);
	/* Not known while planning: preprocess_limit() expects a tenth, too. */
	if (bound < 0)
		bound = clamp_row_est(planned->rows * 0.1);
	limited = *planned->before_sort;
	limited.pipeline = planned->pipeline;
	limited.clauses = planned->clauses;
	cost_add_sort(&limited, list_length(sort->exprs), target->width, bound);
	limited.rows = custom_path_ordinary_rows(output_rel);
	*planned = limited;
	planned->before_sort = NULL;
	ordinary_first_offer_groups(root, output_rel, target, planned);
	(void) upper_targets_finish(root, UPPERREL_FINAL, planned, CLAUSE_LIMIT, output_rel, target, NODE_TOP_N,
						 root->sort_pathkeys);
}

/* A subquery's rows, in any order, are an input of the level above. */
static void
remember_subquery(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	RelPipeline *planned;

	if (root->parent_root == NULL || rel_pipeline_is_known(output_rel))
		return;
	planned = upper_targets_rows(root, input_rel, root->upper_targets[UPPERREL_FINAL]);
	if (planned == NULL ||
		(unnest_is_below(root, input_rel) &&
		 !unnest_add_targets(root, planned, root->upper_targets[UPPERREL_FINAL]->exprs)))
		return;
	if (planned->before_sort != NULL)
		planned = planned->before_sort;
	if (limits_have_no_order(root->parse))
	{
		limits_add_unordered(root, input_rel, planned);
		cost_add_sort(planned, 1, final_target(root, UPPERREL_FINAL, output_rel)->width, root->limit_tuples);
		planned->rows = custom_path_ordinary_rows(output_rel);
		planned->clauses |= CLAUSE_LIMIT;
	}
	(void) rel_pipeline_remember_stage(root, UPPERREL_FINAL, output_rel, planned);
}

/* ---------------------------------------------------------------- windows */

static void
add_windows(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	PathTarget *target = root->upper_targets[UPPERREL_WINDOW];
	List	   *windows = window_paths_find(output_rel);
	RelPipeline *planned = windows == NIL ? NULL : base_pipelines_copy(root, input_rel);
	List	   *pathkeys;
	bool		in_row_order;

	if (planned == NULL)
		return;
	if (IS_SIMPLE_REL(input_rel) || IS_JOIN_REL(input_rel))
		keep_needed_columns(root, planned, get_tlist_exprs(root->processed_tlist, true));
	/* Partitions may be read side by side. */
	in_row_order = IS_SIMPLE_REL(input_rel) && !root->simple_rte_array[input_rel->relid]->inh &&
		row_order_is_of_windows(root) && window_paths_are_of_all_rows(root, windows) &&
		stage_scan_find_position(stage_outputs(planned->pipeline->top)) == NULL &&
		row_order_add(root, input_rel, planned, true);
	if (window_paths_add_stages(root, planned, windows, in_row_order, &pathkeys) &&
		upper_targets_finish(root, UPPERREL_WINDOW, planned, CLAUSE_WINDOWS, output_rel, target, NODE_WINDOW, pathkeys))
		return;
	/* Not where peers of no order would come in another one. */
	if (!row_order_is_shown(root))
		window_paths_add_sorted(root, base_pipelines_copy(root, input_rel), windows, output_rel);
}

/* ---------------------------------------------------------------- the hook's part */

void
upper_paths_add(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				RelOptInfo *output_rel, void *extra)
{
	Query	   *parse = root->parse;

	if (parse->commandType != CMD_SELECT || parse->rowMarks != NIL ||
		root->rowMarks != NIL || output_rel->pathlist == NIL)
		return;
	if (stage == UPPERREL_SETOP)
		add_set_operation(root, output_rel);
	if (input_rel == NULL || IS_DUMMY_REL(input_rel) ||
		IS_OTHER_REL(input_rel))
		return;
	if (unnest_is_below(root, input_rel) && (stage == UPPERREL_WINDOW || stage == UPPERREL_ORDERED))
		return;
	switch (stage)
	{
		case UPPERREL_GROUP_AGG:
			group_paths_add(root, input_rel, output_rel, (List *) parse->havingQual);
			break;
		case UPPERREL_WINDOW:
			add_windows(root, input_rel, output_rel);
			break;
		case UPPERREL_DISTINCT:
			add_distinct(root, input_rel, output_rel);
			break;
		case UPPERREL_ORDERED:
			add_ordered(root, input_rel, output_rel);
			break;
		case UPPERREL_FINAL:
			if (!unnest_is_below(root, input_rel))
			{
				add_limited(root, input_rel, output_rel);
				add_subqueries(root, input_rel, output_rel);
			}
			remember_subquery(root, input_rel, output_rel);
			subplan_memo_add(root, output_rel);
			break;
		default:
			break;
	}
}
