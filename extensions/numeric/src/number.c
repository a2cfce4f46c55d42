/*-------------------------------------------------------------------------
 *
 * number.c
 *	  Writing the stored form of numeric.  See number.h.
 *
 *-------------------------------------------------------------------------
 */
#include "number.h"

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

/*
 * A number without its digits, of so many bytes, for which there are
 * room_bytes where *digits points.
 */
static inline Datum
encode_header(bool is_negative, int weight, int dscale, Size digit_bytes, Size room_bytes,
			  char **digits)
{
	bool		is_short = dscale <= 63 && weight >= -64 && weight <= 63;
	Size		header_bytes = VARHDRSZ + (is_short ? sizeof(uint16) : 2 * sizeof(uint16));
	char	   *result;
	uint16	   *header;

	if (unlikely(!is_short && (weight < PG_INT16_MIN || weight > NUMBER_WEIGHT_MAX ||
							   dscale > NUMBER_DSCALE_MAX)))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value overflows numeric format")));
	result = palloc(header_bytes + room_bytes);
	SET_VARSIZE(result, header_bytes + digit_bytes);
	header = (uint16 *) (result + VARHDRSZ);
	if (likely(is_short))
		header[0] = NUMBER_SHORT_FORM | (is_negative ? 0x2000 : 0) | (dscale << 7) |
			(weight & 0x7F);
	else
	{
		header[0] = (is_negative ? 0x4000 : 0) | dscale;
		header[1] = (uint16) (int16) weight;
	}
	*digits = result + header_bytes;
	return PointerGetDatum(result);
}

/* digits must have neither leading nor trailing zero digits. */
static Datum
encode_stripped(bool is_negative, int weight, int dscale, const int16 *digits, int ndigits)
{
	Size		bytes = ndigits * sizeof(int16);
	char	   *place;
	Datum		result = encode_header(is_negative, weight, dscale, bytes, bytes, &place);

	/* memcpy() may not be given NULL, which zero's digits are */
	if (bytes > 0)
		memcpy(place, digits, bytes);
	return result;
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

static inline void
store_word(char *to, uint64 word)
{
#ifdef WORDS_BIGENDIAN
	for (int i = 0; i < NUMBER_WORD_DIGITS; i++, word >>= 16)
		((int16 *) to)[i] = (int16) word;
#else
	memcpy(to, &word, sizeof(word));
#endif
}

/*
 * As number_encode(), of the eight digits in two words (number_word()).
 * Whole words are stored, so there may be up to 6 bytes behind the number.
 */
Datum
number_encode_words(bool is_negative, int weight, int dscale, uint64 high, uint64 low)
{
	uint128		digits = (uint128) low << 64 | high;
	int			leading_bits;
	int			trailing_bits;
	int			ndigits;
	char	   *place;
	Datum		result;

	if (unlikely(digits == 0))
		return encode_header(false, 0, dscale, 0, 0, &place);
	leading_bits = high != 0 ? __builtin_ctzll(high) : 64 + __builtin_ctzll(low);
	trailing_bits = low != 0 ? __builtin_clzll(low) : 64 + __builtin_clzll(high);
	ndigits = 2 * NUMBER_WORD_DIGITS - leading_bits / 16 - trailing_bits / 16;
	digits >>= leading_bits & ~15;
	result = encode_header(is_negative, weight - leading_bits / 16, dscale,
						   ndigits * sizeof(int16),
						   (ndigits <= NUMBER_WORD_DIGITS ? 1 : 2) * sizeof(uint64), &place);
	store_word(place, (uint64) digits);
	if (ndigits > NUMBER_WORD_DIGITS)
		store_word(place + sizeof(uint64), (uint64) (digits >> 64));
	return result;
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

/*
 * The digits of coefficient, at the end of the array.  Returns where they
 * begin; up to three zero ones may come first.
 */
int
number_split_coefficient(uint128 coefficient, int16 digits[NUMBER_COEFFICIENT_DIGITS_MAX])
{
	const uint64 group_size = UINT64CONST(10000000000000000);
	int			first = NUMBER_COEFFICIENT_DIGITS_MAX;

	while (coefficient >= group_size)
	{
		uint128		quotient = (uint64) (coefficient >> 64) == 0
			? (uint64) coefficient / group_size : coefficient / group_size;

		split_four((uint64) coefficient - (uint64) quotient * group_size, digits + first);
		coefficient = quotient;
		first -= 4;
	}
	split_four((uint64) coefficient, digits + first);
	return first - 4;
}

/* The number coefficient * 10^(4 * exponent). */
Datum
number_encode_coefficient(bool is_negative, uint128 coefficient, int exponent, int dscale)
{
	int16		digits[NUMBER_COEFFICIENT_DIGITS_MAX];
	int			first;
	const uint64 group_size = UINT64CONST(10000000000000000);
	uint128		high = (uint64) (coefficient >> 64) == 0
		? (uint64) coefficient / group_size : coefficient / group_size;

	if (likely(high < group_size))
	{
		uint64		low = (uint64) coefficient - (uint64) high * group_size;

		return number_encode_words(is_negative, exponent + 2 * NUMBER_WORD_DIGITS - 1, dscale,
								   number_word((uint64) high), number_word(low));
	}
	first = number_split_coefficient(coefficient, digits);
	return number_encode(is_negative, exponent + NUMBER_COEFFICIENT_DIGITS_MAX - first - 1, dscale,
						 digits + first, NUMBER_COEFFICIENT_DIGITS_MAX - first);
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
