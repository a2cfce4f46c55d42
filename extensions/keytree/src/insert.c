/*-------------------------------------------------------------------------
 *
 * insert.c
 *	  Inserts and splits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "change.h"
#include "tree.h"

/* As nbtree: a split at the end of a level leaves the left page this full. */
#define APPEND_FILL_PERCENT 90

/* Inserts in a row after which a page's next one is expected behind the last. */
#define SEQUENTIAL_RUN 8

static void insert_at_level(Relation index, BlockNumber root, Buffer buffer, const KeytreeItem *item, Buffer child);

static bool
keys_differ_at(const char *page, int position)
{
	KeytreeEntry left = keytree_page_entry(page, position - 1);
	KeytreeEntry right = keytree_page_entry(page, position);

	return left.high != right.high || left.low != right.low;
}

/*
 * Where to split: entries before *keep stay.  Near the middle, where two
 * keys meet if possible, for then the separator needs no TID; with inserts
 * in sequence where they stand, for nothing more comes to the left of it.
 */
static void
choose_split(const char *page, int position, const KeytreeItem *item, int *keep, KeytreeEntry *separator)
{
	const KeytreePageHeader *header = KeytreeHeader(page);
	int			count = header->count;
	KeytreeEntry left;
	KeytreeEntry right;

	*keep = count / 2;
	if (header->insert_run >= SEQUENTIAL_RUN && position == header->insert_position && position > 0)
	{
		*keep = position;
		if (position == count)
			*keep = keytree_page_is_rightmost(header) ? count * APPEND_FILL_PERCENT / 100 : count;
	}
	else
	{
		for (int distance = 0; distance < count / 8; distance++)
		{
			if (keys_differ_at(page, count / 2 + distance))
				*keep = count / 2 + distance;
			else if (keys_differ_at(page, count / 2 - distance))
				*keep = count / 2 - distance;
			else
				continue;
			break;
		}
	}
	if (header->level > 0)
	{
		*keep = Min(*keep, count - 1);
		*separator = keytree_page_entry(page, *keep);
		return;
	}
	left = keytree_page_entry(page, *keep - 1);
	right = *keep < count ? keytree_page_entry(page, *keep) : item->entry;
	*separator = keytree_separator_between(&left, &right);
}

/* Inserts if there is room. */
static bool
try_insert(Relation index, Buffer buffer, const KeytreeItem *item, Buffer child)
{
	Page		page = BufferGetPage(buffer);

	if (!keytree_page_has_room(page, item))
		return false;
	keytree_change_insert(index, buffer, keytree_page_lower_bound(page, &item->entry), item, child);
	return true;
}

/* The root's entries move to two children; the item follows if there is room. */
static bool
split_root(Relation index, Buffer root, const KeytreeItem *item, Buffer child)
{
	Buffer		left = keytree_allocate_page(index);
	Buffer		right = keytree_allocate_page(index);
	Page		page = BufferGetPage(root);
	int			keep;
	KeytreeEntry separator;
	bool		inserted;

	choose_split(page, keytree_page_lower_bound(page, &item->entry), item, &keep, &separator);
	keytree_change_split_root(index, root, left, right, keep, &separator);
	PredicateLockPageSplit(index, BufferGetBlockNumber(root), BufferGetBlockNumber(left));
	PredicateLockPageSplit(index, BufferGetBlockNumber(root), BufferGetBlockNumber(right));
	UnlockReleaseBuffer(root);
	inserted = try_insert(index, keytree_less(&item->entry, &separator) ? left : right, item, child);
	UnlockReleaseBuffer(left);
	UnlockReleaseBuffer(right);
	return inserted;
}

/* Splits the page, puts the item into its half if there is room, then tells the parent. */
static bool
split_page(Relation index, BlockNumber root, Buffer left, const KeytreeItem *item, Buffer child)
{
	Page		page = BufferGetPage(left);
	KeytreePageHeader *header = KeytreeHeader(page);
	Buffer		right = keytree_allocate_page(index);
	Buffer		old_right = InvalidBuffer;
	int			keep;
	KeytreeEntry separator;
	bool		inserted;

	choose_split(page, keytree_page_lower_bound(page, &item->entry), item, &keep, &separator);
	if (!keytree_page_is_rightmost(header))
	{
		old_right = ReadBuffer(index, header->right);
		LockBuffer(old_right, BUFFER_LOCK_EXCLUSIVE);
		keytree_check_page(index, old_right);
	}
	keytree_change_split(index, left, right, old_right, keep, &separator);
	PredicateLockPageSplit(index, BufferGetBlockNumber(left), BufferGetBlockNumber(right));
	if (BufferIsValid(old_right))
		UnlockReleaseBuffer(old_right);
	inserted = try_insert(index, keytree_less(&item->entry, &separator) ? left : right, item, child);
	UnlockReleaseBuffer(right);
	keytree_finish_split(index, root, left);
	return inserted;
}

void
keytree_finish_split(Relation index, BlockNumber root, Buffer left)
{
	const KeytreePageHeader *header = KeytreeHeader(BufferGetPage(left));
	KeytreeItem downlink = {.entry = header->high_fence,.child = header->right};
	int			level = header->level;
	Buffer		parent = keytree_descend(index, root, &downlink.entry, level + 1, BUFFER_LOCK_EXCLUSIVE);

	if (!BufferIsValid(parent))
		keytree_report_damage(index, BufferGetBlockNumber(left), "T2: a page that is not a root has a parent");
	insert_at_level(index, root, parent, &downlink, left);
}

/* Inserts into the page or, after a split, a half of it; false if there is more to do.  Releases the page. */
static bool
insert_or_split(Relation index, BlockNumber root, Buffer buffer, const KeytreeItem *item, Buffer child)
{
	uint16		flags = KeytreeHeader(BufferGetPage(buffer))->flags;

	if (flags & KEYTREE_PAGE_SPLIT)
	{
		keytree_finish_split(index, root, buffer);
		return false;
	}
	if (try_insert(index, buffer, item, child))
	{
		UnlockReleaseBuffer(buffer);
		return true;
	}
	if (flags & KEYTREE_PAGE_ROOT)
		return split_root(index, buffer, item, child);
	return split_page(index, root, buffer, item, child);
}

/*
 * Puts the item into its level, beginning with a page that holds its key,
 * exclusively locked.  child, if valid, is the locked page whose split the
 * item completes.  Releases both.
 */
static void
insert_at_level(Relation index, BlockNumber root, Buffer buffer, const KeytreeItem *item, Buffer child)
{
	int			level = KeytreeHeader(BufferGetPage(buffer))->level;

	while (!insert_or_split(index, root, buffer, item, child))
		buffer = keytree_descend(index, root, &item->entry, level, BUFFER_LOCK_EXCLUSIVE);
	if (BufferIsValid(child))
		UnlockReleaseBuffer(child);
}

bool
keytree_insert_into_leaf(Relation index, Relation heap, BlockNumber root, Buffer leaf,
						 const KeytreeItem *item, bool updates_same_key)
{
	CheckForSerializableConflictIn(index, NULL, BufferGetBlockNumber(leaf));
	if (!keytree_page_has_room(BufferGetPage(leaf), item))
		keytree_make_room(index, heap, leaf, updates_same_key);
	return insert_or_split(index, root, leaf, item, InvalidBuffer);
}

void
keytree_insert_value(Relation index, Relation heap, KeytreeKind kind, Datum value,
					 bool is_null, ItemPointer pointer, bool updates_same_key)
{
	BlockNumber root = keytree_root_for(is_null);
	BlockNumber guess = is_null ? InvalidBlockNumber : RelationGetTargetBlock(index);
	KeytreeItem item = {.child = InvalidBlockNumber};
	Buffer		leaf;

	if (!is_null)
		keytree_key_from_datum(kind, value, &item.entry);
	item.entry.tid = keytree_tid_from_pointer(pointer);
	leaf = keytree_descend_from(index, root, guess, &item.entry, 0, BUFFER_LOCK_EXCLUSIVE);
	/* where keys ascend the next one goes to the last leaf too; where they do not the guess costs a page */
	if (!is_null)
		RelationSetTargetBlock(index, keytree_page_is_rightmost(KeytreeHeader(BufferGetPage(leaf))) ?
							   BufferGetBlockNumber(leaf) : InvalidBlockNumber);
	while (!keytree_insert_into_leaf(index, heap, root, leaf, &item, updates_same_key))
		leaf = keytree_descend(index, root, &item.entry, 0, BUFFER_LOCK_EXCLUSIVE);
}
