/*-------------------------------------------------------------------------
 *
 * range_form.c
 *	  What is in the ranges and multiranges of a call, as the engine takes it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/pipeline/range_form.h"

bool
range_form_is_value(Node *node)
{
	Oid			type = getBaseType(exprType(node));

	return !type_is_range(type) && !type_is_multirange(type);
}

Oid
range_form_type_of(List *args)
{
	bool		is_second = list_length(args) > 1 && range_form_is_value(linitial(args));

	return getBaseType(exprType(is_second ? lsecond(args) : linitial(args)));
}

int
range_form_of(List *args)
{
	switch (range_form_type_of(args))
	{
		case INT4RANGEOID:
		case INT4MULTIRANGEOID:
		case DATERANGEOID:
		case DATEMULTIRANGEOID:
			return PENUMBRA_RANGE_OF_INT4;
		case INT8RANGEOID:
		case INT8MULTIRANGEOID:
		case TSRANGEOID:
		case TSMULTIRANGEOID:
		case TSTZRANGEOID:
		case TSTZMULTIRANGEOID:
			return PENUMBRA_RANGE_OF_INT8;
		case NUMRANGEOID:
		case NUMMULTIRANGEOID:
		case NUMERICOID:		/* of a place */
			return PENUMBRA_RANGE_OF_NUMERIC;
		default:
			return RANGE_FORM_NONE;
	}
}

static Oid
bound_function(Node *range, bool is_upper)
{
	if (type_is_multirange(getBaseType(exprType(range))))
		return is_upper ? F_UPPER_ANYMULTIRANGE : F_LOWER_ANYMULTIRANGE;
	return is_upper ? F_UPPER_ANYRANGE : F_LOWER_ANYRANGE;
}

Node *
range_form_bound(Oid type, Node *range, bool is_upper)
{
	return (Node *) makeFuncExpr(bound_function(range, is_upper), type, list_make1(range), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

static bool
is_place(Node *node)
{
	const FuncExpr *func = (const FuncExpr *) node;

	return IsA(node, FuncExpr) && func->funcresulttype == INT8OID && list_length(func->args) == 1 &&
		(func->funcid == bound_function(linitial(func->args), false) ||
		 func->funcid == bound_function(linitial(func->args), true)) &&
		range_form_of(func->args) == PENUMBRA_RANGE_OF_NUMERIC;
}

static bool
place_walker(Node *node, void *context)
{
	return node != NULL && (is_place(node) || expression_tree_walker(node, place_walker, context));
}

bool
range_form_has_place(Node *node)
{
	return place_walker(node, NULL);
}

Node *
range_form_compare(Oid type, int strategy, Node *left, Node *right)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			op = get_opfamily_member(entry->btree_opf, entry->btree_opintype, entry->btree_opintype, strategy);
	Expr	   *comparison = make_opclause(op, BOOLOID, false, (Expr *) left, (Expr *) right, InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) comparison);
	return (Node *) comparison;
}
