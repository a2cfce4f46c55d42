/*
 * From digits to limbs and back, with rounding.
 */
#include "long_digits.h"

#include <math.h>

/*
 * The digits, with low_zeros zero digits behind (or, if negative, without that many of the last), as limbs:
 * long_limbs(ndigits + low_zeros) of them.
 */
void
long_load_limbs(const LongNumber *a, int low_zeros, uint64 *limbs)
{
	int			ndigits = a->ndigits;
	int			zeros = Max(low_zeros, 0) % PENUMBRA_DIGITS_PER_LIMB;
	int			zero_limbs = Max(low_zeros, 0) / PENUMBRA_DIGITS_PER_LIMB;

	memset(limbs, 0, zero_limbs * sizeof(uint64));
	limbs += zero_limbs;
	if (low_zeros < 0)
		ndigits += low_zeros;
	if (zeros > 0)
	{
		int16		last[PENUMBRA_DIGITS_PER_LIMB] = {0};
		int			taken = Min(PENUMBRA_DIGITS_PER_LIMB - zeros, ndigits);

		memcpy(last + PENUMBRA_DIGITS_PER_LIMB - zeros - taken, a->digits + ndigits - taken,
			   taken * sizeof(int16));
		penumbra_limbs_from_digits(last, PENUMBRA_DIGITS_PER_LIMB, limbs);
		limbs++;
		ndigits -= taken;
	}
	penumbra_limbs_from_digits(a->digits, ndigits, limbs);
}

void
long_set_zero(LongNumber *result, int rscale)
{
	result->sign = LONG_POSITIVE;
	result->weight = 0;
	result->dscale = rscale;
	result->ndigits = 0;
	result->digits = NULL;
}

/*
 * Rounds or truncates `ndigits` digits of that weight to rscale; digits[-1] is there for a carry. Half is
 * rounded away from zero, as the server does.
 */
static void
set_rounded(LongNumber *result, int sign, int weight, int16 *digits, int ndigits, int rscale,
			bool round)
{
	int			decimals = (weight + 1) * LONG_BASE_DECIMALS + rscale;
	int			kept = (decimals + LONG_BASE_DECIMALS - 1) / LONG_BASE_DECIMALS;

	if (decimals < 0)
		ndigits = 0;
	else if (kept <= ndigits)
	{
		static const int powers[LONG_BASE_DECIMALS] = {1, 10, 100, 1000};
		int			unit = powers[kept * LONG_BASE_DECIMALS - decimals];
		bool		up;

		if (unit > 1)
		{
			int			low = digits[kept - 1] % unit;

			digits[kept - 1] -= low;
			up = low >= unit / 2;
		}
		else
			up = kept < ndigits && digits[kept] >= LONG_BASE / 2;
		ndigits = kept;
		if (round && up)
		{
			int			last = kept - 1;

			digits[-1] = 0;
			digits[last] += unit;
			while (last >= 0 && digits[last] >= LONG_BASE)
			{
				digits[last] -= LONG_BASE;
				digits[--last]++;
			}
			if (last < 0)
			{
				digits--;
				ndigits++;
				weight++;
			}
		}
	}
	while (ndigits > 0 && digits[0] == 0)
	{
		digits++;
		ndigits--;
		weight--;
	}
	while (ndigits > 0 && digits[ndigits - 1] == 0)
		ndigits--;
	long_set_zero(result, rscale);
	if (ndigits > 0)
	{
		result->sign = sign;
		result->weight = weight;
		result->ndigits = ndigits;
		result->digits = digits;
	}
}

/* result = limbs * base ^ exponent, rounded or truncated to rscale; exponent counts digits. */
void
long_store_limbs(LongNumber *result, int sign, const uint64 *limbs, int nlimbs, int exponent,
				 int rscale, bool round)
{
	int			ndigits = nlimbs * PENUMBRA_DIGITS_PER_LIMB;
	int16	   *digits = (int16 *) palloc((ndigits + 1) * sizeof(int16)) + 1;

	penumbra_limbs_to_digits(limbs, nlimbs, digits);
	set_rounded(result, sign, exponent + ndigits - 1, digits, ndigits, rscale, round);
}

/*
 * As long_store_limbs(), of a number that is not exact: false if it is within `tolerance` units of the last decimal
 * of where rounding changes, so that another approximation that good could round to another result.
 */
bool
long_store_approximation(LongNumber *result, int sign, const uint64 *limbs, int nlimbs, int exponent,
						 int rscale, double tolerance)
{
	static const int powers[LONG_BASE_DECIMALS] = {1000, 100, 10, 1};
	int			ndigits = nlimbs * PENUMBRA_DIGITS_PER_LIMB;
	int			weight = exponent + ndigits - 1;
	int			first = (weight + 1) * LONG_BASE_DECIMALS + rscale;
	int16	   *digits;
	double		fraction = 0;

	/* The 16 decimals behind the last one of the result. */
	if (first < 0 || first + 16 > ndigits * LONG_BASE_DECIMALS)
		return false;
	digits = (int16 *) palloc((ndigits + 1) * sizeof(int16)) + 1;
	penumbra_limbs_to_digits(limbs, nlimbs, digits);
	for (int i = first + 15; i >= first; i--)
		fraction = (fraction + digits[i / LONG_BASE_DECIMALS] / powers[i % LONG_BASE_DECIMALS] % 10) / 10;
	if (fabs(fraction - 0.5) < tolerance)
	{
		pfree(digits - 1);
		return false;
	}
	set_rounded(result, sign, weight, digits, ndigits, rscale, true);
	return true;
}
