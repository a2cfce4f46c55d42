/*
 * Exponentials of fixed-point numbers, by halving the argument, Taylor's series and squaring.
 */
#include "long_exponential.h"

#include <math.h>

#include "miscadmin.h"

#include "long_arithmetic.h"

#define BITS_PER_LIMB 53.150849518197795	/* log2(10^16) */

/* How exp is computed: argument divided by 2 ^ halvings, terms of the series in `strides` interleaved sums. */
typedef struct ExpPlan
{
	int			halvings;
	int			terms;
	int			strides;		/* a power of two */
} ExpPlan;

/* |a| with so many limbs after the point, cut off; it must be below 10^16. */
void
long_load_fixed(const LongNumber *a, int places, uint64 *fixed)
{
	int			zeros = long_exponent(a) + places * PENUMBRA_DIGITS_PER_LIMB;
	int			ndigits = a->ndigits + zeros;

	memset(fixed, 0, (places + 1) * sizeof(uint64));
	if (ndigits > 0)
		long_load_limbs(a, zeros, fixed);
}

/* Right to 14 decimal digits. */
double
long_to_double(const LongNumber *a)
{
	double		value = 0;
	int			ndigits = Min(a->ndigits, 5);

	for (int i = 0; i < ndigits; i++)
		value = value * LONG_BASE + a->digits[i];
	value *= pow(LONG_BASE, a->weight - ndigits + 1);
	return a->sign == LONG_NEGATIVE ? -value : value;
}

/*
 * Each halving of the argument costs a squaring of the result and saves terms of the
 * series. So the numbers of halvings and of terms are both near sqrt(bits). Terms
 * are counted until one is less than the last bit. The number of strides is a power
 * of two near the square root of the terms.
 */
static ExpPlan
choose_plan(const uint64 *fixed, int places)
{
	ExpPlan		plan = {0, 1, 1};
	int			n = long_significant_limbs(fixed, places + 1);
	double		bits = BITS_PER_LIMB * places;
	double		wanted = -0.7 * sqrt(bits);
	double		log2_argument;
	double		term = 0;

	if (n == 0)
		return plan;
	log2_argument = log2((double) fixed[n - 1] + 1) + BITS_PER_LIMB * (n - 1 - places);
	if (log2_argument > wanted)
		plan.halvings = (int) ceil(log2_argument - wanted);
	log2_argument -= plan.halvings;
	for (; term > -bits - 2; plan.terms++)
		term += log2_argument - log2(plan.terms);
	while (4 * plan.strides * plan.strides <= plan.terms)
		plan.strides *= 2;
	return plan;
}

/* product = a * b / base ^ places, of so many limbs as are returned; products is room for both and scratch */
static int
multiply_fixed(const uint64 *a, int a_limbs, const uint64 *b, int b_limbs, int places,
			   uint64 *product, uint64 *products)
{
	int			n = a_limbs + b_limbs;

	CHECK_FOR_INTERRUPTS();
	if (n <= places)
		return 0;
	penumbra_limbs_multiply_high(a, a_limbs, b, b_limbs, places, products, products + n);
	memcpy(product, products + places, (n - places) * sizeof(uint64));
	return long_significant_limbs(product, n - places);
}

/*
 * The series, in strides: with s of them, the sums of x^(s j) / (s j + i)! over j are kept for each i, so that
 * most terms cost a division by a small number, and Horner's scheme in x puts the sums together.
 */
static void
exp_series(const uint64 *x, int places, ExpPlan plan, uint64 *sum, uint64 *room)
{
	int			limbs = places + 1;
	int			x_limbs = long_significant_limbs(x, limbs);
	uint64	   *power = room;
	uint64	   *term = power + limbs;
	uint64	   *sums = term + limbs + 1;
	uint64	   *products = sums + plan.strides * limbs;
	int			power_limbs = x_limbs;
	int			term_limbs = limbs;
	int			sum_limbs;

	memcpy(power, x, limbs * sizeof(uint64));
	for (int i = 1; i < plan.strides; i *= 2)
		power_limbs = multiply_fixed(power, power_limbs, power, power_limbs, places, power, products);
	memset(sums, 0, plan.strides * limbs * sizeof(uint64));
	memset(term, 0, limbs * sizeof(uint64));
	term[places] = 1;
	for (int i = 0; i < plan.terms && term_limbs > 0; i++)
	{
		uint64	   *partial = sums + i % plan.strides * limbs;

		penumbra_limbs_add(partial, limbs, term, term_limbs, partial);
		penumbra_limbs_divide_small(term, term_limbs, i + 1, term);
		if ((i + 1) % plan.strides == 0)
			term_limbs = multiply_fixed(term, term_limbs, power, power_limbs, places, term, products);
		term_limbs = long_significant_limbs(term, term_limbs);
	}
	memcpy(sum, sums + (plan.strides - 1) * limbs, limbs * sizeof(uint64));
	for (int i = plan.strides - 2; i >= 0; i--)
	{
		sum_limbs = multiply_fixed(sum, limbs, x, x_limbs, places, sum, products);
		memset(sum + sum_limbs, 0, (limbs - sum_limbs) * sizeof(uint64));
		penumbra_limbs_add(sum, limbs, sums + i * limbs, limbs, sum);
	}
}

/*
 * mantissa (places + 1 limbs, the highest not zero) times base ^ the returned exponent = e ^ fixed.
 *
 * In units of base ^ -places, the halved argument is right within 1 for each division, and a term or a power is
 * right within 2, since it is what was right within 2, times less than 1/2, cut off; the sum is within 4 for each
 * term. A squaring doubles the relative error and adds 1 unit. So the result's relative error is below
 * 2 ^ halvings * (4 terms + 8) units: LONG_LOST_DECIMALS, for 0.7 sqrt(bits) + 20 halvings.
 */
int
long_exp_fixed(const uint64 *fixed, int places, uint64 *mantissa)
{
	int			limbs = places + 1;
	ExpPlan		plan = choose_plan(fixed, places);
	int			left = plan.halvings;
	int			exponent = -places;
	uint64	   *x;
	uint64	   *room;

	x = palloc((3 * limbs + (plan.strides + 4) * limbs + 8) * sizeof(uint64) +
			   penumbra_limbs_multiply_scratch_bytes(limbs, limbs));
	room = x + limbs;
	memcpy(x, fixed, limbs * sizeof(uint64));
	while (left > 0)
	{
		int			halvings = Min(left, 50);

		penumbra_limbs_divide_small(x, limbs, UINT64CONST(1) << halvings, x);
		left -= halvings;
	}
	exp_series(x, places, plan, mantissa, room);
	for (int i = 0; i < plan.halvings; i++)
	{
		int			dropped = limbs;

		CHECK_FOR_INTERRUPTS();
		penumbra_limbs_multiply_high(mantissa, limbs, mantissa, limbs, limbs - 1, room, room + 2 * limbs);
		if (room[2 * limbs - 1] == 0)
			dropped--;
		memcpy(mantissa, room + dropped, limbs * sizeof(uint64));
		exponent = 2 * exponent + dropped;
	}
	pfree(x);
	return exponent;
}
