/*
 * Arithmetic on long non-negative decimal integers, callable from C.
 *
 * A number is an array of limbs of base 10^16, the lowest first; its length is given, and it may
 * have leading zero limbs. Outside stand digits of base 10^4, the highest first, as PostgreSQL
 * stores them. Nothing is allocated: functions that need scratch memory take it, with the size that
 * their ..._scratch_bytes tells. Outputs must not overlap inputs or scratch, except where it is
 * said.
 */
#ifndef PENUMBRA_DIGITS_H
#define PENUMBRA_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PENUMBRA_LIMB_BASE UINT64_C(10000000000000000)
#define PENUMBRA_DIGITS_PER_LIMB 4

/* A product has at most this many limbs (393,216 decimal digits; it takes a few milliseconds). */
#define PENUMBRA_LIMBS_MAX 24576

/* (digit_count + 3) / 4 limbs from digits; 4 * limb_count digits from limbs. */
void penumbra_limbs_from_digits(const int16_t *digits, size_t digit_count, uint64_t *limbs);
void penumbra_limbs_to_digits(const uint64_t *limbs, size_t limb_count, int16_t *digits);

/* Less than, equal to, greater than 0 as a is to b, both of n limbs. */
int penumbra_limbs_compare(const uint64_t *a, const uint64_t *b, size_t n);

/* a + b and a - b, b_limbs <= a_limbs. The result has a_limbs and may be a or b; returned is the
 * carry or borrow, 0 or 1. */
uint64_t penumbra_limbs_add(const uint64_t *a, size_t a_limbs, const uint64_t *b, size_t b_limbs, uint64_t *sum);
uint64_t penumbra_limbs_subtract(const uint64_t *a, size_t a_limbs, const uint64_t *b, size_t b_limbs,
                                 uint64_t *difference);

/* a * factor + addend, both less than the base; returned is the highest limb. product may be a. */
uint64_t penumbra_limbs_multiply_small(const uint64_t *a, size_t n, uint64_t factor, uint64_t addend,
                                       uint64_t *product);

/* a / divisor, 0 < divisor < base; returned is the remainder. quotient may be a. */
uint64_t penumbra_limbs_divide_small(const uint64_t *a, size_t n, uint64_t divisor, uint64_t *quotient);

/* a * b, of a_limbs + b_limbs <= PENUMBRA_LIMBS_MAX limbs; a square (a == b) is faster. */
size_t penumbra_limbs_multiply_scratch_bytes(size_t a_limbs, size_t b_limbs);
void penumbra_limbs_multiply(const uint64_t *a, size_t a_limbs, const uint64_t *b, size_t b_limbs, uint64_t *product,
                             void *scratch);

/*
 * The same without its `dropped` lowest limbs, whose places in product are left undefined; the rest may be less by
 * one. Up to 3,500 decimals this takes the less time the more are dropped.
 */
void penumbra_limbs_multiply_high(const uint64_t *a, size_t a_limbs, const uint64_t *b, size_t b_limbs, size_t dropped,
                                  uint64_t *product, void *scratch);

/*
 * a / b rounded down (a_limbs - b_limbs + 1 limbs) and the remainder (b_limbs). a has at least as
 * many limbs as b; the highest limb of b is at least 10^12 (multiply both by a power of 10^4 to
 * make it so). The remainder may be in the place of a's lowest limbs.
 */
#define PENUMBRA_DIVISOR_TOP_MIN UINT64_C(1000000000000)
size_t penumbra_limbs_divide_scratch_bytes(size_t a_limbs, size_t b_limbs);
void penumbra_limbs_divide(const uint64_t *a, size_t a_limbs, const uint64_t *b, size_t b_limbs, uint64_t *quotient,
                           uint64_t *remainder, void *scratch);

/* The quotient alone, in half the time; returned is what is left, as a part of b, within 10^-14. */
double penumbra_limbs_quotient(const uint64_t *a, size_t a_limbs, const uint64_t *b, size_t b_limbs, uint64_t *quotient,
                               void *scratch);

/* The square root of a, of 2 * root_limbs limbs of which the highest is not zero, rounded down. */
size_t penumbra_limbs_root_scratch_bytes(size_t root_limbs);
void penumbra_limbs_root(const uint64_t *a, size_t root_limbs, uint64_t *root, void *scratch);

#ifdef __cplusplus
}
#endif

#endif
