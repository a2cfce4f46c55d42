/*-------------------------------------------------------------------------
 *
 * comparison_key.c
 *	  What the engine compares in place of values whose images do not tell which are equal.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "cache/value_image.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/host_call.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_expr.h"

static ValueEquality
equality_of(Node *expr)
{
	const ValueImage *image = value_image_of(exprType(expr));

	return image == NULL ? VALUE_EQUAL_IMAGES : image->equality;
}

bool
comparison_key_is_other(Node *expr)
{
	return equality_of(expr) != VALUE_EQUAL_IMAGES;
}

bool
comparison_key_is_in_lower_case(Node *expr)
{
	return equality_of(expr) == VALUE_EQUAL_IN_LOWER_CASE;
}

bool
comparison_key_is_equality(OpExpr *op)
{
	Oid			type = getBaseType(exprType(linitial(op->args)));
	const FunctionMapping *mapping;

	switch (equality_of(linitial(op->args)))
	{
		case VALUE_EQUAL_IN_LOWER_CASE:
			set_opfuncid(op);
			mapping = function_map_lookup(op->opfuncid);
			return mapping != NULL && mapping->shape == SHAPE_LOWER_CASE && mapping->function == PENUMBRA_FN_EQ;
		case VALUE_EQUAL_BY_TYPE:
			return op->opno == lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr &&
				getBaseType(exprType(lsecond(op->args))) == type;
		default:
			return false;
	}
}

bool
comparison_key_is_equality_clause(Node *clause)
{
	const FunctionMapping *mapping;

	if (!IsA(clause, OpExpr) || list_length(((OpExpr *) clause)->args) != 2)
		return false;
	if (comparison_key_is_other(linitial(((OpExpr *) clause)->args)))
		return comparison_key_is_equality((OpExpr *) clause);
	mapping = function_map_lookup(((OpExpr *) clause)->opfuncid);
	return mapping != NULL && mapping->function == PENUMBRA_FN_EQ && mapping->shape == SHAPE_PLAIN;
}

PenumbraExpr
comparison_key(Translation *translation, Node *expr)
{
	return equality_of(expr) == VALUE_EQUAL_BY_TYPE ? host_call_class(translation, expr)
		: translate_expr(translation, comparison_key_node(expr));
}

bool
comparison_keys(Translation *translation, List *exprs, PenumbraExpr *keys)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		keys[foreach_current_index(lc)] = comparison_key(translation, lfirst(lc));
		if (keys[foreach_current_index(lc)] < 0)
			return false;
	}
	return true;
}

bool
comparison_keys_of_groups(Translation *translation, List *exprs, PenumbraExpr *keys)
{
	ListCell   *lc;

	if (!comparison_keys(translation, exprs, keys))
		return false;
	foreach(lc, exprs)
	{
		if (!translate_has_collation(translation, exprCollation(lfirst(lc)), lfirst(lc)) ||
			!translate_check_equality(translation, exprCollation(lfirst(lc))))
			return false;
	}
	return true;
}

/* lower(), of a constant at once. */
Node *
comparison_key_node(Node *expr)
{
	Node	   *text;
	Node	   *lower;

	if (equality_of(expr) != VALUE_EQUAL_IN_LOWER_CASE)
		return expr;
	text = (Node *) makeRelabelType((Expr *) expr, TEXTOID, -1, DEFAULT_COLLATION_OID, COERCE_IMPLICIT_CAST);
	lower = (Node *) makeFuncExpr(F_LOWER_TEXT, TEXTOID, list_make1(text), DEFAULT_COLLATION_OID, DEFAULT_COLLATION_OID,
								  COERCE_EXPLICIT_CALL);
	return IsA(expr, Const) ? eval_const_expressions(NULL, lower) : lower;
}

List *
comparison_key_nodes(List *exprs)
{
	List	   *nodes = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		nodes = lappend(nodes, comparison_key_node(lfirst(lc)));
	return nodes;
}
