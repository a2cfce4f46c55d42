/*-------------------------------------------------------------------------
 *
 * aggregate_state.c
 *	  Aggregates of PostgreSQL's over rows that the engine gives.
 *
 * Rows are added and taken away, and states finished, as nodeWindowAgg.c does
 * it.
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
	FmgrInfo	take_away;		/* of functions for frames that move */
	FmgrInfo	finish;
	bool		is_moving;
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
initial_value(HeapTuple tuple, AttrNumber attribute, Oid type, bool *isnull)
{
	Datum		written = SysCacheGetAttr(AGGFNOID, tuple, attribute, isnull);
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
	Oid			add_function;
	Oid			take_away_function;
	Oid			finish_function;
	Oid			state_type;
	Expr	   *add;
	Expr	   *take_away;
	Expr	   *finish;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	add_function = call->is_moving ? form->aggmtransfn : form->aggtransfn;
	take_away_function = call->is_moving ? form->aggminvtransfn : InvalidOid;
	finish_function = call->is_moving ? form->aggmfinalfn : form->aggfinalfn;
	state_type = resolve_aggregate_transtype(aggref->aggfnoid,
											 call->is_moving ? form->aggmtranstype : form->aggtranstype,
											 types, type_count);
	get_typlenbyval(state_type, &call->length, &call->is_by_value);
	call->initial = initial_value(tuple, call->is_moving ? Anum_pg_aggregate_aggminitval : Anum_pg_aggregate_agginitval,
								  state_type, &call->initial_isnull);
	build_aggregate_transfn_expr(types, type_count, 0, false, state_type, aggref->inputcollid, add_function,
								 take_away_function, &add, &take_away);
	fmgr_info(add_function, &call->add);
	fmgr_info_set_expr((Node *) add, &call->add);
	if (call->is_moving)
	{
		fmgr_info(take_away_function, &call->take_away);
		fmgr_info_set_expr((Node *) take_away, &call->take_away);
	}
	call->has_finish = OidIsValid(finish_function);
	call->finish_arg_count = (call->is_moving ? form->aggmfinalextra : form->aggfinalextra) ? type_count + 1 : 1;
	if (call->has_finish)
	{
		build_aggregate_finalfn_expr(types, call->finish_arg_count, state_type, aggref->aggtype, aggref->inputcollid,
									 finish_function, &finish);
		fmgr_info(finish_function, &call->finish);
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

	call->is_moving = collected->is_moving;
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
	state->rows = 0;
	state->has_failed = false;
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

static bool
has_null_argument(const AggregateCall *call, FunctionCallInfo fcinfo)
{
	for (int a = 1; a <= call->arg_count; a++)
	{
		if (fcinfo->args[a].isnull)
			return true;
	}
	return false;
}

/* The function of the state and the arguments at hand. */
static Datum
call_function(FmgrInfo *function, const AggregateState *state, FunctionCallInfo fcinfo)
{
	fcinfo->flinfo = function;
	fcinfo->args[0].value = state->value;
	fcinfo->args[0].isnull = state->isnull;
	fcinfo->isnull = false;
	return FunctionCallInvoke(fcinfo);
}

static void
add_row(AggregateCall *call, AggregateState *state, FunctionCallInfo fcinfo)
{
	Datum		value;

	if (call->add.fn_strict)
	{
		if (has_null_argument(call, fcinfo))
			return;
		if (state->isnull && state->rows == 0)
		{
			MemoryContext old = MemoryContextSwitchTo(state->context);

			state->value = datumCopy(fcinfo->args[1].value, call->is_by_value, call->length);
			state->isnull = false;
			state->rows = 1;
			MemoryContextSwitchTo(old);
			return;
		}
		if (state->isnull)
			return;
	}
	value = call_function(&call->add, state, fcinfo);
	if (fcinfo->isnull && call->is_moving)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("moving-aggregate transition function must not return null")));
	state->rows++;
	keep_value(call, state, value, fcinfo->isnull);
}

/* The last row is never taken away by the function, which would leave a state that is not that of no rows. */
static void
take_row_away(AggregateCall *call, AggregateState *state, FunctionCallInfo fcinfo)
{
	Datum		value;

	if (call->take_away.fn_strict && has_null_argument(call, fcinfo))
		return;
	Assert(state->rows > 0);
	if (state->isnull)
		elog(ERROR, "aggregate transition value is NULL before inverse transition");
	if (state->rows == 1)
	{
		aggregate_state_clear(call, state);
		return;
	}
	value = call_function(&call->take_away, state, fcinfo);
	state->has_failed = fcinfo->isnull;
	if (state->has_failed)
		return;
	state->rows--;
	keep_value(call, state, value, false);
}

/* Of each of the next rows, with the arguments evaluated. */
static void
for_rows(AggregateCall *call, AggregateState *state, uint32 count,
		 void (*step) (AggregateCall *call, AggregateState *state, FunctionCallInfo fcinfo))
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
		if (state->has_failed)
			continue;
		ResetExprContext(econtext);
		econtext->ecxt_outertuple = call->inputs;
		MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		for (int a = 0; a < call->arg_count; a++)
			fcinfo->args[1 + a].value = ExecEvalExpr(call->args[a], econtext, &fcinfo->args[1 + a].isnull);
		step(call, state, fcinfo);
		MemoryContextSwitchTo(old);
	}
}

void
aggregate_state_add(AggregateCall *call, AggregateState *state, uint32 count)
{
	for_rows(call, state, count, add_row);
}

void
aggregate_state_take_away(AggregateCall *call, AggregateState *state, uint32 count)
{
	for_rows(call, state, count, take_row_away);
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
