// Values as the ranges that have nothing else in them.
#pragma once

#include "numeric/numeric.h"
#include "vector/arena.h"
#include "vector/range_image.h"
#include "vector/vector_build.h"

namespace penumbra {

// Whether values of the type can be in such ranges.
template <typename Bound>
bool IsValueOf(PenumbraType type) {
  if constexpr (!kHasValues<Bound>) return type == PENUMBRA_NUMERIC;
  return IsIntegerType(type, NumericForm::kPayload) && FlatWidth(type, NumericForm::kPayload) == sizeof(ValueOf<Bound>);
}

// The ranges that have the values of a vector alone in them. A null row's may be any.
template <typename Bound>
class ValueIntervals {
 public:
  ValueIntervals() = default;
  ValueIntervals(const Vector& v, uint32_t rows, Arena& arena) : values_(ViewOf<ValueOf<Bound>>(v, rows, arena)) {}
  Interval<Bound> operator[](uint32_t row) const { return IntervalOf<Bound>(values_[row]); }

 private:
  View<ValueOf<Bound>> values_{};
};

template <>
class ValueIntervals<NumericBound> {
 public:
  ValueIntervals() = default;
  ValueIntervals(const Vector& v, uint32_t rows, Arena& arena) : stride_(v.is_constant() ? 0 : 1) {
    const uint32_t count = v.is_constant() ? 1 : rows;
    intervals_ = arena.AllocateArray<Interval<NumericBound>>(count);
    for (uint32_t i = 0; i < count; ++i) intervals_[i] = v.IsValid(i) ? Make(v, i, arena) : Interval<NumericBound>{};
  }
  Interval<NumericBound> operator[](uint32_t row) const { return intervals_[row * stride_]; }

 private:
  // The places before and behind the number, one behind the other.
  static Interval<NumericBound> Make(const Vector& v, uint32_t row, Arena& arena) {
    if (v.numeric_form == NumericForm::kPayload) {
      const std::string_view payload = v.values<StringRef>()[row].view();
      return Make(payload.size(), [&](char* out) { return WriteOrderedBytes(payload, out); }, arena);
    }
    const int128 integer =
        v.numeric_form == NumericForm::kInt64 ? int128{v.values<int64_t>()[row]} : v.values<int128>()[row];
    return Make(kIntegerPayloadBytes, [&](char* out) { return WriteOrderedBytes(integer, v.scale, out); }, arena);
  }
  template <typename Write>
  static Interval<NumericBound> Make(size_t payload_bytes, const Write& write, Arena& arena) {
    const size_t most = 2 + kOrderedBytesMore + payload_bytes;
    char* begin = arena.AllocateArray<char>(2 * most);
    *begin = kFinite;
    char* end = write(begin + 1);
    *end++ = 0;
    const size_t length = static_cast<size_t>(end - begin);
    std::memcpy(end, begin, length);
    end[length - 1] = 1;
    return {{begin, length}, {end, length}};
  }

  Interval<NumericBound>* intervals_ = nullptr;
  uint32_t stride_ = 0;
};

}  // namespace penumbra
