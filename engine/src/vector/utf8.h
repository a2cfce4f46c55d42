// Characters of the server encoding: UTF-8, or one byte each.
#pragma once

#include <cstdint>
#include <cstring>

namespace penumbra {

// Length of the character that begins with this byte; 1 for what is not UTF-8.
inline uint32_t CharacterBytes(char first) {
  const uint8_t byte = static_cast<uint8_t>(first);
  if (byte < 0xc0) return 1;
  if (byte < 0xe0) return 2;
  if (byte < 0xf0) return 3;
  return byte < 0xf8 ? 4 : 1;
}

// Walks characters; never passes `end`.
inline const char* NextCharacter(const char* position, const char* end, bool is_utf8) {
  if (!is_utf8) return position + 1;
  const uint32_t bytes = CharacterBytes(*position);
  return bytes <= static_cast<uint32_t>(end - position) ? position + bytes : end;
}

// Where the character begins that ends at `end`; never before `begin`.
inline const char* CharacterBefore(const char* begin, const char* end, bool is_utf8) {
  --end;
  while (is_utf8 && end > begin && (*end & 0xc0) == 0x80) --end;
  return end;
}

constexpr uint64_t kHighBits = 0x8080808080808080ull;

inline uint64_t LoadEightBytes(const char* bytes) {
  uint64_t eight;
  std::memcpy(&eight, bytes, 8);
  return eight;
}

// A character is a byte that does not continue one (10xxxxxx).
inline uint32_t CountCharacters(const char* bytes, uint32_t length, bool is_utf8) {
  if (!is_utf8) return length;
  uint32_t continuations = 0, i = 0;
  for (; i + 8 <= length; i += 8) {
    const uint64_t eight = LoadEightBytes(bytes + i);
    if ((eight & kHighBits) == 0) continue;
    const uint64_t flags = (eight & ~(eight << 1) & kHighBits) >> 7;
    continuations += static_cast<uint32_t>((flags * 0x0101010101010101ull) >> 56);
  }
  for (; i < length; ++i) continuations += static_cast<int8_t>(bytes[i]) < -64;
  return length - continuations;
}

// Bytes of the first `characters` characters, or all.
inline uint32_t ClipCharacters(const char* bytes, uint32_t length, int64_t characters, bool is_utf8) {
  if (characters <= 0) return 0;
  if (characters >= length) return length;
  if (!is_utf8) return static_cast<uint32_t>(characters);
  const char *position = bytes, *end = bytes + length;
  while (characters > 0 && position < end) {
    const int64_t step = characters < 8 ? characters : 8;
    if (end - position >= 8 && (LoadEightBytes(position) & (kHighBits >> (8 * (8 - step)))) == 0) {
      position += step;
      characters -= step;
    } else {
      position = NextCharacter(position, end, true);
      --characters;
    }
  }
  return static_cast<uint32_t>(position - bytes);
}

}  // namespace penumbra
