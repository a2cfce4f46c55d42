/*-------------------------------------------------------------------------
 *
 * translate_node.c
 *	  Expression nodes with a shape of their own: boolean logic, CASE, IN,
 *	  relabelling and the like.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "query/pipeline/can_fail.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/enum_order.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_node.h"
#include "query/pipeline/translate_range.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translate_zone.h"
#include "query/pipeline/translation.h"

/* Longer lists of alternatives that are no IN list are refused. */
#define EXPANDED_ALTERNATIVES_MAX 64
/* Each is compared. */
#define THRESHOLDS_MAX 32
/* The engine copies as many elements of a list in a few milliseconds. */
#define LIST_PIECE (1 << 16)

static PenumbraExpr
translate_bool_expr(Translation *translation, BoolExpr *bool_expr)
{
	PenumbraExpr *args = palloc(sizeof(PenumbraExpr) * list_length(bool_expr->args));
	PenumbraFunction function;
	bool		is_taken;

	switch (bool_expr->boolop)
	{
		case AND_EXPR:
			function = PENUMBRA_FN_AND;
			break;
		case OR_EXPR:
			function = PENUMBRA_FN_OR;
			break;
		default:
			function = PENUMBRA_FN_NOT;
			break;
	}
	translation->branch_depth++;
	is_taken = translate_args(translation, bool_expr->args, args);
	translation->branch_depth--;
	if (!is_taken)
		return -1;
	return translate_call(translation, function, PENUMBRA_BOOL, args, list_length(bool_expr->args));
}

static PenumbraExpr
translate_distinct(Translation *translation, OpExpr *op)
{
	PenumbraExpr args[2];

	set_opfuncid(op);
	if (!comparison_key_is_equality(op) &&
		!translate_operator_is(translation, op->opfuncid, op->inputcollid, PENUMBRA_FN_EQ))
		return -1;
	if (!comparison_keys(translation, op->args, args))
		return -1;
	return translate_call(translation, PENUMBRA_FN_IS_DISTINCT, PENUMBRA_BOOL, args, 2);
}

/* CASE WHEN a = b THEN NULL ELSE a END, where PostgreSQL tells what is equal. */
static Node *
nullif_as_case(const OpExpr *op)
{
	Expr	   *equality = make_opclause(op->opno, BOOLOID, false, linitial(op->args), lsecond(op->args), InvalidOid,
										 op->inputcollid);

	((OpExpr *) equality)->opfuncid = op->opfuncid;
	return pipeline_case(op->opresulttype, op->opcollid,
						 list_make1(pipeline_when(equality, makeNullConst(op->opresulttype, -1, op->opcollid))),
						 linitial(op->args));
}

static PenumbraExpr
translate_nullif(Translation *translation, OpExpr *op)
{
	PenumbraExpr args[2];
	PenumbraType type;

	set_opfuncid(op);
	if (comparison_key_is_other(linitial(op->args)))
		return translate_expr(translation, nullif_as_case(op));
	if (!translate_operator_is(translation, op->opfuncid, op->inputcollid, PENUMBRA_FN_EQ) ||
		!translate_type_of(translation, (Node *) op, &type) ||
		!translate_args(translation, op->args, args))
		return -1;
	return translate_call(translation, PENUMBRA_FN_NULLIF, type, args, 2);
}

/* x = y, which PostgreSQL evaluates once for each x, or the node itself. */
static Node *
with_operand(const CaseExpr *case_expr, Node *comparison)
{
	OpExpr	   *op = (OpExpr *) comparison;
	Node	   *tested = IsA(op, OpExpr) ? linitial(op->args) : NULL;
	OpExpr	   *written_out;

	if (case_expr->arg == NULL || tested == NULL || !IsA(strip_implicit_coercions(tested), CaseTestExpr) ||
		!comparison_key_is_other((Node *) case_expr->arg) ||
		comparison_key_is_in_lower_case((Node *) case_expr->arg))
		return comparison;
	written_out = copyObject(op);
	if (IsA(tested, CaseTestExpr))
		linitial(written_out->args) = case_expr->arg;
	else
		((RelabelType *) linitial(written_out->args))->arg = case_expr->arg;
	return (Node *) written_out;
}

/* CASE x WHEN y: each WHEN compares a CaseTestExpr, which stands for x. */
static PenumbraExpr
translate_case(Translation *translation, CaseExpr *case_expr)
{
	int			arg_count = 2 * list_length(case_expr->args) + 1;
	PenumbraExpr *args = palloc(sizeof(PenumbraExpr) * arg_count);
	PenumbraExpr outer_operand = translation->case_operand;
	PenumbraExpr *next = args;
	PenumbraType type;
	bool		is_taken = true;
	ListCell   *lc;

	if (!translate_type_of(translation, (Node *) case_expr, &type))
		return -1;
	if (case_expr->arg != NULL)
	{
		PenumbraExpr operand = translate_expr(translation, (Node *) case_expr->arg);

		if (operand < 0)
			return -1;
		translation->case_operand = operand;
	}
	translation->branch_depth++;
	foreach(lc, case_expr->args)
	{
		CaseWhen   *when = lfirst(lc);

		*next = translate_expr(translation, with_operand(case_expr, (Node *) when->expr));
		is_taken = is_taken && *next++ >= 0;
		*next = is_taken ? translate_expr(translation, (Node *) when->result) : -1;
		is_taken = is_taken && *next++ >= 0;
		if (!is_taken)
			break;
	}
	if (is_taken)
	{
		*next = translate_expr(translation, (Node *) case_expr->defresult);
		is_taken = *next >= 0;
	}
	translation->branch_depth--;
	translation->case_operand = outer_operand;
	return is_taken ? translate_call(translation, PENUMBRA_FN_CASE, type, args, arg_count) : -1;
}

static PenumbraExpr
translate_variadic(Translation *translation, Node *node, PenumbraFunction function,
				   const PenumbraCollation *collation, List *nodes)
{
	PenumbraExpr *args = palloc(sizeof(PenumbraExpr) * list_length(nodes));
	PenumbraType type;
	bool		is_taken;

	if (!translate_type_of(translation, node, &type))
		return -1;
	translation->branch_depth++;
	is_taken = translate_args(translation, nodes, args);
	translation->branch_depth--;
	return is_taken ? translate_collated_call(translation, function, type, collation, args,
											  list_length(nodes)) : -1;
}

static PenumbraExpr
translate_boolean_test(Translation *translation, BooleanTest *test)
{
	static const PenumbraFunction functions[] = {
		[IS_TRUE] = PENUMBRA_FN_IS_TRUE,
		[IS_NOT_TRUE] = PENUMBRA_FN_IS_NOT_TRUE,
		[IS_FALSE] = PENUMBRA_FN_IS_FALSE,
		[IS_NOT_FALSE] = PENUMBRA_FN_IS_NOT_FALSE,
		[IS_UNKNOWN] = PENUMBRA_FN_IS_NULL,
		[IS_NOT_UNKNOWN] = PENUMBRA_FN_IS_NOT_NULL,
	};
	PenumbraExpr arg = translate_expr(translation, (Node *) test->arg);

	if (arg < 0)
		return -1;
	return translate_call(translation, functions[test->booltesttype], PENUMBRA_BOOL, &arg, 1);
}

static PenumbraExpr
translate_null_test(Translation *translation, NullTest *test)
{
	PenumbraExpr arg;

	if (test->argisrow)
		return translation_refuse(translation, "IS NULL of a row");
	arg = translate_expr(translation, (Node *) test->arg);
	if (arg < 0)
		return -1;
	return translate_call(translation,
						  test->nulltesttype == IS_NULL ? PENUMBRA_FN_IS_NULL
						  : PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, &arg, 1);
}

static PenumbraExpr
translate_relabel(Translation *translation, RelabelType *relabel)
{
	PenumbraExpr arg;
	PenumbraType type;

	if (!translate_type_of(translation, (Node *) relabel, &type))
		return -1;
	arg = translate_expr(translation, (Node *) relabel->arg);
	if (arg < 0 || translate_have_one_image(exprType((Node *) relabel->arg), relabel->resulttype))
		return arg;
	if (type == PENUMBRA_BPCHAR && penumbra_plan_expr_type(translation->plan, arg) == PENUMBRA_TEXT &&
		translate_is_its_image(exprType((Node *) relabel->arg)))
		return translate_call(translation, PENUMBRA_FN_CAST, type, &arg, 1);
	return translation_refuse(translation, psprintf("cast to %s",
												  format_type_be(relabel->resulttype)));
}

/*
 * Whether the engine writes values of the type.  Dates, instants and intervals it writes in one style; if another is
 * set after planning, the ordinary plan runs.
 */
static bool
is_written_by_engine(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case UUIDOID:
		case TIMEOID:
			return true;
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return DateStyle == USE_ISO_DATES;
		case INTERVALOID:
			return IntervalStyle == INTSTYLE_POSTGRES;
		default:
			return false;
	}
}

/* Whether the engine reads values of the type from text, of which no setting changes the meaning of what it reads. */
static bool
is_read_by_engine(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == FLOAT4OID || type == FLOAT8OID ||
		type == NUMERICOID || type == BOOLOID || type == UUIDOID || type == DATEOID || type == TIMESTAMPOID ||
		type == TIMESTAMPTZOID;
}

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID;
}

/* Casts through text. */
static PenumbraExpr
translate_coerce_via_io(Translation *translation, CoerceViaIO *coerce)
{
	Oid			from = getBaseType(exprType((Node *) coerce->arg));
	Oid			to = getBaseType(coerce->resulttype);
	PenumbraType type;
	PenumbraExpr arg;

	/* names the type, if it is another one */
	if (!translate_type_of(translation, (Node *) coerce->arg, &type) ||
		!translate_type_of(translation, (Node *) coerce, &type))
		return -1;
	if (is_text(from) && to == BYTEAOID)
	{
		arg = translate_expr(translation, (Node *) coerce->arg);
		return arg < 0 ? -1 : translate_call(translation, PENUMBRA_FN_BYTEA, type, &arg, 1);
	}
	if (!(is_text(to) && is_written_by_engine(from)) &&
		!((is_text(from) || from == BPCHAROID) && is_read_by_engine(to)))
		return translation_refuse(translation, psprintf("cast to %s by input and output",
													  format_type_be(coerce->resulttype)));
	arg = translate_expr(translation, (Node *) coerce->arg);
	/* a number of microseconds, which is written as an interval is */
	if (arg >= 0 && from == TIMEOID)
		arg = translate_call(translation, PENUMBRA_FN_CAST, PENUMBRA_INTERVAL, &arg, 1);
	return arg < 0 ? -1 : translate_call(translation, PENUMBRA_FN_CAST, type, &arg, 1);
}

/* An argument of concat() or concat_ws(), as its output function has it. */
static PenumbraExpr
translate_output(Translation *translation, Node *arg)
{
	const Const *constant = (const Const *) arg;
	CoerceViaIO coerce = {.xpr = {T_CoerceViaIO},.arg = (Expr *) arg,.resulttype = TEXTOID};

	if (IsA(arg, Const) && constant->constisnull)
		return translate_datum(translation, TEXTOID, (Datum) 0, true);
	if (IsA(arg, Const) && constant->consttype == UNKNOWNOID)
		return translate_datum(translation, TEXTOID, CStringGetTextDatum(DatumGetCString(constant->constvalue)), false);
	return is_text(exprType(arg)) ? translate_expr(translation, arg) : translate_coerce_via_io(translation, &coerce);
}

static PenumbraExpr
translate_two_texts(Translation *translation, PenumbraFunction function, PenumbraExpr first, PenumbraExpr second)
{
	PenumbraExpr args[2] = {first, second};

	return first < 0 || second < 0 ? -1 : translate_call(translation, function, PENUMBRA_TEXT, args, 2);
}

/* The arguments from the one at `first` on, each after `before` (-1: nothing), as far as they are not NULL. */
static PenumbraExpr
translate_concatenated(Translation *translation, const List *args, int first, PenumbraExpr before)
{
	PenumbraExpr empty = translate_datum(translation, TEXTOID, CStringGetTextDatum(""), false);
	PenumbraExpr joined = empty;

	for (int i = first; i < list_length(args) && joined >= 0; i++)
	{
		PenumbraExpr part = translate_output(translation, list_nth(args, i));

		if (before >= 0)
			part = translate_two_texts(translation, PENUMBRA_FN_CONCAT, before, part);
		part = translate_two_texts(translation, PENUMBRA_FN_COALESCE, part, empty);
		joined = i == first ? part : translate_two_texts(translation, PENUMBRA_FN_CONCAT, joined, part);
	}
	return joined;
}

/* With the separator before each part, and then without the first one. */
static PenumbraExpr
translate_concat_ws(Translation *translation, const List *args)
{
	PenumbraExpr separator = translate_expr(translation, linitial(args));
	PenumbraExpr joined = separator < 0 ? -1 : translate_concatenated(translation, args, 1, separator);
	PenumbraExpr one = translate_datum(translation, INT4OID, Int32GetDatum(1), false);
	PenumbraExpr begin[2];
	PenumbraExpr part[2];

	if (joined < 0)
		return -1;
	begin[0] = translate_call(translation, PENUMBRA_FN_LENGTH, PENUMBRA_INT4, &separator, 1);
	begin[1] = one;
	part[0] = joined;
	part[1] = begin[0] < 0 || one < 0 ? -1 : translate_call(translation, PENUMBRA_FN_ADD, PENUMBRA_INT4, begin, 2);
	return part[1] < 0 ? -1 : translate_call(translation, PENUMBRA_FN_SUBSTRING, PENUMBRA_TEXT, part, 2);
}

/* What was joined so far (-1: nothing), and the next part. */
static PenumbraExpr
translate_joined(Translation *translation, PenumbraExpr joined, PenumbraExpr part)
{
	return joined < 0 ? part : translate_two_texts(translation, PENUMBRA_FN_CONCAT, joined, part);
}

/* format() with an argument for each %s of a constant, which has no other places: the parts, joined. */
static PenumbraExpr
translate_format(Translation *translation, const List *args)
{
	const Const *format = linitial(args);
	PenumbraExpr empty = translate_datum(translation, TEXTOID, CStringGetTextDatum(""), false);
	PenumbraExpr joined = -1;
	StringInfoData plain;
	int			next = 1;

	if (!IsA(format, Const) || format->constisnull || empty < 0)
		return translation_refuse(translation, "format of format()");
	initStringInfo(&plain);
	for (const char *position = TextDatumGetCString(format->constvalue); *position != '\0'; position++)
	{
		PenumbraExpr part;

		if (*position != '%' || position[1] == '%')
		{
			appendStringInfoChar(&plain, *position);
			position += *position == '%' ? 1 : 0;
			continue;
		}
		if (*++position != 's' || next == list_length(args))
			return translation_refuse(translation, "format of format()");
		if (plain.len > 0)
			joined = translate_joined(translation, joined,
									  translate_datum(translation, TEXTOID, CStringGetTextDatum(plain.data), false));
		resetStringInfo(&plain);
		part = translate_output(translation, list_nth(args, next++));
		part = translate_two_texts(translation, PENUMBRA_FN_COALESCE, part, empty);
		if (part < 0)
			return -1;
		joined = translate_joined(translation, joined, part);
	}
	if (next < list_length(args))
		return translation_refuse(translation, "format of format()");
	if (plain.len > 0 || joined < 0)
		joined = translate_joined(translation, joined,
								  translate_datum(translation, TEXTOID, CStringGetTextDatum(plain.data), false));
	return joined;
}

/* ---------------------------------------------------------------- x op ANY (array) */

/* The elements of an array. */
typedef struct Elements
{
	Oid			type;
	ArrayType  *array;
	int			count;
	bool		is_known;		/* or planning does not know them */
	bool		is_null_array;
	bool		is_lower_case;	/* they are compared so, as text */
} Elements;

static Elements
array_elements(Translation *translation, Node *array_node)
{
	Elements	elements = {.type = get_element_type(exprType(array_node)),.is_known = true};
	Datum		array_datum;

	if (IsA(array_node, Const))
	{
		array_datum = ((Const *) array_node)->constvalue;
		elements.is_null_array = ((Const *) array_node)->constisnull;
	}
	else
	{
		int			index = translation_runtime_index(translation, array_node);

		elements.is_known = translation->runtime_values != NULL && !translation->runtime_values[index].has_failed;
		if (!elements.is_known)
			return elements;
		array_datum = translation->runtime_values[index].value;
		elements.is_null_array = translation->runtime_values[index].isnull;
	}
	if (elements.is_null_array)
		return elements;
	elements.array = DatumGetArrayTypeP(array_datum);
	elements.count = ArrayGetNItems(ARR_NDIM(elements.array), ARR_DIMS(elements.array));
	return elements;
}

static void
take_apart(const Elements *elements, Datum **values, bool **nulls)
{
	int16		length;
	bool		by_value;
	char		alignment;
	int			count;

	get_typlenbyvalalign(elements->type, &length, &by_value, &alignment);
	deconstruct_array(elements->array, elements->type, length, by_value, alignment, values, nulls, &count);
	for (int i = 0; elements->is_lower_case && i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!(*nulls)[i])
			(*values)[i] = DirectFunctionCall1Coll(lower, DEFAULT_COLLATION_OID, (*values)[i]);
	}
}

static List *
constants_of(const Elements *elements)
{
	int16		length;
	bool		by_value;
	Datum	   *values;
	bool	   *nulls;
	List	   *constants = NIL;

	take_apart(elements, &values, &nulls);
	get_typlenbyval(elements->type, &length, &by_value);
	for (int i = 0; i < elements->count; i++)
		constants = lappend(constants, makeConst(elements->type, -1, get_typcollation(elements->type), length,
												 values[i], nulls[i], by_value));
	return constants;
}

/* One argument per piece: a cancel is seen between two of them. */
static bool
translate_elements(Translation *translation, const Elements *elements, PenumbraExpr *args)
{
	Datum	   *values;
	bool	   *nulls;
	Oid			type = elements->is_lower_case ? TEXTOID : elements->type;
	bool		is_taken = true;

	take_apart(elements, &values, &nulls);
	for (int begin = 0; is_taken && begin < elements->count; begin += LIST_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		*args = translate_list(translation, type, values + begin, nulls + begin,
							   Min(elements->count - begin, LIST_PIECE));
		is_taken = *args++ >= 0;
	}
	pfree(values);
	pfree(nulls);
	return is_taken;
}

static PenumbraExpr
translate_in_list(Translation *translation, ScalarArrayOpExpr *op, const Elements *elements)
{
	/* While planning one NULL stands for the list: whether it is taken does not depend on how long it is. */
	bool		is_listed = elements->is_known &&
		(translation->runtime_values != NULL || translation->needs_values);
	int			pieces = is_listed ? (elements->count + LIST_PIECE - 1) / LIST_PIECE : 1;
	PenumbraExpr *args = palloc(sizeof(*args) * (1 + pieces));

	args[0] = comparison_key(translation, linitial(op->args));
	if (args[0] < 0)
		return -1;
	if (!is_listed)
		args[1] = translate_datum(translation, elements->type, (Datum) 0, true);
	if (is_listed ? !translate_elements(translation, elements, args + 1) : args[1] < 0)
		return -1;
	return translate_call(translation, op->useOr ? PENUMBRA_FN_IN_LIST : PENUMBRA_FN_NOT_IN_LIST,
						  PENUMBRA_BOOL, args, 1 + pieces);
}

/* x op e1 OR x op e2 ... (AND for ALL) */
static PenumbraExpr
translate_alternatives(Translation *translation, ScalarArrayOpExpr *op, List *elements)
{
	int			count = list_length(elements);
	PenumbraExpr *args = palloc(sizeof(PenumbraExpr) * Max(count, 1));
	bool		is_taken = true;
	ListCell   *lc;

	if (count > EXPANDED_ALTERNATIVES_MAX)
		return translation_refuse(translation, "long list of alternatives");
	translation->branch_depth++;
	foreach(lc, elements)
	{
		PenumbraExpr arg = translate_function(translation, op->opfuncid, BOOLOID, op->inputcollid,
											  list_make2(linitial(op->args), lfirst(lc)));

		args[foreach_current_index(lc)] = arg;
		is_taken = is_taken && arg >= 0;
		if (!is_taken)
			break;
	}
	translation->branch_depth--;
	if (!is_taken)
		return -1;
	if (count == 1)
		return args[0];
	return translate_call(translation, op->useOr ? PENUMBRA_FN_OR : PENUMBRA_FN_AND, PENUMBRA_BOOL,
						  args, count);
}

/*
 * No array has the answer NULL, one without elements that of no row: nothing is
 * compared.  x is evaluated all the same, so it is left there if it may fail.
 */
static PenumbraExpr
translate_without_elements(Translation *translation, ScalarArrayOpExpr *op, bool is_null_array)
{
	Node	   *scalar = linitial(op->args);
	PenumbraExpr args[2];

	if (!expr_can_fail(scalar))
		return translate_datum(translation, BOOLOID, BoolGetDatum(!op->useOr), is_null_array);
	args[0] = translate_expr(translation, scalar);
	args[1] = is_null_array ? translate_datum(translation, exprType(scalar), (Datum) 0, true) : 0;
	if (args[0] < 0 || args[1] < 0)
		return -1;
	return translate_call(translation, op->useOr ? PENUMBRA_FN_IN_LIST : PENUMBRA_FN_NOT_IN_LIST,
						  PENUMBRA_BOOL, args, is_null_array ? 2 : 1);
}

static PenumbraExpr
translate_scalar_array(Translation *translation, ScalarArrayOpExpr *op)
{
	Node	   *array_node = lsecond(op->args);
	const FunctionMapping *mapping;
	Elements	elements;

	set_sa_opfuncid(op);
	mapping = function_map_lookup(op->opfuncid);
	/*
	 * An ARRAY[] of columns is written out.  Of other arrays the elements are
	 * known now, or at the node's start: IN and NOT IN then keep them as a list.
	 */
	if (IsA(array_node, ArrayExpr) && !((ArrayExpr *) array_node)->multidims &&
		!translation_is_runtime(array_node))
		return translate_alternatives(translation, op, ((ArrayExpr *) array_node)->elements);
	if (!IsA(array_node, Const) && !translation_is_runtime(array_node))
		return translation_refuse(translation, "array that is not constant");
	if (!OidIsValid(get_element_type(exprType(array_node))))
		return translation_refuse(translation, "array of a domain");
	elements = array_elements(translation, array_node);
	if (!elements.is_known && translation->runtime_values != NULL)
		return translation_refuse(translation, "array that cannot be evaluated");
	if (elements.is_null_array || (elements.is_known && elements.count == 0))
		return translate_without_elements(translation, op, elements.is_null_array);
	if (mapping != NULL && (mapping->shape == SHAPE_PLAIN || mapping->shape == SHAPE_LOWER_CASE) &&
		mapping->function == (op->useOr ? PENUMBRA_FN_EQ : PENUMBRA_FN_NE))
	{
		if (!translate_check_equality(translation, op->inputcollid))
			return -1;
		elements.is_lower_case = mapping->shape == SHAPE_LOWER_CASE;
		return translate_in_list(translation, op, &elements);
	}
	if (elements.count > EXPANDED_ALTERNATIVES_MAX)
		return translation_refuse(translation, "long list of alternatives");
	return translate_alternatives(translation, op, elements.is_known ? constants_of(&elements)
								  : list_make1(makeNullConst(elements.type, -1, exprCollation(array_node))));
}

/* ---------------------------------------------------------------- functions made of several */

/* How many tests passed before (-1: there was none), and the next one; false: refused. */
static bool
count_test(Translation *translation, PenumbraExpr test, PenumbraExpr *sum)
{
	PenumbraExpr args[2] = {*sum, -1};

	if (test >= 0)
		args[1] = translate_call(translation, PENUMBRA_FN_CAST, PENUMBRA_INT4, &test, 1);
	*sum = *sum < 0 || args[1] < 0 ? args[1] : translate_call(translation, PENUMBRA_FN_ADD, PENUMBRA_INT4, args, 2);
	return *sum >= 0;
}

/* num_nulls() and num_nonnulls(): the sum of the tests. */
static PenumbraExpr
translate_count(Translation *translation, PenumbraFunction test, const List *args)
{
	PenumbraExpr sum = -1;
	ListCell   *lc;

	foreach(lc, args)
	{
		PenumbraExpr arg = translate_expr(translation, lfirst(lc));

		if (arg >= 0)
			arg = translate_call(translation, test, PENUMBRA_BOOL, &arg, 1);
		if (!count_test(translation, arg, &sum))
			return -1;
	}
	return sum;
}

/* width_bucket() of thresholds in their order: how many of them the value has reached. */
static PenumbraExpr
translate_thresholds(Translation *translation, const FuncExpr *func)
{
	Node	   *value = linitial(func->args);
	const Const *array = lsecond(func->args);
	TypeCacheEntry *type = lookup_type_cache(exprType(value), TYPECACHE_CMP_PROC_FINFO | TYPECACHE_BTREE_OPFAMILY);
	Oid			reached = get_opfamily_member(type->btree_opf, type->btree_opintype, type->btree_opintype,
											  BTGreaterEqualStrategyNumber);
	const Const *before = NULL;
	PenumbraExpr sum = -1;
	Elements	elements;
	ListCell   *lc;

	if (IsA(array, Const) && !array->constisnull && OidIsValid(reached))
		elements = array_elements(translation, (Node *) array);
	else
		return translation_refuse(translation, "thresholds of width_bucket() that are not known");
	if (ARR_NDIM(elements.array) != 1 || elements.count > THRESHOLDS_MAX || array_contains_nulls(elements.array))
		return translation_refuse(translation, "so many thresholds of width_bucket()");
	foreach(lc, constants_of(&elements))
	{
		const Const *threshold = lfirst_node(Const, lc);

		if (before != NULL && DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo, func->inputcollid,
															  before->constvalue, threshold->constvalue)) > 0)
			return translation_refuse(translation, "thresholds of width_bucket() that are in no order");
		if (!count_test(translation, translate_function(translation, get_opcode(reached), BOOLOID, func->inputcollid,
														list_make2(value, (Node *) threshold)), &sum))
			return -1;
		before = threshold;
	}
	return sum;
}

/* isfinite() of dates and instants. */
static PenumbraExpr
translate_is_finite(Translation *translation, const FuncExpr *func)
{
	Node	   *value = linitial(func->args);
	bool		is_date = func->funcid == F_ISFINITE_DATE;
	Datum		infinite[] = {
		is_date ? DateADTGetDatum(DATEVAL_NOBEGIN) : TimestampGetDatum(DT_NOBEGIN),
		is_date ? DateADTGetDatum(DATEVAL_NOEND) : TimestampGetDatum(DT_NOEND)
	};
	bool		nulls[] = {false, false};
	PenumbraExpr args[2];

	args[0] = translate_expr(translation, value);
	args[1] = translate_list(translation, exprType(value), infinite, nulls, lengthof(infinite));
	return args[0] < 0 || args[1] < 0 ? -1
		: translate_call(translation, PENUMBRA_FN_NOT_IN_LIST, PENUMBRA_BOOL, args, 2);
}

/* Whether it is made of several functions of the engine's. */
static bool
is_composed_function(Oid function_oid)
{
	switch (function_oid)
	{
		case F_CONCAT:
		case F_CONCAT_WS:
		case F_FORMAT_TEXT_ANY:
		case F_NUM_NULLS:
		case F_NUM_NONNULLS:
		case F_WIDTH_BUCKET_ANYCOMPATIBLE_ANYCOMPATIBLEARRAY:
		case F_ISFINITE_DATE:
		case F_ISFINITE_TIMESTAMP:
		case F_ISFINITE_TIMESTAMPTZ:
		case F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8_TEXT:
			return true;
		default:
			return false;
	}
}

static PenumbraExpr
translate_composed_function(Translation *translation, const FuncExpr *func)
{
	if (func->funcvariadic)
		return translation_refuse(translation, "elements of an array as arguments");
	switch (func->funcid)
	{
		case F_WIDTH_BUCKET_ANYCOMPATIBLE_ANYCOMPATIBLEARRAY:
			return translate_thresholds(translation, func);
		case F_ISFINITE_DATE:
		case F_ISFINITE_TIMESTAMP:
		case F_ISFINITE_TIMESTAMPTZ:
			return translate_is_finite(translation, func);
		case F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8_TEXT:
			return translate_made_in_zone(translation, func);
		case F_CONCAT:
			return translate_concatenated(translation, func->args, 0, -1);
		case F_CONCAT_WS:
			return translate_concat_ws(translation, func->args);
		case F_FORMAT_TEXT_ANY:
			return translate_format(translation, func->args);
		case F_NUM_NULLS:
			return translate_count(translation, PENUMBRA_FN_IS_NULL, func->args);
		default:
			return translate_count(translation, PENUMBRA_FN_IS_NOT_NULL, func->args);
	}
}

/* ---------------------------------------------------------------- (a, b) < (c, d) */

/* The comparison of the pair by the strategy of its operator family. */
static Node *
compare_pair(const RowCompareExpr *compare, int pair, int strategy)
{
	Oid			family = list_nth_oid(compare->opfamilies, pair);
	Oid			left;
	Oid			right;
	int			own_strategy;
	Expr	   *op;

	get_op_opfamily_properties(list_nth_oid(compare->opnos, pair), family, false, &own_strategy, &left, &right);
	op = make_opclause(get_opfamily_member(family, left, right, strategy), BOOLOID, false,
					   list_nth(compare->largs, pair), list_nth(compare->rargs, pair), InvalidOid,
					   list_nth_oid(compare->inputcollids, pair));
	set_opfuncid((OpExpr *) op);
	return (Node *) op;
}

/* Whether the comparison is < or <=. */
static bool
is_less(const RowCompareExpr *compare)
{
	return get_op_opfamily_strategy(linitial_oid(compare->opnos), linitial_oid(compare->opfamilies)) <=
		BTLessEqualStrategyNumber;
}

Node *
translate_row_compare_bound(Node *node)
{
	const RowCompareExpr *compare = (const RowCompareExpr *) node;

	if (!IsA(node, RowCompareExpr))
		return NULL;
	return compare_pair(compare, 0, is_less(compare) ? BTLessEqualStrategyNumber : BTGreaterEqualStrategyNumber);
}

/*
 * a < c OR (a = c AND b < d): the first pair that differs or has a NULL decides.  After a NULL the next pair is
 * evaluated here and not by PostgreSQL, so it must not fail.
 */
static PenumbraExpr
translate_row_compare(Translation *translation, const RowCompareExpr *compare)
{
	int			last = list_length(compare->opnos) - 1;
	int			strategy = is_less(compare) ? BTLessStrategyNumber : BTGreaterStrategyNumber;
	Node	   *whole;

	if (expr_can_fail((Node *) list_copy_tail(compare->largs, 1)) ||
		expr_can_fail((Node *) list_copy_tail(compare->rargs, 1)))
		return translation_refuse(translation, "comparison of rows of which a column can fail");
	whole = compare_pair(compare, last, get_op_opfamily_strategy(list_nth_oid(compare->opnos, last),
																 list_nth_oid(compare->opfamilies, last)));
	for (int i = last - 1; i >= 0; i--)
	{
		Expr	   *rest = make_andclause(list_make2(compare_pair(compare, i, BTEqualStrategyNumber), whole));

		whole = (Node *) make_orclause(list_make2(compare_pair(compare, i, strategy), rest));
	}
	return translate_expr(translation, whole);
}

/* ---------------------------------------------------------------- (a, b) OVERLAPS (c, d) */

/* The first or the last of the bounds; the only one that is not NULL is both. */
static Node *
end_of_period(Oid type, List *bounds, MinMaxOp op)
{
	MinMaxExpr *end = makeNode(MinMaxExpr);

	end->minmaxtype = type;
	end->op = op;
	end->args = bounds;
	end->location = -1;
	return (Node *) end;
}

/* least(a, b) <= greatest(c, d) and least(c, d) <= greatest(a, b). */
static List *
bounds_of_overlap(const FuncExpr *overlap)
{
	Oid			type = exprType(linitial(overlap->args));
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			op = get_opfamily_member(entry->btree_opf, entry->btree_opintype, entry->btree_opintype,
										 BTLessEqualStrategyNumber);
	List	   *periods[2] = {list_copy_head(overlap->args, 2), list_copy_tail(overlap->args, 2)};
	List	   *comparisons = NIL;

	for (int i = 0; i < 2; i++)
	{
		Expr	   *comparison = make_opclause(op, BOOLOID, false, (Expr *) end_of_period(type, periods[i], IS_LEAST),
											   (Expr *) end_of_period(type, periods[1 - i], IS_GREATEST), InvalidOid,
											   InvalidOid);

		set_opfuncid((OpExpr *) comparison);
		comparisons = lappend(comparisons, comparison);
	}
	return comparisons;
}

List *
translate_bounds_of(Node *node)
{
	const FunctionMapping *mapping = IsA(node, FuncExpr) ? function_map_lookup(((FuncExpr *) node)->funcid)
		: IsA(node, OpExpr) ? function_map_lookup(((OpExpr *) node)->opfuncid) : NULL;
	Node	   *bound = translate_row_compare_bound(node);

	if (mapping != NULL && mapping->function == PENUMBRA_FN_OVERLAPS)
		return bounds_of_overlap((FuncExpr *) node);
	if (mapping != NULL && IsA(node, OpExpr) &&
		(mapping->shape == SHAPE_RANGE || mapping->shape == SHAPE_RANGE_SWAPPED))
		return translate_range_bounds(mapping, ((OpExpr *) node)->args);
	return bound == NULL ? NIL : list_make1(bound);
}

/* ---------------------------------------------------------------- dispatch */

PenumbraExpr
translate_node(Translation *translation, Node *node)
{
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			{
				FuncExpr   *func = (FuncExpr *) node;

				if (is_composed_function(func->funcid))
					return translate_composed_function(translation, func);
				return translate_function(translation, func->funcid, func->funcresulttype,
										  func->inputcollid, func->args);
			}
		case T_OpExpr:
			{
				OpExpr	   *op = (OpExpr *) node;

				set_opfuncid(op);
				return translate_function(translation, op->opfuncid, op->opresulttype,
										  op->inputcollid, op->args);
			}
		case T_DistinctExpr:
			return translate_distinct(translation, (OpExpr *) node);
		case T_NullIfExpr:
			return translate_nullif(translation, (OpExpr *) node);
		case T_ScalarArrayOpExpr:
			return translate_scalar_array(translation, (ScalarArrayOpExpr *) node);
		case T_RowCompareExpr:
			return translate_row_compare(translation, (RowCompareExpr *) node);
		case T_BoolExpr:
			return translate_bool_expr(translation, (BoolExpr *) node);
		case T_NullTest:
			return translate_null_test(translation, (NullTest *) node);
		case T_BooleanTest:
			return translate_boolean_test(translation, (BooleanTest *) node);
		case T_CaseExpr:
			return translate_case(translation, (CaseExpr *) node);
		case T_CaseTestExpr:
			if (translation->case_operand >= 0)
				return translation->case_operand;
			return translation_refuse(translation, "CASE");
		case T_CoalesceExpr:
			return translate_variadic(translation, node, PENUMBRA_FN_COALESCE, NULL,
									  ((CoalesceExpr *) node)->args);
		case T_MinMaxExpr:
			{
				MinMaxExpr *minmax = (MinMaxExpr *) node;
				PenumbraFunction function = minmax->op == IS_GREATEST ? PENUMBRA_FN_GREATEST
					: PENUMBRA_FN_LEAST;

				PenumbraCollation *collation;

				if (!translate_collation(translation, function, minmax->inputcollid, &collation) ||
					!translate_order_is_known(translation, node) ||
					!enum_order_is_kept(translation, node))
					return -1;
				return translate_variadic(translation, node, function, collation, minmax->args);
			}
		case T_RelabelType:
			return translate_relabel(translation, (RelabelType *) node);
		case T_CoerceViaIO:
			return translate_coerce_via_io(translation, (CoerceViaIO *) node);
		case T_SubscriptingRef:
			return translate_match_element(translation, (SubscriptingRef *) node);
		case T_SubPlan:
		case T_AlternativeSubPlan:
			return translation_refuse(translation, "correlated or hashed subquery");
		case T_WindowFunc:
			return translation_refuse(translation, "window function");
		case T_CoerceToDomain:
			return translation_refuse(translation, "cast to a domain");
		case T_Param:
		case T_SQLValueFunction:
			return translation_refuse(translation, "type of a parameter");
		default:
			return translation_refuse(translation, "expression of a kind that has no vector form");
	}
}
