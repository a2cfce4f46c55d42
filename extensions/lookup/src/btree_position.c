/*-------------------------------------------------------------------------
 *
 * btree_position.c
 *	  The first page of a btree scan, without locks on the inner pages.
 *
 * Inner pages are read where the buffer pool has them, without pin and lock:
 * what is read may be torn, or another page's.  It yields a block number that
 * is believed only if the leaf page, pinned and locked, shows by its own keys
 * that it holds the beginning of the range.  Else btree searches by itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/heapam.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "access/tupmacs.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/uuid.h"

#include "btree_position.h"

/* Of each table of buffers, a power of two: 64 kB of buffer numbers. */
#define ROUTE_BITS 14

/*
 * One of so many descents pins all pages.  Without pins the buffer pool would
 * take inner pages for unused, and give their buffers away.
 */
#define PINNED_SHARE 32

/* One end of the wanted range. An end without a key of its own has the equal parts only. */
typedef struct Bound
{
	const BtreePosition *position;
	int			part_count;
	bool		is_strict;
	PartKind	first_kind;
	int64		values[POSITION_MAX_PARTS];
} Bound;

/* Where a page was last, by a hash of relation and block. It may be elsewhere by now. */
static Buffer *routes;			/* of indexes */
static Buffer *row_routes;		/* of tables */

/* Column types whose order is that of numbers. */
static bool
find_kind(Oid order_function, PartKind *kind)
{
	switch (order_function)
	{
		case F_BTINT2CMP:
			*kind = PART_INT2;
			return true;
		case F_BTINT4CMP:
		case F_DATE_CMP:
			*kind = PART_INT4;
			return true;
		case F_BTINT8CMP:
		case F_TIMESTAMP_CMP:
		case F_TIMESTAMPTZ_CMP:
			*kind = PART_INT8;
			return true;
		case F_BTOIDCMP:
			*kind = PART_UINT4;
			return true;
		case F_UUID_CMP:
			*kind = PART_BYTES8;
			return true;
		default:
			return false;
	}
}

/* Of a key's argument: the column's own type, or another integer. */
static bool
find_argument_kind(Oid column_type, PartKind column_kind, Oid argument_type, PartKind *kind)
{
	*kind = column_kind;
	if (!OidIsValid(argument_type) || argument_type == column_type)
		return true;
	if (column_type != INT2OID && column_type != INT4OID && column_type != INT8OID)
		return false;
	switch (argument_type)
	{
		case INT2OID:
			*kind = PART_INT2;
			return true;
		case INT4OID:
			*kind = PART_INT4;
			return true;
		case INT8OID:
			*kind = PART_INT8;
			return true;
		default:
			return false;
	}
}

/* The parts of the next column, which begins at *offset of an entry's data. */
static bool
add_column(BtreePosition *position, Relation index, int attribute, int *offset)
{
	Form_pg_attribute form = TupleDescAttr(RelationGetDescr(index), attribute - 1);
	PartKind	kind;
	int			part_count;

	if (attribute > IndexRelationGetNumberOfKeyAttributes(index) || index->rd_indoption[attribute - 1] != 0 ||
		!find_kind(index_getprocid(index, attribute, BTORDER_PROC), &kind))
		return false;
	part_count = kind == PART_BYTES8 ? 2 : 1;
	if (position->part_count + part_count > POSITION_MAX_PARTS)
		return false;
	*offset = att_align_nominal(*offset, form->attalign);
	for (int i = 0; i < part_count; i++)
	{
		PositionPart part = {.kind = kind, .attribute = attribute, .offset = *offset + i * 8, .key = -1};

		position->parts[position->part_count++] = part;
	}
	*offset += form->attlen;
	position->data_bytes = *offset;
	return true;
}

/* Keys of one column: one of equality, or one for each end of a range. */
static bool
add_key(BtreePosition *position, const ScanKeyData *key, int number, int first_part, Oid column_type)
{
	PartKind	argument_kind;
	PositionEnd end = {.key = number};

	/* No range has NULLs. */
	if (key->sk_flags == (SK_ISNULL | SK_SEARCHNOTNULL) && position->equal_part_count <= first_part)
	{
		position->has_range = true;
		return true;
	}
	if ((key->sk_flags & ~SK_ISNULL) != 0 ||
		!find_argument_kind(column_type, position->parts[first_part].kind, key->sk_subtype, &argument_kind))
		return false;
	end.argument_kind = argument_kind;
	end.is_strict = key->sk_strategy == BTLessStrategyNumber || key->sk_strategy == BTGreaterStrategyNumber;
	switch (key->sk_strategy)
	{
		case BTEqualStrategyNumber:
			if (position->equal_part_count > first_part || position->has_range)
				return false;
			for (int i = first_part; i < position->part_count; i++)
			{
				position->parts[i].key = number;
				position->parts[i].argument_kind = argument_kind;
			}
			position->equal_part_count = position->part_count;
			return true;
		case BTGreaterStrategyNumber:
		case BTGreaterEqualStrategyNumber:
			if (position->equal_part_count > first_part || position->lower.key >= 0)
				return false;
			position->lower = end;
			position->has_range = true;
			return true;
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			if (position->equal_part_count > first_part || position->upper.key >= 0)
				return false;
			position->upper = end;
			position->has_range = true;
			return true;
		default:
			return false;
	}
}

BtreePosition
btree_position_describe(Relation index, const ScanKeyData *keys, int key_count)
{
	const BtreePosition unknown = {.is_known = false};
	BtreePosition position = {.lower.key = -1, .upper.key = -1};
	int			attribute = 0;
	int			first_part = 0;
	int			offset = 0;

	if (index->rd_rel->relam != BTREE_AM_OID || RelationUsesLocalBuffers(index))
		return unknown;
	for (int i = 0; i < key_count; i++)
	{
		if (keys[i].sk_attno != attribute)
		{
			/* Columns follow each other, and only the last one may have a range. */
			if (keys[i].sk_attno != attribute + 1 || position.equal_part_count < position.part_count)
				return unknown;
			first_part = position.part_count;
			if (!add_column(&position, index, ++attribute, &offset))
				return unknown;
		}
		if (!add_key(&position, &keys[i], i, first_part, index->rd_opcintype[attribute - 1]))
			return unknown;
	}
	position.is_known = true;
	return position;
}

static inline int64
read_bytes8(const void *bytes)
{
	uint64		value;

	memcpy(&value, bytes, sizeof(value));
	/* Big-endian bytes have the order of unsigned numbers. */
	return (int64) (pg_ntoh64(value) ^ (UINT64CONST(1) << 63));
}

static inline int64
read_part(PartKind kind, const char *data)
{
	/* One branch for the most frequent one. */
	if (likely(kind == PART_INT4))
		return *(const int32 *) data;
	switch (kind)
	{
		case PART_INT2:
			return *(const int16 *) data;
		case PART_INT4:
			return *(const int32 *) data;
		case PART_INT8:
			return *(const int64 *) data;
		case PART_UINT4:
			return *(const uint32 *) data;
		case PART_BYTES8:
			return read_bytes8(data);
	}
	pg_unreachable();
}

/* PART_NUMBER is 1 for the second half of a uuid. */
static inline int64
read_argument(PartKind kind, Datum argument, int part_number)
{
	switch (kind)
	{
		case PART_INT2:
			return DatumGetInt16(argument);
		case PART_INT4:
			return DatumGetInt32(argument);
		case PART_INT8:
			return DatumGetInt64(argument);
		case PART_UINT4:
			return DatumGetObjectId(argument);
		case PART_BYTES8:
			return read_bytes8(DatumGetUUIDP(argument)->data + part_number * 8);
	}
	pg_unreachable();
}

/* False: a key is NULL, and btree knows what that means. */
static bool
make_bound(const BtreePosition *position, const PositionEnd *end, const ScanKeyData *keys, Bound *bound)
{
	bound->position = position;
	bound->first_kind = position->parts[0].kind;
	bound->is_strict = end->key >= 0 && end->is_strict;
	bound->part_count = end->key >= 0 ? position->part_count : position->equal_part_count;
	for (int i = 0; i < bound->part_count; i++)
	{
		const PositionPart *part = &position->parts[i];
		bool		is_equal = i < position->equal_part_count;
		const ScanKeyData *key = &keys[is_equal ? part->key : end->key];
		bool		is_second = i > 0 && position->parts[i - 1].attribute == part->attribute;

		if (key->sk_flags != 0)
			return false;
		bound->values[i] = read_argument(is_equal ? part->argument_kind : end->argument_kind, key->sk_argument,
										 is_second);
	}
	return true;
}

/* How many columns the entry has, which is the bound between two pages or leads to a page. */
static inline int
pivot_attribute_count(const char *entry)
{
	IndexTuple	tuple = (IndexTuple) entry;

	return (tuple->t_info & INDEX_ALT_TID_MASK) == 0 ? INDEX_MAX_KEYS :
		ItemPointerGetOffsetNumberNoCheck(&tuple->t_tid) & BT_OFFSET_MASK;
}

/* NULLs come after all values, and columns that a pivot lacks before them. */
static int
compare_columns(const char *entry, bool is_pivot, const Bound *bound)
{
	const BtreePosition *position = bound->position;
	int			attribute_count = is_pivot ? pivot_attribute_count(entry) : INDEX_MAX_KEYS;
	uint16		info = ((IndexTuple) entry)->t_info;
	const uint8 *nulls = (const uint8 *) (entry + sizeof(IndexTupleData));
	bool		has_nulls = (info & INDEX_NULL_MASK) != 0;
	const char *data = entry + IndexInfoFindDataOffset(info);

	for (int i = 0; i < bound->part_count; i++)
	{
		const PositionPart *part = &position->parts[i];
		int64		value;

		if (part->attribute > attribute_count)
			return -1;
		if (has_nulls && att_isnull(part->attribute - 1, nulls))
			return 1;
		value = read_part(part->kind, data + part->offset);
		if (value != bound->values[i])
			return value < bound->values[i] ? -1 : 1;
	}
	/* A NULL is in no range, and after all that are. */
	for (int i = bound->part_count; has_nulls && i < position->part_count; i++)
	{
		if (position->parts[i].attribute <= attribute_count && att_isnull(position->parts[i].attribute - 1, nulls))
			return 1;
	}
	return 0;
}

/* Most entries differ in the first part, which every one that is compared has. */
static inline int
compare_entry(const char *entry, bool is_pivot, const Bound *bound)
{
	if (bound->part_count > 0 && (((IndexTuple) entry)->t_info & INDEX_NULL_MASK) == 0)
	{
		int64		value = read_part(bound->first_kind, entry + sizeof(IndexTupleData));

		if (value != bound->values[0])
			return value < bound->values[0] ? -1 : 1;
		if (bound->position->part_count == 1)
			return 0;
	}
	return compare_columns(entry, is_pivot, bound);
}

/* Below the range: it begins after this entry. */
static inline bool
is_before(const char *entry, bool is_pivot, const Bound *lower)
{
	int			order = compare_entry(entry, is_pivot, lower);

	return order < 0 || (order == 0 && lower->is_strict);
}

/* Above the range: it ends before this entry. */
static inline bool
is_behind(const char *entry, bool is_pivot, const Bound *upper)
{
	int			order = compare_entry(entry, is_pivot, upper);

	return order > 0 || (order == 0 && upper->is_strict);
}

/* An entry of an inner page that may change meanwhile; NULL: it is none.  *copy has room for an entry's data. */
static inline const char *
inner_entry(const PageHeaderData *page, OffsetNumber number, int data_bytes, char *copy)
{
	uint32		bits = *(const volatile uint32 *) &page->pd_linp[number - 1];
	ItemIdData	item;
	int			wanted_bytes = 2 * sizeof(IndexTupleData) + data_bytes;

	memcpy(&item, &bits, sizeof(item));
	if (item.lp_off % MAXIMUM_ALIGNOF != 0 || item.lp_off + sizeof(IndexTupleData) > BLCKSZ)
		return NULL;
	/* Short ones at the page's end have fewer columns. */
	if (item.lp_off + wanted_bytes > BLCKSZ)
		return memcpy(copy, (const char *) page + item.lp_off, BLCKSZ - item.lp_off);
	return (const char *) page + item.lp_off;
}

/*
 * The child that has the range's beginning or, of a backward scan, its end.
 * Nothing is assumed of the page: it may be any bytes, and change.
 */
static BlockNumber
find_child(const PageHeaderData *page, const Bound *bound, bool is_forward)
{
	int			data_bytes = bound->position->data_bytes;
	char		copy[2 * sizeof(IndexTupleData) + (POSITION_MAX_PARTS + 1) * 8] = {0};
	LocationIndex end = *(const volatile LocationIndex *) &page->pd_lower;
	const BTPageOpaqueData *opaque = (const BTPageOpaqueData *)
		((const char *) page + BLCKSZ - MAXALIGN(sizeof(BTPageOpaqueData)));
	OffsetNumber low = P_FIRSTDATAKEY(opaque);
	OffsetNumber high;
	const char *entry;

	if (end > BLCKSZ || end < SizeOfPageHeaderData + low * sizeof(ItemIdData))
		return InvalidBlockNumber;
	high = (end - SizeOfPageHeaderData) / sizeof(ItemIdData) + 1;
	/* The first entry stands for all keys that are less than the second one's. */
	while (high - low > 1)
	{
		OffsetNumber middle = (low + high) / 2;

		entry = inner_entry(page, middle, data_bytes, copy);
		if (entry == NULL)
			return InvalidBlockNumber;
		if (is_forward ? is_before(entry, true, bound) : !is_behind(entry, true, bound))
			low = middle;
		else
			high = middle;
	}
#ifdef USE_ASSERT_CHECKING
	/* Tests see now and then what a page that changed would lead to. */
	static uint32 descents = 0;

	descents++;
	if (descents % 16 == 0)
		low = Max(low - 1, P_FIRSTDATAKEY(opaque));
	else if (descents % 16 == 8)
		low = Min(low + 1, (end - SizeOfPageHeaderData) / sizeof(ItemIdData));
#endif
	entry = inner_entry(page, low, data_bytes, copy);
	return entry == NULL ? InvalidBlockNumber : ItemPointerGetBlockNumberNoCheck(&((IndexTuple) entry)->t_tid);
}

static inline Buffer *
route(Buffer *table, Relation rel, BlockNumber block)
{
	uint32		hash = (block * 0x9E3779B1u) ^ (compat_rel_filenumber(rel) * 0x85EBCA77u);

	return &table[hash >> (32 - ROUTE_BITS)];
}

/* The page, pinned, if it is where it was. */
static Buffer
pin_page(Buffer *table, Relation rel, BlockNumber block)
{
	Buffer		buffer = *route(table, rel, block);

	if (buffer == InvalidBuffer || !compat_read_recent_buffer(rel, block, buffer))
		return InvalidBuffer;
	pgstat_count_buffer_read(rel);
	pgstat_count_buffer_hit(rel);
	return buffer;
}

/* The leaf page, pinned and locked, by pages that nobody keeps in place; *parent is the last of these. */
static Buffer
descend_unlocked(Relation index, const Bound *bound, bool is_forward, BlockNumber *parent)
{
	const BTMetaPageData *meta = (const BTMetaPageData *) index->rd_amcache;
	BlockNumber block = meta->btm_fastroot;
	Buffer		buffer;

	*parent = InvalidBlockNumber;
	for (uint32 level = meta->btm_fastlevel; level > 0; level--)
	{
		buffer = *route(routes, index, block);
		if (buffer == InvalidBuffer || !compat_buffer_has(buffer, index, block))
			return InvalidBuffer;
		*parent = block;
		block = find_child((const PageHeaderData *) BufferGetPage(buffer), bound, is_forward);
		if (block == InvalidBlockNumber)
			return InvalidBuffer;
	}
	buffer = pin_page(routes, index, block);
	if (BufferIsValid(buffer))
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
	return buffer;
}

static bool
is_tree_page(Page page)
{
	return !PageIsNew(page) && PageGetSpecialSize(page) == MAXALIGN(sizeof(BTPageOpaqueData)) &&
		!P_IGNORE(BTPageGetOpaque(page));
}

static Buffer
read_locked(Relation index, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(index, block);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	*route(routes, index, block) = buffer;
	return buffer;
}

/* The child of a locked page, which is given back. */
static BlockNumber
leave_for_child(Buffer buffer, uint32 level, const Bound *bound, bool is_forward)
{
	Page		page = BufferGetPage(buffer);
	BlockNumber child = InvalidBlockNumber;

	if (is_tree_page(page) && BTPageGetOpaque(page)->btpo_level == level)
		child = find_child((const PageHeaderData *) page, bound, is_forward);
	UnlockReleaseBuffer(buffer);
	return child;
}

/* The same by pages that are locked, one after the other, and where they are from now on. */
static Buffer
descend_locked(Relation index, const Bound *bound, bool is_forward)
{
	BTMetaPageData meta = *(const BTMetaPageData *) index->rd_amcache;
	BlockNumber block = meta.btm_fastroot;

	for (uint32 level = meta.btm_fastlevel; level > 0; level--)
	{
		block = leave_for_child(read_locked(index, block), level, bound, is_forward);
		if (block == InvalidBlockNumber)
			return InvalidBuffer;
	}
	return read_locked(index, block);
}

/* The same from a page above the leaves on, if it is where it was: under its lock, it names pages that exist. */
static Buffer
descend_from(Relation index, BlockNumber parent, const Bound *bound, bool is_forward)
{
	Buffer		buffer = pin_page(routes, index, parent);
	BlockNumber block;

	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	block = leave_for_child(buffer, 1, bound, is_forward);
	return block == InvalidBlockNumber ? InvalidBuffer : read_locked(index, block);
}

static Buffer
find_leaf(Relation index, const Bound *bound, bool is_forward)
{
	static uint32 descents = 0;
	Buffer		buffer = InvalidBuffer;

	if (routes == NULL)
	{
		routes = MemoryContextAllocZero(CacheMemoryContext, sizeof(Buffer) << (ROUTE_BITS + 1));
		row_routes = routes + (1 << ROUTE_BITS);
	}
	if (++descents % PINNED_SHARE != 0)
	{
		BlockNumber parent;

		buffer = descend_unlocked(index, bound, is_forward, &parent);
		if (!BufferIsValid(buffer) && parent != InvalidBlockNumber)
			buffer = descend_from(index, parent, bound, is_forward);
	}
	return BufferIsValid(buffer) ? buffer : descend_locked(index, bound, is_forward);
}

static inline const char *
leaf_entry(Page page, OffsetNumber number)
{
	return (const char *) PageGetItem(page, PageGetItemId(page, number));
}

/* The first entry of the page from LOW on that is not below the range. */
static OffsetNumber
find_start(Page page, OffsetNumber low, OffsetNumber high, const Bound *lower)
{
	while (low < high)
	{
		OffsetNumber middle = (low + high) / 2;

		if (is_before(leaf_entry(page, middle), false, lower))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first entry from LOW on that is above the range. Most ranges are short, so it begins with the next ones. */
static OffsetNumber
find_end(Page page, OffsetNumber low, OffsetNumber high, const Bound *upper)
{
	OffsetNumber step = 1;

	while (low + step - 1 < high && !is_behind(leaf_entry(page, low + step - 1), false, upper))
	{
		low += step;
		step *= 2;
	}
	high = Min(high, low + step - 1);
	while (low < high)
	{
		OffsetNumber middle = (low + high) / 2;

		if (is_behind(leaf_entry(page, middle), false, upper))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Where the tuple is kept for an index-only scan, without its list of rows. */
static LocationIndex
save_tuple(BTScanOpaque so, IndexTuple tuple)
{
	LocationIndex offset = so->currPos.nextTupleOffset;
	bool		is_posting = BTreeTupleIsPosting(tuple);
	Size		bytes = is_posting ? BTreeTupleGetPostingOffset(tuple) : IndexTupleSize(tuple);
	IndexTuple	copy = (IndexTuple) (so->currTuples + offset);

	memcpy(copy, tuple, bytes);
	if (is_posting)
		copy->t_info = (copy->t_info & ~INDEX_SIZE_MASK) | bytes;
	so->currPos.nextTupleOffset += MAXALIGN(bytes);
	return offset;
}

/* As _bt_readpage() does for entries that pass. */
static int
save_entry(BTScanOpaque so, IndexTuple tuple, OffsetNumber number, int item, int step)
{
	bool		is_posting = BTreeTupleIsPosting(tuple);
	int			count = is_posting ? BTreeTupleGetNPosting(tuple) : 1;
	bool		is_descending = step < 0 && COMPAT_BACKWARD_ROWS_DESCEND;
	LocationIndex offset = so->currTuples == NULL ? 0 : save_tuple(so, tuple);

	for (int i = 0; i < count; i++, item += step)
	{
		BTScanPosItem *saved = &so->currPos.items[item];

		saved->heapTid = is_posting ? *BTreeTupleGetPostingN(tuple, is_descending ? count - 1 - i : i) :
			tuple->t_tid;
		saved->indexOffset = number;
		saved->tupleOffset = offset;
	}
	return item;
}

static void
save_forward(IndexScanDesc scan, Page page, OffsetNumber start, OffsetNumber end)
{
	BTScanOpaque so = (BTScanOpaque) scan->opaque;
	int			item = 0;

	for (OffsetNumber number = start; number < end; number++)
	{
		ItemId		id = PageGetItemId(page, number);

		if (!scan->ignore_killed_tuples || !ItemIdIsDead(id))
			item = save_entry(so, (IndexTuple) PageGetItem(page, id), number, item, 1);
	}
	so->currPos.firstItem = 0;
	so->currPos.lastItem = item - 1;
	so->currPos.itemIndex = -1;
}

static void
save_backward(IndexScanDesc scan, Page page, OffsetNumber start, OffsetNumber end)
{
	BTScanOpaque so = (BTScanOpaque) scan->opaque;
	int			item = MaxTIDsPerBTreePage - 1;

	for (OffsetNumber number = end; number-- > start;)
	{
		ItemId		id = PageGetItemId(page, number);

		if (!scan->ignore_killed_tuples || !ItemIdIsDead(id))
			item = save_entry(so, (IndexTuple) PageGetItem(page, id), number, item, -1);
	}
	so->currPos.firstItem = item + 1;
	so->currPos.lastItem = MaxTIDsPerBTreePage - 1;
	so->currPos.itemIndex = MaxTIDsPerBTreePage;
}

/*
 * Reads a leaf page's part of the range, if the page shows that it has the
 * range's beginning (backward: its end).  False: it does not.
 */
static bool
read_leaf(IndexScanDesc scan, Page page, const Bound *lower, const Bound *upper, bool is_forward)
{
	BTScanOpaque so = (BTScanOpaque) scan->opaque;
	BTPageOpaque opaque;
	OffsetNumber first;
	OffsetNumber behind_last = PageGetMaxOffsetNumber(page) + 1;
	OffsetNumber start;
	OffsetNumber end;
	bool		is_left_done;
	bool		is_right_done;

	if (!is_tree_page(page) || !P_ISLEAF(BTPageGetOpaque(page)))
		return false;
	opaque = BTPageGetOpaque(page);
	first = P_FIRSTDATAKEY(opaque);
	if (first >= behind_last)
		return false;
	start = find_start(page, first, behind_last, lower);
	end = find_end(page, start, behind_last, upper);

	/* Whether pages to the left or to the right have nothing of the range: an entry or the page's bound is outside. */
	is_left_done = start > first || P_LEFTMOST(opaque);
	is_right_done = end < behind_last || P_RIGHTMOST(opaque);
	if (!is_right_done)
	{
		const char *bound = leaf_entry(page, P_HIKEY);

		is_right_done = is_behind(bound, true, upper);
		/* Nothing here, and the right sibling is not known to have the beginning. */
		if (is_forward && !is_right_done && start == behind_last && compare_entry(bound, true, lower) < 0)
			return false;
	}
	if (is_forward ? !is_left_done : !is_right_done || (end == first && !is_left_done))
		return false;
	so->currPos.nextTupleOffset = 0;
	if (is_forward)
		save_forward(scan, page, start, end);
	else
		save_backward(scan, page, start, end);
	so->currPos.moreLeft = !is_forward && !is_left_done;
	so->currPos.moreRight = is_forward && !is_right_done;
	so->currPos.nextPage = opaque->btpo_next;
	compat_set_scan_position(&so->currPos, opaque->btpo_prev,
							 is_forward ? ForwardScanDirection : BackwardScanDirection);
	return true;
}

/* What the scan knows after its first btgettuple(), except that no entry was returned yet. */
static void
finish(IndexScanDesc scan, Buffer buffer)
{
	BTScanOpaque so = (BTScanOpaque) scan->opaque;
	Relation	index = scan->indexRelation;

	pgstat_count_index_scan(index);
	PredicateLockPage(index, BufferGetBlockNumber(buffer), scan->xs_snapshot);
	so->numKilled = 0;
	so->markItemIndex = -1;
	so->currPos.buf = buffer;
	so->currPos.currPage = BufferGetBlockNumber(buffer);
	so->currPos.lsn = BufferGetLSNAtomic(buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (compat_scan_drops_pin(scan, so))
	{
		ReleaseBuffer(buffer);
		so->currPos.buf = InvalidBuffer;
	}
	/* Further pages are read by btree, which needs its keys for them. */
	if (so->currPos.moreLeft || so->currPos.moreRight)
		_bt_preprocess_keys(scan);
}

/*
 * The page of the first row, which heap then need not look up.  Heap prunes a
 * page that it comes to, and finds itself on this one already.
 */
static bool
pin_row_page(IndexScanDesc scan, bool is_forward)
{
	BTScanPos	position = &((BTScanOpaque) scan->opaque)->currPos;
	IndexFetchHeapData *fetch = (IndexFetchHeapData *) scan->xs_heapfetch;
	const ItemPointerData *row = &position->items[is_forward ? position->firstItem : position->lastItem].heapTid;

	if (!COMPAT_ROW_PAGE_CAN_BE_PINNED || scan->xs_want_itup || position->firstItem > position->lastItem ||
		BufferIsValid(fetch->xs_cbuf))
		return true;
	fetch->xs_cbuf = pin_page(row_routes, scan->heapRelation, ItemPointerGetBlockNumber(row));
	if (!BufferIsValid(fetch->xs_cbuf))
		return false;
	compat_prune_page(scan->heapRelation, fetch->xs_cbuf);
	return true;
}

void
btree_position_remember_row(IndexScanDesc scan)
{
	Buffer		buffer = ((IndexFetchHeapData *) scan->xs_heapfetch)->xs_cbuf;

	if (BufferIsValid(buffer))
		*route(row_routes, scan->heapRelation, BufferGetBlockNumber(buffer)) = buffer;
}

bool
btree_position_scan(const BtreePosition *position, IndexScanDesc scan, ScanDirection direction)
{
	BTScanOpaque so = (BTScanOpaque) scan->opaque;
	Relation	index = scan->indexRelation;
	bool		is_forward = ScanDirectionIsForward(direction);
	Bound		lower;
	Bound		upper;
	Buffer		buffer;

	if (!position->is_known || BTScanPosIsValid(so->currPos))
		return true;
	if (index->rd_amcache == NULL || scan->parallel_scan != NULL || compat_old_snapshots_expire() ||
		scan->xs_want_itup != (so->currTuples != NULL) || ScanDirectionIsNoMovement(direction) ||
		!make_bound(position, &position->lower, scan->keyData, &lower) ||
		!make_bound(position, &position->upper, scan->keyData, &upper))
		return true;
	buffer = find_leaf(index, is_forward ? &lower : &upper, is_forward);
	if (!BufferIsValid(buffer))
		return true;
	if (!read_leaf(scan, BufferGetPage(buffer), &lower, &upper, is_forward))
	{
		UnlockReleaseBuffer(buffer);
		return true;
	}
	finish(scan, buffer);
	return pin_row_page(scan, is_forward);
}

bool
btree_position_end(IndexScanDesc scan)
{
	BTScanOpaque so = (BTScanOpaque) scan->opaque;

	if (scan->indexRelation->rd_rel->relam != BTREE_AM_OID || so->numKilled > 0 || BTScanPosIsPinned(so->currPos) ||
		BTScanPosIsValid(so->markPos))
		return false;
	BTScanPosInvalidate(so->currPos);
	return true;
}
