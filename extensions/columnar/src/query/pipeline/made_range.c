/*-------------------------------------------------------------------------
 *
 * made_range.c
 *	  Operators of ranges that a query makes of values, as of two columns.
 *
 * tsrange(a, b) is not made: its operators are comparisons of what it is made of, in which
 * NULL is no bound.  PostgreSQL raises an error where the bounds are in no order, and so does the
 * engine's expression, for which the ordinary plan runs.  It also runs where a bound of integers or dates has no value
 * behind it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/regproc.h"
#include "utils/typcache.h"

#include "query/pipeline/made_range.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/range_form.h"
#include "query/pipeline/translate_expr.h"

/* Of a bound that there is not, the value is NULL; one that is may be NULL in some rows. */
typedef struct MadeRange
{
	Oid			type;			/* of the values */
	Node	   *lower;
	Node	   *upper;
	bool		has_lower;		/* it is in the range */
	bool		has_upper;
	List	   *refused;		/* conditions: where one is true PostgreSQL makes the range, or raises an error */
} MadeRange;

/* Which bounds are in the range, as "[)" tells; false: the third argument does not tell. */
static bool
read_flags(const Const *flags, MadeRange *range)
{
	char	   *written;

	if (!IsA(flags, Const) || flags->constisnull)
		return false;
	written = TextDatumGetCString(flags->constvalue);
	if (strlen(written) != 2 || strchr("[(", written[0]) == NULL || strchr("])", written[1]) == NULL)
		return false;
	range->has_lower = written[0] == '[';
	range->has_upper = written[1] == ']';
	return true;
}

static Node *
without_null(Node *bound)
{
	return IsA(bound, Const) && ((Const *) bound)->constisnull ? NULL : bound;
}

static Const *
constant_of(Oid type, int64 value)
{
	Datum		datum = type == INT8OID ? Int64GetDatum(value) : Int32GetDatum((int32) value);

	return pipeline_constant(type, -1, InvalidOid, datum, false);
}

/* The value behind that of a bound.  Infinite dates, which PostgreSQL leaves alone, and the last value are refused. */
static Node *
next_value(MadeRange *range, Node *bound)
{
	Oid			function = range->type == INT4OID ? F_INT4PL : range->type == INT8OID ? F_INT8PL : F_DATE_PLI;
	Const	   *one = constant_of(range->type == INT8OID ? INT8OID : INT4OID, 1);
	int64		last = range->type == INT4OID ? PG_INT32_MAX : range->type == INT8OID ? PG_INT64_MAX : DATE_END_JULIAN -
		POSTGRES_EPOCH_JDATE - 1;

	if (bound == NULL)
		return NULL;
	range->refused = lappend(range->refused, range_form_compare(range->type, BTGreaterEqualStrategyNumber, bound,
																(Node *) constant_of(range->type, last)));
	if (range->type == DATEOID)
		range->refused = lappend(range->refused, range_form_compare(range->type, BTEqualStrategyNumber, bound,
																	(Node *) constant_of(DATEOID, DATEVAL_NOBEGIN)));
	return (Node *) makeFuncExpr(function, range->type, list_make2(bound, one), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* As PostgreSQL writes ranges of integers and dates: [a, b). */
static void
make_canonical(MadeRange *range)
{
	if (!range->has_lower)
		range->lower = next_value(range, range->lower);
	if (range->has_upper)
		range->upper = next_value(range, range->upper);
	range->has_lower = true;
	range->has_upper = false;
}

static bool
read_constructor(const FuncExpr *func, MadeRange *range)
{
	bool		is_discrete = false;

	range->has_lower = true;
	switch (func->funcid)
	{
		case F_INT4RANGE_INT4_INT4:
		case F_INT8RANGE_INT8_INT8:
		case F_DATERANGE_DATE_DATE:
		case F_TSRANGE_TIMESTAMP_TIMESTAMP:
		case F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ:
		case F_NUMRANGE_NUMERIC_NUMERIC:
			break;
		case F_INT4RANGE_INT4_INT4_TEXT:
		case F_INT8RANGE_INT8_INT8_TEXT:
		case F_DATERANGE_DATE_DATE_TEXT:
		case F_TSRANGE_TIMESTAMP_TIMESTAMP_TEXT:
		case F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ_TEXT:
		case F_NUMRANGE_NUMERIC_NUMERIC_TEXT:
			if (!read_flags(lthird(func->args), range))
				return false;
			is_discrete = func->funcresulttype == INT4RANGEOID || func->funcresulttype == INT8RANGEOID ||
				func->funcresulttype == DATERANGEOID;
			break;
		default:
			return false;
	}
	range->type = get_range_subtype(func->funcresulttype);
	range->lower = without_null(linitial(func->args));
	range->upper = without_null(lsecond(func->args));
	if (range->lower != NULL && range->upper != NULL)
		range->refused = list_make1(range_form_compare(range->type, BTGreaterStrategyNumber, range->lower,
													   range->upper));
	if (is_discrete)
		make_canonical(range);
	return true;
}

static Node *
value_of_bound(Oid type, const RangeBound *bound)
{
	return bound->infinite ? NULL : (Node *) pipeline_constant(type, -1, InvalidOid, bound->val, false);
}

static bool
read_constant(const Const *constant, MadeRange *range)
{
	TypeCacheEntry *type;
	RangeBound	lower;
	RangeBound	upper;
	bool		is_empty;

	if (constant->constisnull || !type_is_range(constant->consttype))
		return false;
	type = lookup_type_cache(constant->consttype, TYPECACHE_RANGE_INFO);
	range_deserialize(type, DatumGetRangeTypeP(constant->constvalue), &lower, &upper, &is_empty);
	range->type = type->rngelemtype->type_id;
	range->lower = value_of_bound(range->type, &lower);
	range->upper = value_of_bound(range->type, &upper);
	range->has_lower = lower.inclusive;
	range->has_upper = upper.inclusive;
	return !is_empty;
}

bool
made_range_is(Node *node)
{
	MadeRange	range = {0};

	return IsA(node, FuncExpr) && read_constructor((FuncExpr *) node, &range);
}

static bool
read_range(Node *node, MadeRange *range)
{
	if (IsA(node, Const))
		return read_constant((Const *) node, range);
	return IsA(node, FuncExpr) && read_constructor((FuncExpr *) node, range);
}

/* ---------------------------------------------------------------- conditions */

/* Adds to the conditions that one value is before the other, or that one of them is no bound. */
static List *
add_order(List *conditions, Oid type, Node *left, Node *right, bool may_be_equal)
{
	List	   *alternatives = NIL;

	if (left == NULL || right == NULL)
		return conditions;
	if (!IsA(left, Const))
		alternatives = lappend(alternatives, pipeline_null_test(left, IS_NULL));
	if (!IsA(right, Const))
		alternatives = lappend(alternatives, pipeline_null_test(right, IS_NULL));
	alternatives = lappend(alternatives,
						   range_form_compare(type, may_be_equal ? BTLessEqualStrategyNumber : BTLessStrategyNumber,
											  left, right));
	return lappend(conditions, list_length(alternatives) == 1 ? linitial(alternatives)
				   : make_orclause(alternatives));
}

/* Between the bounds there is something. */
static List *
add_not_empty(List *conditions, const MadeRange *range)
{
	return add_order(conditions, range->type, range->lower, range->upper, range->has_lower && range->has_upper);
}

static Node *
all_of(List *conditions)
{
	return conditions == NIL ? makeBoolConst(true, false) : (Node *) make_andclause(conditions);
}

static Node *
overlap(const MadeRange *one, const MadeRange *other)
{
	List	   *conditions = add_not_empty(add_not_empty(NIL, one), other);

	conditions = add_order(conditions, one->type, one->lower, other->upper, one->has_lower && other->has_upper);
	conditions = add_order(conditions, one->type, other->lower, one->upper, other->has_lower && one->has_upper);
	return all_of(conditions);
}

/* NULL for a value that is NULL, which is no bound here. */
static Node *
contains(const MadeRange *range, Node *value)
{
	List	   *conditions = add_order(NIL, range->type, range->lower, value, range->has_lower);

	conditions = add_order(conditions, range->type, value, range->upper, range->has_upper);
	return pipeline_case(BOOLOID, InvalidOid, list_make1(pipeline_when(pipeline_null_test(value, IS_NULL),
																	  makeBoolConst(false, true))),
						 all_of(conditions));
}

static Node *
any_of(List *conditions)
{
	return list_length(conditions) == 1 ? linitial(conditions) : (Node *) make_orclause(conditions);
}

/* The condition, and an error where a range is refused. */
static PenumbraExpr
translate_checked(Translation *translation, Node *condition, const MadeRange *ranges, int count)
{
	PenumbraExpr args[5];
	int			arg_count = 0;
	bool		is_taken = true;

	for (int i = 0; i < count && is_taken; i++)
	{
		if (ranges[i].refused == NIL)
			continue;
		args[arg_count] = translate_expr(translation, any_of(ranges[i].refused));
		is_taken = args[arg_count++] >= 0;
		args[arg_count++] = is_taken ? translate_failure(translation, PENUMBRA_BOOL) : -1;
	}
	if (!is_taken)
		return -1;
	translation->branch_depth++;
	args[arg_count] = translate_expr(translation, condition);
	translation->branch_depth--;
	return args[arg_count] < 0 || arg_count == 0 ? args[arg_count]
		: translate_call(translation, PENUMBRA_FN_CASE, PENUMBRA_BOOL, args, arg_count + 1);
}

PenumbraExpr
made_range_translate(Translation *translation, const FunctionMapping *mapping, List *args)
{
	MadeRange	ranges[2] = {{0}, {0}};
	Node	   *one = linitial(args);
	Node	   *other = llast(args);

	if (mapping->function == PENUMBRA_FN_RANGE_CONTAINS && range_form_is_value(other) && read_range(one, &ranges[0]))
		return translate_checked(translation, contains(&ranges[0], other), ranges, 1);
	if (mapping->function == PENUMBRA_FN_RANGE_OVERLAPS && read_range(one, &ranges[0]) &&
		read_range(other, &ranges[1]))
		return translate_checked(translation, overlap(&ranges[0], &ranges[1]), ranges, 2);
	return translation_refuse(translation, psprintf("function %s", format_procedure(mapping->oid)));
}

/* ---------------------------------------------------------------- bounds  */

/* 1 / 0 if the range is refused. */
static Node *
is_made(const MadeRange *range)
{
	Node	   *divisor = pipeline_case(INT4OID, InvalidOid,
										list_make1(pipeline_when(any_of(range->refused), constant_of(INT4OID, 0))),
										constant_of(INT4OID, 1));
	FuncExpr   *quotient = makeFuncExpr(F_INT4DIV, INT4OID, list_make2(constant_of(INT4OID, 1), divisor), InvalidOid,
										InvalidOid, COERCE_EXPLICIT_CALL);

	return (Node *) makeFuncExpr(F_INT4EQ, BOOLOID, list_make2(quotient, constant_of(INT4OID, 1)), InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CALL);
}

Node *
made_range_bound(Oid type, Node *node, bool is_upper, Const *other)
{
	MadeRange	range = {0};
	Node	   *own;
	Node	   *bound;

	(void) read_constructor((FuncExpr *) node, &range);
	own = is_upper ? range.upper : range.lower;
	if (own == NULL || (range.type != type && translation_is_runtime(own)))
		return (Node *) other;
	if (range.type != type)
		own = range_form_bound(type, own, is_upper);
	bound = pipeline_coalesce(own, (Node *) other);
	if (range.refused == NIL)
		return bound;
	return pipeline_case(type, InvalidOid, list_make1(pipeline_when(is_made(&range), bound)), other);
}
