// Base64: three bytes as four digits of six bits, and back.
#if defined(PENUMBRA_KERNELS_BASE64_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_BASE64_INL_H_
#undef PENUMBRA_KERNELS_BASE64_INL_H_
#else
#define PENUMBRA_KERNELS_BASE64_INL_H_
#endif

#include <array>

#include "kernels/kernels.h"
#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

HWY_INLINE void WriteDigitsOfThree(uint32_t three, char* digits) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0; i < 4; ++i) digits[i] = kDigits[(three >> (18 - 6 * i)) & 63];
}

#if HWY_TARGET != HWY_SCALAR
// As in W. Muła and D. Lemire, Faster Base64 Encoding and Decoding Using AVX2 Instructions (2018): fields of bits are
// moved by multiplication, digits and values differ by a number that a few bits of them tell.
using BytesTag = hn::FixedTag<uint8_t, 16>;

HWY_INLINE hn::Vec<BytesTag> TableOf(const std::array<uint8_t, 16>& bytes) {
  return hn::LoadU(BytesTag(), bytes.data());
}

// Twelve bytes as sixteen digits.
HWY_INLINE void WriteBase64OfTwelve(const uint8_t* bytes, char* digits) {
  const BytesTag tag;
  const hn::FixedTag<uint16_t, 8> halves;
  uint64_t eight;
  uint32_t four;
  std::memcpy(&eight, bytes, 8);
  std::memcpy(&four, bytes + 8, 4);
  const hn::FixedTag<uint64_t, 2> words;
  const auto twelve = hn::BitCast(tag, hn::InterleaveLower(words, hn::Set(words, eight), hn::Set(words, four)));
  // Of bytes a, b, c each half has what two digits take: b, a and c, b.
  const auto order = TableOf({1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10});
  const auto pairs = hn::BitCast(halves, hn::TableLookupBytes(twelve, order));
  const auto of_lanes = [](uint32_t even, uint32_t odd) HWY_ATTR {
    return hn::BitCast(hn::FixedTag<uint16_t, 8>(), hn::Set(hn::FixedTag<uint32_t, 4>(), even | odd << 16));
  };
  const auto first = hn::MulHigh(hn::And(pairs, of_lanes(0xfc00, 0x0fc0)), of_lanes(1 << 6, 1 << 10));
  const auto second = hn::Mul(hn::And(pairs, of_lanes(0x03f0, 0x003f)), of_lanes(1 << 4, 1 << 8));
  const auto values = hn::BitCast(tag, hn::Or(first, second));
  // 0: small letters; 1 to 12: the others from 52 on; 13: capital letters.
  const auto is_capital = hn::Lt(values, hn::Set(tag, 26));
  const auto kind =
      hn::Or(hn::SaturatedSub(values, hn::Set(tag, 51)), hn::IfThenElseZero(is_capital, hn::Set(tag, 13)));
  constexpr auto kFigure = static_cast<uint8_t>('0' - 52);
  const auto offsets =
      TableOf({'a' - 26, kFigure, kFigure, kFigure, kFigure, kFigure, kFigure, kFigure, kFigure, kFigure, kFigure,
               static_cast<uint8_t>('+' - 62), static_cast<uint8_t>('/' - 63), 'A', 0, 0});
  hn::StoreU(hn::Add(values, hn::TableLookupBytes(offsets, kind)), tag, reinterpret_cast<uint8_t*>(digits));
}
#endif

constexpr uint8_t kNoBase64Value = 0xff;

constexpr std::array<uint8_t, 256> MakeBase64Values() {
  std::array<uint8_t, 256> values{};
  for (uint8_t& value : values) value = kNoBase64Value;
  for (uint8_t i = 0; i < 26; ++i) {
    values[static_cast<uint8_t>('A' + i)] = i;
    values[static_cast<uint8_t>('a' + i)] = static_cast<uint8_t>(26 + i);
  }
  for (uint8_t i = 0; i < 10; ++i) values[static_cast<uint8_t>('0' + i)] = static_cast<uint8_t>(52 + i);
  values['+'] = 62;
  values['/'] = 63;
  return values;
}
inline constexpr std::array<uint8_t, 256> kBase64Values = MakeBase64Values();

#if HWY_TARGET != HWY_SCALAR
// Bit h of byte l: the character h * 16 + l is a digit.
constexpr std::array<uint8_t, 16> MakeBase64Rows() {
  std::array<uint8_t, 16> rows{};
  for (size_t c = 0; c < 128; ++c) {
    if (kBase64Values[c] != kNoBase64Value) rows[c % 16] = static_cast<uint8_t>(rows[c % 16] | 1 << (c / 16));
  }
  return rows;
}
inline constexpr std::array<uint8_t, 16> kBase64Rows = MakeBase64Rows();

// Sixteen digits as twelve bytes; false, and nothing is written: others are among them.
HWY_INLINE bool ReadBase64OfSixteen(const char* digits, uint8_t* bytes) {
  const BytesTag tag;
  const auto characters = hn::LoadU(tag, reinterpret_cast<const uint8_t*>(digits));
  const auto upper = hn::ShiftRight<4>(characters), lower = hn::And(characters, hn::Set(tag, 15));
  const auto column = TableOf({1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto row = hn::TableLookupBytes(TableOf(kBase64Rows), lower);
  if (!hn::AllFalse(tag, hn::Eq(hn::And(row, hn::TableLookupBytes(column, upper)), hn::Zero(tag)))) return false;
  constexpr auto kCapital = static_cast<uint8_t>(-'A'), kSmall = static_cast<uint8_t>(26 - 'a');
  const auto offsets = TableOf({0, 0, 62 - '+', 52 - '0', kCapital, kCapital, kSmall, kSmall, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto is_slash = hn::Eq(characters, hn::Set(tag, '/'));
  const auto offset = hn::IfThenElse(is_slash, hn::Set(tag, 63 - '/'), hn::TableLookupBytes(offsets, upper));
  // Twelve bits in each half, then 24 in each lane, the first digit's uppermost.
  const hn::FixedTag<uint16_t, 8> halves;
  const hn::FixedTag<uint32_t, 4> lanes;
  const auto values = hn::BitCast(halves, hn::Add(characters, offset));
  const auto twelve_bits = hn::Or(hn::And(hn::ShiftLeft<6>(values), hn::Set(halves, 0xfc0)), hn::ShiftRight<8>(values));
  const auto pairs = hn::BitCast(lanes, twelve_bits);
  const auto bits = hn::Or(hn::And(hn::ShiftLeft<12>(pairs), hn::Set(lanes, 0xfff000)), hn::ShiftRight<16>(pairs));
  const auto order = TableOf({2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 3, 3, 3, 3});
  const auto decoded = hn::BitCast(hn::FixedTag<uint64_t, 2>(), hn::TableLookupBytes(hn::BitCast(tag, bits), order));
  const uint64_t eight = hn::GetLane(decoded);
  const auto four = static_cast<uint32_t>(hn::ExtractLane(decoded, 1));
  std::memcpy(bytes, &eight, 8);
  std::memcpy(bytes + 8, &four, 4);
  return true;
}
#endif

// A last step that is not full overlaps those before.
void WriteBase64Digits(const uint8_t* bytes, size_t count, char* digits) {
  const size_t rest = count % 3, whole = count - rest;
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 12 <= whole; i += 12) WriteBase64OfTwelve(bytes + i, digits + i / 3 * 4);
  if (i < whole && whole >= 12) {
    i = whole - 12;
    WriteBase64OfTwelve(bytes + i, digits + i / 3 * 4);
    i = whole;
  }
#endif
  for (; i < whole; i += 3) {
    WriteDigitsOfThree(uint32_t{bytes[i]} << 16 | uint32_t{bytes[i + 1]} << 8 | bytes[i + 2], digits + i / 3 * 4);
  }
  if (rest == 0) return;
  char* last = digits + whole / 3 * 4;
  WriteDigitsOfThree(uint32_t{bytes[i]} << 16 | (rest == 2 ? uint32_t{bytes[i + 1]} << 8 : 0), last);
  if (rest == 1) last[2] = '=';
  last[3] = '=';
}

size_t ReadBase64Digits(const char* digits, size_t count, uint8_t* bytes) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 16 <= count; i += 16) {
    if (!ReadBase64OfSixteen(digits + i, bytes + i / 4 * 3)) break;
  }
#endif
  for (; i + 4 <= count; i += 4) {
    uint8_t values[4];
    for (size_t j = 0; j < 4; ++j) values[j] = kBase64Values[static_cast<uint8_t>(digits[i + j])];
    if (((values[0] | values[1] | values[2] | values[3]) & 0x80) != 0) break;
    uint8_t* three = bytes + i / 4 * 3;
    three[0] = static_cast<uint8_t>(values[0] << 2 | values[1] >> 4);
    three[1] = static_cast<uint8_t>(values[1] << 4 | values[2] >> 2);
    three[2] = static_cast<uint8_t>(values[2] << 6 | values[3]);
  }
  return i;
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
