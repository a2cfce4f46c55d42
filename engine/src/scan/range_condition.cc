#include "scan/range_condition.h"

#include <algorithm>
#include <array>
#include <limits>

#include "function/range_values.h"
#include "function/registry.h"
#include "kernels/kernels.h"
#include "scan/scan_predicate_ranges.h"
#include "segment/segment_strings.h"
#include "vector/range_image.h"

namespace penumbra {
namespace {

using kernels::BitmapWords;

Verdict Either(Verdict a, Verdict b) {
  if (a == Verdict::kAll || b == Verdict::kAll) return Verdict::kAll;
  return a == Verdict::kNone && b == Verdict::kNone ? Verdict::kNone : Verdict::kSome;
}

Verdict Both(Verdict a, Verdict b) {
  if (a == Verdict::kNone || b == Verdict::kNone) return Verdict::kNone;
  return a == Verdict::kAll && b == Verdict::kAll ? Verdict::kAll : Verdict::kSome;
}

// ---------------------------------------------------------------- places ----------------------

// Where a bound has to be.
template <typename Bound>
struct Limits {
  using Place = typename Bound::Place;
  Place low{}, high{};
  int64_t low_key = INT64_MIN, high_key = INT64_MAX;
  bool has_low = false, has_high = false;
  bool is_low_excluded = false, is_high_excluded = false;

  Limits& From(Place place, bool is_excluded) {
    low = place;
    low_key = Bound::KeyOf(place);
    has_low = true;
    is_low_excluded = is_excluded;
    return *this;
  }
  Limits& To(Place place, bool is_excluded) {
    high = place;
    high_key = Bound::KeyOf(place);
    has_high = true;
    is_high_excluded = is_excluded;
    return *this;
  }
  bool Has(const Place& place) const {
    return (!has_low || (is_low_excluded ? low < place : !(place < low))) &&
           (!has_high || (is_high_excluded ? place < high : !(high < place)));
  }
  // A key may be that of several places.
  Verdict Check(int64_t least, int64_t greatest) const {
    if ((has_low && greatest < low_key) || (has_high && high_key < least)) return Verdict::kNone;
    return (!has_low || low_key < least) && (!has_high || greatest < high_key) ? Verdict::kAll : Verdict::kSome;
  }
};

// Where both bounds of a range have to be.
template <typename Bound>
struct Box {
  Limits<Bound> begin, end;

  bool Has(const Interval<Bound>& range) const { return begin.Has(range.begin) && end.Has(range.end); }
  Verdict Check(const RangeZone& zone) const {
    return Both(begin.Check(zone.begin_least, zone.begin_greatest), end.Check(zone.end_least, zone.end_greatest));
  }
};

// What a condition says of a value's range that is not empty: it is in one of the boxes. Of a value of several ranges,
// and where the boxes are not exact, only values in a box can pass.
template <typename Bound>
struct Boxes {
  std::array<Box<Bound>, 2> boxes;
  int count = 0;
  bool are_exact = true;
  bool empty_passes = false;

  bool Have(const Interval<Bound>& range) const { return boxes[0].Has(range) || (count > 1 && boxes[1].Has(range)); }
  Verdict Check(const RangeZone& zone) const {
    const Verdict first = boxes[0].Check(zone);
    return count > 1 ? Either(first, boxes[1].Check(zone)) : first;
  }
  Box<Bound>& Add() { return boxes[count++]; }
};

// ---------------------------------------------------------------- compilation -----------------

// `column` op `other`, or the other way round.
template <typename Bound>
bool AddOperator(PenumbraFunction function, bool is_swapped, const Ranges<Bound>& other, Boxes<Bound>* boxes) {
  if (other.is_empty) return false;
  const auto begin = other.hull.begin, end = other.hull.end;
  Box<Bound>& box = boxes->Add();
  switch (function) {
    case PENUMBRA_FN_RANGE_CONTAINS:
      boxes->are_exact = !is_swapped || other.is_single;
      boxes->empty_passes = is_swapped;
      if (is_swapped) {
        box.begin.From(begin, false);
        box.end.To(end, false);
      } else {
        box.begin.To(begin, false);
        box.end.From(end, false);
      }
      return true;
    case PENUMBRA_FN_RANGE_OVERLAPS:
      boxes->are_exact = other.is_single;
      box.begin.To(end, true);
      box.end.From(begin, true);
      return true;
    case PENUMBRA_FN_RANGE_BEFORE: is_swapped ? box.begin.From(end, false) : box.end.To(begin, false); return true;
    case PENUMBRA_FN_RANGE_OVERLEFT: is_swapped ? box.end.From(end, false) : box.end.To(end, false); return true;
    case PENUMBRA_FN_RANGE_OVERRIGHT:
      is_swapped ? box.begin.To(begin, false) : box.begin.From(begin, false);
      return true;
    case PENUMBRA_FN_RANGE_ADJACENT:
      box.end.From(begin, false).To(begin, false);
      boxes->Add().begin.From(end, false).To(end, false);
      return true;
    default: return false;
  }
}

// A bound that there is, compared with a value.
template <typename Bound>
bool AddComparison(PenumbraFunction function, bool is_lower, ValueOf<Bound> value, Boxes<Bound>* boxes) {
  using Value = ValueOf<Bound>;
  Box<Bound>& box = boxes->Add();
  Limits<Bound>& limits = is_lower ? box.begin : box.end;
  const auto before = Bound::PlaceOf(value, false), behind = Bound::PlaceOf(value, true);
  limits.From(Bound::PlaceOf(std::numeric_limits<Value>::min(), false), false);
  limits.To(Bound::PlaceOf(std::numeric_limits<Value>::max(), true), false);
  switch (function) {
    case PENUMBRA_FN_EQ: limits.From(before, false).To(behind, false); return true;
    case PENUMBRA_FN_LT: limits.To(before, true); return true;
    case PENUMBRA_FN_LE: limits.To(behind, false); return true;
    case PENUMBRA_FN_GT: limits.From(behind, true); return true;
    case PENUMBRA_FN_GE: limits.From(before, false); return true;
    default: return false;
  }
}

// ---------------------------------------------------------------- rows ------------------------

// The values that are within limits, by whether the bound is behind its value; in the order of numbers without a sign.
template <typename Bound>
struct ValueLimits {
  using Bits = typename Bound::Bits;
  Bits low[2], high[2];

  explicit ValueLimits(const Limits<Bound>& limits) {
    const uint128 low_place = limits.has_low ? uint128{limits.low} + limits.is_low_excluded : 0;
    const uint128 high_place = limits.has_high ? uint128{limits.high} : ~uint128{0};
    for (uint32_t behind = 0; behind < 2; ++behind) {
      low[behind] = 1;
      high[behind] = 0;
      const uint128 first = PlaceOf(0, behind), last = PlaceOf(std::numeric_limits<Bits>::max(), behind);
      if (low_place > last || high_place < first || (limits.is_high_excluded && high_place == first)) continue;
      const uint128 high_end = high_place - limits.is_high_excluded;
      low[behind] = low_place <= first ? Bits{0} : static_cast<Bits>((low_place - first + 0xff) >> 8);
      high[behind] = high_end >= last ? std::numeric_limits<Bits>::max() : static_cast<Bits>((high_end - first) >> 8);
    }
  }
  bool Has(Bits bits, uint8_t is_behind) const { return (bits >= low[is_behind]) & (bits <= high[is_behind]); }
  // Of a bound before its value, unless no such one is within the limits: one comparison.
  bool HasBefore(Bits bits) const { return static_cast<Bits>(bits - low[0]) <= static_cast<Bits>(high[0] - low[0]); }
  bool IsEmptyBefore() const { return low[0] > high[0]; }

 private:
  static uint128 PlaceOf(Bits bits, uint32_t is_behind) {
    return uint128{Bound::kFiniteBit} | uint128{bits} << 8 | is_behind;
  }
};

// Ranges of integers with finite bounds, which are all of one length. kAreBefore: no bound is behind its value.
template <typename Bound>
class FiniteRanges {
 public:
  explicit FiniteRanges(const Box<Bound>& box) : begin_(box.begin), end_(box.end) {}
  bool AreNoneBefore() const { return begin_.IsEmptyBefore() || end_.IsEmptyBefore(); }
  // `rows` of them that lie back to back, as bits.
  template <bool kAreBefore>
  uint64_t Find(const char* image, uint32_t rows) const {
    const ValueLimits<Bound> begin = begin_, end = end_;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < rows; ++i) {
      bits |= uint64_t{Has<kAreBefore>(begin, end, image + i * Bound::kFiniteRangeBytes)} << i;
    }
    return bits;
  }
  bool Has(const char* image) const { return Has<false>(begin_, end_, image); }

 private:
  template <bool kAreBefore>
  static bool Has(const ValueLimits<Bound>& begin, const ValueLimits<Bound>& end, const char* image) {
    constexpr uint32_t kBegin = Bound::kHeadBytes + 2, kEnd = kBegin + Bound::kBytesMax;
    return HasBound<kAreBefore>(begin, image + kBegin) & HasBound<kAreBefore>(end, image + kEnd);
  }
  template <bool kAreBefore>
  static bool HasBound(const ValueLimits<Bound>& limits, const char* value) {
    typename Bound::Bits bits;
    std::memcpy(&bits, value, sizeof(bits));
    bits = Bound::Swap(bits);
    if constexpr (kAreBefore) return limits.HasBefore(bits);
    return limits.Has(bits, static_cast<uint8_t>(value[sizeof(bits)]));
  }
  const ValueLimits<Bound> begin_, end_;
};

// Of the bytes of a place that is within limits or not, the first ones are compared as a number: a place is no other
// one's beginning, so what is behind it does not matter.
class NumericLimits {
 public:
  explicit NumericLimits(const Limits<NumericBound>& limits)
      : limits_(limits), low_mask_(MaskOf(limits.low)), high_mask_(MaskOf(limits.high)) {}
  bool Has(const char* place, const char* end) const {
    if (limits_.has_low) {
      const int order = Compare(place, end, limits_.low, limits_.low_key, low_mask_);
      if (order < 0 || (order == 0 && limits_.is_low_excluded)) return false;
    }
    if (!limits_.has_high) return true;
    const int order = Compare(place, end, limits_.high, limits_.high_key, high_mask_);
    return order < 0 || (order == 0 && !limits_.is_high_excluded);
  }

 private:
  static uint64_t MaskOf(std::string_view place) {
    return place.empty() ? 0 : ~uint64_t{0} << (64 - 8 * std::min<size_t>(place.size(), 8));
  }
  static int Compare(const char* place, const char* end, std::string_view other, int64_t other_key, uint64_t mask) {
    uint64_t first, key = static_cast<uint64_t>(other_key) ^ uint64_t { 1 } << 63;
    std::memcpy(&first, place, sizeof(first));
    first = __builtin_bswap64(first) & mask;
    if (first != key) return first < key ? -1 : 1;
    if (other.size() <= sizeof(key)) return 0;
    return std::memcmp(place, other.data(), std::min(other.size(), static_cast<size_t>(end - place)));
  }
  const Limits<NumericBound> limits_;
  const uint64_t low_mask_, high_mask_;
};

// One range that is not empty, behind its first byte. 16 readable bytes follow.
template <typename Bound>
class SingleRanges {
 public:
  explicit SingleRanges(const Boxes<Bound>& boxes) : boxes_(boxes) {}
  bool Have(const char* range, const char* end) const {
    Interval<Bound> interval;
    Bound::Read(Bound::Read(range, end, &interval.begin), end, &interval.end);
    return boxes_.Have(interval);
  }

 private:
  const Boxes<Bound>& boxes_;
};

template <>
class SingleRanges<NumericBound> {
 public:
  explicit SingleRanges(const Boxes<NumericBound>& boxes) {
    for (int i = 0; i < boxes.count; ++i)
      limits_.push_back({NumericLimits(boxes.boxes[i].begin), NumericLimits(boxes.boxes[i].end)});
  }
  bool Have(const char* range, const char* end) const {
    const char* upper = nullptr;
    for (const auto& [begin_limits, end_limits] : limits_) {
      if (!begin_limits.Has(range, end)) continue;
      std::string_view begin;
      if (upper == nullptr) upper = NumericBound::Read(range, end, &begin);
      if (end_limits.Has(upper, end)) return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<NumericLimits, NumericLimits>> limits_;
};

template <typename RangeBoundary, typename Length>
class RangeBound final : public ValueBound {
 public:
  RangeBound(const SegmentView& segment, const Boxes<RangeBoundary>& boxes, const ColumnExpr& expr)
      : ValueBound(segment, false),
        boxes_(boxes),
        expr_(expr),
        zones_(segment.part<RangeZone>(kZones)),
        lengths_(segment.part<Length>(kCodes)),
        singles_(boxes) {
    if constexpr (kHasValues<RangeBoundary>) {
      for (int i = 0; i < boxes.count; ++i) finite_.emplace_back(boxes.boxes[i]);
    }
  }

 private:
  void FindTruth(uint32_t begin, uint32_t count, const uint64_t* wanted, EvalContext& context,
                 uint64_t* truth) override {
    const uint64_t* validity = segment_.part<uint64_t>(kValidity);
    uint64_t valid[kValidityWords];
    if (validity == nullptr) {
      kernels::SetBits(valid, count);
    } else {
      kernels::CopyBits(validity, begin, count, valid);
    }
    const bool is_exact = boxes_.are_exact && begin % kVectorRows == 0;
    const uint8_t flags = zones_[begin / kVectorRows].flags;
    if constexpr (kHasValues<RangeBoundary>) {
      if (is_exact && (flags & kAllFinite) != 0) return FindFinite(begin, count, valid, wanted, truth);
    }
    for (size_t w = 0; w < BitmapWords(count); ++w) valid[w] &= wanted[w];
    if (is_exact && (flags & kAllSingle) != 0) return FindSingle(begin, count, valid, truth);
    FindAny(begin, count, valid, context, truth);
  }

  void FindFinite(uint32_t begin, uint32_t count, const uint64_t* valid, const uint64_t* wanted,
                  uint64_t* truth) const {
    const char* bytes = segment_.part<char>(kBytes);
    const uint32_t* starts = segment_.part<uint32_t>(kStarts) + begin / kGroupRows;
    const bool are_before = (zones_[begin / kVectorRows].flags & kAllBefore) != 0;
    for (uint32_t w = 0; w < BitmapWords(count); ++w) {
      const uint32_t rows = std::min(count - w * 64, 64u);
      const uint64_t rows_valid = valid[w] & ~uint64_t{0} >> (64 - rows);
      truth[w] = 0;
      if ((wanted[w] & rows_valid) == 0) continue;
      for (const FiniteRanges<RangeBoundary>& box : finite_) {
        if (are_before && box.AreNoneBefore()) continue;
        truth[w] |= FindFiniteOf(box, are_before, bytes + starts[w], rows, rows_valid);
      }
    }
  }
  static uint64_t FindFiniteOf(const FiniteRanges<RangeBoundary>& box, bool are_before, const char* image,
                               uint32_t rows, uint64_t valid) {
    if (valid == ~uint64_t{0} >> (64 - rows)) {
      return are_before ? box.template Find<true>(image, rows) : box.template Find<false>(image, rows);
    }
    uint64_t bits = 0;
    for (uint64_t left = valid; left != 0; left &= left - 1, image += RangeBoundary::kFiniteRangeBytes) {
      if (box.Has(image)) bits |= left & (0 - left);
    }
    return bits;
  }

  void FindSingle(uint32_t begin, uint32_t count, const uint64_t* rows, uint64_t* truth) const {
    const char* bytes = segment_.part<char>(kBytes);
    const uint32_t* starts = segment_.part<uint32_t>(kStarts) + begin / kGroupRows;
    for (uint32_t w = 0; w < BitmapWords(count); ++w) {
      const Length* lengths = lengths_ + begin + w * 64;
      const char* image = rows[w] == 0 ? nullptr : bytes + starts[w];
      truth[w] = 0;
      for (uint64_t i = 0, left = rows[w]; left != 0; ++i, left >>= 1) {
        if ((left & 1) != 0) truth[w] |= uint64_t{HasSingle(image, lengths[i])} << i;
        image += lengths[i];
      }
    }
  }
  bool HasSingle(const char* image, uint32_t length) const {
    constexpr uint32_t kBegin = RangeBoundary::kHeadBytes + 1;
    if constexpr (kHasValues<RangeBoundary>) {
      // Both bounds are finite, as most are.
      if (length == RangeBoundary::kFiniteRangeBytes && image[kBegin] == kFinite &&
          image[kBegin + RangeBoundary::kBytesMax] == kFinite) {
        return std::any_of(finite_.begin(), finite_.end(), [image](const auto& box) { return box.Has(image); });
      }
    }
    if (length < kBegin || image[kBegin - 1] == kEmpty) return boxes_.empty_passes;
    return singles_.Have(image + kBegin, image + length);
  }

  void FindAny(uint32_t begin, uint32_t count, const uint64_t* rows, EvalContext& context, uint64_t* truth) const {
    PlainStrings<Length> strings(segment_);
    auto* others = context.arena.AllocateArray<StringRef>(count);
    auto* other_rows = context.arena.AllocateArray<uint16_t>(count);
    uint32_t other_count = 0;
    for (uint32_t w = 0; w < BitmapWords(count); ++w) {
      truth[w] = 0;
      for (uint64_t left = rows[w]; left != 0; left &= left - 1) {
        const uint32_t row = w * 64 + static_cast<uint32_t>(__builtin_ctzll(left));
        const StringRef image = strings.At(begin + row);
        Interval<RangeBoundary> range;
        const bool is_single = ReadSingle(image, &range);
        if (is_single && !boxes_.Have(range)) continue;
        if (is_single && boxes_.are_exact) {
          truth[w] |= left & (0 - left);
        } else {
          others[other_count] = image;
          other_rows[other_count++] = static_cast<uint16_t>(row);
        }
      }
    }
    if (other_count > 0) EvaluateOthers(others, other_rows, other_count, context, truth);
  }
  void EvaluateOthers(const StringRef* images, const uint16_t* rows, uint32_t count, EvalContext& context,
                      uint64_t* truth) const {
    Vector values;
    values.type = segment_.type();
    values.data = images;
    Truth found;
    EvalContext local = context.In(context.arena);
    EvaluateOnColumn(expr_, values, count, local, &found);
    for (uint32_t i = 0; i < count; ++i) {
      truth[rows[i] / 64] |= ((found.is_true[i / 64] >> (i % 64)) & 1) << (rows[i] % 64);
    }
  }

  const Boxes<RangeBoundary>& boxes_;
  const ColumnExpr expr_;
  const RangeZone* const zones_;
  const Length* const lengths_;
  const SingleRanges<RangeBoundary> singles_;
  std::vector<FiniteRanges<std::conditional_t<kHasValues<RangeBoundary>, RangeBoundary, IntegerBound<4>>>> finite_;
};

// ---------------------------------------------------------------- conditions ------------------

template <typename Bound>
class RangeConditionOf final : public RangeCondition {
 public:
  RangeConditionOf(const Boxes<Bound>& boxes, std::unique_ptr<Arena> arena, uint8_t form)
      : boxes_(boxes), arena_(std::move(arena)), form_(form) {}

  Verdict Check(const RangeZone& zone, bool has_nulls) const override {
    if ((zone.flags & kIsRangeZone) == 0 || zone.form != form_) return Verdict::kSome;
    const bool has_ranges = zone.begin_least <= zone.begin_greatest, has_empty = zone.empty_count > 0;
    if (!has_ranges && !has_empty) return Verdict::kNone;
    const Verdict of_empty = boxes_.empty_passes ? Verdict::kAll : Verdict::kNone;
    const Verdict of_ranges = has_ranges ? CheckRanges(zone) : of_empty;
    const Verdict verdict = !has_empty || of_ranges == of_empty ? of_ranges : Verdict::kSome;
    return verdict == Verdict::kAll && has_nulls ? Verdict::kSome : verdict;
  }
  BoundPredicate Bind(const SegmentView& segment, const ColumnExpr& expr) const override {
    const auto* zones = segment.part<RangeZone>(kZones);
    if (zones == nullptr || zones[0].form != form_) return nullptr;
    switch (segment.header().code_bytes) {
      case 1: return std::make_unique<RangeBound<Bound, uint8_t>>(segment, boxes_, expr);
      case 2: return std::make_unique<RangeBound<Bound, uint16_t>>(segment, boxes_, expr);
      default: return std::make_unique<RangeBound<Bound, uint32_t>>(segment, boxes_, expr);
    }
  }

 private:
  Verdict CheckRanges(const RangeZone& zone) const {
    const Verdict verdict = boxes_.Check(zone);
    const bool is_exact = boxes_.are_exact && (zone.flags & kAllSingle) != 0;
    return verdict == Verdict::kAll && !is_exact ? Verdict::kSome : verdict;
  }

  const Boxes<Bound> boxes_;
  const std::unique_ptr<Arena> arena_;  // of what the boxes point to
  const uint8_t form_;
};

class ZonedBound final : public ScanPredicate::Bound {
 public:
  ZonedBound(const RangeCondition& condition, const SegmentView& segment, BoundPredicate bound)
      : condition_(condition), segment_(segment), bound_(std::move(bound)) {}

  Verdict Check(uint32_t begin, uint32_t count) const override {
    if (count == 0) return Verdict::kSome;
    const auto* zones = segment_.part<RangeZone>(kZones);
    const bool has_nulls = segment_.header().null_count > 0;
    const uint32_t first = begin / kVectorRows, last = (begin + count - 1) / kVectorRows;
    const Verdict verdict = condition_.Check(zones[first], has_nulls);
    for (uint32_t v = first + 1; v <= last; ++v) {
      if (condition_.Check(zones[v], has_nulls) != verdict) return Verdict::kSome;
    }
    return verdict;
  }
  void Apply(uint32_t begin, uint32_t count, uint64_t* bits, EvalContext& context) override {
    bound_->Apply(begin, count, bits, context);
  }

 private:
  const RangeCondition& condition_;
  const SegmentView segment_;
  const BoundPredicate bound_;
};

// ---------------------------------------------------------------- expressions -----------------

bool IsKnown(const Expr& expr) { return expr.kind == Expr::Kind::kConstant && !expr.constant.is_null_constant(); }

// A call's last argument.
const int32_t* FormOf(const Expr& call) {
  return call.args.empty() || call.args.back()->type != PENUMBRA_INT4 ? nullptr
                                                                      : KnownValue<int32_t>(*call.args.back());
}

template <typename Bound>
bool AddConstantOperator(const Expr& call, Arena& arena, Boxes<Bound>* boxes) {
  const bool is_swapped = IsKnown(*call.args[0]);
  const Expr& constant = *call.args[is_swapped ? 0 : 1];
  if (call.args[is_swapped ? 1 : 0]->kind != Expr::Kind::kColumn || !IsKnown(constant)) return false;
  if (IsStringType(constant.type)) {
    return AddOperator(call.function, is_swapped, Ranges<Bound>(*constant.constant.values<StringRef>()), boxes);
  }
  if (!IsValueOf<Bound>(constant.type)) return false;
  const ValueIntervals<Bound> value(constant.constant, 1, arena);
  return AddOperator(call.function, is_swapped, Ranges<Bound>(value[0]), boxes);
}

template <typename Bound>
std::unique_ptr<const RangeCondition> MakeCondition(const Expr& expr, const Expr& call, const Expr* constant,
                                                    PenumbraFunction comparison) {
  Boxes<Bound> boxes;
  auto arena = std::make_unique<Arena>();
  bool is_found = false;
  if (constant == nullptr) {
    is_found = AddConstantOperator(expr, *arena, &boxes);
  } else if constexpr (kHasValues<Bound>) {
    is_found = IsValueOf<Bound>(call.type) && AddComparison(comparison, call.function == PENUMBRA_FN_RANGE_LOWER,
                                                            *constant->constant.values<ValueOf<Bound>>(), &boxes);
  }
  if (!is_found) return nullptr;
  return std::make_unique<RangeConditionOf<Bound>>(boxes, std::move(arena), static_cast<uint8_t>(*FormOf(call)));
}

// The operator `expr`; or, with a constant, its comparison with the bound `call`.
std::unique_ptr<const RangeCondition> ConditionOf(const Expr& expr, const Expr& call, const Expr* constant = nullptr,
                                                  PenumbraFunction comparison = PENUMBRA_FN_COUNT_OF) {
  const int32_t* form = FormOf(call);
  if (form == nullptr) return nullptr;
  switch (*form) {
    case PENUMBRA_RANGE_OF_INT4: return MakeCondition<IntegerBound<4>>(expr, call, constant, comparison);
    case PENUMBRA_RANGE_OF_INT8: return MakeCondition<IntegerBound<8>>(expr, call, constant, comparison);
    case PENUMBRA_RANGE_OF_NUMERIC: return MakeCondition<NumericBound>(expr, call, constant, comparison);
    default: return nullptr;
  }
}

// lower(column), upper(column).
bool IsBoundOfColumn(const Expr& expr) {
  return expr.kind == Expr::Kind::kCall &&
         (expr.function == PENUMBRA_FN_RANGE_LOWER || expr.function == PENUMBRA_FN_RANGE_UPPER) &&
         expr.args.size() == 2 && expr.args[0]->kind == Expr::Kind::kColumn;
}

}  // namespace

std::unique_ptr<const RangeCondition> RangeCondition::Find(const Expr& expr) {
  if (expr.kind != Expr::Kind::kCall || expr.args.size() < 2) return nullptr;
  if (expr.function >= PENUMBRA_FN_RANGE_CONTAINS && expr.function <= PENUMBRA_FN_RANGE_ADJACENT) {
    return expr.args.size() == 3 ? ConditionOf(expr, expr) : nullptr;
  }
  if (!IsComparison(expr.function)) return nullptr;
  const Expr *bound = expr.args[0], *constant = expr.args[1];
  PenumbraFunction function = expr.function;
  if (IsKnown(*bound)) {
    std::swap(bound, constant);
    function = Mirror(function);
  }
  if (!IsBoundOfColumn(*bound) || !IsKnown(*constant) || constant->type != bound->type) return nullptr;
  return ConditionOf(expr, *bound, constant, function);
}

BoundPredicate RangeCondition::WithZones(const SegmentView& segment, BoundPredicate bound) const {
  if (bound == nullptr || segment.part<RangeZone>(kZones) == nullptr) return bound;
  return std::make_unique<ZonedBound>(*this, segment, std::move(bound));
}

}  // namespace penumbra
