/*-------------------------------------------------------------------------
 *
 * stop_points.c
 *	  Stops where penumbra.stop_points says so, until the advisory lock of the
 *	  stop point's name, penumbra_test.stop_point_key(name), is free.
 *
 * An advisory lock and not a latch, because isolationtester sees who waits for
 * a lock, and a deadlock or a cancel ends the wait as it would any other.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/varlena.h"

#include "pg_compat.h"
#include "cache/stop_points.h"

char	   *penumbra_stop_points = "";

PENUMBRA_SQL_FUNCTION(penumbra_sql_stop_point_key);

void
stop_points_define_settings(void)
{
	DefineCustomStringVariable("penumbra.stop_points",
							   "Names of the places where this session stops, for tests.",
							   "At each, the session waits until the advisory lock "
							   "penumbra_test.stop_point_key(name) is free.",
							   &penumbra_stop_points, "", PGC_SUSET,
							   GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
}

static int64
stop_point_key(const char *name)
{
	return (int64) hash_bytes_extended((const unsigned char *) name, strlen(name), 0);
}

/* The lock is released at once: it only makes the session wait for another one that holds it. */
void
stop_point_wait(const char *name)
{
	char	   *names = pstrdup(penumbra_stop_points);
	List	   *elements;
	ListCell   *cell;

	if (!SplitIdentifierString(names, ',', &elements))
		return;
	foreach(cell, elements)
	{
		if (strcmp((char *) lfirst(cell), name) == 0)
		{
			Datum		key = Int64GetDatum(stop_point_key(name));

			DirectFunctionCall1(pg_advisory_lock_int8, key);
			DirectFunctionCall1(pg_advisory_unlock_int8, key);
		}
	}
	list_free(elements);
	pfree(names);
}

Datum
penumbra_sql_stop_point_key(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(stop_point_key(text_to_cstring(PG_GETARG_TEXT_PP(0))));
}
