// PostgreSQL's packed numeric, field by field, and base-10,000 digits: what numeric*.cc share.
//
// Packed format (after the varlena header; all fields are native-endian int16):
//   special  0xC000 NaN, 0xD000 infinity, 0xF000 -infinity; nothing follows
//   short    10 s dddddd wwwwwww: sign, display scale 0..63, weight -64..63; digits follow
//   long     0s dddddddddddddd, then int16 weight; digits follow
// Digits are stripped of zero digits at both ends, zero has none, weight 0 and no sign; the short
// form is used whenever it can hold scale and weight.
#pragma once

#include <cstdint>
#include <cstring>

#include "numeric/numeric.h"

namespace penumbra {

constexpr int kBase = 10000;
constexpr int kBaseDecimals = 4;
constexpr int kDisplayScaleMax = 1000;  // of results of division and square root
constexpr int kSignificantDigitsMin = 16;
constexpr int kWeightMax = INT16_MAX;
constexpr int kWeightMin = INT16_MIN;
constexpr int kInt128BaseDigits = 11;  // 39 decimal digits, wherever the decimal point cuts them

constexpr uint16_t kSpecialNaN = 0xC000;
constexpr uint16_t kSpecialPositiveInfinity = 0xD000;
constexpr uint16_t kSpecialNegativeInfinity = 0xF000;

// A finite payload's fields.
struct PackedNumber {
  bool negative;
  int scale;
  int weight;
  uint32_t digit_count;
  const char* digits;  // int16 each, any alignment

  int Digit(uint32_t i) const {
    int16_t digit;
    std::memcpy(&digit, digits + i * sizeof(digit), sizeof(digit));
    return digit;
  }
};

inline uint16_t PayloadHeader(const char* payload) {
  uint16_t header;
  std::memcpy(&header, payload, sizeof(header));
  return header;
}

// False for special values and for bytes that are no number at all.
inline bool UnpackPayload(const char* payload, uint32_t length, PackedNumber* number) {
  if (length < 2) return false;
  const uint16_t header = PayloadHeader(payload);
  if ((header & 0x8000) != 0) {
    if ((header & 0x4000) != 0) return false;
    number->negative = (header & 0x2000) != 0;
    number->scale = (header >> 7) & 0x3F;
    number->weight = ((header & 0x7F) ^ 0x40) - 0x40;
    number->digits = payload + 2;
    number->digit_count = (length - 2) / 2;
    return true;
  }
  if (length < 4) return false;
  int16_t weight;
  std::memcpy(&weight, payload + 2, sizeof(weight));
  number->negative = (header & 0x4000) != 0;
  number->scale = header & kNumericScaleMax;
  number->weight = weight;
  number->digits = payload + 4;
  number->digit_count = (length - 4) / 2;
  return true;
}

// Writes the header; returns its length. The weight must fit in int16.
inline uint32_t PackHeader(bool negative, int scale, int weight, char* out) {
  if (scale <= 63 && weight >= -64 && weight <= 63) {
    const uint16_t header = static_cast<uint16_t>(0x8000 | (negative ? 0x2000 : 0) | (scale << 7) | (weight & 0x7F));
    std::memcpy(out, &header, 2);
    return 2;
  }
  const uint16_t header = static_cast<uint16_t>((negative ? 0x4000 : 0) | scale);
  const int16_t weight16 = static_cast<int16_t>(weight);
  std::memcpy(out, &header, 2);
  std::memcpy(out + 2, &weight16, 2);
  return 4;
}

inline uint128 Magnitude(int128 value) {
  return value < 0 ? -static_cast<uint128>(value) : static_cast<uint128>(value);
}

// The stripped digits of magnitude / 10^scale.
struct BaseDigits {
  const int16_t* first;  // in `digits`, of which kInt128BaseDigits more may be read
  uint32_t count;
  int weight;
  int16_t digits[16 + kInt128BaseDigits];  // the last one stands before digits[16]
};
void IntegerToDigits(uint128 magnitude, int scale, BaseDigits* result);

}  // namespace penumbra
