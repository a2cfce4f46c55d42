/*-------------------------------------------------------------------------
 *
 * translate_made.c
 *	  Comparisons of arrays and rows that a query makes of values:
 *
 *		ARRAY[a, b] = ARRAY[c, 5]
 *
 *	  is
 *
 *		a IS NOT DISTINCT FROM c AND b IS NOT DISTINCT FROM 5
 *
 * by the default operators of the values' types, as PostgreSQL compares them.  The order is that of the first two that
 * differ, where NULL is the greatest value.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/pipeline/can_fail.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/translate_made.h"
#include "query/planning/made_values.h"

/* Dropped attributes are compared with nothing. */
static List *
columns_of_constant(const Const *row)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(row->constvalue);
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header),.t_data = header};
	List	   *columns = NIL;

	for (int i = 0; i < desc->natts; i++)
	{
		const FormData_pg_attribute *attribute = TupleDescAttr(desc, i);
		bool		is_null;
		Datum		value;

		if (attribute->attisdropped)
			continue;
		value = heap_getattr(&tuple, i + 1, desc, &is_null);
		columns = lappend(columns, pipeline_constant(attribute->atttypid, attribute->atttypmod,
													 attribute->attcollation, value, is_null));
	}
	ReleaseTupleDesc(desc);
	return columns;
}

/*
 * A row of a type has NULL for what was dropped of it, and may be older than its last attributes.  False: the type
 * compares values by collations that have other equal ones.
 */
static bool
columns_of_row(const RowExpr *row, List **columns)
{
	TupleDesc	desc;
	bool		are_alike = true;

	*columns = row->args;
	if (row->row_typeid == RECORDOID)
		return true;
	desc = lookup_rowtype_tupdesc_domain(row->row_typeid, -1, false);
	*columns = NIL;
	for (int i = 0; i < desc->natts; i++)
	{
		const FormData_pg_attribute *attribute = TupleDescAttr(desc, i);
		Node	   *value;

		if (attribute->attisdropped)
			continue;
		value = i < list_length(row->args) ? list_nth(row->args, i)
			: (Node *) makeNullConst(attribute->atttypid, attribute->atttypmod, attribute->attcollation);
		are_alike &= made_values_are_equal_alike(exprCollation(value), attribute->attcollation);
		*columns = lappend(*columns, value);
	}
	ReleaseTupleDesc(desc);
	return are_alike;
}

/* False: it is not numbered from 1 on. */
static bool
elements_of_constant(const Const *constant, List **elements)
{
	ArrayType  *array = DatumGetArrayTypeP(constant->constvalue);
	Oid			type = ARR_ELEMTYPE(array);
	int16		length;
	bool		by_value;
	char		alignment;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	if (ARR_NDIM(array) != 1 || ARR_LBOUND(array)[0] != 1)
		return false;
	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(array, type, length, by_value, alignment, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
		*elements = lappend(*elements, pipeline_constant(type, -1, constant->constcollid, values[i], nulls[i]));
	return true;
}

/* What an array or row is made of; false: it is not made here, and no constant. */
static bool
take_apart(Node *node, List **values)
{
	const Const *constant = (const Const *) node;

	*values = NIL;
	if (IsA(node, RowExpr))
		return columns_of_row((const RowExpr *) node, values);
	if (IsA(node, ArrayExpr) && !((ArrayExpr *) node)->multidims)
		*values = ((ArrayExpr *) node)->elements;
	else if (!IsA(node, Const) || constant->constisnull)
		return false;
	else if (OidIsValid(get_element_type(constant->consttype)))
		return elements_of_constant(constant, values);
	else if (type_is_rowtype(constant->consttype))
		*values = columns_of_constant(constant);
	else
		return false;
	return true;
}

static bool add_pairs(Node *left, Node *right, List **pairs);

/* Of two values within arrays or rows.  PostgreSQL evaluates all values, so none may fail. */
static bool
add_pair(Node *left, Node *right, List **pairs)
{
	if (IsA(left, RowExpr) || IsA(right, RowExpr))
		return add_pairs(left, right, pairs);
	if (exprType(left) != exprType(right) || exprCollation(left) != exprCollation(right) ||
		!OidIsValid(lookup_type_cache(exprType(left), TYPECACHE_EQ_OPR)->eq_opr) ||
		expr_can_fail(left) || expr_can_fail(right))
		return false;
	*pairs = lappend(*pairs, list_make2(left, right));
	return true;
}

static bool
add_pairs(Node *left, Node *right, List **pairs)
{
	List	   *values[2];
	ListCell   *lc;
	ListCell   *lc2;

	if (!take_apart(left, &values[0]) || !take_apart(right, &values[1]) ||
		list_length(values[0]) != list_length(values[1]))
		return false;
	forboth(lc, values[0], lc2, values[1])
	{
		if (!add_pair(lfirst(lc), lfirst(lc2), pairs))
			return false;
	}
	return true;
}

static OpExpr *
equality_of(const List *pair)
{
	Node	   *left = linitial(pair);
	Oid			equality = lookup_type_cache(exprType(left), TYPECACHE_EQ_OPR)->eq_opr;
	Expr	   *op = make_opclause(equality, BOOLOID, false, (Expr *) left, lsecond(pair), InvalidOid,
								   exprCollation(left));

	set_opfuncid((OpExpr *) op);
	return (OpExpr *) op;
}

/* ---------------------------------------------------------------- order */

/* Whether the pairs are in order by what the values' types and the collation of the whole say. */
static bool
have_order(const List *pairs, Oid collation, bool are_rows)
{
	ListCell   *lc;

	foreach(lc, pairs)
	{
		Node	   *value = linitial(lfirst(lc));

		if (!OidIsValid(lookup_type_cache(exprType(value), TYPECACHE_LT_OPR)->lt_opr) ||
			(OidIsValid(exprCollation(value)) && (are_rows || exprCollation(value) != collation)))
			return false;
	}
	return true;
}

static Node *
not_distinct(OpExpr *equality)
{
	NodeSetTag(equality, T_DistinctExpr);
	return (Node *) makeBoolExpr(NOT_EXPR, list_make1(equality), -1);
}

/* coalesce(left < right, left IS NOT NULL AND right IS NULL) */
static Node *
is_before(Node *left, Node *right)
{
	Oid			less = lookup_type_cache(exprType(left), TYPECACHE_LT_OPR)->lt_opr;
	OpExpr	   *op = (OpExpr *) make_opclause(less, BOOLOID, false, (Expr *) left, (Expr *) right, InvalidOid,
											  exprCollation(left));
	List	   *tests = list_make2(pipeline_null_test(left, IS_NOT_NULL), pipeline_null_test(right, IS_NULL));

	set_opfuncid(op);
	return pipeline_coalesce((Node *) op, (Node *) make_andclause(tests));
}

/* One is before the other, or perhaps equal to it. */
static Node *
in_order(const List *pairs, bool may_be_equal, bool is_swapped)
{
	Node	   *order = makeBoolConst(may_be_equal, false);

	for (int i = list_length(pairs) - 1; i >= 0; i--)
	{
		const List *pair = list_nth(pairs, i);
		Node	   *before = is_swapped ? is_before(lsecond(pair), linitial(pair))
			: is_before(linitial(pair), lsecond(pair));
		Node	   *same = not_distinct(equality_of(pair));

		if (i == list_length(pairs) - 1 && !may_be_equal)
			order = before;
		else
			order = (Node *) make_orclause(list_make2(before, i == list_length(pairs) - 1 ? same
													  : (Node *) make_andclause(list_make2(same, order))));
	}
	return order;
}

static Node *
translate_made_order(Oid function_oid, Oid collation, List *nodes)
{
	bool		are_rows = true;
	bool		may_be_equal = false;
	bool		is_swapped = false;
	List	   *pairs = NIL;

	switch (function_oid)
	{
		case F_ARRAY_LT:
		case F_ARRAY_LE:
		case F_ARRAY_GT:
		case F_ARRAY_GE:
			are_rows = false;
			may_be_equal = function_oid == F_ARRAY_LE || function_oid == F_ARRAY_GE;
			is_swapped = function_oid == F_ARRAY_GT || function_oid == F_ARRAY_GE;
			break;
		case F_RECORD_LT:
		case F_RECORD_LE:
		case F_RECORD_GT:
		case F_RECORD_GE:
			may_be_equal = function_oid == F_RECORD_LE || function_oid == F_RECORD_GE;
			is_swapped = function_oid == F_RECORD_GT || function_oid == F_RECORD_GE;
			break;
		default:
			return NULL;
	}
	if (!add_pairs(linitial(nodes), lsecond(nodes), &pairs) || pairs == NIL || !have_order(pairs, collation, are_rows))
		return NULL;
	return in_order(pairs, may_be_equal, is_swapped);
}

/* ---------------------------------------------------------------- conditions */

Node *
translate_made_comparison(Oid function_oid, Oid collation, List *nodes)
{
	const bool	is_equality = function_oid == F_ARRAY_EQ || function_oid == F_RECORD_EQ;
	List	   *pairs = NIL;
	List	   *tests = NIL;
	Expr	   *all;
	ListCell   *lc;

	if (!is_equality && function_oid != F_ARRAY_NE && function_oid != F_RECORD_NE)
		return translate_made_order(function_oid, collation, nodes);
	if (!add_pairs(linitial(nodes), lsecond(nodes), &pairs) || pairs == NIL)
		return NULL;
	foreach(lc, pairs)
		tests = lappend(tests, not_distinct(equality_of(lfirst(lc))));
	all = make_andclause(tests);
	return (Node *) (is_equality ? all : makeBoolExpr(NOT_EXPR, list_make1(all), -1));
}

static bool
is_known(const Node *node)
{
	return IsA(node, Const) && !((const Const *) node)->constisnull;
}

/* The values that such a call of = compares, by twos; false: it is another node. */
static bool
find_pairs(Node *node, List **pairs)
{
	OpExpr	   *op = (OpExpr *) node;

	*pairs = NIL;
	if (!IsA(node, OpExpr))
		return false;
	set_opfuncid(op);
	return (op->opfuncid == F_ARRAY_EQ || op->opfuncid == F_RECORD_EQ) &&
		add_pairs(linitial(op->args), lsecond(op->args), pairs);
}

List *
translate_made_bounds(Node *node)
{
	List	   *pairs;
	List	   *bounds = NIL;
	ListCell   *lc;

	if (!find_pairs(node, &pairs))
		return NIL;
	foreach(lc, pairs)
	{
		if (is_known(linitial(lfirst(lc))) || is_known(lsecond(lfirst(lc))))
			bounds = lappend(bounds, equality_of(lfirst(lc)));
	}
	return bounds;
}

List *
translate_made_equalities(Node *node)
{
	List	   *pairs;
	List	   *equalities = NIL;
	ListCell   *lc;

	if (!find_pairs(node, &pairs))
		return NIL;
	foreach(lc, pairs)
	{
		equalities = lappend(equalities, equality_of(lfirst(lc)));
		NodeSetTag(llast(equalities), T_DistinctExpr);
	}
	return equalities;
}
