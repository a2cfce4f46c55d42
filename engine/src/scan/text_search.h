// A pattern that many strings are searched for at once.
#pragma once

#include <cstdint>

#include "expression/expr.h"
#include "segment/segment_strings.h"

namespace penumbra {

class TextSearch {
 public:
  virtual ~TextSearch() = default;

  // Bit i of `truth`: row i matches. Rows whose bit is not set in `wanted` may be anything.
  virtual void Find(const StringRun& texts, const uint64_t* wanted, EvalContext& context, uint64_t* truth) const = 0;
};

// Calls f(row, begin, end) for the rows whose bits are set.
template <typename F>
void ForEachCandidate(const StringRun& run, const uint64_t* bits, F f) {
  for (size_t w = 0; w < kernels::BitmapWords(run.rows); ++w) {
    for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
      const auto row = static_cast<uint32_t>(w * 64) + static_cast<uint32_t>(std::countr_zero(left));
      if (row >= run.rows) break;
      f(row, run.bytes + (row == 0 ? 0 : run.ends[row - 1]), run.bytes + run.ends[row]);
    }
  }
}

}  // namespace penumbra
