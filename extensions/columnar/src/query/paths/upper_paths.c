/*-------------------------------------------------------------------------
 *
 * upper_paths.c
 *	  Aggregation, DISTINCT, ORDER BY and LIMIT over tables that Penumbra
 *	  serves: one path that does all of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/core_path.h"
#include "query/paths/custom_path.h"
#include "query/paths/early_aggregation.h"
#include "query/paths/hypothetical_sets.h"
#include "query/paths/limits.h"
#include "query/paths/order_clauses.h"
#include "query/paths/recursion_paths.h"
#include "query/paths/row_order.h"
#include "query/paths/row_sample.h"
#include "query/paths/scan_paths.h"
#include "query/paths/set_operations.h"
#include "query/paths/subplan_memo.h"
#include "query/paths/subplans.h"
#include "query/paths/unnest.h"
#include "query/paths/upper_paths.h"
#include "query/paths/window_paths.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translate_aggregate.h"
#include "query/planning/expression_columns.h"
#include "query/planning/level_columns.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

/* Remembers the pipeline, whose last clause is `done`, for the stages above and adds its path. */
static void
finish_stage(PlannerInfo *root, UpperRelationKind stage, RelPipeline *planned, int done, RelOptInfo *output_rel,
	   PathTarget *target, NodeKind kind, List *pathkeys)
{
	Path	   *ordinary;
	PenumbraPath *path;

	planned->clauses |= done;
	if (!rel_pipeline_remember_stage(root, stage, output_rel, planned))
		return;
	ordinary = custom_path_cheapest_ordinary(output_rel, true);
	if (ordinary == NULL || !equal(ordinary->pathtarget->exprs, target->exprs))
		return;
	path = custom_path_create(root, output_rel, target, kind, planned, ordinary);
	path->scan_exprs = target->exprs;
	path->custom.path.pathkeys = pathkeys;
	core_path_offer(root, output_rel, path, ordinary);
}

/* Whether the engine computes the target from the pipeline, which is NULL if it is PostgreSQL's. */
static bool
can_have_target(PlannerInfo *root, RelPipeline *planned, const PathTarget *target)
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

/* What the target's expressions, and these conditions on the rows, read of the step's input. */
static PathTarget *
target_below_projection(PlannerInfo *root, UpperRelationKind stage, const PathTarget *target, List *quals)
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

/* A copy of the path that gives what is below its target's expressions; NULL: of such a path there is none. */
static Path *
ordinary_below_projection(const Path *path, PathTarget *below)
{
	Path	   *copy;
	Path	  **subpath;

	if (IsA(path, ProjectionPath))
		return ordinary_below_projection(((const ProjectionPath *) path)->subpath, below);
	copy = path_is_ours(path) ? memcpy(palloc(sizeof(PenumbraPath)), path, sizeof(PenumbraPath))
		: custom_path_copy_node(path);
	if (copy == NULL)
		return NULL;
	subpath = passed_path(copy);
	if (subpath != NULL)
	{
		*subpath = ordinary_below_projection(*subpath, below);
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
	below = target_below_projection(root, stage, target, NIL);
	if (equal(below->exprs, target->exprs) || !can_have_target(root, planned, below))
		return false;
	planned->clauses |= done;
	planned->is_below_projection = true;
	if (planned->before_sort != NULL)
		planned->before_sort->is_below_projection = true;
	ordinary = custom_path_cheapest_ordinary(output_rel, false);
	if (ordinary == NULL || !equal(ordinary->pathtarget->exprs, target->exprs))
		return false;
	ordinary = ordinary_below_projection(ordinary, below);
	if (ordinary == NULL || !rel_pipeline_remember_stage(root, stage, output_rel, planned))
		return false;
	path = custom_path_create(root, output_rel, target, kind, planned, ordinary);
	path->scan_exprs = below->exprs;
	path->custom.path.pathkeys = pathkeys;
	path->custom.path.startup_cost += target->cost.startup;
	path->custom.path.total_cost += target->cost.startup + target->cost.per_tuple * path->custom.path.rows;
	core_path_offer(root, output_rel, path, ordinary);
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

/* Joins the rows with the expressions' subqueries; false: one cannot be, and there may be joins in vain. */
static bool
join_subplans(PlannerInfo *root, RelPipeline *planned, List *exprs)
{
	return !contain_subplans((Node *) exprs) || subplans_join_outputs(root, planned, exprs);
}

/* The same for a target of any expressions.  False: the engine's rows do not give it. */
static bool
finish_target(PlannerInfo *root, UpperRelationKind stage, RelPipeline *planned, int done, RelOptInfo *output_rel,
			  PathTarget *target, NodeKind kind, List *pathkeys)
{
	RelPipeline *below = planned == NULL ? NULL : rel_pipeline_copy(planned);

	if (planned == NULL || (!wants_few_targets(root) && !join_subplans(root, planned, target->exprs)) ||
		!can_have_target(root, planned, target))
		return finish_below_projection(root, stage, below, done, output_rel, target, kind, pathkeys);
	planned->is_below_projection = false;
	finish_stage(root, stage, planned, done, output_rel, target, kind, pathkeys);
	return true;
}

/* ---------------------------------------------------------------- GROUP BY */

typedef struct GroupInputs
{
	PlannerInfo *root;
	List	   *keys;			/* as the query writes them */
	List	   *aggrefs;
	List	   *extra_keys;		/* what the keys determine, and is written in another way */
	List	   *groupings;		/* GroupingFuncs */
	bool		is_in_subplan;
	bool		has_undetermined;	/* a column may differ in a group */
} GroupInputs;

/* Whether the column is one value in a group because the keys have the table's primary key. */
static bool
is_determined(const GroupInputs *inputs, const Var *var)
{
	const RangeTblEntry *rte = planner_rt_fetch(var->varno, inputs->root);
	List	   *constraints = NIL;

	return rte->rtekind == RTE_RELATION && (!rte->inh || rte->relkind == RELKIND_PARTITIONED_TABLE) &&
		check_functional_grouping(rte->relid, var->varno, 0, inputs->keys, &constraints);
}

/* Whether the expression reads, outside of aggregates, a column that may differ in a group. */
static bool
undetermined_walker(Node *node, void *context)
{
	const GroupInputs *inputs = context;

	if (node == NULL || IsA(node, Aggref) || IsA(node, GroupingFunc) || list_member(inputs->keys, node))
		return false;
	if (IsA(node, Var))
		return !is_determined(inputs, (const Var *) node);
	return expression_tree_walker(node, undetermined_walker, context);
}

/*
 * The planner may write an expression of a key in another way, as NOT (a < b)
 * becomes a >= b: its columns differ in a group, and its value does not, so it is
 * one more key.  What a subquery gets is looked up among the groups' outputs.
 */
static bool
group_inputs_walker(Node *node, void *context)
{
	GroupInputs *inputs = context;

	/* A key is looked at as a whole: only columns outside of keys have to be determined by them. */
	if (node == NULL || list_member(inputs->keys, node))
		return false;
	if (IsA(node, Aggref))
		inputs->aggrefs = list_append_unique(inputs->aggrefs, node);
	else if (IsA(node, GroupingFunc))
		inputs->groupings = list_append_unique(inputs->groupings, node);
	else if (IsA(node, Var) && is_determined(inputs, (const Var *) node))
		inputs->extra_keys = list_append_unique(inputs->extra_keys, node);
	else if (IsA(node, Var))
		inputs->has_undetermined |= !inputs->is_in_subplan;
	else if (IsA(node, SubPlan))
	{
		bool		is_nested = inputs->is_in_subplan;

		inputs->is_in_subplan = true;
		(void) expression_tree_walker(node, group_inputs_walker, context);
		inputs->is_in_subplan = is_nested;
	}
	else if (!inputs->is_in_subplan && !IsA(node, List) && !contain_agg_clause(node) && !contain_subplans(node) &&
			 undetermined_walker(node, inputs))
	{
		inputs->has_undetermined |= inputs->root->parse->groupingSets != NIL;
		inputs->extra_keys = list_append_unique(inputs->extra_keys, node);
	}
	else
		return expression_tree_walker(node, group_inputs_walker, context);
	return false;
}

/* The grouping sets as lists of places in the keys, and the extra keys after them, which are in every set. */
static List *
places_of_sets(PlannerInfo *root, const GroupInputs *inputs)
{
	List	   *sets = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, root->parse->groupingSets)
	{
		List	   *places = NIL;

		foreach(lc2, (List *) lfirst(lc))
		{
			SortGroupClause *clause = get_sortgroupref_clause(lfirst_int(lc2), root->parse->groupClause);
			Node	   *key = get_sortgroupclause_expr(clause, root->processed_tlist);

			places = list_append_unique_int(places, pipeline_find_expr(inputs->keys, key));
		}
		for (int i = 0; i < list_length(inputs->extra_keys); i++)
			places = lappend_int(places, list_length(inputs->keys) + i);
		sets = lappend(sets, places);
	}
	return sets;
}

/* CASE WHEN set = 0 THEN ... : a bit per argument, the first is the highest, that the set does not group by it. */
static Node *
grouping_value(const Query *parse, const GroupingFunc *grouping, Var *set)
{
	CaseExpr   *value = makeNode(CaseExpr);
	ListCell   *lc;
	ListCell   *lc2;

	value->casetype = INT4OID;
	value->defresult = (Expr *) pipeline_int4(0);
	foreach(lc, parse->groupingSets)
	{
		CaseWhen   *when = makeNode(CaseWhen);
		int			bits = 0;

		foreach(lc2, grouping->refs)
			bits = bits << 1 | !list_member_int((List *) lfirst(lc), lfirst_int(lc2));
		when->expr = (Expr *) pipeline_int4_equals(set, foreach_current_index(lc));
		when->result = (Expr *) pipeline_int4(bits);
		value->args = lappend(value->args, when);
	}
	return (Node *) value;
}

/* Makes the aggregation one of grouping sets; what GROUPING() is in each is a column above it. */
static void
add_grouping_sets(PlannerInfo *root, Pipeline *pipeline, const GroupInputs *inputs)
{
	PipelineStage *stage = pipeline->top;
	Var		   *set = makeVar(relation_number_add("grouping_sets", "set"), 1, INT4OID, -1, InvalidOid, 0);
	List	   *exprs;
	ListCell   *lc;

	stage->grouping_sets = places_of_sets(root, inputs);
	stage->names = list_make1(set);
	if (inputs->groupings == NIL)
		return;
	exprs = stage_outputs(stage);
	stage = pipeline_add_stage(pipeline, PIPELINE_PROJECTION, NIL);
	stage->names = list_concat_copy(exprs, (List *) relation_numbers_normalize(root, (Node *) inputs->groupings));
	foreach(lc, inputs->groupings)
		exprs = lappend(exprs, grouping_value(root->parse, lfirst_node(GroupingFunc, lc), set));
	stage->exprs = exprs;
}

/*
 * Keys fit the engine's bits, each is a value of the rows, and no two are equal:
 * what is above finds its key by the expression, and (b AND true) of a set
 * without it is null where b is not.
 */
static bool
can_group_by_sets(const Query *parse, const GroupInputs *inputs, List *keys)
{
	List	   *others = NIL;
	ListCell   *lc;

	if (list_length(inputs->keys) < list_length(parse->groupClause))
		return false;
	foreach(lc, keys)
	{
		if (rel_pipeline_needs_no_input(lfirst(lc)) || list_member(others, lfirst(lc)))
			return false;
		others = lappend(others, lfirst(lc));
	}
	return list_length(keys) <= 64;
}

/* Then the rows are grouped once, and its groups are the input of the other sets. */
static bool
has_finest_set(const PipelineStage *stage, int keys)
{
	ListCell   *lc;

	while (stage->kind == PIPELINE_PROJECTION)
		stage = linitial(stage->inputs);
	foreach(lc, stage->grouping_sets)
	{
		if (list_length((List *) lfirst(lc)) == keys)
			return true;
	}
	return false;
}

static double
estimated_rows(RelOptInfo *rel)
{
	Path	   *path = custom_path_cheapest_ordinary(rel, false);

	return path == NULL ? 1 : path->rows;
}

/* Of an aggregation over so many rows. */
static double
grouped_rows(PlannerInfo *root, List *keys, List *having, RelOptInfo *output_rel, double rows)
{
	if (root->parse->groupingSets != NIL)
		return estimated_rows(output_rel);
	if (keys == NIL)
		return 1;
	return clamp_row_est(row_sample_groups(root, keys, rows) *
						 clauselist_selectivity(root, having, 0, JOIN_INNER, NULL));
}

/* The relation's rows, of which the pipeline is a copy, joined with the expressions' subqueries if that can be done. */
static RelPipeline *
join_subplans_of(PlannerInfo *root, RelOptInfo *rel, RelPipeline *planned, List *exprs)
{
	return join_subplans(root, planned, exprs) ? planned : base_pipelines_copy(root, rel);
}

/* What a grouping of the rows reads; false: a key compares in a way of its own, or something may differ in a group. */
static bool
find_group_inputs(PlannerInfo *root, const PathTarget *target, List *having, GroupInputs *inputs)
{
	inputs->root = root;
	if (!order_clauses_keys(root->parse->groupClause, root->processed_tlist, &inputs->keys))
		return false;
	group_inputs_walker((Node *) target->exprs, inputs);
	group_inputs_walker((Node *) having, inputs);
	if (inputs->has_undetermined)
		planning_refuse("grouped query that reads a column which is no key", NULL);
	return !inputs->has_undetermined;
}

/* Makes an aggregation without keys one of GROUP BY: without a row it has no group either. */
static List *
require_rows(GroupInputs *inputs, List *having)
{
	OpExpr	   *is_any = (OpExpr *) pipeline_compare_int8(pipeline_aggref(F_COUNT_, INT8OID, NULL, InvalidOid),
														  BTGreaterStrategyNumber, 0);

	inputs->aggrefs = lappend(inputs->aggrefs, linitial(is_any->args));
	return lappend(list_copy(having), is_any);
}

static bool
shows_row_order(List *aggrefs)
{
	ListCell   *lc;

	foreach(lc, aggrefs)
	{
		if (aggregate_shows_row_order(lfirst_node(Aggref, lc)))
			return true;
	}
	return false;
}

/*
 * The groups of the input's rows, which `planned` computes; NULL: they are
 * PostgreSQL's.  What the kept conditions of HAVING read is among the outputs.
 * Grouping sets keep constant keys, since what is above finds its key by the
 * expression, and neither join subqueries nor aggregate early.
 */
static RelPipeline *
group_rows(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, RelPipeline *planned, List *having,
		   List *kept)
{
	const bool	has_sets = root->parse->groupingSets != NIL;
	GroupInputs inputs = {0};
	PipelineStage *stage;
	List	   *keys;
	List	   *stage_keys;
	List	   *hypothetical;
	List	   *values;

	if (!find_group_inputs(root, output_rel->reltarget, list_concat_copy(having, kept), &inputs))
		return NULL;
	keys = list_concat_copy(inputs.keys, inputs.extra_keys);
	if (!has_sets)
	{
		planned = join_subplans_of(root, input_rel, planned, list_concat_copy(keys, inputs.aggrefs));
		keys = order_clauses_drop_constants(keys);
		if (keys == NIL && inputs.keys != NIL)
			having = require_rows(&inputs, having);
	}
	stage_keys = (List *) rel_pipeline_normalize(root, planned, (Node *) keys);
	if (has_sets && !can_group_by_sets(root->parse, &inputs, stage_keys))
	{
		planning_refuse("grouping sets of constants or equal keys", NULL);
		return NULL;
	}
	if (!has_sets && shows_row_order(inputs.aggrefs))
		(void) row_order_add(root, input_rel, planned, false);
	stage = pipeline_add_stage(planned->pipeline, PIPELINE_AGGREGATION, stage_keys);
	stage->aggrefs = hypothetical_sets_replace((List *) rel_pipeline_normalize(root, planned, (Node *) inputs.aggrefs),
											   &hypothetical, &values);
	if (has_sets)
	{
		add_grouping_sets(root, planned->pipeline, &inputs);
		if (!has_finest_set(planned->pipeline->top, list_length(keys)))
			planned->rows *= list_length(root->parse->groupingSets);
	}
	else if (planned->subplans == NIL)
		early_aggregation_add(root, planned);
	cost_add_aggregation(planned, list_length(keys), list_length(inputs.aggrefs),
						 grouped_rows(root, keys, having, output_rel, planned->rows));
	planned->pipeline->top->rows = planned->rows;
	if (hypothetical != NIL)
	{
		List	   *outputs = stage_outputs(planned->pipeline->top);

		pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, list_concat_copy(outputs, values))->names =
			list_concat_copy(outputs, hypothetical);
	}
	if (!join_subplans(root, planned, having))
		return NULL;
	if (having != NIL)
		pipeline_add_stage(planned->pipeline, PIPELINE_FILTER,
						   (List *) rel_pipeline_normalize(root, planned, (Node *) having));
	return planned;
}

/* Whether set-returning functions of the target list are computed before the step that takes the relation's rows. */
static bool
is_below_sets(const PlannerInfo *root, const RelOptInfo *input_rel)
{
	return root->parse->hasTargetSRFs && !IS_UPPER_REL(input_rel);
}

/* Whether the engine groups the input's rows so; false also where one of the conditions is not its own. */
static bool
can_group(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, List *having)
{
	RelPipeline *planned = base_pipelines_copy(root, input_rel);

	planned = group_rows(root, input_rel, output_rel, planned, having, NIL);
	return planned != NULL && rel_pipeline_check(planned->pipeline);
}

/*
 * HAVING's conditions that the engine evaluates; `kept` are those that PostgreSQL
 * evaluates after them.  In PostgreSQL's order, what is behind one of these and
 * can fail waits for it, and all waits for a volatile one.
 */
static List *
split_having(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, List *having, List **kept)
{
	List	   *pushed = NIL;
	ListCell   *lc;

	foreach(lc, rel_pipeline_sort_quals(root, having))
	{
		Node	   *clause = lfirst(lc);
		bool		waits = *kept != NIL && (expr_can_fail(clause) || contain_volatile_functions((Node *) *kept));

		if (waits || !can_group(root, input_rel, output_rel, list_make1(clause)))
			*kept = lappend(*kept, clause);
		else
			pushed = lappend(pushed, clause);
	}
	return pushed;
}

/*
 * Adds a path whose node has PostgreSQL evaluate what the engine does not know of
 * HAVING, and its projection for the groups that pass.  The pipeline is not
 * remembered: it gives more groups.
 */
static bool
add_group_below_having(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, List *having)
{
	PathTarget *target = output_rel->reltarget;
	Path	   *ordinary = custom_path_cheapest_ordinary(output_rel, false);
	List	   *kept = NIL;
	PathTarget *below;
	RelPipeline *planned;
	PenumbraPath *path;
	QualCost	cost;

	if (having == NIL || is_below_sets(root, input_rel) || contain_subplans((Node *) target->exprs) ||
		ordinary == NULL || !equal(ordinary->pathtarget->exprs, target->exprs) ||
		!can_group(root, input_rel, output_rel, NIL))
		return false;
	having = split_having(root, input_rel, output_rel, having, &kept);
	below = target_below_projection(root, UPPERREL_GROUP_AGG, target, kept);
	ordinary = ordinary_below_projection(ordinary, below);
	planned = group_rows(root, input_rel, output_rel, base_pipelines_copy(root, input_rel), having, kept);
	if (ordinary == NULL || !can_have_target(root, planned, below))
		return false;
	cost_qual_eval(&cost, kept, root);
	cost.startup += target->cost.startup;
	cost.per_tuple += target->cost.per_tuple;
	path = custom_path_create(root, output_rel, target, NODE_AGGREGATE, planned, ordinary);
	path->scan_exprs = below->exprs;
	path->kept_having = kept;
	path->custom.path.startup_cost += cost.startup;
	path->custom.path.total_cost += cost.startup + cost.per_tuple * planned->rows;
	path->custom.path.rows = clamp_row_est(planned->rows * clauselist_selectivity(root, kept, 0, JOIN_INNER, NULL));
	core_path_offer(root, output_rel, path, ordinary);
	return true;
}

/* Of a grouping that is PostgreSQL's over rows that are ours "require" raises an error. */
static void
add_group(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, List *having)
{
	RelPipeline *planned = base_pipelines_copy(root, input_rel);

	if (planned != NULL && is_below_sets(root, input_rel) &&
		(root->parse->groupingSets != NIL ||
		 !unnest_add_targets(root, planned, get_sortgrouplist_exprs(root->parse->groupClause, root->processed_tlist))))
	{
		planning_current()->refused_stages++;
		return;
	}
	if (planned != NULL &&
		!finish_target(root, UPPERREL_GROUP_AGG, group_rows(root, input_rel, output_rel, planned, having, NIL),
					   CLAUSE_GROUPS, output_rel, output_rel->reltarget, NODE_AGGREGATE, NIL) &&
		!add_group_below_having(root, input_rel, output_rel, having))
		planning_current()->refused_stages++;
}

/* Rows of tables and joins get the target's subqueries. */
static RelPipeline *
rows_for_target(PlannerInfo *root, RelOptInfo *rel, const PathTarget *target)
{
	RelPipeline *planned = base_pipelines_copy_below_projection(root, rel);

	if (planned == NULL || planned->clauses != 0 || target == NULL || scan_paths_is_simply_updatable(root) ||
		wants_few_targets(root))
		return planned;
	return join_subplans_of(root, rel, planned, target->exprs);
}

/* ---------------------------------------------------------------- DISTINCT */

/*
 * DISTINCT is an aggregation without aggregates, of whose keys the constant
 * ones can go: they make no more groups.  NULL: it is PostgreSQL's.
 */
static RelPipeline *
distinct_rows(PlannerInfo *root, RelOptInfo *output_rel, const PathTarget *target, RelPipeline *planned)
{
	Query	   *parse = root->parse;
	List	   *keys = NIL;
	ListCell   *lc;

	if (!order_clauses_keys(parse->distinctClause, root->processed_tlist, &keys))
		return NULL;
	foreach(lc, target->exprs)
	{
		if (!list_member(keys, lfirst(lc)))
			return NULL;
	}
	keys = order_clauses_drop_constants(keys);
	if (keys == NIL)
	{
		planning_refuse("DISTINCT of constants only", NULL);
		return NULL;
	}
	pipeline_add_stage(planned->pipeline, PIPELINE_AGGREGATION,
					   (List *) rel_pipeline_normalize(root, planned, (Node *) keys));
	cost_add_aggregation(planned, list_length(keys), 0, estimated_rows(output_rel));
	planned->pipeline->top->rows = planned->rows;
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
	cost_add_filter(planned, 1, estimated_rows(output_rel));
	return planned;
}

static void
add_distinct(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	PathTarget *target = root->upper_targets[UPPERREL_DISTINCT];
	RelPipeline *planned = rows_for_target(root, input_rel, target);

	if (planned == NULL || planned->is_below_projection)
		return;
	if (is_below_sets(root, input_rel) &&
		(root->parse->hasDistinctOn || !unnest_add_targets(root, planned, target->exprs)))
	{
		planning_current()->refused_stages++;
		return;
	}
	planned = (root->parse->hasDistinctOn ? first_rows : distinct_rows) (root, output_rel, target, planned);
	if (can_have_target(root, planned, target))
		finish_stage(root, UPPERREL_DISTINCT, planned, CLAUSE_DISTINCT, output_rel, target, NODE_DISTINCT, NIL);
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
	if (!can_have_target(root, planned, output_rel->reltarget))
		return;
	/* Its rows are computed as they are asked for, maybe without an end. */
	if (root->hasRecursion && planned->pipeline->holds_rows)
		planning_refuse("recursion of which rows would be held back", NULL);
	else if (root->hasRecursion)
	{
		finish_stage(root, UPPERREL_SETOP, planned, CLAUSE_SET_OPERATION, output_rel, output_rel->reltarget,
					 NODE_RECURSION, NIL);
		if (!MODE_IS_FORCED())
			recursion_paths_offer_after_ordinary(root, output_rel, planned);
	}
	/* PostgreSQL's UNION ALL is as good, and its rows come in the members' order. */
	else if (operation->op == SETOP_UNION && operation->all)
		(void) rel_pipeline_remember_stage(root, UPPERREL_SETOP, output_rel, planned);
	else
		finish_stage(root, UPPERREL_SETOP, planned, CLAUSE_SET_OPERATION, output_rel, output_rel->reltarget,
					 NODE_SET_OPERATION, NIL);
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
	RelPipeline *planned = rows_for_target(root, input_rel, target);

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
	(void) finish_target(root, UPPERREL_ORDERED, planned, CLAUSE_ORDER, output_rel, target, NODE_SORT,
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
	RelPipeline *planned = rows_for_target(root, input_rel, target);

	if (planned == NULL || planned->clauses != 0 ||
		(planned->subplans == NIL && !level_columns_hide(root, target->exprs)))
		return;
	if (can_have_target(root, planned, target))
		finish_stage(root, UPPERREL_FINAL, planned, 0, output_rel, target, NODE_JOIN, NIL);
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
	double		bound = parse->setOperations != NULL ? estimated_rows(output_rel) : root->limit_tuples;

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
	limited.rows = estimated_rows(output_rel);
	*planned = limited;
	planned->before_sort = NULL;
	(void) finish_target(root, UPPERREL_FINAL, planned, CLAUSE_LIMIT, output_rel, target, NODE_TOP_N,
						 root->sort_pathkeys);
}

/* A subquery's rows, in any order, are an input of the level above. */
static void
remember_subquery(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	RelPipeline *planned;

	if (root->parent_root == NULL || rel_pipeline_is_known(output_rel))
		return;
	planned = rows_for_target(root, input_rel, root->upper_targets[UPPERREL_FINAL]);
	if (planned == NULL ||
		(is_below_sets(root, input_rel) &&
		 !unnest_add_targets(root, planned, root->upper_targets[UPPERREL_FINAL]->exprs)))
		return;
	if (planned->before_sort != NULL)
		planned = planned->before_sort;
	if (limits_have_no_order(root->parse))
	{
		limits_add_unordered(root, input_rel, planned);
		cost_add_sort(planned, 1, final_target(root, UPPERREL_FINAL, output_rel)->width, root->limit_tuples);
		planned->rows = estimated_rows(output_rel);
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
		finish_target(root, UPPERREL_WINDOW, planned, CLAUSE_WINDOWS, output_rel, target, NODE_WINDOW, pathkeys))
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
	if (is_below_sets(root, input_rel) && (stage == UPPERREL_WINDOW || stage == UPPERREL_ORDERED))
		return;
	switch (stage)
	{
		case UPPERREL_GROUP_AGG:
			add_group(root, input_rel, output_rel, (List *) parse->havingQual);
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
			if (!is_below_sets(root, input_rel))
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
