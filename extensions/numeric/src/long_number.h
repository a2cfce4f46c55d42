/*
 * Long numbers: operands and results of long_arithmetic.h.
 */
#ifndef LONG_NUMBER_H
#define LONG_NUMBER_H

#include "postgres.h"

/* As in the server's NumericVar and in its on-disk format. */
#define LONG_POSITIVE	0x0000
#define LONG_NEGATIVE	0x4000

/* sign * sum of digits[i] * 10000 ^ (weight - i); zero has no digits, weight 0 and is positive */
typedef struct LongNumber
{
	int			sign;
	int			weight;
	int			dscale;
	int			ndigits;
	int16	   *digits;
} LongNumber;

#endif							/* LONG_NUMBER_H */
