// ASCII case, as the C collation has it: other bytes stay.
#pragma once

#include <cstdint>

namespace penumbra {

// out may be bytes.
inline void FoldToLower(const char* bytes, uint32_t length, char* out) {
  for (uint32_t i = 0; i < length; ++i) {
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    out[i] = static_cast<char>(byte + (static_cast<uint8_t>(byte - 'A') < 26 ? 32 : 0));
  }
}
inline void FoldToUpper(const char* bytes, uint32_t length, char* out) {
  for (uint32_t i = 0; i < length; ++i) {
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    out[i] = static_cast<char>(byte - (static_cast<uint8_t>(byte - 'a') < 26 ? 32 : 0));
  }
}

}  // namespace penumbra
