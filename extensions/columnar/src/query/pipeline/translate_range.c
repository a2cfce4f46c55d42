/*-------------------------------------------------------------------------
 *
 * translate_range.c
 *	  Functions and operators of ranges and multiranges.
 *
 * The engine reads the images of both (penumbra/types.h), and takes a value for the range that has nothing else
 * in it.
 * Ranges of other types than numbers, dates and instants are PostgreSQL's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/regproc.h"
#include "utils/typcache.h"

#include "query/pipeline/made_range.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/range_form.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_range.h"
#include "query/pipeline/translate_type.h"

/* ---------------------------------------------------------------- comparisons */

static Node *
compare_with_bound(Oid type, Node *value, const RangeBound *bound)
{
	int			strategy = bound->lower ? (bound->inclusive ? BTGreaterEqualStrategyNumber : BTGreaterStrategyNumber)
		: bound->inclusive ? BTLessEqualStrategyNumber : BTLessStrategyNumber;
	return range_form_compare(type, strategy, value,
							  (Node *) pipeline_constant(type, -1, InvalidOid, bound->val, false));
}

/* Whether the value is in a constant range that is not empty, by comparisons, which skip chunks; NULL: it is none. */
static Node *
compare_with_constant(Node *value, const Const *constant)
{
	TypeCacheEntry *range;
	RangeBound	lower;
	RangeBound	upper;
	bool		is_empty;
	Oid			type;
	List	   *comparisons = NIL;

	if (!IsA(constant, Const) || constant->constisnull || !type_is_range(constant->consttype))
		return NULL;
	range = lookup_type_cache(constant->consttype, TYPECACHE_RANGE_INFO);
	type = range->rngelemtype->type_id;
	if (OidIsValid(range->rng_collation) ||
		lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc != range->rng_cmp_proc_finfo.fn_oid)
		return NULL;
	range_deserialize(range, DatumGetRangeTypeP(constant->constvalue), &lower, &upper, &is_empty);
	if (is_empty)
		return NULL;
	if (!lower.infinite)
		comparisons = lappend(comparisons, compare_with_bound(type, value, &lower));
	if (!upper.infinite)
		comparisons = lappend(comparisons, compare_with_bound(type, value, &upper));
	if (comparisons == NIL)
		return range_form_compare(type, BTEqualStrategyNumber, value, value);
	return list_length(comparisons) == 1 ? linitial(comparisons) : (Node *) make_andclause(comparisons);
}

/* ---------------------------------------------------------------- calls - */

PenumbraExpr
translate_range(Translation *translation, const FunctionMapping *mapping, Oid result_oid, List *nodes)
{
	int			form = range_form_of(nodes);
	int			count = list_length(nodes);
	List	   *ordered = mapping->shape == SHAPE_RANGE_SWAPPED ? list_make2(lsecond(nodes), linitial(nodes)) : nodes;
	Node	   *comparison = NULL;
	PenumbraExpr args[3];
	PenumbraType result;

	if (made_range_is(linitial(ordered)) || made_range_is(llast(ordered)))
		return made_range_translate(translation, mapping, ordered);
	if (mapping->function == PENUMBRA_FN_RANGE_CONTAINS && range_form_is_value(lsecond(ordered)))
		comparison = compare_with_constant(lsecond(ordered), linitial(ordered));
	if (comparison != NULL)
		return translate_expr(translation, comparison);
	if (form == RANGE_FORM_NONE)
		return translation_refuse(translation, psprintf("function %s", format_procedure(mapping->oid)));
	if (!translate_type(result_oid, &result))
		return translation_refuse(translation, psprintf("type %s", format_type_be(result_oid)));
	args[count] = translate_int4(translation, form);
	for (int i = 0; i < count; i++)
	{
		args[i] = translate_expr(translation, list_nth(ordered, i));
		if (args[i] < 0)
			return -1;
	}
	return translate_call(translation, mapping->function, result, args, count + 1);
}

/* ---------------------------------------------------------------- bounds  */

/* A value that no other one is less than, or greater. */
static Const *
extreme_of(Oid type, bool is_greatest)
{
	Datum		end = get_typlen(type) == sizeof(int32) ? Int32GetDatum(is_greatest ? PG_INT32_MAX : PG_INT32_MIN)
		: Int64GetDatum(is_greatest ? PG_INT64_MAX : PG_INT64_MIN);

	return pipeline_constant(type, -1, InvalidOid, end, false);
}

/* What bounds are compared as. */
typedef struct BoundForm
{
	Oid			type;
	bool		are_places;		/* numbers in their order, as of numerics, which are NULL of empty ranges alone */
	bool		may_be_empty;	/* a condition may be true of an empty range */
} BoundForm;

static Node *
is_not_empty(Node *range)
{
	Oid			function = type_is_multirange(getBaseType(exprType(range))) ? F_ISEMPTY_ANYMULTIRANGE
		: F_ISEMPTY_ANYRANGE;

	return (Node *) makeBoolExpr(NOT_EXPR, list_make1(makeFuncExpr(function, BOOLOID, list_make1(range), InvalidOid,
																   InvalidOid, COERCE_EXPLICIT_CALL)), -1);
}

/*
 * The bound of a range, or the extreme where there is none; of a value that itself.  It is NULL of a NULL and of a
 * range that is empty, if the condition is not true there.
 */
static Node *
bound_of(const BoundForm *form, Node *node, bool is_upper, bool is_greatest)
{
	Node	   *extreme = (Node *) extreme_of(form->type, is_greatest);

	if (form->are_places && translation_is_runtime(node))
		return extreme;
	if (range_form_is_value(node))
		return form->are_places ? range_form_bound(form->type, node, is_upper) : node;
	if (made_range_is(node))
		return made_range_bound(form->type, node, is_upper, (Const *) extreme);
	if (form->are_places && !form->may_be_empty)
		return range_form_bound(form->type, node, is_upper);
	if (!form->may_be_empty)
		extreme = pipeline_case(form->type, InvalidOid, list_make1(pipeline_when(is_not_empty(node), extreme)),
								makeNullConst(form->type, -1, InvalidOid));
	return pipeline_coalesce(range_form_bound(form->type, node, is_upper), extreme);
}

/* The bound of one is not behind that of the other: what is infinite is taken for one that is not. */
static Node *
compare_bounds(const BoundForm *form, Node *one, bool is_upper_of_one, Node *other, bool is_upper_of_other)
{
	return range_form_compare(form->type, BTLessEqualStrategyNumber, bound_of(form, one, is_upper_of_one, false),
				   bound_of(form, other, is_upper_of_other, true));
}

List *
translate_range_bounds(const FunctionMapping *mapping, List *nodes)
{
	Oid			range_type = range_form_type_of(nodes);
	BoundForm	form = {.are_places = range_form_of(nodes) == PENUMBRA_RANGE_OF_NUMERIC};
	Node	   *one = linitial(nodes);
	Node	   *other = llast(nodes);

	if (range_form_of(nodes) == RANGE_FORM_NONE || (!type_is_range(range_type) && !type_is_multirange(range_type)))
		return NIL;
	form.type = form.are_places ? INT8OID
		: get_range_subtype(type_is_multirange(range_type) ? get_multirange_range(range_type) : range_type);
	if (mapping->shape == SHAPE_RANGE_SWAPPED)
	{
		one = llast(nodes);
		other = linitial(nodes);
	}
	form.may_be_empty = mapping->function == PENUMBRA_FN_RANGE_CONTAINS && !range_form_is_value(other);
	switch (mapping->function)
	{
		case PENUMBRA_FN_RANGE_CONTAINS:
			return list_make2(compare_bounds(&form, one, false, other, false),
							  compare_bounds(&form, other, true, one, true));
		case PENUMBRA_FN_RANGE_OVERLAPS:
			return list_make2(compare_bounds(&form, one, false, other, true),
							  compare_bounds(&form, other, false, one, true));
		case PENUMBRA_FN_RANGE_BEFORE:
			return list_make1(compare_bounds(&form, one, true, other, false));
		case PENUMBRA_FN_RANGE_OVERLEFT:
			return list_make1(compare_bounds(&form, one, true, other, true));
		case PENUMBRA_FN_RANGE_OVERRIGHT:
			return list_make1(compare_bounds(&form, other, false, one, false));
		default:
			return NIL;
	}
}
