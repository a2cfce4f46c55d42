/*-------------------------------------------------------------------------
 *
 * range_image.c
 *	  What the engine has in place of ranges and multiranges.
 *
 * Of ranges over integers, dates and timestamps: equal ones have the same bounds,
 * written the same way.  Ranges of numbers are not among them, since their equal
 * bounds may be written differently.
 *
 * An image begins with the place of its type in kinds[].  Then comes EMPTY, or
 * NOT_EMPTY and both bounds.  A finite bound is FINITE, the value as a number whose bytes
 * are in order, and whether the range begins or ends before that value or behind it.
 * PostgreSQL compares in this order.  A multirange's image is that of its ranges, one
 * behind the other: PostgreSQL compares them one by one, then their numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

#include "cache/range_image.h"

static const struct
{
	Oid			range;
	Oid			multirange;
	int			width;			/* of a value */
}			kinds[] = {
	{INT4RANGEOID, INT4MULTIRANGEOID, sizeof(int32)},
	{INT8RANGEOID, INT8MULTIRANGEOID, sizeof(int64)},
	{DATERANGEOID, DATEMULTIRANGEOID, sizeof(int32)},
	{TSRANGEOID, TSMULTIRANGEOID, sizeof(int64)},
	{TSTZRANGEOID, TSTZMULTIRANGEOID, sizeof(int64)},
};

#define EMPTY		0
#define NOT_EMPTY	1

#define BEFORE_ALL	0
#define FINITE		1
#define BEHIND_ALL	2

/* Without the kind. */
#define RANGE_BYTES_MAX	(1 + 2 * (1 + sizeof(int64) + 1))

static int
kind_of(Oid range)
{
	for (int kind = 0; kind < (int) lengthof(kinds); kind++)
	{
		if (kinds[kind].range == range)
			return kind;
	}
	elog(ERROR, "range type %u has no image", range);
}

static uint8 *
write_bound(int width, const char *value, bool is_behind, uint8 *to)
{
	*to++ = FINITE;
	if (width == sizeof(int32))
	{
		uint32		number;

		memcpy(&number, value, sizeof(number));
		number = pg_hton32(number ^ (uint32) 1 << 31);
		memcpy(to, &number, sizeof(number));
	}
	else
	{
		uint64		number;

		memcpy(&number, value, sizeof(number));
		number = pg_hton64(number ^ UINT64CONST(1) << 63);
		memcpy(to, &number, sizeof(number));
	}
	to += width;
	*to++ = is_behind;
	return to;
}

/* Behind the range's own header are the finite bounds, and its last byte has its flags. */
static uint8 *
write_range(int kind, const RangeType *range, uint8 *to)
{
	int			width = kinds[kind].width;
	const char *next = (const char *) (range + 1);
	uint8		flags = ((const uint8 *) range)[VARSIZE(range) - 1];

	if (flags & RANGE_EMPTY)
	{
		*to++ = EMPTY;
		return to;
	}
	*to++ = NOT_EMPTY;
	if (RANGE_HAS_LBOUND(flags))
	{
		to = write_bound(width, next, (flags & RANGE_LB_INC) == 0, to);
		next += width;
	}
	else
		*to++ = BEFORE_ALL;
	if (RANGE_HAS_UBOUND(flags))
		to = write_bound(width, next, (flags & RANGE_UB_INC) != 0, to);
	else
		*to++ = BEHIND_ALL;
	return to;
}

static const uint8 *
read_bound(int width, const uint8 *from, char *value, bool *is_behind)
{
	if (width == sizeof(int32))
	{
		uint32		number;

		memcpy(&number, from, sizeof(number));
		number = pg_ntoh32(number) ^ (uint32) 1 << 31;
		memcpy(value, &number, sizeof(number));
	}
	else
	{
		uint64		number;

		memcpy(&number, from, sizeof(number));
		number = pg_ntoh64(number) ^ UINT64CONST(1) << 63;
		memcpy(value, &number, sizeof(number));
	}
	*is_behind = from[width] != 0;
	return from + width + 1;
}

static RangeType *
read_range(int kind, const uint8 **from)
{
	int			width = kinds[kind].width;
	RangeType  *range = palloc0(sizeof(RangeType) + 2 * sizeof(int64) + 1);
	char	   *next = (char *) (range + 1);
	uint8		flags = 0;
	bool		is_behind;

	range->rangetypid = kinds[kind].range;
	if (*(*from)++ == EMPTY)
		flags = RANGE_EMPTY;
	else
	{
		if (*(*from)++ == FINITE)
		{
			*from = read_bound(width, *from, next, &is_behind);
			flags |= is_behind ? 0 : RANGE_LB_INC;
			next += width;
		}
		else
			flags |= RANGE_LB_INF;
		if (*(*from)++ == FINITE)
		{
			*from = read_bound(width, *from, next, &is_behind);
			flags |= is_behind ? RANGE_UB_INC : 0;
			next += width;
		}
		else
			flags |= RANGE_UB_INF;
	}
	*next++ = (char) flags;
	SET_VARSIZE(range, next - (char *) range);
	return range;
}

uint64
range_image_encode(Datum value, uint32 *length)
{
	const RangeType *range = DatumGetRangeTypeP(value);
	uint8	   *image = palloc(1 + RANGE_BYTES_MAX);

	image[0] = kind_of(RangeTypeGetOid(range));
	*length = write_range(image[0], range, image + 1) - image;
	return (uint64) (uintptr_t) image;
}

Datum
range_image_decode(uint64 image, uint32 length)
{
	const uint8 *from = (const uint8 *) (uintptr_t) image;
	int			kind = *from++;

	return RangeTypePGetDatum(read_range(kind, &from));
}

uint64
multirange_image_encode(Datum value, uint32 *length)
{
	MultirangeType *multirange = DatumGetMultirangeTypeP(value);
	int			kind = 0;
	int32		count;
	RangeType **ranges;
	uint8	   *image;
	uint8	   *next;

	while (kind < (int) lengthof(kinds) && kinds[kind].multirange != MultirangeTypeGetOid(multirange))
		kind++;
	if (kind == (int) lengthof(kinds))
		elog(ERROR, "multirange type %u has no image", MultirangeTypeGetOid(multirange));
	multirange_deserialize(lookup_type_cache(kinds[kind].range, TYPECACHE_RANGE_INFO), multirange, &count, &ranges);
	image = palloc_extended(1 + (Size) count * RANGE_BYTES_MAX, MCXT_ALLOC_HUGE);
	image[0] = kind;
	next = image + 1;
	for (int32 i = 0; i < count; i++)
		next = write_range(kind, ranges[i], next);
	*length = next - image;
	return (uint64) (uintptr_t) image;
}

Datum
multirange_image_decode(uint64 image, uint32 length)
{
	const uint8 *from = (const uint8 *) (uintptr_t) image;
	const uint8 *end = from + length;
	int			kind = *from++;
	RangeType **ranges = palloc(sizeof(RangeType *) * Max((end - from) / 3, 1));
	int32		count = 0;

	/* none is shorter than NOT_EMPTY, BEFORE_ALL, BEHIND_ALL */
	while (from < end)
		ranges[count++] = read_range(kind, &from);
	return MultirangeTypePGetDatum(make_multirange(kinds[kind].multirange,
												   lookup_type_cache(kinds[kind].range, TYPECACHE_RANGE_INFO),
												   count, ranges));
}
