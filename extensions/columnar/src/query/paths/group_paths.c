/*-------------------------------------------------------------------------
 *
 * group_paths.c
 *	  GROUP BY, grouping sets, HAVING and aggregates without either: **Penumbra
 *	  Aggregate**.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/core_path.h"
#include "query/paths/custom_path.h"
#include "query/paths/early_aggregation.h"
#include "query/paths/group_paths.h"
#include "query/paths/hypothetical_sets.h"
#include "query/paths/order_clauses.h"
#include "query/paths/row_order.h"
#include "query/paths/row_sample.h"
#include "query/paths/unnest.h"
#include "query/paths/upper_targets.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translate_aggregate.h"
#include "query/planning/planning.h"
#include "query/planning/quals.h"
#include "query/planning/relation_numbers.h"

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
	List	   *whens = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, parse->groupingSets)
	{
		int			bits = 0;

		foreach(lc2, grouping->refs)
			bits = bits << 1 | !list_member_int((List *) lfirst(lc), lfirst_int(lc2));
		whens = lappend(whens, pipeline_when(pipeline_int4_equals(set, foreach_current_index(lc)),
											 pipeline_int4(bits)));
	}
	return pipeline_case(INT4OID, InvalidOid, whens, pipeline_int4(0));
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

/* Of an aggregation over so many rows. */
static double
grouped_rows(PlannerInfo *root, List *keys, List *having, RelOptInfo *output_rel, double rows)
{
	if (root->parse->groupingSets != NIL)
		return custom_path_ordinary_rows(output_rel);
	if (keys == NIL)
		return 1;
	return clamp_row_est(row_sample_groups(root, keys, rows) *
						 clauselist_selectivity(root, having, 0, JOIN_INNER, NULL));
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

/* The aggregate in the order of the number, if it would show the order of rows. */
static Aggref *
order_by_number(Aggref *aggref, Var *number)
{
	TargetEntry *entry;
	SortGroupClause *clause;

	if (!aggregate_shows_row_order(aggref))
		return aggref;
	aggref = copyObject(aggref);
	entry = makeTargetEntry((Expr *) number, (AttrNumber) (list_length(aggref->args) + 1), NULL, true);
	entry->ressortgroupref = 1;
	clause = makeNode(SortGroupClause);
	clause->tleSortGroupRef = entry->ressortgroupref;
	clause->eqop = get_equality_op_for_ordering_op(Int8LessOperator, NULL);
	clause->sortop = Int8LessOperator;
	clause->hashable = true;
	aggref->args = lappend(aggref->args, entry);
	aggref->aggorder = list_make1(clause);
	return aggref;
}

/* Aggregates of a sorted subquery's rows as they are called above those of the number. */
static void
name_ordered(Pipeline *pipeline, List *ordered, List *aggrefs)
{
	List	   *outputs = stage_outputs(pipeline->top);
	List	   *names = list_copy(outputs);
	ListCell   *lc;

	foreach(lc, names)
	{
		int			place = pipeline_find_expr(ordered, lfirst(lc));

		if (place >= 0)
			lfirst(lc) = list_nth(aggrefs, place);
	}
	pipeline_add_stage(pipeline, PIPELINE_PROJECTION, outputs)->names = names;
}

/*
 * The rows in the order that the aggregates show: a table's, or that of a sorted subquery, whose number is set.  Groups
 * PostgreSQL may sort by their keys first, and so in another order of rows, which "prefer" is not to show.
 */
static RelPipeline *
rows_in_order(PlannerInfo *root, RelOptInfo *input_rel, RelPipeline *planned, Var **number)
{
	RelPipeline *in_order;
	Var		   *name;

	if (row_order_add(root, input_rel, planned, false) || planned->subplans != NIL ||
		(root->parse->groupClause != NIL && penumbra_mode == MODE_PREFER))
		return planned;
	name = makeVar(relation_number_add("sorted", "number"), 1, INT8OID, -1, InvalidOid, 0);
	in_order = base_pipelines_in_order(root, input_rel, name);
	if (in_order == NULL)
		return planned;
	*number = name;
	return in_order;
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
	List	   *aggrefs;
	List	   *ordered = NIL;
	List	   *hypothetical;
	List	   *values;
	Var		   *number = NULL;
	ListCell   *lc;

	if (!find_group_inputs(root, output_rel->reltarget, list_concat_copy(having, kept), &inputs))
		return NULL;
	keys = list_concat_copy(inputs.keys, inputs.extra_keys);
	if (!has_sets)
	{
		planned = upper_targets_join_subplans_of(root, input_rel, planned, list_concat_copy(keys, inputs.aggrefs));
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
		planned = rows_in_order(root, input_rel, planned, &number);
	aggrefs = (List *) rel_pipeline_normalize(root, planned, (Node *) inputs.aggrefs);
	foreach(lc, number == NULL ? NIL : aggrefs)
		ordered = lappend(ordered, order_by_number(lfirst_node(Aggref, lc), number));
	stage = pipeline_add_stage(planned->pipeline, PIPELINE_AGGREGATION, stage_keys);
	stage->aggrefs = hypothetical_sets_replace(number == NULL ? aggrefs : ordered, has_sets, &hypothetical, &values);
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
	if (number != NULL)
		name_ordered(planned->pipeline, ordered, aggrefs);
	if (!upper_targets_join_subplans(root, planned, having))
		return NULL;
	if (having != NIL)
		pipeline_add_stage(planned->pipeline, PIPELINE_FILTER,
						   (List *) rel_pipeline_normalize(root, planned, (Node *) having));
	return planned;
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

	foreach(lc, quals_sort(root, having))
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
	Path	   *ordinary = custom_path_ordinary(root, output_rel, NIL);
	List	   *kept = NIL;
	PathTarget *below;
	RelPipeline *planned;
	PenumbraPath *path;
	QualCost	cost;

	if (having == NIL || unnest_is_below(root, input_rel) || contain_subplans((Node *) target->exprs) ||
		ordinary == NULL || !equal(ordinary->pathtarget->exprs, target->exprs) ||
		!can_group(root, input_rel, output_rel, NIL))
		return false;
	having = split_having(root, input_rel, output_rel, having, &kept);
	below = upper_targets_below_projection(root, UPPERREL_GROUP_AGG, target, kept);
	ordinary = upper_targets_ordinary_below(ordinary, below);
	planned = group_rows(root, input_rel, output_rel, base_pipelines_copy(root, input_rel), having, kept);
	if (ordinary == NULL || !upper_targets_can_have(root, planned, below))
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
	core_path_offer(root, output_rel, path, custom_path_cheapest_ordinary(output_rel, false));
	return true;
}

void
group_paths_add(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, List *having)
{
	RelPipeline *planned = base_pipelines_copy(root, input_rel);

	if (planned != NULL && unnest_is_below(root, input_rel) &&
		(root->parse->groupingSets != NIL ||
		 !unnest_add_targets(root, planned, get_sortgrouplist_exprs(root->parse->groupClause, root->processed_tlist))))
	{
		planning_current()->refused_stages++;
		return;
	}
	if (planned != NULL &&
		!upper_targets_finish(root, UPPERREL_GROUP_AGG, group_rows(root, input_rel, output_rel, planned, having, NIL),
					   CLAUSE_GROUPS, output_rel, output_rel->reltarget, NODE_AGGREGATE, NIL) &&
		!add_group_below_having(root, input_rel, output_rel, having))
		planning_current()->refused_stages++;
}
