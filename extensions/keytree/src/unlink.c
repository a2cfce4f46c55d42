/*-------------------------------------------------------------------------
 *
 * unlink.c
 *	  Takes empty leaves out of the tree.
 *
 * The leaf's range goes to its right sibling, with which it must share a
 * parent; otherwise, if the leaf is its parent's only child, the parent goes
 * with it, and so on upwards.  A leaf that is the last of several children
 * stays until its siblings are gone.  One WAL record does all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "change.h"
#include "tree.h"
#include "vacuum.h"

typedef struct Branch
{
	Relation	index;
	BlockNumber root;
	KeytreeEntry low_fence;		/* of all its pages */
	int			levels;
	BlockNumber blocks[KEYTREE_MAX_BRANCH];
	Buffer		lefts[KEYTREE_MAX_BRANCH];
	Buffer		pages[KEYTREE_MAX_BRANCH];
	Buffer		rights[KEYTREE_MAX_BRANCH];
	Buffer		parent;
	int			position;		/* of the branch in the parent */
} Branch;

/* Finds, without keeping locks, how high the branch is; false if it cannot go. */
static bool
measure_branch(Branch *branch, BlockNumber leaf)
{
	branch->blocks[0] = leaf;
	branch->levels = 1;
	for (;;)
	{
		Buffer		buffer = keytree_descend(branch->index, branch->root, &branch->low_fence,
											 branch->levels, BUFFER_LOCK_SHARE);
		Page		page;
		const KeytreePageHeader *header;
		int			position;
		bool		is_ours;
		bool		has_next;
		bool		may_go;

		if (!BufferIsValid(buffer))
			return false;
		page = BufferGetPage(buffer);
		header = KeytreeHeader(page);
		position = keytree_page_child_position(page, &branch->low_fence);
		is_ours = keytree_page_child(page, position) == branch->blocks[branch->levels - 1];
		has_next = position + 1 < header->count;
		may_go = header->count == 1 && !(header->flags & KEYTREE_PAGE_ROOT) &&
			branch->levels < KEYTREE_MAX_BRANCH;
		if (may_go && is_ours)
			branch->blocks[branch->levels] = BufferGetBlockNumber(buffer);
		UnlockReleaseBuffer(buffer);
		if (!is_ours || !(has_next || may_go))
			return false;
		if (has_next)
			return true;
		branch->levels++;
	}
}

static Buffer
lock_block(Relation index, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(index, block);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	keytree_check_page(index, buffer);
	return buffer;
}

/* The page's left sibling at this moment, which may be another one when it is locked. */
static BlockNumber
left_of(Relation index, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(index, block);
	BlockNumber left;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	left = KeytreeHeader(BufferGetPage(buffer))->left;
	UnlockReleaseBuffer(buffer);
	return left;
}

static bool
is_in_level(Buffer buffer, int level)
{
	const KeytreePageHeader *header = KeytreeHeader(BufferGetPage(buffer));

	return header->level == level && !(header->flags & KEYTREE_PAGE_DELETED);
}

/* Locks the branch's page of a level and its siblings; false if they are not as they must be. */
static bool
lock_level(Branch *branch, int level)
{
	Relation	index = branch->index;
	BlockNumber block = branch->blocks[level];
	BlockNumber left = left_of(index, block);
	const KeytreePageHeader *header;
	Page		page;

	if (BlockNumberIsValid(left))
	{
		branch->lefts[level] = lock_block(index, left);
		header = KeytreeHeader(BufferGetPage(branch->lefts[level]));
		/* a page whose left sibling's split is incomplete has no downlink */
		if (!is_in_level(branch->lefts[level], level) || header->right != block ||
			(header->flags & KEYTREE_PAGE_SPLIT))
			return false;
	}
	branch->pages[level] = lock_block(index, block);
	page = BufferGetPage(branch->pages[level]);
	header = KeytreeHeader(page);
	if (!is_in_level(branch->pages[level], level) ||
		header->left != left || !BlockNumberIsValid(header->right) ||
		(header->flags & (KEYTREE_PAGE_SPLIT | KEYTREE_PAGE_ROOT)) ||
		keytree_compare(&header->low_fence, &branch->low_fence) != 0 ||
		(level == 0 ? header->count != 0 :
		 header->count != 1 || keytree_page_child(page, 0) != branch->blocks[level - 1]))
		return false;
	branch->rights[level] = lock_block(index, header->right);
	page = BufferGetPage(branch->rights[level]);
	return is_in_level(branch->rights[level], level) && KeytreeHeader(page)->left == block &&
		(level == 0 || keytree_page_child(page, 0) == BufferGetBlockNumber(branch->rights[level - 1]));
}

static bool
lock_parent(Branch *branch)
{
	Page		page;

	branch->parent = keytree_descend(branch->index, branch->root, &branch->low_fence,
									 branch->levels, BUFFER_LOCK_EXCLUSIVE);
	if (!BufferIsValid(branch->parent))
		return false;
	page = BufferGetPage(branch->parent);
	branch->position = keytree_page_child_position(page, &branch->low_fence);
	return branch->position + 1 < KeytreeHeader(page)->count &&
		keytree_page_child(page, branch->position) == branch->blocks[branch->levels - 1] &&
		keytree_page_child(page, branch->position + 1) ==
		BufferGetBlockNumber(branch->rights[branch->levels - 1]);
}

static void
release(Buffer buffer)
{
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
}

/*
 * The branch is measured without keeping locks, and checked again while it is
 * locked: lower levels before upper ones, left before right. Its blocks are free at
 * once, since a process that still follows a link to one of them notices on arrival.
 */
int
keytree_unlink_leaf(Relation index, BlockNumber root, BlockNumber leaf, const KeytreeEntry *low_fence)
{
	Branch		branch = {.index = index,.root = root,.low_fence = *low_fence};
	bool		may_go = true;

	if (!measure_branch(&branch, leaf))
		return 0;
	for (int level = 0; level < branch.levels && may_go; level++)
		may_go = lock_level(&branch, level);
	may_go = may_go && lock_parent(&branch);
	if (may_go)
	{
		keytree_change_unlink(index, branch.lefts, branch.pages, branch.rights, branch.levels,
							  branch.parent, branch.position);
		PredicateLockPageCombine(index, leaf, BufferGetBlockNumber(branch.rights[0]));
	}
	release(branch.parent);
	for (int level = branch.levels; level-- > 0;)
	{
		release(branch.rights[level]);
		release(branch.pages[level]);
		release(branch.lefts[level]);
	}
	if (!may_go)
		return 0;
	for (int level = 0; level < branch.levels; level++)
		RecordFreeIndexPage(index, branch.blocks[level]);
	return branch.levels;
}
