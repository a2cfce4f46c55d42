/*
 * What the long functions share: from digits to limbs (penumbra/digits.h) and back.
 */
#ifndef LONG_DIGITS_H
#define LONG_DIGITS_H

#include "long_number.h"
#include "penumbra/digits.h"

#define LONG_BASE			10000
#define LONG_BASE_DECIMALS	4

/* Limbs that hold so many digits. */
static inline int
long_limbs(int ndigits)
{
	return (ndigits + PENUMBRA_DIGITS_PER_LIMB - 1) / PENUMBRA_DIGITS_PER_LIMB;
}

/* The weight of the last digit: the number is its digits, read as an integer, times base ^ this. */
static inline int
long_exponent(const LongNumber *a)
{
	return a->weight - a->ndigits + 1;
}

extern void long_load_limbs(const LongNumber *a, int low_zeros, uint64 *limbs);
extern void long_store_limbs(LongNumber *result, int sign, const uint64 *limbs, int nlimbs,
							 int exponent, int rscale, bool round);
extern bool long_store_approximation(LongNumber *result, int sign, const uint64 *limbs, int nlimbs,
									 int exponent, int rscale, double tolerance);
extern void long_set_zero(LongNumber *result, int rscale);

#endif							/* LONG_DIGITS_H */
