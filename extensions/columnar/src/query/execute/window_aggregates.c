/*-------------------------------------------------------------------------
 *
 * window_aggregates.c
 *	  Aggregates of PostgreSQL's over frames, which the engine asks for while
 *	  it runs.
 *
 * Frames that the engine computes side by side have states of their own, which
 * stay until the execution ends or another frame takes them over.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "cache/value_image.h"
#include "query/execute/aggregate_state.h"
#include "query/execute/window_aggregates.h"
#include "query/pipeline/collected_call.h"

/* What the results of one call may take beyond the memory for hashing, unless it is one value. */
#define RESULTS_BYTES_MIN ((Size) 64 << 20)

typedef struct FrameCall
{
	AggregateCall *aggregate;	/* NULL: of groups */
	uint32		label;
	const ValueImage *image;	/* of the result's type; NULL: its bytes behind the header are only shown */
	bool		has_head;		/* before these */
	int16		length;			/* of that type */
	bool		is_by_value;
	AggregateState *states;		/* by number */
	uint32		state_count;
} FrameCall;

struct WindowAggregates
{
	MemoryContext context;
	FrameCall  *calls;			/* by label */
};

static void
prepare(FrameCall *call, const CollectedCall *from)
{
	Oid			type = from->aggref->aggtype;
	const ValueImage *image = value_image_of(type);

	call->aggregate = aggregate_call_create(from);
	call->image = from->result == PENUMBRA_ARRAY ? NULL : image;
	call->has_head = !OidIsValid(get_element_type(type));
	get_typlenbyval(type, &call->length, &call->is_by_value);
}

WindowAggregates *
window_aggregates_create(List *calls)
{
	WindowAggregates *aggregates = NULL;
	ListCell   *lc;

	foreach(lc, calls)
	{
		const CollectedCall *from = lfirst(lc);

		if (!from->is_of_window)
			continue;
		if (aggregates == NULL)
		{
			aggregates = palloc0(sizeof(WindowAggregates));
			aggregates->context = CurrentMemoryContext;
			aggregates->calls = palloc0(sizeof(FrameCall) * list_length(calls));
		}
		aggregates->calls[foreach_current_index(lc)].label = foreach_current_index(lc);
		prepare(&aggregates->calls[foreach_current_index(lc)], from);
	}
	return aggregates;
}

static AggregateState *
find_state(WindowAggregates *aggregates, FrameCall *call, uint32 number)
{
	if (number >= call->state_count)
	{
		MemoryContext old = MemoryContextSwitchTo(aggregates->context);
		uint32		count = Max(number + 1, 2 * call->state_count);
		AggregateState *states = palloc0(sizeof(AggregateState) * count);

		if (call->state_count > 0)
		{
			memcpy(states, call->states, sizeof(AggregateState) * call->state_count);
			pfree(call->states);
		}
		call->states = states;
		call->state_count = count;
		MemoryContextSwitchTo(old);
	}
	return &call->states[number];
}

/* The bytes of a varlena, if it is no array as collected_groups.c takes them. */
static uint64
shown_value(const FrameCall *call, Datum value, uint32 *length)
{
	const struct varlena *from = PG_DETOAST_DATUM_PACKED(value);
	Size		head_bytes = call->has_head ? sizeof(PenumbraGroupRows) : 0;
	char	   *made = MemoryContextAllocHuge(CurrentMemoryContext, head_bytes + VARSIZE_ANY_EXHDR(from));

	if (call->has_head)
		*(PenumbraGroupRows *) made = (PenumbraGroupRows) {call->label | PENUMBRA_GROUP_ROWS, 0};
	memcpy(made + head_bytes, VARDATA_ANY(from), VARSIZE_ANY_EXHDR(from));
	*length = head_bytes + VARSIZE_ANY_EXHDR(from);
	if ((const void *) from != (const void *) DatumGetPointer(value))
		pfree((void *) from);
	return (uint64) (uintptr_t) made;
}

static void
check_memory(void)
{
	if (MemoryContextMemAllocated(CurrentMemoryContext, true) > get_hash_memory_limit() + RESULTS_BYTES_MIN)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("results of an aggregate take too much memory for Penumbra")));
}

void
window_aggregates_evaluate(WindowAggregates *aggregates, const PenumbraFrames *frames, PenumbraColumnInput *results)
{
	FrameCall  *call = &aggregates->calls[frames->label];
	AggregateState *state = find_state(aggregates, call, frames->state);
	uint64	   *values = palloc(sizeof(uint64) * Max(frames->result_count, 1));
	uint32	   *lengths = palloc0(sizeof(uint32) * Max(frames->result_count, 1));
	uint8	   *nulls = palloc(Max(frames->result_count, 1));
	uint32		result = 0;

	if (frames->rows.rows > 0)
		aggregate_call_open(call->aggregate, &frames->rows);
	for (uint32 i = 0; i < frames->step_count; i++)
	{
		const PenumbraFrameStep *step = &frames->steps[i];
		bool		isnull;
		Datum		value;

		CHECK_FOR_INTERRUPTS();
		if (step->restarts)
		{
			MemoryContext old = MemoryContextSwitchTo(aggregates->context);

			aggregate_state_clear(call->aggregate, state);
			MemoryContextSwitchTo(old);
		}
		(step->takes_away ? aggregate_state_take_away : aggregate_state_add) (call->aggregate, state, step->rows);
		if (!step->is_finished)
			continue;
		if (state->has_failed)
		{
			values[result] = 0;
			nulls[result++] = PENUMBRA_FRAME_AGAIN;
			continue;
		}
		if (result > 0)
			check_memory();
		value = aggregate_state_value(call->aggregate, state, &isnull);
		nulls[result] = isnull;
		if (isnull)
			values[result] = 0;
		else if (call->image == NULL)
			values[result] = shown_value(call, value, &lengths[result]);
		else
			values[result] = value_image_make(call->image, datumCopy(value, call->is_by_value, call->length),
											  &lengths[result]);
		result++;
	}
	Assert(result == frames->result_count);
	*results = (PenumbraColumnInput) {values, lengths, nulls};
}
