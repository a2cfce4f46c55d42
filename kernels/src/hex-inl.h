// Bytes as hexadecimal digits, and back.
#if defined(PENUMBRA_KERNELS_HEX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_HEX_INL_H_
#undef PENUMBRA_KERNELS_HEX_INL_H_
#else
#define PENUMBRA_KERNELS_HEX_INL_H_
#endif

#include <array>

#include "kernels/kernels.h"
#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

// Four bytes in a word: each byte's halves become two bytes, the upper one first.
HWY_INLINE void WriteHexOfFour(const uint8_t* bytes, char* digits) {
  uint32_t four;
  std::memcpy(&four, bytes, 4);
  uint64_t halves = four;
  halves = (halves | halves << 16) & 0x0000ffff0000ffff;
  halves = (halves | halves << 8) & 0x00ff00ff00ff00ff;
  halves = (halves >> 4 | halves << 8) & 0x0f0f0f0f0f0f0f0f;
  const uint64_t is_letter = (halves + 0x0606060606060606) >> 4 & 0x0101010101010101;
  halves += 0x3030303030303030 + is_letter * ('a' - '0' - 10);
  std::memcpy(digits, &halves, 8);
}

#if HWY_TARGET != HWY_SCALAR
HWY_INLINE void WriteHexOfVector(const uint8_t* bytes, char* digits) {
  const hn::FixedTag<uint8_t, 16> tag;
  const auto digit = [tag](auto half) HWY_ATTR {
    const auto is_letter = hn::Gt(half, hn::Set(tag, 9));
    return hn::Add(half, hn::IfThenElse(is_letter, hn::Set(tag, 'a' - 10), hn::Set(tag, '0')));
  };
  const auto both = hn::LoadU(tag, bytes);
  const auto upper = digit(hn::ShiftRight<4>(both)), lower = digit(hn::And(both, hn::Set(tag, 15)));
  auto* out = reinterpret_cast<uint8_t*>(digits);
  hn::StoreU(hn::InterleaveLower(tag, upper, lower), tag, out);
  hn::StoreU(hn::InterleaveUpper(tag, upper, lower), tag, out + 16);
}
#endif

// The last steps overlap those before.
void WriteHexDigits(const uint8_t* bytes, size_t count, char* digits) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  if (count >= 16) {
    for (; i + 16 <= count; i += 16) WriteHexOfVector(bytes + i, digits + 2 * i);
    if (i < count) WriteHexOfVector(bytes + count - 16, digits + 2 * (count - 16));
    return;
  }
#endif
  for (; i + 4 <= count; i += 4) WriteHexOfFour(bytes + i, digits + 2 * i);
  if (i == count) return;
  if (count >= 4) return WriteHexOfFour(bytes + count - 4, digits + 2 * (count - 4));
  for (; i < count; ++i) {
    digits[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    digits[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
}

constexpr std::array<uint8_t, 256> MakeHexValues() {
  std::array<uint8_t, 256> values{};
  for (uint8_t& value : values) value = 0xff;
  for (uint8_t i = 0; i < 16; ++i) {
    values[static_cast<uint8_t>("0123456789abcdef"[i])] = values[static_cast<uint8_t>("0123456789ABCDEF"[i])] = i;
  }
  return values;
}
inline constexpr std::array<uint8_t, 256> kHexValues = MakeHexValues();

#if HWY_TARGET != HWY_SCALAR
// Sixteen digits as eight bytes; false, and nothing is written: others are among them.
HWY_INLINE bool ReadHexOfSixteen(const char* digits, uint8_t* bytes) {
  const hn::FixedTag<uint8_t, 16> tag;
  const hn::FixedTag<uint16_t, 8> pairs_tag;
  const auto characters = hn::LoadU(tag, reinterpret_cast<const uint8_t*>(digits));
  const auto figure = hn::Sub(characters, hn::Set(tag, '0'));
  const auto letter = hn::Sub(hn::Or(characters, hn::Set(tag, 0x20)), hn::Set(tag, 'a'));
  const auto is_figure = hn::Lt(figure, hn::Set(tag, 10)), is_letter = hn::Lt(letter, hn::Set(tag, 6));
  if (!hn::AllTrue(tag, hn::Or(is_figure, is_letter))) return false;
  const auto values = hn::IfThenElse(is_figure, figure, hn::Add(letter, hn::Set(tag, 10)));
  const auto pairs = hn::BitCast(pairs_tag, values);
  const auto both = hn::Or(hn::And(hn::ShiftLeft<4>(pairs), hn::Set(pairs_tag, 0xf0)), hn::ShiftRight<8>(pairs));
  const hn::FixedTag<uint8_t, 8> half_tag;
  hn::StoreU(hn::TruncateTo(half_tag, both), half_tag, bytes);
  return true;
}
#endif

size_t ReadHexDigits(const char* digits, size_t count, uint8_t* bytes) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 16 <= count; i += 16) {
    if (!ReadHexOfSixteen(digits + i, bytes + i / 2)) break;
  }
#endif
  for (; i + 2 <= count; i += 2) {
    const uint8_t upper = kHexValues[static_cast<uint8_t>(digits[i])];
    const uint8_t lower = kHexValues[static_cast<uint8_t>(digits[i + 1])];
    if (((upper | lower) & 0x80) != 0) break;
    bytes[i / 2] = static_cast<uint8_t>(upper << 4 | lower);
  }
  return i;
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
