/*-------------------------------------------------------------------------
 *
 * held_rows.c
 *	  Rows kept back until the engine is at its end.
 *
 * The engine may find a value that it does not support after it returned
 * rows, when an expression that can meet one is above the last stage that
 * waits for all input.  Or a row asks for the value of an expression that
 * failed at the start.  Then nothing leaves the node before the end, so that
 * the ordinary plan can still take over.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "query/execute/held_rows.h"
#include "query/execute/result_slot.h"
#include "query/execute/scan_state.h"

void
held_rows_begin(PenumbraScanState *state, TupleTableSlot *slot)
{
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext old_context = MemoryContextSwitchTo(estate->es_query_cxt);

	state->held = tuplestore_begin_heap(false, false, work_mem);
	tuplestore_set_eflags(state->held, 0);
	if (state->held_slot == NULL)
		state->held_slot = ExecInitExtraTupleSlot(estate, slot->tts_tupleDescriptor,
												  &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old_context);
}

void
held_rows_add(PenumbraScanState *state, TupleTableSlot *slot)
{
	tuplestore_puttupleslot(state->held, slot);
}

bool
held_rows_next(PenumbraScanState *state, TupleTableSlot *slot)
{
	ExecClearTuple(slot);
	if (!tuplestore_gettupleslot(state->held, true, false, state->held_slot))
		return false;
	result_slot_take(slot, state->held_slot, slot->tts_tupleDescriptor->natts);
	ExecStoreVirtualTuple(slot);
	return true;
}

void
held_rows_drop(PenumbraScanState *state)
{
	if (state->held == NULL)
		return;
	ExecClearTuple(state->held_slot);
	tuplestore_end(state->held);
	state->held = NULL;
}
