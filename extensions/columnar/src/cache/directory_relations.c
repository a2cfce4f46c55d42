/*-------------------------------------------------------------------------
 *
 * directory_relations.c
 *	  The relations of which something is cached.
 *
 * A hash by file, which is what scans know, and chains by oid, which is what
 * DDL and the worker know: in a database with a hundred thousand cached tables
 * neither may go through all of them for one.  A relation that was rewritten has
 * two files until its former one is dropped.
 *
 * All of it is under the directory's lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "storage/shmem.h"

#include "cache/directory.h"
#include "cache/directory_internal.h"
#include "pg_compat.h"
#include "cache/region.h"

#define RELATIONS_INITIAL		256
#define RELATIONS_MAX			131072

/* Region memory of a relation is not less: two arrays, a chunk's header, and a segment or the header's end. */
#define RELATION_BYTES_MIN		(8 * REGION_UNIT_BYTES)

#define BUCKETS					16384

typedef struct RelationTable
{
	pg_atomic_uint32 count;
	CachedRelation *chains[BUCKETS];	/* by a hash of database and oid; NULL: none */
} RelationTable;

static RelationTable *table = NULL;
static HTAB *relations = NULL;

/* Memory ends before the room for relations does, below RELATIONS_MAX. */
static long
relations_limit(void)
{
	return Max(Min(region_reserved_bytes() / RELATION_BYTES_MIN, RELATIONS_MAX), RELATIONS_INITIAL);
}

Size
relations_shmem_bytes(void)
{
	return add_size(MAXALIGN(sizeof(RelationTable)), hash_estimate_size(relations_limit(), sizeof(CachedRelation)));
}

void
relations_shmem_startup(void)
{
	bool		found;
	HASHCTL		info = {
		.keysize = sizeof(CacheKey),
		.entrysize = sizeof(CachedRelation),
	};

	table = ShmemInitStruct("penumbra relations", sizeof(RelationTable), &found);
	memset(table, 0, sizeof(RelationTable));
	pg_atomic_init_u32(&table->count, 0);
	relations = compat_shmem_init_hash("penumbra relations by file", RELATIONS_INITIAL, relations_limit(),
									   &info, HASH_ELEM | HASH_BLOBS);
}

uint32
directory_relation_count(void)
{
	return table == NULL ? 0 : pg_atomic_read_u32(&table->count);
}

CachedRelation *
directory_find_relation(const CacheKey *key)
{
	Assert(LWLockHeldByMe(directory_lock));
	return hash_search(relations, key, HASH_FIND, NULL);
}

static CachedRelation **
chain_of(Oid database, Oid relid)
{
	return &table->chains[hash_combine(murmurhash32(database), murmurhash32(relid)) % BUCKETS];
}

void
directory_begin_relations(RelationScan *scan, Oid database, Oid relid)
{
	Assert(LWLockHeldByMe(directory_lock));
	*scan = (RelationScan) {.database = database,.relid = relid};
	if (OidIsValid(relid))
		scan->next = *chain_of(database, relid);
	else
		hash_seq_init(&scan->all, relations);
}

CachedRelation *
directory_next_relation(RelationScan *scan)
{
	CachedRelation *relation;

	do
	{
		relation = OidIsValid(scan->relid) ? scan->next : hash_seq_search(&scan->all);
		if (relation != NULL)
			scan->next = relation->next_in_chain;
	} while (relation != NULL &&
			 ((OidIsValid(scan->database) && relation->key.database != scan->database) ||
			  (OidIsValid(scan->relid) && relation->relid != scan->relid)));
	return relation;
}

void
directory_end_relations(RelationScan *scan)
{
	if (!OidIsValid(scan->relid))
		hash_seq_term(&scan->all);
}

/* ---------------------------------------------------------------- changes - */

static void
unlink_relation(const CachedRelation *relation)
{
	CachedRelation **place = chain_of(relation->key.database, relation->relid);

	while (*place != relation)
		place = &(*place)->next_in_chain;
	*place = relation->next_in_chain;
}

static void
link_relation(CachedRelation *relation, Oid relid)
{
	CachedRelation **first = chain_of(relation->key.database, relid);

	relation->relid = relid;
	relation->next_in_chain = *first;
	*first = relation;
}

CachedRelation *
directory_enter_relation(const CacheKey *key, Oid relid)
{
	bool		found;
	CachedRelation *relation;

	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	relation = hash_search(relations, key, HASH_ENTER_NULL, &found);
	if (relation == NULL)
		return NULL;
	if (!found)
	{
		memset((char *) relation + sizeof(CacheKey), 0, sizeof(CachedRelation) - sizeof(CacheKey));
		pg_atomic_init_u64(&relation->scans, 0);
		pg_atomic_init_u64(&relation->pages_from_cache, 0);
		pg_atomic_init_u64(&relation->pages_from_heap, 0);
		pg_atomic_init_u64(&relation->misses, 0);
		pg_atomic_init_u64(&relation->unproven_pages, 0);
		pg_atomic_init_u64(&relation->lsn_pages, 0);
		pg_atomic_init_u64(&relation->vacuumed_at, 0);
		pg_atomic_init_u32(&relation->lacks_memory, 0);
		pg_atomic_init_u32(&relation->priority, 0);
		pg_atomic_fetch_add_u32(&table->count, 1);
		link_relation(relation, relid);
	}
	else if (relation->relid != relid)
	{
		unlink_relation(relation);
		link_relation(relation, relid);
	}
	return relation;
}

void
directory_remove_relation(CachedRelation *relation, Garbage *garbage)
{
	Assert(LWLockHeldByMeInMode(directory_lock, LW_EXCLUSIVE));
	Assert(relation->chunk_count == 0);
	garbage[0].page = relation->chunks;
	garbage[0].bytes = relation->chunk_limit * sizeof(CachedChunk *);
	garbage[1].page = relation->columns;
	garbage[1].bytes = relation->column_limit * sizeof(ColumnTotals);
	unlink_relation(relation);
	(void) hash_search(relations, &relation->key, HASH_REMOVE, NULL);
	pg_atomic_fetch_sub_u32(&table->count, 1);
}
