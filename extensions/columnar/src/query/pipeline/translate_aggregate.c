/*-------------------------------------------------------------------------
 *
 * translate_aggregate.c
 *	  Calls of aggregates, by groups and by windows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/regproc.h"

#include "query/pipeline/can_fail.h"
#include "query/pipeline/collected_call.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/enum_order.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/host_call.h"
#include "query/pipeline/init_plans.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stage_sort.h"
#include "query/pipeline/translate_aggregate.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_type.h"
#include "query/planning/made_values.h"
#include "query/planning/repeats.h"

/* The direction of WITHIN GROUP. */
static bool
translate_order(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call)
{
	SortGroupClause *clause = linitial_node(SortGroupClause, aggref->aggorder);
	Node	   *expr = get_sortgroupclause_expr(clause, aggref->args);

	if (!stage_sort_direction(clause, expr, &call->descending))
		return translation_refuse(translation, "ordering by an operator of its own") >= 0;
	/* Of values that are equal and written differently PostgreSQL may take any; the engine looks for others itself. */
	if (exprType(expr) == BPCHAROID && exprTypmod(expr) < 0)
		return translation_refuse(translation, "ordered-set aggregate of char without a length") >= 0;
	if (comparison_key_is_other(expr) && call->function != PENUMBRA_AGG_MODE)
		return translation_refuse(translation, psprintf("ordered-set aggregate of %s", format_type_be(exprType(expr)))) >= 0;
	return translate_check_equality(translation, aggref->inputcollid);
}

/* The fractions of an array of at least one, and no NULL; else NULL. */
static double *
fractions_of_array(ArrayType *array, int *count)
{
	double	   *fractions;
	Datum	   *values;
	bool	   *nulls;

	if (ARR_NDIM(array) != 1 || array_contains_nulls(array))
		return NULL;
	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, count);
	fractions = palloc(sizeof(double) * *count);
	for (int i = 0; i < *count; i++)
		fractions[i] = DatumGetFloat8(values[i]);
	return fractions;
}

/*
 * The fractions of a percentile.  One out of range is PostgreSQL's error when a
 * group is finished, so the ordinary plan runs.
 */
static bool
translate_fractions(Translation *translation, Node *node, PenumbraAggregateCall *call)
{
	bool		is_array = exprType(node) != FLOAT8OID;
	RuntimeValue value = {0};
	double	   *fractions;

	if (IsA(node, Const))
	{
		value.value = ((Const *) node)->constvalue;
		value.isnull = ((Const *) node)->constisnull;
	}
	else if (!translation_is_runtime(node))
		return translation_refuse(translation, "percentile whose fraction is not constant") >= 0;
	else if (translation->runtime_values != NULL)
		value = translation->runtime_values[translation_runtime_index(translation, node)];
	else if (init_plans_must_wait(node, true, false))
		return translation_refuse(translation, "subquery that need not be evaluated") >= 0;
	else
	{
		(void) translation_runtime_index(translation, node);
		value.isnull = true;
	}
	if (value.has_failed)
		return translation_refuse(translation, "percentile whose fraction is not between 0 and 1") >= 0;
	if (value.isnull)
		return true;
	if (is_array)
		fractions = fractions_of_array(DatumGetArrayTypeP(value.value), &call->fraction_count);
	else
	{
		fractions = palloc(sizeof(double));
		*fractions = DatumGetFloat8(value.value);
		call->fraction_count = 1;
	}
	if (fractions == NULL)
		return translation_refuse(translation, "percentiles of an array that is empty, or has NULLs or several dimensions") >= 0;
	for (int i = 0; i < call->fraction_count; i++)
	{
		if (isnan(fractions[i]) || fractions[i] < 0 || fractions[i] > 1)
			return translation_refuse(translation, "percentile whose fraction is not between 0 and 1") >= 0;
	}
	call->fractions = fractions;
	return true;
}

/* Whether the result is made of all rows, one after the other. */
static bool
is_collecting(PenumbraAggregate function)
{
	return function == PENUMBRA_AGG_STRING_AGG || function == PENUMBRA_AGG_ARRAY_AGG ||
		function == PENUMBRA_AGG_JSON_AGG;
}

bool
aggregate_shows_row_order(const Aggref *aggref)
{
	PenumbraAggregate function;

	return aggref->aggorder == NIL && aggref->aggdistinct == NIL && function_map_aggregate(aggref, &function) &&
		is_collecting(function);
}

/* Whether each order of the rows gives the same value, to the byte. */
static bool
is_of_any_order(const Aggref *aggref)
{
	switch (aggref->aggfnoid)
	{
		case F_RANGE_AGG_ANYRANGE:
		case F_RANGE_AGG_ANYMULTIRANGE:
		case F_RANGE_INTERSECT_AGG_ANYRANGE:
		case F_RANGE_INTERSECT_AGG_ANYMULTIRANGE:
			return repeats_has_one_form((Node *) linitial_node(TargetEntry, aggref->args)->expr);
		default:
			return false;
	}
}

/*
 * The order of rows: with DISTINCT that of all arguments, which begins with
 * ORDER BY's.  Without either it is that of the table, by the rows' positions.
 */
static bool
translate_rows_order(Translation *translation, const Aggref *aggref, PenumbraAggregateCall *call)
{
	List	   *clauses = aggref->aggdistinct != NIL ? aggref->aggdistinct : aggref->aggorder;
	List	   *exprs = NIL;
	List	   *flags = NIL;
	ListCell   *lc;

	if (clauses == NIL)
	{
		Node	   *position = stage_scan_find_position(translation->inputs);

		if (position == NULL && is_of_any_order(aggref))
			position = (Node *) makeBoolConst(true, false);

		if (position == NULL)
		{
			translation->reason = psprintf("aggregate %s in the order of rows", format_procedure(aggref->aggfnoid));
			return false;
		}
		exprs = list_make1(position);
		flags = list_make1_int(0);
	}
	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, aggref->args);
		bool		is_descending;

		if (!stage_sort_direction(clause, expr, &is_descending))
			return translation_refuse(translation, "ordering by an operator of its own") >= 0;
		if (aggref->aggdistinct != NIL && !repeats_has_one_form(expr))
			return translation_refuse(translation, "DISTINCT of values that are equal and written differently") >= 0;
		exprs = lappend(exprs, expr);
		flags = lappend_int(flags, stage_sort_flags(clause, is_descending));
	}
	call->order = stage_sort_keys(translation, exprs, flags);
	call->order_count = list_length(exprs);
	return call->order != NULL;
}

/* The others may return one of their arguments, which may be an array. */
static bool
makes_array(const Aggref *aggref, PenumbraAggregate function)
{
	return function == PENUMBRA_AGG_ARRAY_AGG ||
		(aggref->aggdirectargs != NIL && OidIsValid(get_element_type(exprType(linitial(aggref->aggdirectargs)))));
}

static bool
translate_result(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call)
{
	call->result = PENUMBRA_ARRAY;
	if (call->function == PENUMBRA_AGG_JSON_AGG)
		return true;
	if (!makes_array(aggref, call->function))
		return translate_type_of(translation, (Node *) aggref, &call->result);
	call->label = get_element_type(aggref->aggtype);
	return translate_is_its_image(call->label) ||
		translation_refuse(translation, psprintf("array of %s", format_type_be(call->label))) >= 0;
}

static bool
translate_kind(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call)
{
	if (aggref->aggkind == AGGKIND_NORMAL)
		return true;
	if (!translate_order(translation, aggref, call))
		return false;
	return aggref->aggdirectargs == NIL || translate_fractions(translation, linitial(aggref->aggdirectargs), call);
}

/* Whether an ORDER BY among the arguments can be dropped: neither the result nor an error depends on it. */
static bool
can_drop_order(const Aggref *aggref)
{
	ListCell   *lc;

	foreach(lc, aggref->args)
	{
		const TargetEntry *argument = lfirst_node(TargetEntry, lc);

		if (argument->resjunk && expr_can_fail((Node *) argument->expr))
			return false;
	}
	return aggregate_repeats(aggref) && !contain_volatile_functions((Node *) aggref);
}

/* Whether the engine computes it, looked at as a call alone. */
static bool
is_known(const Aggref *aggref, PenumbraAggregate *function)
{
	if (aggref->aggkind != AGGKIND_NORMAL && aggref->aggkind != AGGKIND_ORDERED_SET)
		return false;
	if (aggref->aggsplit != AGGSPLIT_SIMPLE || aggref->aggvariadic ||
		list_length(aggref->aggargtypes) > PENUMBRA_AGGREGATE_ARGUMENTS_MAX ||
		!function_map_aggregate(aggref, function))
		return false;
	return aggref->aggkind == AGGKIND_ORDERED_SET || aggref->aggorder == NIL || is_collecting(*function) ||
		can_drop_order(aggref);
}

/*
 * The engine's function; of what it has none for, of arrays of other elements than the engine's, too, it collects the
 * rows, if the call says their order.
 */
static bool
find_function(const Aggref *aggref, PenumbraAggregate *function)
{
	if (!is_known(aggref, function))
	{
		*function = PENUMBRA_AGG_JSON_AGG;
		return (aggref->aggorder != NIL || aggref->aggdistinct != NIL) && collected_call_can_run(aggref);
	}
	if (*function == PENUMBRA_AGG_ARRAY_AGG &&
		(aggref->aggfnoid == F_ARRAY_AGG_ANYARRAY || !translate_is_its_image(get_element_type(aggref->aggtype))))
		*function = PENUMBRA_AGG_JSON_AGG;
	return true;
}

static bool
is_ordering(PenumbraAggregate function)
{
	return function == PENUMBRA_AGG_MIN || function == PENUMBRA_AGG_MAX ||
		function == PENUMBRA_AGG_PERCENTILE_DISC || function == PENUMBRA_AGG_MODE;
}

/* What the engine computes, of which the value is made. */
typedef enum AggregateForm
{
	FORM_OF_VALUE,
	FORM_OF_SUM,				/* of money the sum of its numbers, which may be larger than money */
	FORM_OF_PLACE,				/* of an enum that is not in the order of its OIDs the place of the least value */
	FORM_OF_LABEL				/* of values whose order the engine does not know */
} AggregateForm;

static PenumbraType
type_of_form(AggregateForm form)
{
	return form == FORM_OF_SUM ? PENUMBRA_NUMERIC : form == FORM_OF_PLACE ? PENUMBRA_INT4 : PENUMBRA_UUID;
}

/* Sums beyond the type are PostgreSQL's: its versions wrap around, or raise an error. */
static PenumbraExpr
money_of_sum(Translation *translation, PenumbraExpr sum)
{
	Datum		limits[] = {
		NumericGetDatum(int64_to_numeric(PG_INT64_MIN)), NumericGetDatum(int64_to_numeric(PG_INT64_MAX))
	};
	PenumbraExpr least[] = {sum, translate_datum(translation, NUMERICOID, limits[0], false)};
	PenumbraExpr greatest[] = {sum, translate_datum(translation, NUMERICOID, limits[1], false)};
	PenumbraExpr bounds[] = {
		translate_call(translation, PENUMBRA_FN_GE, PENUMBRA_BOOL, least, 2),
		translate_call(translation, PENUMBRA_FN_LE, PENUMBRA_BOOL, greatest, 2)
	};
	PenumbraExpr branches[] = {
		translate_call(translation, PENUMBRA_FN_AND, PENUMBRA_BOOL, bounds, 2),
		translate_call(translation, PENUMBRA_FN_CAST, PENUMBRA_INT8, &sum, 1),
		translate_call(translation, PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, &sum, 1),
		translate_unsupported(translation, PENUMBRA_INT8)
	};

	return translate_call(translation, PENUMBRA_FN_CASE, PENUMBRA_INT8, branches, lengthof(branches));
}

static PenumbraExpr
value_of_form(Translation *translation, Aggref *aggref, PenumbraExpr computed)
{
	Node	   *argument = aggref->args == NIL ? NULL : (Node *) linitial_node(TargetEntry, aggref->args)->expr;

	switch (penumbra_plan_expr_type(translation->plan, computed))
	{
		case PENUMBRA_NUMERIC:
			return money_of_sum(translation, computed);
		case PENUMBRA_INT4:
			return enum_order_value(translation, argument, computed);
		default:
			return host_call_labeled(translation, argument, computed);
	}
}

bool
translate_aggregate_values(Translation *translation, const List *aggrefs, const bool *is_other_form,
						   PenumbraExpr *values, int count)
{
	ListCell   *lc;

	foreach(lc, aggrefs)
	{
		PenumbraExpr value = penumbra_plan_column(translation->plan, translation->current, count);

		if (is_other_form[foreach_current_index(lc)])
			value = value_of_form(translation, lfirst(lc), value);
		if (value < 0)
			return false;
		values[count++] = value;
	}
	return translation_keep_operator(translation, penumbra_plan_add_projection(translation->plan, translation->current,
																			   values, count));
}

static bool
counts_made_values(const Aggref *aggref, PenumbraAggregate function)
{
	return function == PENUMBRA_AGG_COUNT &&
		made_value_may_be((Node *) linitial_node(TargetEntry, aggref->args)->expr);
}

/* count() of a value that is made of parts: of the rows, or of the distinct rows of the parts. */
static bool
translate_count_of_made(Translation *translation, const Aggref *aggref, PenumbraAggregateCall *call)
{
	Node	   *value = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	MadeValue	made;

	if (!made_value_take_apart(value, &made) || list_length(made.parts) > PENUMBRA_AGGREGATE_ARGUMENTS_MAX ||
		(!call->distinct && expr_can_fail((Node *) made.parts)))
		return translation_refuse(translation, psprintf("%s of %s that are made", format_procedure(aggref->aggfnoid),
														format_type_be(exprType(value)))) >= 0;
	/* otherwise as many as its only part has */
	if (!made.may_be_null)
		call->function = PENUMBRA_AGG_COUNT_STAR;
	if (!made.may_be_null && !call->distinct)
		return true;
	/* constants make no two rows differ */
	if (made.parts == NIL)
		made.parts = list_make1(makeBoolConst(true, false));
	call->argument_count = list_length(made.parts);
	return comparison_keys_of_groups(translation, made.parts, call->arguments);
}

static PenumbraExpr
translate_argument(Translation *translation, const Aggref *aggref, PenumbraAggregate function, Node *node)
{
	if (!translate_has_collation(translation, aggref->inputcollid, node))
		return -1;
	if (aggref->aggdistinct != NIL && comparison_key_is_other(node) && function != PENUMBRA_AGG_COUNT)
		return translation_refuse(translation, psprintf("DISTINCT of %s", format_type_be(exprType(node))));
	return aggref->aggdistinct != NIL ? comparison_key(translation, node) : translate_expr(translation, node);
}

static bool
translate_arguments(Translation *translation, const Aggref *aggref, PenumbraAggregateCall *call, AggregateForm form)
{
	ListCell   *lc;

	if (counts_made_values(aggref, call->function))
		return translate_count_of_made(translation, aggref, call);
	foreach(lc, aggref->args)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);
		Node	   *node = (Node *) entry->expr;
		PenumbraExpr argument;

		if (entry->resjunk)
			continue;
		argument = form == FORM_OF_LABEL ? host_call_label(translation, node)
			: translate_argument(translation, aggref, call->function, node);
		if (argument >= 0 && form == FORM_OF_PLACE)
			argument = enum_order_key(translation, node, argument);
		if (argument < 0)
			return false;
		call->arguments[call->argument_count++] = argument;
	}
	return true;
}

/* The order in which min(), max() and ordered-set aggregates take values: of text *collation.  False: none is known. */
static bool
translate_value_order(Translation *translation, const Aggref *aggref, PenumbraCollation **collation)
{
	Node	   *expr = (Node *) linitial_node(TargetEntry, aggref->args)->expr;

	if (comparison_key_is_in_lower_case(expr))
		return translate_lower_case_order(translation, aggref->inputcollid, collation);
	return translate_collation(translation, PENUMBRA_FN_LT, aggref->inputcollid, collation) &&
		translate_order_is_known(translation, expr);
}

/* False: refused. */
static bool
choose_form(Translation *translation, const Aggref *aggref, PenumbraAggregate function, AggregateForm *form,
			PenumbraCollation **collation)
{
	bool		is_extreme = function == PENUMBRA_AGG_MIN || function == PENUMBRA_AGG_MAX;
	bool		has_equality = function != PENUMBRA_AGG_MODE;
	Node	   *expr;

	*form = aggref->aggfnoid == F_SUM_MONEY ? FORM_OF_SUM : FORM_OF_VALUE;
	if (!is_ordering(function))
		return true;
	expr = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	has_equality |= !comparison_key_is_other(expr);
	if (!has_equality || !translate_value_order(translation, aggref, collation))
		*form = FORM_OF_LABEL;
	else if (!enum_order_is_kept(translation, expr))
		*form = is_extreme ? FORM_OF_PLACE : FORM_OF_LABEL;
	if (*form == FORM_OF_LABEL)
		*collation = NULL;
	return *form != FORM_OF_LABEL || is_extreme || function == PENUMBRA_AGG_MODE;
}

bool
translate_aggregate(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call, bool *is_other_form)
{
	const bool	is_of_window = is_other_form == NULL;
	PenumbraCollation *collation = NULL;
	AggregateForm form;

	call->filter = -1;
	call->distinct = aggref->aggdistinct != NIL;
	if (!find_function(aggref, &call->function))
	{
		translation->reason = psprintf("aggregate %s", format_procedure(aggref->aggfnoid));
		return false;
	}
	/* collected_call_of_window() takes it; the engine would compare bit strings that no frame has together */
	if (is_of_window && (call->function == PENUMBRA_AGG_JSON_AGG || aggregate_is_of_bit_strings(aggref)))
		return translation_refuse(translation, psprintf("aggregate %s", format_procedure(aggref->aggfnoid))) >= 0;
	if (!translate_kind(translation, aggref, call) || !translate_result(translation, aggref, call))
		return false;
	if (!choose_form(translation, aggref, call->function, &form, &collation))
		return false;
	if (form != FORM_OF_VALUE && is_of_window)
		return translation_refuse(translation, psprintf("aggregate %s", format_procedure(aggref->aggfnoid))) >= 0;
	if (!is_of_window)
		*is_other_form = form != FORM_OF_VALUE;
	if (form != FORM_OF_VALUE)
		call->result = type_of_form(form);
	call->collation = collation;
	if (call->distinct && !translate_check_equality(translation, aggref->inputcollid))
		return false;
	/* Arguments are evaluated for rows that pass the FILTER. */
	translation->branch_depth += aggref->aggfilter != NULL;
	if (!(call->function == PENUMBRA_AGG_JSON_AGG ? collected_call_translate(translation, aggref, call)
		  : translate_arguments(translation, aggref, call, form)))
		return false;
	if (is_collecting(call->function) && !is_of_window && !translate_rows_order(translation, aggref, call))
		return false;
	translation->branch_depth -= aggref->aggfilter != NULL;
	if (aggref->aggfilter != NULL)
	{
		call->filter = translate_expr(translation, (Node *) aggref->aggfilter);
		if (call->filter < 0)
			return false;
	}
	return call->function != PENUMBRA_AGG_JSON_AGG || collected_call_filter(translation, call);
}

bool
translate_first_value(Translation *translation, Aggref *array, PenumbraAggregateCall *call)
{
	call->function = PENUMBRA_AGG_FIRST;
	call->filter = -1;
	call->arguments[0] = translate_expr(translation, (Node *) linitial_node(TargetEntry, array->args)->expr);
	call->argument_count = 1;
	if (call->arguments[0] < 0 || !translate_rows_order(translation, array, call))
		return false;
	call->result = penumbra_plan_expr_type(translation->plan, call->arguments[0]);
	if (array->aggfilter != NULL)
		call->filter = translate_expr(translation, (Node *) array->aggfilter);
	return array->aggfilter == NULL || call->filter >= 0;
}
