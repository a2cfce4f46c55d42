/*-------------------------------------------------------------------------
 *
 * directory.c
 *	  What is cached: relations, their chunks, the chunks' column segments.
 *
 * Only this file and directory_numbers.c take the directory lock.
 *
 * Shared mode protects: the hash of relations, each relation's array of
 * chunks, which segments a chunk has.  Whoever finds a chunk under it pins
 * the chunk and segments before letting go; from then on it reads them with
 * no lock.  Exclusive mode is needed to change any of these, and for the
 * clock list.  The lock is held for memory accesses only: never across I/O,
 * a system call, an allocation of the backend or anything that can raise an
 * error.  Memory is returned to the region after the lock is released, since
 * giving it to the kernel is a system call.
 *
 * References of a chunk: one of the directory's, one per pin.  New pins need
 * the directory's, so whoever brings the count to zero is the last one and
 * frees the chunk and its segments.  Pins of a segment keep it from being
 * evicted while its chunk stays; a segment is evicted only under the
 * exclusive lock and with no pin, and can gain one only under the lock.
 *
 * What readers may change without the lock is atomic: live bits go from 1 to 0,
 * dead_pages up, and back by whoever holds the page's share lock and found its
 * rows decided; rows are marked dead for good; vm_stamp is exchanged by whoever
 * proved the new value.  usage is a plain byte: a lost update costs nothing.
 *
 * A segment is in memory, on disk, or both; only those in memory are in the
 * clock list.  Where it is on disk, and which memory it has, changes under the
 * exclusive lock alone.  A pin does not keep the copy on disk: who reads it
 * without the lock must not find it there, and whoever gives a segment memory
 * finds that it got some, or that its chunk was replaced, meanwhile.
 *
 * The region's spinlock is a leaf below this lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "storage/shmem.h"
#include "utils/rel.h"

#include "cache/directory.h"
#include "cache/directory_internal.h"
#include "pg_compat.h"
#include "cache/region.h"

#define RELATIONS_INITIAL		256
#define RELATIONS_MAX			16384

/* Of the budget, for headers of chunks whose segments are all on disk. */
#define DISK_HEADERS_SHARE		4

#define USAGE_START				1
#define USAGE_MAX				5
/* Segments that one which is read may ask for their place. */
#define READER_STEPS			2

/* Chunks dropped, segments evicted per turn of the exclusive lock, at most about so many. */
#define EVICT_BATCH				64
#define GARBAGE_MAX				(3 * EVICT_BATCH)

typedef struct DirectoryControl
{
	LWLock	   *locks[DIRECTORY_LOCK_COUNT];
	pg_atomic_uint32 relation_count;
	pg_atomic_uint64 next_serial;
	dlist_head	clock;			/* segments, the hand at the head */
	uint32		clock_length;
	Size		disk_header_bytes;	/* of chunks without a segment in memory */
} DirectoryControl;

static DirectoryControl *directory = NULL;
static HTAB *relations = NULL;

Size
directory_shmem_bytes(void)
{
	return add_size(MAXALIGN(sizeof(DirectoryControl)),
					hash_estimate_size(RELATIONS_MAX, sizeof(CachedRelation)));
}

void
directory_shmem_startup(void)
{
	bool		found;
	HASHCTL		info = {
		.keysize = sizeof(CacheKey),
		.entrysize = sizeof(CachedRelation),
	};

	directory = ShmemInitStruct("penumbra directory", sizeof(DirectoryControl), &found);
	for (int i = 0; i < DIRECTORY_LOCK_COUNT; i++)
		directory->locks[i] = &GetNamedLWLockTranche(DIRECTORY_TRANCHE)[i].lock;
	pg_atomic_init_u32(&directory->relation_count, 0);
	pg_atomic_init_u64(&directory->next_serial, 1);
	dlist_init(&directory->clock);
	directory->clock_length = 0;
	directory->disk_header_bytes = 0;
	relations = compat_shmem_init_hash("penumbra relations", RELATIONS_INITIAL, RELATIONS_MAX,
									   &info, HASH_ELEM | HASH_BLOBS);
}

LWLock *
directory_shared_lock(int index)
{
	return directory->locks[index];
}

void
directory_key_of(Relation rel, CacheKey *key)
{
	key->tablespace = compat_rel_tablespace(rel);
	key->database = compat_rel_database(rel);
	key->filenumber = compat_rel_filenumber(rel);
}

bool
directory_is_empty(void)
{
	return directory_relation_count() == 0;
}

uint64
directory_next_serial(void)
{
	return pg_atomic_fetch_add_u64(&directory->next_serial, 1);
}

/* In memory or on disk. */
static inline bool
segment_is_cached(const CachedSegment *segment)
{
	return segment->segment != NULL || segment->extent.file != 0;
}

bool
directory_segment_matches(const CachedSegment *segment, TupleDesc desc)
{
	Form_pg_attribute att;

	if (!segment_is_cached(segment) || segment->attnum > desc->natts)
		return false;
	att = TupleDescAttr(desc, segment->attnum - 1);
	return !att->attisdropped && att->atttypid == segment->type_oid &&
		att->atttypmod == segment->typmod && att->attcollation == segment->collation;
}

CachedRelation *
directory_find_relation(const CacheKey *key)
{
	Assert(LWLockHeldByMe(directory_lock));
	return hash_search(relations, key, HASH_FIND, NULL);
}

void
directory_begin_relations(HASH_SEQ_STATUS *scan)
{
	Assert(LWLockHeldByMe(directory_lock));
	hash_seq_init(scan, relations);
}

uint32
directory_relation_count(void)
{
	return directory == NULL ? 0 : pg_atomic_read_u32(&directory->relation_count);
}

/* ---------------------------------------------------------------- pins ---- */

static bool
chunk_has_columns(const CachedChunk *chunk, const AttrNumber *attnums, int natts, TupleDesc desc,
				  bool on_disk)
{
	for (int i = 0; i < natts; i++)
	{
		if (attnums[i] > (int) chunk->column_count ||
			!directory_segment_matches(&chunk->columns[attnums[i] - 1], desc) ||
			(!on_disk && chunk->columns[attnums[i] - 1].segment == NULL))
			return false;
	}
	return true;
}

static void
pin_chunk(CachedChunk *chunk, const AttrNumber *attnums, int natts)
{
	pg_atomic_fetch_add_u32(&chunk->references, 1);
	for (int i = 0; i < natts; i++)
	{
		CachedSegment *segment = &chunk->columns[attnums[i] - 1];

		pg_atomic_fetch_add_u32(&segment->pins, 1);
		if (segment->usage < USAGE_MAX)
			segment->usage++;
	}
}

/*
 * Memory is allocated outside of the lock, so the chunks are counted first and
 * again if they have become too many.  A pin keeps the chunk's memory after it
 * is unlinked; columns that an eviction took before are not there to pin.
 */
int
directory_pin_chunks(Relation rel, const AttrNumber *attnums, int natts, uint32 sample, bool on_disk,
					 CachedChunk ***chunks)
{
	CacheKey	key;
	CachedRelation *relation;
	TupleDesc	desc = RelationGetDescr(rel);
	uint32		limit = 64;
	uint32		step = 1;
	int			count = 0;

	*chunks = NULL;
	if (directory_is_empty())
		return 0;
	directory_key_of(rel, &key);
	for (;;)
	{
		*chunks = palloc(sizeof(CachedChunk *) * limit);
		LWLockAcquire(directory_lock, LW_SHARED);
		relation = directory_find_relation(&key);
		if (relation == NULL || relation->chunk_count <= limit)
			break;
		limit = relation->chunk_count + 16;
		LWLockRelease(directory_lock);
		pfree(*chunks);
	}
	if (relation != NULL && sample > 0)
		step = Max(1, relation->chunk_count / sample);
	for (uint32 i = 0; relation != NULL && i < relation->chunk_limit; i += step)
	{
		CachedChunk *chunk = relation->chunks[i];

		if (chunk == NULL || !chunk_has_columns(chunk, attnums, natts, desc, on_disk))
			continue;
		pin_chunk(chunk, attnums, natts);
		(*chunks)[count++] = chunk;
	}
	LWLockRelease(directory_lock);
	return count;
}

CachedChunk *
directory_pin_chunk(Relation rel, uint32 number, AttrNumber *attnums, int *natts)
{
	TupleDesc	desc = RelationGetDescr(rel);
	CacheKey	key;
	CachedRelation *relation;
	CachedChunk *chunk = NULL;
	int			count = 0;

	directory_key_of(rel, &key);
	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(&key);
	if (relation != NULL && number < relation->chunk_limit)
		chunk = relation->chunks[number];
	for (uint32 i = 0; chunk != NULL && attnums != NULL && i < chunk->column_count; i++)
	{
		if (directory_segment_matches(&chunk->columns[i], desc))
			attnums[count++] = i + 1;
	}
	if (chunk != NULL)
		pin_chunk(chunk, attnums, count);
	LWLockRelease(directory_lock);
	if (natts != NULL)
		*natts = count;
	return chunk;
}

void
directory_free_chunk(CachedChunk *chunk)
{
	for (uint32 i = 0; i < chunk->column_count; i++)
	{
		if (chunk->columns[i].segment != NULL)
			region_free(chunk->columns[i].segment, chunk->columns[i].bytes);
	}
	region_free(chunk, chunk->bytes);
}

void
directory_unpin_chunk(CachedChunk *chunk, const AttrNumber *attnums, int natts)
{
	for (int i = 0; i < natts; i++)
		pg_atomic_fetch_sub_u32(&chunk->columns[attnums[i] - 1].pins, 1);
	if (pg_atomic_fetch_sub_u32(&chunk->references, 1) == 1)
		directory_free_chunk(chunk);
}

/* ---------------------------------------------------------------- changes - */

/* Adds (sign 1) or takes away (-1) a segment in the relation's totals. */
static void
count_segment(CachedRelation *relation, const CachedSegment *segment, int sign)
{
	ColumnTotals *totals = &relation->columns[segment->attnum - 1];

	totals->chunks += sign;
	totals->pages += (int64) sign * segment->chunk->cached_pages;
	totals->rows += (int64) sign * segment->chunk->rows;
	if (segment->segment != NULL)
		totals->bytes += (int64) sign * segment->bytes;
	else
		totals->cold_bytes += (int64) sign * segment->bytes;
	if (segment->extent.file != 0)
		totals->disk_bytes += (int64) sign * segment->bytes;
}

/* Adds (sign 1) or takes away (-1) what was found of a chunk. */
static void
count_proof(CachedRelation *relation, CachedChunk *chunk, int sign)
{
	pg_atomic_fetch_add_u64(&relation->unproven_pages,
							(int64) sign * pg_atomic_read_u32(&chunk->unproven_pages));
	pg_atomic_fetch_add_u64(&relation->lsn_pages,
							(int64) sign * pg_atomic_read_u32(&chunk->lsn_pages));
}

/* Takes a chunk out of the directory; the caller drops the directory's reference after unlocking. */
static void
unlink_chunk(CachedRelation *relation, CachedChunk *chunk)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	for (uint32 i = 0; i < chunk->column_count; i++)
	{
		CachedSegment *segment = &chunk->columns[i];

		if (!segment_is_cached(segment))
			continue;
		count_segment(relation, segment, -1);
		if (segment->segment == NULL)
			continue;
		dlist_delete(&segment->clock_node);
		directory->clock_length--;
	}
	if (chunk->resident_count == 0)
		directory->disk_header_bytes -= chunk->bytes;
	count_proof(relation, chunk, -1);
	relation->chunks[chunk->number] = NULL;
	relation->chunk_count--;
}

/* Gives a relation's arrays room; false when the region is full. Old arrays go to *garbage. */
typedef struct Garbage
{
	void	   *page;
	Size		bytes;
} Garbage;

static bool
grow_relation(CachedRelation *relation, uint32 chunk_limit, uint32 column_limit, Garbage *garbage)
{
	if (chunk_limit > relation->chunk_limit)
	{
		uint32		limit = Max(chunk_limit, Max(512, relation->chunk_limit * 2));
		CachedChunk **chunks = region_allocate(limit * sizeof(CachedChunk *));

		if (chunks == NULL)
			return false;
		memset(chunks, 0, limit * sizeof(CachedChunk *));
		if (relation->chunks != NULL)
			memcpy(chunks, relation->chunks, relation->chunk_limit * sizeof(CachedChunk *));
		garbage[0].page = relation->chunks;
		garbage[0].bytes = relation->chunk_limit * sizeof(CachedChunk *);
		relation->chunks = chunks;
		relation->chunk_limit = limit;
	}
	if (column_limit > relation->column_limit)
	{
		ColumnTotals *columns = region_allocate(column_limit * sizeof(ColumnTotals));

		if (columns == NULL)
			return false;
		memset(columns, 0, column_limit * sizeof(ColumnTotals));
		if (relation->columns != NULL)
			memcpy(columns, relation->columns, relation->column_limit * sizeof(ColumnTotals));
		garbage[1].page = relation->columns;
		garbage[1].bytes = relation->column_limit * sizeof(ColumnTotals);
		relation->columns = columns;
		relation->column_limit = column_limit;
	}
	return true;
}

static void
collect_garbage(const Garbage *garbage, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (garbage[i].page != NULL)
			region_free(garbage[i].page, garbage[i].bytes);
	}
}

/* Removes a relation without chunks. */
static void
remove_relation(CachedRelation *relation, Garbage *garbage)
{
	Assert(relation->chunk_count == 0);
	garbage[0].page = relation->chunks;
	garbage[0].bytes = relation->chunk_limit * sizeof(CachedChunk *);
	garbage[1].page = relation->columns;
	garbage[1].bytes = relation->column_limit * sizeof(ColumnTotals);
	(void) hash_search(relations, &relation->key, HASH_REMOVE, NULL);
	pg_atomic_fetch_sub_u32(&directory->relation_count, 1);
}

static CachedRelation *
enter_relation(const CacheKey *key, Oid relid)
{
	bool		found;
	CachedRelation *relation = hash_search(relations, key, HASH_ENTER_NULL, &found);

	if (relation == NULL)
		return NULL;
	if (!found)
	{
		memset((char *) relation + sizeof(CacheKey), 0, sizeof(CachedRelation) - sizeof(CacheKey));
		pg_atomic_init_u64(&relation->scans, 0);
		pg_atomic_init_u64(&relation->pages_from_cache, 0);
		pg_atomic_init_u64(&relation->pages_from_heap, 0);
		pg_atomic_init_u64(&relation->unproven_pages, 0);
		pg_atomic_init_u64(&relation->lsn_pages, 0);
		pg_atomic_init_u64(&relation->vacuumed_at, 0);
		pg_atomic_init_u32(&relation->lacks_memory, 0);
		pg_atomic_fetch_add_u32(&directory->relation_count, 1);
	}
	relation->relid = relid;
	return relation;
}

/* Puts a segment, which is in memory, before the clock's hand for the last time. */
static void
link_segment(CachedSegment *segment)
{
	dlist_push_tail(&directory->clock, &segment->clock_node);
	directory->clock_length++;
}

bool
directory_is_linked(const CachedRelation *relation, const CachedChunk *chunk)
{
	return relation != NULL && chunk->number < relation->chunk_limit &&
		relation->chunks[chunk->number] == chunk;
}

/* Whether the header may take memory when no segment does. */
static bool
header_may_stay(const CachedChunk *chunk)
{
	return directory->disk_header_bytes + chunk->bytes <= region_budget_bytes() / DISK_HEADERS_SHARE;
}

/* A chunk that nobody can see yet. */
static void
link_chunk(CachedRelation *relation, CachedChunk *chunk)
{
	relation->chunks[chunk->number] = chunk;
	relation->chunk_count++;
	count_proof(relation, chunk, 1);
	chunk->resident_count = 0;
	for (uint32 i = 0; i < chunk->column_count; i++)
	{
		CachedSegment *segment = &chunk->columns[i];

		if (!segment_is_cached(segment))
			continue;
		count_segment(relation, segment, 1);
		if (segment->segment == NULL)
			continue;
		chunk->resident_count++;
		link_segment(segment);
	}
	if (chunk->resident_count == 0)
		directory->disk_header_bytes += chunk->bytes;
}

/*
 * The chunk was filled where nobody could see it, and is seen whole or not at
 * all.  What it replaces is freed by whoever unpins it last; old arrays are
 * freed after the lock, since readers copy from them under it.
 */
static bool
publish_chunk(Oid relid, CachedChunk *chunk, bool replaces)
{
	Garbage		garbage[4] = {{0}};
	CachedChunk *replaced = NULL;
	CachedRelation *relation;
	bool		ok = false;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	relation = enter_relation(&chunk->key, relid);
	if (relation != NULL)
		ok = grow_relation(relation, chunk->number + 1, chunk->column_count, garbage) &&
			(replaces || (relation->chunks[chunk->number] == NULL &&
						  header_may_stay(chunk)));
	if (ok)
	{
		replaced = relation->chunks[chunk->number];
		if (replaced != NULL)
			unlink_chunk(relation, replaced);
		link_chunk(relation, chunk);
	}
	else if (relation != NULL && relation->chunk_count == 0)
		remove_relation(relation, garbage + 2);
	LWLockRelease(directory_lock);
	if (replaced != NULL)
		directory_unpin_chunk(replaced, NULL, 0);
	collect_garbage(garbage, lengthof(garbage));
	return ok;
}

bool
directory_publish_chunk(Oid relid, CachedChunk *chunk)
{
	return publish_chunk(relid, chunk, true);
}

bool
directory_restore_chunk(Oid relid, CachedChunk *chunk)
{
	return publish_chunk(relid, chunk, false);
}

bool
directory_publish_segments(CachedChunk *chunk, const CachedSegment *segments, int count)
{
	CachedRelation *relation;
	bool		ok;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	relation = directory_find_relation(&chunk->key);
	ok = directory_is_linked(relation, chunk);
	for (int i = 0; ok && i < count; i++)
		ok = segments[i].attnum <= (int) chunk->column_count &&
			!segment_is_cached(&chunk->columns[segments[i].attnum - 1]);
	if (ok && chunk->resident_count == 0 && count > 0)
		directory->disk_header_bytes -= chunk->bytes;
	for (int i = 0; ok && i < count; i++)
	{
		CachedSegment *segment = &chunk->columns[segments[i].attnum - 1];

		*segment = segments[i];
		segment->chunk = chunk;
		segment->usage = USAGE_START;
		pg_atomic_init_u32(&segment->pins, 0);
		chunk->segment_count++;
		chunk->resident_count++;
		count_segment(relation, segment, 1);
		link_segment(segment);
	}
	LWLockRelease(directory_lock);
	return ok;
}

/* ---------------------------------------------------------------- eviction */

/* Takes a segment's memory, which is the caller's then. */
static void
forget_memory(CachedRelation *relation, CachedSegment *segment)
{
	CachedChunk *chunk = segment->chunk;

	count_segment(relation, segment, -1);
	segment->segment = NULL;
	if (segment_is_cached(segment))
		count_segment(relation, segment, 1);
	else
		chunk->segment_count--;
	if (--chunk->resident_count == 0)
		directory->disk_header_bytes += chunk->bytes;
}

/* Forgets a segment's copy on disk. */
static void
forget_extent(CachedRelation *relation, CachedSegment *segment)
{
	count_segment(relation, segment, -1);
	memset(&segment->extent, 0, sizeof(TierExtent));
	if (segment_is_cached(segment))
		count_segment(relation, segment, 1);
	else
		segment->chunk->segment_count--;
}

/* Who wants memory: a load, or a segment that is read from disk, which must be worth more than what goes. */
typedef struct Evictor
{
	Size		bytes;			/* of the segment, or header */
	uint64		protected_serial;	/* segments from there on stay, unless they are on disk */
	uint8		reader_usage;	/* of what is read; 0: a load */
	uint32		wishes;			/* of a load; 0: it takes memory from everything */
} Evictor;

/* A wish takes memory from what was used so many times less: so two that change places do not do so for ever. */
#define WISHES_PER_USE			2

/*
 * Whether a load may take a segment's memory.  To load a column of a chunk costs
 * about the same for all of them, its heap pages; so what is gained are its
 * wishes, and what is lost are the uses of as many segments as make room for it.
 * What is on disk, too, costs little to have again.
 */
static bool
is_worth_less(const Evictor *evictor, const CachedRelation *relation, const CachedSegment *segment)
{
	uint64		uses = pg_atomic_read_u64(&relation->columns[segment->attnum - 1].uses);

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

	if (evictor->reader_usage == 0 && !is_worth_less(evictor, relation, segment))
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

/*
 * Moves the clock's hand until `bytes` are found, or past so many as may be
 * found: for a load until every segment was met often enough to have lost all
 * its chances, for a segment as many as it needs.
 */
static Size
evict_batch(Size bytes, const Evictor *evictor, Garbage *garbage, int *garbage_count,
			CachedChunk **emptied, int *emptied_count)
{
	Size		found = 0;
	uint64		steps = 0;
	uint64		steps_limit = READER_STEPS;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	if (evictor->reader_usage == 0)
		steps_limit = (uint64) directory->clock_length * (USAGE_MAX + 1);
	while (found < bytes && *emptied_count < EVICT_BATCH && *garbage_count + 3 <= GARBAGE_MAX &&
		   steps++ < steps_limit && !dlist_is_empty(&directory->clock))
	{
		CachedSegment *segment = dlist_head_element(CachedSegment, clock_node, &directory->clock);
		CachedChunk *chunk = segment->chunk;
		CachedRelation *relation = directory_find_relation(&chunk->key);
		bool		is_last;

		dlist_delete(&segment->clock_node);
		if (!may_evict(evictor, relation, segment))
		{
			dlist_push_tail(&directory->clock, &segment->clock_node);
			continue;
		}
		directory->clock_length--;
		garbage[*garbage_count].page = segment->segment;
		garbage[(*garbage_count)++].bytes = segment->bytes;
		found += region_cost_bytes(segment->bytes);
		is_last = chunk->resident_count == 1 && !header_may_stay(chunk);
		forget_memory(relation, segment);
		if (is_last || chunk->segment_count == 0)
		{
			unlink_chunk(relation, chunk);
			emptied[(*emptied_count)++] = chunk;
			found += region_cost_bytes(chunk->bytes);
			if (relation->chunk_count == 0)
			{
				remove_relation(relation, garbage + *garbage_count);
				*garbage_count += 2;
			}
		}
	}
	LWLockRelease(directory_lock);
	return found;
}

/* Frees at least `bytes`, or returns false. */
static bool
evict(Size bytes, const Evictor *evictor)
{
	while (true)
	{
		Garbage		garbage[GARBAGE_MAX];
		CachedChunk *emptied[EVICT_BATCH];
		int			garbage_count = 0;
		int			emptied_count = 0;
		Size		found = evict_batch(bytes, evictor, garbage, &garbage_count,
										emptied, &emptied_count);

		collect_garbage(garbage, garbage_count);
		for (int i = 0; i < emptied_count; i++)
			directory_unpin_chunk(emptied[i], NULL, 0);
		if (found >= bytes)
			return true;
		if (garbage_count + 3 <= GARBAGE_MAX && emptied_count < EVICT_BATCH)
			return found > 0;
		bytes -= found;
	}
}

static void *
allocate(Size bytes, const Evictor *evictor)
{
	void	   *page;

	while ((page = region_allocate(bytes)) == NULL)
	{
		if (!evict(region_cost_bytes(bytes), evictor))
			return NULL;
	}
	return page;
}

void *
directory_allocate(Size bytes, uint64 protected_serial, uint32 wishes)
{
	Evictor		evictor = {.bytes = bytes,.protected_serial = protected_serial,.wishes = wishes};

	return allocate(bytes, &evictor);
}

bool
directory_shrink(void)
{
	Evictor		evictor = {.protected_serial = PG_UINT64_MAX};
	Size		excess_bytes;

	while ((excess_bytes = region_excess_bytes()) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (!evict(excess_bytes, &evictor))
			return false;
	}
	return true;
}

/* usage is at least 1 while the caller's pin is the latest; who gets no memory has used a chance up. */
void *
directory_allocate_for(CachedChunk *chunk, AttrNumber attnum)
{
	CachedSegment *segment = &chunk->columns[attnum - 1];
	Evictor		evictor = {.reader_usage = Max(segment->usage, USAGE_START)};
	void	   *page = allocate(segment->bytes, &evictor);

	if (page == NULL && segment->usage > USAGE_START)
		segment->usage--;
	return page;
}

/* ---------------------------------------------------------------- tier ---- */

CachedChunk *
directory_pin_next_chunk(const CacheKey *key, uint32 number, CachedSegment *segments, int *count)
{
	CachedRelation *relation;
	CachedChunk *chunk = NULL;

	*count = 0;
	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(key);
	for (; relation != NULL && chunk == NULL && number < relation->chunk_limit; number++)
		chunk = relation->chunks[number];
	if (chunk != NULL)
	{
		pg_atomic_fetch_add_u32(&chunk->references, 1);
		for (uint32 i = 0; i < chunk->column_count; i++)
		{
			/* not as a query's pin, which makes it hotter */
			if (!segment_is_cached(&chunk->columns[i]))
				continue;
			pg_atomic_fetch_add_u32(&chunk->columns[i].pins, 1);
			segments[(*count)++] = chunk->columns[i];
		}
	}
	LWLockRelease(directory_lock);
	return chunk;
}

void
directory_set_extents(CachedChunk *chunk, const CachedSegment *segments, int count)
{
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	relation = directory_find_relation(&chunk->key);
	for (int i = 0; directory_is_linked(relation, chunk) && i < count; i++)
	{
		CachedSegment *segment = &chunk->columns[segments[i].attnum - 1];

		if (segment->segment == NULL || segment->serial != segments[i].serial || segment->extent.file != 0)
			continue;
		count_segment(relation, segment, -1);
		segment->extent = segments[i].extent;
		count_segment(relation, segment, 1);
	}
	LWLockRelease(directory_lock);
}

bool
directory_find_extent(CachedChunk *chunk, AttrNumber attnum, TierExtent *extent)
{
	bool		in_memory;

	LWLockAcquire(directory_lock, LW_SHARED);
	*extent = chunk->columns[attnum - 1].extent;
	in_memory = chunk->columns[attnum - 1].segment != NULL;
	LWLockRelease(directory_lock);
	return in_memory;
}

/* A chunk that was replaced is seen by those who have pinned it: the last of them frees the memory. */
bool
directory_put_segment(CachedChunk *chunk, AttrNumber attnum, void *page)
{
	CachedSegment *segment = &chunk->columns[attnum - 1];
	uint64		serial = directory_next_serial();
	CachedRelation *relation;
	bool		ok;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	relation = directory_find_relation(&chunk->key);
	/* without its extent it is not counted any more */
	ok = segment->segment == NULL && segment->extent.file != 0;
	if (ok && !directory_is_linked(relation, chunk))
		segment->segment = page;
	else if (ok)
	{
		count_segment(relation, segment, -1);
		segment->segment = page;
		segment->serial = serial;
		segment->usage = Max(segment->usage, USAGE_START);
		count_segment(relation, segment, 1);
		if (chunk->resident_count++ == 0)
			directory->disk_header_bytes -= chunk->bytes;
		link_segment(segment);
	}
	LWLockRelease(directory_lock);
	return ok;
}

bool
directory_drop_extent(CachedChunk *chunk, AttrNumber attnum, const TierExtent *extent)
{
	CachedSegment *segment = &chunk->columns[attnum - 1];
	Garbage		garbage[2] = {{0}};
	CachedRelation *relation;
	bool		is_emptied = false;
	bool		is_there;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	relation = directory_find_relation(&chunk->key);
	is_there = directory_is_linked(relation, chunk) &&
		segment->extent.file == extent->file && segment->extent.unit == extent->unit;
	if (is_there)
	{
		forget_extent(relation, segment);
		is_emptied = chunk->segment_count == 0;
		if (is_emptied)
			unlink_chunk(relation, chunk);
		if (relation->chunk_count == 0)
			remove_relation(relation, garbage);
	}
	LWLockRelease(directory_lock);
	if (is_emptied)
		directory_unpin_chunk(chunk, NULL, 0);
	collect_garbage(garbage, lengthof(garbage));
	return is_there;
}

/* A batch of chunks per turn of the lock. */
void
directory_drop_extents(const CacheKey *key, uint32 file)
{
	uint32		number = 0;
	bool		more = true;

	while (more)
	{
		CachedChunk *emptied[EVICT_BATCH];
		Garbage		garbage[2] = {{0}};
		int			emptied_count = 0;
		CachedRelation *relation;
		uint32		limit;

		LWLockAcquire(directory_lock, LW_EXCLUSIVE);
		relation = directory_find_relation(key);
		limit = relation == NULL ? 0 : Min(relation->chunk_limit, number + EVICT_BATCH);
		more = relation != NULL && limit < relation->chunk_limit;
		for (; number < limit; number++)
		{
			CachedChunk *chunk = relation->chunks[number];

			if (chunk == NULL)
				continue;
			if (chunk->header_extent.file == file)
				memset(&chunk->header_extent, 0, sizeof(TierExtent));
			for (uint32 i = 0; i < chunk->column_count; i++)
			{
				if (chunk->columns[i].extent.file == file)
					forget_extent(relation, &chunk->columns[i]);
			}
			if (chunk->segment_count > 0)
				continue;
			unlink_chunk(relation, chunk);
			emptied[emptied_count++] = chunk;
		}
		if (relation != NULL && relation->chunk_count == 0)
		{
			remove_relation(relation, garbage);
			more = false;
		}
		LWLockRelease(directory_lock);
		for (int i = 0; i < emptied_count; i++)
			directory_unpin_chunk(emptied[i], NULL, 0);
		collect_garbage(garbage, lengthof(garbage));
	}
}

/* ---------------------------------------------------------------- drop ---- */

/* Drops the relation's chunks a batch at a time, then the relation. */
uint64
directory_drop_relation(const CacheKey *key)
{
	uint64		dropped = 0;
	bool		more = true;

	if (directory_is_empty())
		return 0;
	while (more)
	{
		CachedChunk *chunks[EVICT_BATCH];
		Garbage		garbage[2] = {{0}};
		int			count = 0;
		CachedRelation *relation;

		LWLockAcquire(directory_lock, LW_EXCLUSIVE);
		relation = directory_find_relation(key);
		for (uint32 i = 0; relation != NULL && i < relation->chunk_limit && count < EVICT_BATCH; i++)
		{
			if (relation->chunks[i] == NULL)
				continue;
			chunks[count] = relation->chunks[i];
			unlink_chunk(relation, chunks[count++]);
		}
		more = relation != NULL && relation->chunk_count > 0;
		if (relation != NULL && !more)
			remove_relation(relation, garbage);
		LWLockRelease(directory_lock);
		for (int i = 0; i < count; i++)
			directory_unpin_chunk(chunks[i], NULL, 0);
		collect_garbage(garbage, lengthof(garbage));
		dropped += count;
	}
	return dropped;
}

/* Finds a relation that a drop of (database, relid) concerns; relid InvalidOid: any of the database. */
static bool
find_relation_to_drop(Oid database, Oid relid, const CacheKey *keep, CacheKey *key)
{
	HASH_SEQ_STATUS scan;
	CachedRelation *relation;
	bool		found = false;

	LWLockAcquire(directory_lock, LW_SHARED);
	hash_seq_init(&scan, relations);
	while ((relation = hash_seq_search(&scan)) != NULL)
	{
		if (relation->key.database == database &&
			(!OidIsValid(relid) || relation->relid == relid) &&
			(keep == NULL || memcmp(&relation->key, keep, sizeof(CacheKey)) != 0))
		{
			*key = relation->key;
			found = true;
			hash_seq_term(&scan);
			break;
		}
	}
	LWLockRelease(directory_lock);
	return found;
}

void
directory_drop_relation_oid(Oid database, Oid relid, const CacheKey *keep)
{
	CacheKey	key;

	while (!directory_is_empty() && find_relation_to_drop(database, relid, keep, &key))
		(void) directory_drop_relation(&key);
}

void
directory_drop_database(Oid database)
{
	directory_drop_relation_oid(database, InvalidOid, NULL);
}
