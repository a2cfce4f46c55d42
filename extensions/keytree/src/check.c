/*-------------------------------------------------------------------------
 *
 * check.c
 *	  keytree_check(): proves every invariant of README.md, and that index and
 *	  heap agree.
 *
 * Both are locked against writers, so the pages of a level can be compared
 * with each other and with the downlinks of the level above.  The first
 * violation is an error with SQLSTATE XX002 and the invariant's number.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xlogrecovery.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "pg_compat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "inspect.h"
#include "key.h"
#include "tree.h"

PENUMBRA_SQL_FUNCTION(keytree_check);

/* What the level above says of a page. */
typedef struct Downlink
{
	KeytreeEntry low_fence;
	BlockNumber child;
}			Downlink;

typedef struct Downlinks
{
	Downlink   *links;
	int64		count;
	int64		room;
}			Downlinks;

typedef struct Check
{
	Relation	index;
	Relation	heap;
	KeytreeKind kind;
	BlockNumber blocks;
	uint8	   *is_reached;		/* per block */
	MemoryContext row_context;

	/* heap check of an entry */
	Snapshot	snapshot;
	IndexInfo  *info;
	EState	   *estate;
	TupleTableSlot *slot;
	IndexFetchTableData *fetch;
	BlockNumber heap_blocks;
	Buffer		heap_buffer;	/* pinned, of the last line pointer looked at */
}			Check;

static void
append_downlink(Downlinks *links, const KeytreeEntry *low_fence, BlockNumber child)
{
	if (links->count == links->room)
	{
		links->room = Max(2 * links->room, 1024);
		links->links = links->links == NULL ?
			palloc(links->room * sizeof(Downlink)) :
			repalloc_huge(links->links, links->room * sizeof(Downlink));
	}
	links->links[links->count++] = (Downlink)
	{
		.low_fence = *low_fence,.child = child
	};
}

/* A copy of the page, its header proven; P1 to P5. */
static void
read_page(Check *check, BlockNumber block, char *page)
{
	keytree_copy_page(check->index, block, page);
	if (check->is_reached[block]++)
		keytree_report_damage(check->index, block, "T1: a page has one place in the tree");
}

/* T1 and T4 as far as a page by itself shows them. */
static void
check_entries(Check *check, BlockNumber block, const char *page)
{
	const KeytreePageHeader *header = KeytreeHeader(page);
	KeytreeEntry last = header->low_fence;

	if (!keytree_less(&header->low_fence, &header->high_fence))
		keytree_report_damage(check->index, block, "T1: a page's low fence is less than its high fence");
	for (int i = 0; i < header->count; i++)
	{
		KeytreeEntry entry = keytree_page_entry(page, i);

		if (i > 0 && !keytree_less(&last, &entry))
			keytree_report_damage(check->index, block, "T4: entries are in strict order");
		if (!keytree_page_covers(header, &entry))
			keytree_report_damage(check->index, block, "T4: entries lie between the fences");
		last = entry;
	}
	if (header->version & 1)
		keytree_report_damage(check->index, block, "T7: the version word is even while nobody writes");
	if (header->level > 0 && header->count == 0)
		keytree_report_damage(check->index, block, "T8: an inner page has an entry");
}

/* Whether the heap has the tuple, and if it is visible, with this key. */
static void
check_entry_in_heap(Check *check, BlockNumber block, const KeytreeEntry *entry, bool is_null)
{
	ItemPointerData pointer;
	BlockNumber heap_block = (BlockNumber) (entry->tid >> 16);
	OffsetNumber offset = (OffsetNumber) (entry->tid & 0xFFFF);
	Page		page;
	bool		is_used;
	bool		call_again = false;
	bool		all_dead = false;
	Datum		value[INDEX_MAX_KEYS];
	bool		null[INDEX_MAX_KEYS];
	KeytreeEntry key;

	keytree_tid_to_pointer(entry->tid, &pointer);
	if (heap_block >= check->heap_blocks)
		keytree_report_damage(check->index, block, "H2: an entry points to a row of the heap");
	check->heap_buffer = ReleaseAndReadBuffer(check->heap_buffer, check->heap, heap_block);
	LockBuffer(check->heap_buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(check->heap_buffer);
	is_used = !PageIsNew(page) && offset >= FirstOffsetNumber && offset <= PageGetMaxOffsetNumber(page) &&
		ItemIdIsUsed(PageGetItemId(page, offset));
	LockBuffer(check->heap_buffer, BUFFER_LOCK_UNLOCK);
	if (!is_used)
		keytree_report_damage(check->index, block, "H2: an entry points to a row of the heap");

	if (!table_index_fetch_tuple(check->fetch, &pointer, check->snapshot, check->slot, &call_again, &all_dead))
		return;
	MemoryContextReset(check->row_context);
	FormIndexDatum(check->info, check->slot, check->estate, value, null);
	key = (KeytreeEntry)
	{
		.tid = entry->tid
	};
	if (!null[0])
		keytree_key_from_datum(check->kind, value[0], &key);
	if (null[0] != is_null || keytree_compare(&key, entry) != 0)
		keytree_report_damage(check->index, block, "H3: an entry has the key of its row");
	ResetPerTupleExprContext(check->estate);
}

static void
check_leaf(Check *check, BlockNumber block, const char *page)
{
	const KeytreePageHeader *header = KeytreeHeader(page);

	for (int i = 0; i < header->count; i++)
	{
		KeytreeEntry entry = keytree_page_entry(page, i);

		CHECK_FOR_INTERRUPTS();
		if ((header->flags & KEYTREE_PAGE_NULLS) && (entry.high | entry.low) != 0)
			keytree_report_damage(check->index, block, "T9: keys in the tree of NULLs are zero");
		if (!keytree_page_entry_is_dead(page, i))
			check_entry_in_heap(check, block, &entry, (header->flags & KEYTREE_PAGE_NULLS) != 0);
	}
}

/*
 * One level from left to right: beside each other, and below the downlinks of
 * the level above, of which a page whose left sibling's split is incomplete
 * has none.  Returns the level's own downlinks.
 */
static Downlinks
check_level(Check *check, const Downlinks *above, int level, bool is_null)
{
	Downlinks	below = {0};
	PGAlignedBlock page;
	const KeytreePageHeader *header = KeytreeHeader(page.data);
	BlockNumber block = above->links[0].child;
	BlockNumber left = InvalidBlockNumber;
	KeytreeEntry fence = KEYTREE_ENTRY_FIRST;
	bool		has_downlink = true;
	int64		next = 0;

	while (BlockNumberIsValid(block))
	{
		CHECK_FOR_INTERRUPTS();
		if (block >= check->blocks)
			keytree_report_damage(check->index, left, "T1: pages of a level refer to each other");
		read_page(check, block, page.data);
		if (header->level != level || (header->flags & KEYTREE_PAGE_DELETED) ||
			((header->flags & KEYTREE_PAGE_NULLS) != 0) != is_null)
			keytree_report_damage(check->index, block, "T2: a child is a page of the level below, of the same tree");
		if (header->left != left || keytree_compare(&header->low_fence, &fence) != 0)
			keytree_report_damage(check->index, block, "T1: pages of a level refer to each other and their fences meet");
		if (has_downlink)
		{
			if (next == above->count || above->links[next].child != block ||
				keytree_compare(&above->links[next].low_fence, &header->low_fence) != 0)
				keytree_report_damage(check->index, block, "T2: a page has a downlink at its low fence");
			next++;
		}
		check_entries(check, block, page.data);
		if (level == 0)
			check_leaf(check, block, page.data);
		for (int i = 0; level > 0 && i < header->count; i++)
		{
			KeytreeEntry entry = keytree_page_entry(page.data, i);

			append_downlink(&below, &entry, keytree_page_child(page.data, i));
		}
		has_downlink = (header->flags & KEYTREE_PAGE_SPLIT) == 0;
		fence = header->high_fence;
		left = block;
		block = header->right;
	}
	if (keytree_compare(&fence, &KEYTREE_ENTRY_LAST) != 0 || next != above->count || !has_downlink)
		keytree_report_damage(check->index, left, "T2: a level has a page for every downlink, up to the greatest entry");
	return below;
}

/*
 * Checks each level against the downlinks of the level above, from the root down.
 * The downlink to the root is made up.
 */
static void
check_tree(Check *check, BlockNumber root)
{
	PGAlignedBlock page;
	Downlinks	level_above = {0};
	KeytreeEntry first = KEYTREE_ENTRY_FIRST;
	int			level;

	keytree_copy_page(check->index, root, page.data);
	level = KeytreeHeader(page.data)->level;
	if (!(KeytreeHeader(page.data)->flags & KEYTREE_PAGE_ROOT))
		keytree_report_damage(check->index, root, "T5: blocks 1 and 2 are the roots");
	append_downlink(&level_above, &first, root);
	for (; level >= 0; level--)
	{
		Downlinks	below = check_level(check, &level_above, level, root == KEYTREE_NULLS_ROOT);

		pfree(level_above.links);
		level_above = below;
	}
}

/* Of a row that the snapshot sees: its entry must be there. */
static void
check_row(Relation index, ItemPointer pointer, Datum *values, bool *nulls, bool is_alive, void *state)
{
	Check	   *check = state;
	KeytreeEntry entry = {0};
	KeytreeEntry found;
	Buffer		buffer;
	Page		page;
	int			position;

	if (!nulls[0])
		keytree_key_from_datum(check->kind, values[0], &entry);
	entry.tid = keytree_tid_from_pointer(pointer);
	buffer = keytree_descend(index, keytree_root_for(nulls[0]), &entry, 0, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	position = keytree_page_lower_bound(page, &entry);
	if (position < KeytreeHeader(page)->count)
		found = keytree_page_entry(page, position);
	if (position == KeytreeHeader(page)->count || keytree_compare(&found, &entry) != 0 ||
		keytree_page_entry_is_dead(page, position))
		keytree_report_damage(index, BufferGetBlockNumber(buffer), "H1: every row has its entry");
	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
}

static void
check_rows(Check *check)
{
	IndexInfo  *info = BuildIndexInfo(check->index);
	TableScanDesc scan = table_beginscan_strat(check->heap, check->snapshot, 0, NULL, true, true);

	info->ii_Concurrent = true; /* rows that the snapshot sees, uniqueness aside */
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	table_index_build_scan(check->heap, check->index, info, true, false, check_row, check, scan);
}

/* T6: what is not in the tree is free. */
static void
check_unreached(Check *check)
{
	for (BlockNumber block = KEYTREE_INITIAL_BLOCKS; block < check->blocks; block++)
	{
		PGAlignedBlock page;

		CHECK_FOR_INTERRUPTS();
		if (check->is_reached[block])
			continue;
		keytree_copy_page_or_new(check->index, block, page.data);
		if (!PageIsNew((Page) page.data) && !(KeytreeHeader(page.data)->flags & KEYTREE_PAGE_DELETED))
			keytree_report_damage(check->index, block, "T6: a page out of the tree is new or deleted");
	}
}

/* The trees come first: check_rows() relies on what check_tree() has proven. */
static void
check_index(Relation index, Relation heap)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "keytree check", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Check		check = {.index = index,.heap = heap,.kind = keytree_kind_of(index->rd_opcintype[0])};

	check.blocks = RelationGetNumberOfBlocks(index);
	check.heap_blocks = RelationGetNumberOfBlocks(heap);
	check.is_reached = palloc_extended(Max(check.blocks, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	check.snapshot = RegisterSnapshot(GetTransactionSnapshot());
	check.info = BuildIndexInfo(index);
	check.estate = CreateExecutorState();
	check.slot = table_slot_create(heap, NULL);
	GetPerTupleExprContext(check.estate)->ecxt_scantuple = check.slot;
	check.fetch = compat_index_fetch_begin(heap);
	check.row_context = AllocSetContextCreate(context, "keytree check row", ALLOCSET_SMALL_SIZES);

	if (check.blocks < KEYTREE_INITIAL_BLOCKS)
		keytree_report_damage(index, 0, "T5: blocks 1 and 2 are the roots");
	check_tree(&check, KEYTREE_VALUES_ROOT);
	check_tree(&check, KEYTREE_NULLS_ROOT);
	check_unreached(&check);
	check_rows(&check);

	if (BufferIsValid(check.heap_buffer))
		ReleaseBuffer(check.heap_buffer);
	table_index_fetch_end(check.fetch);
	ExecDropSingleTupleTableSlot(check.slot);
	FreeExecutorState(check.estate);
	UnregisterSnapshot(check.snapshot);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/*
 * Writers are locked out by ShareLock, which a standby does not allow; there
 * the only writer is replay.
 */
Datum
keytree_check(PG_FUNCTION_ARGS)
{
	Oid			index_oid = PG_GETARG_OID(0);
	Oid			heap_oid = IndexGetRelation(index_oid, true);
	LOCKMODE	mode = RecoveryInProgress() ? AccessShareLock : ShareLock;
	Relation	heap = NULL;
	Relation	index;

	if (RecoveryInProgress() && GetRecoveryPauseState() != RECOVERY_PAUSED)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("recovery is not paused"),
				 errhint("Call pg_wal_replay_pause() first.")));
	if (OidIsValid(heap_oid))
		heap = table_open(heap_oid, mode);
	index = keytree_open_index(index_oid, mode);
	check_index(index, heap);
	index_close(index, mode);
	table_close(heap, mode);
	PG_RETURN_VOID();
}
