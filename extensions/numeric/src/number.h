/*-------------------------------------------------------------------------
 *
 * number.h
 *	  The stored form of numeric, read in place and written in one allocation.
 *
 * A stored numeric is a varlena: a header of 2 bytes (short: sign, display
 * scale up to 63, weight from -64 to 63) or 4 bytes (long: sign and display
 * scale up to 16383, weight as int16), then digits of base 10^4, most
 * significant first, without leading or trailing zero digits.  NaN and the
 * infinities are the 2-byte header alone.  PostgreSQL keeps the struct private;
 * the layout is on disk and cannot change.
 *
 * The value is 0.d1d2d3... * 10^(4 * (weight + 1)).  With n digits, it is also
 * the integer d1..dn times 10^(4 * exponent), exponent = weight - n + 1.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_NUMERIC_NUMBER_H
#define PENUMBRA_NUMERIC_NUMBER_H

#include "pg_compat.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#define NUMBER_BASE 10000
#define NUMBER_BASE_DIGITS 4	/* decimal digits in one of base 10^4 */
#define NUMBER_DSCALE_MAX 0x3FFF
#define NUMBER_WEIGHT_MAX PG_INT16_MAX

#define NUMBER_WORD_DIGITS 4	/* digits that a word holds, the first in its lowest bits */

/* A coefficient of 9 digits of base 10^4 is below 10^36: two of them add up within 127 bits. */
#define NUMBER_SHORT_DIGITS_MAX 9

/* The largest coefficient is below 2^128 < 10^40; digits are split off in groups of four. */
#define NUMBER_COEFFICIENT_DIGITS_MAX 12

#define NUMBER_SPECIAL_MASK 0xC000	/* these bits alone: NaN or infinity */
#define NUMBER_SHORT_FORM 0x8000
#define NUMBER_POSITIVE_INFINITY 0xD000
#define NUMBER_NEGATIVE_INFINITY 0xF000

/* A stored number: digits points into the datum and may be unaligned. */
typedef struct NumberView
{
	const char *digits;
	int			ndigits;
	int			weight;
	int			dscale;
	bool		is_negative;
	uint16		special;		/* 0, or which special value it is */
} NumberView;

/* The server's function of the same arguments. */
#define SERVER_CALL1(function) DirectFunctionCall1(function, PG_GETARG_DATUM(0))
#define SERVER_CALL2(function) \
	DirectFunctionCall2(function, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1))

extern const uint64 number_powers_of_ten[20];

extern Datum number_encode(bool is_negative, int weight, int dscale, const int16 *digits,
						   int ndigits);
extern Datum number_encode_words(bool is_negative, int weight, int dscale, uint64 high, uint64 low);
extern int	number_split_coefficient(uint128 coefficient, int16 digits[NUMBER_COEFFICIENT_DIGITS_MAX]);
extern Datum number_encode_coefficient(bool is_negative, uint128 coefficient, int exponent,
									   int dscale);
extern Datum number_encode_scaled(bool is_negative, uint128 value, int scale);
extern Datum number_from_int64(int64 value);
extern int	number_minimal_scale(const NumberView *number);

static inline uint16
number_load_uint16(const char *from)
{
	uint16		value;

	memcpy(&value, from, sizeof(value));
	return value;
}

static inline int
number_digit(const NumberView *view, int index)
{
	return (int16) number_load_uint16(view->digits + index * sizeof(int16));
}

/* Reads the server's three formats, of which the short one is the most common. Digits need not be aligned. */
static inline void
number_view(Datum datum, NumberView *view)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	const char *data;
	int			bytes;
	uint16		header;

	if (unlikely(VARATT_IS_EXTENDED(value) && (!VARATT_IS_1B(value) || VARATT_IS_1B_E(value))))
		value = pg_detoast_datum_packed(value);
	data = VARDATA_ANY(value);
	bytes = VARSIZE_ANY_EXHDR(value);
	header = number_load_uint16(data);

	if (likely((header & NUMBER_SPECIAL_MASK) == NUMBER_SHORT_FORM))
	{
		view->is_negative = (header & 0x2000) != 0;
		view->dscale = (header & 0x1F80) >> 7;
		view->weight = (int) (header & 0x3F) - (int) (header & 0x40);
		view->special = 0;
		view->digits = data + sizeof(uint16);
		view->ndigits = (bytes - sizeof(uint16)) / sizeof(int16);
	}
	else if ((header & NUMBER_SPECIAL_MASK) == NUMBER_SPECIAL_MASK)
	{
		view->special = header & 0xF000;
		view->is_negative = false;
		view->dscale = 0;
		view->weight = 0;
		view->digits = data;
		view->ndigits = 0;
	}
	else
	{
		view->is_negative = (header & 0x4000) != 0;
		view->dscale = header & NUMBER_DSCALE_MAX;
		view->weight = (int16) number_load_uint16(data + sizeof(uint16));
		view->special = 0;
		view->digits = data + 2 * sizeof(uint16);
		view->ndigits = (bytes - 2 * sizeof(uint16)) / sizeof(int16);
	}
}

/* The scale for a result whose first significant decimal has that weight, as the server chooses it. */
static inline int
number_result_scale(int dweight, int dscale)
{
	int			scale = NUMERIC_MIN_SIG_DIGITS - dweight;

	scale = Max(scale, dscale);
	scale = Max(scale, NUMERIC_MIN_DISPLAY_SCALE);
	return Min(scale, NUMERIC_MAX_DISPLAY_SCALE);
}

/* The exponent of base 10^4 of the digits read as one integer. */
static inline int
number_exponent(const NumberView *view)
{
	return view->weight - view->ndigits + 1;
}

/* The digits [from, to) as one integer; at most four, so that it is below 10^16. */
static inline uint64
number_digits_as_uint64(const NumberView *view, int from, int to)
{
	uint64		value = 0;

	switch (to - from)
	{
		case 4:
			value = (uint64) number_digit(view, to - 4) * 1000000000000;
			pg_fallthrough;
		case 3:
			value += (uint64) number_digit(view, to - 3) * 100000000;
			pg_fallthrough;
		case 2:
			value += number_digit(view, to - 2) * NUMBER_BASE;
			pg_fallthrough;
		case 1:
			value += number_digit(view, to - 1);
	}
	return value;
}

/* The two digits of a value below 10^8. */
static inline uint32
number_half_word(uint32 value)
{
	uint32		high = value / NUMBER_BASE;

	return high | (value - high * NUMBER_BASE) << 16;
}

/* The four digits of a value below 10^16. */
static inline uint64
number_word(uint64 value)
{
	uint32		high = value / 100000000;

	return number_half_word(high) | (uint64) number_half_word(value - high * UINT64CONST(100000000)) << 32;
}

/* 10^(4 * count), for count up to NUMBER_SHORT_DIGITS_MAX. */
static inline uint128
number_power_of_base(int count)
{
	Assert(count >= 0 && count <= NUMBER_SHORT_DIGITS_MAX);
	if (count <= 4)
		return number_powers_of_ten[count * NUMBER_BASE_DIGITS];
	if (count <= 8)
		return (uint128) number_powers_of_ten[16] *
			number_powers_of_ten[(count - 4) * NUMBER_BASE_DIGITS];
	return (uint128) number_powers_of_ten[18] * number_powers_of_ten[18];
}

/* The digits as one integer; at most NUMBER_SHORT_DIGITS_MAX. */
static inline uint128
number_coefficient(const NumberView *view)
{
	uint128		value;

	Assert(view->ndigits <= NUMBER_SHORT_DIGITS_MAX);
	if (likely(view->ndigits <= 4))
		return number_digits_as_uint64(view, 0, view->ndigits);
	value = number_digits_as_uint64(view, 0, 4);
	if (view->ndigits <= 8)
		return value * number_powers_of_ten[(view->ndigits - 4) * NUMBER_BASE_DIGITS] +
			number_digits_as_uint64(view, 4, view->ndigits);
	value = value * number_powers_of_ten[16] + number_digits_as_uint64(view, 4, 8);
	return value * NUMBER_BASE + number_digit(view, 8);
}

#endif							/* PENUMBRA_NUMERIC_NUMBER_H */
