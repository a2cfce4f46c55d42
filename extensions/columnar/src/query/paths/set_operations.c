/*-------------------------------------------------------------------------
 *
 * set_operations.c
 *	  UNION, INTERSECT and EXCEPT as pipelines.
 *
 * INTERSECT and EXCEPT are a union whose rows say which side they are of: of
 * the groups by all columns those stay whose rows are of both sides, or of the
 * left one alone.  Groups take NULLs for equal, as set operations do.  With ALL
 * a group's rows are counted by side, and it comes out as often as the counts say.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/external_rows_plan.h"
#include "query/paths/recursion_paths.h"
#include "query/paths/set_operations.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

static RelPipeline *pipeline_of_node(PlannerInfo *root, Node *node, const SetOperationStmt *above,
									 List *columns);

/* The subquery's columns, as the types of the operation around it. */
static RelPipeline *
pipeline_of_leaf(PlannerInfo *root, const RangeTblRef *leaf, const SetOperationStmt *above, List *columns)
{
	RelOptInfo *rel = root->simple_rel_array[leaf->rtindex];
	PlannerInfo *subroot = rel == NULL ? NULL : rel->subroot;
	List	   *outputs;
	RelPipeline *planned = subroot == NULL ? NULL : base_pipelines_copy_of_subquery(subroot, &outputs);
	List	   *exprs = NIL;
	ListCell   *lc;

	if (planned == NULL || list_length(outputs) != list_length(columns))
		return NULL;
	foreach(lc, outputs)
	{
		int			place = foreach_current_index(lc);
		Node	   *expr = lfirst(lc);

		if (stage_scan_is_position(expr))
			return NULL;
		if (exprType(expr) != list_nth_oid(above->colTypes, place))
			expr = coerce_to_common_type(NULL, expr, list_nth_oid(above->colTypes, place), "UNION");
		exprs = lappend(exprs, expr);
	}
	pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs)->names = columns;
	return planned;
}

/* What PostgreSQL computes for less than we do, as the row that a key finds, comes from its plan. */
static RelPipeline *
first_rows_of_leaf(PlannerInfo *root, const RangeTblRef *leaf, const SetOperationStmt *above, List *columns)
{
	RelOptInfo *rel = root->simple_rel_array[leaf->rtindex];
	RelPipeline *ours = pipeline_of_leaf(root, leaf, above, columns);
	RelPipeline *rows;

	if (MODE_IS_FORCED() && ours != NULL)
		return ours;
	rows = external_rows_plan_scan_member(root, rel, above->colTypes, above->colCollations);
	if (rows == NULL || (ours != NULL && ours->startup_cost + ours->run_cost <= rows->startup_cost + rows->run_cost))
		return ours;
	rows->pipeline->has_barrier = rel_pipeline_is_below_barrier(root);
	pipeline_add_stage(rows->pipeline, PIPELINE_PROJECTION, stage_outputs(rows->pipeline->top))->names = columns;
	return rows;
}

static bool
has_default_equalities(const SetOperationStmt *operation)
{
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, operation->groupClauses, lc2, operation->colTypes)
	{
		if (lfirst_node(SortGroupClause, lc)->eqop !=
			lookup_type_cache(lfirst_oid(lc2), TYPECACHE_EQ_OPR)->eq_opr)
			return false;
	}
	return true;
}

static void
add_groups(RelPipeline *planned, List *columns, List *aggrefs, double rows)
{
	pipeline_add_stage(planned->pipeline, PIPELINE_AGGREGATION, columns)->aggrefs = aggrefs;
	cost_add_aggregation(planned, list_length(columns), list_length(aggrefs), clamp_row_est(rows));
	planned->pipeline->top->rows = planned->rows;
}

/* Adds which side the rows are of, 0 the left one. */
static void
add_side(RelPipeline *planned, List *columns, Var *side, int value)
{
	PipelineStage *stage = pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION,
											  lappend(list_copy(columns), pipeline_int4(value)));

	stage->names = lappend(list_copy(columns), side);
}

static Node *
difference_of(Node *a, Node *b)
{
	return (Node *) makeFuncExpr(F_INT8MI, INT8OID, list_make2(a, b), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* Of `in_all` rows so many are of the right side. */
static Node *
times_of(SetOperation kind, Node *in_all, Node *right)
{
	Node	   *left = difference_of(in_all, right);
	MinMaxExpr *least = makeNode(MinMaxExpr);

	if (kind == SETOP_EXCEPT)
		return difference_of(left, right);
	least->minmaxtype = INT8OID;
	least->op = IS_LEAST;
	least->args = list_make2(left, right);
	least->location = -1;
	return (Node *) least;
}

/* Groups as often as they have more rows of the left side than of the right, or pairs of rows of both. */
static void
repeat_groups(SetOperation kind, RelPipeline *planned, List *columns, Var *side, double rows)
{
	Aggref	   *in_all = pipeline_aggref(F_COUNT_, INT8OID, NULL, InvalidOid);
	Aggref	   *right = pipeline_aggref(F_SUM_INT4, INT8OID, (Node *) side, InvalidOid);
	Var		   *times = makeVar(relation_number_add("set_operation", "times"), 1, INT8OID, -1, InvalidOid, 0);
	PipelineStage *stage;

	add_groups(planned, columns, list_make2(in_all, right), planned->rows);
	stage = pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION,
							   lappend(list_copy(columns), times_of(kind, (Node *) in_all, (Node *) right)));
	stage->names = lappend(list_copy(columns), times);
	(void) pipeline_add_stage(planned->pipeline, PIPELINE_UNNEST, list_make1(times));
	cost_add_unnest(planned, 1, list_length(columns), rows);
	planned->pipeline->top->rows = planned->rows;
	pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, columns);
}

/* The groups with rows of both sides, or of the left side alone. */
static RelPipeline *
compare_sides(SetOperation kind, RelPipeline *left, RelPipeline *right, bool all, List *columns)
{
	Var		   *side = makeVar(relation_number_add("set_operation", "side"), 1, INT4OID, -1, InvalidOid, 0);
	Aggref	   *least = pipeline_aggref(F_MIN_INT4, INT4OID, (Node *) side, InvalidOid);
	Aggref	   *greatest = pipeline_aggref(F_MAX_INT4, INT4OID, (Node *) side, InvalidOid);
	double		rows = kind == SETOP_INTERSECT ? Min(left->rows, right->rows) : left->rows;
	List	   *conditions = kind == SETOP_INTERSECT
		? list_make2(pipeline_int4_equals(least, 0), pipeline_int4_equals(greatest, 1))
		: list_make1(pipeline_int4_equals(greatest, 0));

	add_side(left, columns, side, 0);
	add_side(right, columns, side, 1);
	rel_pipeline_unite(left, right);
	if (all)
	{
		repeat_groups(kind, left, columns, side, rows);
		return left;
	}
	add_groups(left, columns, kind == SETOP_INTERSECT ? list_make2(least, greatest) : list_make1(greatest),
			   left->rows);
	pipeline_add_stage(left->pipeline, PIPELINE_FILTER, conditions);
	cost_add_filter(left, 1, rows);
	pipeline_add_stage(left->pipeline, PIPELINE_PROJECTION, columns);
	return left;
}

static RelPipeline *
pipeline_of_operation(PlannerInfo *root, const SetOperationStmt *operation, List *columns)
{
	RelPipeline *left;
	RelPipeline *right;

	if (!has_default_equalities(operation))
	{
		planning_refuse("set operation with an operator class of its own", NULL);
		return NULL;
	}
	left = pipeline_of_node(root, operation->larg, operation, columns);
	right = left == NULL ? NULL : pipeline_of_node(root, operation->rarg, operation, columns);
	if (right == NULL)
		return NULL;
	if (operation->op != SETOP_UNION)
		return compare_sides(operation->op, left, right, operation->all, columns);
	rel_pipeline_unite(left, right);
	if (!operation->all)
		add_groups(left, columns, NIL, left->rows);
	return left;
}

/* What the node's rows are called above it does not depend on the types that it has by itself. */
static RelPipeline *
pipeline_of_node(PlannerInfo *root, Node *node, const SetOperationStmt *above, List *columns)
{
	check_stack_depth();
	if (IsA(node, RangeTblRef))
		return (root->hasRecursion ? first_rows_of_leaf : pipeline_of_leaf) (root, (RangeTblRef *) node, above,
																			 columns);
	/* PostgreSQL compares the values before it gives them the type of the operation around. */
	if (!equal(((SetOperationStmt *) node)->colTypes, above->colTypes) ||
		!equal(((SetOperationStmt *) node)->colCollations, above->colCollations))
		return NULL;
	return pipeline_of_operation(root, (SetOperationStmt *) node, columns);
}

/* NULL where PostgreSQL raises the error, or the recursive term is a set operation itself. */
static RelPipeline *
pipeline_of_recursion(PlannerInfo *root, const SetOperationStmt *operation, List *columns)
{
	RelPipeline *planned;
	RelPipeline *term;
	PipelineStage *stage;

	if (!has_default_equalities(operation))
	{
		planning_refuse("set operation with an operator class of its own", NULL);
		return NULL;
	}
	/* Of a query that reads no table of ours nobody knows whether the engine may run it. */
	if (!IsA(operation->rarg, RangeTblRef) || planning_current()->tables == NIL)
		return NULL;
	planned = pipeline_of_node(root, operation->larg, operation, columns);
	term = planned == NULL ? NULL : pipeline_of_leaf(root, (RangeTblRef *) operation->rarg, operation, columns);
	if (term == NULL || !term->pipeline->reads_working_table)
		return NULL;
	stage = pipeline_add_stage(planned->pipeline, PIPELINE_RECURSION, NIL);
	stage->inputs = lappend(stage->inputs, term->pipeline->top);
	stage->is_distinct = !operation->all;
	stage->gives_late = !operation->all && recursion_paths_all_rows_are_read(root);
	pipeline_take(planned->pipeline, term->pipeline);
	cost_add_recursion(planned, term, list_length(columns), stage->is_distinct);
	stage->rows = planned->rows;
	return planned;
}

static Relids
relids_of(Node *node)
{
	if (IsA(node, RangeTblRef))
		return bms_make_singleton(((RangeTblRef *) node)->rtindex);
	return bms_join(relids_of(((SetOperationStmt *) node)->larg), relids_of(((SetOperationStmt *) node)->rarg));
}

RelPipeline *
set_operations_find(PlannerInfo *root, RelOptInfo *rel)
{
	SetOperationStmt *operation = castNode(SetOperationStmt, root->parse->setOperations);
	List	   *columns = NIL;
	ListCell   *lc;

	if (operation->colTypes == NIL || !bms_equal(rel->relids, relids_of((Node *) operation)))
		return NULL;
	foreach(lc, operation->colTypes)
	{
		int			place = foreach_current_index(lc);

		columns = lappend(columns, makeVar(0, place + 1, lfirst_oid(lc),
										   exprTypmod(list_nth(rel->reltarget->exprs, place)),
										   list_nth_oid(operation->colCollations, place), 0));
	}
	columns = (List *) relation_numbers_normalize(root, (Node *) columns);
	return (root->hasRecursion ? pipeline_of_recursion : pipeline_of_operation) (root, operation, columns);
}
