/*-------------------------------------------------------------------------
 *
 * unique.c
 *	  Inserts into unique indexes.
 *
 * The first leaf that may hold the key is the guard: whoever inserts the key
 * locks it exclusively, looks at all entries of the key from there to the
 * right, and keeps the lock until its own entry's leaf is locked.  So of two
 * sessions that insert one key the second sees the first one's entry.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "tree.h"

typedef enum KeyState
{
	KEY_IS_FREE,
	KEY_IS_TAKEN,
	KEY_IS_IN_DOUBT				/* until a transaction ends */
} KeyState;

typedef struct UniqueCheck
{
	Relation	index;
	Relation	heap;
	KeytreeEntry entry;			/* the new entry */
	bool		is_recheck;		/* its entry exists already */
	bool		found_own;
	SnapshotData dirty;
} UniqueCheck;

/* What the heap says of one entry with the key. */
static KeyState
check_entry(UniqueCheck *check, Buffer buffer, int position)
{
	char	   *page = BufferGetPage(buffer);
	KeytreeEntry entry = keytree_page_entry(page, position);
	ItemPointerData pointer;
	bool		all_dead = false;

	if (check->is_recheck && entry.tid == check->entry.tid)
	{
		check->found_own = true;
		return KEY_IS_FREE;
	}
	keytree_tid_to_pointer(entry.tid, &pointer);
	if (table_index_fetch_tuple_check(check->heap, &pointer, &check->dirty, &all_dead))
	{
		if (TransactionIdIsValid(check->dirty.xmin) || TransactionIdIsValid(check->dirty.xmax))
			return KEY_IS_IN_DOUBT;
		/* no conflict if our own row died meanwhile, as in a transaction that CREATE INDEX CONCURRENTLY saw end */
		keytree_tid_to_pointer(check->entry.tid, &pointer);
		return table_index_fetch_tuple_check(check->heap, &pointer, SnapshotSelf, NULL) ?
			KEY_IS_TAKEN : KEY_IS_FREE;
	}
	if (all_dead)
	{
		keytree_page_mark_dead(page, position);
		MarkBufferDirtyHint(buffer, true);
	}
	return KEY_IS_FREE;
}

/* The entries of the key on one page; *is_last says that there are none further right. */
static KeyState
check_page(UniqueCheck *check, Buffer buffer, bool *is_last)
{
	const char *page = BufferGetPage(buffer);
	const KeytreePageHeader *header = KeytreeHeader(page);
	KeytreeEntry first = check->entry;

	first.tid = KEYTREE_TID_FIRST;
	*is_last = header->high_fence.high != first.high || header->high_fence.low != first.low;
	for (int position = keytree_page_lower_bound(page, &first); position < header->count; position++)
	{
		KeytreeEntry entry = keytree_page_entry(page, position);
		KeyState	state;

		if (entry.high != first.high || entry.low != first.low)
		{
			*is_last = true;
			break;
		}
		if (keytree_page_entry_is_dead(page, position))
			continue;
		state = check_entry(check, buffer, position);
		if (state != KEY_IS_FREE)
			return state;
	}
	return KEY_IS_FREE;
}

static Buffer
lock_right(Relation index, Buffer buffer, int lock_mode)
{
	Buffer		right = ReadBuffer(index, KeytreeHeader(BufferGetPage(buffer))->right);

	LockBuffer(right, lock_mode);
	keytree_check_page(index, right);
	return right;
}

/* The entries of the key on the guard and to its right; the guard stays locked. */
static KeyState
check_key(UniqueCheck *check, Buffer guard)
{
	bool		is_last;
	KeyState	state = check_page(check, guard, &is_last);
	Buffer		buffer = guard;

	while (state == KEY_IS_FREE && !is_last &&
		   !keytree_page_is_rightmost(KeytreeHeader(BufferGetPage(buffer))))
	{
		Buffer		right = lock_right(check->index, buffer, BUFFER_LOCK_SHARE);

		if (buffer != guard)
			UnlockReleaseBuffer(buffer);
		buffer = right;
		state = check_page(check, buffer, &is_last);
	}
	if (buffer != guard)
		UnlockReleaseBuffer(buffer);
	return state;
}

static void
report_duplicate(UniqueCheck *check, Datum *values, bool *nulls)
{
	char	   *key = BuildIndexValueDescription(check->index, values, nulls);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates unique constraint \"%s\"",
					RelationGetRelationName(check->index)),
			 key ? errdetail("Key %s already exists.", key) : 0,
			 errtableconstraint(check->heap, RelationGetRelationName(check->index))));
}

static void
wait_for_doubt(UniqueCheck *check)
{
	TransactionId other = TransactionIdIsValid(check->dirty.xmin) ? check->dirty.xmin : check->dirty.xmax;
	ItemPointerData pointer;

	keytree_tid_to_pointer(check->entry.tid, &pointer);
	if (check->dirty.speculativeToken != 0)
		SpeculativeInsertionWait(check->dirty.xmin, check->dirty.speculativeToken);
	else
		XactLockTableWait(other, check->index, &pointer, XLTW_InsertIndex);
}

/* From the guard to the leaf of the entry, both locked exclusively (or one, if they are the same). */
static Buffer
lock_leaf_from(Relation index, Buffer guard, const KeytreeEntry *entry)
{
	Buffer		buffer = guard;

	while (!keytree_less(entry, &KeytreeHeader(BufferGetPage(buffer))->high_fence))
	{
		Buffer		right = lock_right(index, buffer, BUFFER_LOCK_EXCLUSIVE);

		if (buffer != guard)
			UnlockReleaseBuffer(buffer);
		buffer = right;
	}
	return buffer;
}

/*
 * One attempt to check, and to insert if wanted.  False: something has to be
 * done again, all locks are released.
 */
static bool
attempt(UniqueCheck *check, BlockNumber root, IndexUniqueCheck mode, bool updates_same_key,
		Datum *values, bool *nulls, bool *is_unique)
{
	KeytreeEntry first = check->entry;
	KeytreeItem item = {.entry = check->entry,.child = InvalidBlockNumber};
	Buffer		guard;
	Buffer		leaf;
	KeyState	state;

	first.tid = KEYTREE_TID_FIRST;
	guard = keytree_descend(check->index, root, &first, 0, BUFFER_LOCK_EXCLUSIVE);
	state = check_key(check, guard);
	if (mode == UNIQUE_CHECK_PARTIAL)
	{
		*is_unique = state == KEY_IS_FREE;
		state = KEY_IS_FREE;
	}
	if (state != KEY_IS_FREE || mode == UNIQUE_CHECK_EXISTING)
	{
		/* as if we wrote: a serialization failure says more than the duplicate key that it leads to */
		if (state == KEY_IS_TAKEN)
			CheckForSerializableConflictIn(check->index, NULL, BufferGetBlockNumber(guard));
		UnlockReleaseBuffer(guard);
		if (state == KEY_IS_TAKEN)
			report_duplicate(check, values, nulls);
		if (state == KEY_IS_IN_DOUBT)
			wait_for_doubt(check);
		return state == KEY_IS_FREE;
	}
	/*
	 * From here on the leaf's lock is enough: others who insert the key have
	 * to look at this leaf too.
	 */
	leaf = lock_leaf_from(check->index, guard, &check->entry);
	if (leaf != guard)
		UnlockReleaseBuffer(guard);
	return keytree_insert_into_leaf(check->index, check->heap, root, leaf, &item, updates_same_key);
}

/*
 * Attempts are repeated after a wait for another transaction and after a split.
 * With UNIQUE_CHECK_PARTIAL even a duplicate is inserted, and the result says
 * whether the key was free; a later call with UNIQUE_CHECK_EXISTING decides.  That
 * call inserts nothing, and has to find its own entry.
 */
bool
keytree_insert_unique(Relation index, Relation heap, KeytreeKind kind, Datum *values, bool *nulls,
					  ItemPointer pointer, IndexUniqueCheck mode, bool updates_same_key)
{
	UniqueCheck check = {.index = index,.heap = heap,.is_recheck = mode == UNIQUE_CHECK_EXISTING};
	BlockNumber root = keytree_root_for(nulls[0]);
	bool		is_unique = true;

	if (!nulls[0])
		keytree_key_from_datum(kind, values[0], &check.entry);
	check.entry.tid = keytree_tid_from_pointer(pointer);
	for (;;)
	{
		InitDirtySnapshot(check.dirty);
		check.found_own = false;
		if (attempt(&check, root, mode, updates_same_key, values, nulls, &is_unique))
			break;
		CHECK_FOR_INTERRUPTS();
	}
	if (mode == UNIQUE_CHECK_EXISTING && !check.found_own)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("failed to re-find tuple within index \"%s\"", RelationGetRelationName(index)),
				 errhint("This may be because of a non-immutable index expression."),
				 errtableconstraint(heap, RelationGetRelationName(index))));
	return mode != UNIQUE_CHECK_EXISTING && is_unique;
}
