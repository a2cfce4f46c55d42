/*-------------------------------------------------------------------------
 *
 * statistics.c
 *	  What all counters of views have in common: since when they count.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "cache/directory.h"
#include "cache/disk/disk_cache.h"
#include "cache/functions.h"
#include "cache/progress.h"
#include "query/planning/refusal.h"
#include "query/statement_table.h"

PENUMBRA_SQL_FUNCTION(penumbra_sql_get_statistics_reset_at);

Datum
penumbra_sql_get_statistics_reset_at(PG_FUNCTION_ARGS)
{
	LoadTotals	totals;

	functions_check_is_preloaded();
	progress_get_totals(&totals);
	PG_RETURN_TIMESTAMPTZ(totals.reset_at);
}

PENUMBRA_SQL_FUNCTION(penumbra_sql_reset_statistics);

Datum
penumbra_sql_reset_statistics(PG_FUNCTION_ARGS)
{
	functions_check_is_preloaded();
	directory_reset_counts();
	disk_cache_reset_counts();
	refusal_reset_counts();
	statement_table_reset();
	progress_reset_totals();
	PG_RETURN_VOID();
}
