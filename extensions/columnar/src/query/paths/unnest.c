/*-------------------------------------------------------------------------
 *
 * unnest.c
 *	  Set-returning functions of cached columns, in FROM and in target lists.
 *
 * What such a function returns for a row is a column of lists that a scan outputs
 * (expression_columns.h), and joins pass on.  The stage of unnesting makes a row of
 * each element where PostgreSQL's plan calls the function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "utils/lsyscache.h"

#include "cache/list_image.h"
#include "query/paths/unnest.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stages.h"
#include "query/planning/expression_columns.h"
#include "query/planning/planning.h"
#include "query/planning/record_columns.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/table_expressions.h"

static void
add_stage(RelPipeline *planned, List *lists, List *names, bool is_left, bool may_refuse, double rows)
{
	int			columns = list_length(stage_outputs(planned->pipeline->top)) - list_length(lists);
	PipelineStage *stage = pipeline_add_stage(planned->pipeline, PIPELINE_UNNEST, lists);

	stage->names = names;
	stage->join_kind = is_left ? PENUMBRA_JOIN_LEFT : PENUMBRA_JOIN_INNER;
	stage->may_refuse_lists = may_refuse;
	stage->rows = rows;
	planned->before_sort = NULL;
	cost_add_unnest(planned, list_length(lists), columns, rows);
}

static bool
checks_domain(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, CoerceToDomain) || expression_tree_walker(node, checks_domain, context);
}

/* True of any value, which has to be computed for that. */
static Node *
is_computed(Node *value)
{
	return (Node *) make_orclause(list_make2(pipeline_null_test(value, IS_NULL),
											 pipeline_null_test(value, IS_NOT_NULL)));
}

/* Whether a column is made of what its list has: it may be of a domain. */
static bool
makes_values(const PlannerInfo *root, Index relid)
{
	const RangeTblFunction *records = table_expressions_records(root, relid);

	for (AttrNumber i = 1; records != NULL && i <= record_columns_count(records); i++)
	{
		if (!record_columns_is_source(records, i))
			return true;
	}
	return false;
}

/*
 * Columns of records whose lists have what they are made of.  Each value is computed for each row, as PostgreSQL
 * makes whole records: no condition above may come first.  A row without a record has no number, and nothing of it
 * is checked.
 */
static void
add_values_of_records(PlannerInfo *root, RelPipeline *planned, Index relid, const Var *number)
{
	const RangeTblFunction *records = table_expressions_records(root, relid);
	List	   *names = list_copy(stage_outputs(planned->pipeline->top));
	List	   *exprs = list_copy(names);
	List	   *checks = NIL;
	PipelineStage *stage;

	for (AttrNumber i = 1; records != NULL && i <= record_columns_count(records); i++)
	{
		Var		   *source = record_columns_is_source(records, i) ? NULL
			: expression_columns_elements(root, relid, record_columns_source(records, i), 0);
		int			place = source == NULL ? -1 : pipeline_find_expr(names, (Node *) source);
		Node	   *value;

		if (place < 0)
			continue;
		value = record_columns_value(root, records, i, (Node *) source);
		if (number != NULL && checks_domain(value, NULL))
			value = pipeline_case(exprType(value), exprCollation(value),
								  list_make1(pipeline_when(pipeline_null_test((void *) number, IS_NOT_NULL), value)),
								  makeNullConst(exprType(value), exprTypmod(value), exprCollation(value)));
		list_nth_cell(exprs, place)->ptr_value = value;
		list_nth_cell(names, place)->ptr_value = makeVar(relation_number_of(root, relid), i, exprType(value),
														 record_columns_typmod(records, i),
														 record_columns_collation(records, i), 0);
		checks = lappend(checks, is_computed(value));
	}
	if (checks == NIL)
		return;
	stage = pipeline_add_stage(planned->pipeline, PIPELINE_FILTER, checks);
	stage->takes_any_calls = true;
	pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs)->names = names;
}

bool
unnest_join_functions(PlannerInfo *root, RelPipeline *planned, RelOptInfo *rel, bool is_left, double rows)
{
	const RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	List	   *before = stage_outputs(planned->pipeline->top);
	List	   *lists = NIL;
	List	   *names = NIL;
	Var		   *number = NULL;
	bool		may_refuse = false;
	ListCell   *lc;

	foreach(lc, expression_columns_of_elements(root, rel->relid))
	{
		lists = lappend(lists, linitial((List *) lfirst(lc)));
		names = lappend(names, lsecond((List *) lfirst(lc)));
		may_refuse = true;
	}
	foreach(lc, lists == NIL ? rte->functions : NIL)
	{
		Node	   *call = lfirst_node(RangeTblFunction, lc)->funcexpr;
		Var		   *elements;
		Var		   *list = list_image_is_set(call) ? expression_columns_of_set(root, call, &elements) : NULL;

		/* rows of several columns are no elements */
		if (list == NULL || type_is_rowtype(exprType(call)))
			return false;
		lists = lappend(lists, list);
		names = lappend(names, makeVar(relation_number_of(root, rel->relid), list_length(lists), exprType(call),
									   exprTypmod(call), exprCollation(call), 0));
		may_refuse |= list_image_may_be_refused(call);
	}
	if (list_difference(lists, before) != NIL)
		return false;
	/* of a NULL there is a row, too */
	is_left |= record_columns_is_call(linitial(rte->functions)) && record_columns_is_one_row(linitial(rte->functions));
	if (rte->funcordinality || (is_left && makes_values(root, rel->relid)))
	{
		number = makeVar(relation_number_of(root, rel->relid), list_length(rte->eref->colnames) + !rte->funcordinality,
						 INT8OID, -1, InvalidOid, 0);
		names = lappend(names, number);
	}
	add_stage(planned, lists, names, is_left, may_refuse, rows);
	add_values_of_records(root, planned, rel->relid, is_left ? number : NULL);
	return true;
}

bool
unnest_is_below(const PlannerInfo *root, const RelOptInfo *input_rel)
{
	return root->parse->hasTargetSRFs && !IS_UPPER_REL(input_rel);
}

typedef struct SetCalls
{
	PlannerInfo *root;
	List	   *calls;			/* and expressions that read one */
	bool		has_others;		/* set-returning functions whose rows are no lists */
} SetCalls;

static bool
calls_walker(Node *node, void *argument)
{
	SetCalls   *context = argument;
	Var		   *elements;

	if (node == NULL)
		return false;
	if (list_image_is_set(node) &&
		expression_columns_of_set(context->root, node, &elements) != NULL)
	{
		context->calls = list_append_unique(context->calls, node);
		return false;
	}
	context->has_others |= (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcretset) ||
		(IsA(node, OpExpr) && ((OpExpr *) node)->opretset);
	return expression_tree_walker(node, calls_walker, argument);
}

/*
 * PostgreSQL computes all calls of a target list side by side, in one ProjectSet
 * below the expressions that use them: none is an argument of another here.
 */
bool
unnest_add_targets(PlannerInfo *root, RelPipeline *planned, List *exprs)
{
	List	   *before = stage_outputs(planned->pipeline->top);
	SetCalls	all = {.root = root};
	SetCalls	read = {.root = root};
	List	   *lists = NIL;
	List	   *names = NIL;
	bool		may_refuse = false;
	double		rows_of_call = 1;
	ListCell   *lc;

	(void) calls_walker((Node *) root->processed_tlist, &all);
	(void) calls_walker((Node *) exprs, &read);
	if (all.has_others || list_difference(all.calls, read.calls) != NIL)
	{
		planning_refuse("set-returning function", NULL);
		return false;
	}
	foreach(lc, read.calls)
	{
		Var		   *elements;
		Var		   *list = expression_columns_of_set(root, lfirst(lc), &elements);

		if (list == NULL || pipeline_find_expr(before, (Node *) list) < 0)
			return false;
		lists = lappend(lists, list);
		names = lappend(names, elements);
		may_refuse |= list_image_may_be_refused(lfirst(lc));
		rows_of_call = Max(rows_of_call, expression_returns_set_rows(root, (Node *) list_image_call(lfirst(lc))));
	}
	if (lists != NIL)
		add_stage(planned, lists, names, false, may_refuse, clamp_row_est(planned->rows * rows_of_call));
	return true;
}
