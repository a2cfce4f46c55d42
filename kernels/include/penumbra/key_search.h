/* Search in the packed, sorted key array of a page, for C and C++.
 *
 * Keys are unsigned numbers of `width` bytes each, 0 to 8, little end first, one after the other. Up to 7
 * bytes behind the last one are read and must be readable; `keys` needs the alignment of the width if that is
 * 2, 4 or 8. Contents are not trusted: over keys that are not sorted, or that another process changes at the
 * same time, the result is some number from 0 to count.
 */
#ifndef PENUMBRA_KEY_SEARCH_H_
#define PENUMBRA_KEY_SEARCH_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many keys are less than the given one, which may be too large for the width. */
size_t penumbra_lower_bound_packed(const char *keys, int width, size_t count, uint64_t key);

/* How many keys are not greater. */
size_t penumbra_upper_bound_packed(const char *keys, int width, size_t count, uint64_t key);

#ifdef __cplusplus
}
#endif

#endif /* PENUMBRA_KEY_SEARCH_H_ */
