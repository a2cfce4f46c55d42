/*-------------------------------------------------------------------------
 *
 * deparser.c
 *	  How EXPLAIN writes the expressions of a pipeline.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"
#include "utils/ruleutils.h"

#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/planning/expression_columns.h"
#include "query/planning/relation_numbers.h"

Deparser
deparser_of_pipeline(const Pipeline *pipeline)
{
	return (Deparser)
	{
		.names = pipeline->names,
			.context = relation_numbers_deparse_context(pipeline->names),
			.expression_columns = pipeline->expression_columns,
			.has_prefix = !pipeline_is_chain(pipeline)
	};
}

/* An expression that is a column; for elements stands the list that they are of. */
static Node *
expression_of_column(const Var *column, const List *expression_columns)
{
	const List *found = NIL;
	ListCell   *lc;
	Node	   *expr;

	foreach(lc, expression_columns)
	{
		const List *planned = lfirst(lc);

		if (intVal(linitial(planned)) == column->varattno &&
			(found == NIL || intVal(lthird(planned)) == column->varno))
			found = planned;
	}
	if (found == NIL)
		elog(ERROR, "expression column %d does not exist", column->varattno);
	expr = copyObject(lsecond(found));
	ChangeVarNodes(expr, 1, intVal(lthird(found)), 0);
	return expr;
}

/* Parameters are numbered, and columns that are expressions written as these. */
static Node *
number_params(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && expression_column_is(((Var *) node)->varattno))
		return expression_of_column((Var *) node, context);
	if (IsA(node, Param))
	{
		Param	   *param = copyObject((Param *) node);

		param->paramkind = PARAM_EXTERN;
		return (Node *) param;
	}
	if (IsA(node, NamedArgExpr))
		return number_params((Node *) ((NamedArgExpr *) node)->arg, context);
	return expression_tree_mutator(node, number_params, context);
}

/*
 * Parameters are printed as $n.  From 17 on the server looks for the subplan
 * that computes one in the plan of the context, and ours has no plan.
 */
char *
deparser_text(Node *node, const Deparser *deparser)
{
	node = number_params(pipeline_without_windows(node), deparser->expression_columns);
	return deparse_expression(node, deparser->context, deparser->has_prefix, false);
}

void
deparser_explain_list(const char *label, List *exprs, const Deparser *deparser, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		texts = lappend(texts, deparser_text(lfirst(lc), deparser));
	if (texts != NIL)
		ExplainPropertyList(label, texts, es);
}

void
deparser_explain_conditions(const char *label, List *exprs, const Deparser *deparser, ExplainState *es)
{
	if (exprs != NIL)
		ExplainPropertyText(label, deparser_text((Node *) make_ands_explicit(exprs), deparser), es);
}
