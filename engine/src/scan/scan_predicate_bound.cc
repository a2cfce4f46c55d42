#include "scan/scan_predicate_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.h"

namespace penumbra {
namespace {

using kernels::BitmapWords;

class VerdictBound final : public ScanPredicate::Bound {
 public:
  explicit VerdictBound(Verdict verdict) : verdict_(verdict) {}
  Verdict Check(uint32_t, uint32_t) const override { return verdict_; }
  void Apply(uint32_t, uint32_t count, uint64_t* bits, EvalContext&) override {
    if (verdict_ == Verdict::kNone) std::fill_n(bits, BitmapWords(count), 0);
  }

 private:
  const Verdict verdict_;
};

class NullTestBound final : public ValueBound {
 public:
  NullTestBound(const SegmentView& segment, bool nulls_pass)
      : ValueBound(segment, nulls_pass), nulls_pass_(nulls_pass) {}

 private:
  void FindTruth(uint32_t, uint32_t count, const uint64_t*, EvalContext&, uint64_t* truth) override {
    std::fill_n(truth, BitmapWords(count), nulls_pass_ ? 0 : ~uint64_t{0});
  }
  const bool nulls_pass_;
};

// ---------------------------------------------------------------- ranges of stored values -----

template <typename T>
struct StoredRange {
  T low;
  T high;
};

// The stored elements (codes, or values in place) that lie in few ranges, or outside of them.
template <typename T>
class StoredRangesBound final : public ValueBound {
 public:
  StoredRangesBound(const SegmentView& segment, Part part, std::vector<StoredRange<T>> ranges, bool is_negated,
                    const RangeSet* keys, bool nulls_pass)
      : ValueBound(segment, nulls_pass),
        values_(segment.part<T>(part)),
        ranges_(std::move(ranges)),
        is_negated_(is_negated),
        has_zones_(keys != nullptr && segment.part<SegmentZone>(kZones) != nullptr) {
    if (has_zones_) keys_ = *keys;
  }

  Verdict Check(uint32_t begin, uint32_t count) const override {
    if (!has_zones_ || count == 0) return Verdict::kSome;
    const SegmentZone* zones = segment_.part<SegmentZone>(kZones);
    bool is_any = false, are_all = segment_.header().null_count == 0;
    for (uint32_t v = begin / kVectorRows; v <= (begin + count - 1) / kVectorRows; ++v) {
      if (zones[v].least > zones[v].greatest) continue;
      is_any |= keys_.Overlaps(zones[v].least, zones[v].greatest);
      are_all &= keys_.Contains(zones[v].least, zones[v].greatest);
    }
    return !is_any ? Verdict::kNone : are_all ? Verdict::kAll : Verdict::kSome;
  }

 private:
  void FindTruth(uint32_t begin, uint32_t count, const uint64_t*, EvalContext&, uint64_t* truth) override {
    FindRange(ranges_[0], begin, count, truth);
    for (size_t i = 1; i < ranges_.size(); ++i) {
      uint64_t more[kValidityWords];
      FindRange(ranges_[i], begin, count, more);
      kernels::OrBits(truth, more, count);
    }
    if (is_negated_) kernels::NotBits(truth, count);
  }
  void FindRange(const StoredRange<T>& range, uint32_t begin, uint32_t count, uint64_t* truth) const {
    if (range.low == range.high) {
      kernels::CompareConstant(kernels::Compare::kEq, values_ + begin, range.low, count, truth);
    } else {
      kernels::CompareBetween(values_ + begin, range.low, range.high, count, truth);
    }
  }

  const T* const values_;
  const std::vector<StoredRange<T>> ranges_;
  const bool is_negated_;
  const bool has_zones_;
  RangeSet keys_ = RangeSet::None();
};

template <typename Code>
class TableBound final : public ValueBound {
 public:
  TableBound(const SegmentView& segment, std::vector<uint8_t> truth, bool nulls_pass)
      : ValueBound(segment, nulls_pass), codes_(segment.part<Code>(kCodes)), table_(std::move(truth)) {}

 private:
  void FindTruth(uint32_t begin, uint32_t count, const uint64_t*, EvalContext&, uint64_t* truth) override {
    kernels::LookupToBits(codes_ + begin, table_.data(), table_.size(), count, truth);
  }
  const Code* const codes_;
  const std::vector<uint8_t> table_;
};

// More ranges than this cost more than a table, or than decoding where no table is possible.
constexpr size_t kTableRanges = 2;
constexpr size_t kRangesMax = 8;

// `ranges` of stored elements, ascending and disjoint, within [least, greatest], the elements there
// are.
template <typename T>
BoundPredicate MakeStoredRanges(const SegmentView& segment, Part part, T least, T greatest,
                                std::vector<StoredRange<T>> ranges, const RangeSet* keys, bool nulls_pass) {
  if (ranges.empty() && !nulls_pass) return BindVerdict(Verdict::kNone);
  const bool has_nulls = segment.header().null_count > 0;
  if (ranges.size() == 1 && ranges[0].low <= least && greatest <= ranges[0].high) {
    if (!has_nulls || nulls_pass) return BindVerdict(Verdict::kAll);
    return BindNullTest(segment, false);
  }
  if (ranges.empty()) return BindNullTest(segment, true);
  // All but a gap: the gap is one comparison less.
  bool is_negated = false;
  if (ranges.size() == 2 && ranges[0].low <= least && greatest <= ranges[1].high) {
    ranges = {{static_cast<T>(ranges[0].high + 1), static_cast<T>(ranges[1].low - 1)}};
    is_negated = true;
  }
  if (ranges.size() > kRangesMax) return nullptr;
  return std::make_unique<StoredRangesBound<T>>(segment, part, std::move(ranges), is_negated, keys, nulls_pass);
}

// ---------------------------------------------------------------- integers --------------------

template <typename T>
BoundPredicate BindPlainIntegers(const SegmentView& segment, const RangeSet& set) {
  const SegmentHeader& header = segment.header();
  std::vector<StoredRange<T>> ranges;
  const RangeSet inside = set.Clip(header.least, header.greatest);
  for (const RangeSet::Range& range : inside.ranges()) {
    ranges.push_back({static_cast<T>(range.low), static_cast<T>(range.high)});
  }
  return MakeStoredRanges(segment, kValues, static_cast<T>(header.least), static_cast<T>(header.greatest),
                          std::move(ranges), &inside, false);
}

template <typename Code>
BoundPredicate BindFrame(const SegmentView& segment, const RangeSet& set) {
  const SegmentHeader& header = segment.header();
  const int128 base = header.base;
  const int128 step = header.step;
  std::vector<StoredRange<Code>> ranges;
  const RangeSet inside = set.Clip(header.least, header.greatest);
  for (const RangeSet::Range& range : inside.ranges()) {  // not below base, so that division rounds down
    const int128 low = (range.low - base + step - 1) / step;
    const int128 high = (range.high - base) / step;
    if (low > high) continue;  // between two steps
    if (!ranges.empty() && low == static_cast<int128>(ranges.back().high) + 1) {
      ranges.back().high = static_cast<Code>(high);
    } else {
      ranges.push_back({static_cast<Code>(low), static_cast<Code>(high)});
    }
  }
  const Code least = static_cast<Code>((header.least - base) / step);
  const Code greatest = static_cast<Code>((header.greatest - base) / step);
  if (sizeof(Code) <= 2 && ranges.size() > kTableRanges) {
    std::vector<uint8_t> truth(size_t{greatest} + 1);
    for (const StoredRange<Code>& range : ranges) {
      for (uint32_t code = range.low; code <= range.high; ++code) truth[code] = 1;
    }
    return std::make_unique<TableBound<Code>>(segment, std::move(truth), false);
  }
  return MakeStoredRanges(segment, kCodes, least, greatest, std::move(ranges), &inside, false);
}

// ---------------------------------------------------------------- floats ----------------------

double DoubleFromKey(int64_t key) {
  if (key == INT64_MAX) return std::numeric_limits<double>::quiet_NaN();
  const int64_t bits = key < 0 ? INT64_MIN | ~(key - INT64_MIN) : key;
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The keys of a range that belong to numbers; false if none does.
bool ClipToDoubles(const RangeSet::Range& range, double* low, double* high) {
  const int64_t least = FloatKey(-std::numeric_limits<double>::infinity());
  const int64_t greatest = FloatKey(std::numeric_limits<double>::infinity());
  int64_t low_key = std::max(range.low, least);
  int64_t high_key = range.high;
  if (low_key > greatest) low_key = INT64_MAX;  // NaN is next
  if (high_key > greatest && high_key < INT64_MAX) high_key = greatest;
  // The key of -0 that no value has, because -0 has that of 0.
  if (low_key == -1) low_key = 0;
  if (high_key == -1) high_key = -2;
  if (low_key > high_key) return false;
  *low = DoubleFromKey(low_key);
  *high = DoubleFromKey(high_key);
  return true;
}

// The floats between two doubles; false if there is none.
bool ClipToFloats(double low, double high, float* low_float, float* high_float) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  *low_float = static_cast<float>(low);
  *high_float = static_cast<float>(high);
  if (static_cast<double>(*low_float) < low) *low_float = std::nextafter(*low_float, kInfinity);
  if (static_cast<double>(*high_float) > high) *high_float = std::nextafter(*high_float, -kInfinity);
  return FloatKey(*low_float) <= FloatKey(*high_float);
}

template <typename T>
BoundPredicate BindFloats(const SegmentView& segment, const RangeSet& set) {
  std::vector<StoredRange<T>> ranges;
  const RangeSet inside = set.Clip(segment.header().least, segment.header().greatest);
  for (const RangeSet::Range& range : inside.ranges()) {
    double low, high;
    if (!ClipToDoubles(range, &low, &high)) continue;
    if constexpr (sizeof(T) == 8) {
      ranges.push_back({low, high});
    } else {
      float low_float, high_float;
      if (ClipToFloats(low, high, &low_float, &high_float)) ranges.push_back({low_float, high_float});
    }
  }
  if (ranges.empty()) return BindVerdict(Verdict::kNone);
  if (ranges.size() > kRangesMax) return nullptr;
  return std::make_unique<StoredRangesBound<T>>(segment, kValues, std::move(ranges), false, nullptr, false);
}

// ---------------------------------------------------------------- tables ----------------------

template <typename Code>
BoundPredicate BindTableOf(const SegmentView& segment, std::vector<uint8_t> truth, bool nulls_pass) {
  std::vector<StoredRange<Code>> ranges;
  for (size_t code = 0; code < truth.size() && ranges.size() <= kTableRanges; ++code) {
    if (truth[code] == 0) continue;
    if (code > 0 && truth[code - 1] != 0) {
      ranges.back().high = static_cast<Code>(code);
    } else {
      ranges.push_back({static_cast<Code>(code), static_cast<Code>(code)});
    }
  }
  if (ranges.size() <= kTableRanges) {
    return MakeStoredRanges<Code>(segment, kCodes, 0, static_cast<Code>(truth.size() - 1), std::move(ranges), nullptr,
                                  nulls_pass);
  }
  return std::make_unique<TableBound<Code>>(segment, std::move(truth), nulls_pass);
}

}  // namespace

void EvaluateOnColumn(const ColumnExpr& expr, const Vector& values, uint32_t rows, EvalContext& context, Truth* truth) {
  std::vector<Vector> columns(static_cast<size_t>(expr.column) + 1);
  columns[expr.column] = values;
  const Batch batch = {rows, static_cast<uint32_t>(columns.size()), columns.data()};
  EvaluateTruth(expr.expr, batch, context, truth);
}

void ValueBound::Apply(uint32_t begin, uint32_t count, uint64_t* bits, EvalContext& context) {
  uint64_t truth[kValidityWords];
  const uint64_t* validity = segment_.part<uint64_t>(kValidity);
  uint64_t valid[kValidityWords];
  if (validity != nullptr) kernels::CopyBits(validity, begin, count, valid);
  FindTruth(begin, count, bits, context, truth);
  for (size_t w = 0; w < BitmapWords(count); ++w) {
    if (validity != nullptr) truth[w] = nulls_pass_ ? truth[w] | ~valid[w] : truth[w] & valid[w];
    bits[w] &= truth[w];
  }
}

BoundPredicate BindVerdict(Verdict verdict) { return std::make_unique<VerdictBound>(verdict); }

BoundPredicate BindNullTest(const SegmentView& segment, bool nulls_pass) {
  const SegmentHeader& header = segment.header();
  if (header.null_count == 0) return BindVerdict(nulls_pass ? Verdict::kNone : Verdict::kAll);
  if (header.null_count == header.rows) return BindVerdict(nulls_pass ? Verdict::kAll : Verdict::kNone);
  return std::make_unique<NullTestBound>(segment, nulls_pass);
}

BoundPredicate BindRanges(const SegmentView& segment, const RangeSet& set) {
  if (segment.type() == PENUMBRA_FLOAT8) return BindFloats<double>(segment, set);
  if (segment.type() == PENUMBRA_FLOAT4) return BindFloats<float>(segment, set);
  if (segment.encoding() == Encoding::kFrame) {
    switch (segment.header().code_bytes) {
      case 1: return BindFrame<uint8_t>(segment, set);
      case 2: return BindFrame<uint16_t>(segment, set);
      default: return BindFrame<uint32_t>(segment, set);
    }
  }
  switch (segment.value_width()) {
    case 1: return BindPlainIntegers<uint8_t>(segment, set);
    case 2: return BindPlainIntegers<int16_t>(segment, set);
    case 4: return BindPlainIntegers<int32_t>(segment, set);
    default: return BindPlainIntegers<int64_t>(segment, set);
  }
}

BoundPredicate BindTable(const SegmentView& segment, std::vector<uint8_t> truth, bool nulls_pass) {
  switch (segment.header().code_bytes) {
    case 1: return BindTableOf<uint8_t>(segment, std::move(truth), nulls_pass);
    case 2: return BindTableOf<uint16_t>(segment, std::move(truth), nulls_pass);
    default: return BindTableOf<uint32_t>(segment, std::move(truth), nulls_pass);
  }
}

}  // namespace penumbra
