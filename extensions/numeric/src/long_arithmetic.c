/*
 * Products, quotients, square roots and factorials of long numbers: exact, then rounded.
 */
#include "long_arithmetic.h"

#include "miscadmin.h"

#include "long_digits.h"

/* One allocation holds both numbers, the product and the scratch space. A number that is squared is converted once. */
bool
long_multiply(const LongNumber *a, const LongNumber *b, LongNumber *result, int rscale)
{
	int			a_limbs = long_limbs(a->ndigits);
	int			b_limbs = long_limbs(b->ndigits);
	int			limbs = a_limbs + b_limbs;
	int			sign = a->sign == b->sign ? LONG_POSITIVE : LONG_NEGATIVE;
	uint64	   *a_number;
	uint64	   *b_number;
	uint64	   *product;

	if (limbs > PENUMBRA_LIMBS_MAX)
		return false;
	if (a->ndigits == 0 || b->ndigits == 0)
	{
		long_set_zero(result, rscale);
		return true;
	}
	CHECK_FOR_INTERRUPTS();
	a_number = palloc(2 * limbs * sizeof(uint64) +
					  penumbra_limbs_multiply_scratch_bytes(a_limbs, b_limbs));
	b_number = a_number + a_limbs;
	product = b_number + b_limbs;
	penumbra_limbs_from_digits(a->digits, a->ndigits, a_number);
	if (a->digits == b->digits && a->ndigits == b->ndigits)
		b_number = a_number;
	else
		penumbra_limbs_from_digits(b->digits, b->ndigits, b_number);
	penumbra_limbs_multiply(a_number, a_limbs, b_number, b_limbs, product, product + limbs);
	long_store_limbs(result, sign, product, limbs, long_exponent(a) + long_exponent(b), rscale,
					 true);
	pfree(a_number);
	return true;
}

/* What a division works on, in one piece of memory that begins with the quotient. */
typedef struct Division
{
	uint64	   *quotient;
	uint64	   *dividend;
	uint64	   *divisor;
	void	   *scratch;
	int			dividend_limbs;
	int			divisor_limbs;
} Division;

/* a and b with so many zero digits behind (b's fill its limbs), both without their `dropped` lowest limbs. */
static void
load_division(Division *division, const LongNumber *a, int a_zeros, const LongNumber *b, int b_zeros,
			  int quotient_limbs, int dropped)
{
	int			b_limbs = long_limbs(b->ndigits + b_zeros) - dropped;
	int			a_limbs = quotient_limbs + b_limbs - 1;

	division->quotient = palloc((a_limbs + b_limbs + quotient_limbs) * sizeof(uint64) +
								penumbra_limbs_divide_scratch_bytes(a_limbs, b_limbs) + MAXIMUM_ALIGNOF);
	division->dividend = division->quotient + quotient_limbs;
	division->divisor = division->dividend + a_limbs;
	division->scratch = (void *) TYPEALIGN(16, division->divisor + b_limbs);
	division->dividend_limbs = a_limbs;
	division->divisor_limbs = b_limbs;
	long_load_limbs(a, a_zeros - dropped * PENUMBRA_DIGITS_PER_LIMB, division->dividend);
	long_load_limbs(b, b_zeros - dropped * PENUMBRA_DIGITS_PER_LIMB, division->divisor);
}

/*
 * The quotient, rounded down, of what load_division() loads; NULL if what was dropped might matter.  With a' and b'
 * what is left, and b' of at least one limb more than the quotient, whose highest is 10^12 or more, a / b and a' / b'
 * differ by at most (a' / b') / b' <= 10^-12.
 */
static uint64 *
divide_limbs(const LongNumber *a, int a_zeros, const LongNumber *b, int b_zeros, int quotient_limbs, int dropped)
{
	Division	division;
	double		fraction;

	load_division(&division, a, a_zeros, b, b_zeros, quotient_limbs, dropped);
	fraction = penumbra_limbs_quotient(division.dividend, division.dividend_limbs, division.divisor,
									   division.divisor_limbs, division.quotient, division.scratch);
	if (dropped > 0 && (fraction < 1e-11 || fraction > 1 - 1e-11))
	{
		pfree(division.quotient);
		return NULL;
	}
	return division.quotient;
}

/*
 * The quotient is computed down to a digit below rscale, rounded down, so that rounding it half up rounds the
 * true quotient.
 */
bool
long_divide(const LongNumber *a, const LongNumber *b, LongNumber *result, int rscale, bool round)
{
	int			exponent = -(Max(rscale, 0) / LONG_BASE_DECIMALS + 2);
	int			shift = long_exponent(a) - long_exponent(b) - exponent;
	int			b_zeros = -b->ndigits & (PENUMBRA_DIGITS_PER_LIMB - 1);
	int			a_digits = a->ndigits + shift + b_zeros;
	int			b_limbs = long_limbs(b->ndigits);
	int			quotient_limbs = long_limbs(a_digits) - b_limbs + 1;
	int			sign = a->sign == b->sign ? LONG_POSITIVE : LONG_NEGATIVE;
	uint64	   *quotient = NULL;

	if (b->ndigits == 0 || a_digits >= (PENUMBRA_LIMBS_MAX - 4) * PENUMBRA_DIGITS_PER_LIMB)
		return false;
	if (a->ndigits == 0 || a_digits < b->ndigits + b_zeros)
	{
		long_set_zero(result, rscale);
		return true;
	}
	CHECK_FOR_INTERRUPTS();
	if (b_limbs > quotient_limbs + 1)
		quotient = divide_limbs(a, shift + b_zeros, b, b_zeros, quotient_limbs, b_limbs - quotient_limbs - 1);
	if (quotient == NULL)
		quotient = divide_limbs(a, shift + b_zeros, b, b_zeros, quotient_limbs, 0);
	long_store_limbs(result, sign, quotient, quotient_limbs, exponent, rscale, round);
	pfree(quotient);
	return true;
}

bool
long_remainder(const LongNumber *a, const LongNumber *b, LongNumber *result)
{
	int			rscale = Max(a->dscale, b->dscale);
	int			exponent = Min(long_exponent(a), long_exponent(b));
	int			b_digits = b->weight - exponent + 1;
	int			zeros = -b_digits & (PENUMBRA_DIGITS_PER_LIMB - 1);	/* so that b's highest limb is high */
	int			b_limbs = long_limbs(b_digits);
	int			a_limbs = long_limbs(a->weight - exponent + 1 + zeros);
	int			quotient_limbs = a_limbs - b_limbs + 1;
	Division	division;

	if (b->ndigits == 0 || a->ndigits == 0 || Max(a_limbs, b_limbs) > PENUMBRA_LIMBS_MAX - 4)
		return false;
	if (quotient_limbs < 1)
	{
		*result = *a;
		result->dscale = rscale;
		return true;
	}
	CHECK_FOR_INTERRUPTS();
	load_division(&division, a, long_exponent(a) - exponent + zeros, b, long_exponent(b) - exponent + zeros,
				  quotient_limbs, 0);
	penumbra_limbs_divide(division.dividend, a_limbs, division.divisor, b_limbs, division.quotient,
						  division.dividend, division.scratch);
	long_store_limbs(result, a->sign, division.dividend, b_limbs, exponent - zeros, rscale, false);
	pfree(division.quotient);
	return true;
}

/* The root is computed down to a digit below rscale, rounded down. */
bool
long_sqrt(const LongNumber *a, LongNumber *result, int rscale)
{
	int			exponent = -(Max(rscale, 0) / LONG_BASE_DECIMALS + 2);
	int			shift = long_exponent(a) - 2 * exponent;
	int			above;
	int			root_limbs;
	uint64	   *number;
	uint64	   *root;

	if (a->ndigits == 0)
	{
		long_set_zero(result, rscale);
		return true;
	}
	if (a->sign == LONG_NEGATIVE || rscale < 0)
		return false;

	/* The number of limbs is even, and none of them is a leading zero. */
	above = (a->ndigits + shift) % (2 * PENUMBRA_DIGITS_PER_LIMB);
	while (above > 0 && above <= PENUMBRA_DIGITS_PER_LIMB)
	{
		exponent--;
		shift += 2;
		above += 2;
	}
	if (a->ndigits + shift > PENUMBRA_LIMBS_MAX * PENUMBRA_DIGITS_PER_LIMB)
		return false;
	if (a->ndigits + shift <= 0)
	{
		/* below the square of a digit below rscale */
		long_set_zero(result, rscale);
		return true;
	}
	CHECK_FOR_INTERRUPTS();
	root_limbs = long_limbs(a->ndigits + shift) / 2;
	number = palloc(3 * root_limbs * sizeof(uint64) + penumbra_limbs_root_scratch_bytes(root_limbs) +
					MAXIMUM_ALIGNOF);
	root = number + 2 * root_limbs;
	long_load_limbs(a, shift, number);
	penumbra_limbs_root(number, root_limbs, root, (void *) TYPEALIGN(16, root + root_limbs));
	long_store_limbs(result, LONG_POSITIVE, root, root_limbs, exponent, rscale, true);
	pfree(number);
	return true;
}

/* number (allocated, of *nlimbs limbs) = first * (first + 1) * ... * last */
static uint64 *
product_of_range(uint64 first, uint64 last, int *nlimbs)
{
	uint64	   *left;
	uint64	   *right;
	uint64	   *product;
	void	   *scratch;
	int			left_limbs;
	int			right_limbs;

	if (last - first < 16)
	{
		product = palloc((last - first + 2) * sizeof(uint64));
		product[0] = first;
		*nlimbs = 1;
		for (uint64 factor = first + 1; factor <= last; factor++)
		{
			uint64		high = penumbra_limbs_multiply_small(product, *nlimbs, factor, 0, product);

			if (high > 0)
				product[(*nlimbs)++] = high;
		}
		return product;
	}
	CHECK_FOR_INTERRUPTS();
	left = product_of_range(first, (first + last) / 2, &left_limbs);
	right = product_of_range((first + last) / 2 + 1, last, &right_limbs);
	product = palloc((left_limbs + right_limbs) * sizeof(uint64));
	scratch = palloc(penumbra_limbs_multiply_scratch_bytes(left_limbs, right_limbs));
	penumbra_limbs_multiply(left, left_limbs, right, right_limbs, product, scratch);
	*nlimbs = left_limbs + right_limbs;
	if (product[*nlimbs - 1] == 0)
		(*nlimbs)--;
	pfree(left);
	pfree(right);
	pfree(scratch);
	return product;
}

bool
long_factorial(int64 n, LongNumber *result)
{
	uint64	   *product;
	int			nlimbs;

	if (n < 0 || n > 32177)
		return false;
	product = product_of_range(1, Max(n, 1), &nlimbs);
	long_store_limbs(result, LONG_POSITIVE, product, nlimbs, 0, 0, true);
	pfree(product);
	return true;
}
