/*-------------------------------------------------------------------------
 *
 * vacuum.c
 *	  VACUUM: removes dead entries leaf by leaf.
 *
 * The walk follows the leaves' order, not the file's: an entry that a split
 * moves goes to the right, ahead of the walk, so no leaf need tell that it
 * was split meanwhile.  Each leaf is locked for cleanup, whether or not it
 * loses entries: that waits for index-only scans that hold TIDs of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "change.h"
#include "tree.h"
#include "vacuum.h"

typedef struct VacuumWalk
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void	   *callback_state;
	uint8	   *visited;		/* a bit for each block that is a leaf in use */
	BlockNumber blocks;
} VacuumWalk;

static void
mark_visited(VacuumWalk *walk, BlockNumber block)
{
	if (block < walk->blocks)
		walk->visited[block / 8] |= 1 << (block % 8);
}

/*
 * A cleanup lock does not keep readers without lock from pinning the page and
 * reading it.  Those who pin it from now on find the version word odd; false
 * if somebody pinned it before.
 */
static bool
lock_out_readers(Buffer buffer)
{
	Page		page = BufferGetPage(buffer);

	keytree_page_begin_write(page);
	pg_memory_barrier();
	if (IsBufferCleanupOK(buffer))
		return true;
	keytree_page_abandon_write(page);
	return false;
}

/*
 * Deletes what the heap no longer has; the caller holds a cleanup lock.
 * False, nothing done, if a reader came in between.
 */
static bool
vacuum_leaf(VacuumWalk *walk, Buffer buffer)
{
	const char *page = BufferGetPage(buffer);
	int			count = KeytreeHeader(page)->count;
	uint16		positions[KEYTREE_MAX_ENTRIES];
	int			positions_count = 0;

	for (int i = 0; i < count; i++)
	{
		ItemPointerData pointer;

		keytree_tid_to_pointer(keytree_page_entry(page, i).tid, &pointer);
		if (walk->callback(&pointer, walk->callback_state))
			positions[positions_count++] = i;
	}
	if (positions_count > 0)
	{
		/* nothing from here to the end of the change may fail */
		if (!lock_out_readers(buffer))
			return false;
		keytree_change_vacuum(walk->info->index, buffer, positions, positions_count);
	}
	walk->stats->tuples_removed += positions_count;
	walk->stats->num_index_tuples += count - positions_count;
	return true;
}

/* The leaf that holds the entry, locked for cleanup. */
static Buffer
lock_leaf_for_cleanup(VacuumWalk *walk, BlockNumber root, BlockNumber block, const KeytreeEntry *entry)
{
	Relation	index = walk->info->index;

	for (;;)
	{
		Buffer		buffer;

		if (!BlockNumberIsValid(block))
		{
			buffer = keytree_descend(index, root, entry, 0, BUFFER_LOCK_SHARE);
			block = BufferGetBlockNumber(buffer);
			UnlockReleaseBuffer(buffer);
		}
		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, walk->info->strategy);
		LockBufferForCleanup(buffer);
		keytree_check_page(index, buffer);
		/* only we delete pages, but a root may have got children since, and a page a sibling */
		if (KeytreeHeader(BufferGetPage(buffer))->level == 0 &&
			keytree_page_covers(KeytreeHeader(BufferGetPage(buffer)), entry))
			return buffer;
		UnlockReleaseBuffer(buffer);
		block = InvalidBlockNumber;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Leaves are visited in key order: splits move entries to the right only, ahead of
 * the walk. A leaf whose readers cannot be locked out is tried again.
 */
static void
walk_tree(VacuumWalk *walk, BlockNumber root)
{
	Relation	index = walk->info->index;
	KeytreeEntry next = KEYTREE_ENTRY_FIRST;
	BlockNumber block = InvalidBlockNumber;

	for (;;)
	{
		Buffer		buffer = lock_leaf_for_cleanup(walk, root, block, &next);
		KeytreePageHeader *header = KeytreeHeader(BufferGetPage(buffer));
		KeytreeEntry low_fence = header->low_fence;
		BlockNumber this_block = BufferGetBlockNumber(buffer);
		bool		is_empty;
		int			unlinked = 0;

		if (!vacuum_leaf(walk, buffer))
		{
			UnlockReleaseBuffer(buffer);
			CHECK_FOR_INTERRUPTS();
			block = this_block;
			continue;
		}
		is_empty = header->count == 0 && this_block != root;
		next = header->high_fence;
		block = header->right;
		UnlockReleaseBuffer(buffer);

		if (is_empty && BlockNumberIsValid(block))
			unlinked = keytree_unlink_leaf(index, root, this_block, &low_fence);
		walk->stats->pages_newly_deleted += unlinked;
		if (unlinked == 0)
			mark_visited(walk, this_block);
		if (!BlockNumberIsValid(block))
			break;
		compat_vacuum_delay_point();
	}
}

/* Pages out of the tree that the free space map may not know: after a crash, or never initialised. */
static void
find_free_pages(VacuumWalk *walk)
{
	Relation	index = walk->info->index;

	walk->stats->pages_deleted = 0;
	walk->stats->pages_free = 0;
	for (BlockNumber block = KEYTREE_INITIAL_BLOCKS; block < walk->blocks; block++)
	{
		Buffer		buffer;
		Page		page;
		bool		is_free;

		if (walk->visited[block / 8] & (1 << (block % 8)))
			continue;
		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, walk->info->strategy);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		is_free = PageIsNew(page) || (KeytreeHeader(page)->flags & KEYTREE_PAGE_DELETED);
		UnlockReleaseBuffer(buffer);
		if (is_free)
		{
			RecordFreeIndexPage(index, block);
			walk->stats->pages_deleted++;
			walk->stats->pages_free++;
		}
		compat_vacuum_delay_point();
	}
}

IndexBulkDeleteResult *
keytree_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
					IndexBulkDeleteCallback callback, void *callback_state)
{
	Relation	index = info->index;
	VacuumWalk	walk = {.info = info,.callback = callback,.callback_state = callback_state};

	keytree_require_rmgr(index);
	walk.stats = stats ? stats : palloc0(sizeof(IndexBulkDeleteResult));
	walk.stats->num_index_tuples = 0;
	walk.stats->estimated_count = false;
	/* a page that is being added is locked when the extension lock is free, so a new one seen below is nobody's */
	if (!RELATION_IS_LOCAL(index))
		LockRelationForExtension(index, ExclusiveLock);
	walk.blocks = RelationGetNumberOfBlocks(index);
	if (!RELATION_IS_LOCAL(index))
		UnlockRelationForExtension(index, ExclusiveLock);
	walk.visited = MemoryContextAllocExtended(CurrentMemoryContext, walk.blocks / 8 + 1,
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	walk_tree(&walk, KEYTREE_VALUES_ROOT);
	walk_tree(&walk, KEYTREE_NULLS_ROOT);
	find_free_pages(&walk);
	pfree(walk.visited);
	return walk.stats;
}

IndexBulkDeleteResult *
keytree_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	/* nothing was deleted since: nothing is to be cleaned up */
	if (info->analyze_only || stats == NULL)
		return stats;
	IndexFreeSpaceMapVacuum(info->index);
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	/* of more than one pass over the heap, or with rows that came meanwhile, the count is only near */
	if (!info->estimated_count)
		stats->num_index_tuples = Min(stats->num_index_tuples, info->num_heap_tuples);
	return stats;
}
