/*-------------------------------------------------------------------------
 *
 * directory_numbers.c
 *	  The directory's numbers: estimates for planning, statistics, views.
 *
 * The directory lock is taken in shared mode, as what changes here is atomic,
 * but for what a refresh lacked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "utils/timestamp.h"

#include "cache/directory.h"
#include "cache/directory_internal.h"
#include "cache/policy/table_options.h"
#include "cache/region.h"
#include "cache/wanted.h"

/* Whoever changes a chunk's number adds the difference after it, so differences may arrive in another order. */
static uint64
read_sum(pg_atomic_uint64 *sum)
{
	return (uint64) Max((int64) pg_atomic_read_u64(sum), 0);
}

/* Of a query of so many columns: the pages whose columns are all cached are at most those of the rarest. */
bool
directory_estimate(const CacheKey *key, const ColumnKey *columns, int ncolumns,
				   uint64 *pages, uint64 *unproven_pages, uint64 *lsn_pages, uint64 *rows,
				   uint64 *bytes, uint64 *cold_bytes)
{
	CachedRelation *relation;

	*pages = *unproven_pages = *lsn_pages = *rows = *bytes = *cold_bytes = 0;
	if (directory_is_empty())
		return false;
	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(key);
	if (relation != NULL)
	{
		*pages = *rows = UINT64_MAX;
		for (int i = 0; i < ncolumns; i++)
		{
			ColumnTotals none = {0};
			ColumnTotals *totals = relation_totals(relation, columns[i]);

			if (totals == NULL)
				totals = &none;
			*pages = Min(*pages, totals->pages);
			*rows = Min(*rows, totals->rows);
			*bytes += totals->bytes;
			*cold_bytes += totals->cold_bytes;
		}
		if (ncolumns == 0)
		{
			*pages = *rows = 0;
			for (uint32 i = 0; i < relation->column_limit; i++)
			{
				*pages = Max(*pages, relation->columns[i].pages);
				*rows = Max(*rows, relation->columns[i].rows);
			}
		}
		*unproven_pages = Min(*pages, read_sum(&relation->unproven_pages));
		*lsn_pages = Min(*pages - *unproven_pages, read_sum(&relation->lsn_pages));
	}
	LWLockRelease(directory_lock);
	return *pages > 0;
}

/* Adds uses, up to the most that is counted, and makes them at least so many. */
static void
raise_uses(ColumnTotals *totals, uint64 more, uint64 least)
{
	uint64		uses = pg_atomic_read_u64(&totals->uses);

	pg_atomic_write_u64(&totals->uses, Max(Min(uses + more, WISHES_MAX), least));
}

/* Of the columns that the most chunks have, the smallest; NULL: there is none. */
static ColumnTotals *
find_smallest(CachedRelation *relation)
{
	ColumnTotals *smallest = NULL;

	for (uint32 i = 0; i < relation->column_limit; i++)
	{
		ColumnTotals *totals = &relation->columns[i];

		if (totals->chunks > 0 &&
			(smallest == NULL || totals->chunks > smallest->chunks ||
			 (totals->chunks == smallest->chunks &&
			  totals->bytes + totals->cold_bytes < smallest->bytes + smallest->cold_bytes)))
			smallest = totals;
	}
	return smallest;
}

/* A scan of no column, to count rows, uses any: a chunk stays for as long as it has one. */
void
directory_note_scan(const CacheKey *key, const ColumnKey *columns, int ncolumns,
					uint64 pages_from_cache, uint64 pages_from_heap, uint64 misses)
{
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(key);
	if (relation != NULL)
	{
		pg_atomic_fetch_add_u64(&relation->scans, 1);
		pg_atomic_fetch_add_u64(&relation->pages_from_cache, pages_from_cache);
		pg_atomic_fetch_add_u64(&relation->pages_from_heap, pages_from_heap);
		pg_atomic_fetch_add_u64(&relation->misses, misses);
		for (int i = 0; i < ncolumns; i++)
		{
			ColumnTotals *totals = relation_totals(relation, columns[i]);

			if (totals == NULL)
				continue;
			pg_atomic_fetch_add_u64(&totals->hits, 1);
			raise_uses(totals, 1, 0);
		}
		if (ncolumns == 0 && find_smallest(relation) != NULL)
			raise_uses(find_smallest(relation), 1, 0);
	}
	LWLockRelease(directory_lock);
}

/* How much columns are used lately is no such count: it decides what is evicted. */
void
directory_reset_counts(void)
{
	RelationScan scan;
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	eviction_reset_counts();
	directory_begin_relations(&scan, InvalidOid, InvalidOid);
	while ((relation = directory_next_relation(&scan)) != NULL)
	{
		pg_atomic_write_u64(&relation->scans, 0);
		pg_atomic_write_u64(&relation->pages_from_cache, 0);
		relation->heap_pages_before += pg_atomic_exchange_u64(&relation->pages_from_heap, 0);
		pg_atomic_write_u64(&relation->misses, 0);
		relation->evictions = 0;
		for (uint32 i = 0; i < relation->column_limit; i++)
			pg_atomic_write_u64(&relation->columns[i].hits, 0);
	}
	LWLockRelease(directory_lock);
}

void
directory_raise_uses(const CacheKey *key, const ColumnKey *columns, int ncolumns, uint32 uses)
{
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(key);
	for (int i = 0; relation != NULL && i < ncolumns; i++)
	{
		ColumnTotals *totals = relation_totals(relation, columns[i]);

		if (totals != NULL)
			raise_uses(totals, 0, uses);
	}
	LWLockRelease(directory_lock);
}

void
directory_age_uses(void)
{
	RelationScan scan;
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_SHARED);
	directory_begin_relations(&scan, InvalidOid, InvalidOid);
	while ((relation = directory_next_relation(&scan)) != NULL)
	{
		for (uint32 i = 0; i < relation->column_limit; i++)
		{
			pg_atomic_uint64 *uses = &relation->columns[i].uses;

			pg_atomic_write_u64(uses, pg_atomic_read_u64(uses) / 2);
		}
	}
	LWLockRelease(directory_lock);
}

/*
 * The planner asks for the sums, so they must follow each load and each scan.
 * Nothing to do while nothing is written: then no lock is taken.
 */
void
directory_note_proof(CachedChunk *chunk, uint32 unproven_pages, uint32 lsn_pages)
{
	CachedRelation *relation;

	if (pg_atomic_read_u32(&chunk->unproven_pages) == unproven_pages &&
		pg_atomic_read_u32(&chunk->lsn_pages) == lsn_pages)
		return;
	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(&chunk->key);
	/* what was replaced or dropped meanwhile is not in the sums any more */
	if (directory_is_linked(relation, chunk))
	{
		uint32		unproven_before = pg_atomic_exchange_u32(&chunk->unproven_pages, unproven_pages);
		uint32		lsn_before = pg_atomic_exchange_u32(&chunk->lsn_pages, lsn_pages);

		pg_atomic_fetch_add_u64(&relation->unproven_pages,
								(int64) unproven_pages - (int64) unproven_before);
		pg_atomic_fetch_add_u64(&relation->lsn_pages, (int64) lsn_pages - (int64) lsn_before);
	}
	LWLockRelease(directory_lock);
}

void
directory_note_load(const CacheKey *key, bool lacks_memory)
{
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(key);
	if (relation != NULL)
		pg_atomic_write_u32(&relation->lacks_memory, lacks_memory);
	LWLockRelease(directory_lock);
}

void
directory_note_refresh(const CacheKey *key, const MemoryShortage *shortage, uint64 heap_pages)
{
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_EXCLUSIVE);
	relation = directory_find_relation(key);
	if (relation != NULL)
	{
		relation->shortage = *shortage;
		relation->refreshed_heap_pages = heap_pages;
	}
	LWLockRelease(directory_lock);
}

bool
directory_claim_vacuum(const CacheKey *key, int pause_ms)
{
	TimestampTz now = GetCurrentTimestamp();
	CachedRelation *relation;
	bool		claimed = false;

	LWLockAcquire(directory_lock, LW_SHARED);
	relation = directory_find_relation(key);
	if (relation != NULL)
	{
		uint64		last = pg_atomic_read_u64(&relation->vacuumed_at);

		claimed = (last == 0 || TimestampDifferenceExceeds((TimestampTz) last, now, pause_ms)) &&
			pg_atomic_compare_exchange_u64(&relation->vacuumed_at, &last, (uint64) now);
	}
	LWLockRelease(directory_lock);
	return claimed;
}

/* Pages that no proof by P1 or P2 serves, not with the chunk's patch either. */
static uint32
count_changed_pages(CachedChunk *chunk)
{
	uint32		changed = pg_atomic_read_u32(&chunk->changed_pages);
	uint32		patched = chunk->patch == NULL ? 0 :
		chunk->patch->cached_pages - pg_atomic_read_u32(&chunk->patch->changed_pages);

	return changed - Min(changed, patched);
}

static void
summarise_staleness(CachedChunk *chunk, RelationSummary *summary)
{
	TimestampTz stale_since = (TimestampTz) pg_atomic_read_u64(&chunk->stale_since);

	summary->changed_pages += count_changed_pages(chunk);
	summary->unproven_pages += pg_atomic_read_u32(&chunk->unproven_pages);
	summary->lsn_pages += pg_atomic_read_u32(&chunk->lsn_pages);
	summary->lost_pages += pg_atomic_read_u32(&chunk->lost_pages);
	if (stale_since != 0 && (summary->stale_since == 0 || stale_since < summary->stale_since))
		summary->stale_since = stale_since;
	summary->unsettled_pages += chunk->unsettled_pages;
	if (chunk->unsettled_pages + count_changed_pages(chunk) > 0 &&
		(!TransactionIdIsValid(summary->unsettled_xid) ||
		 TransactionIdPrecedes(summary->unsettled_xid, chunk->next_xid)))
		summary->unsettled_xid = chunk->next_xid;
}

static void
summarise_relation(const CachedRelation *relation, RelationSummary *summary)
{
	memset(summary, 0, sizeof(*summary));
	summary->key = relation->key;
	summary->relid = relation->relid;
	summary->chunks = relation->chunk_count;
	summary->scans = pg_atomic_read_u64(&unconstify(CachedRelation *, relation)->scans);
	summary->pages_from_cache =
		pg_atomic_read_u64(&unconstify(CachedRelation *, relation)->pages_from_cache);
	summary->pages_from_heap =
		pg_atomic_read_u64(&unconstify(CachedRelation *, relation)->pages_from_heap);
	summary->heap_pages = relation->heap_pages_before + summary->pages_from_heap;
	summary->misses = pg_atomic_read_u64(&unconstify(CachedRelation *, relation)->misses);
	summary->evictions = relation->evictions;
	summary->lacks_memory =
		pg_atomic_read_u32(&unconstify(CachedRelation *, relation)->lacks_memory) != 0;
	summary->shortage = relation->shortage;
	summary->refreshed_heap_pages = relation->refreshed_heap_pages;
	for (uint32 i = 0, seen = 0; seen < relation->chunk_count; i++)
	{
		CachedChunk *chunk = relation->chunks[i];

		if (chunk == NULL)
			continue;
		seen++;
		summary->pages += chunk->pages;
		summary->cached_pages += chunk->cached_pages;
		summarise_staleness(chunk, summary);
		summary->rows += chunk->rows;
		summary->bytes += region_cost_bytes(chunk->bytes);
		if (chunk->patch != NULL)
			summary->bytes += region_cost_bytes(chunk->patch->bytes);
		for (uint32 column = 0; column < chunk->column_count; column++)
			summary->bytes += remembered_filters_bytes(chunk->columns[column].filters);
	}
	for (uint32 i = 0; i < relation->column_limit; i++)
	{
		summary->bytes += relation->columns[i].bytes;
		summary->disk_bytes += relation->columns[i].disk_bytes;
	}
}

/* Copies at most so many; returns how many there are. */
static uint32
summarise_relations(Oid database, Oid relid, RelationSummary *summaries, uint32 limit)
{
	uint32		count = 0;
	RelationScan scan;
	CachedRelation *relation;

	LWLockAcquire(directory_lock, LW_SHARED);
	directory_begin_relations(&scan, database, relid);
	while ((relation = directory_next_relation(&scan)) != NULL)
	{
		if (count < limit)
			summarise_relation(relation, &summaries[count]);
		count++;
	}
	LWLockRelease(directory_lock);
	return count;
}

/* Memory is allocated outside of the lock. If there are more relations by then, the array is allocated again. */
int
directory_list_relations(Oid database, Oid relid, RelationSummary **summaries)
{
	uint32		limit = OidIsValid(relid) ? 4 : directory_relation_count() + 16;
	uint32		count;

	*summaries = NULL;
	if (directory_is_empty())
		return 0;
	for (;;)
	{
		*summaries = palloc_extended(sizeof(RelationSummary) * limit, MCXT_ALLOC_HUGE);
		count = summarise_relations(database, relid, *summaries, limit);
		if (count <= limit)
			return count;
		limit = count + 16;
		pfree(*summaries);
	}
}

/* Counts the chunks of a column per encoding, as text. */
static void
describe_encodings(const CachedRelation *relation, ColumnSummary *summary)
{
	const char *names[16];
	uint32		counts[16];
	int			count = 0;
	int			length = 0;

	for (uint32 i = 0, seen = 0; seen < relation->chunk_count; i++)
	{
		CachedChunk *chunk = relation->chunks[i];
		const CachedSegment *segment;
		PenumbraSegmentInfo info;
		int			n;

		seen += chunk != NULL;
		segment = chunk == NULL ? NULL : chunk_slot(chunk, summary->column);
		if (segment == NULL || segment->segment == NULL)
			continue;
		penumbra_segment_describe(segment->segment, &info);
		summary->plain_bytes += info.plain_bytes;
		for (n = 0; n < count && strcmp(names[n], info.encoding) != 0; n++)
			;
		if (n == (int) lengthof(names))
			continue;
		if (n == count)
		{
			names[count] = info.encoding;
			counts[count++] = 0;
		}
		counts[n]++;
	}
	summary->encodings[0] = '\0';
	for (int n = 0; n < count && length < (int) sizeof(summary->encodings); n++)
		length += snprintf(summary->encodings + length, sizeof(summary->encodings) - length,
						   "%s%s %u", n > 0 ? ", " : "", names[n], counts[n]);
}

static void
summarise_column(CachedRelation *relation, ColumnKey column, ColumnSummary *summary)
{
	ColumnTotals *totals = relation_totals(relation, column);

	memset(summary, 0, sizeof(*summary));
	summary->column = column;
	summary->chunks = totals->chunks;
	summary->pages = totals->pages;
	summary->rows = totals->rows;
	summary->bytes = totals->bytes;
	summary->disk_bytes = totals->disk_bytes;
	summary->hits = pg_atomic_read_u64(&totals->hits);
	summary->uses = pg_atomic_read_u32(&relation->priority) == PRIORITY_PINNED ?
		USES_OF_PINNED : (uint32) pg_atomic_read_u64(&totals->uses);
	describe_encodings(relation, summary);
}

/* As with relations. */
int
directory_list_columns(const CacheKey *key, ColumnSummary **summaries)
{
	CachedRelation *relation;
	uint32		limit = 32;
	int			count = 0;

	for (;;)
	{
		*summaries = palloc(sizeof(ColumnSummary) * limit);
		LWLockAcquire(directory_lock, LW_SHARED);
		relation = directory_find_relation(key);
		if (relation == NULL || relation->column_limit <= limit)
			break;
		limit = relation->column_limit;
		LWLockRelease(directory_lock);
		pfree(*summaries);
	}
	for (uint32 i = 0; relation != NULL && i < relation->column_limit; i++)
	{
		if (relation->columns[i].chunks > 0)
			summarise_column(relation, column_key_of_place(i), &(*summaries)[count++]);
	}
	LWLockRelease(directory_lock);
	return count;
}
