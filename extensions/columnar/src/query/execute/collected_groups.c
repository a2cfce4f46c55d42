/*-------------------------------------------------------------------------
 *
 * collected_groups.c
 *	  Aggregates of PostgreSQL's over rows that the engine collected.
 *
 * The engine filters, sorts and groups, and gives each group's rows, as
 * collected_call.h has them.  aggregate_state.h makes the value.  Of a window it
 * gives values, which window_aggregates.h has made while it ran.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "cache/value_image.h"
#include "query/execute/aggregate_state.h"
#include "query/execute/collected_groups.h"
#include "query/pipeline/collected_call.h"

typedef struct GroupCall
{
	AggregateCall *aggregate;	/* NULL: of a window */
	int			input_count;
	PenumbraResultColumn *columns;	/* of the inputs */
	AggregateState state;
	int16		length;			/* of the type of values */
	bool		is_by_value;
} GroupCall;

struct CollectedGroups
{
	GroupCall  *calls;			/* by label */
};

CollectedGroups *
collected_groups_create(List *calls)
{
	CollectedGroups *groups;
	ListCell   *lc;

	if (calls == NIL)
		return NULL;
	groups = palloc0(sizeof(CollectedGroups));
	groups->calls = palloc0(sizeof(GroupCall) * list_length(calls));
	foreach(lc, calls)
	{
		const CollectedCall *from = lfirst(lc);
		GroupCall  *call = &groups->calls[foreach_current_index(lc)];

		if (from->is_of_window)
			continue;
		call->aggregate = aggregate_call_create(from);
		get_typlenbyval(from->aggref->aggtype, &call->length, &call->is_by_value);
		call->input_count = list_length(from->inputs);
		call->columns = palloc0(sizeof(PenumbraResultColumn) * Max(call->input_count, 1));
		for (int i = 0; i < call->input_count; i++)
			call->columns[i].type = from->types[i];
		aggregate_state_clear(call->aggregate, &call->state);
	}
	return groups;
}

/* Takes one column from `next`; returns where the one after it begins. */
static const char *
open_column(PenumbraResultColumn *column, uint32 rows, const char *next)
{
	const char **payloads;
	const char *values = (const char *) TYPEALIGN(MAXIMUM_ALIGNOF, next + rows);
	Size		width = value_image_width(column->type);

	column->nulls = (const uint8 *) next;
	if (width > 0)
	{
		column->values = values;
		return values + rows * width;
	}
	payloads = palloc(sizeof(char *) * rows);
	column->payload_lengths = (const uint32 *) values;
	column->payloads = payloads;
	next = values + rows * sizeof(uint32);
	for (uint32 i = 0; i < rows; i++)
	{
		payloads[i] = next;
		next += column->payload_lengths[i];
	}
	return next;
}

/* The value behind a head, for which there is room. */
static Datum
value_of_window(struct varlena *made)
{
	char	   *value = (char *) made + sizeof(PenumbraGroupRows);

	SET_VARSIZE(value, VARSIZE(made) - sizeof(PenumbraGroupRows));
	return PointerGetDatum(value);
}

Datum
collected_groups_finish(void *argument, Datum rows, bool *isnull)
{
	CollectedGroups *groups = argument;
	const PenumbraGroupRows *head = (const PenumbraGroupRows *) VARDATA(DatumGetPointer(rows));
	GroupCall  *call = &groups->calls[head->label & ~PENUMBRA_GROUP_ROWS];
	const char *next = (const char *) (head + 1);
	PenumbraResult result = {head->rows, call->columns};
	MemoryContext old;
	Datum		value;

	if (call->aggregate == NULL)
		return value_of_window((struct varlena *) DatumGetPointer(rows));
	aggregate_state_clear(call->aggregate, &call->state);
	old = MemoryContextSwitchTo(call->state.context);
	for (int i = 0; i < call->input_count; i++)
		next = open_column(&call->columns[i], head->rows, next);
	aggregate_call_open(call->aggregate, &result);
	aggregate_state_add(call->aggregate, &call->state, head->rows);
	value = aggregate_state_value(call->aggregate, &call->state, isnull);
	MemoryContextSwitchTo(old);
	/* it may be part of the state */
	return *isnull ? (Datum) 0 : datumCopy(value, call->is_by_value, call->length);
}
