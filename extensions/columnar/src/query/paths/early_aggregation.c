/*-------------------------------------------------------------------------
 *
 * early_aggregation.c
 *	  Aggregation below joins.
 *
 * Rows of sales that have the same store and date meet the same stores and
 * dates, so they can be added up before the joins, which then look up a few
 * thousand combinations in place of millions of rows.
 *
 *	  aggregation (keys, sum(x))		projection (keys, sums as sum(x))
 *		join ... join					  aggregation (keys, sum(part))
 *		  scan							    join ... join
 *										      projection (columns read above, parts)
 *										        aggregation (those columns, sum(x) as part)
 *										          scan
 *
 * It is the same because:
 *
 * - All that the stages above read of the scan, parts of aggregates aside, are
 *	 keys of the early aggregation, and values of these that are equal are the
 *	 same in every respect (so no numerics, floats, char(n) or intervals).  So
 *	 what one row of a group matches and passes, all do.
 * - Each join gives for a row what it gives for it alone: not one that keeps
 *	 rows of the other side that nothing matched.
 * - The aggregates can be made of those of parts.  What they read comes from
 *	 the scan and cannot fail: after an error of a row that a join drops
 *	 PostgreSQL's plan would have to run in place of ours.
 * - With keys there is no group without rows, of which count() would be NULL.
 * - The sum of a CASE whose conditions the joins decide, of columns of the scan
 *	 or nothing, is the sum of that CASE of their sums.
 *
 * Source: Yan and Larson, "Eager aggregation and lazy aggregation", VLDB 1995.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "query/paths/early_aggregation.h"
#include "query/paths/row_sample.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translation.h"
#include "query/planning/relation_numbers.h"

/* Rows of a group at least, so that the joins' work that is saved is worth the aggregation's. */
#define GROUP_ROWS_MIN 8.0
#define EARLY_KEYS_MAX 8

/* The aggregation to be split, and what is found of it. */
typedef struct Split
{
	PipelineStage *leaf;		/* the scan, with its filters */
	List	   *outputs;		/* of the leaf */
	List	   *above;			/* joins and filters over it, the lowest first */
	List	   *columns;		/* of the leaf that stages above read */
	List	   *parts;			/* aggregates of the leaf's rows */
	List	   *part_names;		/* Vars that stand for them above */
	List	   *whole;			/* the aggregates over parts */
	List	   *values;			/* what the query's aggregates are, made of those */
} Split;

/* ---------------------------------------------------------------- stages */

/* From the aggregation down the probe sides to the scan; false: something else is in between. */
static bool
find_leaf(const PipelineStage *aggregation, Split *split)
{
	bool		has_join = false;

	for (PipelineStage *stage = linitial(aggregation->inputs);; stage = linitial(stage->inputs))
	{
		switch (stage->kind)
		{
			case PIPELINE_JOIN:
				if (stage->join_kind != PENUMBRA_JOIN_INNER && stage->join_kind != PENUMBRA_JOIN_LEFT &&
					stage->join_kind != PENUMBRA_JOIN_SEMI && stage->join_kind != PENUMBRA_JOIN_ANTI)
					return false;
				has_join = true;
				split->leaf = linitial(stage->inputs);
				split->above = lcons(stage, split->above);
				break;
			case PIPELINE_FILTER:
				split->above = lcons(stage, split->above);
				break;
			case PIPELINE_SCAN:
				/* Filters right above the scan are the leaf's. */
				while (has_join && ((PipelineStage *) linitial(split->above))->kind == PIPELINE_FILTER)
					split->above = list_delete_first(split->above);
				split->outputs = stage_outputs(stage);
				return has_join && stage->source == NULL && split->leaf->rows > 0;
			default:
				return false;
		}
	}
}

typedef struct ColumnsRead
{
	const List *outputs;		/* of the leaf */
	List	   *columns;
} ColumnsRead;

static bool
columns_read_walker(Node *node, void *context)
{
	ColumnsRead *read = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && pipeline_find_expr(read->outputs, node) >= 0)
		read->columns = list_append_unique(read->columns, node);
	return expression_tree_walker(node, columns_read_walker, context);
}

static bool
are_equal_values_the_same(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case UUIDOID:
		case TEXTOID:
		case VARCHAROID:
			return true;
		default:
			return false;
	}
}

/* The leaf's columns that stages above read beside aggregates; false: rows cannot be grouped by them. */
static bool
find_columns(const PipelineStage *aggregation, Split *split)
{
	ColumnsRead read = {.outputs = split->outputs};
	ListCell   *lc;

	columns_read_walker((Node *) aggregation->exprs, &read);
	foreach(lc, split->above)
	{
		const PipelineStage *stage = lfirst(lc);

		columns_read_walker((Node *) stage->exprs, &read);
		columns_read_walker((Node *) stage->join_keys, &read);
	}
	columns_read_walker((Node *) split->whole, &read);
	split->columns = read.columns;
	foreach(lc, read.columns)
	{
		if (!are_equal_values_the_same(exprType(lfirst(lc))))
			return false;
	}
	return read.columns != NIL && list_length(read.columns) <= EARLY_KEYS_MAX;
}

/* ---------------------------------------------------------------- aggregates */

static Aggref *
make_aggregate(Oid function, Oid type, Expr *argument)
{
	Aggref	   *aggref = makeNode(Aggref);

	aggref->aggfnoid = function;
	aggref->aggtype = type;
	aggref->aggargtypes = list_make1_oid(exprType((Node *) argument));
	aggref->args = list_make1(makeTargetEntry(argument, 1, NULL, false));
	aggref->aggkind = AGGKIND_NORMAL;
	aggref->aggsplit = AGGSPLIT_SIMPLE;
	aggref->aggno = aggref->aggtransno = -1;
	aggref->location = -1;
	return aggref;
}

/* The name of a part among the split's, where it is added if it is missing. */
static Expr *
find_part(Split *split, Aggref *part, const char *name)
{
	int			place = pipeline_find_expr(split->parts, (Node *) part);

	if (place < 0)
	{
		place = list_length(split->parts);
		split->parts = lappend(split->parts, part);
		split->part_names = lappend(split->part_names,
									makeVar(relation_number_add("part", psprintf("%s_%d", name, place + 1)), 1,
											part->aggtype, -1, part->aggcollid, 0));
	}
	return list_nth(split->part_names, place);
}

static Expr *
add_whole(Split *split, Aggref *whole)
{
	split->whole = list_append_unique(split->whole, whole);
	return (Expr *) whole;
}

/* The sum of int8 parts, a numeric. */
static Expr *
sum_of_integers(Split *split, Expr *part)
{
	return add_whole(split, make_aggregate(F_SUM_INT8, NUMERICOID, part));
}

static Expr *
as_int8(Expr *numeric)
{
	return (Expr *) makeFuncExpr(F_INT8_NUMERIC, INT8OID, list_make1(numeric), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* avg() is numeric_div() of the sum by the count, as PostgreSQL's own function for it. */
static Expr *
split_average(Split *split, const Aggref *aggref, Oid sum_function, Oid sum_type)
{
	Aggref	   *sum = copyObject(unconstify(Aggref *, aggref));
	Aggref	   *count = copyObject(sum);
	Expr	   *part;
	Expr	   *whole;

	sum->aggfnoid = sum_function;
	sum->aggtype = sum_type;
	count->aggfnoid = F_COUNT_ANY;
	count->aggtype = INT8OID;
	part = find_part(split, sum, "sum");
	whole = sum_type == INT8OID ? sum_of_integers(split, part)
		: add_whole(split, make_aggregate(F_SUM_NUMERIC, NUMERICOID, part));
	return (Expr *) makeFuncExpr(F_NUMERIC_DIV, NUMERICOID,
								 list_make2(whole, sum_of_integers(split, find_part(split, count, "count"))),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* What stands for a result of the CASE in that of sums; NULL: it reads other tables, too. */
static Expr *
split_result(Split *split, const Aggref *aggref, Expr *result)
{
	Aggref	   *part;

	if (result == NULL || (IsA(result, Const) && ((Const *) result)->constisnull))
		return (Expr *) makeNullConst(aggref->aggtype, -1, InvalidOid);
	if (!pipeline_reads_only(split->outputs, result))
		return NULL;
	part = copyObject(unconstify(Aggref *, aggref));
	linitial_node(TargetEntry, part->args)->expr = result;
	return find_part(split, part, "sum");
}

/* A sum of a CASE whose conditions read other tables: the CASE of sums; NULL: it is something else. */
static Expr *
split_case(Split *split, const Aggref *aggref)
{
	CaseExpr   *value = (CaseExpr *) linitial_node(TargetEntry, aggref->args)->expr;
	ListCell   *lc;

	if (!IsA(value, CaseExpr) || value->arg != NULL || pipeline_reads_only(split->outputs, value))
		return NULL;
	value = copyObject(value);
	value->casetype = aggref->aggtype;
	value->casecollid = InvalidOid;
	foreach(lc, value->args)
	{
		CaseWhen   *when = lfirst_node(CaseWhen, lc);

		when->result = split_result(split, aggref, when->result);
		if (when->result == NULL)
			return NULL;
	}
	value->defresult = split_result(split, aggref, value->defresult);
	return value->defresult == NULL ? NULL : (Expr *) value;
}

/* What is summed over the joins' rows: the part, or a CASE of parts. */
static Expr *
part_of_sum(Split *split, Aggref *aggref)
{
	Expr	   *value = split_case(split, aggref);

	return value != NULL ? value : find_part(split, aggref, "sum");
}

/* What the aggregate is, made of aggregates over parts; NULL: it cannot be. */
static Expr *
split_aggregate(Split *split, Aggref *aggref)
{
	PenumbraAggregate function;
	Aggref	   *whole;

	if (aggref->aggdistinct != NIL || aggref->aggorder != NIL || aggref->aggkind != AGGKIND_NORMAL)
		return NULL;
	switch (aggref->aggfnoid)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
			return as_int8(sum_of_integers(split, find_part(split, aggref, "count")));
		case F_SUM_INT2:
		case F_SUM_INT4:
			return as_int8(sum_of_integers(split, part_of_sum(split, aggref)));
		case F_SUM_INT8:
		case F_SUM_NUMERIC:
			return add_whole(split, make_aggregate(F_SUM_NUMERIC, NUMERICOID, part_of_sum(split, aggref)));
		case F_AVG_INT2:
			return split_average(split, aggref, F_SUM_INT2, INT8OID);
		case F_AVG_INT4:
			return split_average(split, aggref, F_SUM_INT4, INT8OID);
		case F_AVG_INT8:
			return split_average(split, aggref, F_SUM_INT8, NUMERICOID);
		case F_AVG_NUMERIC:
			return split_average(split, aggref, F_SUM_NUMERIC, NUMERICOID);
		default:
			break;
	}
	if (!function_map_aggregate(aggref, &function) ||
		(function != PENUMBRA_AGG_MIN && function != PENUMBRA_AGG_MAX))
		return NULL;
	whole = make_aggregate(aggref->aggfnoid, aggref->aggtype,
						   find_part(split, aggref, function == PENUMBRA_AGG_MIN ? "min" : "max"));
	whole->aggcollid = aggref->aggcollid;
	whole->inputcollid = aggref->inputcollid;
	return add_whole(split, whole);
}

/* Whether what the parts read comes from the leaf and cannot fail. */
static bool
can_evaluate_early(const Split *split)
{
	Translation *translation = translation_begin(NULL, NULL);
	PipelineStage *scan = split->leaf;
	List	   *exprs = NIL;
	bool		can;
	ListCell   *lc;
	ListCell   *lc2;

	while (scan->kind != PIPELINE_SCAN)
		scan = linitial(scan->inputs);
	foreach(lc, split->parts)
	{
		const Aggref *part = lfirst_node(Aggref, lc);

		foreach(lc2, part->args)
			exprs = lappend(exprs, lfirst_node(TargetEntry, lc2)->expr);
		if (part->aggfilter != NULL)
			exprs = lappend(exprs, part->aggfilter);
	}
	can = stage_scan_add_to_plan(translation, scan);
	foreach(lc, exprs)
	{
		PenumbraExpr expr = can ? translate_expr(translation, lfirst(lc)) : -1;

		can = expr >= 0 && translation->runtime_exprs == NIL &&
			!penumbra_plan_expr_can_fail(translation->plan, expr);
	}
	translation_end(translation);
	return can;
}

/* ---------------------------------------------------------------- estimates */

/*
 * The groups of the early aggregation, if they are few against the rows that
 * joins give too.  Columns are taken for independent of each other, so there
 * will hardly be more.
 */
static double
estimated_groups(PlannerInfo *root, const Split *split, double joined_rows)
{
	const Var  *first = linitial_node(Var, split->columns);
	Index		relid = relation_number_relid(root, first->varno);
	double		rows = Min(split->leaf->rows, joined_rows);
	double		groups = 1;
	ListCell   *lc;

	if (relid == 0)
		return 0;
	foreach(lc, split->columns)
	{
		Var		   *column = copyObject(lfirst_node(Var, lc));

		column->varno = relid;
		groups *= row_sample_groups(root, list_make1(column), split->leaf->rows);
	}
	return groups * GROUP_ROWS_MIN <= rows ? groups : 0;
}

/* ---------------------------------------------------------------- the new stages */

void
early_aggregation_add(PlannerInfo *root, RelPipeline *planned)
{
	PipelineStage *aggregation = planned->pipeline->top;
	Split		split = {0};
	Pipeline	pipeline = *planned->pipeline;
	double		groups;
	double		share;
	PipelineStage *stage;
	ListCell   *lc;

	if (aggregation->exprs == NIL || !find_leaf(aggregation, &split))
		return;
	foreach(lc, aggregation->aggrefs)
	{
		Expr	   *value = split_aggregate(&split, lfirst_node(Aggref, lc));

		if (value == NULL)
			return;
		split.values = lappend(split.values, value);
	}
	if (!find_columns(aggregation, &split))
		return;
	groups = estimated_groups(root, &split, planned->rows);
	if (groups == 0 || !can_evaluate_early(&split))
		return;
	share = groups / split.leaf->rows;

	/* The joins above the leaf are copied: `planned` stays as it is until the engine has taken the whole. */
	pipeline.top = split.leaf;
	stage = pipeline_add_stage(&pipeline, PIPELINE_AGGREGATION, split.columns);
	stage->aggrefs = split.parts;
	stage->rows = groups;
	stage = pipeline_add_stage(&pipeline, PIPELINE_PROJECTION, list_concat_copy(split.columns, split.parts));
	stage->names = list_concat_copy(split.columns, split.part_names);
	foreach(lc, split.above)
	{
		const PipelineStage *original = lfirst(lc);

		stage = palloc(sizeof(PipelineStage));
		*stage = *original;
		stage->inputs = list_copy(original->inputs);
		linitial(stage->inputs) = pipeline.top;
		stage->probe_rows = ceil(original->probe_rows * share);
		stage->rows = ceil(original->rows * share);
		pipeline.top = stage;
	}
	stage = pipeline_add_stage(&pipeline, PIPELINE_AGGREGATION, aggregation->exprs);
	stage->aggrefs = split.whole;
	stage = pipeline_add_stage(&pipeline, PIPELINE_PROJECTION,
							   list_concat_copy(aggregation->exprs, split.values));
	stage->names = list_concat_copy(aggregation->exprs, aggregation->aggrefs);
	if (rel_pipeline_check(&pipeline))
		planned->pipeline->top = pipeline.top;
}
