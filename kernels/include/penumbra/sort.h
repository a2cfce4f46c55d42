/* Sorting of keys of fixed width, for C and C++.
 *
 * Keys are whole numbers; callers map other types to them in their order. No function allocates, fails or
 * keeps state, and all give the same result on every CPU. One call takes time in proportion to its count
 * (penumbra_sort_keys: times its logarithm), so a caller that must react in between hands in pieces: see
 * the buckets below.
 */
#ifndef PENUMBRA_SORT_H_
#define PENUMBRA_SORT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PenumbraKeyKind {
  PENUMBRA_KEY_INT16,
  PENUMBRA_KEY_INT32,
  PENUMBRA_KEY_INT64,
  PENUMBRA_KEY_UINT64,
  PENUMBRA_KEY_UINT128 /* PenumbraWideKey */
} PenumbraKeyKind;

/* Compared by high, then low. With a row number in low, a sort keeps the order of equal values. */
typedef struct PenumbraWideKey {
  uint64_t low;
  uint64_t high;
} __attribute__((aligned(16))) PenumbraWideKey;

/* In place. */
void penumbra_sort_keys(PenumbraKeyKind kind, void *keys, size_t count, bool descending);

/* Exchanges the keys from begin to end, in the first half, with their mirror images in the second. */
void penumbra_reverse_keys(PenumbraKeyKind kind, void *keys, size_t count, size_t begin, size_t end);

/* Whether no key is less (descending: greater) than the one before. */
bool penumbra_keys_are_ordered(PenumbraKeyKind kind, const void *keys, size_t count, bool descending);

/* Of keys that are sorted: drops all but one of equal ones and returns how many are left. */
size_t penumbra_drop_equal_keys(PenumbraKeyKind kind, void *keys, size_t count);

/* Appends the keys greater (descending false: less) than the bound to out, which has room for all, and
 * returns how many there were. */
size_t penumbra_select_keys(PenumbraKeyKind kind, const void *keys, size_t count, const void *bound, bool greater,
                            void *out);

/* Buckets: a large array is distributed over ranges of keys, which are then sorted one by one. All calls
 * but the first may be made for pieces of the keys. A bucket with an odd number holds one key only, any
 * number of times, and needs no sort. With random keys a bucket is hardly ever three times as large as
 * the count divided by PENUMBRA_SPLITTERS. Splitters are chosen from keys at places that the seed gives: whoever knows
 * it can arrange keys so that one bucket gets nearly all of them. */
enum { PENUMBRA_SPLITTERS = 255, PENUMBRA_BUCKETS = 2 * PENUMBRA_SPLITTERS + 1 };

typedef struct PenumbraSplitters {
  PenumbraKeyKind kind;
  PenumbraWideKey sorted[PENUMBRA_SPLITTERS + 1]; /* of the kind's type, and one that is not used */
  PenumbraWideKey tree[PENUMBRA_SPLITTERS + 1];   /* the same, as an implicit search tree from 1 */
} PenumbraSplitters;

void penumbra_choose_splitters(PenumbraKeyKind kind, const void *keys, size_t count, uint64_t seed,
                               PenumbraSplitters *splitters);

/* Adds the number of keys of each bucket to counts. */
void penumbra_count_buckets(const PenumbraSplitters *splitters, const void *keys, size_t count, uint64_t *counts);

/* Writes each key to out at its bucket's position, which it advances. */
void penumbra_scatter_keys(const PenumbraSplitters *splitters, const void *keys, size_t count, uint64_t *positions,
                           void *out);

/* Floating-point numbers, by their bits, to keys of the same width, in place: -0 before 0. NaNs are put
 * behind the rest, unchanged. A call encodes about `most` numbers from *next on, those from *end on
 * being NaNs, and moves both; it is done when they meet. Decoding takes the numbers before *end. */
void penumbra_encode_float4(int32_t *bits, size_t *next, size_t *end, size_t most);
void penumbra_encode_float8(int64_t *bits, size_t *next, size_t *end, size_t most);
void penumbra_decode_float4(int32_t *keys, size_t count);
void penumbra_decode_float8(int64_t *keys, size_t count);

/* Sixteen bytes each that are compared from the first on. */
void penumbra_encode_bytes16(const void *bytes, size_t count, PenumbraWideKey *keys);
void penumbra_decode_bytes16(const PenumbraWideKey *keys, size_t count, void *bytes);

#ifdef __cplusplus
}
#endif

#endif /* PENUMBRA_SORT_H_ */
