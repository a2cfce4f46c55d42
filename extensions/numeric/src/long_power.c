/*
 * Powers and logarithms to any base, as the server rounds them: as in long_transcendental.c, what is computed is right
 * to more digits than the server's, and these functions decline where the server's errors could round it otherwise.
 * README.md derives the bounds.
 */
#include "long_call.h"

#include <math.h>

#include "miscadmin.h"

#include "long_exponential.h"

/* Decimals beyond those that count. */
#define GUARD_DECIMALS 20

/* ln a in limbs without leading zeros. */
typedef struct Logarithm
{
	uint64	   *limbs;
	int			nlimbs;
	int			places;			/* of the limbs, those behind the point */
	bool		is_negative;
	double		magnitude;		/* |ln a|, to some digits */
} Logarithm;

/* Right to so many significant decimals, of which the first has that weight; false if a is too near to 1. */
static bool
compute_logarithm(const LongNumber *a, int dweight, int significant, Logarithm *logarithm)
{
	logarithm->limbs = long_ln_fixed(a, Max(significant - dweight, 0), &logarithm->places,
									 &logarithm->is_negative);
	if (logarithm->limbs == NULL)
		return false;
	logarithm->nlimbs = long_significant_limbs(logarithm->limbs, logarithm->places + 1);
	logarithm->magnitude = fabs(long_ln_estimate(a));
	return logarithm->nlimbs > 0;
}

bool
long_log(const LongNumber *base, const LongNumber *a, LongNumber *result, int rscale)
{
	int			base_dweight = long_ln_dweight(base);
	int			a_dweight = long_ln_dweight(a);
	int			significant = rscale + a_dweight - base_dweight;
	int			quotient_places = (rscale + GUARD_DECIMALS) / 16 + 2;
	int			zeros;
	int			dividend_limbs;
	int			quotient_limbs;
	Logarithm	divisor;
	Logarithm	number;
	uint64	   *dividend;
	uint64	   *quotient;
	double		tolerance;

	if (significant < LONG_LOG_DECIMALS_MIN ||
		!compute_logarithm(base, base_dweight, significant + GUARD_DECIMALS, &divisor) ||
		!compute_logarithm(a, a_dweight, significant + GUARD_DECIMALS, &number))
		return false;

	/* With the zeros, the quotient of the limbs as integers has quotient_places behind the point. */
	zeros = quotient_places + divisor.places - number.places;
	if (zeros < 0)
	{
		number.limbs -= zeros;
		number.nlimbs += zeros;
		zeros = 0;
	}
	dividend_limbs = number.nlimbs + zeros + 1;
	quotient_limbs = dividend_limbs - divisor.nlimbs + 1;
	if (number.nlimbs <= 0 || quotient_limbs < 1)
		return false;
	dividend = palloc0((dividend_limbs + quotient_limbs) * sizeof(uint64));
	quotient = dividend + dividend_limbs;
	memcpy(dividend + zeros, number.limbs, number.nlimbs * sizeof(uint64));
	long_divide_limbs(dividend, dividend_limbs, divisor.limbs, divisor.nlimbs, quotient);

	tolerance = 2e-8 * number.magnitude / divisor.magnitude * pow(10, base_dweight - a_dweight) *
		(pow(10, base_dweight) / divisor.magnitude + pow(10, a_dweight) / number.magnitude) + 1e-6;
	return long_store_approximation(result,
									divisor.is_negative == number.is_negative ? LONG_POSITIVE : LONG_NEGATIVE,
									quotient, quotient_limbs, -quotient_places * PENUMBRA_DIGITS_PER_LIMB,
									rscale, tolerance);
}

/* The number as whole limbs, of which *exponent are behind the last one; *nlimbs of them. */
static uint64 *
load_floating(const LongNumber *a, int *nlimbs, int *exponent)
{
	int			zeros = long_exponent(a) & (PENUMBRA_DIGITS_PER_LIMB - 1);
	uint64	   *limbs;

	*nlimbs = long_limbs(a->ndigits + zeros);
	*exponent = (long_exponent(a) - zeros) / PENUMBRA_DIGITS_PER_LIMB;
	limbs = palloc(*nlimbs * sizeof(uint64));
	long_load_limbs(a, zeros, limbs);
	return limbs;
}

/* fixed (places + 1 limbs) = |a| * |b|, cut off */
static void
multiply_to_fixed(const Logarithm *a, const LongNumber *b, int places, uint64 *fixed)
{
	int			b_limbs;
	int			exponent;
	uint64	   *b_number = load_floating(b, &b_limbs, &exponent);
	int			limbs = a->nlimbs + b_limbs;
	uint64	   *product = palloc(limbs * sizeof(uint64) +
								 penumbra_limbs_multiply_scratch_bytes(a->nlimbs, b_limbs));
	int			shift = exponent - a->places + places;	/* where the product's lowest limb goes */
	int			first = Max(-shift, 0);

	penumbra_limbs_multiply(a->limbs, a->nlimbs, b_number, b_limbs, product, product + limbs);
	memset(fixed, 0, (places + 1) * sizeof(uint64));
	limbs = Min(limbs, places + 1 - shift);
	if (limbs > first)
		memcpy(fixed + first + shift, product + first, (limbs - first) * sizeof(uint64));
	pfree(product);
	pfree(b_number);
}

bool
long_power(const LongNumber *base, const LongNumber *exponent, LongNumber *result)
{
	int			ln_dweight = long_ln_dweight(base);
	double		magnitude = fabs(long_to_double(exponent));
	double		value = long_ln_estimate(base) * long_to_double(exponent);
	double		unit = pow(10, ln_dweight - 8) * (magnitude + 1);
	int			dweight;
	int			rscale;
	int			significant;
	int			places;
	Logarithm	logarithm;
	uint64	   *fixed;

	/* The server's value comes from some eight digits of the logarithm, and the scales from the value's weight. */
	if (!(fabs(value) < LONG_EXP_ARGUMENT_MAX) || unit > 1)
		return false;
	dweight = (int) (value * LOG10_E);
	if ((int) ((value - unit) * LOG10_E) != dweight || (int) ((value + unit) * LOG10_E) != dweight)
		return false;
	rscale = number_result_scale(dweight, Max(base->dscale, exponent->dscale));
	significant = rscale + dweight;
	places = LONG_EXP_PLACES(significant + 1);
	if (significant < LONG_POWER_DECIMALS_MIN ||
		!compute_logarithm(base, 0, significant + GUARD_DECIMALS + (int) log10(magnitude + 1), &logarithm))
		return false;
	fixed = palloc((places + 1) * sizeof(uint64));
	multiply_to_fixed(&logarithm, exponent, places, fixed);
	return long_store_exp(result, fixed, places,
						  logarithm.is_negative != (exponent->sign == LONG_NEGATIVE), significant + 1,
						  rscale, 12 * unit);
}

/* A floating-point number: limbs times the limbs' base ^ exponent; exact until a limb that is not zero was cut off. */
typedef struct Floating
{
	uint64	   *limbs;
	int			nlimbs;
	int			exponent;
	bool		is_exact;
} Floating;

/* Leaves out leading zero limbs, trailing ones, and what is more than kept. */
static void
shorten_floating(Floating *number, int kept)
{
	int			dropped = 0;

	number->nlimbs = long_significant_limbs(number->limbs, number->nlimbs);
	while (number->limbs[dropped] == 0)
		dropped++;
	if (number->nlimbs - dropped > kept)
	{
		dropped = number->nlimbs - kept;
		number->is_exact = false;
	}
	number->nlimbs -= dropped;
	number->exponent += dropped;
	memmove(number->limbs, number->limbs + dropped, number->nlimbs * sizeof(uint64));
}

/* power = |base| ^ n, of which at least kept - 1 limbs less the decimals of n count. */
static void
raise_floating(const LongNumber *base, unsigned int n, int kept, Floating *power)
{
	Floating	factor;
	uint64	   *product;
	int			bit = 31;

	factor.limbs = load_floating(base, &factor.nlimbs, &factor.exponent);
	factor.is_exact = true;
	shorten_floating(&factor, kept);
	power->limbs = palloc(2 * kept * sizeof(uint64));
	memcpy(power->limbs, factor.limbs, factor.nlimbs * sizeof(uint64));
	power->nlimbs = factor.nlimbs;
	power->exponent = factor.exponent;
	power->is_exact = factor.is_exact;
	product = palloc(2 * kept * sizeof(uint64) + penumbra_limbs_multiply_scratch_bytes(kept, kept));

	while ((n >> bit) == 0)
		bit--;
	while (bit-- > 0)
	{
		const Floating *with = power;

		for (int turn = 0; turn < 1 + (int) (n >> bit & 1); turn++)
		{
			int			limbs = power->nlimbs + with->nlimbs;
			int			dropped = power->is_exact ? 0 : Max(limbs - kept - 1, 0);

			CHECK_FOR_INTERRUPTS();
			penumbra_limbs_multiply_high(power->limbs, power->nlimbs, with->limbs, with->nlimbs, dropped,
										 product, product + 2 * kept);
			power->exponent += with->exponent + dropped;
			power->nlimbs = limbs - dropped;
			memcpy(power->limbs, product + dropped, power->nlimbs * sizeof(uint64));
			shorten_floating(power, kept);
			with = &factor;
		}
	}
	pfree(product);
	pfree(factor.limbs);
}

/* a ^ 2, of which the server leaves out digit products two digits behind the result's last. */
static bool
round_square(const LongNumber *a, LongNumber *result, int rscale)
{
	static const double last_digit_decimals[LONG_BASE_DECIMALS] = {1, 1e-3, 1e-2, 1e-1};
	int			limbs;
	Floating	square;

	if (2 * a->dscale <= rscale)
		return long_multiply(a, a, result, rscale);
	raise_floating(a, 2, 2 * (long_limbs(a->ndigits) + 1), &square);
	limbs = Max(square.nlimbs, 1);
	return square.exponent * 16 <= -rscale - 16 &&
		long_store_approximation(result, LONG_POSITIVE, square.limbs, limbs,
								 square.exponent * PENUMBRA_DIGITS_PER_LIMB, rscale,
								 1.5e-4 * a->ndigits * last_digit_decimals[rscale % LONG_BASE_DECIMALS]);
}

bool
long_power_integer(const LongNumber *a, int n, LongNumber *result, int rscale, double dweight)
{
	unsigned int magnitude = n < 0 ? -(unsigned int) n : n;
	int			sign = a->sign == LONG_NEGATIVE && (n & 1) != 0 ? LONG_NEGATIVE : LONG_POSITIVE;
	int			significant = 1 + rscale + (int) dweight;
	int			kept = (significant + GUARD_DECIMALS + (int) log10(magnitude)) / 16 + 3;
	int			padding;
	double		tolerance;
	Floating	power;

	if (n == 2)
		return round_square(a, result, rscale);
	raise_floating(a, magnitude, kept, &power);
	if (n < 0)
	{
		/* with leading limbs that are not zero, as many as kept */
		memmove(power.limbs + kept - power.nlimbs, power.limbs, power.nlimbs * sizeof(uint64));
		memset(power.limbs, 0, (kept - power.nlimbs) * sizeof(uint64));
		power.exponent -= kept - power.nlimbs;
		power.limbs = long_reciprocal(power.limbs, kept, &power.exponent);
		power.nlimbs = kept + 1;
	}
	else if (power.is_exact && power.exponent * 16 >= -rscale)
	{
		long_store_limbs(result, sign, power.limbs, power.nlimbs,
						 power.exponent * PENUMBRA_DIGITS_PER_LIMB, rscale, true);
		return true;
	}

	/* Limbs enough behind the result's last decimal to see how it is rounded. */
	padding = power.exponent - (-rscale - 16) / 16 + 1;
	if (padding > 0)
	{
		power.limbs = repalloc(power.limbs, (power.nlimbs + padding) * sizeof(uint64));
		memmove(power.limbs + padding, power.limbs, power.nlimbs * sizeof(uint64));
		memset(power.limbs, 0, padding * sizeof(uint64));
		power.nlimbs += padding;
		power.exponent -= padding;
	}
	tolerance = 8e-8 * (1 + 1e-4 * significant) * magnitude / pow(10, (int) log(magnitude)) + 1e-6;
	return long_store_approximation(result, sign, power.limbs, power.nlimbs,
									power.exponent * PENUMBRA_DIGITS_PER_LIMB, rscale, tolerance);
}
