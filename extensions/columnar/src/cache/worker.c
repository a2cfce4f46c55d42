/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  Background loading.
 *
 * The launcher sleeps until a query wanted columns that are not cached, or
 * read pages from the heap although the relation is cached, or a worker
 * ended.  It then starts a worker for each database with something to do, one
 * per database at a time.  A worker loads what is wanted, hottest first,
 * refreshes what is stale, vacuums cached tables whose pages the visibility
 * map lacks, and exits; what is wanted later than it looked is for the next.
 *
 * The launcher is connected to no database, like autovacuum's: it hears of
 * its workers' ends by SIGUSR1, which a background worker without a
 * connection ignores, and sees in pg_database which databases are gone or let
 * nobody in.  What is cached of the former and wanted of both is dropped.
 *
 * Workers carry PROC_IS_AUTOVACUUM: a session that waits for a lock they
 * hold cancels them, and DROP DATABASE terminates them, as it does
 * autovacuum's workers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "nodes/makefuncs.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/sinval.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "cache/cached_expression.h"
#include "cache/column_facts.h"
#include "cache/cache.h"
#include "cache/policy/database.h"
#include "cache/policy/pace.h"
#include "cache/policy/table_options.h"
#include "cache/directory.h"
#include "cache/invalidation.h"
#include "cache/loader.h"
#include "pg_compat.h"
#include "cache/disk/disk_cache.h"
#include "cache/disk/disk_reader.h"
#include "cache/process.h"
#include "cache/progress.h"
#include "cache/region.h"
#include "cache/slow_expression.h"
#include "cache/wanted.h"
#include "cache/wanted_list.h"
#include "cache/worker.h"

#define DATABASES_MAX			256		/* with something wanted, per turn of the launcher */

/* The launcher looks at least so often how much memory there is. */
#define LAUNCHER_SLEEP_MS		10000

/*
 * Between two turns of the launcher, whom each scan of changed pages wakes: so long, or
 * so many times as long as the turn took, which looks at all that is cached.
 */
#define LAUNCHER_PAUSE_MS		100
#define LAUNCHER_REST			10

/*
 * Between two workers for one database, and between two that check all its cached
 * relations against the catalog: both look at each of them, however many there are.
 */
#define WORKER_PAUSE_MS			1000
#define WORKER_PAUSE_US_PER_RELATION	100
#define CHECK_PAUSE_US_PER_RELATION		1000

/*
 * A refresh goes in smaller steps and rests so many times as long after each:
 * the table is served meanwhile, and writers want the processors, too.
 */
#define REFRESHED_CHUNKS		4
#define REFRESH_REST			4

/* A relation that was wanted so often and finds no memory lets all counts be halved. */
#define AGED_WISHES				(WISHES_MAX / 4)

/* Pages of a chunk that may be read from the heap before the chunk is loaded anew. */
#define STALE_SHARE				0.05

/* Pages missing in the visibility map that make a vacuum worth while, and how often to try. */
#define VACUUM_SHARE			0.10
#define VACUUM_PAUSE_MS			60000

bool		penumbra_auto_load = true;

/* penumbra.auto_vacuum, penumbra.max_load_workers, penumbra.log_load_min_duration */
static bool auto_vacuum;
static int	max_load_workers;
static int	log_min_duration_ms;

/* ---------------------------------------------------------------- launcher  */

typedef struct LaunchedDatabase
{
	Oid			database;
	uint64		pages_from_heap;	/* when its last worker started */
	TimestampTz started;
	TimestampTz checked;		/* the start of the last worker that checks all relations */
	BackgroundWorkerHandle *handle; /* NULL: none runs */
} LaunchedDatabase;

void
worker_define_settings(void)
{
	DefineCustomBoolVariable("penumbra.auto_load",
							 "Loads and refreshes cached columns in the background.",
							 "A worker loads the columns that queries would have read from the cache, and "
							 "refreshes what writes made stale.",
							 &penumbra_auto_load, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("penumbra.auto_vacuum",
							 "Vacuums cached tables in the background.",
							 "The worker vacuums those of which many pages are not all-visible, where autovacuum "
							 "is on.",
							 &auto_vacuum, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("penumbra.max_load_workers",
							"Databases whose columns are loaded and refreshed at a time.",
							"Each takes one of max_worker_processes.",
							&max_load_workers, 3, 1, DATABASES_MAX, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("penumbra.log_load_min_duration",
							"Loads, refreshes, evictions and vacuums of the background that take so long are logged.",
							"-1 logs none, 0 all.",
							&log_min_duration_ms, 600000, -1, INT_MAX, PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	pace_define_settings();
}

void
worker_register_launcher(void)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = 5,
	};

	strlcpy(worker.bgw_name, "penumbra launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "penumbra launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_library_name, "penumbra", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "penumbra_launcher_main", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}

/* Of LaunchedDatabase *, in TopMemoryContext; by the start of their last worker, so that all have their turn. */
static List *launched = NIL;

static void
note_database(Oid oid)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	LaunchedDatabase *database;
	ListCell   *lc;
	bool		is_known = false;

	foreach(lc, launched)
		is_known |= ((LaunchedDatabase *) lfirst(lc))->database == oid;
	if (!is_known)
	{
		database = palloc0(sizeof(LaunchedDatabase));
		database->database = oid;
		/* one worker in any case: what was restored from disk does not know its options */
		database->pages_from_heap = PG_UINT64_MAX;
		launched = lcons(database, launched);
	}
	MemoryContextSwitchTo(old);
}

/* Whether a worker can connect to the database. */
static bool
database_lets_in(Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(oid));
	bool		lets_in = false;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);

		lets_in = form->datallowconn && form->datconnlimit != DATCONNLIMIT_INVALID_DB;
		ReleaseSysCache(tuple);
	}
	return lets_in;
}

/*
 * Moves the database to the end of the list even where no process is left for it, so
 * that every database has its turn.
 */
static bool
start_worker(LaunchedDatabase *database, bool checks_relations)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_main_arg = ObjectIdGetDatum(database->database),
		.bgw_notify_pid = MyProcPid,
	};
	MemoryContext old;
	bool		started;

	worker.bgw_extra[0] = checks_relations;
	snprintf(worker.bgw_name, BGW_MAXLEN, "penumbra worker for database %u", database->database);
	strlcpy(worker.bgw_type, "penumbra worker", BGW_MAXLEN);
	strlcpy(worker.bgw_library_name, "penumbra", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "penumbra_worker_main", BGW_MAXLEN);
	old = MemoryContextSwitchTo(TopMemoryContext);
	started = RegisterDynamicBackgroundWorker(&worker, &database->handle);
	launched = lappend(list_delete_ptr(launched, database), database);
	MemoryContextSwitchTo(old);
	database->started = GetCurrentTimestamp();
	if (!started)
		database->handle = NULL;
	else if (checks_relations)
		database->checked = database->started;
	return started;
}

/*
 * Heap pages that scans of the database's cached relations have read, or lost in proving
 * rows; another number: more.
 */
static uint64
count_heap_pages(const RelationSummary *relations, int count, Oid database, int *relations_of_database)
{
	uint64		pages = 0;

	*relations_of_database = 0;
	for (int i = 0; i < count; i++)
	{
		if (relations[i].key.database != database)
			continue;
		pages += relations[i].heap_pages + relations[i].lost_pages;
		(*relations_of_database)++;
	}
	return pages;
}

/* Forgets ended workers, and databases that no worker can enter; returns how many workers run. */
static int
reap_workers(void)
{
	int			running = 0;
	ListCell   *lc;

	foreach(lc, launched)
	{
		LaunchedDatabase *database = lfirst(lc);
		pid_t		pid;

		if (database->handle != NULL &&
			GetBackgroundWorkerPid(database->handle, &pid) == BGWH_STOPPED)
		{
			pfree(database->handle);
			database->handle = NULL;
			wanted_release(database->database);
		}
		if (database->handle != NULL)
			running++;
		else if (!database_lets_in(database->database))
		{
			launched = foreach_delete_current(launched, lc);
			pfree(database);
		}
	}
	return running;
}

/* The databases with something wanted that a worker can enter; forgets what is wanted of others. */
static List *
list_wanted_databases(void)
{
	Oid			oids[DATABASES_MAX];
	int			count = wanted_list_databases(oids, DATABASES_MAX);
	List	   *wanted = NIL;

	for (int i = 0; i < count; i++)
	{
		if (database_lets_in(oids[i]))
			wanted = lappend_oid(wanted, oids[i]);
		else
			wanted_forget_database(oids[i]);
	}
	return wanted;
}

/* Starts workers where there is something to do; returns how long to sleep at most. */
static long
launch_workers(void)
{
	int			running = reap_workers();
	List	   *wanted = list_wanted_databases();
	RelationSummary *relations;
	int			relation_count = directory_list_relations(InvalidOid, InvalidOid, &relations);
	long		timeout_ms = LAUNCHER_SLEEP_MS;
	ListCell   *lc;

	foreach(lc, wanted)
		note_database(lfirst_oid(lc));
	for (int i = 0; i < relation_count; i++)
	{
		if (database_lets_in(relations[i].key.database))
			note_database(relations[i].key.database);
	}
	foreach(lc, list_copy(launched))
	{
		LaunchedDatabase *database = lfirst(lc);
		TimestampTz now = GetCurrentTimestamp();
		int			count;
		uint64		heap_pages = count_heap_pages(relations, relation_count, database->database, &count);

		if (database->handle != NULL ||
			(heap_pages == database->pages_from_heap &&
			 !list_member_oid(wanted, database->database)))
			continue;
		if (running >= max_load_workers ||
			!TimestampDifferenceExceeds(database->started, now, WORKER_PAUSE_MS +
										count * WORKER_PAUSE_US_PER_RELATION / 1000) ||
			!start_worker(database, TimestampDifferenceExceeds(database->checked, now,
															   count * CHECK_PAUSE_US_PER_RELATION / 1000)))
		{
			timeout_ms = WORKER_PAUSE_MS;
			continue;
		}
		database->pages_from_heap = heap_pages;
		running++;
	}
	return timeout_ms;
}

/* Whether what began then took long enough to be logged; how long. */
static bool
is_logged(TimestampTz started, long *elapsed_ms)
{
	*elapsed_ms = TimestampDifferenceMilliseconds(started, GetCurrentTimestamp());
	return log_min_duration_ms >= 0 && *elapsed_ms >= log_min_duration_ms;
}

/* As directory_shrink(). */
static bool
shrink(void)
{
	TimestampTz started = GetCurrentTimestamp();
	uint64		evicted = directory_evicted_bytes();
	bool		is_shrunk = directory_shrink();
	long		elapsed_ms;

	evicted = directory_evicted_bytes() - evicted;
	if (evicted > 0 && is_logged(started, &elapsed_ms))
		ereport(LOG,
				(errmsg("automatic eviction of cached columns: %llu kB in %ld ms",
						(unsigned long long) evicted / 1024, elapsed_ms),
				 errdetail("They may take up to %zu MB.", region_budget_bytes() / (1024 * 1024))));
	return is_shrunk;
}

/* Neither a shutdown nor a changed setting waits for it. */
static void
rest_after(long turn_ms)
{
	long		left_ms = Min(Max(LAUNCHER_REST * turn_ms, LAUNCHER_PAUSE_MS), LAUNCHER_SLEEP_MS);

	for (; left_ms > 0 && !ShutdownRequestPending && !ConfigReloadPending; left_ms -= LAUNCHER_PAUSE_MS)
		(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, LAUNCHER_PAUSE_MS,
						 WaitEventExtensionNew("PenumbraLauncherDelay"));
}

void
penumbra_launcher_main(Datum argument)
{
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, PG_SIG_IGN);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	wanted_set_listener(MyLatch);
	/* which recovery, perhaps a long one, has held back */
	disk_cache_expect_worker();
	while (!ShutdownRequestPending)
	{
		long		timeout_ms = LAUNCHER_SLEEP_MS;
		long		list_pause_ms;
		bool		list_was_read;
		bool		is_shrunk;
		TimestampTz begun = GetCurrentTimestamp();
		long		turn_ms;

		process_handle_signals();
		region_follow_machine();
		is_shrunk = shrink();
		if (penumbra_auto_load)
		{
			/* for pg_database; its end frees what was allocated on the way */
			StartTransactionCommand();
			(void) invalidation_drop_lost_databases();
			list_was_read = wanted_list_is_read();
			list_pause_ms = wanted_list_keep();
			if (!list_was_read && wanted_list_is_read())
				disk_start_reader();
			if (pace_permits_now())
				timeout_ms = launch_workers();
			timeout_ms = Min(timeout_ms, list_pause_ms);
			CommitTransactionCommand();
		}
		/* queries that have pinned what should go will end */
		if (!is_shrunk)
			timeout_ms = Min(timeout_ms, WORKER_PAUSE_MS);
		turn_ms = TimestampDifferenceMilliseconds(begun, GetCurrentTimestamp());
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, timeout_ms,
						 WaitEventExtensionNew("PenumbraLauncherMain"));
		rest_after(turn_ms);
		ResetLatch(MyLatch);
	}
	wanted_set_listener(NULL);
	if (penumbra_auto_load)
		wanted_list_save();
	/* started again, unless the server stops */
	proc_exit(1);
}

/* ---------------------------------------------------------------- worker -- */

/* For what outlives transactions. */
static MemoryContext worker_context;

/* Cleared where the extension is dropped, or was. */
static bool has_extension = true;

/*
 * A relation the worker may load; NULL when it is gone, locked or refused.  The
 * extension is looked at in the transaction that loads.
 */
static Relation
open_relation(Oid relid)
{
	Relation	rel;

	has_extension = has_extension && database_lock_extension(false);
	if (!has_extension)
		return NULL;
	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return NULL;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(relid, AccessShareLock);
		return NULL;
	}
	if (cache_refusal_of_relation(rel) != NULL)
	{
		relation_close(rel, AccessShareLock);
		return NULL;
	}
	return rel;
}

/* Keeps the columns that still exist and can be cached. */
static int
filter_columns(Relation rel, ColumnKey *columns, int ncolumns)
{
	int			count = 0;

	for (int i = 0; i < ncolumns; i++)
	{
		ColumnKey	column = column_key_now(columns[i], RelationGetDescr(rel));
		PenumbraType type;

		if (cache_type_of_column(column, RelationGetDescr(rel), &type) &&
			!(column_key_is_expression(column) && cached_expression_has_failed(column)))
			columns[count++] = column;
	}
	return count;
}

/* Whether vacuum would bring many pages into the visibility map; a map page may be missing yet. */
static bool
wants_vacuum(Relation rel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber visible;
	StdRdOptions *options = (StdRdOptions *) rel->rd_options;
	CacheKey	key;

	if (!auto_vacuum || RecoveryInProgress() || !AutoVacuumingActive() ||
		(options != NULL && !options->autovacuum.enabled))
		return false;
	visibilitymap_count(rel, &visible, NULL);
	if (nblocks - Min(visible, nblocks) <= VACUUM_SHARE * nblocks)
		return false;
	directory_key_of(rel, &key);
	return directory_claim_vacuum(&key, VACUUM_PAUSE_MS);
}

typedef struct RelationJob
{
	Oid			relid;
	ColumnKey  *columns;
	int			ncolumns;
	bool		is_refresh;		/* of what is cached, which can wait */
	uint32		wishes;			/* how often it was wanted, or used */
	MemoryShortage shortage;	/* of the load before, then of this one */
	bool		wants_vacuum;
	bool		is_cut;			/* settings ended it */
	char	   *name;			/* of the relation, with database and schema; NULL: not seen yet */
	uint64		heap_bytes;		/* read and written so far */
	uint64		cached_bytes;
	uint64		chunks_loaded;
	uint64		protected_serial;
	uint32		next_chunk;
} RelationJob;

static void
note_result(RelationJob *job, Relation rel, const LoadResult *result)
{
	if (job->name == NULL)
		job->name = MemoryContextStrdup(worker_context,
										psprintf("%s.%s.%s", get_database_name(MyDatabaseId),
												 get_namespace_name(RelationGetNamespace(rel)),
												 RelationGetRelationName(rel)));
	job->heap_bytes += result->heap_bytes;
	job->cached_bytes += result->cached_bytes;
	job->chunks_loaded += result->chunks_loaded;
}

/* One transaction's part of a job; true when it is finished. */
static bool
load_part(RelationJob *job)
{
	Relation	rel;
	LoadResult	result = {.outcome = LOAD_DONE};

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	rel = open_relation(job->relid);
	if (rel != NULL)
	{
		CacheKey	key;
		TableOptions labels = table_options_read(job->relid);
		int			ncolumns = filter_columns(rel, job->columns, job->ncolumns);
		LoadOptions options = {
			.columns = job->columns,
			.ncolumns = table_options_filter(&labels, job->columns, ncolumns),
			.stale_share = STALE_SHARE,
			.patient = true,
			.patches = true,
			.by_worker = true,
			.wishes = job->wishes * Min(labels.priority, PRIORITY_MAX),
			.shortage = job->shortage,
			.first_chunk = job->next_chunk,
			.chunk_limit = pace_chunks(job->is_refresh ? REFRESHED_CHUNKS : CHUNKS_PER_TRANSACTION),
			.protected_serial = job->protected_serial,
		};

		directory_key_of(rel, &key);
		/* what is there of the columns is worth what is not, before and after */
		if (!job->is_refresh)
			directory_raise_uses(&key, job->columns, options.ncolumns, job->wishes);
		if (options.ncolumns > 0)
			loader_load(rel, &options, &result);
		else
			table_options_apply(job->relid);
		note_result(job, rel, &result);
		job->next_chunk = result.next_chunk;
		job->shortage = result.shortage;
		job->wants_vacuum = result.outcome == LOAD_DONE && wants_vacuum(rel);
		if (!job->is_refresh)
			directory_raise_uses(&key, job->columns, options.ncolumns, job->wishes);
		relation_close(rel, AccessShareLock);
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	return result.outcome != LOAD_MORE;
}

static void
vacuum_relation(Oid relid)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "penumbra vacuum",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	VacuumRelation *relation;
	List	   *relations;
	BufferAccessStrategy strategy;

	StartTransactionCommand();
	/* vacuum() commits our transaction, so nothing it needs may belong to that */
	PortalContext = context;
	old = MemoryContextSwitchTo(context);
	relation = makeVacuumRelation(NULL, relid, NIL);
	relations = list_make1(relation);
	strategy = GetAccessStrategy(BAS_VACUUM);
	MemoryContextSwitchTo(old);
	compat_vacuum_for_visibility(relations, strategy, context);
	CommitTransactionCommand();
	PortalContext = NULL;
	MemoryContextDelete(context);
	progress_note_vacuum();
}

/* Takes up changed settings; false: the worker is to end, and leaves what is wanted to a later one. */
static bool
goes_on(void)
{
	process_handle_signals();
	return penumbra_auto_load && has_extension && pace_permits_now();
}

/*
 * After each part a refresh sleeps REFRESH_REST times as long as the part took, and so
 * leaves the disk to others; a load at most as long as its pace asks for.
 */
static void
rest(const RelationJob *job, uint64 heap_bytes, long part_ms)
{
	TimestampTz begun = GetCurrentTimestamp();
	long		paced_ms = pace_rest_ms(heap_bytes, part_ms);

	while (goes_on())
	{
		long		left_ms;

		/* a higher rate that was set meanwhile holds */
		paced_ms = Min(paced_ms, pace_rest_ms(heap_bytes, part_ms));
		left_ms = Max(job->is_refresh ? REFRESH_REST * part_ms : 0, paced_ms) -
			TimestampDifferenceMilliseconds(begun, GetCurrentTimestamp());
		if (left_ms <= 0)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left_ms,
						 WaitEventExtensionNew("PenumbraRefreshDelay"));
		ResetLatch(MyLatch);
	}
}

static void
load_parts(RelationJob *job)
{
	bool		is_done = false;

	job->next_chunk = 0;
	while (!is_done && goes_on())
	{
		TimestampTz started = GetCurrentTimestamp();
		uint64		heap_bytes = job->heap_bytes;

		is_done = load_part(job);
		rest(job, job->heap_bytes - heap_bytes, TimestampDifferenceMilliseconds(started, GetCurrentTimestamp()));
	}
	job->is_cut = !is_done;
}

/* Loads, and says so. */
static void
load_logged(RelationJob *job)
{
	TimestampTz started = GetCurrentTimestamp();
	uint64		evicted = directory_evicted_bytes();
	long		elapsed_ms;

	job->heap_bytes = job->cached_bytes = job->chunks_loaded = 0;
	load_parts(job);
	evicted = directory_evicted_bytes() - evicted;
	if (job->name != NULL && is_logged(started, &elapsed_ms))
		ereport(LOG,
				(errmsg("automatic %s of cached columns of table \"%s\": %llu chunks in %ld ms",
						job->is_refresh ? "refresh" : "load", job->name,
						(unsigned long long) job->chunks_loaded, elapsed_ms),
				 errdetail("%llu kB of the table were read, %llu kB cached, and %llu kB evicted.%s",
						   (unsigned long long) job->heap_bytes / 1024, (unsigned long long) job->cached_bytes / 1024,
						   (unsigned long long) evicted / 1024,
						   job->shortage.bytes > 0 ? " There is no memory for more." : "")));
}

static void
log_vacuum(const RelationJob *job, TimestampTz started)
{
	long		elapsed_ms;

	if (is_logged(started, &elapsed_ms))
		ereport(LOG,
				(errmsg("automatic vacuum of cached table \"%s\": %ld ms", job->name, elapsed_ms)));
}

static void
run_job(RelationJob *job)
{
	TimestampTz started;

	job->protected_serial = directory_next_serial();
	load_logged(job);
	if (!job->wants_vacuum || !goes_on())
		return;
	started = GetCurrentTimestamp();
	vacuum_relation(job->relid);
	log_vacuum(job, started);
	/* renews stamps, and loads what vacuum changed or made visible */
	load_logged(job);
}

/* Runs a job; an error ends the job, not the worker. */
static void
try_job(RelationJob *job)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		run_job(job);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		MemoryContextSwitchTo(context);
		PortalContext = NULL;
		memset(&job->shortage, 0, sizeof(MemoryShortage));
		progress_note_error();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
}

static int
compare_priorities(const void *a, const void *b)
{
	uint32		left = ((const WantedRelation *) a)->count * ((const WantedRelation *) a)->priority;
	uint32		right = ((const WantedRelation *) b)->count * ((const WantedRelation *) b)->priority;

	return left > right ? -1 : left < right;
}

static void
sort_by_priority(WantedRelation *relations, int count)
{
	MemoryContext context = CurrentMemoryContext;

	StartTransactionCommand();
	for (int i = 0; i < count; i++)
		relations[i].priority = Min(table_options_read(relations[i].relid).priority, PRIORITY_MAX);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	qsort(relations, count, sizeof(WantedRelation), compare_priorities);
}

/*
 * What finds no memory goes on being counted.  From time to time all counts are
 * halved, of what is wanted and of what is used: lately is what decides.
 */
static void
load_wanted(void)
{
	WantedRelation *relations;
	int			count = wanted_take(MyDatabaseId, &relations);

	sort_by_priority(relations, count);
	for (int i = 0; i < count; i++)
	{
		RelationJob job = {
			.relid = relations[i].relid,
			.columns = relations[i].columns,
			.ncolumns = relations[i].ncolumns,
			.wishes = relations[i].count,
			.shortage = relations[i].shortage,
		};

		if (!goes_on())
			return;
		try_job(&job);
		if (job.is_cut)
			return;
		wanted_end(MyDatabaseId, job.relid, &job.shortage);
		if (job.shortage.bytes > 0 && job.wishes >= AGED_WISHES)
		{
			wanted_age();
			directory_age_uses();
		}
	}
}

static int
compare_losses(const void *a, const void *b)
{
	uint64		left = ((const RelationSummary *) a)->lost_pages;
	uint64		right = ((const RelationSummary *) b)->lost_pages;

	return left > right ? -1 : left < right;
}

/* Whether scans have read pages from the heap, lately or such that the last refresh could not mend it. */
static bool
wants_refresh(const RelationSummary *relation)
{
	if (relation->heap_pages == 0 && relation->changed_pages == 0)
		return false;
	return relation->heap_pages != relation->refreshed_heap_pages ||
		relation->lost_pages + relation->changed_pages + relation->unsettled_pages + relation->lsn_pages > 0;
}

/* Refreshes relations that scans had to read from the heap in part, those first that cost them most. */
static void
refresh_stale(void)
{
	RelationSummary *relations;
	int			count = directory_list_relations(MyDatabaseId, InvalidOid, &relations);

	qsort(relations, count, sizeof(RelationSummary), compare_losses);
	for (int i = 0; i < count; i++)
	{
		ColumnSummary *summaries;
		RelationJob job = {.relid = relations[i].relid,.is_refresh = true,.wishes = 1};

		if (!goes_on())
			return;
		if (!wants_refresh(&relations[i]))
			continue;
		job.ncolumns = directory_list_columns(&relations[i].key, &summaries);
		job.columns = palloc(sizeof(ColumnKey) * Max(job.ncolumns, 1));
		for (int c = 0; c < job.ncolumns; c++)
		{
			job.columns[c] = summaries[c].column;
			job.wishes = Max(job.wishes, summaries[c].uses);
		}
		pfree(summaries);
		job.shortage = relations[i].shortage;
		try_job(&job);
		if (!job.is_cut)
			directory_note_refresh(&relations[i].key, &job.shortage, relations[i].heap_pages);
		pfree(job.columns);
	}
}

/*
 * Drops what belongs to relations that are gone or were rewritten: on a standby nobody
 * else does.  Where there is no extension that is everything.  What was restored
 * from disk gets its options.
 */
static void
drop_unreachable(bool checks_relations)
{
	RelationSummary *relations;
	int			count = 0;

	StartTransactionCommand();
	has_extension = cache_serves_database();
	if (has_extension && checks_relations)
		count = directory_list_relations(MyDatabaseId, InvalidOid, &relations);
	for (int i = 0; i < count; i++)
		invalidation_check_relation(relations[i].relid);
	if (count > 0)
		table_options_apply(InvalidOid);
	CommitTransactionCommand();
}

/* Whoever waits for our locks may cancel us, and DROP DATABASE may terminate us. */
static void
yield_like_autovacuum(void)
{
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	MyProc->statusFlags |= PROC_IS_AUTOVACUUM;
	ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
	LWLockRelease(ProcArrayLock);
}

void
penumbra_worker_main(Datum argument)
{
	const char *cost_delay;

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(argument), InvalidOid, 0);
	yield_like_autovacuum();
	/* as autovacuum does: these are meant for sessions */
	SetConfigOption("statement_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("lock_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("idle_in_transaction_session_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("default_transaction_isolation", "read committed", PGC_SUSET, PGC_S_OVERRIDE);
	/* vacuum as gently as autovacuum does; -1 means that it uses vacuum_cost_delay too */
	cost_delay = GetConfigOption("autovacuum_vacuum_cost_delay", true, false);
	if (cost_delay != NULL && cost_delay[0] != '-')
		SetConfigOption("vacuum_cost_delay", cost_delay, PGC_SUSET, PGC_S_OVERRIDE);
	pgstat_report_activity(STATE_RUNNING, "loading columns into the cache");

	worker_context = AllocSetContextCreate(TopMemoryContext, "penumbra worker", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(worker_context);
	drop_unreachable(MyBgworkerEntry->bgw_extra[0] != 0);
	MemoryContextSwitchTo(worker_context);
	slow_expression_watch();
	/* once: what is wanted meanwhile is for the next worker, after other databases had theirs */
	load_wanted();
	refresh_stale();
	proc_exit(0);
}
