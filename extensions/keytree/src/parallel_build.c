/*-------------------------------------------------------------------------
 *
 * parallel_build.c
 *	  CREATE INDEX by several processes.
 *
 * All of them, the leader too, scan a part of the table and sort it.  Workers
 * leave their sorted runs in a set of shared files and end; the leader merges
 * these with its own.  Private memory and files, because shared memory of this
 * size is more than some systems offer (containers: 64 MB).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "parallel_build.h"
#include "scan_pages.h"

#define KEY_SHARED 1
#define KEY_TABLE_SCAN 2
#define KEY_QUERY_TEXT 3

/* What a worker leaves behind. */
typedef struct WorkerResult
{
	int			files[KEYTREE_SORTERS];
	double		rows_count;
	double		entries_count;
	bool		broken_hot_chain;
	WalUsage	wal_usage;
	BufferUsage buffer_usage;
}			WorkerResult;

typedef struct Shared
{
	Oid			heap;
	Oid			index;
	bool		is_concurrent;
	Size		memory_bytes;	/* of one process */
	KeytreePageQueue queue;
	SharedFileSet files;
	/* each written by its worker, read when that has ended */
	WorkerResult results[FLEXIBLE_ARRAY_MEMBER];
}			Shared;

struct KeytreeParallelBuild
{
	ParallelContext *context;
	Shared	   *shared;
	ParallelTableScanDesc table_scan;
	Snapshot	snapshot;
};

extern PGDLLEXPORT void penumbra_keytree_build_main(dsm_segment *segment, shm_toc *toc);

/* The build's memory is divided evenly among all processes, the leader included. */
static void
fill_shared(KeytreeParallelBuild *parallel, KeytreeBuild *build, int workers)
{
	ParallelContext *context = parallel->context;
	Shared	   *shared = shm_toc_allocate(context->toc, offsetof(Shared, results) + workers * sizeof(WorkerResult));

	shared->heap = RelationGetRelid(build->heap);
	shared->index = RelationGetRelid(build->index);
	shared->is_concurrent = build->info->ii_Concurrent;
	shared->memory_bytes = (Size) maintenance_work_mem * 1024 / (workers + 1);
	keytree_page_queue_init(&shared->queue, build->heap);
	SharedFileSetInit(&shared->files, context->seg);
	shm_toc_insert(context->toc, KEY_SHARED, shared);
	parallel->shared = shared;

	parallel->table_scan = shm_toc_allocate(context->toc, table_parallelscan_estimate(build->heap, parallel->snapshot));
	table_parallelscan_initialize(build->heap, parallel->table_scan, parallel->snapshot);
	shm_toc_insert(context->toc, KEY_TABLE_SCAN, parallel->table_scan);
	if (debug_query_string != NULL)
	{
		Size		bytes = strlen(debug_query_string) + 1;
		char	   *query = shm_toc_allocate(context->toc, bytes);

		memcpy(query, debug_query_string, bytes);
		shm_toc_insert(context->toc, KEY_QUERY_TEXT, query);
	}
}

KeytreeParallelBuild *
keytree_parallel_build_begin(KeytreeBuild *build, int workers)
{
	KeytreeParallelBuild *parallel = palloc0(sizeof(KeytreeParallelBuild));
	ParallelContext *context;

	EnterParallelMode();
	context = parallel->context = CreateParallelContext("penumbra_keytree", "penumbra_keytree_build_main", workers);
	/* any row that somebody may see; a concurrent build takes what one snapshot sees */
	parallel->snapshot = build->info->ii_Concurrent ? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	shm_toc_estimate_chunk(&context->estimator, offsetof(Shared, results) + workers * sizeof(WorkerResult));
	shm_toc_estimate_chunk(&context->estimator, table_parallelscan_estimate(build->heap, parallel->snapshot));
	shm_toc_estimate_keys(&context->estimator, 2);
	if (debug_query_string != NULL)
	{
		shm_toc_estimate_chunk(&context->estimator, strlen(debug_query_string) + 1);
		shm_toc_estimate_keys(&context->estimator, 1);
	}
	InitializeParallelDSM(context);
	if (context->seg != NULL)
	{
		fill_shared(parallel, build, workers);
		LaunchParallelWorkers(context);
	}
	ereport(DEBUG1,
			(errmsg_internal("build of index \"%s\" has %d of %d workers", RelationGetRelationName(build->index),
							 context->nworkers_launched, workers)));
	if (context->nworkers_launched > 0)
		return parallel;
	keytree_parallel_build_end(parallel);
	return NULL;
}

void
keytree_parallel_build_scan(KeytreeParallelBuild *parallel, KeytreeBuild *build)
{
	ParallelContext *context = parallel->context;
	Shared	   *shared = parallel->shared;

	keytree_build_create_sorters(build, shared->memory_bytes, NULL, 0);
	keytree_scan_table(build, &shared->queue, parallel->table_scan, true);
	/* an error of a worker, or that one did not start, ends the build here */
	WaitForParallelWorkersToFinish(context);
	for (int worker = 0; worker < context->nworkers_launched; worker++)
	{
		WorkerResult *result = &shared->results[worker];

		for (int sorter = 0; sorter < KEYTREE_SORTERS; sorter++)
			keytree_sorter_import(build->sorters[sorter], &shared->files.fs,
								  keytree_sorter_file_name(worker, sorter), result->files[sorter]);
		build->rows_count += result->rows_count;
		build->entries_count += result->entries_count;
		build->info->ii_BrokenHotChain |= result->broken_hot_chain;
		InstrAccumParallelQuery(&result->buffer_usage, &result->wal_usage);
	}
}

void
keytree_parallel_build_end(KeytreeParallelBuild *parallel)
{
	if (IsMVCCSnapshot(parallel->snapshot))
		UnregisterSnapshot(parallel->snapshot);
	DestroyParallelContext(parallel->context);
	ExitParallelMode();
}

void
penumbra_keytree_build_main(dsm_segment *segment, shm_toc *toc)
{
	Shared	   *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	WorkerResult *result = &shared->results[ParallelWorkerNumber];
	/* as index.c locks them */
	LOCKMODE	heap_lock = shared->is_concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE	index_lock = shared->is_concurrent ? RowExclusiveLock : AccessExclusiveLock;
	KeytreeBuild build = {0};

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY_TEXT, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	build.heap = table_open(shared->heap, heap_lock);
	build.index = index_open(shared->index, index_lock);
	build.info = BuildIndexInfo(build.index);
	build.info->ii_Concurrent = shared->is_concurrent;
	build.kind = keytree_kind_of(build.index->rd_opcintype[0]);
	InstrStartParallelQuery();
	SharedFileSetAttach(&shared->files, segment);
	keytree_build_create_sorters(&build, shared->memory_bytes, &shared->files.fs, ParallelWorkerNumber);
	keytree_scan_table(&build, &shared->queue, shm_toc_lookup(toc, KEY_TABLE_SCAN, false), false);
	for (int sorter = 0; sorter < KEYTREE_SORTERS; sorter++)
		result->files[sorter] = keytree_sorter_export(build.sorters[sorter]);
	result->rows_count = build.rows_count;
	result->entries_count = build.entries_count;
	result->broken_hot_chain = build.info->ii_BrokenHotChain;
	InstrEndParallelQuery(&result->buffer_usage, &result->wal_usage);
	index_close(build.index, index_lock);
	table_close(build.heap, heap_lock);
}
