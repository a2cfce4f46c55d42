/*-------------------------------------------------------------------------
 *
 * directory_eviction.c
 *	  Which segments stay in memory: the clock, and what a place is worth.
 *
 * The clock has every segment that is in memory and whose chunk is in the
 * directory.  Its hand takes a segment's chances (usage) as it passes, or the
 * segment, if whoever wants memory may have it.  Everything here changes under
 * the exclusive directory lock (directory.c) alone, which is held for a batch
 * at a time; memory goes back to the region after it was released.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "cache/directory.h"
#include "cache/directory_internal.h"
#include "cache/policy/table_options.h"
#include "cache/region.h"

/* Of the budget, for headers of chunks whose segments are all on disk. */
#define DISK_HEADERS_SHARE		4

/* Segments that one which is read may ask for their place. */
#define READER_STEPS			2

/* Segments evicted per turn of the lock, at most about so many. */
#define EVICT_BATCH				64
#define GARBAGE_MAX				(3 * EVICT_BATCH)

typedef struct Evictions
{
	dlist_head	clock;			/* segments, the hand at the head */
	uint32		clock_length;
	Size		disk_header_bytes;	/* of chunks in the directory without a segment in memory */
	uint64		counts[REGION_CLASS_COUNT]; /* of segments */
} Evictions;

static Evictions *evictions = NULL;
static uint64 evicted_bytes = 0;	/* by this process */
static int	database_memory_mb;

void
directory_define_settings(void)
{
	DefineCustomIntVariable("penumbra.database_memory",
							"Memory for cached columns of this database, of penumbra.memory.",
							"For ALTER DATABASE. A load that finds no more evicts columns of its database alone. "
							"0 is all of penumbra.memory.",
							&database_memory_mb, 0, 0, INT_MAX / 2,
							PGC_SUSET, GUC_UNIT_MB, NULL, NULL, NULL);
}

Size
directory_quota_bytes(void)
{
	return database_memory_mb == 0 ? SIZE_MAX : (Size) database_memory_mb * 1024 * 1024;
}

/*
 * What this session's database may still take.  Columns that are not published
 * yet are not counted, so a load takes at most a chunk too much.
 */
static Size
quota_room(void)
{
	Size		quota_bytes = directory_quota_bytes();
	Size		used_bytes = 0;
	RelationScan scan;
	CachedRelation *relation;

	if (quota_bytes == SIZE_MAX)
		return quota_bytes;
	LWLockAcquire(directory_lock, LW_SHARED);
	directory_begin_relations(&scan, MyDatabaseId, InvalidOid);
	while ((relation = directory_next_relation(&scan)) != NULL)
	{
		for (uint32 i = 0; i < relation->column_limit; i++)
			used_bytes += relation->columns[i].bytes;
	}
	LWLockRelease(directory_lock);
	return quota_bytes - Min(quota_bytes, used_bytes);
}

Size
eviction_shmem_bytes(void)
{
	return MAXALIGN(sizeof(Evictions));
}

void
eviction_shmem_startup(void)
{
	bool		found;

	evictions = ShmemInitStruct("penumbra evictions", sizeof(Evictions), &found);
	dlist_init(&evictions->clock);
	evictions->clock_length = 0;
	evictions->disk_header_bytes = 0;
	memset(evictions->counts, 0, sizeof(evictions->counts));
}

void
eviction_add_segment(CachedSegment *segment)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	dlist_push_tail(&evictions->clock, &segment->clock_node);
	evictions->clock_length++;
	if (segment->chunk->resident_count++ == 0)
		evictions->disk_header_bytes -= segment->chunk->bytes;
}

void
eviction_remove_segment(CachedSegment *segment)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	dlist_delete(&segment->clock_node);
	evictions->clock_length--;
	if (--segment->chunk->resident_count == 0)
		evictions->disk_header_bytes += segment->chunk->bytes;
}

void
eviction_add_header(CachedChunk *chunk)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	chunk->resident_count = 0;
	evictions->disk_header_bytes += chunk->bytes;
}

void
eviction_remove_header(CachedChunk *chunk)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	Assert(chunk->resident_count == 0);
	evictions->disk_header_bytes -= chunk->bytes;
}

bool
eviction_header_may_stay(const CachedChunk *chunk)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	return evictions->disk_header_bytes + chunk->bytes <= region_budget_bytes() / DISK_HEADERS_SHARE;
}

/* Who wants memory: a load, or a segment that is read from disk, which must be worth more than what goes. */
typedef struct Evictor
{
	Size		bytes;			/* of the segment, or header */
	uint64		protected_serial;	/* segments from there on stay, unless they are on disk */
	uint8		reader_usage;	/* of what is read; 0: a load */
	uint32		wishes;			/* of a load; 0: it takes memory from everything */
	Oid			database;		/* whose quota is used up: it takes memory from nobody else; InvalidOid: none */
	bool		takes_pinned;	/* also of tables that are pinned */
} Evictor;

static bool
may_take_from(const Evictor *evictor, CachedRelation *relation)
{
	return (!OidIsValid(evictor->database) || relation->key.database == evictor->database) &&
		(evictor->takes_pinned || pg_atomic_read_u32(&relation->priority) != PRIORITY_PINNED);
}

/* A wish takes memory from what was used so many times less: so two that change places do not do so for ever. */
#define WISHES_PER_USE			2

/*
 * Whether a load may take a segment's memory.  To load a column of a chunk costs
 * about the same for all of them, its heap pages; so what is gained are its
 * wishes, and what is lost are the uses of as many segments as make room for it.
 * What is on disk, too, costs little to have again.
 */
static bool
is_worth_less(const Evictor *evictor, CachedRelation *relation, const CachedSegment *segment)
{
	uint64		uses = pg_atomic_read_u64(&relation_totals(relation, segment->column)->uses) *
		Max(pg_atomic_read_u32(&relation->priority), 1);

	return evictor->wishes == 0 || segment->extent.file != 0 ||
		uses * WISHES_PER_USE * Max(evictor->bytes, segment->bytes) <
		(uint64) evictor->wishes * segment->bytes;
}

/*
 * Whether the segment at the clock's hand goes.  A load takes a chance from
 * each that it meets.  What is read from disk does so only if it was wanted
 * again since its last chance was used up: so one scan of however much takes
 * nothing from what is used, and what is scanned again and again does.
 */
static bool
may_evict(const Evictor *evictor, CachedRelation *relation, CachedSegment *segment)
{
	bool		is_pinned = pg_atomic_read_u32(&segment->pins) > 0;
	bool		goes;

	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	if (!may_take_from(evictor, relation) ||
		(evictor->reader_usage == 0 && !is_worth_less(evictor, relation, segment)))
		return false;
	if (evictor->reader_usage == 0)
		goes = (segment->serial < evictor->protected_serial || segment->extent.file != 0) &&
			!is_pinned && segment->usage == 0;
	else
		goes = !is_pinned && segment->extent.file != 0 && segment->usage < evictor->reader_usage;
	if (!goes && segment->usage > 0 &&
		(evictor->reader_usage == 0 || (evictor->reader_usage > USAGE_START && !is_pinned)))
		segment->usage--;
	return goes;
}

/* Adds a segment's filters to a list; returns what they cost the budget. */
static Size
take_filters(CachedSegment *segment, RememberedFilter **filters)
{
	Size		bytes = remembered_filters_bytes(segment->filters);

	while (segment->filters != NULL)
	{
		RememberedFilter *filter = segment->filters;

		segment->filters = filter->next;
		filter->next = *filters;
		*filters = filter;
	}
	return bytes;
}

/*
 * Moves the clock's hand until `bytes` are found, or past so many as may be
 * found: for a load until every segment was met often enough to have lost all
 * its chances, for a segment as many as it needs.
 */
static Size
evict_batch(Size bytes, const Evictor *evictor, Garbage *garbage, int *garbage_count,
			RememberedFilter **filters, CachedChunk **emptied, int *emptied_count)
{
	Size		found = 0;
	uint64		steps = 0;
	uint64		steps_limit = READER_STEPS;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	if (evictor->reader_usage == 0)
		steps_limit = (uint64) evictions->clock_length * (USAGE_MAX + 1);
	while (found < bytes && *emptied_count + 2 <= EVICT_BATCH && *garbage_count + 3 <= GARBAGE_MAX &&
		   steps++ < steps_limit && !dlist_is_empty(&evictions->clock))
	{
		CachedSegment *segment = dlist_head_element(CachedSegment, clock_node, &evictions->clock);
		CachedChunk *chunk = segment->chunk;
		CachedRelation *relation = directory_find_relation(&chunk->key);
		bool		is_last;

		if (!may_evict(evictor, relation, segment))
		{
			dlist_delete(&segment->clock_node);
			dlist_push_tail(&evictions->clock, &segment->clock_node);
			continue;
		}
		evictions->counts[region_class(segment->bytes)]++;
		relation->evictions++;
		garbage[*garbage_count].page = segment->segment;
		garbage[(*garbage_count)++].bytes = segment->bytes;
		found += region_cost_bytes(segment->bytes);
		found += take_filters(segment, filters);
		is_last = chunk->resident_count == 1 && !eviction_header_may_stay(chunk);
		directory_forget_memory(relation, segment);
		if (chunk->resident_count == 0 && chunk->patch != NULL)
		{
			emptied[(*emptied_count)++] = chunk->patch;
			found += region_cost_bytes(chunk->patch->bytes);
			chunk->patch = NULL;
		}
		if (is_last || chunk->segment_count == 0)
		{
			directory_unlink_chunk(relation, chunk);
			emptied[(*emptied_count)++] = chunk;
			found += region_cost_bytes(chunk->bytes);
			if (relation->chunk_count == 0)
			{
				directory_remove_relation(relation, garbage + *garbage_count);
				*garbage_count += 2;
			}
		}
	}
	LWLockRelease(directory_lock);
	return found;
}

uint64
eviction_count(int class)
{
	return evictions->counts[class];
}

void
eviction_reset_counts(void)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	memset(evictions->counts, 0, sizeof(evictions->counts));
}

/* Frees at least `bytes`, or returns false. */
static bool
evict(Size bytes, const Evictor *evictor)
{
	while (true)
	{
		Garbage		garbage[GARBAGE_MAX];
		CachedChunk *emptied[EVICT_BATCH];
		RememberedFilter *filters = NULL;
		int			garbage_count = 0;
		int			emptied_count = 0;
		Size		found = evict_batch(bytes, evictor, garbage, &garbage_count, &filters,
										emptied, &emptied_count);

		evicted_bytes += found;
		directory_collect_garbage(garbage, garbage_count);
		remembered_filters_unpin(filters);
		for (int i = 0; i < emptied_count; i++)
			directory_unpin_chunk(emptied[i], NULL, 0);
		if (found >= bytes)
			return true;
		if (garbage_count + 3 <= GARBAGE_MAX && emptied_count + 2 <= EVICT_BATCH)
			return found > 0;
		bytes -= found;
	}
}

static void *
allocate(Size bytes, Evictor *evictor)
{
	Size		cost_bytes = region_cost_bytes(bytes);

	while (true)
	{
		Size		room = quota_room();
		bool		is_over = room < cost_bytes;
		void	   *page = is_over ? NULL : region_allocate(bytes);

		if (page != NULL)
			return page;
		evictor->database = is_over ? MyDatabaseId : InvalidOid;
		if (!evict(is_over ? cost_bytes - room : cost_bytes, evictor))
			return NULL;
	}
}

void *
directory_allocate(Size bytes, uint64 protected_serial, uint32 wishes)
{
	Evictor		evictor = {.bytes = bytes,.protected_serial = protected_serial,.wishes = wishes};

	return allocate(bytes, &evictor);
}

/* Counts what evict() would take: chances are no matter, since the hand comes often enough. */
bool
directory_has_room(const MemoryShortage *shortage, uint32 wishes)
{
	Size		quota = quota_room();
	Evictor		evictor = {
		.bytes = shortage->bytes,.wishes = wishes,
		.database = quota < shortage->chunk_bytes ? MyDatabaseId : InvalidOid
	};
	Size		room = Min(region_free_bytes(), quota);
	dlist_iter	iter;

	LWLockAcquire(directory_lock, LW_SHARED);
	dlist_foreach(iter, &evictions->clock)
	{
		CachedSegment *segment = dlist_container(CachedSegment, clock_node, iter.cur);
		CachedRelation *relation = directory_find_relation(&segment->chunk->key);

		if (room >= shortage->chunk_bytes)
			break;
		if (pg_atomic_read_u32(&segment->pins) == 0 && may_take_from(&evictor, relation) &&
			is_worth_less(&evictor, relation, segment))
			room += region_cost_bytes(segment->bytes);
	}
	LWLockRelease(directory_lock);
	return room >= shortage->chunk_bytes;
}

uint64
directory_evicted_bytes(void)
{
	return evicted_bytes;
}

void
directory_set_priority(const CacheKey *key, uint32 priority)
{
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(key);
	if (relation != NULL)
		pg_atomic_write_u32(&relation->priority, priority);
	LWLockRelease(directory_lock);
}

/* The memory is wanted by others than tables: pinned ones go last. */
bool
directory_shrink(void)
{
	Evictor		evictor = {.protected_serial = PG_UINT64_MAX};
	Size		excess_bytes;

	while ((excess_bytes = region_excess_bytes()) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (evict(excess_bytes, &evictor))
			continue;
		if (evictor.takes_pinned)
			return false;
		evictor.takes_pinned = true;
	}
	return true;
}

/* usage is at least 1 while the caller's pin is the latest; who gets no memory has used a chance up. */
void *
directory_allocate_for(CachedChunk *chunk, ColumnKey column)
{
	CachedSegment *segment = chunk_slot(chunk, column);
	Evictor		evictor = {.reader_usage = Max(segment->usage, USAGE_START)};
	void	   *page = allocate(segment->bytes, &evictor);

	if (page == NULL && segment->usage > USAGE_START)
		segment->usage--;
	return page;
}
