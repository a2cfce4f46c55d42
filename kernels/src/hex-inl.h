// Bytes as hexadecimal digits.
#if defined(PENUMBRA_KERNELS_HEX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_HEX_INL_H_
#undef PENUMBRA_KERNELS_HEX_INL_H_
#else
#define PENUMBRA_KERNELS_HEX_INL_H_
#endif

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

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
