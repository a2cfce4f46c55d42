/*-------------------------------------------------------------------------
 *
 * can_fail.c
 *	  Whether an expression or a query may raise an error.
 *
 * What SQL may leave unevaluated, we may evaluate only if it cannot fail.  So
 * this lists what cannot, and takes everything else for what can.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "query/pipeline/can_fail.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/range_form.h"

/* An engine function that raises no error, whatever it is called with. */
static bool
is_safe(const FunctionMapping *mapping, List *args)
{
	const Const *divisor;

	if (mapping->shape == SHAPE_RANGE || mapping->shape == SHAPE_RANGE_SWAPPED)
		return range_form_of(args) != RANGE_FORM_NONE;
	switch (mapping->function)
	{
		case PENUMBRA_FN_EQ:
		case PENUMBRA_FN_NE:
		case PENUMBRA_FN_LT:
		case PENUMBRA_FN_LE:
		case PENUMBRA_FN_GT:
		case PENUMBRA_FN_GE:
		case PENUMBRA_FN_OVERLAPS:
			return true;
		case PENUMBRA_FN_ADD:
		case PENUMBRA_FN_SUB:
		case PENUMBRA_FN_MUL:
			/* a numeric is too large for its format beyond 131,072 digits only */
			return exprType(linitial(args)) == NUMERICOID && exprType(llast(args)) == NUMERICOID;
		case PENUMBRA_FN_DIV:
			divisor = llast(args);
			return exprType(linitial(args)) == NUMERICOID && IsA(divisor, Const) && !divisor->constisnull &&
				DatumGetBool(DirectFunctionCall2(numeric_ne, divisor->constvalue,
												 NumericGetDatum(int64_to_numeric(0))));
		case PENUMBRA_FN_CAST:
			/* to a type that has all values of the other */
			return mapping->oid == F_INT4_INT2 || mapping->oid == F_INT8_INT2 || mapping->oid == F_INT8_INT4 ||
				mapping->oid == F_NUMERIC_INT2 || mapping->oid == F_NUMERIC_INT4 || mapping->oid == F_NUMERIC_INT8;
		default:
			return false;
	}
}

static bool
can_call_fail(Oid function_oid, List *args)
{
	const FunctionMapping *mapping = function_map_lookup(function_oid);
	ListCell   *lc;

	if (mapping != NULL && is_safe(mapping, args))
		return false;
	foreach(lc, args)
	{
		if (IsA(lfirst(lc), Const) && lfirst_node(Const, lc)->constisnull && func_strict(function_oid))
			return false;
	}
	return true;
}

bool
aggregate_is_of_bit_strings(const Aggref *aggref)
{
	return aggref->aggfnoid == F_BIT_AND_BIT || aggref->aggfnoid == F_BIT_OR_BIT || aggref->aggfnoid == F_BIT_XOR_BIT;
}

static bool
can_aggregate_fail(const Aggref *aggref)
{
	PenumbraAggregate aggregate;
	bool		is_float = aggref->aggtype == FLOAT4OID || aggref->aggtype == FLOAT8OID;

	if (!function_map_aggregate(aggref, &aggregate) || aggregate_is_of_bit_strings(aggref))
		return true;
	return aggref->aggdirectargs != NIL ||
		(is_float && aggregate != PENUMBRA_AGG_MIN && aggregate != PENUMBRA_AGG_MAX && aggregate != PENUMBRA_AGG_MODE);
}

/*
 * Whether PostgreSQL computes the call when it plans the Query that it stands
 * in: then it raises the error of the call, too, in whatever form that is planned.
 */
static bool
is_folded(Node *call, Oid function_oid, List *args)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!IsA(lfirst(lc), Const))
			return false;
	}
	return func_volatile(function_oid) == PROVOLATILE_IMMUTABLE && !expression_returns_set(call) &&
		exprType(call) != RECORDOID;
}

/* context: the Query that computes aggregates, or NULL. */
static bool
can_fail_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Query:
			return query_tree_walker((Query *) node, can_fail_walker, node, 0);
		case T_Aggref:
			if (context == NULL)
				return false;
			if (can_aggregate_fail((Aggref *) node))
				return true;
			break;
		case T_GroupingFunc:
			return false;
		case T_FuncExpr:
			if (context != NULL && is_folded(node, ((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args))
				return false;
			if (can_call_fail(((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args))
				return true;
			break;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			set_opfuncid((OpExpr *) node);
			if (context != NULL && is_folded(node, ((OpExpr *) node)->opfuncid, ((OpExpr *) node)->args))
				return false;
			if (can_call_fail(((OpExpr *) node)->opfuncid, ((OpExpr *) node)->args))
				return true;
			break;
		case T_ScalarArrayOpExpr:
			set_sa_opfuncid((ScalarArrayOpExpr *) node);
			if (can_call_fail(((ScalarArrayOpExpr *) node)->opfuncid, ((ScalarArrayOpExpr *) node)->args))
				return true;
			break;
		case T_ArrayExpr:
			/* arrays in it may be of different lengths */
			if (((ArrayExpr *) node)->multidims)
				return true;
			break;
		case T_Const:
		case T_Var:
		case T_Param:
		case T_PlaceHolderVar:
		case T_NamedArgExpr:
		case T_RowExpr:
		case T_List:
		case T_TargetEntry:
		case T_FromExpr:
		case T_JoinExpr:
		case T_RangeTblRef:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_RelabelType:
		case T_SQLValueFunction:
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, can_fail_walker, context);
}

bool
expr_can_fail(Node *node)
{
	return can_fail_walker(node, NULL);
}

static bool
unknown_aggregate_walker(Node *node, void *context)
{
	PenumbraAggregate aggregate;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		return !function_map_aggregate((const Aggref *) node, &aggregate) ||
			aggregate_is_of_bit_strings((const Aggref *) node);
	return expression_tree_walker(node, unknown_aggregate_walker, context);
}

bool
groups_can_fail(Node *node)
{
	return can_fail_walker(node, NULL) || unknown_aggregate_walker(node, NULL);
}
