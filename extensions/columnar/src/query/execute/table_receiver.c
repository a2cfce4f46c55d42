/*-------------------------------------------------------------------------
 *
 * table_receiver.c
 *	  Rows of CREATE TABLE AS, inserted in batches.
 *
 * PostgreSQL's receiver of CREATE TABLE AS inserts row by row: for each it
 * copies the row twice, looks for a page, locks it and writes a record of WAL.
 * This one leaves the table's creation and its end to that receiver, and gives
 * the rows to the table as COPY FROM does, which locks a page and writes a
 * record once for all rows of it.
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
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "query/execute/forwarding_receiver.h"
#include "query/execute/table_receiver.h"

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
		*slot = table_slot_create(receiver->rel, NULL);
		MemoryContextSwitchTo(old_context);
	}
	return *slot;
}

static bool
receive(TupleTableSlot *row, DestReceiver *self)
{
	TableReceiver *receiver = (TableReceiver *) self;
	TupleTableSlot *slot;

	if (receiver->rel == NULL)
		return receiver->base.original->receiveSlot(row, receiver->base.original);
	slot = ExecCopySlot(next_slot(receiver), row);
	receiver->batch_bytes += ExecFetchSlotHeapTuple(slot, false, NULL)->t_len;
	if (receiver->row_count == BATCH_ROWS_MAX || receiver->batch_bytes > BATCH_BYTES_MAX)
		insert_batch(receiver);
	return true;
}

static void
shut_down(DestReceiver *self)
{
	TableReceiver *receiver = (TableReceiver *) self;

	if (receiver->rel != NULL)
	{
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
