/*
 * exp and ln as the server rounds them.
 *
 * The server's results are approximations with some guard digits, so that the true value rounds to the same result
 * unless it is within the server's error of where rounding changes. README.md derives the bounds on that error; where
 * the value is nearer than that, these functions decline.
 */
#include "long_arithmetic.h"

#include <math.h>

#include "long_exponential.h"

/* Decimals beyond the result's last that are computed. */
#define GUARD_DECIMALS 12

/* e ^ fixed, or e ^ -fixed, rounded to rscale; the server's error is `tolerance` more than that of its exp. */
bool
long_store_exp(LongNumber *result, const uint64 *fixed, int places, bool is_negative, int significant,
			   int rscale, double tolerance)
{
	uint64	   *power = palloc((places + 1) * sizeof(uint64));
	int			exponent = long_exp_fixed(fixed, places, power);

	if (is_negative)
		power = long_reciprocal(power, ++places, &exponent);
	tolerance += 2e-6 * (0.3 * (significant + 20) + 3);
	return long_store_approximation(result, LONG_POSITIVE, power, places + 1,
									exponent * PENUMBRA_DIGITS_PER_LIMB, rscale, tolerance);
}

bool
long_exp(const LongNumber *a, LongNumber *result, int rscale)
{
	double		value = long_to_double(a);
	int			dweight = (int) (value * LOG10_E);
	int			significant = 1 + dweight + rscale;
	int			places = LONG_EXP_PLACES(significant);
	uint64	   *fixed;

	if (a->ndigits == 0 || fabs(value) > LONG_EXP_ARGUMENT_MAX || significant < 1)
		return false;
	fixed = palloc((places + 1) * sizeof(uint64));
	long_load_fixed(a, places, fixed);
	return long_store_exp(result, fixed, places, a->sign == LONG_NEGATIVE, significant, rscale, 0);
}

/* The decimal weight of ln a as the server estimates it, which chooses scales: estimate_ln_dweight(). */
int
long_ln_dweight(const LongNumber *a)
{
	double		leading;
	int			dweight;

	if (a->sign == LONG_NEGATIVE || a->ndigits == 0)
		return 0;
	if ((a->weight == -1 && a->digits[0] >= 9000) ||
		(a->weight == 0 && a->digits[0] == 1 &&
		 (a->ndigits == 1 || a->digits[1] < 1000 || (a->digits[1] == 1000 && a->ndigits == 2))))
	{
		/* from 0.9 to 1.1: the weight of the first digit of a - 1 */
		int			i = 0;

		if (a->weight == 0)
		{
			for (i = 1; i < a->ndigits && a->digits[i] == 0; i++)
				;
			if (i >= a->ndigits)
				return 0;
			return -i * LONG_BASE_DECIMALS + (int) log10(a->digits[i]);
		}
		while (i < a->ndigits && a->digits[i] == LONG_BASE - 1)
			i++;
		if (i >= a->ndigits)
			return -a->ndigits * LONG_BASE_DECIMALS;
		/* the digits behind make the complement's last digit larger by one, or not */
		leading = LONG_BASE - 1 - a->digits[i] + (i == a->ndigits - 1 ? 1 : 0);
		return -(i + 1) * LONG_BASE_DECIMALS + (int) log10(leading);
	}
	leading = a->digits[0];
	dweight = a->weight * LONG_BASE_DECIMALS;
	if (a->ndigits > 1)
	{
		leading = leading * LONG_BASE + a->digits[1];
		dweight -= LONG_BASE_DECIMALS;
	}
	return (int) log10(fabs(log(leading) + dweight * 2.302585092994046));
}

/* The error of the server's ln, in units of the last decimal. */
static double
ln_server_error(double ln, int rscale)
{
	double		roots = 1;		/* 2 ^ how often the server takes square roots */
	double		terms;

	for (; fabs(ln) > 0.0953; ln /= 2)
		roots *= 2;
	terms = (rscale + 20) / 2.5;
	return (roots + 10 * (0.6 * terms + 3)) * 1e-8;
}

bool
long_ln(const LongNumber *a, LongNumber *result, int rscale)
{
	int			places;
	bool		is_negative;
	uint64	   *fixed;
	double		tolerance;

	if (a->ndigits == 0 || a->sign == LONG_NEGATIVE)
		return false;
	fixed = long_ln_fixed(a, rscale + GUARD_DECIMALS, &places, &is_negative);
	if (fixed == NULL)
		return false;
	tolerance = 2 * ln_server_error(fixed[places] + fixed[places - 1] / 1e16, rscale) + 1e-8;
	return long_store_approximation(result, is_negative ? LONG_NEGATIVE : LONG_POSITIVE, fixed,
									places + 1, -places * PENUMBRA_DIGITS_PER_LIMB, rscale,
									tolerance);
}
