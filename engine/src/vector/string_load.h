// Building string views fast from bytes that are followed by at least 16 readable ones.
#pragma once

#include <cstdint>
#include <cstring>

#include "vector/vector.h"

namespace penumbra {

// Two unconditional loads and a mask instead of a copy of variable length.
inline StringRef LoadStringRef(const char* bytes, uint32_t length) {
  uint32_t prefix;
  uint64_t rest;
  std::memcpy(&prefix, bytes, 4);
  std::memcpy(&rest, bytes + 4, 8);
  if (length <= StringRef::kInlineBytes) {
    const uint32_t rest_bytes = length > 4 ? length - 4 : 0;
    rest = rest_bytes == 0 ? 0 : rest & (~uint64_t{0} >> (64 - 8 * rest_bytes));
    if (length < 4) prefix &= (uint32_t{1} << (8 * length)) - 1;
  } else {
    rest = reinterpret_cast<uintptr_t>(bytes);
  }
  const uint64_t words[2] = {length | static_cast<uint64_t>(prefix) << 32, rest};
  StringRef ref;
  static_assert(sizeof(ref) == sizeof(words));
  std::memcpy(static_cast<void*>(&ref), words, sizeof(ref));
  return ref;
}

}  // namespace penumbra
