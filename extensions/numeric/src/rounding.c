/*-------------------------------------------------------------------------
 *
 * rounding.c
 *	  round, trunc, ceil, floor, scales, and the cast to numeric(p, s).
 *
 * Works on the digits of base 10^4, so a number of any length is rounded in
 * one pass and with one allocation (two where it is long).
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include "number.h"

#define STACK_DIGITS 64

typedef enum Rounding
{
	ROUND_HALF_AWAY,			/* from zero */
	ROUND_TO_ZERO,
	ROUND_UP,
	ROUND_DOWN
} Rounding;

/* A rounded number before it is encoded; digits[0] may be zero. */
typedef struct RoundedNumber
{
	bool		is_negative;
	int			weight;
	int			ndigits;
	int16	   *digits;
	int16		stack[STACK_DIGITS];
} RoundedNumber;

static const int small_powers_of_ten[NUMBER_BASE_DIGITS] = {1, 10, 100, 1000};

static bool
has_nonzero_digit(const NumberView *number, int from)
{
	/* there are no trailing zero digits */
	return from < number->ndigits;
}

/*
 * Whether the digits cut off after kept decimal ones raise the last kept one.
 * kept may be negative: a zero stands between the cut and the first digit.
 */
static bool
must_raise(const NumberView *number, int kept, Rounding rounding)
{
	int			first_cut = kept / NUMBER_BASE_DIGITS;
	int			kept_of_digit = kept % NUMBER_BASE_DIGITS;
	int			unit;
	int			cut;
	bool		is_cut_nonzero;

	if (kept < 0)
	{
		unit = NUMBER_BASE;
		cut = 0;
		is_cut_nonzero = number->ndigits > 0;
	}
	else
	{
		unit = NUMBER_BASE / small_powers_of_ten[kept_of_digit];
		cut = first_cut < number->ndigits ? number_digit(number, first_cut) % unit : 0;
		is_cut_nonzero = cut != 0 || has_nonzero_digit(number, first_cut + 1);
	}
	switch (rounding)
	{
		case ROUND_HALF_AWAY:
			return cut >= unit / 2;
		case ROUND_TO_ZERO:
			return false;
		case ROUND_UP:
			return is_cut_nonzero && !number->is_negative;
		case ROUND_DOWN:
			return is_cut_nonzero && number->is_negative;
	}
	return false;
}

/* Rounds a finite number to scale decimal digits after the point, or before it if scale < 0. */
static void
number_round(const NumberView *number, int scale, Rounding rounding, RoundedNumber *result)
{
	int			kept = (number->weight + 1) * NUMBER_BASE_DIGITS + scale;
	int			kept_digits = kept <= 0 ? 0 : (kept + NUMBER_BASE_DIGITS - 1) / NUMBER_BASE_DIGITS;
	int			unit = small_powers_of_ten[-scale & (NUMBER_BASE_DIGITS - 1)];
	bool		raise = must_raise(number, kept, rounding);
	int			copied = Min(kept_digits, number->ndigits);
	int16	   *digits;

	/* One digit more at the front, for a carry; where kept < 0, the raised digit is farther up. */
	result->ndigits = kept_digits + 1;
	result->weight = number->weight + 1;
	result->is_negative = number->is_negative;
	if (!raise)
		result->ndigits = copied + 1;
	result->digits = result->ndigits <= STACK_DIGITS ? result->stack :
		palloc(result->ndigits * sizeof(int16));
	digits = result->digits;
	digits[0] = 0;
	memcpy(digits + 1, number->digits, copied * sizeof(int16));
	if (kept_digits > 0 && copied == kept_digits)
		digits[copied] -= digits[copied] % unit;
	if (!raise)
		return;
	memset(digits + 1 + copied, 0, (kept_digits - copied) * sizeof(int16));
	if (kept < 0)
		result->weight = -(scale + (-scale & (NUMBER_BASE_DIGITS - 1))) / NUMBER_BASE_DIGITS;
	digits[kept_digits] += unit;
	for (int i = kept_digits; i > 0 && digits[i] >= NUMBER_BASE; i--)
	{
		digits[i] -= NUMBER_BASE;
		digits[i - 1]++;
	}
}

static Datum
encode_rounded(RoundedNumber *rounded, int dscale)
{
	Datum		result = number_encode(rounded->is_negative, rounded->weight, dscale,
									   rounded->digits, rounded->ndigits);

	if (rounded->digits != rounded->stack)
		pfree(rounded->digits);
	return result;
}

static Datum
round_datum(Datum datum, int scale, Rounding rounding)
{
	NumberView	number;
	RoundedNumber rounded;

	number_view(datum, &number);
	if (number.special != 0)
		return datum;
	number_round(&number, scale, rounding, &rounded);
	return encode_rounded(&rounded, Max(scale, 0));
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_round);
Datum
penumbra_numeric_round(PG_FUNCTION_ARGS)
{
	int			scale = PG_NARGS() > 1 ? PG_GETARG_INT32(1) : 0;

	/* The server's limits: one decimal digit more than the format has before the point. */
	scale = Max(scale, -(NUMBER_WEIGHT_MAX + 1) * NUMBER_BASE_DIGITS - 1);
	return round_datum(PG_GETARG_DATUM(0), Min(scale, NUMBER_DSCALE_MAX), ROUND_HALF_AWAY);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_trunc);
Datum
penumbra_numeric_trunc(PG_FUNCTION_ARGS)
{
	int			scale = PG_NARGS() > 1 ? PG_GETARG_INT32(1) : 0;

	scale = Max(scale, -(NUMBER_WEIGHT_MAX + 1) * NUMBER_BASE_DIGITS);
	return round_datum(PG_GETARG_DATUM(0), Min(scale, NUMBER_DSCALE_MAX), ROUND_TO_ZERO);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_ceil);
Datum
penumbra_numeric_ceil(PG_FUNCTION_ARGS)
{
	return round_datum(PG_GETARG_DATUM(0), 0, ROUND_UP);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_floor);
Datum
penumbra_numeric_floor(PG_FUNCTION_ARGS)
{
	return round_datum(PG_GETARG_DATUM(0), 0, ROUND_DOWN);
}

/* Decimal digits before the point, without leading zeros; negative for 0.00... */
static int
integer_decimal_digits(const RoundedNumber *rounded)
{
	for (int i = 0; i < rounded->ndigits; i++)
	{
		int			digit = rounded->digits[i];

		if (digit != 0)
			return (rounded->weight + 1 - i) * NUMBER_BASE_DIGITS -
				((digit < 10) + (digit < 100) + (digit < 1000));
	}
	return PG_INT32_MIN;
}

/* The cast to numeric(precision, scale). */
PENUMBRA_SQL_FUNCTION(penumbra_numeric_typmod);
Datum
penumbra_numeric_typmod(PG_FUNCTION_ARGS)
{
	int32		typmod = PG_GETARG_INT32(1);
	NumberView	number;
	RoundedNumber rounded;
	int			precision;
	int			scale;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.special != 0 || typmod < (int32) VARHDRSZ)
		return SERVER_CALL2(numeric);
	precision = ((typmod - VARHDRSZ) >> 16) & 0xFFFF;
	scale = (((typmod - VARHDRSZ) & 0x7FF) ^ 1024) - 1024;	/* 11 bits, signed */
	number_round(&number, scale, ROUND_HALF_AWAY, &rounded);
	if (integer_decimal_digits(&rounded) > precision - scale)
		return SERVER_CALL2(numeric);	/* the error */
	return encode_rounded(&rounded, Max(scale, 0));
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_scale);
Datum
penumbra_numeric_scale(PG_FUNCTION_ARGS)
{
	NumberView	number;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.special != 0)
		PG_RETURN_NULL();
	PG_RETURN_INT32(number.dscale);
}

/* The decimals after the point without trailing zeros. */
int
number_minimal_scale(const NumberView *number)
{
	int			scale = -number_exponent(number) * NUMBER_BASE_DIGITS;
	int			last;

	if (number->ndigits == 0 || scale <= 0)
		return 0;
	last = number_digit(number, number->ndigits - 1);
	return scale - ((last % 10 == 0) + (last % 100 == 0) + (last % 1000 == 0));
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_min_scale);
Datum
penumbra_numeric_min_scale(PG_FUNCTION_ARGS)
{
	NumberView	number;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.special != 0)
		PG_RETURN_NULL();
	PG_RETURN_INT32(number_minimal_scale(&number));
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_trim_scale);
Datum
penumbra_numeric_trim_scale(PG_FUNCTION_ARGS)
{
	NumberView	number;
	RoundedNumber rounded;
	int			scale;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.special != 0)
		return PG_GETARG_DATUM(0);
	scale = number_minimal_scale(&number);
	number_round(&number, scale, ROUND_TO_ZERO, &rounded);
	return encode_rounded(&rounded, scale);
}
