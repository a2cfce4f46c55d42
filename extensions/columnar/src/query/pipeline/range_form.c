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
	return getBaseType(exprType(range_form_is_value(linitial(args)) ? lsecond(args) : linitial(args)));
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
			return PENUMBRA_RANGE_OF_NUMERIC;
		default:
			return RANGE_FORM_NONE;
	}
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
