// Finds a short string in another one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penumbra {

// The first place of needle (length > 0) in [text, text + text_length), or null. Compares the needle's
// first and last byte at 16 places at once (vectors of the compiler, the baseline's width: most texts are
// shorter than a wider one), then the rest where both agree.
inline const char* FindBytes(const char* text, size_t text_length, const char* needle, size_t needle_length) {
  typedef uint8_t Bytes __attribute__((vector_size(16)));
  if (needle_length > text_length) return nullptr;
  const size_t last = needle_length - 1;
  const size_t places = text_length - last;
  const Bytes first_byte = Bytes{} + static_cast<uint8_t>(needle[0]);
  const Bytes last_byte = Bytes{} + static_cast<uint8_t>(needle[last]);
  size_t place = 0;
  for (; place + 16 <= places; place += 16) {
    Bytes begins, ends;
    std::memcpy(&begins, text + place, 16);
    std::memcpy(&ends, text + place + last, 16);
    const auto both = (begins == first_byte) & (ends == last_byte);
    uint64_t halves[2];
    std::memcpy(halves, &both, 16);
    for (int half = 0; half < 2; ++half) {
      while (halves[half] != 0) {
        const int byte = std::countr_zero(halves[half]) / 8;
        const char* candidate = text + place + 8 * half + byte;
        if (std::memcmp(candidate, needle, needle_length) == 0) return candidate;
        halves[half] &= ~(uint64_t{0xff} << (8 * byte));
      }
    }
  }
  for (; place < places; ++place) {
    if (text[place] == needle[0] && text[place + last] == needle[last] &&
        std::memcmp(text + place, needle, needle_length) == 0) {
      return text + place;
    }
  }
  return nullptr;
}

}  // namespace penumbra
