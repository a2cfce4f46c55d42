/*-------------------------------------------------------------------------
 *
 * table_receiver.c
 *	  Rows of CREATE TABLE AS, put on pages or inserted in batches.
 *
 * PostgreSQL's receiver of CREATE TABLE AS inserts row by row: for each it
 * copies the row twice, looks for a page, locks it and writes a record of WAL.
 * This one leaves the table's creation and its end to that receiver.  It fills
 * pages itself (table_pages.h) up to the first row that may have to be toasted.
 * From there on, and where that may not be, it gives the rows to the table as
 * COPY FROM does, which locks a page and writes a record once for all rows of it.
 *
 * Of the table that the other receiver creates it says nothing to others; so
 * its OID comes from the object access hook, which is called for each object
 * that is created.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/tupmacs.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "query/execute/forwarding_receiver.h"
#include "query/execute/table_pages.h"
#include "query/execute/table_receiver.h"

/* How the column's values stand in a tuple. */
typedef struct ColumnLayout
{
	int16		length;			/* as attlen */
	uint8		alignment;		/* bytes */
	bool		is_by_value;
	bool		is_packable;	/* may have a header of one byte */
} ColumnLayout;

/* COPY FROM's: a batch fills some pages, and what it takes stays in the processor's cache. */
#define BATCH_ROWS_MAX 1000
#define BATCH_BYTES_MAX 65535

typedef struct TableReceiver
{
	ForwardingReceiver base;
	Relation	rel;			/* NULL: rows go to the original receiver */
	CommandId	command;
	BulkInsertState bulk_insert;
	MemoryContext context;		/* of the insertion of one batch */
	ColumnLayout *columns;
	Size		fixed_bytes;	/* of a row at most, varlenas aside */
	TablePages *pages;			/* NULL: rows are inserted in batches */
	HeapTuple	tuple;			/* memory for one on its way to a page */
	Size		tuple_bytes;	/* which tuple_bytes_max() exceeds only for those that no page takes */
	TupleTableSlot *slots[BATCH_ROWS_MAX];	/* made when first needed */
	int			row_count;
	Size		batch_bytes;
} TableReceiver;

static object_access_hook_type previous_object_access_hook;
static Oid	created_oid;

/* The table comes first, and then its toast table. */
static void
note_created(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *argument)
{
	if (previous_object_access_hook)
		previous_object_access_hook(access, class_id, object_id, sub_id, argument);
	if (access == OAT_POST_CREATE && class_id == RelationRelationId && sub_id == 0 && !OidIsValid(created_oid))
		created_oid = object_id;
}

static void
start_original(TableReceiver *receiver, int operation, TupleDesc desc)
{
	created_oid = InvalidOid;
	previous_object_access_hook = object_access_hook;
	object_access_hook = note_created;
	PG_TRY();
	{
		receiver->base.original->rStartup(receiver->base.original, operation, desc);
	}
	PG_FINALLY();
	{
		object_access_hook = previous_object_access_hook;
	}
	PG_END_TRY();
}

static void
note_columns(TableReceiver *receiver, TupleDesc desc)
{
	receiver->columns = palloc(sizeof(ColumnLayout) * Max(desc->natts, 1));
	receiver->fixed_bytes = MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(desc->natts));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		char		alignment = attribute->attalign;

		receiver->columns[i] = (ColumnLayout) {
			.length = attribute->attlen,
			.alignment = alignment == TYPALIGN_CHAR ? 1 : alignment == TYPALIGN_SHORT ? ALIGNOF_SHORT
			: alignment == TYPALIGN_INT ? ALIGNOF_INT : ALIGNOF_DOUBLE,
			.is_by_value = attribute->attbyval,
			.is_packable = attribute->attlen == -1 && attribute->attstorage != TYPSTORAGE_PLAIN
		};
		receiver->fixed_bytes += MAXIMUM_ALIGNOF + Max(attribute->attlen, 0);
	}
}

static void
startup(DestReceiver *self, int operation, TupleDesc desc)
{
	TableReceiver *receiver = (TableReceiver *) self;
	Relation	rel;

	start_original(receiver, operation, desc);
	if (!OidIsValid(created_oid))
		return;
	rel = table_open(created_oid, NoLock);
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
	{
		table_close(rel, NoLock);
		return;
	}
	receiver->rel = rel;
	receiver->command = GetCurrentCommandId(true);
	receiver->bulk_insert = GetBulkInsertState();
	receiver->context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra insertion", ALLOCSET_DEFAULT_SIZES);
	note_columns(receiver, desc);
	receiver->pages = table_pages_begin(rel, receiver->command);
	receiver->tuple_bytes = HEAPTUPLESIZE + receiver->fixed_bytes + desc->natts * VARHDRSZ +
		TABLE_PAGES_TUPLE_BYTES_MAX;
	receiver->tuple = palloc(receiver->tuple_bytes);
}

static void
insert_batch(TableReceiver *receiver)
{
	MemoryContext old_context = MemoryContextSwitchTo(receiver->context);

	table_multi_insert(receiver->rel, receiver->slots, receiver->row_count, receiver->command,
					   TABLE_INSERT_SKIP_FSM, receiver->bulk_insert);
	MemoryContextSwitchTo(old_context);
	MemoryContextReset(receiver->context);
	for (int i = 0; i < receiver->row_count; i++)
		ExecClearTuple(receiver->slots[i]);
	receiver->row_count = 0;
	receiver->batch_bytes = 0;
}

/* A slot of the batch, which lives as long as the receiver. */
static TupleTableSlot *
next_slot(TableReceiver *receiver)
{
	TupleTableSlot **slot = &receiver->slots[receiver->row_count++];
	MemoryContext old_context;

	if (*slot == NULL)
	{
		old_context = MemoryContextSwitchTo(GetMemoryChunkContext(receiver));
		*slot = MakeSingleTupleTableSlot(RelationGetDescr(receiver->rel), &TTSOpsHeapTuple);
		MemoryContextSwitchTo(old_context);
	}
	return *slot;
}

static char *
align(char *data, const char *row, int alignment)
{
	char	   *aligned = unconstify(char *, row) + TYPEALIGN(alignment, data - row);

	while (data < aligned)
		*data++ = 0;
	return aligned;
}

/* Appends the varlena with the shortest header that its column permits. */
static char *
append_varlena(char *data, const char *row, const ColumnLayout *column, const struct varlena *value)
{
	Size		bytes = VARSIZE_ANY(value);

	if (!VARATT_IS_SHORT(value) && column->is_packable && VARATT_CAN_MAKE_SHORT(value))
	{
		bytes = VARATT_CONVERTED_SHORT_SIZE(value);
		SET_VARSIZE_SHORT(data, bytes);
		memcpy(data + 1, VARDATA(value), bytes - 1);
		return data + bytes;
	}
	if (!VARATT_IS_SHORT(value))
		data = align(data, row, column->alignment);
	memcpy(data, value, bytes);
	return data + bytes;
}

/* The most that a tuple of the row takes; 0: a value is not of the row itself, or of a kind that no column has. */
static Size
tuple_bytes_max(const TableReceiver *receiver, const TupleTableSlot *row)
{
	Size		bytes = HEAPTUPLESIZE + receiver->fixed_bytes;

	for (int i = 0; i < row->tts_tupleDescriptor->natts; i++)
	{
		if (row->tts_isnull[i] || receiver->columns[i].length >= 0)
			continue;
		if (receiver->columns[i].length != -1 || VARATT_IS_EXTERNAL(DatumGetPointer(row->tts_values[i])))
			return 0;
		bytes += VARSIZE_ANY(DatumGetPointer(row->tts_values[i]));
	}
	return AllocSizeIsValid(bytes) ? bytes : 0;
}

/*
 * heap_form_tuple() in one pass, in memory of tuple_bytes_max(): that function
 * looks at each value to find the tuple's length and again to copy it.
 */
static void
form_tuple(const TableReceiver *receiver, const TupleTableSlot *row, HeapTuple tuple)
{
	int			count = row->tts_tupleDescriptor->natts;
	const Datum *values = row->tts_values;
	const bool *nulls = row->tts_isnull;
	bool		has_nulls = count > 0 && memchr(nulls, true, count) != NULL;
	Size		header_bytes = MAXALIGN(SizeofHeapTupleHeader + (has_nulls ? BITMAPLEN(count) : 0));
	HeapTupleHeader header = (HeapTupleHeader) ((char *) tuple + HEAPTUPLESIZE);
	char	   *data = (char *) header + header_bytes;
	uint16		mask = has_nulls ? HEAP_HASNULL : 0;

	memset(header, 0, header_bytes);
	for (int i = 0; i < count; i++)
	{
		const ColumnLayout *column = &receiver->columns[i];

		if (nulls[i])
			continue;
		if (has_nulls)
			header->t_bits[i / 8] |= 1 << i % 8;
		if (column->length == -1)
		{
			mask |= HEAP_HASVARWIDTH;
			data = append_varlena(data, (char *) header, column, (const struct varlena *) DatumGetPointer(values[i]));
			continue;
		}
		data = align(data, (char *) header, column->alignment);
		if (column->is_by_value)
			store_att_byval(data, values[i], column->length);
		else
			memcpy(data, DatumGetPointer(values[i]), column->length);
		data += column->length;
	}
	header->t_hoff = header_bytes;
	header->t_infomask = mask;
	HeapTupleHeaderSetNatts(header, count);
	ItemPointerSetInvalid(&header->t_ctid);
	tuple->t_data = header;
	tuple->t_len = data - (char *) header;
	tuple->t_tableOid = InvalidOid;
	ItemPointerSetInvalid(&tuple->t_self);
}

/* Whether the row went to a page; from the first that does not on they are inserted. */
static bool
add_to_pages(TableReceiver *receiver, const TupleTableSlot *row, Size bytes_max)
{
	if (bytes_max > 0 && bytes_max <= receiver->tuple_bytes)
	{
		form_tuple(receiver, row, receiver->tuple);
		if (receiver->tuple->t_len <= TABLE_PAGES_TUPLE_BYTES_MAX)
		{
			table_pages_add(receiver->pages, receiver->tuple);
			return true;
		}
	}
	table_pages_end(receiver->pages);
	receiver->pages = NULL;
	return false;
}

static void
insert(TableReceiver *receiver, TupleTableSlot *row, Size bytes_max)
{
	TupleTableSlot *slot = next_slot(receiver);

	if (bytes_max > 0)
	{
		HeapTuple	tuple = MemoryContextAlloc(slot->tts_mcxt, bytes_max);

		form_tuple(receiver, row, tuple);
		ExecStoreHeapTuple(tuple, slot, true);
	}
	else
		ExecCopySlot(slot, row);
	receiver->batch_bytes += ExecFetchSlotHeapTuple(slot, false, NULL)->t_len;
	if (receiver->row_count == BATCH_ROWS_MAX || receiver->batch_bytes > BATCH_BYTES_MAX)
		insert_batch(receiver);
}

static bool
receive(TupleTableSlot *row, DestReceiver *self)
{
	TableReceiver *receiver = (TableReceiver *) self;
	Size		bytes_max;

	if (receiver->rel == NULL)
		return receiver->base.original->receiveSlot(row, receiver->base.original);
	slot_getallattrs(row);
	bytes_max = tuple_bytes_max(receiver, row);
	if (receiver->pages == NULL || !add_to_pages(receiver, row, bytes_max))
		insert(receiver, row, bytes_max);
	return true;
}

static void
shut_down(DestReceiver *self)
{
	TableReceiver *receiver = (TableReceiver *) self;

	if (receiver->rel != NULL)
	{
		if (receiver->pages != NULL)
			table_pages_end(receiver->pages);
		if (receiver->row_count > 0)
			insert_batch(receiver);
		for (int i = 0; i < BATCH_ROWS_MAX && receiver->slots[i] != NULL; i++)
			ExecDropSingleTupleTableSlot(receiver->slots[i]);
		FreeBulkInsertState(receiver->bulk_insert);
		table_finish_bulk_insert(receiver->rel, TABLE_INSERT_SKIP_FSM);
		table_close(receiver->rel, NoLock);
		MemoryContextDelete(receiver->context);
	}
	receiver->base.original->rShutdown(receiver->base.original);
}

DestReceiver *
table_receiver_create(DestReceiver *original)
{
	return &forwarding_receiver_create(sizeof(TableReceiver), original, receive, startup, shut_down)->pub;
}
