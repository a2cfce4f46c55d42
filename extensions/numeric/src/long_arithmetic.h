/*
 * Arithmetic on long numbers: what NUMERIC does above the few digits that fit a machine word, with the
 * digit kernels of kernels/.
 *
 * Every function gives the server's own result, bit for bit, or returns false without touching *result: the
 * caller then asks the server's function. Operands are finite, have no leading or trailing zero digits and
 * are not changed; the caller has dealt with NaN, infinities, and with operands that are errors (division by
 * zero, the root or logarithm of what is not positive), for which the functions return false. Results are
 * palloc'ed in the current memory context, stripped of leading and trailing zero digits, with the asked
 * display scale; whether they fit the on-disk format is the caller's to check. Operands may be the same
 * number. All functions look for interrupts at least every 100 ms.
 */
#ifndef LONG_ARITHMETIC_H
#define LONG_ARITHMETIC_H

#include "long_number.h"

/* a * b rounded to rscale, half away from zero; exact when rscale >= a->dscale + b->dscale */
extern bool long_multiply(const LongNumber *a, const LongNumber *b, LongNumber *result, int rscale);

/* a / b rounded to rscale half away from zero, or truncated to it: div_var() */
extern bool long_divide(const LongNumber *a, const LongNumber *b, LongNumber *result, int rscale,
						bool round);

/* a - trunc(a / b) * b */
extern bool long_remainder(const LongNumber *a, const LongNumber *b, LongNumber *result);

/* neither is zero */
extern bool long_gcd(const LongNumber *a, const LongNumber *b, LongNumber *result);

/* square root of a, rounded to rscale */
extern bool long_sqrt(const LongNumber *a, LongNumber *result, int rscale);

/* e ^ a, the natural logarithm of a, rounded to rscale (as numeric_exp(), numeric_ln() choose it) */
extern bool long_exp(const LongNumber *a, LongNumber *result, int rscale);
extern bool long_ln(const LongNumber *a, LongNumber *result, int rscale);

/* the logarithm of a to that base, rounded to rscale (as numeric_log() chooses it) */
extern bool long_log(const LongNumber *base, const LongNumber *a, LongNumber *result, int rscale);

/* base ^ exponent, rounded as numeric_power() does, of a positive base and an exponent that is no int32 */
extern bool long_power(const LongNumber *base, const LongNumber *exponent, LongNumber *result);

/* a ^ n rounded to rscale, a not zero; dweight is about log10 |a ^ n|, as the server estimates it */
extern bool long_power_integer(const LongNumber *a, int n, LongNumber *result, int rscale,
							   double dweight);

/* the decimal weight of ln a as the server estimates it to choose a scale; a, right to 14 digits */
extern int	long_ln_dweight(const LongNumber *a);
extern double long_to_double(const LongNumber *a);

/* n!, for 0 <= n <= 32177 (greater ones overflow the format) */
extern bool long_factorial(int64 n, LongNumber *result);

#endif							/* LONG_ARITHMETIC_H */
