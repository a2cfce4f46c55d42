/*-------------------------------------------------------------------------
 *
 * change.c
 *	  The atomic changes of the tree, each with its replay beside it.
 *
 * A change is a function on pages (apply_...), called by the primary in a
 * critical section and by replay, so that both do the same.  Replay keeps
 * all pages of a record locked until it is done: readers of a standby see
 * what readers of the primary can see.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/bufmask.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "access/xlogutils.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "change.h"

#define XLOG_KEYTREE_INSERT 0x00
#define XLOG_KEYTREE_SPLIT 0x10
#define XLOG_KEYTREE_SPLIT_ROOT 0x20
#define XLOG_KEYTREE_VACUUM 0x30
#define XLOG_KEYTREE_DELETE 0x40
#define XLOG_KEYTREE_UNLINK 0x50

static bool rmgr_is_registered = false;

void
keytree_require_rmgr(Relation index)
{
	if (RelationNeedsWAL(index) && !rmgr_is_registered)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot change logged keytree index \"%s\" because penumbra_keytree is not preloaded",
						RelationGetRelationName(index)),
				 errdetail("The server could not recover from a crash, for only the library can replay the index's WAL."),
				 errhint("Add penumbra_keytree to shared_preload_libraries and restart the server, or use an unlogged table.")));
}

/* INSERT: block 0 the page, block 1 the child that was split */

#define INSERT_HAS_LOW 0x01
#define INSERT_HAS_CHILD 0x02
#define INSERT_MAX_BYTES (sizeof(uint16) + 1 + 3 * sizeof(uint64) + sizeof(BlockNumber))

/* The flags say whether there are a low half and a child; without them their bytes are not written. */
static int
insert_to_bytes(char *bytes, int position, const KeytreeItem *item)
{
	uint16		position16 = (uint16) position;
	char	   *at = bytes + sizeof(position16);
	uint8		flags = 0;

	memcpy(bytes, &position16, sizeof(position16));
	if (item->entry.low != 0)
		flags |= INSERT_HAS_LOW;
	if (BlockNumberIsValid(item->child))
		flags |= INSERT_HAS_CHILD;
	*at++ = (char) flags;
	memcpy(at, &item->entry.high, sizeof(uint64));
	at += sizeof(uint64);
	memcpy(at, &item->entry.tid, sizeof(uint64));
	at += sizeof(uint64);
	if (flags & INSERT_HAS_LOW)
	{
		memcpy(at, &item->entry.low, sizeof(uint64));
		at += sizeof(uint64);
	}
	if (flags & INSERT_HAS_CHILD)
	{
		memcpy(at, &item->child, sizeof(BlockNumber));
		at += sizeof(BlockNumber);
	}
	return at - bytes;
}

/* Returns the position. Bytes of a WAL record are not aligned, so they are copied. */
static int
insert_from_bytes(const char *bytes, KeytreeItem *item)
{
	uint16		position;
	const char *at = bytes + sizeof(position);
	uint8		flags = (uint8) *at++;

	memcpy(&position, bytes, sizeof(position));
	*item = (KeytreeItem)
	{
		.child = InvalidBlockNumber
	};
	memcpy(&item->entry.high, at, sizeof(uint64));
	at += sizeof(uint64);
	memcpy(&item->entry.tid, at, sizeof(uint64));
	at += sizeof(uint64);
	if (flags & INSERT_HAS_LOW)
	{
		memcpy(&item->entry.low, at, sizeof(uint64));
		at += sizeof(uint64);
	}
	if (flags & INSERT_HAS_CHILD)
		memcpy(&item->child, at, sizeof(BlockNumber));
	return position;
}

static void
apply_insert(char *page, int position, const KeytreeItem *item)
{
	keytree_page_begin_write(page);
	if (!keytree_page_insert(page, position, item))
		elog(PANIC, "keytree entry does not fit its page");
	keytree_page_end_write(page);
}

static void
apply_split_is_complete(char *page)
{
	keytree_page_begin_write(page);
	KeytreeHeader(page)->flags &= ~KEYTREE_PAGE_SPLIT;
	keytree_page_end_write(page);
}

/*
 * The record that inserts a downlink also clears SPLIT of its child. So after a
 * crash the split is either incomplete or complete.
 */
void
keytree_change_insert(Relation index, Buffer buffer, int position, const KeytreeItem *item, Buffer child)
{
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	apply_insert(page, position, item);
	MarkBufferDirty(buffer);
	if (BufferIsValid(child))
	{
		apply_split_is_complete(BufferGetPage(child));
		MarkBufferDirty(child);
	}
	if (RelationNeedsWAL(index))
	{
		char		bytes[INSERT_MAX_BYTES];
		int			length = insert_to_bytes(bytes, position, item);
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterBufData(0, bytes, length);
		if (BufferIsValid(child))
			XLogRegisterBuffer(1, child, REGBUF_STANDARD);
		lsn = XLogInsert(KEYTREE_RMGR_ID, XLOG_KEYTREE_INSERT);
		PageSetLSN(page, lsn);
		if (BufferIsValid(child))
			PageSetLSN(BufferGetPage(child), lsn);
	}
	END_CRIT_SECTION();
}

/* Replay: reads a block; true if it is to be changed by the caller. */
static bool
redo_read(XLogReaderState *record, uint8 block_id, bool cleanup, Buffer *buffer)
{
	return XLogReadBufferForRedoExtended(record, block_id, RBM_NORMAL, cleanup, buffer) == BLK_NEEDS_REDO;
}

static void
redo_finish(XLogReaderState *record, Buffer buffer)
{
	PageSetLSN(BufferGetPage(buffer), record->EndRecPtr);
	MarkBufferDirty(buffer);
}

static void
redo_image(XLogReaderState *record, uint8 block_id, Buffer *buffer)
{
	if (XLogReadBufferForRedo(record, block_id, buffer) != BLK_RESTORED)
		elog(ERROR, "keytree WAL record lacks the image of block reference %u", block_id);
}

static void
redo_release(Buffer buffer)
{
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
}

/* The child is locked before its parent, as on the primary. */
static void
redo_insert(XLogReaderState *record)
{
	Buffer		buffer;
	Buffer		child = InvalidBuffer;
	Size		length;

	if (XLogRecHasBlockRef(record, 1) && redo_read(record, 1, false, &child))
	{
		apply_split_is_complete(BufferGetPage(child));
		redo_finish(record, child);
	}
	if (redo_read(record, 0, false, &buffer))
	{
		KeytreeItem item;
		int			position = insert_from_bytes(XLogRecGetBlockData(record, 0, &length), &item);

		apply_insert(BufferGetPage(buffer), position, &item);
		redo_finish(record, buffer);
	}
	redo_release(buffer);
	redo_release(child);
}

/* SPLIT: block 0 the left half, block 1 the right half (image), block 2 the former right sibling */

typedef struct SplitRecord
{
	KeytreeEntry separator;
	BlockNumber right;
	uint16		keep;
	uint16		zero;
}			SplitRecord;

StaticAssertDecl(sizeof(SplitRecord) == 32, "no padding in a record");

static void
apply_split_left(char *page, const SplitRecord *split)
{
	KeytreePageHeader *header = KeytreeHeader(page);

	keytree_page_begin_write(page);
	keytree_page_keep(page, 0, split->keep);
	header->high_fence = split->separator;
	header->right = split->right;
	header->flags |= KEYTREE_PAGE_SPLIT;
	keytree_page_end_write(page);
}

static void
apply_left_sibling(char *page, BlockNumber left)
{
	keytree_page_begin_write(page);
	KeytreeHeader(page)->left = left;
	keytree_page_end_write(page);
}

/* A fresh page that holds the entries [from, to) of another and covers [low, high). */
static void
fill_part(char *page, const char *source, int from, int to, KeytreeEntry low, KeytreeEntry high)
{
	const KeytreePageHeader *old = KeytreeHeader(source);
	KeytreePageHeader *header = KeytreeHeader(page);

	keytree_page_begin_write(page);
	keytree_page_copy(page, source);
	/* an inner page's first entry, if it comes along, stands for the source's low fence */
	if (from > 0)
		header->low_fence = low;
	keytree_page_keep(page, from, to);
	header->low_fence = low;
	header->high_fence = high;
	header->flags = old->flags & (KEYTREE_PAGE_NULLS | KEYTREE_PAGE_HAS_DEAD);
	keytree_page_end_write(page);
}

/*
 * The right half is logged as an image. The left page only loses entries, so the
 * record has the number that it keeps. Its high fence and its right link change in
 * one record: every key is on the left page or behind its right link.
 */
void
keytree_change_split(Relation index, Buffer left, Buffer right, Buffer old_right,
					 int keep, const KeytreeEntry *separator)
{
	Page		left_page = BufferGetPage(left);
	Page		right_page = BufferGetPage(right);
	KeytreePageHeader *old = KeytreeHeader(left_page);
	SplitRecord split = {.separator = *separator, .right = BufferGetBlockNumber(right), .keep = keep};

	START_CRIT_SECTION();
	fill_part(right_page, left_page, keep, old->count, *separator, old->high_fence);
	KeytreeHeader(right_page)->left = BufferGetBlockNumber(left);
	apply_split_left(left_page, &split);
	MarkBufferDirty(left);
	MarkBufferDirty(right);
	if (BufferIsValid(old_right))
	{
		apply_left_sibling(BufferGetPage(old_right), split.right);
		MarkBufferDirty(old_right);
	}
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterData((char *) &split, sizeof(split));
		XLogRegisterBuffer(0, left, REGBUF_STANDARD);
		XLogRegisterBuffer(1, right, REGBUF_STANDARD | REGBUF_FORCE_IMAGE);
		if (BufferIsValid(old_right))
			XLogRegisterBuffer(2, old_right, REGBUF_STANDARD);
		lsn = XLogInsert(KEYTREE_RMGR_ID, XLOG_KEYTREE_SPLIT);
		PageSetLSN(left_page, lsn);
		PageSetLSN(right_page, lsn);
		if (BufferIsValid(old_right))
			PageSetLSN(BufferGetPage(old_right), lsn);
	}
	END_CRIT_SECTION();
}

/*
 * The three pages stay locked to the end. A reader holds one lock at a time, so the
 * order of these locks cannot make a deadlock.
 */
static void
redo_split(XLogReaderState *record)
{
	const SplitRecord *split = (const SplitRecord *) XLogRecGetData(record);
	Buffer		left;
	Buffer		right;
	Buffer		old_right = InvalidBuffer;

	redo_image(record, 1, &right);
	if (redo_read(record, 0, false, &left))
	{
		apply_split_left(BufferGetPage(left), split);
		redo_finish(record, left);
	}
	if (XLogRecHasBlockRef(record, 2) && redo_read(record, 2, false, &old_right))
	{
		apply_left_sibling(BufferGetPage(old_right), split->right);
		redo_finish(record, old_right);
	}
	redo_release(right);
	redo_release(left);
	redo_release(old_right);
}

/* SPLIT_ROOT: block 0 the root, 1 and 2 its children, all images */

/*
 * The root keeps its block: its entries move to two new pages, and nothing that
 * leads to it changes. A root covers all entries, so the outer fences of the two
 * pages are the first and the last one.
 */
void
keytree_change_split_root(Relation index, Buffer root, Buffer left, Buffer right,
						  int keep, const KeytreeEntry *separator)
{
	Page		root_page = BufferGetPage(root);
	KeytreePageHeader *header = KeytreeHeader(root_page);
	Buffer		buffers[] = {root, left, right};
	KeytreeItem children[] = {
		{.entry = KEYTREE_ENTRY_FIRST, .child = BufferGetBlockNumber(left)},
		{.entry = *separator, .child = BufferGetBlockNumber(right)}
	};

	START_CRIT_SECTION();
	fill_part(BufferGetPage(left), root_page, 0, keep, KEYTREE_ENTRY_FIRST, *separator);
	KeytreeHeader(BufferGetPage(left))->right = BufferGetBlockNumber(right);
	fill_part(BufferGetPage(right), root_page, keep, header->count, *separator, KEYTREE_ENTRY_LAST);
	KeytreeHeader(BufferGetPage(right))->left = BufferGetBlockNumber(left);
	keytree_page_begin_write(root_page);
	keytree_page_init(root_page, header->level + 1, header->flags & (KEYTREE_PAGE_ROOT | KEYTREE_PAGE_NULLS));
	(void) keytree_page_pack(root_page, children, lengthof(children));
	keytree_page_end_write(root_page);
	for (int i = 0; i < lengthof(buffers); i++)
		MarkBufferDirty(buffers[i]);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		for (int i = 0; i < lengthof(buffers); i++)
			XLogRegisterBuffer(i, buffers[i], REGBUF_STANDARD | REGBUF_FORCE_IMAGE);
		lsn = XLogInsert(KEYTREE_RMGR_ID, XLOG_KEYTREE_SPLIT_ROOT);
		for (int i = 0; i < lengthof(buffers); i++)
			PageSetLSN(BufferGetPage(buffers[i]), lsn);
	}
	END_CRIT_SECTION();
}

static void
redo_split_root(XLogReaderState *record)
{
	Buffer		buffers[3];

	for (int i = lengthof(buffers); i-- > 0;)
		redo_image(record, i, &buffers[i]);
	for (int i = 0; i < lengthof(buffers); i++)
		redo_release(buffers[i]);
}

/* VACUUM and DELETE: block 0 the page, its data the positions */

typedef struct DeleteRecord
{
	TransactionId horizon;
	uint32		is_catalog;
}			DeleteRecord;

static void
apply_delete(char *page, const uint16 *positions, int count)
{
	keytree_page_begin_write(page);
	keytree_page_delete(page, positions, count);
	KeytreeHeader(page)->flags &= ~KEYTREE_PAGE_HAS_DEAD;
	keytree_page_end_write(page);
}

/* Clears HAS_DEAD too, which is a hint: scans do not skip a marked entry that stays until another one is marked. */
static void
change_delete(Relation index, Buffer buffer, const uint16 *positions, int count,
			  uint8 info, DeleteRecord *record)
{
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	apply_delete(page, positions, count);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		if (record != NULL)
			XLogRegisterData((char *) record, sizeof(*record));
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) positions, count * sizeof(uint16));
		lsn = XLogInsert(KEYTREE_RMGR_ID, info);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
}

void
keytree_change_vacuum(Relation index, Buffer buffer, const uint16 *positions, int count)
{
	change_delete(index, buffer, positions, count, XLOG_KEYTREE_VACUUM, NULL);
}

void
keytree_change_delete(Relation index, Relation heap, Buffer buffer,
					  const uint16 *positions, int count, TransactionId horizon)
{
	DeleteRecord record = {.horizon = horizon,.is_catalog = compat_is_catalog_for_decoding(heap)};

	change_delete(index, buffer, positions, count, XLOG_KEYTREE_DELETE, &record);
}

/* A standby's index-only scans hold pins for the same reason as the primary's, so VACUUM waits for them. */
static void
redo_delete(XLogReaderState *record, bool is_vacuum)
{
	Buffer		buffer;
	Size		length;

	if (!is_vacuum && InHotStandby)
	{
		const DeleteRecord *data = (const DeleteRecord *) XLogRecGetData(record);

		compat_resolve_snapshot_conflict(record, data->horizon, data->is_catalog != 0);
	}
	if (redo_read(record, 0, is_vacuum, &buffer))
	{
		const uint16 *positions = (const uint16 *) XLogRecGetBlockData(record, 0, &length);

		apply_delete(BufferGetPage(buffer), positions, length / sizeof(uint16));
		redo_finish(record, buffer);
	}
	redo_release(buffer);
}

/* UNLINK: block 0 the parent, then left, page and right of every level */

typedef struct UnlinkRecord
{
	uint16		levels;
	uint16		position;		/* of the branch in the parent */
	BlockNumber blocks[3 * KEYTREE_MAX_BRANCH];	/* left, page and right of every level */
}			UnlinkRecord;

static void
apply_unlink_parent(char *page, const UnlinkRecord *unlink)
{
	uint16		next = unlink->position + 1;

	keytree_page_begin_write(page);
	keytree_page_replace_child(page, unlink->position, keytree_page_child(page, next));
	keytree_page_delete(page, &next, 1);
	keytree_page_end_write(page);
}

/* which: 0 the left sibling, 1 the page, 2 the right sibling */
static void
apply_unlink_level(char *page, const UnlinkRecord *unlink, const KeytreeEntry *low_fence, int level, int which)
{
	const BlockNumber *blocks = &unlink->blocks[3 * level];
	KeytreePageHeader *header = KeytreeHeader(page);

	keytree_page_begin_write(page);
	switch (which)
	{
		case 0:
			header->right = blocks[2];
			break;
		case 1:
			header->flags |= KEYTREE_PAGE_DELETED;
			break;
		default:
			header->left = blocks[0];
			header->low_fence = *low_fence;
			break;
	}
	keytree_page_end_write(page);
}

/*
 * One record has all levels of the branch: no crash leaves a downlink to a page that
 * is gone. All pages of the branch have the leaf's low fence, and on each level the
 * right sibling takes over the range from there on. Memory for so many blocks is
 * asked for before the critical section, where a failed allocation would be a PANIC.
 */
void
keytree_change_unlink(Relation index, const Buffer *lefts, const Buffer *pages,
					  const Buffer *rights, int levels, Buffer parent, int position)
{
	UnlinkRecord unlink = {.levels = levels,.position = position};
	KeytreeEntry low_fence = KeytreeHeader(BufferGetPage(pages[0]))->low_fence;
	Buffer		buffers[1 + 3 * KEYTREE_MAX_BRANCH];
	int			buffers_count = 1 + 3 * levels;

	buffers[0] = parent;
	for (int level = 0; level < levels; level++)
	{
		buffers[1 + 3 * level] = lefts[level];
		buffers[2 + 3 * level] = pages[level];
		buffers[3 + 3 * level] = rights[level];
	}
	for (int i = 1; i < buffers_count; i++)
		unlink.blocks[i - 1] = BufferIsValid(buffers[i]) ? BufferGetBlockNumber(buffers[i]) : InvalidBlockNumber;

	if (RelationNeedsWAL(index))
		XLogEnsureRecordSpace(buffers_count - 1, 5);
	START_CRIT_SECTION();
	apply_unlink_parent(BufferGetPage(parent), &unlink);
	MarkBufferDirty(parent);
	for (int i = 1; i < buffers_count; i++)
	{
		if (!BufferIsValid(buffers[i]))
			continue;
		apply_unlink_level(BufferGetPage(buffers[i]), &unlink, &low_fence, (i - 1) / 3, (i - 1) % 3);
		MarkBufferDirty(buffers[i]);
	}
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterData((char *) &low_fence, sizeof(low_fence));
		XLogRegisterData((char *) &unlink, offsetof(UnlinkRecord, blocks) + 3 * levels * sizeof(BlockNumber));
		for (int i = 0; i < buffers_count; i++)
			if (BufferIsValid(buffers[i]))
				XLogRegisterBuffer(i, buffers[i], REGBUF_STANDARD);
		lsn = XLogInsert(KEYTREE_RMGR_ID, XLOG_KEYTREE_UNLINK);
		for (int i = 0; i < buffers_count; i++)
			if (BufferIsValid(buffers[i]))
				PageSetLSN(BufferGetPage(buffers[i]), lsn);
	}
	END_CRIT_SECTION();
}

static void
redo_unlink(XLogReaderState *record)
{
	KeytreeEntry low_fence;
	UnlinkRecord unlink;
	Buffer		buffers[1 + 3 * KEYTREE_MAX_BRANCH];

	memcpy(&low_fence, XLogRecGetData(record), sizeof(low_fence));
	memcpy(&unlink, XLogRecGetData(record) + sizeof(low_fence), XLogRecGetDataLen(record) - sizeof(low_fence));
	/* children before the parent, as on the primary */
	for (int i = 1; i < 1 + 3 * unlink.levels; i++)
	{
		buffers[i] = InvalidBuffer;
		if (XLogRecHasBlockRef(record, i) && redo_read(record, i, false, &buffers[i]))
		{
			apply_unlink_level(BufferGetPage(buffers[i]), &unlink, &low_fence, (i - 1) / 3, (i - 1) % 3);
			redo_finish(record, buffers[i]);
		}
	}
	if (redo_read(record, 0, false, &buffers[0]))
	{
		apply_unlink_parent(BufferGetPage(buffers[0]), &unlink);
		redo_finish(record, buffers[0]);
	}
	for (int i = 0; i < 1 + 3 * unlink.levels; i++)
		redo_release(buffers[i]);
}

static void
keytree_redo(XLogReaderState *record)
{
	switch (XLogRecGetInfo(record) & ~XLR_INFO_MASK)
	{
		case XLOG_KEYTREE_INSERT:
			redo_insert(record);
			break;
		case XLOG_KEYTREE_SPLIT:
			redo_split(record);
			break;
		case XLOG_KEYTREE_SPLIT_ROOT:
			redo_split_root(record);
			break;
		case XLOG_KEYTREE_VACUUM:
			redo_delete(record, true);
			break;
		case XLOG_KEYTREE_DELETE:
			redo_delete(record, false);
			break;
		case XLOG_KEYTREE_UNLINK:
			redo_unlink(record);
			break;
		default:
			elog(PANIC, "unknown keytree WAL record %u", XLogRecGetInfo(record));
	}
}

static const char *
keytree_identify(uint8 info)
{
	switch (info & ~XLR_INFO_MASK)
	{
		case XLOG_KEYTREE_INSERT:
			return "INSERT";
		case XLOG_KEYTREE_SPLIT:
			return "SPLIT";
		case XLOG_KEYTREE_SPLIT_ROOT:
			return "SPLIT_ROOT";
		case XLOG_KEYTREE_VACUUM:
			return "VACUUM";
		case XLOG_KEYTREE_DELETE:
			return "DELETE";
		case XLOG_KEYTREE_UNLINK:
			return "UNLINK";
	}
	return NULL;
}

/* A record with an image of the block has no data of it. */
static void
keytree_desc(StringInfo buffer, XLogReaderState *record)
{
	Size		length = 0;
	const char *bytes;

	switch (XLogRecGetInfo(record) & ~XLR_INFO_MASK)
	{
		case XLOG_KEYTREE_INSERT:
			bytes = XLogRecGetBlockData(record, 0, &length);
			if (bytes != NULL)
			{
				KeytreeItem item;

				appendStringInfo(buffer, "position %d", insert_from_bytes(bytes, &item));
			}
			break;
		case XLOG_KEYTREE_SPLIT:
			{
				const SplitRecord *split = (const SplitRecord *) XLogRecGetData(record);

				appendStringInfo(buffer, "keep %u, right %u", split->keep, split->right);
			}
			break;
		case XLOG_KEYTREE_VACUUM:
		case XLOG_KEYTREE_DELETE:
			if (XLogRecGetBlockData(record, 0, &length) != NULL)
				appendStringInfo(buffer, "count %zu", length / sizeof(uint16));
			break;
		case XLOG_KEYTREE_UNLINK:
			appendStringInfo(buffer, "parent position %u",
							 ((const UnlinkRecord *) (XLogRecGetData(record) + sizeof(KeytreeEntry)))->position);
			break;
	}
}

/* What primary and standby may have differently: hints and the count of changes. */
static void
keytree_mask(char *page, BlockNumber block)
{
	KeytreePageHeader *header = KeytreeHeader(page);
	int			tail_width = keytree_tail_width(header);

	mask_page_lsn_and_checksum(page);
	mask_page_hint_bits(page);
	if (header->flags & KEYTREE_PAGE_META)
		return;
	mask_unused_space(page);
	header->version = 0;
	header->flags &= ~KEYTREE_PAGE_HAS_DEAD;
	if (header->level == 0)
		for (int i = 0; i < header->count; i++)
			page[BLCKSZ - (i + 1) * tail_width + header->low_width] &= ~1;
}

static RmgrData keytree_rmgr = {
	.rm_name = "penumbra_keytree",
	.rm_redo = keytree_redo,
	.rm_desc = keytree_desc,
	.rm_identify = keytree_identify,
	.rm_mask = keytree_mask,
};

void
keytree_register_rmgr(void)
{
	RegisterCustomRmgr(KEYTREE_RMGR_ID, &keytree_rmgr);
	rmgr_is_registered = true;
}
