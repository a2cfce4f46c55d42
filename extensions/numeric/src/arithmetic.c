/*-------------------------------------------------------------------------
 *
 * arithmetic.c
 *	  + - * / % and their relatives.
 *
 * Each function first tries the operands as 128-bit integers over a common
 * power of 10^4, then long_arithmetic.h, then calls the server's function,
 * which thereby also raises every error and handles every special value.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include <math.h>

#include "long_call.h"

#define LIMB_BASE UINT64CONST(100000000)
#define QUOTIENT_DIGITS_MAX 35	/* decimal digits: with up to 3 zeros appended, below 2^127 */

/* Both operands as integers times 10^(4 * exponent). */
typedef struct AlignedPair
{
	uint128		left;
	uint128		right;
	int			exponent;
	int			dscale;
} AlignedPair;

/* False if the aligned digits are too many, or one is no finite number. */
static inline bool
align(const NumberView *left, const NumberView *right, AlignedPair *pair)
{
	int			left_exponent = number_exponent(left);
	int			right_exponent = number_exponent(right);
	int			exponent = Min(left_exponent, right_exponent);

	if (unlikely((left->special | right->special) != 0 ||
				 Max(left->weight, right->weight) - exponent >= NUMBER_SHORT_DIGITS_MAX))
		return false;
	pair->left = number_coefficient(left);
	pair->right = number_coefficient(right);
	if (left_exponent > exponent)
		pair->left *= number_power_of_base(left_exponent - exponent);
	else if (right_exponent > exponent)
		pair->right *= number_power_of_base(right_exponent - exponent);
	pair->exponent = exponent;
	pair->dscale = Max(left->dscale, right->dscale);
	return true;
}

static inline bool
short_sum(const NumberView *left, const NumberView *right, bool is_right_negative, Datum *result)
{
	AlignedPair pair;
	int128		sum;

	if (!align(left, right, &pair))
		return false;
	sum = left->is_negative ? -(int128) pair.left : (int128) pair.left;
	sum += is_right_negative ? -(int128) pair.right : (int128) pair.right;
	*result = number_encode_coefficient(sum < 0, sum < 0 ? -sum : sum, pair.exponent, pair.dscale);
	return true;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_add);
Datum
penumbra_numeric_add(PG_FUNCTION_ARGS)
{
	NumberView	left;
	NumberView	right;
	Datum		result;

	number_view(PG_GETARG_DATUM(0), &left);
	number_view(PG_GETARG_DATUM(1), &right);
	if (short_sum(&left, &right, right.is_negative, &result))
		return result;
	return SERVER_CALL2(numeric_add);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_sub);
Datum
penumbra_numeric_sub(PG_FUNCTION_ARGS)
{
	NumberView	left;
	NumberView	right;
	Datum		result;

	number_view(PG_GETARG_DATUM(0), &left);
	number_view(PG_GETARG_DATUM(1), &right);
	if (short_sum(&left, &right, !right.is_negative, &result))
		return result;
	return SERVER_CALL2(numeric_sub);
}

/* The digits, at most four, as two limbs of base 10^8. */
static inline void
split_limbs(const NumberView *number, uint64 *high, uint64 *low)
{
	int			n = number->ndigits;

	*high = 0;
	*low = 0;
	switch (n)
	{
		case 4:
			*high = number_digit(number, 0) * NUMBER_BASE;
			pg_fallthrough;
		case 3:
			*high += number_digit(number, n - 3);
			pg_fallthrough;
		case 2:
			*low = number_digit(number, n - 2) * NUMBER_BASE;
			pg_fallthrough;
		case 1:
			*low += number_digit(number, n - 1);
	}
}

/*
 * The product of numbers of up to four digits, which is what most columns hold:
 * schoolbook with limbs of base 10^8, so that no 128-bit number is divided.
 */
static inline Datum
multiply_small(const NumberView *left, const NumberView *right, int dscale)
{
	uint64		left_high;
	uint64		left_low;
	uint64		right_high;
	uint64		right_low;
	uint64		lowest;
	uint64		middle;
	uint64		highest;
	uint64		low_word;

	split_limbs(left, &left_high, &left_low);
	split_limbs(right, &right_high, &right_low);
	lowest = left_low * right_low;
	middle = lowest / LIMB_BASE + left_high * right_low + left_low * right_high;
	highest = middle / LIMB_BASE + left_high * right_high;
	low_word = number_half_word(middle % LIMB_BASE) |
		(uint64) number_half_word(lowest % LIMB_BASE) << 32;
	return number_encode_words(left->is_negative != right->is_negative,
							   number_exponent(left) + number_exponent(right) + 7, dscale,
							   number_word(highest), low_word);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_mul);
Datum
penumbra_numeric_mul(PG_FUNCTION_ARGS)
{
	NumberView	left;
	NumberView	right;
	int			dscale;

	number_view(PG_GETARG_DATUM(0), &left);
	number_view(PG_GETARG_DATUM(1), &right);
	dscale = left.dscale + right.dscale;
	if (likely((left.special | right.special) == 0 && dscale <= NUMBER_DSCALE_MAX))
	{
		if (likely(left.ndigits <= 4 && right.ndigits <= 4))
			return multiply_small(&left, &right, dscale);
		if (left.ndigits + right.ndigits <= NUMBER_SHORT_DIGITS_MAX)
			return number_encode_coefficient(left.is_negative != right.is_negative,
											 number_coefficient(&left) * number_coefficient(&right),
											 number_exponent(&left) + number_exponent(&right),
											 dscale);
		if (Min(left.ndigits, right.ndigits) >= LONG_MULTIPLY_DIGITS_MIN)
		{
			LongNumber	a = long_operand(&left);
			LongNumber	b = long_operand(&right);
			LongNumber	product;

			if (long_multiply(&a, &b, &product, dscale))
				return long_encode(&product);
		}
	}
	return SERVER_CALL2(numeric_mul);
}

/* The server's select_div_scale(), for operands that are not zero. */
static int
quotient_scale(const NumberView *dividend, const NumberView *divisor)
{
	int			weight = dividend->weight - divisor->weight;

	if (number_digit(dividend, 0) <= number_digit(divisor, 0))
		weight--;
	return number_result_scale(weight * NUMBER_BASE_DIGITS, Max(dividend->dscale, divisor->dscale));
}

/*
 * The quotient of dividend * 10^zeros by divisor, rounded half up: long
 * division that brings down up to 18 zeros a step, so that the remainder
 * (below 10^16) stays below 10^34.
 */
static uint128
rounded_quotient(uint128 dividend, uint64 divisor, int zeros)
{
	uint128		quotient;
	uint64		remainder;

	if ((uint64) (dividend >> 64) == 0)
	{
		quotient = (uint64) dividend / divisor;
		remainder = (uint64) dividend % divisor;
	}
	else
	{
		quotient = dividend / divisor;
		remainder = (uint64) dividend - (uint64) quotient * divisor;
	}
	while (zeros > 0)
	{
		int			step = Min(zeros, 18);
		uint128		partial = (uint128) remainder * number_powers_of_ten[step];
		uint64		digits = partial / divisor;

		remainder = (uint64) partial - digits * divisor;
		quotient = quotient * number_powers_of_ten[step] + digits;
		zeros -= step;
	}
	return quotient + (remainder >= divisor - remainder);
}

/*
 * Returns false for zeros and special values, for a divisor beyond 64 bits, and
 * where 128 bits may not hold dividend or quotient.
 */
static bool
short_quotient(const NumberView *dividend, const NumberView *divisor, Datum *result)
{
	int			scale;
	int			zeros;
	uint128		quotient;

	if ((dividend->special | divisor->special) != 0 || divisor->ndigits == 0 ||
		dividend->ndigits == 0 || dividend->ndigits > NUMBER_SHORT_DIGITS_MAX ||
		divisor->ndigits > 4)
		return false;
	scale = quotient_scale(dividend, divisor);
	zeros = (number_exponent(dividend) - number_exponent(divisor)) * NUMBER_BASE_DIGITS + scale;
	if (zeros < 0 ||
		(dividend->weight + 1 - divisor->weight) * NUMBER_BASE_DIGITS + scale > QUOTIENT_DIGITS_MAX)
		return false;
	quotient = rounded_quotient(number_coefficient(dividend),
								number_digits_as_uint64(divisor, 0, divisor->ndigits), zeros);
	*result = number_encode_scaled(dividend->is_negative != divisor->is_negative, quotient, scale);
	return true;
}

/* rounds to scale, or truncates to it */
static bool
long_quotient(const NumberView *dividend, const NumberView *divisor, int scale, bool round,
			  Datum *result)
{
	LongNumber	a;
	LongNumber	b;
	LongNumber	quotient;

	if ((dividend->special | divisor->special) != 0 || dividend->ndigits == 0 ||
		divisor->ndigits < LONG_DIVIDE_DIGITS_MIN)
		return false;
	a = long_operand(dividend);
	b = long_operand(divisor);
	if (!long_divide(&a, &b, &quotient, scale, round))
		return false;
	*result = long_encode(&quotient);
	return true;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_div);
Datum
penumbra_numeric_div(PG_FUNCTION_ARGS)
{
	NumberView	dividend;
	NumberView	divisor;
	Datum		result;

	number_view(PG_GETARG_DATUM(0), &dividend);
	number_view(PG_GETARG_DATUM(1), &divisor);
	if (short_quotient(&dividend, &divisor, &result))
		return result;
	if (dividend.ndigits > 0 && divisor.ndigits > 0 &&
		long_quotient(&dividend, &divisor, quotient_scale(&dividend, &divisor), true, &result))
		return result;
	return SERVER_CALL2(numeric_div);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_div_trunc);
Datum
penumbra_numeric_div_trunc(PG_FUNCTION_ARGS)
{
	NumberView	dividend;
	NumberView	divisor;
	AlignedPair pair;
	Datum		result;

	number_view(PG_GETARG_DATUM(0), &dividend);
	number_view(PG_GETARG_DATUM(1), &divisor);
	if (align(&dividend, &divisor, &pair) && pair.right != 0)
		return number_encode_coefficient(dividend.is_negative != divisor.is_negative,
										 pair.left / pair.right, 0, 0);
	if (long_quotient(&dividend, &divisor, 0, false, &result))
		return result;
	return SERVER_CALL2(numeric_div_trunc);
}

static inline uint128
remainder_of(uint128 dividend, uint128 divisor)
{
	if ((uint64) (dividend >> 64) == 0 && (uint64) (divisor >> 64) == 0)
		return (uint64) dividend % (uint64) divisor;
	return dividend % divisor;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_mod);
Datum
penumbra_numeric_mod(PG_FUNCTION_ARGS)
{
	NumberView	dividend;
	NumberView	divisor;
	AlignedPair pair;

	number_view(PG_GETARG_DATUM(0), &dividend);
	number_view(PG_GETARG_DATUM(1), &divisor);
	if (align(&dividend, &divisor, &pair) && pair.right != 0)
		return number_encode_coefficient(dividend.is_negative,
										 remainder_of(pair.left, pair.right), pair.exponent,
										 pair.dscale);
	if ((dividend.special | divisor.special) == 0 && dividend.ndigits > 0 &&
		divisor.ndigits >= LONG_DIVIDE_DIGITS_MIN)
	{
		LongNumber	a = long_operand(&dividend);
		LongNumber	b = long_operand(&divisor);
		LongNumber	remainder;

		if (long_remainder(&a, &b, &remainder))
			return long_encode(&remainder);
	}
	return SERVER_CALL2(numeric_mod);
}

/* Euclid's: at most some 180 steps, each of which makes the numbers smaller by a bit on average. */
static uint128
greatest_common_divisor(uint128 left, uint128 right)
{
	while (right != 0)
	{
		uint128		remainder = remainder_of(left, right);

		left = right;
		right = remainder;
	}
	return left;
}

/* The divisor of two numbers that are not zero, and the numbers as its functions take them. */
static bool
long_divisor(const NumberView *left, const NumberView *right, LongNumber *a, LongNumber *b,
			 LongNumber *divisor)
{
	if ((left->special | right->special) != 0 ||
		Min(left->ndigits, right->ndigits) < LONG_GCD_DIGITS_MIN)
		return false;
	*a = long_operand(left);
	*b = long_operand(right);
	return long_gcd(a, b, divisor);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_gcd);
Datum
penumbra_numeric_gcd(PG_FUNCTION_ARGS)
{
	NumberView	left;
	NumberView	right;
	AlignedPair pair;
	LongNumber	a;
	LongNumber	b;
	LongNumber	divisor;

	number_view(PG_GETARG_DATUM(0), &left);
	number_view(PG_GETARG_DATUM(1), &right);
	if (align(&left, &right, &pair))
		return number_encode_coefficient(false, greatest_common_divisor(pair.left, pair.right),
										 pair.exponent, pair.dscale);
	if (long_divisor(&left, &right, &a, &b, &divisor))
		return long_encode(&divisor);
	return SERVER_CALL2(numeric_gcd);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_lcm);
Datum
penumbra_numeric_lcm(PG_FUNCTION_ARGS)
{
	NumberView	left;
	NumberView	right;
	AlignedPair pair;
	uint128		multiple;
	LongNumber	a;
	LongNumber	b;
	LongNumber	divisor;
	LongNumber	quotient;
	LongNumber	product;

	number_view(PG_GETARG_DATUM(0), &left);
	number_view(PG_GETARG_DATUM(1), &right);
	if (align(&left, &right, &pair) && pair.left != 0 && pair.right != 0 &&
		!__builtin_mul_overflow(pair.left / greatest_common_divisor(pair.left, pair.right),
								pair.right, &multiple))
		return number_encode_coefficient(false, multiple, pair.exponent, pair.dscale);
	if (long_divisor(&left, &right, &a, &b, &divisor) &&
		long_divide(&a, &divisor, &quotient, 0, false) &&
		long_multiply(&quotient, &b, &product, Max(a.dscale, b.dscale)))
	{
		product.sign = LONG_POSITIVE;
		return long_encode(&product);
	}
	return SERVER_CALL2(numeric_lcm);
}

/* The square root of value, rounded down. */
static uint64
integer_square_root(uint128 value)
{
	uint64		root = sqrt((double) value);

	/* 53 bits are right; one step of Newton's doubles them, what is left is an error of one. */
	if (root != 0)
		root = (root + (uint64) (value / root)) / 2;
	while ((uint128) root * root > value)
		root--;
	while ((uint128) (root + 1) * (root + 1) <= value)
		root++;
	return root;
}

/* The server rounds the exact root half up, and so do we: no tie is possible. */
static bool
short_square_root(const NumberView *number, int scale, Datum *result)
{
	int			zeros = number_exponent(number) * NUMBER_BASE_DIGITS + 2 * scale;
	uint128		radicand;
	uint128		root;

	if (number->ndigits > NUMBER_SHORT_DIGITS_MAX || zeros < 0 || number->ndigits * NUMBER_BASE_DIGITS + zeros > 37)
		return false;
	radicand = number_coefficient(number) * number_powers_of_ten[zeros % 18];
	for (int i = zeros / 18; i > 0; i--)
		radicand *= number_powers_of_ten[18];
	root = integer_square_root(radicand);
	root += radicand - root * root > root;
	*result = number_encode_scaled(false, root, scale);
	return true;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_sqrt);
Datum
penumbra_numeric_sqrt(PG_FUNCTION_ARGS)
{
	NumberView	number;
	LongNumber	operand;
	LongNumber	root;
	int			scale;
	Datum		result;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.special != 0 || number.is_negative || number.ndigits == 0)
		return SERVER_CALL1(numeric_sqrt);
	scale = number_result_scale(number.weight * NUMBER_BASE_DIGITS / 2 + 1, number.dscale);
	if (short_square_root(&number, scale, &result))
		return result;
	if (number.ndigits >= LONG_SQRT_DIGITS_MIN)
	{
		operand = long_operand(&number);
		if (long_sqrt(&operand, &root, scale))
			return long_encode(&root);
	}
	return SERVER_CALL1(numeric_sqrt);
}

/* A copy with the sign bit (of either form) cleared or flipped; as the server's, it keeps the form. */
static Datum
copy_with_sign(Datum datum, bool flip)
{
	struct varlena *value = pg_detoast_datum_packed((struct varlena *) DatumGetPointer(datum));
	Size		bytes = VARSIZE_ANY_EXHDR(value);
	char	   *result = palloc(VARHDRSZ + bytes);
	uint16	   *header = (uint16 *) (result + VARHDRSZ);
	uint16		sign_bit;

	SET_VARSIZE(result, VARHDRSZ + bytes);
	memcpy(result + VARHDRSZ, VARDATA_ANY(value), bytes);
	sign_bit = (*header & NUMBER_SHORT_FORM) != 0 ? 0x2000 : 0x4000;
	*header = flip ? *header ^ sign_bit : *header & ~sign_bit;
	return PointerGetDatum(result);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_abs);
Datum
penumbra_numeric_abs(PG_FUNCTION_ARGS)
{
	/* an infinity's sign is where a short form's is, and NaN has none */
	return copy_with_sign(PG_GETARG_DATUM(0), false);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_uminus);
Datum
penumbra_numeric_uminus(PG_FUNCTION_ARGS)
{
	NumberView	number;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.ndigits > 0)
		return copy_with_sign(PG_GETARG_DATUM(0), true);
	return SERVER_CALL1(numeric_uminus);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_sign);
Datum
penumbra_numeric_sign(PG_FUNCTION_ARGS)
{
	NumberView	number;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.special != 0)
		return SERVER_CALL1(numeric_sign);
	return number_encode_coefficient(number.is_negative, number.ndigits > 0, 0, 0);
}
