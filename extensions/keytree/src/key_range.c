/*-------------------------------------------------------------------------
 *
 * key_range.c
 *	  Where the values that equal a value of another type stand in an index.
 *
 * The operators of btree's datetime_ops between types turn a date or a
 * timestamp into a timestamptz (or a date into a timestamp) and compare
 * these.  If the indexed type is the one that they compare in, the value is
 * turned once and the rest is exact.  Otherwise the index has dates or local
 * times, whose order is not quite that of the moments they stand for: an
 * hour may come twice, a day not at all.  Then the range is as wide as the
 * offsets of time zones make necessary, and the operators decide.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "pg_compat.h"
#include "pgtime.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#include "key.h"

/*
 * More than any zone of the time zone database differs from UTC, and than any
 * that a TimeZone setting in POSIX notation can: 167 hours, and one for its
 * daylight saving time.  Both are less than the way from the last timestamp to the largest int64.
 */
#define NAMED_ZONE_HOURS 16
#define POSIX_ZONE_HOURS 169

static void
set_point(KeytreeRange *range, int64 value)
{
	range->from = range->to = (KeytreeEntry)
	{
		.high = keytree_int_to_key(value)
	};
	range->to.tid = KEYTREE_TID_LAST;
}

/* Nothing is equal; values from this one on are greater. */
static void
set_gap(KeytreeRange *range, int64 next_value)
{
	set_point(range, next_value);
	range->to = range->from;
}

/* A timestamp; beyond the range of them on either side it stands between the finite ones and infinity. */
static void
set_timestamp(KeytreeRange *range, int64 value, int overflow)
{
	if (overflow == 0)
		set_point(range, value);
	else
		set_gap(range, overflow > 0 ? PG_INT64_MAX : PG_INT64_MIN + 1);
}

static int64
floor_days(int64 microseconds)
{
	int64		days = microseconds / USECS_PER_DAY;

	return days - (microseconds % USECS_PER_DAY < 0);
}

/* Of a finite timestamptz: the local times that may stand for it, from first to last. */
static void
local_times(int64 moment, int64 *first, int64 *last)
{
	long		offset_seconds;
	int64		slack;

	if (pg_get_timezone_offset(session_timezone, &offset_seconds))
	{
		*first = *last = moment + offset_seconds * USECS_PER_SEC;
		return;
	}
	/* only POSIX notation needs digits, though some names have them */
	slack = strpbrk(pg_get_timezone_name(session_timezone), "0123456789") != NULL ?
		POSIX_ZONE_HOURS * USECS_PER_HOUR : NAMED_ZONE_HOURS * USECS_PER_HOUR;
	*first = moment - slack;
	*last = moment + slack;
}

/* Dates that equal a local time between first and last. */
static void
set_dates(KeytreeRange *range, int64 first, int64 last)
{
	int64		first_day = floor_days(first + USECS_PER_DAY - 1);
	int64		last_day = floor_days(last);

	set_point(range, first_day);
	if (last_day < first_day)
		range->to = range->from;
	else
		range->to.high = keytree_int_to_key(last_day);
}

/*
 * Only dates and times are converted. Where the time zone has a fixed offset, a
 * timestamptz stands for one local time. Elsewhere it stands for all within the
 * greatest offset of a zone, and the range is wide.
 */
void
keytree_range_of(Oid indexed_type, Oid type, const KeytreeEntry *key, KeytreeRange *range)
{
	int64		value = keytree_int_from_key(key->high);
	int64		first = value;
	int64		last = value;
	int			overflow = 0;

	range->is_wide = false;
	if (!keytree_types_need_conversion(indexed_type, type))
	{
		range->from = range->to = *key;
		range->from.tid = KEYTREE_TID_FIRST;
		range->to.tid = KEYTREE_TID_LAST;
	}
	else if (type == DATEOID)
	{
		int64		timestamp = indexed_type == TIMESTAMPOID ?
			compat_date2timestamp((DateADT) value, &overflow) :
			compat_date2timestamptz((DateADT) value, &overflow);

		set_timestamp(range, timestamp, overflow);
	}
	else if (indexed_type == TIMESTAMPTZOID)
	{
		int64		moment = compat_timestamp2timestamptz(value, &overflow);

		set_timestamp(range, moment, overflow);
	}
	else if (TIMESTAMP_NOT_FINITE(value))
	{
		if (indexed_type == TIMESTAMPOID)
			set_point(range, value);
		else
			set_point(range, TIMESTAMP_IS_NOBEGIN(value) ? DATEVAL_NOBEGIN : DATEVAL_NOEND);
	}
	else
	{
		if (type == TIMESTAMPTZOID)
			local_times(value, &first, &last);
		range->is_wide = first < last;
		if (indexed_type == DATEOID)
			set_dates(range, first, last);
		else
		{
			set_point(range, first);
			range->to.high = keytree_int_to_key(last);
		}
	}
}
