/*
 * Exponential and logarithm of fixed-point numbers of limbs.
 */
#ifndef LONG_EXPONENTIAL_H
#define LONG_EXPONENTIAL_H

#include "long_digits.h"

/* fixed[0 .. places) are the limbs after the point, fixed[places] the one before it. */

/* Of the 16 decimals of each place, long_exp_fixed() loses so many; the argument is below 10^6. */
#define LONG_LOST_DECIMALS(places) (36 + (places) / 30)
/* The places that exp takes for so many decimals, and some. */
#define LONG_EXP_PLACES(significant) (((significant) + 48 + (significant) / 480) / 16 + 2)
/* The server's limits are checked by the server. */
#define LONG_EXP_ARGUMENT_MAX 5990.0

/* As the server has it. */
#define LOG10_E 0.434294481903252

extern void long_load_fixed(const LongNumber *a, int places, uint64 *fixed);
extern int	long_exp_fixed(const uint64 *fixed, int places, uint64 *mantissa);
extern bool long_store_exp(LongNumber *result, const uint64 *fixed, int places, bool is_negative,
						   int significant, int rscale, double tolerance);
extern double long_ln_estimate(const LongNumber *a);
extern uint64 *long_ln_fixed(const LongNumber *a, int decimals, int *places, bool *is_negative);
extern uint64 long_scale_divisor(uint64 *a, int a_limbs, uint64 *b, int b_limbs);
extern void long_divide_limbs(uint64 *a, int a_limbs, uint64 *b, int b_limbs, uint64 *quotient);
extern uint64 *long_reciprocal(uint64 *a, int limbs, int *exponent);

static inline int
long_significant_limbs(const uint64 *limbs, int n)
{
	while (n > 0 && limbs[n - 1] == 0)
		n--;
	return n;
}

#endif							/* LONG_EXPONENTIAL_H */
