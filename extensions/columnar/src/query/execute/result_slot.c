/*-------------------------------------------------------------------------
 *
 * result_slot.c
 *	  Engine results as rows of a slot.
 *
 * Converted a window of rows at a time, column by column: the type switch is
 * then outside of the row loop and the strings of a window are one
 * allocation.  The window is stored by rows, so that a row is copied into the
 * slot at once, and is small enough to stay in the cache of the processor.
 * Windows start small, so that a LIMIT of ten rows does not convert two
 * thousand.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "cache/value_image.h"
#include "query/execute/result_slot.h"

#define WINDOW_ROWS_FIRST 16
#define WINDOW_ROWS_MAX 1024
#define WINDOW_VALUES_MAX 8192
#define WINDOW_BYTES_MAX (16 * 1024 * 1024)

struct ResultWindow
{
	int			column_count;
	int			slot_columns;	/* they come first; the others are positions */
	int		   *outputs;		/* per column, negative: NULL */
	const ValueImage **images;	/* of its type; NULL: it has none, as of arrays and of the position */
	const Const **defaults;		/* per column: what is in the place of NULL, or NULL */
	FinishGroup finish;			/* makes the values of groups' rows; or NULL */
	void	   *groups;			/* its first argument */
	Datum	   *values;			/* rows_limit x column_count */
	bool	   *nulls;
	uint32		rows_limit;		/* that they have room for */
	MemoryContext context;
	MemoryContext strings;		/* of the current window */
	const PenumbraResult *result;
	PenumbraResult result_copy;
	uint32		window_begin;
	uint32		window_end;
	uint32		window_rows;	/* of the next window */
	uint32		next_row;
};

ResultWindow *
result_window_create(List *output_map, TupleDesc desc, List *positions)
{
	ResultWindow *window = palloc0(sizeof(ResultWindow));
	ListCell   *lc;

	window->slot_columns = list_length(output_map);
	window->column_count = window->slot_columns + list_length(positions);
	window->outputs = palloc(sizeof(int) * Max(window->column_count, 1));
	window->images = palloc0(sizeof(ValueImage *) * Max(window->column_count, 1));
	foreach(lc, output_map)
	{
		int			c = foreach_current_index(lc);

		window->outputs[c] = lfirst_int(lc);
		window->images[c] = value_image_of(TupleDescAttr(desc, c)->atttypid);
	}
	foreach(lc, positions)
		window->outputs[window->slot_columns + foreach_current_index(lc)] = lfirst_int(lc);
	window->context = CurrentMemoryContext;
	window->strings = AllocSetContextCreate(CurrentMemoryContext, "Penumbra result strings",
											ALLOCSET_DEFAULT_SIZES);
	window->window_rows = WINDOW_ROWS_FIRST;
	return window;
}

void
result_window_set_finish(ResultWindow *window, FinishGroup finish, void *groups)
{
	window->finish = finish;
	window->groups = groups;
}

void
result_window_set_defaults(ResultWindow *window, List *default_map)
{
	ListCell   *lc;

	window->defaults = palloc0(sizeof(Const *) * Max(window->column_count, 1));
	foreach(lc, default_map)
		window->defaults[foreach_current_index(lc)] = lfirst(lc);
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

/* Makes values of images that are not the values; NULLs are converted. */
static void
convert_images(ResultWindow *window, const PenumbraResultColumn *column, const ValueImage *image, uint32 begin,
			   uint32 rows, Datum *values, const bool *nulls)
{
	int			stride = window->column_count;
	MemoryContext old = MemoryContextSwitchTo(window->strings);

	Assert(column->type == image->type);
	for (uint32 i = 0; i < rows; i++)
	{
		uint32		row = begin + i;

		if (nulls[(Size) i * stride])
			continue;
		values[(Size) i * stride] =
			image->type == PENUMBRA_TEXT || image->type == PENUMBRA_BPCHAR
			? value_image_read(image, (uint64) (uintptr_t) column->payloads[row], column->payload_lengths[row])
			: image->type == PENUMBRA_INT2
			? image->decode((uint64) ((const int16 *) column->values)[row], 0)
			: image->decode((uint64) ((const int64 *) column->values)[row], 0);
	}
	MemoryContextSwitchTo(old);
}

/* An array begins with the number of its dimensions, which has not this bit. */
static bool
is_of_group(Datum value)
{
	return (((const PenumbraGroupRows *) VARDATA(DatumGetPointer(value)))->label & PENUMBRA_GROUP_ROWS) != 0;
}

static void
finish_collected(ResultWindow *window, uint32 rows, Datum *values, bool *nulls)
{
	int			stride = window->column_count;
	MemoryContext old = MemoryContextSwitchTo(window->strings);

	for (uint32 i = 0; i < rows; i++)
	{
		Size		place = (Size) i * stride;

		if (!nulls[place] && is_of_group(values[place]))
			values[place] = window->finish(window->groups, values[place], &nulls[place]);
	}
	MemoryContextSwitchTo(old);
}

/* The row before has the same payload, as rows of a dictionary's value and of one partition of a window have. */
static pg_attribute_always_inline bool
is_that_before(const PenumbraResultColumn *column, uint32 row)
{
	return column->payloads[row] == column->payloads[row - 1] &&
		column->payload_lengths[row] == column->payload_lengths[row - 1] &&
		(column->nulls == NULL || !column->nulls[row - 1]);
}

/* Gives every payload a varlena header. */
static void
convert_payloads(ResultWindow *window, const PenumbraResultColumn *column, uint32 begin,
				 uint32 rows, Datum *values, const bool *nulls)
{
	const uint32 *lengths = column->payload_lengths + begin;
	const Size	alignment = column->type == PENUMBRA_ARRAY ? MAXIMUM_ALIGNOF : ALIGNOF_INT;
	int			stride = window->column_count;
	Size		bytes = 0;
	char	   *next;

	for (uint32 i = 0; i < rows; i++)
	{
		if (!nulls[(Size) i * stride] && (i == 0 || !is_that_before(column, begin + i)))
			bytes += TYPEALIGN(alignment, VARHDRSZ + (Size) lengths[i]);
	}
	if (bytes == 0)
		return;
	next = MemoryContextAllocHuge(window->strings, bytes);
	for (uint32 i = 0; i < rows; i++)
	{
		if (nulls[(Size) i * stride])
			continue;
		if (i > 0 && is_that_before(column, begin + i))
		{
			values[(Size) i * stride] = values[(Size) (i - 1) * stride];
			continue;
		}
		SET_VARSIZE(next, VARHDRSZ + lengths[i]);
		memcpy(VARDATA(next), column->payloads[begin + i], lengths[i]);
		values[(Size) i * stride] = PointerGetDatum(next);
		next += TYPEALIGN(alignment, VARHDRSZ + (Size) lengths[i]);
	}
}

static void
convert_nulls(const PenumbraResultColumn *column, uint32 begin, uint32 rows, int stride, bool *nulls)
{
	if (column->nulls == NULL)
		for (uint32 i = 0; i < rows; i++)
			nulls[(Size) i * stride] = false;
	else
		for (uint32 i = 0; i < rows; i++)
			nulls[(Size) i * stride] = column->nulls[begin + i] != 0;
}

/* A NULL's value is whatever the engine left there. */
#define CONVERT_VALUES(ctype, to_datum) \
	do { \
		const ctype *from = (const ctype *) column->values + begin; \
\
		for (uint32 i = 0; i < rows; i++) \
			values[(Size) i * stride] = to_datum(from[i]); \
	} while (0)

/* Column c of the window; `values` and `nulls` are those of its first row. */
static void
convert_column(ResultWindow *window, const PenumbraResultColumn *column, int c, uint32 begin, uint32 rows,
			   Datum *values, bool *nulls)
{
	const ValueImage *image = window->images[c];
	int			stride = window->column_count;

	if (column == NULL || (column->values == NULL && column->payloads == NULL))
	{
		for (uint32 i = 0; i < rows; i++)
			nulls[(Size) i * stride] = true;
		return;
	}
	convert_nulls(column, begin, rows, stride, nulls);
	/* the engine makes arrays, too */
	if (image != NULL && value_image_is_other(image) && column->type != PENUMBRA_ARRAY)
	{
		convert_images(window, column, image, begin, rows, values, nulls);
		return;
	}
	switch (column->type)
	{
		case PENUMBRA_BOOL:
			CONVERT_VALUES(uint8, BoolGetDatum);
			break;
		case PENUMBRA_INT2:
			CONVERT_VALUES(int16, Int16GetDatum);
			break;
		case PENUMBRA_INT4:
		case PENUMBRA_DATE:
			CONVERT_VALUES(int32, Int32GetDatum);
			break;
		case PENUMBRA_FLOAT4:
			CONVERT_VALUES(float4, Float4GetDatum);
			break;
		case PENUMBRA_INT8:
		case PENUMBRA_TIMESTAMP:
		case PENUMBRA_TIMESTAMPTZ:
			CONVERT_VALUES(int64, Int64GetDatum);
			break;
		case PENUMBRA_FLOAT8:
			CONVERT_VALUES(float8, Float8GetDatum);
			break;
		case PENUMBRA_UUID:
		case PENUMBRA_INTERVAL:
			for (uint32 i = 0; i < rows; i++)
				values[(Size) i * stride] =
					PointerGetDatum((const char *) column->values + 16 * (Size) (begin + i));
			break;
		case PENUMBRA_NUMERIC:
		case PENUMBRA_TEXT:
		case PENUMBRA_BPCHAR:
			convert_payloads(window, column, begin, rows, values, nulls);
			break;
		case PENUMBRA_ARRAY:
			convert_payloads(window, column, begin, rows, values, nulls);
			if (window->finish != NULL)
				finish_collected(window, rows, values, nulls);
			break;
	}
}

static void
put_default(const Const *constant, uint32 rows, int stride, Datum *values, bool *nulls)
{
	for (uint32 i = 0; i < rows; i++)
	{
		Size		place = (Size) i * stride;

		if (!nulls[place])
			continue;
		values[place] = constant->constvalue;
		nulls[place] = constant->constisnull;
	}
}

static void
make_room(ResultWindow *window, uint32 rows)
{
	Size		count = (Size) rows * Max(window->column_count, 1);

	if (rows <= window->rows_limit)
		return;
	if (window->values != NULL)
	{
		pfree(window->values);
		pfree(window->nulls);
	}
	window->values = MemoryContextAllocZero(window->context, sizeof(Datum) * count);
	window->nulls = MemoryContextAlloc(window->context, sizeof(bool) * count);
	window->rows_limit = rows;
}

/* Fewer rows, at least one, where the payloads of so many are large. */
static uint32
rows_within_bytes(const PenumbraResultColumn *column, uint32 begin, uint32 rows)
{
	Size		bytes = 0;

	if (column->payloads == NULL || column->payload_lengths == NULL)
		return rows;
	for (uint32 i = 0; i < rows; i++)
	{
		if (i > 0 && is_that_before(column, begin + i))
			continue;
		bytes += column->nulls == NULL || !column->nulls[begin + i] ? column->payload_lengths[begin + i] : 0;
		if (bytes > WINDOW_BYTES_MAX && i > 0)
			return i;
	}
	return rows;
}

static bool
next_window(ResultWindow *window)
{
	const PenumbraResult *result = window->result;
	uint32		rows = Min(window->window_rows, result->rows - window->window_end);
	uint32		rows_max = WINDOW_VALUES_MAX / Max(window->column_count, 1);

	if (rows == 0)
		return false;
	for (int c = 0; c < window->column_count; c++)
	{
		if (window->outputs[c] >= 0)
			rows = rows_within_bytes(&result->columns[window->outputs[c]], window->window_end, rows);
	}
	make_room(window, rows);
	MemoryContextReset(window->strings);
	for (int c = 0; c < window->column_count; c++)
	{
		convert_column(window,
					   window->outputs[c] < 0 ? NULL : &result->columns[window->outputs[c]],
					   c, window->window_end, rows, window->values + c, window->nulls + c);
		if (window->defaults != NULL && window->defaults[c] != NULL)
			put_default(window->defaults[c], rows, window->column_count, window->values + c, window->nulls + c);
	}
	window->window_begin = window->window_end;
	window->window_end += rows;
	rows_max = Max(Min(rows_max, WINDOW_ROWS_MAX), WINDOW_ROWS_FIRST);
	/* The more rows were read, the more are likely to be. */
	window->window_rows = Min(window->window_rows * 4, rows_max);
	return true;
}

bool
result_window_next(ResultWindow *window, TupleTableSlot *slot)
{
	int			count = window->slot_columns;
	Size		first;

	if (window->result == NULL)
		return false;
	if (window->next_row == window->window_end && !next_window(window))
	{
		window->result = NULL;
		return false;
	}
	first = (Size) (window->next_row++ - window->window_begin) * window->column_count;
	ExecClearTuple(slot);
	memcpy(slot->tts_values, window->values + first, sizeof(Datum) * count);
	memcpy(slot->tts_isnull, window->nulls + first, sizeof(bool) * count);
	for (int c = count; c < slot->tts_tupleDescriptor->natts; c++)
		slot->tts_isnull[c] = true;
	ExecStoreVirtualTuple(slot);
	return true;
}

bool
result_window_position(const ResultWindow *window, int n, int64 *position)
{
	Size		row = window->next_row - 1 - window->window_begin;
	Size		value = row * window->column_count + window->slot_columns + n;

	*position = DatumGetInt64(window->values[value]);
	return !window->nulls[value];
}

void
result_slot_take(TupleTableSlot *slot, TupleTableSlot *row, int column_count)
{
	slot_getallattrs(row);
	ExecClearTuple(slot);
	memcpy(slot->tts_values, row->tts_values, sizeof(Datum) * column_count);
	memcpy(slot->tts_isnull, row->tts_isnull, sizeof(bool) * column_count);
}
