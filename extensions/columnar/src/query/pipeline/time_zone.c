/*-------------------------------------------------------------------------
 *
 * time_zone.c
 *	  Time zones as tables of offsets for the engine.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "query/pipeline/time_zone.h"

/* Zones with rules for ever are followed up to here; later instants are left to PostgreSQL. */
#define LAST_TRANSITION_YEAR 2150
#define TRANSITIONS_MAX 1024

/* PostgreSQL keeps the zones of a session, and so are their tables. */
typedef struct KnownZone
{
	pg_tz	   *tz;				/* hash key */
	PenumbraTimeZone table;		/* NULL: it is not made yet */
} KnownZone;

static HTAB *known_zones = NULL;

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

static void
make_table(pg_tz *tz, PenumbraTimeZone *table)
{
	const pg_time_t first = -(pg_time_t) 7000 * 366 * SECS_PER_DAY;
	const pg_time_t last = (pg_time_t) (LAST_TRANSITION_YEAR - 1970) * 365 * SECS_PER_DAY;
	int64	   *utc_from_us = MemoryContextAlloc(TopMemoryContext, TRANSITIONS_MAX * sizeof(int64));
	int32	   *offset_seconds = MemoryContextAlloc(TopMemoryContext, TRANSITIONS_MAX * sizeof(int32));
	pg_time_t	at = first;
	uint32		count = 0;

	utc_from_us[count] = PG_INT64_MIN;
	offset_seconds[count++] = offset_at(at, tz);
	table->valid_until_us = PG_INT64_MAX;
	for (;;)
	{
		long		before_offset;
		long		after_offset;
		int			before_is_dst;
		int			after_is_dst;
		pg_time_t	boundary;

		if (pg_next_dst_boundary(&at, &before_offset, &before_is_dst, &boundary, &after_offset,
								 &after_is_dst, tz) <= 0)
			break;
		if (boundary > last || count == TRANSITIONS_MAX)
		{
			table->valid_until_us = postgres_epoch_us(boundary);
			break;
		}
		utc_from_us[count] = postgres_epoch_us(boundary);
		offset_seconds[count++] = offset_at(boundary, tz);
		at = boundary;
	}
	table->offset_seconds = repalloc(offset_seconds, count * sizeof(int32));
	table->count = count;
	table->utc_from_us = repalloc(utc_from_us, count * sizeof(int64));
}

static const PenumbraTimeZone *
table_of(pg_tz *tz)
{
	KnownZone  *known;
	bool		is_found;

	if (known_zones == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(pg_tz *),.entrysize = sizeof(KnownZone)};

		known_zones = hash_create("Penumbra time zones", 16, &control, HASH_ELEM | HASH_BLOBS);
	}
	known = hash_search(known_zones, &tz, HASH_ENTER, &is_found);
	if (!is_found)
		known->table.utc_from_us = NULL;
	if (known->table.utc_from_us == NULL)
		make_table(tz, &known->table);
	return &known->table;
}

const PenumbraTimeZone *
time_zone_of_session(void)
{
	return table_of(session_timezone);
}

static bytea *
table_as_value(const PenumbraTimeZone *table)
{
	Size		from_bytes = table->count * sizeof(int64);
	Size		offset_bytes = table->count * sizeof(int32);
	PenumbraZoneHeader header = {table->valid_until_us, table->count};
	bytea	   *value = palloc(VARHDRSZ + sizeof(header) + from_bytes + offset_bytes);
	char	   *to = VARDATA(value);

	SET_VARSIZE(value, VARHDRSZ + sizeof(header) + from_bytes + offset_bytes);
	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), table->utc_from_us, from_bytes);
	memcpy(to + sizeof(header) + from_bytes, table->offset_seconds, offset_bytes);
	return value;
}

bytea *
time_zone_unknown(void)
{
	return (bytea *) cstring_to_text("");
}

bytea *
time_zone_named(const text *name)
{
	char		short_name[TZ_STRLEN_MAX + 1];
	pg_tz	   *tz;

	text_to_cstring_buffer(name, short_name, sizeof(short_name));
	tz = compat_time_zone(short_name);
	return tz == NULL ? time_zone_unknown() : table_as_value(table_of(tz));
}

bytea *
time_zone_of_interval(const Interval *interval)
{
	static const int64 always = PG_INT64_MIN;
	int32		seconds = (int32) (interval->time / USECS_PER_SEC);
	PenumbraTimeZone table = {1, &always, &seconds, PG_INT64_MAX};

	if (interval->month != 0 || interval->day != 0 || interval->time / USECS_PER_DAY != 0)
		return time_zone_unknown();
	return table_as_value(&table);
}
