/*-------------------------------------------------------------------------
 *
 * load.c
 *	  A whole tree from sorted entries, level by level from the left.
 *
 * Each level gathers the items of one page.  When the next one would make the
 * page too full, the page is written, the next page's block allocated, and
 * its downlink added to the level above.  The level that never wrote a page
 * is the root.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "load.h"
#include "tree.h"

/* As btree's. */
#define LEAF_FILL_PERCENT 90
#define INNER_FILL_PERCENT 70

/* Read from the sorter, and counted for whoever watches. */
#define ENTRIES_AT_ONCE 1024

/* An inner page has at least two children, so each level is at most half as long. */
#define MAX_LEVELS 32

typedef struct Level
{
	BlockNumber block;			/* of the page that is gathered; invalid for a level's first */
	BlockNumber left;
	KeytreeEntry low_fence;
	KeytreeExtent extent;
	int			count;
	KeytreeItem items[KEYTREE_MAX_ENTRIES];
}			Level;

typedef struct Load
{
	Relation	index;
	BlockNumber root;
	Level	   *levels[MAX_LEVELS];
	int			levels_count;
}			Load;

static BlockNumber
allocate_block(Load *load)
{
	Buffer		buffer = ReadBufferExtended(load->index, MAIN_FORKNUM, P_NEW, RBM_NORMAL, NULL);
	BlockNumber block = BufferGetBlockNumber(buffer);

	ReleaseBuffer(buffer);
	return block;
}

/* Nothing is logged here: the build logs the whole file at its end. */
static void
write_page(Load *load, int level, BlockNumber block, BlockNumber right, const KeytreeEntry *high_fence)
{
	Level	   *gathered = load->levels[level];
	Buffer		buffer = ReadBuffer(load->index, block);
	Page		page = BufferGetPage(buffer);
	KeytreePageHeader *header = KeytreeHeader(page);

	CHECK_FOR_INTERRUPTS();
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	keytree_page_init(page, level, (block == load->root ? KEYTREE_PAGE_ROOT : 0) |
					  (load->root == KEYTREE_NULLS_ROOT ? KEYTREE_PAGE_NULLS : 0));
	header->left = gathered->left;
	header->right = right;
	header->low_fence = gathered->low_fence;
	header->high_fence = *high_fence;
	if (!keytree_page_pack(page, gathered->items, gathered->count))
		elog(ERROR, "keytree entries do not fit their page");
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

static void add_item(Load *load, int level, const KeytreeItem *item, const KeytreeEntry *before);

static void
add_downlink(Load *load, int level, const KeytreeEntry *low_fence, BlockNumber child)
{
	KeytreeItem downlink = {.entry = *low_fence,.child = child};

	add_item(load, level + 1, &downlink, NULL);
}

static Level *
start_level(Load *load)
{
	Level	   *level;

	if (load->levels_count == MAX_LEVELS)
		elog(ERROR, "too many levels in a keytree index");
	level = palloc0(sizeof(Level));
	level->block = InvalidBlockNumber;
	level->left = InvalidBlockNumber;
	level->low_fence = KEYTREE_ENTRY_FIRST;
	level->extent = KEYTREE_EMPTY_EXTENT(load->levels_count);
	load->levels[load->levels_count++] = level;
	return level;
}

/* Writes the page that is gathered; the next one begins at the separator. */
static void
finish_page(Load *load, int level, const KeytreeEntry *separator)
{
	Level	   *gathered = load->levels[level];
	BlockNumber right;

	if (!BlockNumberIsValid(gathered->block))
	{
		gathered->block = allocate_block(load);
		add_downlink(load, level, &gathered->low_fence, gathered->block);
	}
	right = allocate_block(load);
	write_page(load, level, gathered->block, right, separator);
	gathered->left = gathered->block;
	gathered->block = right;
	gathered->low_fence = *separator;
	gathered->extent = KEYTREE_EMPTY_EXTENT(level);
	gathered->count = 0;
	add_downlink(load, level, separator, right);
}

/* before is the entry before that of a leaf; an inner page begins with its first item. */
static void
add_item(Load *load, int level, const KeytreeItem *item, const KeytreeEntry *before)
{
	Level	   *gathered = level < load->levels_count ? load->levels[level] : start_level(load);
	int			most = KEYTREE_CAPACITY_BYTES / 100 * (level == 0 ? LEAF_FILL_PERCENT : INNER_FILL_PERCENT);
	KeytreeExtent extent = gathered->extent;

	/* an inner page's first entry is its low fence and takes no key */
	if (level == 0 || gathered->count > 0)
		keytree_extent_add(&extent, &item->entry);
	if (gathered->count > 0 && (gathered->count == KEYTREE_MAX_ENTRIES ||
								keytree_extent_bytes(&extent, gathered->count + 1) > most))
	{
		KeytreeEntry separator = level > 0 ? item->entry : keytree_separator_between(before, &item->entry);

		finish_page(load, level, &separator);
		extent = gathered->extent;
		if (level == 0)
			keytree_extent_add(&extent, &item->entry);
	}
	gathered->extent = extent;
	gathered->items[gathered->count++] = *item;
}

static void
finish_tree(Load *load)
{
	const KeytreeEntry end = KEYTREE_ENTRY_LAST;

	for (int level = 0; level < load->levels_count; level++)
	{
		BlockNumber block = load->levels[level]->block;

		write_page(load, level, BlockNumberIsValid(block) ? block : load->root, InvalidBlockNumber, &end);
	}
}

static void
report_duplicate(Relation heap, Relation index, BlockNumber root, const KeytreeEntry *entry)
{
	char		bytes[KEYTREE_MAX_KEY_BYTES];
	Datum		value = keytree_key_to_datum(keytree_kind_of(index->rd_opcintype[0]), entry, bytes);
	bool		is_null = root == KEYTREE_NULLS_ROOT;
	char	   *key = BuildIndexValueDescription(index, &value, &is_null);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"", RelationGetRelationName(index)),
			 key ? errdetail("Key %s is duplicated.", key) : errdetail("Duplicate keys exist."),
			 errtableconstraint(heap, RelationGetRelationName(index))));
}

void
keytree_load_tree(Relation heap, Relation index, BlockNumber root, KeytreeSorter *sorter, bool is_unique)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "keytree load", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Load		load = {.index = index,.root = root};
	KeytreeItem item = {.child = InvalidBlockNumber};
	KeytreeEntry last = KEYTREE_ENTRY_FIRST;
	KeytreeEntry *entries = palloc(ENTRIES_AT_ONCE * sizeof(KeytreeEntry));
	int64		loaded = 0;
	int			read;

	while ((read = keytree_sorter_read(sorter, entries, ENTRIES_AT_ONCE)) > 0)
	{
		for (int i = 0; i < read; i++)
		{
			item.entry = entries[i];
			/* a TID is never zero, so this is not the first */
			if (is_unique && last.tid != KEYTREE_TID_FIRST && last.high == item.entry.high &&
				last.low == item.entry.low)
				report_duplicate(heap, index, root, &item.entry);
			add_item(&load, 0, &item, &last);
			last = item.entry;
		}
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, loaded += read);
	}
	finish_tree(&load);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}
