/*-------------------------------------------------------------------------
 *
 * backtrace.c
 *	  Module start: settings, shared memory, handlers, hooks, the worker.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "crash.h"
#include "errors.h"
#include "live.h"
#include "settings.h"
#include "shared.h"
#include "stack.h"
#include "worker.h"

PENUMBRA_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	settings_define();
	stack_warm_up();
	if (process_shared_preload_libraries_in_progress)
	{
		settings_define_at_start();
		shared_install_hooks();
		worker_register();
	}
	live_install_handler();
	crash_install_handlers();
	errors_install_hooks();
}
