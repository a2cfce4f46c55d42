/*-------------------------------------------------------------------------
 *
 * penumbra.c
 *	  Module start: settings, the region, shared memory, hooks, the launcher.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "cache/cached_expression.h"
#include "cache/composed_image.h"
#include "cache/policy/database.h"
#include "cache/policy/table_options.h"
#include "cache/directory.h"
#include "cache/disk/disk_cache.h"
#include "cache/invalidation.h"
#include "cache/progress.h"
#include "cache/region.h"
#include "cache/stop_points.h"
#include "cache/wanted.h"
#include "cache/worker.h"
#include "query/execute/budget.h"
#include "query/hooks.h"
#include "query/planning/planning.h"
#include "query/planning/refusal.h"
#include "query/statement_table.h"
#include "query/statements.h"

PENUMBRA_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

static shmem_request_hook_type previous_shmem_request_hook = NULL;
static shmem_startup_hook_type previous_shmem_startup_hook = NULL;

static void
penumbra_shmem_request(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
	RequestAddinShmemSpace(directory_shmem_bytes());
	RequestAddinShmemSpace(region_shmem_bytes());
	RequestAddinShmemSpace(wanted_shmem_bytes());
	cached_expression_shmem_request();
	RequestAddinShmemSpace(progress_shmem_bytes());
	RequestAddinShmemSpace(disk_cache_shmem_bytes());
	RequestAddinShmemSpace(refusal_shmem_bytes());
	statement_table_shmem_request();
	RequestAddinShmemSpace(budget_shmem_bytes());
	RequestNamedLWLockTranche(DIRECTORY_TRANCHE, DIRECTORY_LOCK_COUNT);
}

/* Runs at start and again after a crash restart: everything cached is gone then. */
static void
penumbra_shmem_startup(void)
{
	bool		found;

	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	region_shmem_startup(ShmemInitStruct("penumbra region", region_shmem_bytes(), &found));
	directory_shmem_startup();
	wanted_shmem_startup(ShmemInitStruct("penumbra wanted", wanted_shmem_bytes(), &found));
	cached_expression_shmem_startup();
	progress_shmem_startup(ShmemInitStruct("penumbra progress", progress_shmem_bytes(), &found));
	disk_cache_shmem_startup(ShmemInitStruct("penumbra disk cache", disk_cache_shmem_bytes(), &found));
	budget_shmem_startup(ShmemInitStruct("penumbra budget", budget_shmem_bytes(), &found));
	LWLockRelease(AddinShmemInitLock);
	refusal_shmem_startup();
	statement_table_shmem_startup();
}

void
_PG_init(void)
{
	bool		has_cache;

	composed_image_install();
	stop_points_define_settings();
	worker_define_settings();
	planning_define_settings();
	budget_define_settings();
	if (process_shared_preload_libraries_in_progress)
	{
		region_define_settings();
		directory_define_settings();
		disk_cache_define_settings();
		statement_table_define_settings();
		statements_define_settings();
		MarkGUCPrefixReserved("penumbra");
		has_cache = region_reserve();
		previous_shmem_request_hook = shmem_request_hook;
		shmem_request_hook = penumbra_shmem_request;
		previous_shmem_startup_hook = shmem_startup_hook;
		shmem_startup_hook = penumbra_shmem_startup;
		invalidation_install_hooks();
		if (has_cache)
		{
			worker_register_launcher();
			disk_cache_register_worker();
		}
		statements_install_hooks();
	}
	database_install_callback();
	table_options_install();
	hooks_install();
}
