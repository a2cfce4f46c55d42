#include "join/join_integers.h"

#include <bit>

namespace penumbra {

void KeyRange::Add(const Vector& v, uint32_t rows, Arena& arena) {
  if (v.is_null_constant()) return;
  const Vector flat = v.is_constant() ? v : Flatten(v, rows, arena);
  WithIntegers(flat, [&](const auto* values) {
    auto low = *values, high = *values;
    if (v.is_constant() || kernels::FindBounds(values, flat.validity, rows, &low, &high)) {
      Add(KeyRange{static_cast<int64_t>(low), static_cast<int64_t>(high)});
    }
  });
}

bool KeyBitmap::IsWorthIt(const KeyRange& range, uint64_t rows) {
  constexpr uint64_t kSmallSpan = uint64_t{1} << 22, kMiddleSpan = uint64_t{1} << 26;
  const uint64_t span = range.span();
  return span < kSmallSpan || (span < kMiddleSpan && span / 4096 < rows) || span / 64 < rows;
}

KeyBitmap::KeyBitmap(const KeyRange& range, Arena& arena) : least_(range.least), span_(range.span()) {
  const size_t words = (span_ + 1) / 64 + 1;
  words_ = arena.AllocateArray<uint64_t>(words);
  std::memset(words_, 0, words * sizeof(uint64_t));
}

bool KeyBitmap::HasAny(int64_t least, int64_t greatest) const {
  const uint64_t begin = PlaceOf(least), end = PlaceOf(greatest);
  for (uint64_t w = begin / 64; w <= end / 64; ++w) {
    uint64_t word = words_[w];
    if (w == begin / 64) word &= ~uint64_t{0} << (begin % 64);
    if (w == end / 64) word &= ~uint64_t{0} >> (63 - end % 64);
    if (word != 0) return true;
  }
  return false;
}

uint64_t KeyBitmap::Count() const {
  uint64_t count = 0;
  for (uint64_t w = 0; w <= span_ / 64; ++w) count += std::popcount(words_[w]);
  return count;
}

template <typename T>
void KeyBitmap::ClearOthers(const T* values, uint32_t rows, uint64_t* bits) const {
  if constexpr (sizeof(T) == 8) {
    kernels::AndMembers(reinterpret_cast<const uint64_t*>(values), static_cast<uint64_t>(least_), span_ + 1, words_,
                        rows, bits);
    return;
  } else if constexpr (sizeof(T) == 4) {
    // Distances modulo 2^32 are right where both ends are of the type.
    const int64_t greatest = static_cast<int64_t>(static_cast<uint64_t>(least_) + span_);
    if (least_ >= INT32_MIN && greatest <= INT32_MAX && span_ < UINT32_MAX) {
      kernels::AndMembers(reinterpret_cast<const uint32_t*>(values), static_cast<uint32_t>(least_),
                          static_cast<uint32_t>(span_ + 1), words_, rows, bits);
      return;
    }
  }
  const KeyBitmap set = *this;  // so that the loop keeps it in registers
  ClearBits(rows, bits, [&](uint32_t i) { return set.Has(values[i]); });
}

template void KeyBitmap::ClearOthers(const uint8_t*, uint32_t, uint64_t*) const;
template void KeyBitmap::ClearOthers(const int16_t*, uint32_t, uint64_t*) const;
template void KeyBitmap::ClearOthers(const int32_t*, uint32_t, uint64_t*) const;
template void KeyBitmap::ClearOthers(const int64_t*, uint32_t, uint64_t*) const;

bool KeyBitmap::ClearOthers(const uint16_t* codes, int64_t base, uint32_t rows, uint64_t* bits) const {
  // Distances of less than 2^31, which modulo 2^32 are only those that they are.
  const auto distance = static_cast<int128>(least_) - base;
  if (distance <= INT32_MIN || distance >= INT32_MAX || span_ >= INT32_MAX) return false;
  kernels::AndMembers(codes, static_cast<uint32_t>(distance), static_cast<uint32_t>(span_ + 1), words_, rows, bits);
  return true;
}

void ApplyIntegers(const KeyRange& range, const KeyBitmap* bitmap, const Vector& v, uint32_t rows, Arena& arena,
                   uint64_t* bits) {
  if (v.is_null_constant() || range.is_empty()) {
    std::fill_n(bits, BitWords(rows), 0);
    return;
  }
  const Vector flat = Flatten(v, rows, arena);
  WithIntegers(flat, [&](const auto* values) {
    if (bitmap != nullptr) {
      bitmap->ClearOthers(values, rows, bits);
    } else {
      ClearBits(rows, bits, [&](uint32_t i) {
        return static_cast<int64_t>(values[i]) >= range.least && static_cast<int64_t>(values[i]) <= range.greatest;
      });
    }
  });
  if (flat.validity != nullptr) kernels::AndBits(bits, flat.validity, rows);
}

}  // namespace penumbra
