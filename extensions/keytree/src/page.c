/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Entries on one page: encoding, search, insert, delete.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "page.h"
#include "penumbra/key_search.h"

/* Entries of a page that is encoded again; replay runs in a critical section, so no palloc. */
static KeytreeItem unpacked[KEYTREE_MAX_ENTRIES + 1];

static inline void
store(char *bytes, uint64 value, int width)
{
	for (int i = 0; i < width; i++)
	{
		bytes[i] = (char) value;
		value >>= 8;
	}
}

static inline uint64
tid_from_code(uint64 code, int width)
{
	code >>= 1;
	if (width == KEYTREE_WIDEST_TID)
		return code;
	return (code >> KEYTREE_NARROW_OFFSET_BITS) << 16 |
		(code & ((1 << KEYTREE_NARROW_OFFSET_BITS) - 1));
}

static void
set_bounds(char *page, const KeytreePageHeader *header)
{
	PageHeader	standard = (PageHeader) page;

	standard->pd_lower = KEYTREE_KEYS_OFFSET + header->count * header->key_width;
	standard->pd_upper = BLCKSZ - header->count * keytree_tail_width(header);
}

#define VERSION_OFFSET (KEYTREE_HEADER_OFFSET + offsetof(KeytreePageHeader, version))
#define VERSION_END (VERSION_OFFSET + sizeof(uint32))

void
keytree_page_copy(char *page, const char *source)
{
	memcpy(page, source, VERSION_OFFSET);
	memcpy(page + VERSION_END, source + VERSION_END, BLCKSZ - VERSION_END);
}

/* PageInit would clear the version word, which a reader without lock may look at. */
void
keytree_page_init(char *page, int level, uint16 flags)
{
	KeytreePageHeader *header = KeytreeHeader(page);

	memset(page, 0, VERSION_OFFSET);
	memset(page + VERSION_END, 0, BLCKSZ - VERSION_END);
	((PageHeader) page)->pd_special = BLCKSZ;
	PageSetPageSizeAndVersion((Page) page, BLCKSZ, PG_PAGE_LAYOUT_VERSION);
	header->magic = KEYTREE_MAGIC;
	header->format = KEYTREE_FORMAT;
	header->level = level;
	header->flags = flags;
	header->left = InvalidBlockNumber;
	header->right = InvalidBlockNumber;
	header->child_width = level > 0 ? sizeof(BlockNumber) : 0;
	header->tid_width = level > 0 ? 0 : KEYTREE_MIN_TID_WIDTH;
	header->low_fence = KEYTREE_ENTRY_FIRST;
	header->high_fence = KEYTREE_ENTRY_LAST;
	set_bounds(page, header);
}

void
keytree_page_init_meta(char *page, Oid key_type)
{
	keytree_page_init(page, 0, KEYTREE_PAGE_META);
	KeytreePageMeta(page)->key_type = key_type;
	((PageHeader) page)->pd_lower = KEYTREE_KEYS_OFFSET + sizeof(KeytreeMeta);
}

#define P5_DAMAGE "P5: count and bounds disagree"

const char *
keytree_header_damage(const KeytreePageHeader *header)
{
	if (header->magic != KEYTREE_MAGIC)
		return "P1: not a keytree page";
	if (header->format != KEYTREE_FORMAT)
		return "P2: unknown format version";
	if (header->flags & KEYTREE_PAGE_META)
		return "P3: unexpected metapage";
	if (header->key_width > 8 ||
		(header->low_width != 0 && header->low_width != 8) ||
		header->tid_width > KEYTREE_WIDEST_TID ||
		(header->tid_width < KEYTREE_MIN_TID_WIDTH && !(header->tid_width == 0 && header->level > 0)) ||
		header->child_width != (header->level > 0 ? sizeof(BlockNumber) : 0))
		return "P4: impossible widths";
	if (header->count > KEYTREE_MAX_ENTRIES ||
		header->count * (header->key_width + keytree_tail_width(header)) > KEYTREE_CAPACITY_BYTES)
		return P5_DAMAGE;
	return NULL;
}

const char *
keytree_page_damage(const char *page)
{
	const KeytreePageHeader *header = KeytreeHeader(page);
	const PageHeaderData *standard = (const PageHeaderData *) page;
	const char *damage = keytree_header_damage(header);

	if (damage == NULL &&
		(standard->pd_lower != KEYTREE_KEYS_OFFSET + header->count * header->key_width ||
		 standard->pd_upper != BLCKSZ - header->count * keytree_tail_width(header)))
		damage = P5_DAMAGE;
	return damage;
}

static inline uint64
key_at(const char *page, const KeytreePageHeader *header, int position)
{
	return keytree_load(page + KEYTREE_KEYS_OFFSET + position * header->key_width, header->key_width);
}

static inline uint64
tid_code_at(const char *page, const KeytreePageHeader *header, int position)
{
	return keytree_load_before(page + BLCKSZ - position * keytree_tail_width(header) - header->child_width,
							   header->tid_width);
}

static inline uint64
low_at(const char *page, const KeytreePageHeader *header, int position)
{
	return header->low_width == 0 ? 0 :
		keytree_load(keytree_page_tail(page, header, position), sizeof(uint64));
}

KeytreeEntry
keytree_view_entry(const char *page, const KeytreePageHeader *header, int position)
{
	if (position == 0 && header->level > 0)
		return header->low_fence;
	return (KeytreeEntry)
	{
		.high = header->base + key_at(page, header, position),
			.low = low_at(page, header, position),
			.tid = tid_from_code(tid_code_at(page, header, position), header->tid_width)
	};
}

BlockNumber
keytree_page_child(const char *page, int position)
{
	const KeytreePageHeader *header = KeytreeHeader(page);

	return (BlockNumber) keytree_load_before(page + BLCKSZ - position * keytree_tail_width(header),
											 sizeof(BlockNumber));
}

bool
keytree_view_entry_is_dead(const char *page, const KeytreePageHeader *header, int position)
{
	return tid_code_at(page, header, position) & 1;
}

/* A hint: one byte written, under a share lock too. */
void
keytree_page_mark_dead(char *page, int position)
{
	KeytreePageHeader *header = KeytreeHeader(page);

	Assert(header->level == 0 && position < header->count);
	page[BLCKSZ - (position + 1) * keytree_tail_width(header) + header->low_width] |= 1;
	header->flags |= KEYTREE_PAGE_HAS_DEAD;
}

void
keytree_page_replace_child(char *page, int position, BlockNumber child)
{
	char	   *end = page + BLCKSZ - position * keytree_tail_width(KeytreeHeader(page));

	store(end - sizeof(BlockNumber), child, sizeof(BlockNumber));
}

/* First position in [from, to) whose key is not less than base + offset. */
static inline int
search_keys(const char *page, const KeytreePageHeader *header, int from, int to, uint64 offset)
{
	return from + (int) penumbra_lower_bound_packed(page + KEYTREE_KEYS_OFFSET + from * header->key_width,
													header->key_width, to - from, offset);
}

/* The same among entries [from, to) of one key's high half. */
static int
search_tails(const char *page, const KeytreePageHeader *header, int from, int to, const KeytreeEntry *entry)
{
	while (from < to)
	{
		int			middle = (from + to) / 2;
		uint64		low = low_at(page, header, middle);
		bool		less = low != entry->low ? low < entry->low :
			tid_from_code(tid_code_at(page, header, middle), header->tid_width) < entry->tid;

		if (less)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

int
keytree_view_lower_bound(const char *page, const KeytreePageHeader *header, const KeytreeEntry *entry)
{
	int			first = header->level > 0 ? Min(1, header->count) : 0;
	int			count = header->count;
	uint64		offset = entry->high - header->base;
	int			from;
	int			to;

	if (entry->high < header->base)
		return first;
	from = search_keys(page, header, first, count, offset);
	if (from == count || (entry->low | entry->tid) == 0 || key_at(page, header, from) != offset)
		return from;
	to = from + 1;
	if (to < count && key_at(page, header, to) == offset)
		to = offset == PG_UINT64_MAX ? count : search_keys(page, header, to, count, offset + 1);
	return search_tails(page, header, from, to, entry);
}

int
keytree_page_child_position(const char *page, const KeytreeEntry *entry)
{
	int			position = keytree_page_lower_bound(page, entry);

	if (position < KeytreeHeader(page)->count && position > 0)
	{
		KeytreeEntry found = keytree_page_entry(page, position);

		if (keytree_compare(&found, entry) == 0)
			return position;
	}
	return Max(position - 1, 0);
}

static bool
encoding_holds(const KeytreePageHeader *header, const KeytreeItem *item)
{
	const KeytreeEntry *entry = &item->entry;

	return entry->high >= header->base &&
		keytree_bytes_for(entry->high - header->base) <= header->key_width &&
		(header->low_width > 0 || entry->low == 0) &&
		(header->tid_width == 0 ? entry->tid == 0 : keytree_tid_width_for(entry->tid) <= header->tid_width);
}

static void
write_item(char *page, int position, const KeytreeItem *item)
{
	const KeytreePageHeader *header = KeytreeHeader(page);
	char	   *tail = page + BLCKSZ - (position + 1) * keytree_tail_width(header);

	store(page + KEYTREE_KEYS_OFFSET + position * header->key_width,
		  item->entry.high - header->base, header->key_width);
	store(tail, item->entry.low, header->low_width);
	tail += header->low_width;
	store(tail, keytree_tid_to_code(item->entry.tid, header->tid_width) | (item->dead ? 1 : 0), header->tid_width);
	store(tail + header->tid_width, item->child, header->child_width);
}

#define WRITTEN_EXACTLY 8

/*
 * The same where the next WRITTEN_EXACTLY items are written afterwards: whole
 * words are stored, whose excess bytes belong to those.
 */
static inline void
write_item_before_others(char *page, int position, const KeytreeItem *item)
{
#ifdef WORDS_BIGENDIAN
	write_item(page, position, item);
#else
	const KeytreePageHeader *header = KeytreeHeader(page);
	char	   *end = page + BLCKSZ - position * keytree_tail_width(header);
	uint64		key = item->entry.high - header->base;
	uint64		tid;

	memcpy(page + KEYTREE_KEYS_OFFSET + position * header->key_width, &key, sizeof(key));
	if (header->tid_width > 0)
	{
		tid = (keytree_tid_to_code(item->entry.tid, header->tid_width) | (item->dead ? 1 : 0))
			<< (64 - 8 * header->tid_width);
		memcpy(end - header->child_width - sizeof(tid), &tid, sizeof(tid));
	}
	if (header->child_width > 0)
		memcpy(end - sizeof(BlockNumber), &item->child, sizeof(BlockNumber));
	if (header->low_width > 0)
		memcpy(end - keytree_tail_width(header), &item->entry.low, sizeof(uint64));
#endif
}

/*
 * The narrowest encoding of the items.  The base takes the low fence if that
 * costs no wider keys, for then no smaller key can come; otherwise the
 * unused codes are shared between smaller and greater keys to come.
 */
static KeytreeEncoding
choose_encoding(const KeytreePageHeader *header, const KeytreeItem *items, int count)
{
	KeytreeExtent extent = KEYTREE_EMPTY_EXTENT(header->level);
	uint64		slack;
	KeytreeEncoding encoding = {0};

	for (int i = header->level > 0 ? 1 : 0; i < count; i++)
		keytree_extent_add(&extent, &items[i].entry);
	encoding.low_width = extent.low_width;
	encoding.tid_width = extent.tid_width;
	encoding.child_width = extent.child_width;
	encoding.key_width = keytree_extent_key_width(&extent);
	if (extent.least > extent.greatest)
		return encoding;
	slack = (encoding.key_width == 0 ? 0 : PG_UINT64_MAX >> (64 - 8 * encoding.key_width)) -
		(extent.greatest - extent.least);
	if (extent.least - header->low_fence.high <= slack && extent.least >= header->low_fence.high)
		encoding.base = header->low_fence.high;
	else
		encoding.base = extent.least - Min(slack / 2, extent.least);
	return encoding;
}

static int
encoded_bytes(const KeytreeEncoding *encoding, int count)
{
	return count * (encoding->key_width + encoding->low_width + encoding->tid_width + encoding->child_width);
}

int
keytree_page_unpack(const char *page, KeytreeItem *items)
{
	const KeytreePageHeader *header = KeytreeHeader(page);

	for (int i = 0; i < header->count; i++)
	{
		items[i].entry = keytree_page_entry(page, i);
		items[i].child = header->level > 0 ? keytree_page_child(page, i) : InvalidBlockNumber;
		items[i].dead = header->level == 0 && keytree_page_entry_is_dead(page, i);
	}
	return header->count;
}

static void
pack_as(char *page, const KeytreeEncoding *encoding, const KeytreeItem *items, int count)
{
	KeytreePageHeader *header = KeytreeHeader(page);

	header->base = encoding->base;
	header->key_width = encoding->key_width;
	header->low_width = encoding->low_width;
	header->tid_width = encoding->tid_width;
	header->count = count;
	for (int i = 0; i < count; i++)
	{
		if (i == 0 && header->level > 0)
		{
			/* what an inner page's first entry says is its low fence, whatever is stored */
			KeytreeItem first = {.entry.high = encoding->base,.child = items[0].child};

			write_item(page, 0, &first);
		}
		else if (count - i > WRITTEN_EXACTLY)
			write_item_before_others(page, i, &items[i]);
		else
			write_item(page, i, &items[i]);
	}
	set_bounds(page, header);
}

bool
keytree_page_pack(char *page, const KeytreeItem *items, int count)
{
	KeytreeEncoding encoding = choose_encoding(KeytreeHeader(page), items, count);

	if (encoded_bytes(&encoding, count) > KEYTREE_CAPACITY_BYTES)
		return false;
	pack_as(page, &encoding, items, count);
	return true;
}

static bool
fits_as_encoded(const KeytreePageHeader *header, const KeytreeItem *item)
{
	return encoding_holds(header, item) &&
		(header->count + 1) * (header->key_width + keytree_tail_width(header)) <= KEYTREE_CAPACITY_BYTES;
}

/* The page's entries and the item in order; the choice of an encoding does not depend on where. */
static int
unpack_with(const char *page, int position, const KeytreeItem *item)
{
	int			count = keytree_page_unpack(page, unpacked);

	memmove(&unpacked[position + 1], &unpacked[position], (count - position) * sizeof(KeytreeItem));
	unpacked[position] = *item;
	return count + 1;
}

bool
keytree_page_has_room(const char *page, const KeytreeItem *item)
{
	const KeytreePageHeader *header = KeytreeHeader(page);
	KeytreeEncoding encoding;
	int			count;

	if (fits_as_encoded(header, item))
		return true;
	/* a full page whose encoding would do: no narrower one but by chance, and a split chooses again */
	if (encoding_holds(header, item) || header->count == KEYTREE_MAX_ENTRIES)
		return false;
	count = unpack_with(page, header->count, item);
	encoding = choose_encoding(header, unpacked, count);
	return encoded_bytes(&encoding, count) <= KEYTREE_CAPACITY_BYTES;
}

/*
 * Inserts in place if the item fits the page's encoding; else everything is decoded
 * and packed anew. insert_run counts insertions that each follow right after the one
 * before.
 */
bool
keytree_page_insert(char *page, int position, const KeytreeItem *item)
{
	KeytreePageHeader *header = KeytreeHeader(page);
	int			after = header->count - position;

	Assert(position >= 0 && position <= header->count);
	if (fits_as_encoded(header, item))
	{
		int			key_width = header->key_width;
		int			tail_width = keytree_tail_width(header);
		char	   *key = page + KEYTREE_KEYS_OFFSET + position * key_width;
		char	   *last_tail = page + BLCKSZ - header->count * tail_width;

		memmove(key + key_width, key, after * key_width);
		memmove(last_tail - tail_width, last_tail, after * tail_width);
		write_item(page, position, item);
		header->count++;
		set_bounds(page, header);
	}
	else
	{
		int			count;

		if (!keytree_page_has_room(page, item))
			return false;
		count = unpack_with(page, position, item);
		if (!keytree_page_pack(page, unpacked, count))
			return false;
	}
	header->insert_run = position == header->insert_position ? Min(header->insert_run + 1, PG_UINT16_MAX) : 0;
	header->insert_position = position + 1;
	return true;
}

/*
 * Positions ascend, so each run of entries that stay is moved once: its keys towards
 * the front of the page, its tails towards the end.
 */
void
keytree_page_delete(char *page, const uint16 *positions, int positions_count)
{
	KeytreePageHeader *header = KeytreeHeader(page);
	int			key_width = header->key_width;
	int			tail_width = keytree_tail_width(header);
	int			kept = positions[0];

	for (int i = 0; i < positions_count; i++)
	{
		int			from = positions[i] + 1;
		int			to = i + 1 < positions_count ? positions[i + 1] : header->count;

		Assert(from <= to);
		memmove(page + KEYTREE_KEYS_OFFSET + kept * key_width,
				page + KEYTREE_KEYS_OFFSET + from * key_width, (to - from) * key_width);
		memmove(page + BLCKSZ - (kept + to - from) * tail_width,
				page + BLCKSZ - to * tail_width, (to - from) * tail_width);
		kept += to - from;
	}
	header->count = kept;
	header->insert_run = 0;
	set_bounds(page, header);
}

void
keytree_page_keep(char *page, int from, int to)
{
	KeytreePageHeader *header = KeytreeHeader(page);
	KeytreeEncoding encoding;

	keytree_page_unpack(page, unpacked);
	encoding = choose_encoding(header, unpacked + from, to - from);
	pack_as(page, &encoding, unpacked + from, to - from);
	header->insert_position = Min(Max(header->insert_position - from, 0), to - from);
}
