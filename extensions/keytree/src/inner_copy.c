/*-------------------------------------------------------------------------
 *
 * inner_copy.c
 *	  This backend's copy of the lowest inner pages.
 *
 * Images of pages of level 1, as they were when somebody went down through
 * them, in the order of their low fences.  They are searched and repaired by
 * the same functions as pages.  An image may be outdated in any way, even be
 * of a block that has another use now: see inner_copy.h.
 *
 * The relcache entry holds the pointer to the copy.  When it is rebuilt, for
 * a new relfilenode among other reasons, the pointer is gone and the copy
 * starts empty, so a guess is always a block that the file has.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"
#include "storage/bufmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "inner_copy.h"
#include "penumbra/key_search.h"

int			keytree_inner_copy_memory_kilobytes;

/* Full copies take one of so many pages that they miss, so that a large working set does not churn. */
#define REPLACE_ONE_OF 16

/* So often the clock sweep hears of a leaf that is read through a hint, which does not count as a use. */
#define COUNT_USE_ONE_OF 8

#define RECENT_BUFFERS 65536
#define FIRST_IMAGES 16
#define CACHE_LINE_BYTES 64

typedef struct InnerCopy
{
	Oid			index;			/* hash key */
	MemoryContext context;		/* of all below; NULL while empty */
	int			count;
	int			room;
	uint64	   *lows;			/* high half of each image's low fence, ascending */
	char	  **images;
	Buffer	   *recent;			/* last seen buffer of a block, by its number modulo RECENT_BUFFERS */
	uint32		reads;
	uint32		misses;
	bool		has_inner_pages;	/* as far as known; then the root is no leaf */
}			InnerCopy;

/* What rd_amcache points to. */
typedef struct InnerCopyLink
{
	InnerCopy  *copy;
}			InnerCopyLink;

static HTAB *copies = NULL;
static Size used_bytes = 0;		/* by all images */

static void
empty_copy(InnerCopy *copy)
{
	if (copy->context != NULL)
		MemoryContextDelete(copy->context);
	used_bytes -= (Size) copy->count * BLCKSZ;
	copy->context = NULL;
	copy->count = 0;
	copy->room = 0;
	copy->lows = NULL;
	copy->images = NULL;
	copy->recent = NULL;
	copy->has_inner_pages = false;
}

/* The link is freed with the relcache entry. A new link means a new entry, so what was learnt before is dropped. */
static InnerCopy *
attach_copy(Relation index)
{
	InnerCopyLink *link;
	InnerCopy  *copy;
	bool		found;

	if (copies == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(Oid),.entrysize = sizeof(InnerCopy),.hcxt = CacheMemoryContext};

		copies = hash_create("keytree inner copies", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	link = MemoryContextAlloc(index->rd_indexcxt, sizeof(InnerCopyLink));
	copy = hash_search(copies, &RelationGetRelid(index), HASH_ENTER, &found);
	if (!found)
		memset((char *) copy + sizeof(Oid), 0, sizeof(InnerCopy) - sizeof(Oid));
	empty_copy(copy);
	link->copy = copy;
	index->rd_amcache = link;
	return copy;
}

static inline InnerCopy *
copy_of(Relation index)
{
	if (likely(index->rd_amcache != NULL))
		return ((InnerCopyLink *) index->rd_amcache)->copy;
	return attach_copy(index);
}

/* How many images begin at or before the entry. */
static int
rank_of(const InnerCopy *copy, const KeytreeEntry *entry)
{
	int			rank = penumbra_upper_bound_packed((const char *) copy->lows, sizeof(uint64), copy->count, entry->high);
	int			from = 0;

	if (rank == 0 || copy->lows[rank - 1] != entry->high)
		return rank;
	while (from < rank)
	{
		int			middle = (from + rank) / 2;

		if (keytree_less(entry, &KeytreeHeader(copy->images[middle])->low_fence))
			rank = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* The number of the image that holds the entry, or -1. */
static inline int
image_for(const InnerCopy *copy, const KeytreeEntry *entry)
{
	int			at = rank_of(copy, entry) - 1;

	return at >= 0 && keytree_less(entry, &KeytreeHeader(copy->images[at])->high_fence) ? at : -1;
}

BlockNumber
keytree_inner_copy_find(Relation index, const KeytreeEntry *entry)
{
	InnerCopy  *copy = copy_of(index);
	int			at = image_for(copy, entry);

	if (at < 0)
		return copy->has_inner_pages ? InvalidBlockNumber : KEYTREE_VALUES_ROOT;
	return keytree_page_child(copy->images[at], keytree_page_child_position(copy->images[at], entry));
}

static void
remove_images(InnerCopy *copy, int from, int to)
{
	int			after = copy->count - to;

	for (int i = from; i < to; i++)
		pfree(copy->images[i]);
	memmove(&copy->lows[from], &copy->lows[to], after * sizeof(uint64));
	memmove(&copy->images[from], &copy->images[to], after * sizeof(char *));
	copy->count -= to - from;
	used_bytes -= (Size) (to - from) * BLCKSZ;
}

/* Takes any image of the copy that has most. */
static void
evict_image(uint32 random)
{
	InnerCopy  *largest = NULL;
	InnerCopy  *copy;
	HASH_SEQ_STATUS status;

	hash_seq_init(&status, copies);
	while ((copy = hash_seq_search(&status)) != NULL)
		if (largest == NULL || copy->count > largest->count)
			largest = copy;
	if (largest->count > 0)
	{
		int			victim = (int) (((uint64) (random * 2654435769U) * largest->count) >> 32);

		remove_images(largest, victim, victim + 1);
	}
}

/* Makes room for one more image; false if the page is not worth another's place. */
static bool
make_room(InnerCopy *copy)
{
	Size		allowed_bytes = (Size) keytree_inner_copy_memory_kilobytes * 1024;

	if (used_bytes + BLCKSZ > allowed_bytes)
	{
		if (copy->misses++ % REPLACE_ONE_OF != 0)
			return false;
		evict_image(copy->misses);
		if (used_bytes + BLCKSZ > allowed_bytes)
			return false;
	}
	if (copy->context == NULL)
		copy->context = AllocSetContextCreate(CacheMemoryContext, "keytree inner copy", ALLOCSET_DEFAULT_SIZES);
	if (copy->lows == NULL)
	{
		copy->lows = MemoryContextAlloc(copy->context, FIRST_IMAGES * sizeof(uint64));
		copy->images = MemoryContextAlloc(copy->context, FIRST_IMAGES * sizeof(char *));
		copy->room = FIRST_IMAGES;
	}
	else if (copy->count == copy->room)
	{
		copy->lows = repalloc(copy->lows, 2 * copy->room * sizeof(uint64));
		copy->images = repalloc(copy->images, 2 * copy->room * sizeof(char *));
		copy->room *= 2;
	}
	return true;
}

void
keytree_inner_copy_add(Relation index, const char *page)
{
	const KeytreePageHeader *header = KeytreeHeader(page);
	InnerCopy  *copy = copy_of(index);
	char	   *image;
	int			from;
	int			to;

	if (header->flags & KEYTREE_PAGE_NULLS)
		return;
	copy->has_inner_pages = true;
	if (!make_room(copy))
		return;
	image = MemoryContextAlloc(copy->context, BLCKSZ);
	memcpy(image, page, BLCKSZ);

	/* images that begin in the page's range are older; one before that reaches into it is hidden by it */
	from = rank_of(copy, &header->low_fence);
	if (from > 0 && keytree_compare(&KeytreeHeader(copy->images[from - 1])->low_fence, &header->low_fence) == 0)
		from--;
	for (to = from; to < copy->count; to++)
		if (!keytree_less(&KeytreeHeader(copy->images[to])->low_fence, &header->high_fence))
			break;
	remove_images(copy, from, to);
	memmove(&copy->lows[from + 1], &copy->lows[from], (copy->count - from) * sizeof(uint64));
	memmove(&copy->images[from + 1], &copy->images[from], (copy->count - from) * sizeof(char *));
	copy->lows[from] = header->low_fence.high;
	copy->images[from] = image;
	copy->count++;
	used_bytes += BLCKSZ;
}

/*
 * The leaf is not where the image says: after a split the image has no downlink to
 * it, or one to another page. An image without room for the downlink is dropped, and
 * the next descent through its page copies it anew.
 */
void
keytree_inner_copy_learn(Relation index, const KeytreeEntry *entry, Buffer leaf)
{
	InnerCopy  *copy = copy_of(index);
	int			at = image_for(copy, entry);
	KeytreeItem item = {.entry = KeytreeHeader(BufferGetPage(leaf))->low_fence,.child = BufferGetBlockNumber(leaf)};
	char	   *image;
	int			position;

	if (at < 0)
		return;
	image = copy->images[at];
	if (!keytree_page_covers(KeytreeHeader(image), &item.entry))
		return;
	position = keytree_page_lower_bound(image, &item.entry);
	if (position < KeytreeHeader(image)->count)
	{
		KeytreeEntry found = keytree_page_entry(image, position);

		if (keytree_compare(&found, &item.entry) == 0)
		{
			keytree_page_replace_child(image, position, item.child);
			return;
		}
	}
	if (!keytree_page_insert(image, position, &item))
		remove_images(copy, at, at + 1);
}

void
keytree_inner_copy_drop(Relation index, const KeytreeEntry *entry)
{
	InnerCopy  *copy = copy_of(index);
	int			at = image_for(copy, entry);

	if (at >= 0)
		remove_images(copy, at, at + 1);
}

void
keytree_inner_copy_forget(Relation index)
{
	if (index->rd_amcache != NULL)
		empty_copy(copy_of(index));
}

Buffer
keytree_read_page(Relation index, BlockNumber block)
{
	InnerCopy  *copy = copy_of(index);
	Buffer	   *recent;
	Buffer		buffer;

	if (copy->context == NULL)
		return ReadBuffer(index, block);
	if (copy->recent == NULL)
		copy->recent = MemoryContextAllocZero(copy->context, RECENT_BUFFERS * sizeof(Buffer));
	recent = &copy->recent[block % RECENT_BUFFERS];
	if (BufferIsValid(*recent) && copy->reads++ % COUNT_USE_ONE_OF != 0 &&
		compat_read_recent_buffer(index, block, *recent))
	{
		/* as ReadBuffer would have */
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		return *recent;
	}
	buffer = ReadBuffer(index, block);
	*recent = buffer;
	return buffer;
}

/* Of a page in memory: the header, and where a search in the keys begins. */
static void
prefetch_lines(const char *page)
{
	__builtin_prefetch(page);
	__builtin_prefetch(page + CACHE_LINE_BYTES);
	__builtin_prefetch(page + BLCKSZ / 4);
	__builtin_prefetch(page + BLCKSZ / 8);
}

void
keytree_prefetch_page(Relation index, BlockNumber block)
{
	InnerCopy  *copy = copy_of(index);
	Buffer		buffer = copy->recent == NULL ? InvalidBuffer : copy->recent[block % RECENT_BUFFERS];

	if (BufferIsValid(buffer))
		prefetch_lines(BufferGetPage(buffer));
	else if (effective_io_concurrency > 0)
		(void) PrefetchBuffer(index, MAIN_FORKNUM, block);
}
