/*-------------------------------------------------------------------------
 *
 * collected_call.c
 *	  Aggregates whose rows the engine collects.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "cache/value_image.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/collected_call.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/host_call.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_expr.h"

static List *
arguments_of(const Aggref *aggref)
{
	List	   *args = NIL;
	ListCell   *lc;

	foreach(lc, aggref->args)
	{
		if (!lfirst_node(TargetEntry, lc)->resjunk)
			args = lappend(args, lfirst_node(TargetEntry, lc)->expr);
	}
	return args;
}

/* A row of a table as its columns, which the engine has. */
static RowExpr *
columns_of(const Var *whole)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(whole->vartype, whole->vartypmod);
	RowExpr    *row = makeNode(RowExpr);

	row->row_typeid = whole->vartype;
	row->row_format = COERCE_IMPLICIT_CAST;
	row->location = -1;
	for (int i = 0; i < desc->natts; i++)
	{
		const FormData_pg_attribute *attribute = TupleDescAttr(desc, i);

		row->args = lappend(row->args, attribute->attisdropped ? (void *) makeNullConst(INT4OID, -1, InvalidOid)
							: (void *) makeVar(whole->varno, attribute->attnum, attribute->atttypid,
											   attribute->atttypmod, attribute->attcollation, 0));
	}
	ReleaseTupleDesc(desc);
	return row;
}

static Node *
columns_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varattno == InvalidAttrNumber && ((Var *) node)->vartype != RECORDOID)
		return (Node *) columns_of((Var *) node);
	return expression_tree_mutator(node, columns_mutator, context);
}

/* EXECUTE on the aggregate itself is checked at executor start. */
static bool
may_run(Oid function_oid, Oid owner)
{
	return !OidIsValid(function_oid) ||
		(func_volatile(function_oid) != PROVOLATILE_VOLATILE && compat_may_execute(function_oid, owner));
}

/*
 * Whether PostgreSQL uses the aggregate's functions for frames that move, as initialize_peragg() decides it of
 * arguments without volatile functions and subqueries.
 */
static bool
uses_moving(const FormData_pg_aggregate *form, int frame_options)
{
	return OidIsValid(form->aggminvtransfn) &&
		((frame_options & FRAMEOPTION_START_UNBOUNDED_PRECEDING) == 0 ||
		 (form->aggmfinalmodify == AGGMODIFY_READ_ONLY && form->aggfinalmodify != AGGMODIFY_READ_ONLY));
}

static bool
can_run(const Aggref *aggref, int frame_options, bool *is_moving)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	HeapTuple	procedure = SearchSysCache1(PROCOID, ObjectIdGetDatum(aggref->aggfnoid));
	bool		can = false;

	if (HeapTupleIsValid(tuple) && HeapTupleIsValid(procedure))
	{
		const FormData_pg_aggregate *form = (const FormData_pg_aggregate *) GETSTRUCT(tuple);
		const FormData_pg_proc *proc = (const FormData_pg_proc *) GETSTRUCT(procedure);

		*is_moving = uses_moving(form, frame_options);
		can = form->aggkind == AGGKIND_NORMAL && !OidIsValid(proc->provariadic) &&
			(*is_moving
			 ? form->aggmfinalmodify == AGGMODIFY_READ_ONLY && may_run(form->aggmtransfn, proc->proowner) &&
			 may_run(form->aggminvtransfn, proc->proowner) && may_run(form->aggmfinalfn, proc->proowner)
			 : form->aggfinalmodify == AGGMODIFY_READ_ONLY && may_run(form->aggtransfn, proc->proowner) &&
			 may_run(form->aggfinalfn, proc->proowner));
	}
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (HeapTupleIsValid(procedure))
		ReleaseSysCache(procedure);
	return can;
}

bool
collected_call_can_run(const Aggref *aggref)
{
	bool		is_moving;

	return aggref->aggsplit == AGGSPLIT_SIMPLE &&
		can_run(aggref, FRAMEOPTION_START_UNBOUNDED_PRECEDING, &is_moving) && !is_moving;
}

/* DISTINCT compares the arguments themselves. */
static bool
take_whole(Translation *translation, List *args, CollectedCall *collected, PenumbraExpr *inputs)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		Node	   *arg = lfirst(lc);

		if (!translate_has_collation(translation, exprCollation(arg), arg))
			return false;
		if (comparison_key_is_other(arg))
			return translation_refuse(translation, psprintf("DISTINCT of %s", format_type_be(exprType(arg)))) >= 0;
		collected->args = lappend(collected->args, makeVar(OUTER_VAR, foreach_current_index(lc) + 1, exprType(arg),
														   exprTypmod(arg), exprCollation(arg), 0));
	}
	collected->inputs = args;
	return translate_args(translation, args, inputs);
}

static bool
take_parts(Translation *translation, List *args, CollectedCall *collected, PenumbraExpr *inputs)
{
	HostCall	parts = {0};

	args = (List *) columns_mutator((Node *) args, NULL);
	if (!host_call_can_evaluate((Node *) args))
		return translation_refuse(translation, "aggregate of volatile functions, sets or subqueries") >= 0;
	if (!host_call_find_inputs(translation, (Node *) args, PENUMBRA_AGGREGATE_ARGUMENTS_MAX, &parts, inputs))
		return false;
	collected->args = (List *) parts.expr;
	collected->inputs = parts.inputs;
	return true;
}

bool
collected_call_translate(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call)
{
	CollectedCall *collected = palloc0(sizeof(CollectedCall));
	List	   *args = arguments_of(aggref);

	if (!(aggref->aggdistinct != NIL ? take_whole : take_parts) (translation, args, collected, call->arguments))
		return false;
	collected->aggref = aggref;
	collected->types = palloc(sizeof(PenumbraType) * Max(list_length(collected->inputs), 1));
	call->argument_count = list_length(collected->inputs);
	for (int i = 0; i < call->argument_count; i++)
		collected->types[i] = penumbra_plan_expr_type(translation->plan, call->arguments[i]);
	call->label = list_length(translation->collected_calls);
	translation->collected_calls = lappend(translation->collected_calls, collected);
	return true;
}

bool
collected_call_filter(Translation *translation, PenumbraAggregateCall *call)
{
	const CollectedCall *collected = list_nth(translation->collected_calls, call->label);
	const Var  *key = collected->args == NIL ? NULL : linitial(collected->args);
	PenumbraAggregate known;
	PenumbraExpr branches[3];
	PenumbraExpr conditions[2];

	if (list_length(collected->args) < 2 || !IsA(key, Var) || !function_map_aggregate(collected->aggref, &known))
		return true;
	branches[0] = translate_call(translation, PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL,
								 &call->arguments[key->varattno - 1], 1);
	branches[1] = translate_datum(translation, BOOLOID, BoolGetDatum(true), false);
	branches[2] = translate_failure(translation, PENUMBRA_BOOL);
	conditions[0] = call->filter;
	conditions[1] = translate_call(translation, PENUMBRA_FN_CASE, PENUMBRA_BOOL, branches, lengthof(branches));
	call->filter = call->filter < 0 ? conditions[1]
		: translate_call(translation, PENUMBRA_FN_AND, PENUMBRA_BOOL, conditions, lengthof(conditions));
	return call->filter >= 0;
}

/* ---------------------------------------------------------------- of windows */

/* Values that the engine only shows are an array to it. */
static bool
type_of_value(Oid type_oid, PenumbraType *type)
{
	const ValueImage *image = value_image_of(type_oid);

	if (image != NULL && image->composed == NULL)
		*type = image->type;
	else if (get_typlen(type_oid) == -1)
		*type = PENUMBRA_ARRAY;
	else
		return false;
	return true;
}

/* Whether PostgreSQL's part of it can raise an error: json_agg() of values does not. */
static bool
can_raise(const CollectedCall *collected)
{
	PenumbraAggregate known;
	ListCell   *lc;

	if (!function_map_aggregate(collected->aggref, &known) ||
		(known == PENUMBRA_AGG_JSON_AGG && list_length(collected->args) > 1))
		return true;
	foreach(lc, collected->args)
	{
		if (!IsA(lfirst(lc), Var) && expr_can_fail(lfirst(lc)))
			return true;
	}
	return false;
}

bool
collected_call_of_window(Translation *translation, Aggref *aggref, int frame_options, PenumbraAggregateCall *call)
{
	CollectedCall *collected;
	bool		is_moving;

	call->function = PENUMBRA_AGG_JSON_AGG;
	call->filter = -1;
	if (list_length(aggref->args) > FUNC_MAX_ARGS - 1 || !can_run(aggref, frame_options, &is_moving) ||
		!type_of_value(aggref->aggtype, &call->result))
		return false;
	translation->branch_depth += aggref->aggfilter != NULL;
	if (!collected_call_translate(translation, aggref, call))
		return false;
	collected = llast(translation->collected_calls);
	collected->is_of_window = true;
	collected->is_moving = is_moving;
	call->takes_away = is_moving && (frame_options & FRAMEOPTION_EXCLUSION) == 0;
	collected->result = call->result;
	translation->raises_late |= can_raise(collected);
	translation->branch_depth -= aggref->aggfilter != NULL;
	if (aggref->aggfilter == NULL)
		return true;
	call->filter = translate_expr(translation, (Node *) aggref->aggfilter);
	return call->filter >= 0;
}
