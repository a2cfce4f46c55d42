/*
 * Exponential and logarithm of fixed-point numbers of limbs.
 */
#ifndef LONG_EXPONENTIAL_H
#define LONG_EXPONENTIAL_H

#include "long_digits.h"

/* fixed[0 .. places) are the limbs after the point, fixed[places] the one before it. */

/* Of the 16 decimals of each place, long_exp_fixed() loses so many; the argument is below 10^6. */
#define LONG_LOST_DECIMALS(places) (36 + (places) / 30)

extern void long_load_fixed(const LongNumber *a, int places, uint64 *fixed);
extern int	long_exp_fixed(const uint64 *fixed, int places, uint64 *mantissa);
extern uint64 *long_ln_fixed(const LongNumber *a, int decimals, int *places, bool *is_negative);
extern void long_divide_any(uint64 *a, int a_limbs, uint64 *b, int b_limbs, uint64 *quotient);

#endif							/* LONG_EXPONENTIAL_H */
