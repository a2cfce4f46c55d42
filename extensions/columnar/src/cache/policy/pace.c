/*-------------------------------------------------------------------------
 *
 * pace.c
 *	  When, and how fast, workers load.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <time.h>

#include "pgtime.h"
#include "utils/guc.h"

#include "cache/cache.h"
#include "cache/policy/pace.h"

#define MINUTES_PER_DAY	(24 * 60)

static int	max_load_rate_kb;
static char *load_hours;

/* "HH:MM", up to 24:00, after which *text goes on; -1: something else. */
static int
parse_minute(const char **text)
{
	int			hour;
	int			minute;
	int			length;

	if (**text < '0' || **text > '9' ||
		sscanf(*text, "%2d:%2d%n", &hour, &minute, &length) != 2 || (*text)[length - 3] != ':' ||
		(*text)[length - 2] < '0' ||
		hour < 0 || minute < 0 || minute > 59 || hour * 60 + minute > MINUTES_PER_DAY)
		return -1;
	*text += length;
	return hour * 60 + minute;
}

/*
 * Reads "HH:MM-HH:MM", or several with commas between; what begins after it ends
 * goes past midnight.  False: it is something else.
 */
static bool
parse_hours(const char *text, int now, bool *is_within)
{
	*is_within = *text == '\0';
	while (*text != '\0')
	{
		int			begin;
		int			end;

		text += strspn(text, " ");
		begin = parse_minute(&text);
		if (begin < 0 || *text++ != '-')
			return false;
		end = parse_minute(&text);
		text += strspn(text, " ");
		if (end < 0 || end == begin || (*text != '\0' && (*text++ != ',' || *text == '\0')))
			return false;
		*is_within |= begin < end ? now >= begin && now < end : now >= begin || now < end;
	}
	return true;
}

static bool
check_load_hours(char **newval, void **extra, GucSource source)
{
	bool		is_within;

	if (parse_hours(*newval, 0, &is_within))
		return true;
	GUC_check_errdetail("It has times of day, such as \"22:00-06:00\" or \"00:00-05:30,12:00-13:00\".");
	return false;
}

void
pace_define_settings(void)
{
	DefineCustomStringVariable("penumbra.load_hours",
							   "Times of day at which columns are loaded and refreshed in the background.",
							   "As \"22:00-06:00,12:00-13:00\", in the time zone of the server. Empty is always.",
							   &load_hours, "", PGC_SIGHUP, 0, check_load_hours, NULL, NULL);
	DefineCustomIntVariable("penumbra.max_load_rate",
							"Table data that a background worker reads per second, to load and refresh columns.",
							"0 is unlimited.",
							&max_load_rate_kb, 0, 0, INT_MAX, PGC_SIGHUP, GUC_UNIT_KB, NULL, NULL, NULL);
}

bool
pace_permits_now(void)
{
	pg_time_t	now = (pg_time_t) time(NULL);
	struct pg_tm *local = pg_localtime(&now, session_timezone);
	bool		is_within;

	return local == NULL || !parse_hours(load_hours, local->tm_hour * 60 + local->tm_min, &is_within) || is_within;
}

uint32
pace_chunks(uint32 limit)
{
	uint32		chunks = (uint32) ((Size) max_load_rate_kb * 1024 / BLCKSZ / cache_chunk_pages);

	return max_load_rate_kb == 0 ? limit : Min(limit, Max(chunks, 1));
}

long
pace_rest_ms(uint64 bytes, long elapsed_ms)
{
	return max_load_rate_kb == 0 ? 0 :
		Max((long) (bytes * 1000 / ((uint64) max_load_rate_kb * 1024)) - elapsed_ms, 0);
}
