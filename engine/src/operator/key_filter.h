// Which values a join's key has on the build side, as scans of the probe side see it.
#pragma once

#include <cstdint>

#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

// What a zone map or an encoded predicate says of a range of rows.
enum class Verdict : uint8_t { kNone, kSome, kAll };

// Which values a key has on the build side of a join. Rows of its probe side that have none of them, or a null, match
// nothing. Shared by threads.
class KeyFilter {
 public:
  virtual ~KeyFilter() = default;
  // Of an integer type: what is known without looking at rows of values from `least` to `greatest`; kAll is said of
  // rows without a null only.
  virtual Verdict CheckBounds(int64_t least, int64_t greatest) const = 0;
  // Clears the bits of rows that match nothing, and maybe not of all of them. `v` has any form.
  virtual void Apply(const Vector& v, uint32_t rows, Arena& arena, uint64_t* bits) const = 0;
  // The same of the integers base + codes[i], without nulls; false: they have to be decoded.
  virtual bool ApplyCodes(const uint16_t* codes, int64_t base, uint32_t rows, uint64_t* bits) const = 0;
};

}  // namespace penumbra
