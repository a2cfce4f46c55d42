/*-------------------------------------------------------------------------
 *
 * heap_page.c
 *	  Deforms heap pages into engine rows.
 *
 * The walk over a tuple is compiled once per reader: wanted attributes whose
 * offset is the same in every tuple (fixed-width ones before the first
 * variable-width or nullable-and-null one) are fetched directly, the others
 * by walking from there up to the last wanted attribute, and no further.
 *
 * Buffer content locks are held only while deciding which tuples are visible.
 * Values are read afterwards under the pin alone, which is enough where the page
 * was locked once since it was pinned: tuple data of a visible tuple does not
 * change, and pruning needs a cleanup lock.  This is also what makes detoasting
 * (which reads other pages) safe here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "cache/cache.h"
#include "cache/cacheable.h"
#include "cache/cached_expression.h"
#include "cache/heap_page.h"
#include "cache/json_conversion.h"
#include "cache/list_image.h"
#include "cache/slow_expression.h"
#include "cache/status.h"
#include "cache/table_sample.h"
#include "cache/value_image.h"
#include "pg_compat.h"

/*
 * A page with larger values than these on average is not cached.  The time to
 * read them is that of their bytes, cached or not, and a vector of 2048 rows
 * of them is all that an execution can be asked to hold: 32 MB.
 */
#define IMAGE_DETOASTED_BYTES_PER_ROW	((Size) 16 * 1024)

/* Of a page that comes next so many cache lines are prefetched. */
#define PREFETCH_LINES	4
#define CACHE_LINE_BYTES	64

typedef enum FetchKind
{
	FETCH_INT8BIT,
	FETCH_INT16,
	FETCH_INT32,
	FETCH_INT64,
	FETCH_POINTER,				/* fixed width, by reference */
	FETCH_VARLENA,
	FETCH_IMAGE,				/* of any value */
} FetchKind;

/* One attribute of the walk. */
typedef struct AttributeStep
{
	int16		length;			/* attlen */
	uint8		align_mask;		/* alignment - 1 */
	bool		is_by_value;
	uint8		fetch;			/* FetchKind; meaningless unless wanted */
	const ValueImage *image;	/* of FETCH_IMAGE */
	int			column;			/* index in the reader's columns, -1: only skipped */
	int			offset;			/* when the same in each tuple without nulls, else -1 */
} AttributeStep;

/* Where the values of one page go. */
typedef struct ReaderColumn
{
	uint64	   *values;
	uint32	   *lengths;
	uint8	   *nulls;
	bool		has_nulls;		/* in this page */
	/* what a tuple older than the column has */
	bool		missing_is_null;
	uint64		missing_value;
	uint32		missing_length;
} ReaderColumn;

/* A column that is no attribute: PostgreSQL evaluates it. */
typedef struct ReaderExpression
{
	int			column;
	ColumnKey	key;
	ExprState  *state;			/* of a set-returning function its argument */
	ListMaker  *list;			/* NULL: of any other expression */
	const ValueImage *image;
	int16		length;			/* of its type */
	bool		is_by_value;
} ReaderExpression;

struct HeapRowReader
{
	Relation	rel;
	MemoryContext context;
	MemoryContext detoast_context;	/* reset per page */
	BufferAccessStrategy strategy;
	int			ncolumns;
	ReaderColumn *columns;
	PenumbraColumnInput *inputs;
	int			nsteps;			/* the last wanted attribute's number */
	AttributeStep *steps;
	int			ndirect;		/* wanted steps with a constant offset */
	int		   *direct;
	int			walk_start;		/* first step whose offset varies */
	int			walk_offset;	/* where it starts, unaligned */
	int			nexpressions;
	ReaderExpression *expressions;
	bool		can_fail;		/* one of them can */
	Bitmapset  *long_attributes;	/* of varying length, that these read */
	int			last_attribute; /* that these read */
	TupleTableSlot *slot;
	ExprContext *econtext;
	Size		detoasted_bytes;	/* in detoast_context */
	Size		detoasted_bytes_limit;
	bool		is_too_wide;	/* the page has more, and was not read to its end */
	/* the open page */
	Buffer		buffer;
	uint32		next_tuple;
	uint32		tuple_count;
	OffsetNumber tuples_at[MaxHeapTuplesPerPage];
	CompatPages pages;		/* none where next_block is NULL */
	Buffer		next_buffer;	/* the page after it, pinned so that its memory is on its way */
	uint64	   *positions;		/* of the rows, a column after the others; NULL: none */
	uint64		table_bits;		/* in each */
	const TableSample *sample;	/* NULL: all rows */
	bool		is_asked_for_tuples;
	PenumbraTuples *tuples;		/* NULL: not asked for, or not possible */
	MemoryContextCallback tuples_callback;
};

static uint8
align_mask_of(char attalign)
{
	switch (attalign)
	{
		case TYPALIGN_CHAR:
			return 0;
		case TYPALIGN_SHORT:
			return ALIGNOF_SHORT - 1;
		case TYPALIGN_INT:
			return ALIGNOF_INT - 1;
		default:
			return ALIGNOF_DOUBLE - 1;
	}
}

static FetchKind
fetch_kind_of(Form_pg_attribute att, const ValueImage *image)
{
	if (image != NULL && image->decode != NULL)
		return FETCH_IMAGE;
	if (att->attlen == -1)
		return FETCH_VARLENA;
	if (!att->attbyval)
		return FETCH_POINTER;
	switch (att->attlen)
	{
		case 1:
			return FETCH_INT8BIT;
		case 2:
			return FETCH_INT16;
		case 4:
			return FETCH_INT32;
		default:
			return FETCH_INT64;
	}
}

/* NULL: the page has too many such bytes. */
static const char *
detoast(HeapRowReader *reader, const char *data)
{
	MemoryContext old;
	Size		bytes = toast_raw_datum_size(PointerGetDatum(data));

	if (reader->detoasted_bytes + bytes > reader->detoasted_bytes_limit)
	{
		reader->is_too_wide = true;
		return NULL;
	}
	old = MemoryContextSwitchTo(reader->detoast_context);
	data = (const char *) detoast_attr((struct varlena *) unconstify(char *, data));
	MemoryContextSwitchTo(old);
	reader->detoasted_bytes += bytes;
	return data;
}

/* The varlena, neither compressed nor out of line; NULL: as from detoast(). */
static pg_attribute_always_inline const char *
plain_varlena(HeapRowReader *reader, const char *data)
{
	/* a toast pointer has a short header too */
	if (likely((VARATT_IS_SHORT(data) && !VARATT_IS_EXTERNAL(data)) || VARATT_IS_4B_U(data)))
		return data;
	return detoast(reader, data);
}

/* What an image allocates counts as detoasted. */
static void
fetch_image(HeapRowReader *reader, const AttributeStep *step, const char *data, uint64 *value, uint32 *length)
{
	MemoryContext old;
	Datum		datum;

	if (step->length == -1 && (data = plain_varlena(reader, data)) == NULL)
	{
		*length = 0;
		return;
	}
	old = MemoryContextSwitchTo(reader->detoast_context);
	datum = fetch_att(data, step->is_by_value, step->length);
	*value = step->image->encode != NULL ? step->image->encode(datum, length)
		: value_image_make(step->image, datum, length);
	MemoryContextSwitchTo(old);
	if (step->image->type == PENUMBRA_TEXT)
		reader->detoasted_bytes += *length;
}

/* Points a column at a value; varlenas are detoasted into detoast_context. */
static pg_attribute_always_inline void
fetch_value(HeapRowReader *reader, const AttributeStep *step, const char *data, uint64 *value, uint32 *length)
{
	switch ((FetchKind) step->fetch)
	{
		case FETCH_INT8BIT:
			*value = (uint64) (int64) *(const int8 *) data;
			break;
		case FETCH_INT16:
			*value = (uint64) (int64) *(const int16 *) data;
			break;
		case FETCH_INT32:
			*value = (uint64) (int64) *(const int32 *) data;
			break;
		case FETCH_INT64:
			*value = *(const uint64 *) data;
			break;
		case FETCH_POINTER:
			*value = (uint64) (uintptr_t) data;
			break;
		case FETCH_VARLENA:
			data = plain_varlena(reader, data);
			*length = data == NULL ? 0 : VARSIZE_ANY_EXHDR(data);
			if (data != NULL)
				*value = (uint64) (uintptr_t) VARDATA_ANY(data);
			break;
		case FETCH_IMAGE:
			fetch_image(reader, step, data, value, length);
			break;
	}
}

/* The value that rows stored before the column was added have. */
static void
set_missing_value(HeapRowReader *reader, ReaderColumn *column, Form_pg_attribute att, const AttributeStep *step)
{
	Datum		missing = getmissingattr(RelationGetDescr(reader->rel), att->attnum,
										 &column->missing_is_null);
	MemoryContext detoast_context = reader->detoast_context;
	Size		bytes;
	char	   *copy;

	if (column->missing_is_null)
		return;
	/* a copy, because relcache rebuilds free the tuple descriptor's; as it would be in a tuple */
	bytes = datumGetSize(missing, att->attbyval, att->attlen);
	copy = MemoryContextAlloc(reader->context, bytes);
	if (att->attbyval)
		store_att_byval(copy, missing, att->attlen);
	else
		memcpy(copy, DatumGetPointer(missing), bytes);
	reader->detoast_context = reader->context;
	fetch_value(reader, step, copy, &column->missing_value, &column->missing_length);
	reader->detoast_context = detoast_context;
	reader->detoasted_bytes = 0;
}

/*
 * Columns before the first one of varying length have fixed offsets and are fetched
 * directly. From that one on, at walk_start, a tuple is walked attribute by
 * attribute.
 */
static void
compile_walk(HeapRowReader *reader)
{
	TupleDesc	desc = RelationGetDescr(reader->rel);
	int			offset = 0;

	reader->walk_start = reader->nsteps;
	for (int i = 0; i < reader->nsteps; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		AttributeStep *step = &reader->steps[i];

		step->length = att->attlen;
		step->align_mask = align_mask_of(att->attalign);
		step->offset = -1;
		if (offset < 0)
			continue;
		if (att->attlen <= 0)
		{
			reader->walk_start = i;
			reader->walk_offset = offset;
			offset = -1;
			continue;
		}
		step->offset = (offset + step->align_mask) & ~(int) step->align_mask;
		offset = step->offset + att->attlen;
		if (step->column >= 0)
			reader->direct[reader->ndirect++] = i;
	}
}

static void
add_expression(HeapRowReader *reader, int column, ColumnKey key)
{
	TupleDesc	desc = RelationGetDescr(reader->rel);
	ReaderExpression *expression = &reader->expressions[reader->nexpressions++];
	Expr	   *expr = copyObject(cached_expression_get(key, desc));
	Bitmapset  *attributes;
	Oid			type;
	int			attribute = -1;

	if (expr == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a cached expression of relation \"%s\" does not exist any more",
						RelationGetRelationName(reader->rel))));
	if (reader->slot == NULL)
	{
		/* a descriptor that counts no references */
		reader->slot = MakeSingleTupleTableSlot(CreateTupleDescCopyConstr(desc), &TTSOpsHeapTuple);
		reader->econtext = CreateStandaloneExprContext();
		reader->econtext->ecxt_scantuple = reader->slot;
	}
	attributes = cached_expression_attributes(key);
	while ((attribute = bms_next_member(attributes, attribute)) >= 0)
	{
		reader->last_attribute = Max(reader->last_attribute, attribute);
		if (TupleDescAttr(desc, attribute - 1)->attlen == -1)
			reader->long_attributes = bms_add_member(reader->long_attributes, attribute);
	}
	expression->column = column;
	expression->key = key;
	reader->can_fail |= cacheable_can_fail((Node *) expr);
	type = exprType((Node *) expr);
	if (list_image_is_set((Node *) expr))
	{
		expression->list = list_maker_create((Node *) expr, reader->econtext);
		expression->state = list_maker_argument(expression->list);
		type = LIST_IMAGE_TYPE;
	}
	else
		expression->state = ExecInitExpr((Expr *) json_conversion_expand((Node *) expr), NULL);
	expression->image = value_image_of(type);
	get_typlenbyval(type, &expression->length, &expression->is_by_value);
}

/* Everything lives in a context of the reader's own. The arrays have room for the rows of one page. */
HeapRowReader *
heap_row_reader_create(Relation rel, const ColumnKey *columns, int ncolumns)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "penumbra row reader",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	HeapRowReader *reader = palloc0(sizeof(HeapRowReader));
	TupleDesc	desc = RelationGetDescr(rel);

	reader->rel = rel;
	reader->context = context;
	reader->detoast_context = AllocSetContextCreate(context, "penumbra detoasted values",
													ALLOCSET_DEFAULT_SIZES);
	if (RelationGetNumberOfBlocks(rel) > NBuffers / 4)
		reader->strategy = GetAccessStrategy(BAS_BULKREAD);
	reader->ncolumns = ncolumns;
	reader->detoasted_bytes_limit = SIZE_MAX;
	reader->columns = palloc0(sizeof(ReaderColumn) * Max(ncolumns, 1));
	reader->inputs = palloc0(sizeof(PenumbraColumnInput) * (ncolumns + 1));
	for (int i = 0; i < ncolumns; i++)
	{
		if (!column_key_is_expression(columns[i]))
			reader->nsteps = Max(reader->nsteps, column_key_attribute(columns[i], desc)->attnum);
	}
	reader->expressions = palloc0(sizeof(ReaderExpression) * Max(ncolumns, 1));
	reader->steps = palloc0(sizeof(AttributeStep) * Max(reader->nsteps, 1));
	reader->direct = palloc0(sizeof(int) * Max(ncolumns, 1));
	for (int i = 0; i < reader->nsteps; i++)
		reader->steps[i].column = -1;
	for (int i = 0; i < ncolumns; i++)
	{
		ReaderColumn *column = &reader->columns[i];
		Form_pg_attribute att = column_key_attribute(columns[i], desc);
		AttributeStep *step;

		column->values = palloc(sizeof(uint64) * MaxHeapTuplesPerPage);
		column->lengths = palloc(sizeof(uint32) * MaxHeapTuplesPerPage);
		column->nulls = palloc(MaxHeapTuplesPerPage);
		if (att == NULL)
		{
			add_expression(reader, i, columns[i]);
			continue;
		}
		step = &reader->steps[att->attnum - 1];
		step->column = i;
		step->is_by_value = att->attbyval;
		step->image = value_image_of(att->atttypid);
		step->fetch = fetch_kind_of(att, step->image);
		step->length = att->attlen;
		set_missing_value(reader, column, att, step);
	}
	compile_walk(reader);
	MemoryContextSwitchTo(old);
	return reader;
}

static inline void
store_null(ReaderColumn *column, uint32 row)
{
	if (!column->has_nulls)
	{
		memset(column->nulls, 0, MaxHeapTuplesPerPage);
		column->has_nulls = true;
	}
	column->nulls[row] = 1;
}

static void
store_missing(HeapRowReader *reader, int first_step, uint32 row)
{
	for (int i = first_step; i < reader->nsteps; i++)
	{
		ReaderColumn *column;

		if (reader->steps[i].column < 0)
			continue;
		column = &reader->columns[reader->steps[i].column];
		if (column->missing_is_null)
			store_null(column, row);
		else
		{
			column->values[row] = column->missing_value;
			column->lengths[row] = column->missing_length;
		}
	}
}

/* Deforms one tuple into row `row` of the page's columns. */
static void
deform_tuple(HeapRowReader *reader, HeapTupleHeader tuple, uint32 row)
{
	const char *data = (const char *) tuple + tuple->t_hoff;
	const uint8 *null_bits = (tuple->t_infomask & HEAP_HASNULL) ? tuple->t_bits : NULL;
	int			natts = Min(HeapTupleHeaderGetNatts(tuple), reader->nsteps);
	int			i = 0;
	uint32		offset = 0;

	if (null_bits == NULL && natts >= reader->walk_start)
	{
		for (int d = 0; d < reader->ndirect; d++)
		{
			AttributeStep *step = &reader->steps[reader->direct[d]];
			ReaderColumn *column = &reader->columns[step->column];

			fetch_value(reader, step, data + step->offset, &column->values[row], &column->lengths[row]);
		}
		i = reader->walk_start;
		offset = reader->walk_offset;
	}
	for (; i < natts; i++)
	{
		AttributeStep *step = &reader->steps[i];

		if (null_bits != NULL && att_isnull(i, null_bits))
		{
			if (step->column >= 0)
				store_null(&reader->columns[step->column], row);
			continue;
		}
		/* a non-zero byte where a varlena may start is a short header, which is not aligned */
		if (step->length != -1 || data[offset] == 0)
			offset = (offset + step->align_mask) & ~(uint32) step->align_mask;
		if (step->column >= 0)
		{
			ReaderColumn *column = &reader->columns[step->column];

			fetch_value(reader, step, data + offset, &column->values[row], &column->lengths[row]);
		}
		if (step->length > 0)
			offset += step->length;
		else
			offset = att_addlength_pointer(offset, step->length, data + offset);
	}
	if (unlikely(natts < reader->nsteps))
		store_missing(reader, natts, row);
}

/* Evaluates the columns that are no attributes. */
static void
evaluate_expressions(HeapRowReader *reader, HeapTupleHeader header, uint32 length, uint32 row)
{
	HeapTupleData tuple = {.t_len = length,.t_data = header};
	int			attribute = -1;
	MemoryContext old;

	ItemPointerSetInvalid(&tuple.t_self);
	ResetExprContext(reader->econtext);
	ExecStoreHeapTuple(&tuple, reader->slot, false);
	slot_getsomeattrs(reader->slot, reader->last_attribute);
	/* each function that reads a document would detoast it anew */
	old = MemoryContextSwitchTo(reader->econtext->ecxt_per_tuple_memory);
	while ((attribute = bms_next_member(reader->long_attributes, attribute)) >= 0)
	{
		if (!reader->slot->tts_isnull[attribute - 1])
			reader->slot->tts_values[attribute - 1] =
				PointerGetDatum(PG_DETOAST_DATUM(reader->slot->tts_values[attribute - 1]));
	}
	MemoryContextSwitchTo(old);
	for (int i = 0; i < reader->nexpressions; i++)
	{
		const ReaderExpression *expression = &reader->expressions[i];
		ReaderColumn *column = &reader->columns[expression->column];
		bool		is_null;
		Datum		value;

		slow_expression_evaluated = i;
		value = ExecEvalExprSwitchContext(expression->state, reader->econtext, &is_null);
		CHECK_FOR_INTERRUPTS();
		if (is_null)
		{
			store_null(column, row);
			continue;
		}
		if (expression->list != NULL)
		{
			old = MemoryContextSwitchTo(reader->econtext->ecxt_per_tuple_memory);
			value = list_maker_make(expression->list, value);
			MemoryContextSwitchTo(old);
		}
		old = MemoryContextSwitchTo(reader->detoast_context);
		if (!expression->is_by_value)
		{
			reader->detoasted_bytes += datumGetSize(value, false, expression->length);
			value = datumCopy(value, false, expression->length);
		}
		column->values[row] = value_image_make(expression->image, value, &column->lengths[row]);
		MemoryContextSwitchTo(old);
	}
	slow_expression_evaluated = -1;
	ExecClearTuple(reader->slot);
	reader->is_too_wide |= reader->detoasted_bytes > reader->detoasted_bytes_limit;
}

static void
release_detoasted(HeapRowReader *reader)
{
	if (reader->detoasted_bytes > 0)
		MemoryContextReset(reader->detoast_context);
	reader->detoasted_bytes = 0;
	reader->is_too_wide = false;
}

static uint32
read_tuples(HeapRowReader *reader, Page page, const OffsetNumber *offsets, uint32 count, Size bytes_limit)
{
	uint32		row = 0;

	for (int c = 0; c < reader->ncolumns; c++)
		reader->columns[c].has_nulls = false;
	while (row < count && reader->detoasted_bytes < bytes_limit && !reader->is_too_wide)
	{
		ItemId		item = PageGetItemId(page, offsets[row]);
		HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);

		deform_tuple(reader, tuple, row);
		if (reader->nexpressions > 0)
			evaluate_expressions(reader, tuple, ItemIdGetLength(item), row);
		row++;
	}
	return row;
}

/* Remembers which expression has failed, or took too long. */
static uint32
read_tuples_or_note(HeapRowReader *reader, Page page, const OffsetNumber *offsets, uint32 count, Size bytes_limit)
{
	MemoryContext context = CurrentMemoryContext;
	volatile uint32 rows = 0;

	slow_expression_evaluated = -1;
	PG_TRY();
	{
		rows = read_tuples(reader, page, offsets, count, bytes_limit);
	}
	PG_CATCH();
	{
		if (slow_expression_evaluated >= 0)
			slow_expression_note_error(reader->rel, reader->expressions[slow_expression_evaluated].key, context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	return rows;
}

/*
 * Appends the tuples at the given offsets up to the first that exceeds
 * bytes_limit with its detoasted bytes, and returns how many; the page is a
 * pinned buffer's or a private copy.  None: it has more toasted bytes than the
 * reader's limit.
 */
static uint32
append_tuples(HeapRowReader *reader, Page page, const OffsetNumber *offsets, uint32 count,
			  Size bytes_limit, PenumbraRows *rows)
{
	PenumbraStatus status;

	if (count == 0)
		return 0;
	count = (reader->nexpressions > 0 ? read_tuples_or_note : read_tuples) (reader, page, offsets, count, bytes_limit);
	if (reader->is_too_wide)
	{
		release_detoasted(reader);
		return 0;
	}
	for (int c = 0; c < reader->ncolumns; c++)
	{
		ReaderColumn *column = &reader->columns[c];

		reader->inputs[c].values = column->values;
		reader->inputs[c].lengths = column->lengths;
		reader->inputs[c].nulls = column->has_nulls ? column->nulls : NULL;
	}
	status = penumbra_rows_append(rows, reader->inputs, count);
	release_detoasted(reader);
	if (status.code != PENUMBRA_OK)
		status_report(&status);
	return count;
}

uint32
heap_page_offsets(Page page, OffsetNumber *offsets)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	uint32		count = 0;

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		if (ItemIdIsNormal(PageGetItemId(page, offset)))
			offsets[count++] = offset;
	}
	return count;
}

bool
heap_row_reader_append_image(HeapRowReader *reader, Page page, PenumbraRows *rows,
							 uint32 *row_count)
{
	OffsetNumber offsets[MaxHeapTuplesPerPage];

	*row_count = heap_page_offsets(page, offsets);
	return heap_row_reader_append_narrow(reader, page, offsets, *row_count, rows);
}

bool
heap_row_reader_append_narrow(HeapRowReader *reader, Page page, const OffsetNumber *offsets,
							  uint32 count, PenumbraRows *rows)
{
	uint32		appended;

	reader->detoasted_bytes_limit = IMAGE_DETOASTED_BYTES_PER_ROW * count;
	appended = append_tuples(reader, page, offsets, count, SIZE_MAX, rows);
	reader->detoasted_bytes_limit = SIZE_MAX;
	return appended == count;
}

void
heap_row_reader_append_offsets(HeapRowReader *reader, Page page, const OffsetNumber *offsets,
							   uint32 count, PenumbraRows *rows)
{
	(void) append_tuples(reader, page, offsets, count, SIZE_MAX, rows);
}

/* Which tuples of a share-locked page the snapshot sees. */
static uint32
find_visible_tuples(Relation rel, Buffer buffer, BlockNumber block, Snapshot snapshot,
					OffsetNumber *offsets)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	uint32		count = 0;
	bool		checks_conflicts = CheckForSerializableConflictOutNeeded(rel, snapshot);
	bool		all_visible;

	compat_test_old_snapshot(snapshot, rel, page);

	/* on a standby the flag may have come with a full-page image ahead of its WAL record */
	all_visible = PageIsAllVisible(page) && !snapshot->takenDuringRecovery;
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleData tuple;
		bool		visible;

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		if (!checks_conflicts &&
			(all_visible || heap_tuple_is_plainly_visible(tuple.t_data, snapshot)))
		{
			offsets[count++] = offset;
			continue;
		}
		tuple.t_tableOid = RelationGetRelid(rel);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, offset);
		visible = all_visible || HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer);
		HeapCheckForSerializableConflictOut(visible, rel, &tuple, buffer, snapshot);
		if (visible)
			offsets[count++] = offset;
	}
	return count;
}

void
heap_page_prefetch_tuples(Page page)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
		__builtin_prefetch((char *) page + ItemIdGetOffset(PageGetItemId(page, offset)));
}

void
heap_row_reader_set_pages(HeapRowReader *reader, BlockNumber (*next_block) (void *), void *argument)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);

	reader->pages = (CompatPages) {reader->rel, reader->strategy, next_block, argument};
	compat_begin_pages(&reader->pages);
	MemoryContextSwitchTo(old);
}

/* Not the page after it, which is likely to be opened next. */
static void
close_page(HeapRowReader *reader)
{
	if (BufferIsValid(reader->buffer))
		ReleaseBuffer(reader->buffer);
	reader->buffer = InvalidBuffer;
}

static void
pin_next_page(HeapRowReader *reader)
{
	char	   *page;

	reader->next_buffer = compat_next_page(&reader->pages);
	if (!BufferIsValid(reader->next_buffer))
		return;
	/* the header and the first line pointers */
	page = (char *) BufferGetPage(reader->next_buffer);
	for (int line = 0; line < PREFETCH_LINES; line++)
		__builtin_prefetch(page + line * CACHE_LINE_BYTES);
}

void
heap_row_reader_set_sample(HeapRowReader *reader, const TableSample *sample)
{
	reader->sample = sample;
}

static void
drop_unsampled(HeapRowReader *reader)
{
	BlockNumber block = BufferGetBlockNumber(reader->buffer);
	uint32		count = 0;

	for (uint32 i = 0; i < reader->tuple_count; i++)
	{
		if (table_sample_has_row(reader->sample, block, reader->tuples_at[i]))
			reader->tuples_at[count++] = reader->tuples_at[i];
	}
	reader->tuple_count = count;
}

bool
heap_row_reader_open_page(HeapRowReader *reader, Snapshot snapshot)
{
	close_page(reader);
	CHECK_FOR_INTERRUPTS();
	if (!BufferIsValid(reader->next_buffer))
		pin_next_page(reader);
	if (!BufferIsValid(reader->next_buffer))
		return false;
	reader->buffer = reader->next_buffer;
	reader->next_buffer = InvalidBuffer;
	/* line pointers may be moving, and then prefetch what is not needed */
	heap_page_prefetch_tuples(BufferGetPage(reader->buffer));
	pin_next_page(reader);
	compat_prune_page(reader->rel, reader->buffer);
	LockBuffer(reader->buffer, BUFFER_LOCK_SHARE);
	reader->tuple_count = find_visible_tuples(reader->rel, reader->buffer, BufferGetBlockNumber(reader->buffer),
											  snapshot, reader->tuples_at);
	LockBuffer(reader->buffer, BUFFER_LOCK_UNLOCK);
	if (reader->sample != NULL)
		drop_unsampled(reader);
	reader->next_tuple = 0;
	return true;
}

uint32
heap_row_reader_open_rows(HeapRowReader *reader, const ItemPointerData *rows, uint32 count)
{
	BlockNumber block = ItemPointerGetBlockNumber(&rows[0]);
	uint32		n = 0;

	close_page(reader);
	CHECK_FOR_INTERRUPTS();
	reader->buffer = ReadBufferExtended(reader->rel, MAIN_FORKNUM, block, RBM_NORMAL,
										reader->strategy);
	for (; n < count && ItemPointerGetBlockNumber(&rows[n]) == block; n++)
		reader->tuples_at[n] = ItemPointerGetOffsetNumber(&rows[n]);
	reader->tuple_count = n;
	reader->next_tuple = 0;
	/* rule W7: who began to move tuples before this pin holds the page's lock until they are in place */
	LockBuffer(reader->buffer, BUFFER_LOCK_SHARE);
	LockBuffer(reader->buffer, BUFFER_LOCK_UNLOCK);
	return n;
}

int64
heap_row_position(BlockNumber block, OffsetNumber offset)
{
	return POSITION_IS_OF_HEAP | (int64) block << 16 | offset;
}

void
heap_row_reader_give_positions(HeapRowReader *reader, int table)
{
	reader->table_bits = (uint64) table << POSITION_TABLE_SHIFT;
	reader->positions = MemoryContextAlloc(reader->context, sizeof(uint64) * MaxHeapTuplesPerPage);
	reader->inputs[reader->ncolumns].values = reader->positions;
	reader->is_asked_for_tuples = true;
}

bool
heap_row_reader_can_fail(const HeapRowReader *reader)
{
	return reader->can_fail;
}

bool
heap_row_reader_append_rows(HeapRowReader *reader, PenumbraRows *rows, Size bytes_limit)
{
	BlockNumber block = BufferGetBlockNumber(reader->buffer);

	if (reader->positions != NULL)
		for (uint32 i = reader->next_tuple; i < reader->tuple_count; i++)
			reader->positions[i - reader->next_tuple] =
				(uint64) heap_row_position(block, reader->tuples_at[i]) | reader->table_bits;
	reader->next_tuple += append_tuples(reader, BufferGetPage(reader->buffer),
										reader->tuples_at + reader->next_tuple,
										reader->tuple_count - reader->next_tuple,
										Max(bytes_limit, 1), rows);
	return reader->next_tuple < reader->tuple_count;
}

void
heap_row_reader_close_page(HeapRowReader *reader)
{
	close_page(reader);
	if (BufferIsValid(reader->next_buffer))
		ReleaseBuffer(reader->next_buffer);
	reader->next_buffer = InvalidBuffer;
	if (reader->pages.next_block != NULL)
		compat_reset_pages(&reader->pages);
	if (reader->tuples != NULL)
		penumbra_tuples_clear(reader->tuples);
}

/* ---------------------------------------------------------------- tuples for the engine */

/*
 * Whether all values of an attribute are stored in the tuple as they are.  The
 * toaster neither compresses nor moves what is not larger than an aligned toast
 * pointer (toast_tuple_find_biggest_attribute), and a type modifier says how
 * large values can be.
 */
static bool
is_stored_plainly(Form_pg_attribute att)
{
	int32		size = att->atttypmod - VARHDRSZ;

	if (att->attlen > 0)
		return true;
	if (att->attlen != -1 || size < 0)
		return false;
	switch (att->atttypid)
	{
		case NUMERICOID:
			/* the longer header, and digits of base 10000 before and after the point */
			size = VARHDRSZ + 2 * sizeof(int16) + (((size >> 16) & 0xffff) + 6) / 4 * sizeof(int16);
			break;
		case BPCHAROID:
		case VARCHAROID:
			size = VARHDRSZ + Min(size, TOAST_POINTER_SIZE) * pg_database_encoding_max_length();
			break;
		default:
			return false;
	}
	return size <= MAXALIGN(TOAST_POINTER_SIZE);
}

static void
destroy_tuples(void *argument)
{
	penumbra_tuples_destroy(((HeapRowReader *) argument)->tuples);
}

/*
 * Describes header and attributes, so that the engine reads tuples itself. If it
 * cannot read how a column is stored, there is no description, and rows go through
 * the reader.
 */
static void
create_tuples(HeapRowReader *reader)
{
	TupleDesc	desc = RelationGetDescr(reader->rel);
	PenumbraTupleAttribute *attributes = palloc(sizeof(*attributes) * Max(reader->nsteps, 1));
	PenumbraTupleMissing *missing = palloc(sizeof(*missing) * Max(reader->ncolumns, 1));
	PenumbraType *types = palloc(sizeof(PenumbraType) * Max(reader->ncolumns, 1));
	PenumbraTupleLayout layout = {
		.attribute_count = reader->nsteps,
		.attributes = attributes,
		.missing = missing,
		.flags_at = offsetof(HeapTupleHeaderData, t_infomask),
		.has_nulls_flag = HEAP_HASNULL,
		.attribute_count_at = offsetof(HeapTupleHeaderData, t_infomask2),
		.attribute_count_mask = HEAP_NATTS_MASK,
		.data_offset_at = offsetof(HeapTupleHeaderData, t_hoff),
		.null_bits_at = offsetof(HeapTupleHeaderData, t_bits),
	};

	if (reader->nexpressions > 0)
		return;
	for (int i = 0; i < reader->nsteps; i++)
	{
		AttributeStep *step = &reader->steps[i];
		Form_pg_attribute att = TupleDescAttr(desc, i);
		ReaderColumn *column;

		attributes[i] = (PenumbraTupleAttribute) {step->length, step->align_mask + 1, step->column};
		if (step->column < 0)
			continue;
		if (!is_stored_plainly(att) || step->fetch == FETCH_IMAGE || step->image == NULL)
			return;
		types[step->column] = step->image->type;
		column = &reader->columns[step->column];
		missing[step->column] = (PenumbraTupleMissing) {column->missing_is_null, column->missing_value};
		if (step->fetch != FETCH_POINTER && step->fetch != FETCH_VARLENA)
			continue;
		missing[step->column].bytes = (const void *) (uintptr_t) column->missing_value;
		missing[step->column].length =
			step->fetch == FETCH_POINTER ? (uint32) step->length : column->missing_length;
	}
	reader->tuples = penumbra_tuples_create(&layout, types, reader->ncolumns);
	if (reader->tuples == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	reader->tuples_callback.func = destroy_tuples;
	reader->tuples_callback.arg = reader;
	MemoryContextRegisterResetCallback(reader->context, &reader->tuples_callback);
}

PenumbraTuples *
heap_row_reader_tuples(HeapRowReader *reader)
{
	MemoryContext old;

	if (reader->is_asked_for_tuples)
		return reader->tuples;
	reader->is_asked_for_tuples = true;
	old = MemoryContextSwitchTo(reader->context);
	create_tuples(reader);
	MemoryContextSwitchTo(old);
	return reader->tuples;
}

static void
append_memory(HeapRowReader *reader, const char *begin, Size bytes, const uint32 *offsets,
			  uint32 count)
{
	PenumbraStatus status = penumbra_tuples_append(reader->tuples, begin, bytes, offsets, count);

	if (status.code != PENUMBRA_OK)
		status_report(&status);
}

/* Neighbours go in one copy, unless most of it would be others' bytes. */
void
heap_row_reader_append_tuples(HeapRowReader *reader)
{
	Page		page = BufferGetPage(reader->buffer);
	uint32		offsets[MaxHeapTuplesPerPage];
	uint32		begin = BLCKSZ;
	uint32		end = 0;
	uint32		bytes = 0;

	for (uint32 i = 0; i < reader->tuple_count; i++)
	{
		ItemId		item = PageGetItemId(page, reader->tuples_at[i]);

		offsets[i] = ItemIdGetOffset(item);
		begin = Min(begin, offsets[i]);
		end = Max(end, offsets[i] + ItemIdGetLength(item));
		bytes += ItemIdGetLength(item);
	}
	if (bytes > 0 && end - begin <= 2 * bytes)
	{
		for (uint32 i = 0; i < reader->tuple_count; i++)
			offsets[i] -= begin;
		append_memory(reader, (char *) page + begin, end - begin, offsets, reader->tuple_count);
	}
	else
	{
		for (uint32 i = 0; i < reader->tuple_count; i++)
		{
			ItemId		item = PageGetItemId(page, reader->tuples_at[i]);
			uint32		offset = 0;

			append_memory(reader, (char *) PageGetItem(page, item), ItemIdGetLength(item), &offset, 1);
		}
	}
}

void
heap_row_reader_destroy(HeapRowReader *reader)
{
	heap_row_reader_close_page(reader);
	if (reader->pages.next_block != NULL)
		compat_end_pages(&reader->pages);
	if (reader->strategy != NULL)
		FreeAccessStrategy(reader->strategy);
	MemoryContextDelete(reader->context);
}
