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

#include "query/execute/returned_rows.h"
#include "query/execute/row_identity.h"
#include "query/execute/scan_state.h"

void
returned_rows_begin(PenumbraScanState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	TupleDesc	desc = state->css.ss.ps.ps_ResultTupleDesc;
	TargetEntry *tid = makeTargetEntry((Expr *) makeNullConst(TIDOID, -1, InvalidOid), desc->natts + 1, NULL, false);

	if (row_identity_is_given(state))
	{
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
		slot_getallattrs(slot);
		ExecClearTuple(kept);
		memcpy(kept->tts_values, slot->tts_values, sizeof(Datum) * count);
		memcpy(kept->tts_isnull, slot->tts_isnull, sizeof(bool) * count);
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

	slot_getallattrs(kept);
	if (row_identity_is_given(state))
	{
		ExecStoreAllNullTuple(scan_slot);
		scan_slot->tts_tid = *(ItemPointer) DatumGetPointer(kept->tts_values[count]);
	}
	ExecClearTuple(result);
	memcpy(result->tts_values, kept->tts_values, sizeof(Datum) * count);
	memcpy(result->tts_isnull, kept->tts_isnull, sizeof(bool) * count);
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
