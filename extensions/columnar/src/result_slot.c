/*-------------------------------------------------------------------------
 *
 * result_slot.c
 *	  Engine results as rows of a slot.
 *
 * Converted a window of rows at a time, column by column: the type switch is
 * then outside of the row loop and the strings of a window are one
 * allocation.  Windows start small, so that a LIMIT of ten rows does not
 * convert two thousand.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "result_slot.h"

#define WINDOW_ROWS_FIRST 16
#define WINDOW_ROWS_MAX 1024

struct ResultWindow
{
	int			column_count;
	int		   *outputs;		/* per column, -1 for NULL */
	Datum	   *values;			/* column_count x WINDOW_ROWS_MAX */
	bool	   *nulls;
	MemoryContext strings;		/* of the current window */
	const PenumbraResult *result;
	PenumbraResult result_copy;
	uint32		window_begin;
	uint32		window_end;
	uint32		window_rows;	/* of the next window */
	uint32		next_row;
};

ResultWindow *
result_window_create(List *output_map)
{
	ResultWindow *window = palloc0(sizeof(ResultWindow));
	ListCell   *lc;

	window->column_count = list_length(output_map);
	window->outputs = palloc(sizeof(int) * Max(window->column_count, 1));
	foreach(lc, output_map)
		window->outputs[foreach_current_index(lc)] = lfirst_int(lc);
	window->values = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(Datum) *
											WINDOW_ROWS_MAX * Max(window->column_count, 1));
	window->nulls = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(bool) *
										   WINDOW_ROWS_MAX * Max(window->column_count, 1));
	window->strings = AllocSetContextCreate(CurrentMemoryContext, "Penumbra result strings",
											ALLOCSET_DEFAULT_SIZES);
	window->window_rows = WINDOW_ROWS_FIRST;
	return window;
}

void
result_window_open(ResultWindow *window, const PenumbraResult *result)
{
	window->result_copy = *result;
	window->result = &window->result_copy;
	window->window_begin = 0;
	window->window_end = 0;
	window->next_row = 0;
}

void
result_window_close(ResultWindow *window)
{
	window->result = NULL;
	MemoryContextReset(window->strings);
}

/* Gives every payload a varlena header. */
static void
convert_payloads(ResultWindow *window, const PenumbraResultColumn *column, uint32 begin,
				 uint32 rows, Datum *values, const bool *nulls)
{
	Size		bytes = 0;
	char	   *next;

	for (uint32 i = 0; i < rows; i++)
		if (!nulls[i])
			bytes += INTALIGN(VARHDRSZ + column->payload_lengths[begin + i]);
	if (bytes == 0)
		return;
	next = MemoryContextAllocHuge(window->strings, bytes);
	for (uint32 i = 0; i < rows; i++)
	{
		uint32		length;

		if (nulls[i])
			continue;
		length = column->payload_lengths[begin + i];
		SET_VARSIZE(next, VARHDRSZ + length);
		memcpy(VARDATA(next), column->payloads[begin + i], length);
		values[i] = PointerGetDatum(next);
		next += INTALIGN(VARHDRSZ + length);
	}
}

static void
convert_column(ResultWindow *window, const PenumbraResultColumn *column, uint32 begin, uint32 rows,
			   Datum *values, bool *nulls)
{
	if (column->values == NULL && column->payloads == NULL)
	{
		memset(nulls, 1, rows);
		return;
	}
	if (column->nulls != NULL)
		for (uint32 i = 0; i < rows; i++)
			nulls[i] = column->nulls[begin + i] != 0;
	else
		memset(nulls, 0, rows);
	switch (column->type)
	{
		case PENUMBRA_BOOL:
			for (uint32 i = 0; i < rows; i++)
				values[i] = BoolGetDatum(((const uint8 *) column->values)[begin + i]);
			break;
		case PENUMBRA_INT2:
			for (uint32 i = 0; i < rows; i++)
				values[i] = Int16GetDatum(((const int16 *) column->values)[begin + i]);
			break;
		case PENUMBRA_INT4:
		case PENUMBRA_DATE:
			for (uint32 i = 0; i < rows; i++)
				values[i] = Int32GetDatum(((const int32 *) column->values)[begin + i]);
			break;
		case PENUMBRA_FLOAT4:
			for (uint32 i = 0; i < rows; i++)
				values[i] = Float4GetDatum(((const float4 *) column->values)[begin + i]);
			break;
		case PENUMBRA_INT8:
		case PENUMBRA_TIMESTAMP:
		case PENUMBRA_TIMESTAMPTZ:
			for (uint32 i = 0; i < rows; i++)
				values[i] = Int64GetDatum(((const int64 *) column->values)[begin + i]);
			break;
		case PENUMBRA_FLOAT8:
			for (uint32 i = 0; i < rows; i++)
				values[i] = Float8GetDatum(((const float8 *) column->values)[begin + i]);
			break;
		case PENUMBRA_UUID:
		case PENUMBRA_INTERVAL:
			for (uint32 i = 0; i < rows; i++)
				values[i] = PointerGetDatum((const char *) column->values + 16 * (begin + i));
			break;
		case PENUMBRA_NUMERIC:
		case PENUMBRA_TEXT:
		case PENUMBRA_BPCHAR:
			convert_payloads(window, column, begin, rows, values, nulls);
			break;
	}
}

static bool
next_window(ResultWindow *window)
{
	const PenumbraResult *result = window->result;
	uint32		rows = Min(window->window_rows, result->rows - window->window_end);

	if (rows == 0)
		return false;
	MemoryContextReset(window->strings);
	for (int c = 0; c < window->column_count; c++)
	{
		bool	   *nulls = window->nulls + (Size) c * WINDOW_ROWS_MAX;

		if (window->outputs[c] < 0)
			memset(nulls, 1, rows);
		else
			convert_column(window, &result->columns[window->outputs[c]], window->window_end, rows,
						   window->values + (Size) c * WINDOW_ROWS_MAX, nulls);
	}
	window->window_begin = window->window_end;
	window->window_end += rows;
	window->window_rows = Min(window->window_rows * 4, WINDOW_ROWS_MAX);
	return true;
}

bool
result_window_next(ResultWindow *window, TupleTableSlot *slot)
{
	uint32		i;

	if (window->result == NULL)
		return false;
	if (window->next_row == window->window_end && !next_window(window))
	{
		window->result = NULL;
		return false;
	}
	i = window->next_row++ - window->window_begin;
	ExecClearTuple(slot);
	for (int c = 0; c < window->column_count; c++)
	{
		slot->tts_isnull[c] = window->nulls[(Size) c * WINDOW_ROWS_MAX + i];
		slot->tts_values[c] = slot->tts_isnull[c] ? (Datum) 0
			: window->values[(Size) c * WINDOW_ROWS_MAX + i];
	}
	for (int c = window->column_count; c < slot->tts_tupleDescriptor->natts; c++)
		slot->tts_isnull[c] = true;
	ExecStoreVirtualTuple(slot);
	return true;
}
