/*-------------------------------------------------------------------------
 *
 * returned_rows.c
 *	  The rows that a node has returned, for a cursor that goes back to them.
 *
 * The engine cannot go back.  So what the node returns is kept, and which row of
 * the table it is where that is wanted, and a cursor is served from what is kept
 * until it goes beyond its end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/tuplestore.h"

#include "query/execute/result_slot.h"
#include "query/execute/returned_rows.h"
#include "query/execute/row_identity.h"
#include "query/execute/scan_state.h"

void
returned_rows_begin(PenumbraScanState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	TupleDesc	desc = state->css.ss.ps.ps_ResultTupleDesc;

	if (row_identity_is_given(state))
	{
		Expr	   *null = (Expr *) makeNullConst(TIDOID, -1, InvalidOid);
		TargetEntry *tid = makeTargetEntry(null, desc->natts + 1, NULL, false);

		desc = ExecTypeFromTL(lappend(list_copy(state->css.ss.ps.plan->targetlist), tid));
		state->identified_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	}
	state->returned = tuplestore_begin_heap(true, false, work_mem);
	tuplestore_set_eflags(state->returned, EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD);
	state->returned_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
}

static void
keep(PenumbraScanState *state, TupleTableSlot *slot)
{
	TupleTableSlot *kept = state->identified_slot;
	int			count = slot->tts_tupleDescriptor->natts;

	if (kept != NULL)
	{
		result_slot_take(kept, slot, count);
		kept->tts_values[count] = PointerGetDatum(&state->css.ss.ss_ScanTupleSlot->tts_tid);
		kept->tts_isnull[count] = false;
		slot = ExecStoreVirtualTuple(kept);
	}
	tuplestore_puttupleslot(state->returned, slot);
}

/* Parents expect the slot that the node was initialised with. */
static TupleTableSlot *
give_again(PenumbraScanState *state)
{
	TupleTableSlot *kept = state->returned_slot;
	TupleTableSlot *result = state->css.ss.ps.ps_ResultTupleSlot;
	TupleTableSlot *scan_slot = state->css.ss.ss_ScanTupleSlot;
	int			count = result->tts_tupleDescriptor->natts;

	result_slot_take(result, kept, count);
	if (row_identity_is_given(state))
	{
		ExecStoreAllNullTuple(scan_slot);
		scan_slot->tts_tid = *(ItemPointer) DatumGetPointer(kept->tts_values[count]);
	}
	return ExecStoreVirtualTuple(result);
}

/* As the Material node does it. */
TupleTableSlot *
returned_rows_next(PenumbraScanState *state, TupleTableSlot *(*next) (PenumbraScanState *state))
{
	bool		is_forward = ScanDirectionIsForward(state->css.ss.ps.state->es_direction);
	bool		is_at_end = tuplestore_ateof(state->returned);
	TupleTableSlot *slot;

	if (!is_forward && is_at_end && !state->is_exhausted)
	{
		/* The row returned last is not to be returned again. */
		if (!tuplestore_advance(state->returned, false))
			return NULL;
		is_at_end = false;
	}
	if (!is_at_end || !is_forward)
	{
		if (tuplestore_gettupleslot(state->returned, is_forward, false, state->returned_slot))
			return give_again(state);
		if (!is_forward)
			return NULL;
	}
	if (state->is_exhausted)
		return NULL;
	slot = next(state);
	if (slot == NULL)
		state->is_exhausted = true;
	else
		keep(state, slot);
	return slot;
}

/* A cursor that goes back to its begin has the same rows again, in the same order, unless a parameter has changed. */
bool
returned_rows_rescan(PenumbraScanState *state)
{
	if (state->returned == NULL)
		return false;
	if (state->css.ss.ps.chgParam == NULL)
	{
		tuplestore_rescan(state->returned);
		return true;
	}
	tuplestore_clear(state->returned);
	state->is_exhausted = false;
	return false;
}

void
returned_rows_end(PenumbraScanState *state)
{
	if (state->returned != NULL)
		tuplestore_end(state->returned);
}
