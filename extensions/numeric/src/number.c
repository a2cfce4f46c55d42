/*-------------------------------------------------------------------------
 *
 * number.c
 *	  Writing the stored form of numeric.  See number.h.
 *
 *-------------------------------------------------------------------------
 */
#include "number.h"

/* The largest coefficient is below 2^128 < 10^40; digits are split off in groups of four. */
#define COEFFICIENT_DIGITS_MAX 12

const uint64 number_powers_of_ten[20] = {
	UINT64CONST(1),
	UINT64CONST(10),
	UINT64CONST(100),
	UINT64CONST(1000),
	UINT64CONST(10000),
	UINT64CONST(100000),
	UINT64CONST(1000000),
	UINT64CONST(10000000),
	UINT64CONST(100000000),
	UINT64CONST(1000000000),
	UINT64CONST(10000000000),
	UINT64CONST(100000000000),
	UINT64CONST(1000000000000),
	UINT64CONST(10000000000000),
	UINT64CONST(100000000000000),
	UINT64CONST(1000000000000000),
	UINT64CONST(10000000000000000),
	UINT64CONST(100000000000000000),
	UINT64CONST(1000000000000000000),
	UINT64CONST(10000000000000000000)
};

/* digits must have neither leading nor trailing zero digits. */
static inline Datum
encode_stripped(bool is_negative, int weight, int dscale, const int16 *digits, int ndigits)
{
	bool		is_short = dscale <= 63 && weight >= -64 && weight <= 63;
	Size		header_bytes = is_short ? sizeof(uint16) : 2 * sizeof(uint16);
	Size		bytes = VARHDRSZ + header_bytes + ndigits * sizeof(int16);
	char	   *result;
	uint16	   *header;

	if (unlikely(!is_short && (weight < PG_INT16_MIN || weight > NUMBER_WEIGHT_MAX ||
							   dscale > NUMBER_DSCALE_MAX)))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value overflows numeric format")));
	result = palloc(bytes);
	SET_VARSIZE(result, bytes);
	header = (uint16 *) (result + VARHDRSZ);
	if (likely(is_short))
		header[0] = NUMBER_SHORT_FORM | (is_negative ? 0x2000 : 0) | (dscale << 7) |
			(weight & 0x7F);
	else
	{
		header[0] = (is_negative ? 0x4000 : 0) | dscale;
		header[1] = (uint16) (int16) weight;
	}
	memcpy(result + VARHDRSZ + header_bytes, digits, ndigits * sizeof(int16));
	return PointerGetDatum(result);
}

/* As the server's make_result(): leading and trailing zero digits are left out. */
Datum
number_encode(bool is_negative, int weight, int dscale, const int16 *digits, int ndigits)
{
	while (ndigits > 0 && digits[0] == 0)
	{
		digits++;
		weight--;
		ndigits--;
	}
	while (ndigits > 0 && digits[ndigits - 1] == 0)
		ndigits--;
	if (ndigits == 0)
		return encode_stripped(false, 0, dscale, digits, 0);
	return encode_stripped(is_negative, weight, dscale, digits, ndigits);
}

/* Writes the four digits of value < 10^16 before end. */
static inline void
split_four(uint64 value, int16 *end)
{
	uint32		high = value / 100000000;
	uint32		low = value % 100000000;

	end[-4] = high / NUMBER_BASE;
	end[-3] = high % NUMBER_BASE;
	end[-2] = low / NUMBER_BASE;
	end[-1] = low % NUMBER_BASE;
}

/* The number coefficient * 10^(4 * exponent). */
Datum
number_encode_coefficient(bool is_negative, uint128 coefficient, int exponent, int dscale)
{
	int16		digits[COEFFICIENT_DIGITS_MAX];
	int			end = COEFFICIENT_DIGITS_MAX;
	int			first = COEFFICIENT_DIGITS_MAX;
	uint64		group_size = number_powers_of_ten[16];

	while (coefficient >= group_size)
	{
		uint64		group;

		if ((uint64) (coefficient >> 64) == 0)
		{
			group = (uint64) coefficient % group_size;
			coefficient = (uint64) coefficient / group_size;
		}
		else
		{
			uint128		quotient = coefficient / group_size;

			group = (uint64) coefficient - (uint64) quotient * group_size;
			coefficient = quotient;
		}
		split_four(group, digits + first);
		first -= 4;
	}
	split_four((uint64) coefficient, digits + first);
	first -= 4;

	while (first < end && digits[first] == 0)
		first++;
	if (first == end)
		return encode_stripped(false, 0, dscale, digits, 0);
	while (digits[end - 1] == 0)
		end--;
	return encode_stripped(is_negative, exponent + COEFFICIENT_DIGITS_MAX - first - 1, dscale,
						   digits + first, end - first);
}

/* value / 10^scale */
Datum
number_encode_scaled(bool is_negative, uint128 value, int scale)
{
	int			padding = -scale & (NUMBER_BASE_DIGITS - 1);

	return number_encode_coefficient(is_negative, value * number_powers_of_ten[padding],
									 -(scale + padding) / NUMBER_BASE_DIGITS, scale);
}

Datum
number_from_int64(int64 value)
{
	return number_encode_coefficient(value < 0, value < 0 ? -(uint64) value : (uint64) value, 0, 0);
}
