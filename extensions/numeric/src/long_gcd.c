/*
 * Greatest common divisors of long numbers, by Lehmer's algorithm: Euclid's on the leading decimals of both numbers as
 * long as they tell its quotients, then all these steps on the numbers at once.
 */
#include "long_arithmetic.h"

#include "miscadmin.h"

#include "long_exponential.h"

/* Leading decimals of a pair fit int64 with cofactors added. */
#define LEADING_MAX INT64CONST(1000000000000000000)

/* x = x_x x - x_y y, y = y_y y - y_x x, or the negatives of both. */
typedef struct Cofactors
{
	int64		x_x;
	int64		x_y;
	int64		y_x;
	int64		y_y;
} Cofactors;

/* Steps of Euclid's algorithm for all pairs with these leading decimals; false if none is sure. */
static bool
lehmer_steps(const uint64 *x, const uint64 *y, int n, Cofactors *cofactors)
{
	uint128		x_leading = (uint128) x[n - 1] * PENUMBRA_LIMB_BASE + x[n - 2];
	uint128		y_leading = (uint128) y[n - 1] * PENUMBRA_LIMB_BASE + y[n - 2];
	int64		unit = 1;
	int64		a;
	int64		b;
	int64		next;

	while (x_leading / unit >= LEADING_MAX)
		unit *= 10;
	a = x_leading / unit;
	b = y_leading / unit;
	*cofactors = (Cofactors) {1, 0, 0, 1};
	while (b + cofactors->y_x != 0 && b + cofactors->y_y != 0)
	{
		int64		quotient = (a + cofactors->x_x) / (b + cofactors->y_x);

		/* Knuth's test: the least and the greatest ratio that the leading decimals allow */
		if (quotient != (a + cofactors->x_y) / (b + cofactors->y_y))
			break;
		next = cofactors->x_x - quotient * cofactors->y_x;
		cofactors->x_x = cofactors->y_x;
		cofactors->y_x = next;
		next = cofactors->x_y - quotient * cofactors->y_y;
		cofactors->x_y = cofactors->y_y;
		cofactors->y_y = next;
		next = a - quotient * b;
		a = b;
		b = next;
	}
	return cofactors->x_y != 0;
}

/* result = a x + b y, which is not negative, and of which one term is not positive; room is of 2 (n + 1) limbs */
static void
combine(const uint64 *x, int64 a, const uint64 *y, int64 b, int n, uint64 *result, uint64 *room)
{
	uint64	   *a_product = room;
	uint64	   *b_product = room + n + 1;

	a_product[n] = penumbra_limbs_multiply_small(x, n, a < 0 ? -a : a, 0, a_product);
	b_product[n] = penumbra_limbs_multiply_small(y, n, b < 0 ? -b : b, 0, b_product);
	if (b <= 0)
		penumbra_limbs_subtract(a_product, n + 1, b_product, n + 1, a_product);
	else
	{
		penumbra_limbs_subtract(b_product, n + 1, a_product, n + 1, b_product);
		a_product = b_product;
	}
	memcpy(result, a_product, n * sizeof(uint64));
}

/* x (n limbs and a zero one) becomes x mod y, which is not zero. */
static void
take_remainder(uint64 *x, int n, uint64 *y, uint64 *quotient)
{
	int			y_limbs = long_significant_limbs(y, n);
	uint64		factor = long_scale_divisor(x, n + 1, y, y_limbs);
	void	   *scratch = palloc(penumbra_limbs_divide_scratch_bytes(n + 1, y_limbs) + MAXIMUM_ALIGNOF);

	penumbra_limbs_divide(x, n + 1, y, y_limbs, quotient, x, (void *) TYPEALIGN(16, scratch));
	pfree(scratch);
	penumbra_limbs_divide_small(x, y_limbs, factor, x);
	penumbra_limbs_divide_small(y, y_limbs, factor, y);
	memset(x + y_limbs, 0, (n + 1 - y_limbs) * sizeof(uint64));
}

/* Of the two numbers of n limbs (and a zero one), which are overwritten: where it stands. room: 4 (n + 1) limbs. */
static uint64 *
gcd_of_limbs(uint64 *x, uint64 *y, int n, uint64 *room)
{
	uint64	   *next = room;
	uint64	   *products = room + 2 * (n + 1);
	int			places = n + 1;

	if (penumbra_limbs_compare(x, y, n) < 0)
	{
		uint64	   *larger = y;

		y = x;
		x = larger;
	}
	/* x >= y */
	while (long_significant_limbs(y, n) > 0)
	{
		Cofactors	cofactors;
		uint64	   *remainder = x;

		CHECK_FOR_INTERRUPTS();
		n = long_significant_limbs(x, n);
		if (n > 1 && lehmer_steps(x, y, n, &cofactors))
		{
			combine(x, cofactors.x_x, y, cofactors.x_y, n, next, products);
			combine(x, cofactors.y_x, y, cofactors.y_y, n, next + places, products);
			memcpy(x, next, n * sizeof(uint64));
			memcpy(y, next + places, n * sizeof(uint64));
			continue;
		}
		take_remainder(x, n, y, products);
		x = y;
		y = remainder;
	}
	return x;
}

/* Computes with both numbers as integers, in units of the last digit that either of them has. */
bool
long_gcd(const LongNumber *a, const LongNumber *b, LongNumber *result)
{
	int			rscale = Max(a->dscale, b->dscale);
	int			exponent = Min(long_exponent(a), long_exponent(b));
	int			limbs = long_limbs(Max(a->weight, b->weight) - exponent + 1);
	int			places = limbs + 1;
	uint64	   *x;
	uint64	   *y;

	if (a->ndigits == 0 || b->ndigits == 0 || limbs > PENUMBRA_LIMBS_MAX / 2)
		return false;
	x = palloc0(6 * places * sizeof(uint64));
	y = x + places;
	long_load_limbs(a, long_exponent(a) - exponent, x);
	long_load_limbs(b, long_exponent(b) - exponent, y);
	long_store_limbs(result, LONG_POSITIVE, gcd_of_limbs(x, y, limbs, y + places), limbs, exponent,
					 rscale, false);
	pfree(x);
	return true;
}
