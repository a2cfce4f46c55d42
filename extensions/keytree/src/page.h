/*-------------------------------------------------------------------------
 *
 * page.h
 *	  The page of a keytree index: format, and functions on one page.
 *
 * Nothing here knows buffers, locks or WAL; replay calls the same functions
 * as the primary did.  All integers are of the machine's byte order, as in
 * every PostgreSQL page.
 *
 * Block 0 is the metapage, 1 the root of the tree of values, 2 the root of
 * the tree of NULLs (same format, every key zero, so ordered by TID).  Roots
 * never move: a root that is full hands its entries to two children.
 *
 *	 offset size
 *	      0   24  PageHeaderData; pd_lower = end of the key array,
 *	              pd_upper = begin of the tails, pd_special = BLCKSZ
 *	     24    2  magic
 *	     26    1  format version
 *	     27    1  level, 0 = leaf
 *	     28    2  flags
 *	     30    2  count of entries
 *	     32    1  key width: bytes of an entry in the key array, 0..8
 *	     33    1  low width: bytes of the key's low half in a tail, 0 or 8
 *	     34    1  tid width: bytes of the TID code in a tail, 0 or 3..7
 *	     35    1  child width: bytes of the child block in a tail, 0 or 4
 *	     36    4  version word: odd while a writer changes the page
 *	     40    4  left sibling, or InvalidBlockNumber
 *	     44    4  right sibling, or InvalidBlockNumber
 *	     48    2  position after the last inserted entry
 *	     50    2  run: how many inserts in a row hit that position
 *	     52    4  zero
 *	     56    8  base of the key array
 *	     64   24  low fence (inclusive)
 *	     88   24  high fence (exclusive)
 *	    112   16  zero
 *	    128       key array, upwards: entry i at 128 + i * key width
 *	              free space
 *	              tails, downwards: entry i ends at BLCKSZ - i * tail width
 *	   8192       end
 *
 * A tail is (low half, TID code, child block), each as wide as the header
 * says, little end first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_PAGE_H
#define KEYTREE_PAGE_H

#include "postgres.h"

#include "port/atomics.h"
#include "port/pg_bitutils.h"
#include "storage/block.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"

#define KEYTREE_MAGIC 0x4B54
#define KEYTREE_FORMAT 1

#define KEYTREE_META_BLOCK 0
#define KEYTREE_VALUES_ROOT 1
#define KEYTREE_NULLS_ROOT 2
#define KEYTREE_INITIAL_BLOCKS 3

/* header flags */
#define KEYTREE_PAGE_META 0x0001
#define KEYTREE_PAGE_ROOT 0x0002
#define KEYTREE_PAGE_NULLS 0x0004	/* of the tree of NULLs */
#define KEYTREE_PAGE_DELETED 0x0008 /* out of the tree; any arrival starts over */
#define KEYTREE_PAGE_SPLIT 0x0010	/* the right sibling has no downlink yet */
#define KEYTREE_PAGE_HAS_DEAD 0x0020	/* hint: some entries carry the dead bit */

/*
 * What entries are ordered by.  A key is an unsigned 128-bit number in two
 * halves: integers and timestamps in the high half with the sign bit
 * inverted, low half zero; a uuid in both.  The TID, as block << 16 | offset,
 * makes every entry unique.
 */
typedef struct KeytreeEntry
{
	uint64		high;
	uint64		low;
	uint64		tid;
}			KeytreeEntry;

/* Below and above every entry: fences of the first and last page of a level. */
#define KEYTREE_TID_FIRST UINT64CONST(0)
#define KEYTREE_TID_LAST PG_UINT64_MAX
#define KEYTREE_ENTRY_FIRST ((KeytreeEntry) {0, 0, KEYTREE_TID_FIRST})
#define KEYTREE_ENTRY_LAST ((KeytreeEntry) {PG_UINT64_MAX, PG_UINT64_MAX, KEYTREE_TID_LAST})

typedef struct KeytreePageHeader
{
	uint16		magic;
	uint8		format;
	uint8		level;
	uint16		flags;
	uint16		count;
	uint8		key_width;
	uint8		low_width;
	uint8		tid_width;
	uint8		child_width;
	uint32		version;
	BlockNumber left;
	BlockNumber right;
	uint16		insert_position;
	uint16		insert_run;
	uint32		zero;
	uint64		base;
	KeytreeEntry low_fence;
	KeytreeEntry high_fence;
	uint64		zeros[2];
}			KeytreePageHeader;

#define KEYTREE_HEADER_OFFSET 24
#define KEYTREE_KEYS_OFFSET 128

StaticAssertDecl(SizeOfPageHeaderData == KEYTREE_HEADER_OFFSET, "the header follows PostgreSQL's");
StaticAssertDecl(sizeof(KeytreePageHeader) == KEYTREE_KEYS_OFFSET - KEYTREE_HEADER_OFFSET, "size of the header");
StaticAssertDecl(offsetof(KeytreePageHeader, version) == 36 - KEYTREE_HEADER_OFFSET, "offset of version");
StaticAssertDecl(offsetof(KeytreePageHeader, base) == 56 - KEYTREE_HEADER_OFFSET, "offset of base");
StaticAssertDecl(offsetof(KeytreePageHeader, high_fence) == 88 - KEYTREE_HEADER_OFFSET, "offset of high_fence");

/* The metapage: the header with flag META, then this. */
typedef struct KeytreeMeta
{
	uint32		key_type;		/* OID of the indexed type */
}			KeytreeMeta;

#define KeytreeHeader(page) ((KeytreePageHeader *) ((char *) (page) + KEYTREE_HEADER_OFFSET))
#define KeytreePageMeta(page) ((KeytreeMeta *) ((char *) (page) + KEYTREE_KEYS_OFFSET))

/* Bytes of a page that entries share; a leaf's entry takes at least a TID code of three bytes. */
#define KEYTREE_CAPACITY_BYTES (BLCKSZ - KEYTREE_KEYS_OFFSET)
#define KEYTREE_MIN_TID_WIDTH 3
#define KEYTREE_MAX_ENTRIES (KEYTREE_CAPACITY_BYTES / KEYTREE_MIN_TID_WIDTH)

/*
 * A TID code: below the widest width block and offset in so few bits that a
 * heap of 128 MB needs three bytes, with the dead bit lowest.
 */
#define KEYTREE_NARROW_OFFSET_BITS 9
#define KEYTREE_WIDEST_TID 7

/* An entry taken out of its page. */
typedef struct KeytreeItem
{
	KeytreeEntry entry;
	BlockNumber child;
	bool		dead;
}			KeytreeItem;

/* How a page stores its entries. */
typedef struct KeytreeEncoding
{
	uint64		base;
	uint8		key_width;
	uint8		low_width;
	uint8		tid_width;
	uint8		child_width;
}			KeytreeEncoding;

/* What decides on the encoding of a page's entries; of an inner page without its first. */
typedef struct KeytreeExtent
{
	uint64		least;
	uint64		greatest;
	uint8		low_width;
	uint8		tid_width;
	uint8		child_width;
}			KeytreeExtent;

#define KEYTREE_EMPTY_EXTENT(level) \
	((KeytreeExtent) {PG_UINT64_MAX, 0, 0, (level) > 0 ? 0 : KEYTREE_MIN_TID_WIDTH, \
					  (level) > 0 ? sizeof(BlockNumber) : 0})

static inline int
keytree_compare(const KeytreeEntry *a, const KeytreeEntry *b)
{
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return 0;
}

static inline bool
keytree_less(const KeytreeEntry *a, const KeytreeEntry *b)
{
	return keytree_compare(a, b) < 0;
}

/* The shortest entry greater than left and not greater than right: the fence between them. */
static inline KeytreeEntry
keytree_separator_between(const KeytreeEntry *left, const KeytreeEntry *right)
{
	KeytreeEntry separator = *right;

	if (left->high != right->high)
		separator.low = separator.tid = 0;
	else if (left->low != right->low)
		separator.tid = 0;
	return separator;
}

static inline uint64
keytree_tid_from_pointer(const ItemPointerData *pointer)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(pointer) << 16) |
		ItemPointerGetOffsetNumberNoCheck(pointer);
}

static inline void
keytree_tid_to_pointer(uint64 tid, ItemPointer pointer)
{
	ItemPointerSet(pointer, (BlockNumber) (tid >> 16), (OffsetNumber) (tid & 0xFFFF));
}

/* Bytes of a number without leading zeros. */
static inline int
keytree_bytes_for(uint64 value)
{
	return value == 0 ? 0 : pg_leftmost_one_pos64(value) / 8 + 1;
}

static inline uint64
keytree_tid_to_code(uint64 tid, int width)
{
	if (width == KEYTREE_WIDEST_TID)
		return tid << 1;
	return ((tid >> 16) << KEYTREE_NARROW_OFFSET_BITS | (tid & 0xFFFF)) << 1;
}

static inline int
keytree_tid_width_for(uint64 tid)
{
	if ((tid & 0xFFFF) >> KEYTREE_NARROW_OFFSET_BITS != 0)
		return KEYTREE_WIDEST_TID;
	return Max(keytree_bytes_for(keytree_tid_to_code(tid, KEYTREE_MIN_TID_WIDTH)), KEYTREE_MIN_TID_WIDTH);
}

/* Entries one by one, and the bytes that a page of so many takes. */
static inline void
keytree_extent_add(KeytreeExtent *extent, const KeytreeEntry *entry)
{
	extent->least = Min(extent->least, entry->high);
	extent->greatest = Max(extent->greatest, entry->high);
	if (entry->low != 0)
		extent->low_width = sizeof(uint64);
	if (extent->child_width == 0 || entry->tid != 0)
		extent->tid_width = Max(extent->tid_width, keytree_tid_width_for(entry->tid));
}

static inline int
keytree_extent_key_width(const KeytreeExtent *extent)
{
	return extent->least > extent->greatest ? 0 : keytree_bytes_for(extent->greatest - extent->least);
}

static inline int
keytree_extent_bytes(const KeytreeExtent *extent, int count)
{
	return count * (keytree_extent_key_width(extent) + extent->low_width + extent->tid_width + extent->child_width);
}

/*
 * A number of width bytes, little end first.  The first form reads eight bytes
 * from its place on, which any place in the key array has behind it; the
 * second eight bytes before an end, which any place in the tails has.
 */
static inline uint64
keytree_load(const char *bytes, int width)
{
	uint64		value = 0;

#ifdef WORDS_BIGENDIAN
	for (int i = width; i-- > 0;)
		value = value << 8 | (uint8) bytes[i];
#else
	if (width > 0)
	{
		memcpy(&value, bytes, sizeof(value));
		value &= PG_UINT64_MAX >> (64 - 8 * width);
	}
#endif
	return value;
}

static inline uint64
keytree_load_before(const char *end, int width)
{
#ifdef WORDS_BIGENDIAN
	return keytree_load(end - width, width);
#else
	uint64		value;

	if (width == 0)
		return 0;
	memcpy(&value, end - sizeof(value), sizeof(value));
	return value >> (64 - 8 * width);
#endif
}

static inline int
keytree_tail_width(const KeytreePageHeader *header)
{
	return header->low_width + header->tid_width + header->child_width;
}

static inline const char *
keytree_page_tail(const char *page, const KeytreePageHeader *header, int position)
{
	return page + BLCKSZ - (position + 1) * keytree_tail_width(header);
}

/* Whether the entry belongs to the page's range. */
static inline bool
keytree_page_covers(const KeytreePageHeader *header, const KeytreeEntry *entry)
{
	return !keytree_less(entry, &header->low_fence) && keytree_less(entry, &header->high_fence);
}

static inline bool
keytree_page_is_rightmost(const KeytreePageHeader *header)
{
	return header->right == InvalidBlockNumber;
}

/*
 * Writers, replay included, enclose every change of a page's header or
 * entries, so that a reader who sees the same even number before and after
 * has read a state between two changes.
 */
static inline void
keytree_page_begin_write(char *page)
{
	volatile uint32 *version = &KeytreeHeader(page)->version;

	*version = *version | 1;
	pg_write_barrier();
}

static inline void
keytree_page_end_write(char *page)
{
	volatile uint32 *version = &KeytreeHeader(page)->version;

	pg_write_barrier();
	*version = (*version | 1) + 1;
}

/* Ends a write that has changed nothing. */
static inline void
keytree_page_abandon_write(char *page)
{
	volatile uint32 *version = &KeytreeHeader(page)->version;

	*version = *version & ~(uint32) 1;
}

/* An empty page; the version word goes on counting over all uses of the block. */
extern void keytree_page_init(char *page, int level, uint16 flags);
extern void keytree_page_init_meta(char *page, Oid key_type);

/* All of a page but its version word. */
extern void keytree_page_copy(char *page, const char *source);

/*
 * NULL, or what is wrong with the page: for readers before they trust it.
 * The first form looks at the header alone, which bounds all that is read of
 * the page through it.
 */
extern const char *keytree_header_damage(const KeytreePageHeader *header);
extern const char *keytree_page_damage(const char *page);

/*
 * The reader's side of the version word, for those who have pinned the page
 * and not locked it.  begin_read copies the header; false if somebody writes
 * or the copy is not sound.  What is then read of the page by way of the copy
 * (the view functions below) is within the page, and true if the page is
 * found unchanged afterwards.
 */
static inline uint32
keytree_page_version(const char *page)
{
	return *(const volatile uint32 *) &KeytreeHeader(page)->version;
}

static inline bool
keytree_page_begin_read(const char *page, KeytreePageHeader *header)
{
	uint32		version = keytree_page_version(page);

	if (version & 1)
		return false;
	pg_read_barrier();
	*header = *KeytreeHeader(page);
	/* the compiler must not read the page again where it is told to use the copy */
	pg_read_barrier();
	header->version = version;
	return keytree_header_damage(header) == NULL;
}

static inline bool
keytree_page_is_unchanged(const char *page, const KeytreePageHeader *header)
{
	pg_read_barrier();
	return keytree_page_version(page) == header->version;
}

/* A view: a page, and its header or a copy of it.  Positions are below the header's count. */
extern KeytreeEntry keytree_view_entry(const char *page, const KeytreePageHeader *header, int position);
extern bool keytree_view_entry_is_dead(const char *page, const KeytreePageHeader *header, int position);
extern int	keytree_view_lower_bound(const char *page, const KeytreePageHeader *header, const KeytreeEntry *entry);

static inline KeytreeEntry
keytree_page_entry(const char *page, int position)
{
	return keytree_view_entry(page, KeytreeHeader(page), position);
}

static inline bool
keytree_page_entry_is_dead(const char *page, int position)
{
	return keytree_view_entry_is_dead(page, KeytreeHeader(page), position);
}

/* First position whose entry is not less; an inner page's entry 0 counts as less than everything. */
static inline int
keytree_page_lower_bound(const char *page, const KeytreeEntry *entry)
{
	return keytree_view_lower_bound(page, KeytreeHeader(page), entry);
}

extern BlockNumber keytree_page_child(const char *page, int position);
extern void keytree_page_mark_dead(char *page, int position);

/* Position of the child whose range holds the entry. */
extern int	keytree_page_child_position(const char *page, const KeytreeEntry *entry);

/*
 * The changes.  keytree_page_insert returns false, page unchanged, if the
 * entry does not fit.  keytree_page_keep cuts the page to [from, to) of its
 * entries.  They choose the encoding again where that is needed, in a way
 * that depends on the page alone, so that replay repeats it.
 */
extern bool keytree_page_has_room(const char *page, const KeytreeItem *item);
extern bool keytree_page_insert(char *page, int position, const KeytreeItem *item);
extern void keytree_page_delete(char *page, const uint16 *positions, int positions_count);
extern void keytree_page_keep(char *page, int from, int to);
extern void keytree_page_replace_child(char *page, int position, BlockNumber child);

/* All entries out of a page, and into one whose fences are set; items are in order. */
extern int	keytree_page_unpack(const char *page, KeytreeItem *items);
extern bool keytree_page_pack(char *page, const KeytreeItem *items, int count);

#endif							/* KEYTREE_PAGE_H */
