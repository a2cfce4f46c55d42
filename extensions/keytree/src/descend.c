/*-------------------------------------------------------------------------
 *
 * descend.c
 *	  From a root, or from a guess, to the page that holds a key.
 *
 * No lock is held while another page is read.  What makes that safe is the
 * arrival check: a page is the right one if and only if it is in the tree,
 * of the right level, and its fences hold the entry; wherever the reference
 * came from and whatever happened to the block since.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "inner_copy.h"
#include "tree.h"

/* Restarts that no concurrent change explains. */
#define MAX_RESTARTS 10000

void
keytree_report_damage(Relation index, BlockNumber block, const char *invariant)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted at block %u", RelationGetRelationName(index), block),
			 errdetail("Invariant %s.", invariant),
			 errhint("Please REINDEX it.")));
}

void
keytree_check_page(Relation index, Buffer buffer)
{
	const char *damage = keytree_page_damage(BufferGetPage(buffer));

	if (damage != NULL)
		keytree_report_damage(index, BufferGetBlockNumber(buffer), damage);
}

typedef enum Arrival
{
	ARRIVED,
	ARRIVED_LEFT,				/* the entry is to the right of the page */
	ARRIVED_ASTRAY
}			Arrival;

static Arrival
check_arrival(const KeytreePageHeader *header, BlockNumber root, const KeytreeEntry *entry, int level)
{
	bool		is_null = root == KEYTREE_NULLS_ROOT;

	if ((header->flags & KEYTREE_PAGE_DELETED) ||
		((header->flags & KEYTREE_PAGE_NULLS) != 0) != is_null ||
		(level >= 0 && header->level != level) ||
		keytree_less(entry, &header->low_fence))
		return ARRIVED_ASTRAY;
	return keytree_less(entry, &header->high_fence) ? ARRIVED : ARRIVED_LEFT;
}

/* Right links that a guess may be worth: beyond them the way from the root is shorter. */
#define MAX_MOVES_FROM_GUESS 3

/*
 * Locks the block, follows up to max_moves right links; the locked page that
 * holds the entry, or InvalidBuffer.  level is -1 for the root, whose level
 * is not known before.
 */
static Buffer
arrive(Relation index, BlockNumber root, BlockNumber block, const KeytreeEntry *entry, int level,
	   int lock_mode, int max_moves)
{
	for (int moves = 0; moves <= max_moves; moves++)
	{
		Buffer		buffer = keytree_read_page(index, block);
		Page		page = BufferGetPage(buffer);
		Arrival		arrival = ARRIVED_ASTRAY;

		LockBuffer(buffer, lock_mode);
		if (!PageIsNew(page))
		{
			keytree_check_page(index, buffer);
			arrival = check_arrival(KeytreeHeader(page), root, entry, level);
		}
		if (arrival == ARRIVED)
			return buffer;
		block = KeytreeHeader(page)->right;
		UnlockReleaseBuffer(buffer);
		if (arrival == ARRIVED_ASTRAY || !BlockNumberIsValid(block))
			break;
		CHECK_FOR_INTERRUPTS();
	}
	return InvalidBuffer;
}

/* One way down; InvalidBuffer if it went astray, and *too_low if the root is below the level. */
static Buffer
descend_once(Relation index, BlockNumber root, const KeytreeEntry *entry, int level, int lock_mode, bool *too_low)
{
	BlockNumber block = root;
	int			at = -1;

	for (;;)
	{
		Buffer		buffer = arrive(index, root, block, entry, at, at == level ? lock_mode : BUFFER_LOCK_SHARE,
									PG_INT32_MAX - 1);

		if (!BufferIsValid(buffer))
			return InvalidBuffer;
		if (at < 0)
		{
			at = KeytreeHeader(BufferGetPage(buffer))->level;
			*too_low = at < level;
			if (*too_low || (at == level && lock_mode != BUFFER_LOCK_SHARE))
			{
				UnlockReleaseBuffer(buffer);
				return *too_low ? InvalidBuffer : arrive(index, root, root, entry, level, lock_mode, 0);
			}
		}
		if (at == level)
			return buffer;
		if (at == 1)
			keytree_inner_copy_add(index, BufferGetPage(buffer));
		block = keytree_page_child(BufferGetPage(buffer),
								   keytree_page_child_position(BufferGetPage(buffer), entry));
		at--;
		UnlockReleaseBuffer(buffer);
	}
}

/* To the leaf that the backend's copy of the inner levels names; InvalidBuffer if it names none or a wrong one. */
static Buffer
descend_in_copy(Relation index, const KeytreeEntry *entry, int lock_mode)
{
	BlockNumber block = keytree_inner_copy_find(index, entry);
	Buffer		buffer;

	if (!BlockNumberIsValid(block))
		return InvalidBuffer;
	buffer = arrive(index, KEYTREE_VALUES_ROOT, block, entry, 0, lock_mode, MAX_MOVES_FROM_GUESS);
	if (!BufferIsValid(buffer))
		keytree_inner_copy_drop(index, entry);
	else if (BufferGetBlockNumber(buffer) != block)
		keytree_inner_copy_learn(index, entry, buffer);
	return buffer;
}

/* A descent fails only if pages were split or unlinked meanwhile. So MAX_RESTARTS failures mean damage. */
Buffer
keytree_descend(Relation index, BlockNumber root, const KeytreeEntry *entry, int level, int lock_mode)
{
	if (level == 0 && root == KEYTREE_VALUES_ROOT)
	{
		Buffer		leaf = descend_in_copy(index, entry, lock_mode);

		if (BufferIsValid(leaf))
			return leaf;
	}
	for (int restarts = 0; restarts < MAX_RESTARTS; restarts++)
	{
		bool		too_low = false;
		Buffer		buffer = descend_once(index, root, entry, level, lock_mode, &too_low);

		if (BufferIsValid(buffer) || too_low)
			return buffer;
		CHECK_FOR_INTERRUPTS();
	}
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted", RelationGetRelationName(index)),
			 errdetail("Invariant T1: no way down from block %u reaches a page of level %d whose fences hold the key.",
					   root, level),
			 errhint("Please REINDEX it.")));
}

Buffer
keytree_descend_from(Relation index, BlockNumber root, BlockNumber block,
					 const KeytreeEntry *entry, int level, int lock_mode)
{
	Buffer		buffer = InvalidBuffer;

	if (BlockNumberIsValid(block))
		buffer = arrive(index, root, block, entry, level, lock_mode, MAX_MOVES_FROM_GUESS);
	return BufferIsValid(buffer) ? buffer : keytree_descend(index, root, entry, level, lock_mode);
}

Buffer
keytree_read_leaf(Relation index, BlockNumber root, BlockNumber guess, const KeytreeEntry *entry,
				  bool lock_may_be_spared, KeytreePageHeader *header, bool *is_locked)
{
	Buffer		buffer;

	*is_locked = false;
	if (lock_may_be_spared)
	{
		BlockNumber block = guess;

		if (!BlockNumberIsValid(block) && root == KEYTREE_VALUES_ROOT)
			block = keytree_inner_copy_find(index, entry);
		if (BlockNumberIsValid(block))
		{
			buffer = keytree_read_page(index, block);
			if (keytree_page_begin_read(BufferGetPage(buffer), header) &&
				check_arrival(header, root, entry, 0) == ARRIVED)
				return buffer;
			ReleaseBuffer(buffer);
		}
		/* if the guess was the copy's, the copy is to be repaired */
		if (root == KEYTREE_VALUES_ROOT && guess == keytree_inner_copy_find(index, entry))
			guess = InvalidBlockNumber;
	}
	buffer = keytree_descend_from(index, root, guess, entry, 0, BUFFER_LOCK_SHARE);
	*header = *KeytreeHeader(BufferGetPage(buffer));
	*is_locked = true;
	return buffer;
}

Buffer
keytree_allocate_page(Relation index)
{
	Buffer		buffer;
	bool		lock_extension = !RELATION_IS_LOCAL(index);

	for (;;)
	{
		BlockNumber block = GetFreeIndexPage(index);
		Page		page;

		if (!BlockNumberIsValid(block))
			break;
		buffer = ReadBuffer(index, block);
		page = BufferGetPage(buffer);
		/* whoever locks it now thinks that it is in use, and the map may be wrong after a crash */
		if (ConditionalLockBuffer(buffer))
		{
			if (PageIsNew(page) ||
				(KeytreeHeader(page)->magic == KEYTREE_MAGIC &&
				 (KeytreeHeader(page)->flags & KEYTREE_PAGE_DELETED)))
				return buffer;
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		}
		ReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}

	if (lock_extension)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBuffer(index, P_NEW);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (lock_extension)
		UnlockRelationForExtension(index, ExclusiveLock);
	return buffer;
}
