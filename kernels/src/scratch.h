// Scratch memory that the caller gave, handed out piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penumbra/digits.h"

namespace penumbra::kernels {

// Passed by value: what a function takes is free again when it returns.
class Scratch {
 public:
  explicit Scratch(void* memory) : next_(static_cast<uint64_t*>(memory)) {}

  // Aligned for 128-bit integers, as the memory is.
  uint64_t* Take(size_t limbs) {
    uint64_t* taken = next_;
    next_ += (limbs + 1) / 2 * 2;
    return taken;
  }
  void* Rest() const { return next_; }

 private:
  uint64_t* next_;
};

// Limbs of scratch enough for any product of at most so many limbs.
// penumbra_limbs_multiply_scratch_bytes is exact, but grows unevenly, so that of a recursion's
// products not the last needs the most.
inline size_t MultiplyScratchBound(size_t product_limbs) { return 12 * product_limbs + 2048; }

}  // namespace penumbra::kernels
