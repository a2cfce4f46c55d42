/*-------------------------------------------------------------------------
 *
 * long_call.h
 *	  From stored numbers to those of long_arithmetic.h, and back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_NUMERIC_LONG_CALL_H
#define PENUMBRA_NUMERIC_LONG_CALL_H

#include "pg_compat.h"

#include "long_arithmetic.h"
#include "number.h"

/*
 * From how many digits of base 10^4 on long_arithmetic.h beats the server, as
 * measured; README.md tells how, with LONG_ALWAYS.  Of products and quotients,
 * it is the shorter operand (the divisor) that counts.
 */
#ifdef LONG_ALWAYS
#define LONG_FROM(digits) 1
#else
#define LONG_FROM(digits) (digits)
#endif
#define LONG_MULTIPLY_DIGITS_MIN LONG_FROM(10)
#define LONG_DIVIDE_DIGITS_MIN LONG_FROM(COMPAT_NUMERIC_DIVIDES_BY_WIDE_DIGITS ? 50 : 10)
#define LONG_SQRT_DIGITS_MIN LONG_FROM(10)
#define LONG_GCD_DIGITS_MIN LONG_FROM(3)	/* of the shorter one */
#define LONG_EXP_SCALE_MIN LONG_FROM(50)	/* decimals of the result */
#define LONG_LN_SCALE_MIN LONG_FROM(70)
#define LONG_LOG_DECIMALS_MIN LONG_FROM(50)	/* significant ones of the result */
#define LONG_POWER_DECIMALS_MIN LONG_FROM(50)
#define LONG_INTEGER_POWER_DECIMALS_MIN LONG_FROM(60)

static inline LongNumber
long_operand(const NumberView *view)
{
	LongNumber	number;

	number.sign = view->is_negative ? LONG_NEGATIVE : LONG_POSITIVE;
	number.weight = view->weight;
	number.dscale = view->dscale;
	number.ndigits = view->ndigits;
	number.digits = (int16 *) view->digits;
	if (((uintptr_t) view->digits & (sizeof(int16) - 1)) != 0)
	{
		number.digits = palloc(view->ndigits * sizeof(int16));
		memcpy(number.digits, view->digits, view->ndigits * sizeof(int16));
	}
	return number;
}

static inline Datum
long_encode(const LongNumber *number)
{
	return number_encode(number->sign == LONG_NEGATIVE, number->weight, number->dscale,
						 number->digits, number->ndigits);
}

#endif							/* PENUMBRA_NUMERIC_LONG_CALL_H */
