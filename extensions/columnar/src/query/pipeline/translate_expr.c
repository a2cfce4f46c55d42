/*-------------------------------------------------------------------------
 *
 * translate_expr.c
 *	  Engine expressions from PostgreSQL's: inputs, values that PostgreSQL
 *	  evaluates, functions.  Node types with a shape of their own are in
 *	  translate_node.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/pg_locale.h"
#include "utils/regproc.h"

#include "cache/cache.h"
#include "penumbra/regex.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/enum_order.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/host_call.h"
#include "query/pipeline/init_plans.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_made.h"
#include "query/pipeline/translate_node.h"
#include "query/pipeline/translate_range.h"
#include "query/pipeline/translate_regex.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translate_zone.h"
#include "query/pipeline/translation.h"

/* The engine takes 200 levels of calls; casts that change nothing are levels here only. */
#define TRANSLATION_DEPTH_MAX 400

/* CASE WHEN 1 / 0 = 0 THEN ...: an error that PostgreSQL does not raise, or another one than it raises. */
PenumbraExpr
translate_failure(Translation *translation, PenumbraType type)
{
	PenumbraExpr zero = translate_int4(translation, 0);
	PenumbraExpr quotient[] = {translate_int4(translation, 1), zero};
	PenumbraExpr equality[] = {translate_call(translation, PENUMBRA_FN_DIV, PENUMBRA_INT4, quotient, 2), zero};
	PenumbraExpr branches[] = {
		translate_call(translation, PENUMBRA_FN_EQ, PENUMBRA_BOOL, equality, 2),
		translate_stand_in(translation, type), translate_stand_in(translation, type)
	};

	translation->raises_late = true;
	return translate_call(translation, PENUMBRA_FN_CASE, type, branches, 3);
}

static PenumbraExpr
translate_runtime(Translation *translation, Node *node)
{
	PenumbraType type;
	int			index;

	if (!translate_type_of(translation, node, &type))
		return -1;
	index = translation_runtime_index(translation, node);
	if (translation->runtime_values == NULL)
		return translate_stand_in(translation, type);
	if (translation->runtime_values[index].has_failed)
		return translate_failure(translation, type);
	return translate_datum(translation, exprType(node), translation->runtime_values[index].value,
						   translation->runtime_values[index].isnull);
}

bool
translate_args(Translation *translation, List *nodes, PenumbraExpr *args)
{
	ListCell   *lc;

	foreach(lc, nodes)
	{
		args[foreach_current_index(lc)] = translate_expr(translation, lfirst(lc));
		if (args[foreach_current_index(lc)] < 0)
			return false;
	}
	return true;
}

PenumbraExpr
translate_collated_call(Translation *translation, PenumbraFunction function, PenumbraType result,
						const PenumbraCollation *collation, const PenumbraExpr *args,
						int arg_count)
{
	return translation_take_expr(translation,
						 penumbra_plan_call_collated(translation->plan, function, result,
													 collation, args, arg_count));
}

/* numeric(x, typmod), varchar(x, typmod, is_explicit), char(...): lengths as the engine takes them. */
static PenumbraExpr
translate_typmod(Translation *translation, const FunctionMapping *mapping, List *nodes,
				 PenumbraType result)
{
	Const	   *typmod = lsecond(nodes);
	PenumbraExpr args[3];
	int32		bits;

	if (!IsA(typmod, Const) || typmod->constisnull)
		return translation_refuse(translation, "length or precision that is not a constant");
	args[0] = translate_expr(translation, linitial(nodes));
	if (args[0] < 0)
		return -1;
	bits = DatumGetInt32(typmod->constvalue) - VARHDRSZ;
	if (bits < 0)
		return args[0];
	if (mapping->shape == SHAPE_NUMERIC_TYPMOD)
	{
		args[1] = translate_int4(translation, (bits >> 16) & 0xffff);
		args[2] = translate_int4(translation, ((bits & 0x7ff) ^ 1024) - 1024);
	}
	else
	{
		args[1] = translate_int4(translation, bits);
		args[2] = translate_expr(translation, lthird(nodes));
	}
	if (args[1] < 0 || args[2] < 0)
		return -1;
	return translate_call(translation, mapping->function, result, args, 3);
}

/* Brings dates and timestamps that are compared to one type. */
static bool
compare_args_as(Translation *translation, PenumbraType type, PenumbraExpr *args, int arg_count)
{
	for (int i = 0; i < arg_count; i++)
	{
		if (penumbra_plan_expr_type(translation->plan, args[i]) == type)
			continue;
		args[i] = translate_call(translation, PENUMBRA_FN_COMPARED_AS, type, &args[i], 1);
		if (args[i] < 0)
			return false;
	}
	return true;
}

static bool
is_ordering(PenumbraFunction function)
{
	return function == PENUMBRA_FN_LT || function == PENUMBRA_FN_LE || function == PENUMBRA_FN_GT ||
		function == PENUMBRA_FN_GE;
}

/* x < constant as x IN (the values before it); x < y by their places. */
static PenumbraExpr
compare_enums(Translation *translation, PenumbraFunction function, List *nodes, const PenumbraExpr *args)
{
	int			compared;
	PenumbraExpr passing;
	PenumbraExpr list_args[2];

	if (!enum_order_has_known(nodes))
	{
		PenumbraExpr places[] = {
			enum_order_key(translation, linitial(nodes), args[0]), enum_order_key(translation, lsecond(nodes), args[1])
		};

		return places[0] < 0 || places[1] < 0 ? -1 : translate_call(translation, function, PENUMBRA_BOOL, places, 2);
	}
	passing = enum_order_passing(translation, function, nodes, &compared);
	list_args[0] = args[compared];
	list_args[1] = passing;
	return passing < 0 ? -1 : translate_call(translation, PENUMBRA_FN_IN_LIST, PENUMBRA_BOOL, list_args, 2);
}

/* (text, automata), of a replacement (text, automata, replacement) and true if all matches are replaced. */
static PenumbraExpr
translate_regex_call(Translation *translation, const FunctionMapping *mapping, int group, PenumbraType result,
					 Oid collation, List *nodes)
{
	bool		has_replacement = mapping->function == PENUMBRA_FN_REGEX_REPLACE;
	bool		is_global;
	PenumbraExpr args[4];

	args[1] = translate_regex(translation, mapping, group, collation, nodes, &is_global);
	if (args[1] < 0)
		return -1;
	args[0] = translate_expr(translation, linitial(nodes));
	if (args[0] < 0)
		return -1;
	if (!has_replacement)
		return translate_call(translation, mapping->function, result, args, 2);
	args[2] = translate_expr(translation, lthird(nodes));
	args[3] = translate_datum(translation, BOOLOID, BoolGetDatum(true), false);
	if (args[2] < 0 || args[3] < 0)
		return -1;
	return translate_call(translation, mapping->function, result, args, is_global ? 4 : 3);
}

static bool
is_or_empty(const char *value, const char *expected)
{
	return value == NULL || value[0] == '\0' || strcmp(value, expected) == 0;
}

/* Whether to_char() shows numbers as it does in the C locale. */
static bool
numbers_are_plain(const char *format)
{
	const struct lconv *locale;

	if (strpbrk(format, "DdGgLlSs") == NULL)
		return true;
	locale = PGLC_localeconv();
	return is_or_empty(locale->decimal_point, ".") && is_or_empty(locale->thousands_sep, ",") &&
		is_or_empty(locale->negative_sign, "-") && is_or_empty(locale->positive_sign, "+");
}

/* The engine takes formats as constants, and some of them. */
static bool
is_known_format(const FunctionMapping *mapping, List *nodes)
{
	const Const *format = lsecond(nodes);
	char	   *name;

	if (!IsA(format, Const) || format->constisnull)
		return false;
	if (mapping->shape == SHAPE_SAME_ENCODING)
	{
		name = NameStr(*DatumGetName(format->constvalue));
		return pg_char_to_encoding(name) == GetDatabaseEncoding();
	}
	return mapping->shape == SHAPE_FORMAT || numbers_are_plain(TextDatumGetCString(format->constvalue));
}

static bool
has_format(FunctionShape shape)
{
	return shape == SHAPE_FORMAT || shape == SHAPE_FORMAT_OF_NUMBERS || shape == SHAPE_SAME_ENCODING;
}

static PenumbraExpr
translate_zoned(Translation *translation, const FunctionMapping *mapping, List *nodes, PenumbraType result)
{
	bool		is_first = mapping->shape == SHAPE_ZONE_FIRST;
	int			count = list_length(nodes);
	PenumbraExpr args[3];

	if (!translate_args(translation, is_first ? list_copy_tail(nodes, 1) : list_copy_head(nodes, count - 1), args))
		return -1;
	args[count - 1] = translate_zone(translation, is_first ? linitial(nodes) : llast(nodes));
	return args[count - 1] < 0 ? -1 : translate_call(translation, mapping->function, result, args, count);
}

/* Of a value that is composed of parts the bytes, which say nothing to the engine. */
static bool
reads_bytes(List *nodes)
{
	ListCell   *lc;

	foreach(lc, nodes)
	{
		if (cache_type_is_composed(exprType(lfirst(lc))) && comparison_key_is_other(lfirst(lc)))
			return true;
	}
	return false;
}

PenumbraExpr
translate_function(Translation *translation, Oid function_oid, Oid result_oid, Oid collation,
				   List *nodes)
{
	const FunctionMapping *mapping = function_map_lookup(function_oid);
	int			arg_count = list_length(nodes);
	PenumbraExpr args[8];
	PenumbraType result;
	PenumbraCollation *engine_collation = NULL;
	Node	   *of_values = translate_made_comparison(function_oid, collation, nodes);

	if (of_values != NULL)
		return translate_expr(translation, of_values);
	if (mapping == NULL || arg_count > (int) lengthof(args))
		return translation_refuse(translation,
								psprintf("function %s", format_procedure(function_oid)));
	if (!translate_type(result_oid, &result))
		return translation_refuse(translation, psprintf("type %s", format_type_be(result_oid)));
	if (reads_bytes(nodes))
		return translation_refuse(translation, psprintf("function %s", format_procedure(function_oid)));
	if (mapping->shape == SHAPE_RANGE || mapping->shape == SHAPE_RANGE_SWAPPED)
		return translate_range(translation, mapping, result_oid, nodes);
	/* Before the arguments are translated: a refusal names the function or its collation first. */
	if (mapping->shape != SHAPE_ANY_COLLATION && mapping->shape != SHAPE_FIRST_ARGUMENT &&
		!translate_have_collation(translation, collation, nodes))
		return -1;
	if (mapping->shape != SHAPE_ANY_COLLATION &&
		!translate_collation(translation, mapping->function, collation, &engine_collation))
		return -1;
	if (mapping->shape == SHAPE_LOWER_CASE)
		return translate_function(translation, mapping->oid, result_oid, collation, comparison_key_nodes(nodes));
	if (mapping->shape == SHAPE_REGEX || mapping->shape == SHAPE_REGEX_NO_CASE ||
		mapping->shape == SHAPE_REGEX_GROUP)
		return translate_regex_call(translation, mapping, 1, result, collation, nodes);
	if (mapping->shape == SHAPE_NUMERIC_TYPMOD || mapping->shape == SHAPE_STRING_TYPMOD)
		return translate_typmod(translation, mapping, nodes, result);
	if (has_format(mapping->shape) && !is_known_format(mapping, nodes))
		return translation_refuse(translation, psprintf("format of %s", format_procedure(function_oid)));
	if (mapping->shape == SHAPE_SAME_ENCODING)
		return translate_expr(translation, linitial(nodes));
	if (mapping->shape == SHAPE_ZONE_FIRST || mapping->shape == SHAPE_ZONE_LAST)
		return translate_zoned(translation, mapping, nodes, result);
	if (!translate_args(translation, nodes, args))
		return -1;
	if (is_ordering(mapping->function) && !translate_order_is_known(translation, linitial(nodes)))
		return -1;
	if (is_ordering(mapping->function) && !enum_order_is_kept(translation, linitial(nodes)))
		return compare_enums(translation, mapping->function, nodes, args);
	switch (mapping->shape)
	{
		case SHAPE_FIRST_ARGUMENT:
			return args[0];
		case SHAPE_SWAPPED:
			{
				PenumbraExpr first = args[0];

				args[0] = args[1];
				args[1] = first;
				break;
			}
		case SHAPE_AS_TIMESTAMP:
			if (!compare_args_as(translation, PENUMBRA_TIMESTAMP, args, arg_count))
				return -1;
			break;
		case SHAPE_AS_TIMESTAMPTZ:
			if (!compare_args_as(translation, PENUMBRA_TIMESTAMPTZ, args, arg_count))
				return -1;
			break;
		default:
			break;
	}
	return translate_collated_call(translation, mapping->function, result, engine_collation, args,
								   arg_count);
}

PenumbraExpr
translate_match_element(Translation *translation, const SubscriptingRef *element)
{
	static const FunctionMapping mapping = {.function = PENUMBRA_FN_REGEX_SUBSTRING,.shape = SHAPE_REGEX_GROUP};
	const FuncExpr *match = (const FuncExpr *) element->refexpr;
	const Const *place = list_length(element->refupperindexpr) == 1 ? linitial(element->refupperindexpr) : NULL;

	if (!IsA(match, FuncExpr) || place == NULL || !IsA(place, Const) || place->constisnull ||
		element->reflowerindexpr != NIL || element->refassgnexpr != NULL ||
		(match->funcid != F_REGEXP_MATCH_TEXT_TEXT && match->funcid != F_REGEXP_MATCH_TEXT_TEXT_TEXT) ||
		DatumGetInt32(place->constvalue) < 1 || DatumGetInt32(place->constvalue) > PENUMBRA_REGEX_GROUPS_MAX)
		return translation_refuse(translation, "expression of a kind that has no vector form");
	if (!translate_have_collation(translation, match->inputcollid, match->args))
		return -1;
	return translate_regex_call(translation, &mapping, DatumGetInt32(place->constvalue), PENUMBRA_TEXT,
								match->inputcollid, match->args);
}

bool
translate_operator_is(Translation *translation, Oid function_oid, Oid collation,
					  PenumbraFunction wanted)
{
	const FunctionMapping *mapping = function_map_lookup(function_oid);

	if (mapping == NULL || mapping->function != wanted || mapping->shape != SHAPE_PLAIN)
	{
		translation->reason = psprintf("function %s", format_procedure(function_oid));
		return false;
	}
	return translate_check_equality(translation, collation);
}

static PenumbraExpr
translate_input(Translation *translation, Node *node)
{
	int			place = pipeline_find_expr(translation->inputs, node);

	if (place < 0)
		return -1;
	if (translation->build >= 0)
		return penumbra_plan_pair_column(translation->plan, translation->current,
										 translation->build, place);
	return penumbra_plan_column(translation->plan, translation->current, place);
}

/* By PostgreSQL; a condition with a pattern only where its prefilter leaves it open. */
static PenumbraExpr
translate_for_host(Translation *translation, Node *node)
{
	PenumbraExpr expr = host_call_translate(translation, node);
	Node	   *prefilter = expr < 0 ? NULL : translate_regex_prefilter(node);
	PenumbraExpr args[2] = {prefilter == NULL ? -1 : translate_expr(translation, prefilter), expr};

	if (args[0] < 0)
		return expr;
	return translate_call(translation, ((FuncExpr *) prefilter)->funcid == F_TEXTLIKE ? PENUMBRA_FN_AND
						  : PENUMBRA_FN_OR, PENUMBRA_BOOL, args, 2);
}

static PenumbraExpr
translate_shallow(Translation *translation, Node *node)
{
	PenumbraExpr expr;

	if (node == NULL)
		return translation_refuse(translation, "empty expression");
	if (IsA(node, Const))
		return translate_datum(translation, ((Const *) node)->consttype,
							   ((Const *) node)->constvalue, ((Const *) node)->constisnull);
	expr = translate_input(translation, node);
	if (expr >= 0)
		return expr;
	if (IsA(node, NamedArgExpr))
		return translate_expr(translation, (Node *) ((NamedArgExpr *) node)->arg);
	if (IsA(node, Var) && cache_type_is_composed(((Var *) node)->vartype))
		return translation_refuse(translation, psprintf("column of type %s", format_type_be(((Var *) node)->vartype)));
	if (IsA(node, Var) || IsA(node, Aggref))
		return translation_refuse(translation, "column that the stage does not have");
	if (!translation_is_runtime(node))
	{
		expr = translate_node(translation, node);
		return expr >= 0 ? expr : translate_for_host(translation, node);
	}
	/* A constant lets the engine use zone maps and dictionaries; one that fails does so for the rows that ask. */
	if (translation->runtime_values == NULL &&
		init_plans_must_wait(node, translation->conditional_depth > 0, translation->branch_depth > 0))
		return translation_refuse(translation, "subquery that need not be evaluated");
	return translate_runtime(translation, node);
}

/* What is too deep for us is PostgreSQL's, also its error when it is too deep for PostgreSQL. */
PenumbraExpr
translate_expr(Translation *translation, Node *node)
{
	PenumbraExpr expr;

	CHECK_FOR_INTERRUPTS();
	if (translation->depth >= TRANSLATION_DEPTH_MAX || stack_is_too_deep())
		return translation_refuse(translation, "expression too deep");
	translation->depth++;
	expr = translate_shallow(translation, node);
	translation->depth--;
	return expr;
}
