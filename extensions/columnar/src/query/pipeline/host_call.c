/*-------------------------------------------------------------------------
 *
 * host_call.c
 *	  Expressions that PostgreSQL evaluates for the engine.
 *
 * The largest parts that the engine knows become inputs: to_char(date_trunc('month', d), 'YYYY-MM')
 * is a function of date_trunc('month', d).  The engine remembers what it was
 * given for which inputs, so a volatile function is none for it; a stable one is
 * the same for the whole statement.
 *
 * The backend alone evaluates, while PostgreSQL's own plan could do so in several
 * processes.  So planning takes an expression only if its inputs are expected to
 * be the same for four rows on average.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "cache/cache.h"
#include "cache/cacheable.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/host_call.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/range_form.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_type.h"
#include "query/planning/expression_columns.h"
#include "query/planning/planning.h"

#define INPUTS_MAX 8
#define ROWS_PER_INPUT_MIN 4
/* Parts of expressions that turn out to be no inputs, in one translation: each may be deep. */
#define FAILED_INPUTS_MAX 256
/* What truncating and fields leave of instants: the days of 44 years. */
#define FIELD_VALUES_MAX 16384

/* A cast of a column of which the engine may have codes: these are looked up faster than what it is cast to. */
static bool
is_cast_column(const Node *node)
{
	const FuncExpr *func = (const FuncExpr *) node;
	Oid			type;

	if (!IsA(node, FuncExpr) || list_length(func->args) != 1 || !IsA(linitial(func->args), Var) ||
		(func->funcformat != COERCE_IMPLICIT_CAST && func->funcformat != COERCE_EXPLICIT_CAST))
		return false;
	type = linitial_node(Var, func->args)->vartype;
	return type == DATEOID || type == INT2OID || type == INT4OID;
}

/* ---------------------------------------------------------------- instants */

static bool
has_one_of(const char *format, const char *const *patterns, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (strstr(format, patterns[i]) != NULL)
			return true;
	}
	return false;
}

/*
 * What a format of to_char() shows at most of an instant; NULL: minutes or less.  Letters of quoted text
 * count as patterns do, which is no error.
 */
static const char *
shown_unit(const char *given)
{
	static const char *const fine[] = {"MI", "SS", "MS", "US", "FF", "TZ", "OF"};
	static const char *const hours[] = {"HH", "AM", "PM", "A.M", "P.M"};
	char	   *format = asc_toupper(given, strlen(given));

	if (has_one_of(format, fine, lengthof(fine)))
		return NULL;
	return has_one_of(format, hours, lengthof(hours)) ? "hour" : "day";
}

/*
 * to_char() of an instant as one of its local day or hour, where its format shows no more.  Local time first: an hour
 * of a time zone may begin in the middle, when its clocks were set forward by half an hour.
 */
static Node *
without_hidden_time(Node *node)
{
	FuncExpr   *func = (FuncExpr *) node;
	Node	   *instant;
	const Const *format;
	const char *unit;

	if (!IsA(node, FuncExpr) ||
		(func->funcid != F_TO_CHAR_TIMESTAMP_TEXT && func->funcid != F_TO_CHAR_TIMESTAMPTZ_TEXT))
		return node;
	instant = linitial(func->args);
	format = lsecond(func->args);
	if (!IsA(format, Const) || format->constisnull || is_cast_column(instant))
		return node;
	unit = shown_unit(TextDatumGetCString(format->constvalue));
	if (unit == NULL)
		return node;
	if (func->funcid == F_TO_CHAR_TIMESTAMPTZ_TEXT)
		instant = (Node *) makeFuncExpr(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID, list_make1(instant), InvalidOid,
										InvalidOid, COERCE_IMPLICIT_CAST);
	instant = (Node *) makeFuncExpr(F_DATE_TRUNC_TEXT_TIMESTAMP, TIMESTAMPOID,
									list_make2(makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
														 CStringGetTextDatum(unit), false, false), instant),
									InvalidOid, DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);
	func = copyObject(func);
	func->funcid = F_TO_CHAR_TIMESTAMP_TEXT;
	linitial(func->args) = instant;
	return (Node *) func;
}

/* ---------------------------------------------------------------- inputs */

typedef struct InputSearch
{
	Translation *translation;
	HostCall   *call;
	int			inputs_max;
	PenumbraExpr *args;
	bool		has_failed;
} InputSearch;

/* What only the node or the query around it can evaluate. */
static bool
is_bound(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Param:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_PlaceHolderVar:
		case T_NamedArgExpr:	/* a placeholder */
		case T_CaseTestExpr:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_CurrentOfExpr:
		case T_NextValueExpr:
			return true;
		default:
			return false;
	}
}

static Node *
add_input(InputSearch *search, Node *node, PenumbraExpr arg)
{
	List	  **inputs = &search->call->inputs;
	int			place = pipeline_find_expr(*inputs, node);

	if (place < 0)
	{
		place = list_length(*inputs);
		if (place == search->inputs_max)
		{
			search->translation->reason = "expression of so many columns";
			search->has_failed = true;
			return node;
		}
		*inputs = lappend(*inputs, node);
		search->args[place] = arg;
	}
	return (Node *) makeVar(OUTER_VAR, place + 1, exprType(node), exprTypmod(node), exprCollation(node), 0);
}

static Node *
inputs_mutator(Node *node, void *context)
{
	InputSearch *search = context;
	bool		has_type;
	PenumbraType type;

	if (node == NULL || search->has_failed || IsA(node, Const))
		return node;
	has_type = !IsA(node, List) && !IsA(node, CaseWhen) && !compat_is_json_part(node);
	if (has_type && !is_cast_column(node) && translate_type_of(search->translation, node, &type))
	{
		PenumbraExpr arg = translate_expr(search->translation, node);

		if (arg >= 0)
			return add_input(search, node, arg);
	}
	if (is_bound(node) || ++search->translation->failed_inputs > FAILED_INPUTS_MAX)
	{
		search->has_failed = true;
		return node;
	}
	return cacheable_mutate_outside_casts(without_hidden_time(node), inputs_mutator, context);
}

bool
host_call_find_inputs(Translation *translation, Node *node, int inputs_max, HostCall *call, PenumbraExpr *args)
{
	InputSearch search = {.translation = translation,.call = call,.inputs_max = inputs_max,.args = args};

	translation->is_within_call = true;
	call->expr = cacheable_mutate_outside_casts(node, inputs_mutator, &search);
	translation->is_within_call = false;
	if (!search.has_failed)
		fix_opfuncids(call->expr);
	return !search.has_failed;
}

/*
 * Without the inputs a case test, which stands for a value of the expression around it, would be lost.  A cast of
 * arrays has those of its elements.
 */
static bool
has_case_test_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, ArrayCoerceExpr))
		return has_case_test_walker((Node *) ((ArrayCoerceExpr *) node)->arg, context);
	return IsA(node, CaseTestExpr) || expression_tree_walker(node, has_case_test_walker, context);
}

bool
host_call_can_evaluate(Node *node)
{
	return !contain_volatile_functions(node) && !expression_returns_set(node) && !contain_subplans(node);
}

/* Whole values that a query makes are PostgreSQL's, but for those that it only checks, or casts element by element. */
static bool
can_be_called(Translation *translation, Node *node, PenumbraType *type)
{
	return !is_bound(node) && translate_type_of(translation, node, type) &&
		(!cache_type_is_composed(exprType(node)) || IsA(node, CoerceToDomain) || IsA(node, ArrayCoerceExpr)) &&
		host_call_can_evaluate(node) && !has_case_test_walker(node, NULL);
}

/* ---------------------------------------------------------------- how many inputs there are */

static double distinct_of_input(const Planning *planning, Node *input, Index relation, double *rows);

/* The rows of a column's table, and its distinct values; INFINITY: not known. */
static double
distinct_of_column(const Planning *planning, Index relation, AttrNumber attnum, double *rows)
{
	const RangeTblEntry *rte = relation > 0 && (int) relation <= list_length(planning->names)
		? list_nth(planning->names, relation - 1) : NULL;
	double		distinct = 0;
	HeapTuple	tuple;

	if (rte == NULL || rte->rtekind != RTE_RELATION)
		return INFINITY;
	if (expression_column_is(attnum))
	{
		List	   *column = linitial(expression_columns_list(list_make1_int(attnum), relation));

		return distinct_of_input(planning, lsecond(column), relation, rows);
	}
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(rte->relid));
	if (!HeapTupleIsValid(tuple))
		return INFINITY;
	*rows = Max(*rows, ((Form_pg_class) GETSTRUCT(tuple))->reltuples);
	ReleaseSysCache(tuple);
	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(rte->relid), Int16GetDatum(attnum),
							BoolGetDatum(rte->inh && has_subclass(rte->relid)));
	if (HeapTupleIsValid(tuple))
	{
		distinct = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct;
		ReleaseSysCache(tuple);
	}
	return distinct > 0 ? distinct : distinct < 0 ? -distinct * *rows : INFINITY;
}

/* date_trunc(), extract() and date_part() of a long unit, texts of that, and casts to date. */
static bool
gives_few_values(Node *input)
{
	static const char *const units[] = {"hour", "day", "week", "month", "quarter", "year", "decade", "century",
	"millennium", "dow", "isodow", "doy", "isoyear"};
	const FuncExpr *func = (const FuncExpr *) input;
	const FunctionMapping *mapping = IsA(input, FuncExpr) ? function_map_lookup(func->funcid) : NULL;
	const Const *unit = mapping != NULL ? linitial(func->args) : NULL;
	char	   *name;

	if (without_hidden_time(input) != input)
		return true;
	if (mapping == NULL)
		return false;
	if (mapping->function == PENUMBRA_FN_CAST)
		return func->funcresulttype == DATEOID;
	if ((mapping->function != PENUMBRA_FN_DATE_TRUNC && mapping->function != PENUMBRA_FN_EXTRACT &&
		 mapping->function != PENUMBRA_FN_DATE_PART) || !IsA(unit, Const) || unit->constisnull)
		return false;
	name = TextDatumGetCString(unit->constvalue);
	for (int i = 0; i < (int) lengthof(units); i++)
	{
		if (pg_strcasecmp(name, units[i]) == 0)
			return true;
	}
	return false;
}

/* The columns are those of the relation; 0: of the relations that the Vars say. */
static double
distinct_of_input(const Planning *planning, Node *input, Index relation, double *rows)
{
	List	   *columns = pull_var_clause(input, PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS |
										  PVC_INCLUDE_PLACEHOLDERS);
	double		distinct = 1;
	ListCell   *lc;

	foreach(lc, columns)
	{
		const Var  *var = lfirst(lc);

		if (!IsA(var, Var))
			return INFINITY;
		distinct *= distinct_of_column(planning, relation > 0 ? relation : (Index) var->varno, var->varattno, rows);
	}
	return gives_few_values(input) ? Min(distinct, FIELD_VALUES_MAX) : distinct;
}

/* Columns are taken for independent of each other, so there will hardly be more. */
static double
distinct_of_inputs(const Planning *planning, List *inputs, double *rows)
{
	double		distinct = 1;
	ListCell   *lc;

	foreach(lc, inputs)
		distinct *= distinct_of_input(planning, lfirst(lc), 0, rows);
	return distinct;
}

static bool
is_worth_it(const Translation *translation, const HostCall *call)
{
	const Planning *planning = planning_current();
	double		rows = 0;

	return translation->takes_any_calls || planning == NULL || (MODE_IS_FORCED() && !translation->weighs_calls) ||
		distinct_of_inputs(planning, call->inputs, &rows) * ROWS_PER_INPUT_MIN <= rows;
}

double
host_call_evaluations(const Translation *translation)
{
	double		evaluations = 0;
	double		rows;
	ListCell   *lc;

	foreach(lc, translation->host_calls)
		evaluations += distinct_of_inputs(planning_current(), ((const HostCall *) lfirst(lc))->inputs, &rows);
	return evaluations;
}

/* ---------------------------------------------------------------- translation */

static int
number_of(Translation *translation, HostCall *call)
{
	ListCell   *lc;

	foreach(lc, translation->host_calls)
	{
		const HostCall *known = lfirst(lc);

		if (known->kind == call->kind && equal(known->expr, call->expr) && equal(known->inputs, call->inputs))
			return foreach_current_index(lc);
	}
	translation->host_calls = lappend(translation->host_calls, call);
	return list_length(translation->host_calls) - 1;
}

PenumbraExpr
host_call_translate(Translation *translation, Node *node)
{
	const char *reason = translation->reason;
	int			failed_inputs = translation->failed_inputs;
	bool		is_planned = pipeline_find_expr(translation->called_exprs, node) >= 0;
	HostCall   *call;
	PenumbraExpr args[INPUTS_MAX];
	PenumbraExpr expr = -1;
	PenumbraType type;

	if (translation->is_within_call || range_form_has_place(node) || ++translation->failed_inputs > FAILED_INPUTS_MAX ||
		!can_be_called(translation, node, &type) || (!is_planned && translation->runtime_values != NULL))
	{
		translation->reason = reason;
		return -1;
	}
	call = palloc0(sizeof(HostCall));
	if (host_call_find_inputs(translation, without_hidden_time(node), INPUTS_MAX, call, args) &&
		(is_planned || is_worth_it(translation, call)))
		expr = penumbra_plan_host_call(translation->plan, number_of(translation, call), type, args,
									   list_length(call->inputs));
	translation->reason = reason;
	if (expr >= 0)
		translation->failed_inputs = failed_inputs;
	if (expr >= 0 && !is_planned)
		translation->called_exprs = lappend(translation->called_exprs, node);
	return expr;
}

/* Something that PostgreSQL knows of the node's values, which the engine has. */
static PenumbraExpr
call_of_values(Translation *translation, Node *node, HostCallKind kind, PenumbraType type, const char *refusal)
{
	HostCall   *call = palloc0(sizeof(HostCall));
	PenumbraExpr value = translate_expr(translation, node);
	bool		is_planned = translation->runtime_values != NULL ||
		pipeline_find_expr(translation->called_exprs, node) >= 0;

	if (value < 0)
		return -1;
	call->expr = (Node *) makeVar(OUTER_VAR, 1, exprType(node), exprTypmod(node), exprCollation(node), 0);
	call->inputs = list_make1(node);
	call->kind = kind;
	if (!is_planned && (translation->is_within_call || !is_worth_it(translation, call)))
		return translation_refuse(translation, refusal);
	if (!is_planned)
		translation->called_exprs = lappend(translation->called_exprs, node);
	return penumbra_plan_host_call(translation->plan, number_of(translation, call), type, &value, 1);
}

PenumbraExpr
host_call_class(Translation *translation, Node *node)
{
	return call_of_values(translation, node, HOST_CALL_CLASS, PENUMBRA_INT8,
						  psprintf("comparison of %s, whose values hardly repeat", format_type_be(exprType(node))));
}

PenumbraExpr
host_call_label(Translation *translation, Node *node)
{
	const char *reason = translation->reason != NULL ? translation->reason
		: psprintf("order of %s", format_type_be(exprType(node)));
	PenumbraExpr label = !OidIsValid(lookup_type_cache(getBaseType(exprType(node)), TYPECACHE_CMP_PROC)->cmp_proc) ? -1
		: call_of_values(translation, node, HOST_CALL_LABEL, PENUMBRA_UUID, reason);

	/* a label may be missing for a value, and then none of the others may have decided anything */
	translation->raises_late |= label >= 0;
	if (label < 0)
		translation->reason = reason;
	return label;
}

PenumbraExpr
host_call_labeled(Translation *translation, Node *node, PenumbraExpr label)
{
	HostCall   *call = palloc0(sizeof(HostCall));
	PenumbraType type;

	if (!translate_type_of(translation, node, &type))
		return -1;
	call->expr = (Node *) makeVar(OUTER_VAR, 1, exprType(node), exprTypmod(node), exprCollation(node), 0);
	call->inputs = list_make1(makeNullConst(UUIDOID, -1, InvalidOid));
	call->kind = HOST_CALL_LABELED;
	return penumbra_plan_host_call(translation->plan, number_of(translation, call), type, &label, 1);
}

PenumbraExpr
host_call_zone(Translation *translation, Node *node)
{
	return call_of_values(translation, node, HOST_CALL_ZONE, PENUMBRA_TEXT, "time zones that hardly repeat");
}
