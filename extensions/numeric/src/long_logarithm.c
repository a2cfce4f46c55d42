/*
 * Logarithms of long numbers, by Halley's iteration on the exponential.
 */
#include "long_exponential.h"

#include <math.h>

#include "miscadmin.h"

/* Limbs that a step works with beyond those that it makes right. */
#define LN_GUARD_LIMBS 3

/*
 * Makes b's highest limb, which is not zero, as high as the kernel wants a divisor's. a, whose highest limb is zero, is
 * multiplied too, by what is returned.
 */
uint64
long_scale_divisor(uint64 *a, int a_limbs, uint64 *b, int b_limbs)
{
	uint64		factor = 1;

	while (b[b_limbs - 1] * factor < PENUMBRA_DIVISOR_TOP_MIN)
		factor *= LONG_BASE;
	penumbra_limbs_multiply_small(a, a_limbs, factor, 0, a);
	penumbra_limbs_multiply_small(b, b_limbs, factor, 0, b);
	return factor;
}

/* a / b, rounded down: a_limbs - b_limbs + 1 limbs. Both are changed, see long_scale_divisor(). */
void
long_divide_limbs(uint64 *a, int a_limbs, uint64 *b, int b_limbs, uint64 *quotient)
{
	void	   *scratch = palloc(penumbra_limbs_divide_scratch_bytes(a_limbs, b_limbs) + MAXIMUM_ALIGNOF);

	long_scale_divisor(a, a_limbs, b, b_limbs);
	penumbra_limbs_quotient(a, a_limbs, b, b_limbs, quotient, (void *) TYPEALIGN(16, scratch));
	pfree(scratch);
}

/* 1 / a, of one limb more; exponent counts limbs. The highest limb of a, which is lost, is not zero. */
uint64 *
long_reciprocal(uint64 *a, int limbs, int *exponent)
{
	uint64	   *dividend = palloc0(2 * limbs * sizeof(uint64));
	uint64	   *quotient = palloc((limbs + 1) * sizeof(uint64));

	dividend[2 * limbs - 1] = 1;
	long_divide_limbs(dividend, 2 * limbs, a, limbs, quotient);
	pfree(dividend);
	*exponent = -(2 * limbs - 1) - *exponent;
	return quotient;
}

/* ln a, right to 13 digits, or NAN where doubles cannot tell. */
double
long_ln_estimate(const LongNumber *a)
{
	double		value;
	double		leading = 0;
	int			ndigits = Min(a->ndigits, 5);
	int			first = a->weight == 0 ? 1 : 0;
	double		distance = 0;

	for (int i = 0; i < ndigits; i++)
		leading = leading * LONG_BASE + a->digits[i];
	value = log(leading) + (a->weight - ndigits + 1) * log(LONG_BASE);
	if (fabs(value) > 0.05)
		return value;

	/* |a - 1| from its own leading digits: a = 1.000..., or 0.999... of which the complement counts */
	for (int i = first; i < a->ndigits; i++)
	{
		int			digit = first == 1 ? a->digits[i] : LONG_BASE - 1 - a->digits[i];

		if (digit == 0)
			continue;
		for (int k = i; k < Min(i + 5, a->ndigits); k++)
		{
			digit = first == 1 ? a->digits[k] : LONG_BASE - 1 - a->digits[k];
			distance += digit * pow(LONG_BASE, a->weight - k);
		}
		break;
	}
	if (first == 0)
		distance += pow(LONG_BASE, a->weight - a->ndigits + 1);
	if (distance < 1e-200)
		return NAN;
	return first == 1 ? log1p(distance) : log1p(-distance);
}

/* fixed (places + 1 limbs) = value, rounded down to some 17 digits; value < 10^16 */
static void
fixed_from_double(double value, int places, uint64 *fixed)
{
	int			i = places;

	memset(fixed, 0, (places + 1) * sizeof(uint64));
	for (; value < 1 && i > 0; i--)
		value *= (double) PENUMBRA_LIMB_BASE;
	fixed[i] = Min((uint64) value, PENUMBRA_LIMB_BASE - 1);
	if (i > 0)
	{
		double		below = (value - (double) fixed[i]) * (double) PENUMBRA_LIMB_BASE;

		fixed[i - 1] = Min((uint64) Max(below, 0), PENUMBRA_LIMB_BASE - 1);
	}
}

/*
 * With y near ln a, or near -ln a if that is negative: *number / *reference = a e^-y, both of places + 2 limbs.
 */
static void
load_ratio(const LongNumber *a, bool is_negative, int places, const uint64 *y, uint64 *number,
		   uint64 *reference)
{
	int			limbs = places + 2;
	int			exponent = long_exp_fixed(y, places, reference);
	int			zeros;
	int			a_limbs;
	int			one;
	uint64	   *factor;
	uint64	   *product;

	reference[limbs - 1] = 0;
	memset(number, 0, limbs * sizeof(uint64));
	if (!is_negative)
	{
		/* a in units of the power's last limb */
		long_load_limbs(a, long_exponent(a) - PENUMBRA_DIGITS_PER_LIMB * exponent, number);
		return;
	}

	/* a with whole limbs behind the point, as many as count; a e^y, with `places` limbs behind the point, to 1 */
	zeros = long_exponent(a) & (PENUMBRA_DIGITS_PER_LIMB - 1);
	a_limbs = long_limbs(a->ndigits + zeros);
	if (a_limbs > limbs)
	{
		zeros -= (a_limbs - limbs) * PENUMBRA_DIGITS_PER_LIMB;
		a_limbs = limbs;
	}
	factor = palloc((2 * a_limbs + places + 1) * sizeof(uint64) +
					penumbra_limbs_multiply_scratch_bytes(a_limbs, places + 1));
	product = factor + a_limbs;
	long_load_limbs(a, zeros, factor);
	penumbra_limbs_multiply(factor, a_limbs, reference, places + 1, product,
							product + a_limbs + places + 1);
	one = -((long_exponent(a) - zeros) / PENUMBRA_DIGITS_PER_LIMB + exponent);
	memcpy(number, product + one - places,
		   Min(a_limbs + places + 1 - (one - places), limbs) * sizeof(uint64));
	memset(reference, 0, limbs * sizeof(uint64));
	reference[places] = 1;
	pfree(factor);
}

/*
 * One step for y = |ln a|, which makes it right to three times as many limbs, up to `places`: with a e^-y = 1 + d,
 * ln a = y + 2 d / (2 + d) within d^3 / 12.
 */
static void
improve_ln(const LongNumber *a, bool is_negative, int places, uint64 *y)
{
	int			limbs = places + 2;
	uint64	   *number = palloc((2 * limbs + places + limbs + 1) * sizeof(uint64));
	uint64	   *reference = number + limbs;
	uint64	   *dividend = reference + limbs;
	uint64	   *distance = dividend + places;
	uint64	   *quotient;
	int			dividend_limbs = places + limbs + 1;
	int			divisor_limbs = limbs;
	bool		is_above;

	CHECK_FOR_INTERRUPTS();
	load_ratio(a, is_negative, places, y, number, reference);
	is_above = penumbra_limbs_compare(number, reference, limbs) >= 0;
	memset(dividend, 0, dividend_limbs * sizeof(uint64));
	if (is_above)
		penumbra_limbs_subtract(number, limbs, reference, limbs, distance);
	else
		penumbra_limbs_subtract(reference, limbs, number, limbs, distance);
	penumbra_limbs_multiply_small(distance, limbs, 2, 0, distance);
	penumbra_limbs_add(number, limbs, reference, limbs, number);
	while (number[divisor_limbs - 1] == 0)
		divisor_limbs--;
	while (dividend_limbs > divisor_limbs && dividend[dividend_limbs - 2] == 0)
		dividend_limbs--;
	quotient = palloc0(Max(dividend_limbs - divisor_limbs + 1, places + 1) * sizeof(uint64));
	long_divide_limbs(dividend, dividend_limbs, number, divisor_limbs, quotient);
	if (is_above != is_negative)
		penumbra_limbs_add(y, places + 1, quotient, places + 1, y);
	else
		penumbra_limbs_subtract(y, places + 1, quotient, places + 1, y);
	pfree(quotient);
	pfree(number);
}

/*
 * |ln a|, right to so many decimals behind the point, with *places limbs there; NULL if a is too near to 1.
 */
uint64 *
long_ln_fixed(const LongNumber *a, int decimals, int *places, bool *is_negative)
{
	double		estimate = long_ln_estimate(a);
	int			steps[32];
	int			nsteps = 0;
	int			right;
	uint64	   *y;

	if (isnan(estimate) || estimate == 0)
		return NULL;
	*is_negative = estimate < 0;
	estimate = fabs(estimate);

	/* Limbs that each step works with, from the last to the first. */
	right = (int) ((12 - log10(estimate)) / 16);
	for (int n = (decimals + 15) / 16; nsteps == 0 || n > right; n = (n + 2) / 3)
	{
		steps[nsteps++] = n + LN_GUARD_LIMBS;
		if (n == 1)
			break;
	}
	*places = steps[0];
	y = palloc((*places + 1) * sizeof(uint64));
	fixed_from_double(estimate, *places, y);
	while (nsteps-- > 0)
		improve_ln(a, *is_negative, steps[nsteps], y + *places - steps[nsteps]);
	return y;
}
