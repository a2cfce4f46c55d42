// Ranges and multiranges of a string, as penumbra/types.h has them.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "penumbra/types.h"
#include "vector/vector.h"

namespace penumbra {

// A bound is a place between values: before or behind its own value, before all, or behind all. A range has the values
// between its places, so an inclusive bound and an exclusive one are compared alike. KeyOf() is the key of a
// PenumbraRangeZone.

enum RangeByte : uint8_t { kEmpty = 0, kNotEmpty = 1, kBeforeAll = 0, kFinite = 1, kBehindAll = 2 };

// The place as a number: a bit for finite ones, the value with its sign bit inverted, and whether it is behind that.
template <int kValueBytes>
struct IntegerBound {
  using Place = std::conditional_t<kValueBytes == 4, uint64_t, uint128>;
  using Value = std::conditional_t<kValueBytes == 4, int32_t, int64_t>;
  using Bits = std::make_unsigned_t<Value>;
  static constexpr uint32_t kHeadBytes = 1;
  static constexpr Bits kSignBit = Bits{1} << (8 * kValueBytes - 1);
  static constexpr Place kFiniteBit = Place{1} << (8 * kValueBytes + 8);
  static constexpr uint32_t kBytesMax = 1 + kValueBytes + 1;
  static constexpr uint32_t kFiniteRangeBytes = kHeadBytes + 1 + 2 * kBytesMax;

  static Bits Swap(Bits bits) {
    if constexpr (kValueBytes == 4) {
      return __builtin_bswap32(bits);
    } else {
      return __builtin_bswap64(bits);
    }
  }
  // What is behind the bound; null: the bytes are no bound.
  static const char* Read(const char* next, const char* end, Place* place) {
    if (next == end) return nullptr;
    const uint8_t kind = static_cast<uint8_t>(*next++);
    if (kind != kFinite) {
      *place = kind == kBeforeAll ? Place{0} : ~Place{0};
      return kind <= kBehindAll ? next : nullptr;
    }
    if (end - next < kValueBytes + 1) return nullptr;
    *place = PlaceAt(next);
    return next + kValueBytes + 1;
  }
  // Of a finite one, of which the value's bytes are given.
  static Place PlaceAt(const char* value) {
    Bits bits;
    std::memcpy(&bits, value, sizeof(bits));
    return kFiniteBit | Place{Swap(bits)} << 8 | static_cast<uint8_t>(value[sizeof(bits)]);
  }
  static char* Write(Place place, char* to) {
    if (!IsFinite(place)) {
      *to++ = static_cast<char>(place == 0 ? kBeforeAll : kBehindAll);
      return to;
    }
    const Bits bits = Swap(static_cast<Bits>(place >> 8));
    *to++ = kFinite;
    std::memcpy(to, &bits, sizeof(bits));
    to[kValueBytes] = IsBehind(place);
    return to + kValueBytes + 1;
  }
  static bool IsSound(Place place) { return !IsFinite(place) || (place & 0xff) <= 1; }
  static int64_t KeyOf(Place place) {
    return IsFinite(place) ? int64_t{ValueOf(place)} : IsBeforeAll(place) ? INT64_MIN : INT64_MAX;
  }
  static bool IsFinite(Place place) { return place >= kFiniteBit && place != ~Place{0}; }
  static bool IsBeforeAll(Place place) { return place == 0; }
  static bool IsBehind(Place place) { return (place & 1) != 0; }
  static Value ValueOf(Place place) { return static_cast<Value>(static_cast<Bits>(place >> 8) ^ kSignBit); }
  static Place PlaceOf(Value value, bool is_behind) {
    return kFiniteBit | Place{static_cast<Bits>(static_cast<Bits>(value) ^ kSignBit)} << 8 | is_behind;
  }
};

// The place as the bytes of the bound, which are in order.
struct NumericBound {
  using Place = std::string_view;
  static constexpr uint32_t kHeadBytes = 0;
  static constexpr uint32_t kFiniteRangeBytes = 0;
  // What a number begins with if it has digits; NaN is the last kind.
  enum : uint8_t { kNegative = 1, kPositive = 3, kNaN = 5 };

  // Digits end with zeros, of a negative number with ones. Four of them are read at once: subtracting one from each
  // borrows from the next one only behind the first that is zero.
  static const char* ReadDigits(const char* next, const char* end, bool is_negative) {
    const uint64_t mask = is_negative ? ~uint64_t{0} : 0;
    constexpr uint64_t kOnes = 0x0001000100010001, kTops = kOnes << 15;
    if (end - next < 2) return nullptr;
    for (next += 2; end - next >= 8; next += 8) {
      uint64_t digits;
      std::memcpy(&digits, next, sizeof(digits));
      digits ^= mask;
      const uint64_t zeros = (digits - kOnes) & ~digits & kTops;
      if (zeros != 0) return next + __builtin_ctzll(zeros) / 8 + 1;
    }
    for (; end - next >= 2; next += 2) {
      uint16_t digit;
      std::memcpy(&digit, next, sizeof(digit));
      if (digit == static_cast<uint16_t>(mask)) return next + 2;
    }
    return nullptr;
  }
  static const char* Read(const char* next, const char* end, Place* place) {
    const char* begin = next;
    if (next == end || static_cast<uint8_t>(*next) > kBehindAll) return nullptr;
    if (*next++ == kFinite) {
      if (next == end || static_cast<uint8_t>(*next) > kNaN) return nullptr;
      const uint8_t kind = static_cast<uint8_t>(*next++);
      if (kind == kNegative || kind == kPositive) next = ReadDigits(next, end, kind == kNegative);
      if (next == nullptr || next >= end) return nullptr;
      ++next;
    }
    *place = Place(begin, static_cast<size_t>(next - begin));
    return next;
  }
  static bool IsSound(Place place) { return !IsFinite(place) || static_cast<uint8_t>(place.back()) <= 1; }
  static int64_t KeyOf(Place place) {
    uint64_t key = 0;
    std::memcpy(&key, place.data(), std::min(place.size(), sizeof(key)));
    return static_cast<int64_t>(__builtin_bswap64(key) ^ uint64_t{1} << 63);
  }
  static bool IsFinite(Place place) { return !place.empty() && place[0] == kFinite; }
  static bool IsBeforeAll(Place place) { return !place.empty() && place[0] == kBeforeAll; }
  static bool IsBehind(Place place) { return place.back() != 0; }
};

// The engine's values that a range of such bounds can have in it; of numerics none.
template <typename Bound>
constexpr bool kHasValues = !std::is_same_v<Bound, NumericBound>;
template <typename Bound>
using ValueOf = typename std::conditional_t<kHasValues<Bound>, Bound, IntegerBound<4>>::Value;

template <typename Bound>
struct Interval {
  typename Bound::Place begin{}, end{};
};

template <typename Bound>
Interval<Bound> IntervalOf(ValueOf<Bound> value) {
  return {Bound::PlaceOf(value, false), Bound::PlaceOf(value, true)};
}

// Where the bytes of an image end that compare: those of numerics may have a tail behind them (penumbra/types.h).
template <typename Bound>
const char* EndOf(const StringRef& image) {
  const uint32_t tail = kHasValues<Bound> ? 0 : penumbra_tail_bytes(image.data(), image.length);
  return image.data() + image.length - tail;
}

// The ranges of a value one by one, without empty ones. A null row's bytes may be any.
template <typename Bound>
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(const StringRef& image)
      : next_(image.data() + std::min(image.length, Bound::kHeadBytes)), end_(EndOf<Bound>(image)) {}

  bool Next(Interval<Bound>* interval) {
    while (next_ != end_) {
      const char kind = *next_++;
      if (kind == kEmpty) continue;
      const char* next = kind == kNotEmpty ? Bound::Read(next_, end_, &interval->begin) : nullptr;
      if (next != nullptr) next = Bound::Read(next, end_, &interval->end);
      is_sound_ &= next != nullptr;
      next_ = is_sound_ ? next : end_;
      return is_sound_;
    }
    return false;
  }
  bool is_at_end() const { return next_ == end_; }
  // False once it has met what is no range.
  bool is_sound() const { return is_sound_; }

 private:
  const char *next_ = nullptr, *end_ = nullptr;
  bool is_sound_ = true;
};

template <typename Bound>
struct Ranges {
  Interval<Bound> first;
  Interval<Bound> hull;  // from the begin of the first range to the end of the last
  Cursor<Bound> others;  // behind the first
  bool is_empty = true;
  bool is_single = true;

  Ranges() = default;
  explicit Ranges(const StringRef& image) : others(image) {
    is_empty = !others.Next(&first);
    hull = first;
    if (others.is_at_end()) return;
    Cursor<Bound> cursor = others;
    for (Interval<Bound> next; cursor.Next(&next); is_single = false) hull.end = next.end;
  }
  explicit Ranges(const Interval<Bound>& only) : first(only), hull(only), is_empty(false) {}
};

// Of one range of integers with two finite bounds, as most are, the bytes of the lower one's value; the upper one's are
// kBytesMax behind them. Null: it is none.
template <typename Bound>
const char* FindFinite(const StringRef& image) {
  constexpr uint32_t kBegin = Bound::kHeadBytes + 2;
  if (image.length != Bound::kFiniteRangeBytes) return nullptr;
  const char* bytes = image.pointer;
  static_assert(Bound::kFiniteRangeBytes > StringRef::kInlineBytes);
  const bool is_finite = (bytes[kBegin - 2] == kNotEmpty) & (bytes[kBegin - 1] == kFinite) &
                         (bytes[kBegin + Bound::kBytesMax - 1] == kFinite);
  return is_finite ? bytes + kBegin : nullptr;
}

// Whether the value is one range that is not empty, as most are. Behind it there may be empty ones: short images end
// so.
template <typename Bound>
bool ReadSingle(const StringRef& image, Interval<Bound>* interval) {
  if constexpr (kHasValues<Bound>) {
    if (const char* value = FindFinite<Bound>(image)) {
      *interval = {Bound::PlaceAt(value), Bound::PlaceAt(value + Bound::kBytesMax)};
      return true;
    }
  }
  const char *next = image.data() + Bound::kHeadBytes, *end = EndOf<Bound>(image);
  if (image.length <= Bound::kHeadBytes || *next++ != kNotEmpty) return false;
  next = Bound::Read(next, end, &interval->begin);
  if (next != nullptr) next = Bound::Read(next, end, &interval->end);
  while (next != nullptr && next != end && *next == kEmpty) ++next;
  return next == end;
}

}  // namespace penumbra
