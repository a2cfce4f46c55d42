/*-------------------------------------------------------------------------
 *
 * directory.c
 *	  What is cached: relations, their chunks, the chunks' column segments.
 *
 * Only this file, directory_eviction.c and directory_numbers.c take the directory
 * lock; directory_relations.c is called under it.
 *
 * Shared mode protects: the hash of relations, each relation's array of
 * chunks, which segments a chunk has.  Whoever finds a chunk under it pins
 * the chunk and segments before letting go; from then on it reads them with
 * no lock.  Exclusive mode is needed to change any of these, and for the
 * clock list.  The lock is held for memory accesses only: never across I/O,
 * a system call, an allocation of the backend or anything that can raise an
 * error.  Memory is returned to the region after the lock is released, since
 * giving it to the kernel is a system call; so is taking it, which happens under
 * the lock only where a relation's arrays double (grow_relation).
 *
 * References of a chunk: one of the directory's, one per pin.  New pins need
 * the directory's, so whoever brings the count to zero is the last one and
 * frees the chunk and its segments.  Pins of a segment keep it from being
 * evicted while its chunk stays; a segment is evicted only under the
 * exclusive lock and with no pin, and can gain one only under the lock.
 *
 * What readers may change without the lock is atomic: live bits go from 1 to 0,
 * changed_pages up, and back by whoever holds the page's share lock and found its
 * rows decided; rows are marked dead for good; vm_stamp is exchanged by whoever
 * proved the new value.  usage is a plain byte: a lost update costs nothing.
 *
 * A segment is in memory, on disk, or both; only those in memory are in the
 * clock list.  Where it is on disk, and which memory it has, changes under the
 * exclusive lock alone.  A pin does not keep the copy on disk: who reads it
 * without the lock must not find it there, and whoever gives a segment memory
 * finds that it got some, or that its chunk was replaced, meanwhile.
 *
 * What is remembered of a segment's rows (remembered_filter.c) is pinned and freed
 * as a chunk, too; it leaves the segment with the segment's memory, or to make
 * room for others of its kind.
 *
 * A chunk's patch is pinned and freed as a chunk, and changes under the exclusive
 * lock; a chunk that is not in the directory any more keeps its patch until it is
 * freed.
 *
 * The region's spinlock is a leaf below this lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "storage/shmem.h"
#include "utils/rel.h"

#include "cache/column_facts.h"
#include "cache/directory.h"
#include "cache/directory_internal.h"
#include "pg_compat.h"
#include "cache/region.h"

/* Chunks looked at or dropped per turn of the exclusive lock. */
#define CHUNK_BATCH				64

typedef struct DirectoryControl
{
	LWLock	   *locks[DIRECTORY_LOCK_COUNT];
	pg_atomic_uint64 next_serial;
} DirectoryControl;

static DirectoryControl *directory = NULL;

Size
directory_shmem_bytes(void)
{
	return add_size(add_size(MAXALIGN(sizeof(DirectoryControl)), relations_shmem_bytes()), eviction_shmem_bytes());
}

void
directory_shmem_startup(void)
{
	bool		found;

	directory = ShmemInitStruct("penumbra directory", sizeof(DirectoryControl), &found);
	for (int i = 0; i < DIRECTORY_LOCK_COUNT; i++)
		directory->locks[i] = &GetNamedLWLockTranche(DIRECTORY_TRANCHE)[i].lock;
	pg_atomic_init_u64(&directory->next_serial, 1);
	relations_shmem_startup();
	eviction_shmem_startup();
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

bool
directory_segment_matches(const CachedSegment *segment, TupleDesc desc)
{
	ColumnFacts facts;

	if (!segment_is_cached(segment))
		return false;
	facts = column_key_facts(column_key_now(segment->column, desc), desc);
	return column_facts_are_equal(&segment->facts, &facts);
}

bool
patch_find_segments(const CachedChunk *patch, TupleDesc desc, const ColumnKey *columns, int ncolumns,
					const void **segments)
{
	for (int i = 0; i < ncolumns; i++)
	{
		const CachedSegment *segment = chunk_slot(patch, columns[i]);

		if (segment == NULL || !directory_segment_matches(segment, desc))
			return false;
		segments[i] = segment->segment;
	}
	return true;
}

/* ---------------------------------------------------------------- pins ---- */

/* The facts of these columns, gathered before the lock is taken. */
static ColumnFacts *
list_facts(TupleDesc desc, const ColumnKey *columns, int ncolumns)
{
	ColumnFacts *facts = palloc(sizeof(ColumnFacts) * Max(ncolumns, 1));

	for (int i = 0; i < ncolumns; i++)
		facts[i] = column_key_facts(columns[i], desc);
	return facts;
}

static bool
chunk_has_columns(const CachedChunk *chunk, const ColumnKey *columns, int ncolumns, const ColumnFacts *facts,
				  bool on_disk)
{
	for (int i = 0; i < ncolumns; i++)
	{
		const CachedSegment *segment = chunk_slot(chunk, columns[i]);

		if (segment == NULL || !segment_is_cached(segment) || !column_facts_are_equal(&segment->facts, &facts[i]) ||
			(!on_disk && segment->segment == NULL))
			return false;
	}
	return true;
}

static void
pin_chunk(CachedChunk *chunk, const ColumnKey *columns, int ncolumns)
{
	Assert(LWLockHeldByMe(directory_lock));
	pg_atomic_fetch_add_u32(&chunk->references, 1);
	for (int i = 0; i < ncolumns; i++)
	{
		CachedSegment *segment = chunk_slot(chunk, columns[i]);

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
directory_pin_chunks(Relation rel, const ColumnKey *columns, int ncolumns, uint32 sample, bool on_disk,
					 CachedChunk ***chunks)
{
	CacheKey	key;
	CachedRelation *relation;
	ColumnFacts *facts;
	uint32		limit = 64;
	uint32		step = 1;
	int			count = 0;

	*chunks = NULL;
	if (directory_is_empty())
		return 0;
	directory_key_of(rel, &key);
	facts = list_facts(RelationGetDescr(rel), columns, ncolumns);
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

		if (chunk == NULL || !chunk_has_columns(chunk, columns, ncolumns, facts, on_disk))
			continue;
		pin_chunk(chunk, columns, ncolumns);
		(*chunks)[count++] = chunk;
	}
	LWLockRelease(directory_lock);
	pfree(facts);
	return count;
}

/* With columns NULL no segment is pinned or looked at. */
CachedChunk *
directory_pin_chunk(Relation rel, uint32 number, ColumnKey *columns, int *ncolumns)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			places = column_key_places(desc);
	ColumnKey  *keys = columns == NULL ? NULL : column_keys_now(desc);
	ColumnFacts *facts = columns == NULL ? NULL : list_facts(desc, keys, places);
	CacheKey	key;
	CachedRelation *relation;
	CachedChunk *chunk = NULL;
	int			count = 0;

	directory_key_of(rel, &key);
	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(&key);
	if (relation != NULL && number < relation->chunk_limit)
		chunk = relation->chunks[number];
	for (uint32 i = 0; chunk != NULL && columns != NULL && i < Min(chunk->column_count, places); i++)
	{
		if (segment_is_cached(&chunk->columns[i]) && column_facts_are_equal(&chunk->columns[i].facts, &facts[i]))
			columns[count++] = keys[i];
	}
	if (chunk != NULL)
		pin_chunk(chunk, columns, count);
	LWLockRelease(directory_lock);
	if (facts != NULL)
	{
		pfree(facts);
		pfree(keys);
	}
	if (ncolumns != NULL)
		*ncolumns = count;
	return chunk;
}

/* A patch changes under the exclusive lock alone; one that is added meanwhile is not missed by anybody. */
void
directory_pin_patches(CachedChunk *const *chunks, int count, CachedChunk **patches)
{
	bool		any = false;

	for (int i = 0; i < count; i++)
	{
		patches[i] = NULL;
		any |= chunks[i]->patch != NULL;
	}
	if (!any)
		return;
	LWLockAcquire(directory_lock, LW_SHARED);
	for (int i = 0; i < count; i++)
	{
		patches[i] = chunks[i]->patch;
		if (patches[i] != NULL)
			pg_atomic_fetch_add_u32(&patches[i]->references, 1);
	}
	LWLockRelease(directory_lock);
}

void
directory_free_chunk(CachedChunk *chunk)
{
	if (chunk->patch != NULL)
		directory_unpin_chunk(chunk->patch, NULL, 0);
	for (uint32 i = 0; i < chunk->column_count && chunk->patch_serial == 0; i++)
	{
		if (chunk->columns[i].segment != NULL)
			region_free(chunk->columns[i].segment, chunk->columns[i].bytes);
		remembered_filters_unpin(chunk->columns[i].filters);
	}
	region_free(chunk, chunk->bytes);
}

void
directory_unpin_chunk(CachedChunk *chunk, const ColumnKey *columns, int ncolumns)
{
	for (int i = 0; i < ncolumns; i++)
		pg_atomic_fetch_sub_u32(&chunk_slot(chunk, columns[i])->pins, 1);
	if (pg_atomic_fetch_sub_u32(&chunk->references, 1) == 1)
		directory_free_chunk(chunk);
}

/* ---------------------------------------------------------------- changes - */

/* Adds (sign 1) or takes away (-1) a segment in the relation's totals. */
static void
count_segment(CachedRelation *relation, const CachedSegment *segment, int sign)
{
	ColumnTotals *totals = relation_totals(relation, segment->column);

	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	totals->chunks += sign;
	totals->pages += (int64) sign * segment->chunk->cached_pages;
	totals->rows += (int64) sign * segment->chunk->rows;
	if (segment->segment != NULL)
		totals->bytes += (int64) sign * segment->bytes;
	else
		totals->cold_bytes += (int64) sign * segment->extent.bytes;
	if (segment->extent.file != 0)
		totals->disk_bytes += (int64) sign * segment->extent.bytes;
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

void
directory_unlink_chunk(CachedRelation *relation, CachedChunk *chunk)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	for (uint32 i = 0; i < chunk->column_count; i++)
	{
		CachedSegment *segment = &chunk->columns[i];

		if (!segment_is_cached(segment))
			continue;
		count_segment(relation, segment, -1);
		if (segment->segment != NULL)
			eviction_remove_segment(segment);
	}
	eviction_remove_header(chunk);
	count_proof(relation, chunk, -1);
	relation->chunks[chunk->number] = NULL;
	relation->chunk_count--;
}

/* Gives a relation's arrays room; false when the region is full. Old arrays go to *garbage. */
static bool
grow_relation(CachedRelation *relation, uint32 chunk_limit, uint32 column_limit, Garbage *garbage)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
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

void
directory_collect_garbage(const Garbage *garbage, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (garbage[i].page != NULL)
			region_free(garbage[i].page, garbage[i].bytes);
	}
}

bool
directory_is_linked(const CachedRelation *relation, const CachedChunk *chunk)
{
	Assert(LWLockHeldByMe(directory_lock));
	return relation != NULL && chunk->number < relation->chunk_limit &&
		relation->chunks[chunk->number] == chunk;
}

/* A chunk that nobody can see yet. */
static void
link_chunk(CachedRelation *relation, CachedChunk *chunk)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	relation->chunks[chunk->number] = chunk;
	relation->chunk_count++;
	count_proof(relation, chunk, 1);
	eviction_add_header(chunk);
	for (uint32 i = 0; i < chunk->column_count; i++)
	{
		CachedSegment *segment = &chunk->columns[i];

		if (!segment_is_cached(segment))
			continue;
		count_segment(relation, segment, 1);
		if (segment->segment != NULL)
			eviction_add_segment(segment);
	}
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
	relation = directory_enter_relation(&chunk->key, relid);
	if (relation != NULL)
		ok = grow_relation(relation, chunk->number + 1, chunk->column_count, garbage) &&
			(replaces || (relation->chunks[chunk->number] == NULL &&
						  eviction_header_may_stay(chunk)));
	if (ok)
	{
		replaced = relation->chunks[chunk->number];
		if (replaced != NULL)
			directory_unlink_chunk(relation, replaced);
		link_chunk(relation, chunk);
	}
	else if (relation != NULL && relation->chunk_count == 0)
		directory_remove_relation(relation, garbage + 2);
	LWLockRelease(directory_lock);
	if (replaced != NULL)
		directory_unpin_chunk(replaced, NULL, 0);
	directory_collect_garbage(garbage, lengthof(garbage));
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
		ok = chunk_slot(chunk, segments[i].column) != NULL &&
			!segment_is_cached(chunk_slot(chunk, segments[i].column));
	for (int i = 0; ok && i < count; i++)
	{
		CachedSegment *segment = chunk_slot(chunk, segments[i].column);

		/* not pins: who reads the copy on disk that was forgotten has not unpinned it yet */
		memcpy(segment, &segments[i], offsetof(CachedSegment, pins));
		segment->chunk = chunk;
		segment->usage = USAGE_START;
		chunk->segment_count++;
		count_segment(relation, segment, 1);
		eviction_add_segment(segment);
	}
	LWLockRelease(directory_lock);
	return ok;
}

/* It goes with the chunk's last column in memory, so a chunk that has none gets none. */
bool
directory_publish_patch(CachedChunk *chunk, CachedChunk *patch)
{
	CachedChunk *replaced = NULL;
	bool		ok;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	ok = directory_is_linked(directory_find_relation(&chunk->key), chunk) && chunk->resident_count > 0;
	if (ok)
	{
		replaced = chunk->patch;
		chunk->patch = patch;
	}
	LWLockRelease(directory_lock);
	if (replaced != NULL)
		directory_unpin_chunk(replaced, NULL, 0);
	return ok;
}

void
directory_pin_filters(CachedSegment *const *segments, int count, const FilterKey *key,
					  RememberedFilter **filters)
{
	LWLockAcquire(directory_lock, LW_SHARED);
	for (int i = 0; i < count; i++)
	{
		RememberedFilter *found = segments[i] == NULL ? NULL : remembered_filter_find(segments[i], key);

		filters[i] = found;
		if (found == NULL)
			continue;
		pg_atomic_fetch_add_u32(&found->references, 1);
		found->is_used = true;
	}
	LWLockRelease(directory_lock);
}

bool
directory_publish_filter(CachedSegment *segment, RememberedFilter *filter, const FilterKey *key)
{
	RememberedFilter *removed = NULL;
	bool		ok;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	ok = segment->segment != NULL &&
		directory_is_linked(directory_find_relation(&segment->chunk->key), segment->chunk) &&
		remembered_filter_add(segment, filter, key, &removed);
	LWLockRelease(directory_lock);
	remembered_filters_unpin(removed);
	return ok;
}

void
directory_forget_memory(CachedRelation *relation, CachedSegment *segment)
{
	CachedChunk *chunk = segment->chunk;

	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	Assert(pg_atomic_read_u32(&segment->pins) == 0);
	count_segment(relation, segment, -1);
	segment->segment = NULL;
	segment->filters = NULL;
	if (segment_is_cached(segment))
		count_segment(relation, segment, 1);
	else
		chunk->segment_count--;
	eviction_remove_segment(segment);
}

/* Forgets a segment's copy on disk. */
static void
forget_extent(CachedRelation *relation, CachedSegment *segment)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	count_segment(relation, segment, -1);
	memset(&segment->extent, 0, sizeof(DiskExtent));
	if (segment_is_cached(segment))
		count_segment(relation, segment, 1);
	else
		segment->chunk->segment_count--;
}

/* ---------------------------------------------------------------- disk cache ---- */

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

static bool
column_is_cold(const CachedChunk *chunk, ColumnKey column)
{
	const CachedSegment *segment = chunk_slot(chunk, column);

	return segment != NULL && segment->segment == NULL && segment->extent.file != 0;
}

/* Unlike pin_chunk(), this does not raise the segment's usage. */
CachedChunk *
directory_pin_next_cold(const CacheKey *key, uint32 number, ColumnKey column)
{
	CachedRelation *relation;
	CachedChunk *found = NULL;

	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(key);
	while (relation != NULL && found == NULL && number < relation->chunk_limit)
	{
		CachedChunk *chunk = relation->chunks[number++];

		if (chunk == NULL || !column_is_cold(chunk, column))
			continue;
		found = chunk;
		pg_atomic_fetch_add_u32(&chunk->references, 1);
		pg_atomic_fetch_add_u32(&chunk_slot(chunk, column)->pins, 1);
	}
	LWLockRelease(directory_lock);
	return found;
}

void
directory_set_extents(CachedChunk *chunk, const CachedSegment *segments, int count)
{
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	relation = directory_find_relation(&chunk->key);
	for (int i = 0; directory_is_linked(relation, chunk) && i < count; i++)
	{
		CachedSegment *segment = chunk_slot(chunk, segments[i].column);

		if (segment->segment == NULL || segment->serial != segments[i].serial || segment->extent.file != 0)
			continue;
		count_segment(relation, segment, -1);
		segment->extent = segments[i].extent;
		count_segment(relation, segment, 1);
	}
	LWLockRelease(directory_lock);
}

bool
directory_find_extent(CachedChunk *chunk, ColumnKey column, DiskExtent *extent)
{
	bool		in_memory;

	LWLockAcquire(directory_lock, LW_SHARED);
	*extent = chunk_slot(chunk, column)->extent;
	in_memory = chunk_slot(chunk, column)->segment != NULL;
	LWLockRelease(directory_lock);
	return in_memory;
}

/* A chunk that was replaced is seen by those who have pinned it: the last of them frees the memory. */
bool
directory_put_segment(CachedChunk *chunk, ColumnKey column, void *page)
{
	CachedSegment *segment = chunk_slot(chunk, column);
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
		eviction_add_segment(segment);
	}
	LWLockRelease(directory_lock);
	return ok;
}

/* The caller's pins keep the chunk and the segment. When the chunk has no column left, it leaves the directory. */
bool
directory_drop_extent(CachedChunk *chunk, ColumnKey column, const DiskExtent *extent)
{
	CachedSegment *segment = chunk_slot(chunk, column);
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
			directory_unlink_chunk(relation, chunk);
		if (relation->chunk_count == 0)
			directory_remove_relation(relation, garbage);
	}
	LWLockRelease(directory_lock);
	if (is_emptied)
		directory_unpin_chunk(chunk, NULL, 0);
	directory_collect_garbage(garbage, lengthof(garbage));
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
		CachedChunk *emptied[CHUNK_BATCH];
		Garbage		garbage[2] = {{0}};
		int			emptied_count = 0;
		CachedRelation *relation;
		uint32		limit;

		LWLockAcquire(directory_lock, LW_EXCLUSIVE);
		relation = directory_find_relation(key);
		limit = relation == NULL ? 0 : Min(relation->chunk_limit, number + CHUNK_BATCH);
		more = relation != NULL && limit < relation->chunk_limit;
		for (; number < limit; number++)
		{
			CachedChunk *chunk = relation->chunks[number];

			if (chunk == NULL)
				continue;
			if (chunk->header_extent.file == file)
				memset(&chunk->header_extent, 0, sizeof(DiskExtent));
			for (uint32 i = 0; i < chunk->column_count; i++)
			{
				if (chunk->columns[i].extent.file == file)
					forget_extent(relation, &chunk->columns[i]);
			}
			if (chunk->segment_count > 0)
				continue;
			directory_unlink_chunk(relation, chunk);
			emptied[emptied_count++] = chunk;
		}
		if (relation != NULL && relation->chunk_count == 0)
		{
			directory_remove_relation(relation, garbage);
			more = false;
		}
		LWLockRelease(directory_lock);
		for (int i = 0; i < emptied_count; i++)
			directory_unpin_chunk(emptied[i], NULL, 0);
		directory_collect_garbage(garbage, lengthof(garbage));
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
		CachedChunk *chunks[CHUNK_BATCH];
		Garbage		garbage[2] = {{0}};
		int			count = 0;
		CachedRelation *relation;

		LWLockAcquire(directory_lock, LW_EXCLUSIVE);
		relation = directory_find_relation(key);
		for (uint32 i = 0; relation != NULL && i < relation->chunk_limit && count < CHUNK_BATCH; i++)
		{
			if (relation->chunks[i] == NULL)
				continue;
			chunks[count] = relation->chunks[i];
			directory_unlink_chunk(relation, chunks[count++]);
		}
		more = relation != NULL && relation->chunk_count > 0;
		if (relation != NULL && !more)
			directory_remove_relation(relation, garbage);
		LWLockRelease(directory_lock);
		for (int i = 0; i < count; i++)
			directory_unpin_chunk(chunks[i], NULL, 0);
		directory_collect_garbage(garbage, lengthof(garbage));
		dropped += count;
	}
	return dropped;
}

/* Relations are found so many at a time: a database may have all that there is room for. */
#define DROP_BATCH 256

/* Finds relations that a drop of (database, relid) concerns; relid InvalidOid: any of the database. */
static int
find_relations_to_drop(Oid database, Oid relid, const CacheKey *keep, CacheKey *keys)
{
	RelationScan scan;
	CachedRelation *relation = NULL;
	int			count = 0;

	LWLockAcquire(directory_lock, LW_SHARED);
	directory_begin_relations(&scan, database, relid);
	while (count < DROP_BATCH && (relation = directory_next_relation(&scan)) != NULL)
	{
		if (keep == NULL || memcmp(&relation->key, keep, sizeof(CacheKey)) != 0)
			keys[count++] = relation->key;
	}
	if (relation != NULL)
		directory_end_relations(&scan);
	LWLockRelease(directory_lock);
	return count;
}

void
directory_drop_relation_oid(Oid database, Oid relid, const CacheKey *keep)
{
	CacheKey	keys[DROP_BATCH];
	int			count;

	while (!directory_is_empty() && (count = find_relations_to_drop(database, relid, keep, keys)) > 0)
	{
		for (int i = 0; i < count; i++)
			(void) directory_drop_relation(&keys[i]);
	}
}

void
directory_drop_database(Oid database)
{
	directory_drop_relation_oid(database, InvalidOid, NULL);
}
