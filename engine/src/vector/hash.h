// The multiplication of which all hashes of the engine are made.
#pragma once

#include <cstdint>

#include "vector/vector.h"

namespace penumbra {

// Both halves of the product: every bit of either factor reaches high and low bits.
inline uint64_t FoldedProduct(uint64_t a, uint64_t b) {
  const uint128 product = static_cast<uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace penumbra
