/*-------------------------------------------------------------------------
 *
 * aggregate_state.c
 *	  Aggregates of PostgreSQL's over rows that the engine gives.
 *
 * Rows are added and states finished as nodeWindowAgg.c does it for an
 * aggregate without an inverse transition function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "parser/parse_agg.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "query/execute/aggregate_state.h"
#include "query/execute/result_slot.h"

#define ROWS_PER_CHECK 1024

struct AggregateCall
{
	int			arg_count;
	ExprState **args;
	FmgrInfo	add;
	FmgrInfo	finish;
	bool		has_finish;
	int			finish_arg_count;
	Oid			collation;
	Datum		initial;		/* of states */
	bool		initial_isnull;
	int16		length;			/* of the type of states */
	bool		is_by_value;
	ResultWindow *window;		/* from the engine's columns into the slot */
	TupleTableSlot *inputs;
	WindowAggState *within;
	ExprContext *econtext;
};

static Datum
initial_value(HeapTuple tuple, Oid type, bool *isnull)
{
	Datum		written = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, isnull);
	Oid			input;
	Oid			param;

	if (*isnull)
		return (Datum) 0;
	getTypeInputInfo(type, &input, &param);
	return OidInputFunctionCall(input, TextDatumGetCString(written), param, -1);
}

/* The functions learn the types of their arguments from expressions that call them. */
static void
find_functions(AggregateCall *call, Aggref *aggref)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	Oid			types[FUNC_MAX_ARGS];
	int			type_count = get_aggregate_argtypes(aggref, types);
	Form_pg_aggregate form;
	Oid			state_type;
	Expr	   *add;
	Expr	   *finish;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	state_type = resolve_aggregate_transtype(aggref->aggfnoid, form->aggtranstype, types, type_count);
	get_typlenbyval(state_type, &call->length, &call->is_by_value);
	call->initial = initial_value(tuple, state_type, &call->initial_isnull);
	build_aggregate_transfn_expr(types, type_count, 0, false, state_type, aggref->inputcollid,
								 form->aggtransfn, InvalidOid, &add, NULL);
	fmgr_info(form->aggtransfn, &call->add);
	fmgr_info_set_expr((Node *) add, &call->add);
	call->has_finish = OidIsValid(form->aggfinalfn);
	call->finish_arg_count = form->aggfinalextra ? type_count + 1 : 1;
	if (call->has_finish)
	{
		build_aggregate_finalfn_expr(types, call->finish_arg_count, state_type, aggref->aggtype, aggref->inputcollid,
									 form->aggfinalfn, &finish);
		fmgr_info(form->aggfinalfn, &call->finish);
		fmgr_info_set_expr((Node *) finish, &call->finish);
	}
	ReleaseSysCache(tuple);
}

AggregateCall *
aggregate_call_create(const CollectedCall *collected)
{
	AggregateCall *call = palloc0(sizeof(AggregateCall));
	List	   *columns = NIL;
	ListCell   *lc;

	find_functions(call, collected->aggref);
	call->collation = collected->aggref->inputcollid;
	call->args = palloc(sizeof(ExprState *) * Max(list_length(collected->args), 1));
	foreach(lc, collected->args)
		call->args[call->arg_count++] = ExecInitExpr(lfirst(lc), NULL);
	for (int i = 0; i < list_length(collected->inputs); i++)
		columns = lappend_int(columns, i);
	call->inputs = MakeSingleTupleTableSlot(ExecTypeFromExprList(collected->inputs), &TTSOpsVirtual);
	call->window = result_window_create(columns, call->inputs->tts_tupleDescriptor, NIL);
	call->within = makeNode(WindowAggState);
	call->econtext = CreateStandaloneExprContext();
	return call;
}

void
aggregate_call_open(AggregateCall *call, const PenumbraResult *rows)
{
	result_window_open(call->window, rows);
}

void
aggregate_state_clear(const AggregateCall *call, AggregateState *state)
{
	MemoryContext old;

	if (state->context == NULL)
		state->context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra state of an aggregate",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(state->context);
	old = MemoryContextSwitchTo(state->context);
	state->isnull = call->initial_isnull;
	state->value = state->isnull ? (Datum) 0 : datumCopy(call->initial, call->is_by_value, call->length);
	state->has_no_row = true;
	MemoryContextSwitchTo(old);
}

/* A value by reference becomes the state's; that of before goes. */
static void
keep_value(const AggregateCall *call, AggregateState *state, Datum value, bool isnull)
{
	if (!call->is_by_value && DatumGetPointer(value) != DatumGetPointer(state->value))
	{
		if (!isnull)
		{
			MemoryContext old = MemoryContextSwitchTo(state->context);

			if (!DatumIsReadWriteExpandedObject(value, false, call->length) ||
				MemoryContextGetParent(DatumGetEOHP(value)->eoh_context) != CurrentMemoryContext)
				value = datumCopy(value, call->is_by_value, call->length);
			MemoryContextSwitchTo(old);
		}
		if (!state->isnull)
		{
			if (DatumIsReadWriteExpandedObject(state->value, false, call->length))
				DeleteExpandedObject(state->value);
			else
				pfree(DatumGetPointer(state->value));
		}
	}
	state->value = value;
	state->isnull = isnull;
}

/* Of the arguments at hand. */
static void
add_row(const AggregateCall *call, AggregateState *state, FunctionCallInfo fcinfo)
{
	Datum		value;

	if (call->add.fn_strict)
	{
		for (int a = 1; a <= call->arg_count; a++)
		{
			if (fcinfo->args[a].isnull)
				return;
		}
		if (state->isnull && state->has_no_row)
		{
			MemoryContext old = MemoryContextSwitchTo(state->context);

			state->value = datumCopy(fcinfo->args[1].value, call->is_by_value, call->length);
			state->isnull = state->has_no_row = false;
			MemoryContextSwitchTo(old);
			return;
		}
		if (state->isnull)
			return;
	}
	fcinfo->args[0].value = state->value;
	fcinfo->args[0].isnull = state->isnull;
	fcinfo->isnull = false;
	value = FunctionCallInvoke(fcinfo);
	keep_value(call, state, value, fcinfo->isnull);
	state->has_no_row = false;
}

void
aggregate_state_add(AggregateCall *call, AggregateState *state, uint32 count)
{
	ExprContext *econtext = call->econtext;
	MemoryContext old = CurrentMemoryContext;

	LOCAL_FCINFO(fcinfo, 1 + FUNC_MAX_ARGS);

	call->within->curaggcontext = state->context;
	InitFunctionCallInfoData(*fcinfo, &call->add, 1 + call->arg_count, call->collation, (Node *) call->within, NULL);
	for (uint32 i = 0; i < count; i++)
	{
		if (i % ROWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		(void) result_window_next(call->window, call->inputs);
		ResetExprContext(econtext);
		econtext->ecxt_outertuple = call->inputs;
		MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		for (int a = 0; a < call->arg_count; a++)
			fcinfo->args[1 + a].value = ExecEvalExpr(call->args[a], econtext, &fcinfo->args[1 + a].isnull);
		add_row(call, state, fcinfo);
		MemoryContextSwitchTo(old);
	}
}

Datum
aggregate_state_value(AggregateCall *call, AggregateState *state, bool *isnull)
{
	Datum		value = call->is_by_value || state->isnull ? state->value
		: MakeExpandedObjectReadOnly(state->value, state->isnull, call->length);

	LOCAL_FCINFO(fcinfo, 1 + FUNC_MAX_ARGS);

	*isnull = state->isnull;
	if (!call->has_finish)
		return value;
	call->within->curaggcontext = state->context;
	InitFunctionCallInfoData(*fcinfo, &call->finish, call->finish_arg_count, call->collation, (Node *) call->within,
							 NULL);
	fcinfo->args[0].value = value;
	fcinfo->args[0].isnull = state->isnull;
	for (int a = 1; a < call->finish_arg_count; a++)
	{
		fcinfo->args[a].value = (Datum) 0;
		fcinfo->args[a].isnull = true;
	}
	*isnull = call->finish.fn_strict && (state->isnull || call->finish_arg_count > 1);
	if (*isnull)
		return (Datum) 0;
	value = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return value;
}
