/*-------------------------------------------------------------------------
 *
 * time_zone.c
 *	  The session's time zone as a table of offsets for the engine.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgtime.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "query/pipeline/time_zone.h"

/* Zones with rules for ever are followed up to here; later instants are left to PostgreSQL. */
#define LAST_TRANSITION_YEAR 2150
#define TRANSITIONS_MAX 1024

static PenumbraTimeZone zone;
static pg_tz *zone_source = NULL;
static int64 utc_from_us[TRANSITIONS_MAX];
static int32 offset_seconds[TRANSITIONS_MAX];

static int64
postgres_epoch_us(pg_time_t unix_seconds)
{
	return ((int64) unix_seconds -
			((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)) * SECS_PER_DAY) * USECS_PER_SEC;
}

/* pg_localtime() rather than what pg_next_dst_boundary() says: they differ before the first transition. */
static int32
offset_at(pg_time_t unix_seconds, pg_tz *tz)
{
	return (int32) pg_localtime(&unix_seconds, tz)->tm_gmtoff;
}

const PenumbraTimeZone *
time_zone_of_session(void)
{
	const pg_time_t first = -(pg_time_t) 7000 * 366 * SECS_PER_DAY;
	const pg_time_t last = (pg_time_t) (LAST_TRANSITION_YEAR - 1970) * 365 * SECS_PER_DAY;
	pg_time_t	at = first;
	uint32		count = 0;

	if (zone_source == session_timezone)
		return &zone;
	/* Until the table is whole it is nobody's. */
	zone_source = NULL;
	utc_from_us[count] = PG_INT64_MIN;
	offset_seconds[count++] = offset_at(at, session_timezone);
	zone.valid_until_us = PG_INT64_MAX;
	for (;;)
	{
		long		before_offset;
		long		after_offset;
		int			before_is_dst;
		int			after_is_dst;
		pg_time_t	boundary;

		if (pg_next_dst_boundary(&at, &before_offset, &before_is_dst, &boundary, &after_offset,
								 &after_is_dst, session_timezone) <= 0)
			break;
		if (boundary > last || count == TRANSITIONS_MAX)
		{
			zone.valid_until_us = postgres_epoch_us(boundary);
			break;
		}
		utc_from_us[count] = postgres_epoch_us(boundary);
		offset_seconds[count++] = offset_at(boundary, session_timezone);
		at = boundary;
	}
	zone.count = count;
	zone.utc_from_us = utc_from_us;
	zone.offset_seconds = offset_seconds;
	zone_source = session_timezone;
	return &zone;
}
