#include "scan/scan_predicate_ranges.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>

#include "function/like.h"
#include "numeric/numeric.h"

namespace penumbra {

RangeSet RangeSet::Of(int128 low, int128 high) {
  RangeSet set;
  low = std::max<int128>(low, INT64_MIN);
  high = std::min<int128>(high, INT64_MAX);
  if (low <= high) set.ranges_.push_back({static_cast<int64_t>(low), static_cast<int64_t>(high)});
  return set;
}

bool RangeSet::Overlaps(int64_t low, int64_t high) const {
  const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), low,
                                      [](const Range& range, int64_t key) { return range.high < key; });
  return first != ranges_.end() && first->low <= high;
}

bool RangeSet::Contains(int64_t low, int64_t high) const {
  const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), low,
                                      [](const Range& range, int64_t key) { return range.high < key; });
  return first != ranges_.end() && first->low <= low && high <= first->high;
}

RangeSet RangeSet::Complement() const {
  RangeSet set;
  int128 next = INT64_MIN;
  for (const Range& range : ranges_) {
    if (next < range.low) set.ranges_.push_back({static_cast<int64_t>(next), range.low - 1});
    next = static_cast<int128>(range.high) + 1;
  }
  if (next <= INT64_MAX) set.ranges_.push_back({static_cast<int64_t>(next), INT64_MAX});
  return set;
}

RangeSet RangeSet::Intersect(const RangeSet& other) const {
  RangeSet set;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const int64_t low = std::max(a->low, b->low);
    const int64_t high = std::min(a->high, b->high);
    if (low <= high) set.ranges_.push_back({low, high});
    if (a->high < b->high) {
      ++a;
    } else {
      ++b;
    }
  }
  return set;
}

RangeSet RangeSet::Union(std::vector<RangeSet> sets) {
  std::vector<Range> all;
  for (const RangeSet& set : sets) all.insert(all.end(), set.ranges_.begin(), set.ranges_.end());
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) { return a.low < b.low; });
  RangeSet result;
  for (const Range& range : all) {
    std::vector<Range>& merged = result.ranges_;
    if (!merged.empty() && range.low <= static_cast<int128>(merged.back().high) + 1) {
      merged.back().high = std::max(merged.back().high, range.high);
    } else {
      merged.push_back(range);
    }
  }
  return result;
}

RangeSet RangeSet::OfKeys(std::vector<int64_t> keys) {
  if (!std::is_sorted(keys.begin(), keys.end())) hwy::Sorter()(keys.data(), keys.size(), hwy::SortAscending());
  RangeSet set;
  for (int64_t key : keys) {
    if (!set.ranges_.empty() && key <= static_cast<int128>(set.ranges_.back().high) + 1) {
      set.ranges_.back().high = key;
    } else {
      set.ranges_.push_back({key, key});
    }
  }
  return set;
}

RangeSet RangeSet::Clip(int64_t low, int64_t high) const {
  RangeSet set;
  auto range = std::lower_bound(ranges_.begin(), ranges_.end(), low,
                                [](const Range& range, int64_t key) { return range.high < key; });
  for (; range != ranges_.end() && range->low <= high; ++range) {
    set.ranges_.push_back({std::max(range->low, low), std::min(range->high, high)});
  }
  return set;
}

namespace {

// Where a constant stands among the keys: `floor` is the greatest key at or below it, which may lie
// outside int64; is_exact: it has that key itself.
struct KeyPosition {
  int128 floor = 0;
  bool is_exact = true;
};

constexpr int128 kAboveAll = static_cast<int128>(1) << 100;

// integer / 10^integer_scale
KeyPosition ScaledPosition(int128 integer, int integer_scale, int scale) {
  if (integer == 0) return KeyPosition{0, true};
  const int shift = scale - integer_scale;
  if (shift >= 0) {
    int128 key;
    if (shift > kMaxInt128Digits || __builtin_mul_overflow(integer, kPowersOfTen[shift], &key) || key > kAboveAll ||
        key < -kAboveAll) {
      return KeyPosition{integer < 0 ? -kAboveAll : kAboveAll, false};
    }
    return KeyPosition{key, true};
  }
  if (-shift > kMaxInt128Digits) return KeyPosition{integer < 0 ? -1 : 0, false};
  const int128 unit = kPowersOfTen[-shift];
  int128 key = integer / unit;
  const bool is_exact = key * unit == integer;
  if (!is_exact && integer < 0) --key;
  return KeyPosition{std::clamp(key, -kAboveAll, kAboveAll), is_exact};
}

std::optional<KeyPosition> NumericPosition(const Vector& constants, uint32_t i, int scale) {
  if (constants.numeric_form == NumericForm::kPayload) {
    const StringRef& payload = constants.values<StringRef>()[i];
    int64_t integer;
    int own_scale;
    if (PayloadToInt64(payload.data(), payload.length, &integer, &own_scale)) {
      return ScaledPosition(integer, own_scale, scale);
    }
  }
  const Decimal decimal = DecimalAt(constants, i);
  switch (decimal.kind()) {
    case Decimal::Kind::kFinite: break;
    case Decimal::Kind::kNegativeInfinity: return KeyPosition{-kAboveAll, false};
    default: return KeyPosition{kAboveAll, false};  // NaN is above everything finite too
  }
  int128 integer;
  if (!decimal.ToScaledInteger(&integer)) return std::nullopt;
  return ScaledPosition(integer, decimal.scale(), scale);
}

// Of a constant (i: 0) or an element of a list.
std::optional<KeyPosition> FindPosition(const Vector& constants, uint32_t i, const KeyDomain& domain) {
  if (!constants.IsValid(i) || !AreComparable(constants.type, domain.type)) return std::nullopt;
  switch (domain.kind) {
    case KeyKind::kInteger: return KeyPosition{IntegerAt(constants, i), true};
    case KeyKind::kFloat: {
      const double value =
          constants.type == PENUMBRA_FLOAT4 ? double{constants.values<float>()[i]} : constants.values<double>()[i];
      return KeyPosition{FloatKey(value), true};
    }
    case KeyKind::kNumeric: return NumericPosition(constants, i, domain.scale);
    default: break;
  }
  if (constants.type == PENUMBRA_UUID) {
    return KeyPosition{PrefixKey({constants.values<char>() + size_t{i} * FlatWidth(constants), 8}), true};
  }
  const std::string_view bytes = constants.values<StringRef>()[i].view();
  return KeyPosition{PrefixKey(constants.type == PENUMBRA_BPCHAR ? TrimBlanks(bytes) : bytes), true};
}

RangeSet RangesOfComparison(PenumbraFunction function, const KeyPosition& at) {
  const int128 last_below = at.is_exact ? at.floor - 1 : at.floor;
  const int128 first_at_or_above = last_below + 1;
  switch (function) {
    case PENUMBRA_FN_EQ: return at.is_exact ? RangeSet::Of(at.floor, at.floor) : RangeSet::None();
    case PENUMBRA_FN_NE: return at.is_exact ? RangeSet::Of(at.floor, at.floor).Complement() : RangeSet::All();
    case PENUMBRA_FN_LT: return RangeSet::Of(INT64_MIN, last_below);
    case PENUMBRA_FN_LE: return RangeSet::Of(INT64_MIN, at.floor);
    case PENUMBRA_FN_GT: return RangeSet::Of(at.floor + 1, INT64_MAX);
    default: return RangeSet::Of(first_at_or_above, INT64_MAX);
  }
}

// Of keys that are only a beginning: values on both sides of the constant can share its key.
RangeSet PrefixRangesOfComparison(PenumbraFunction function, const KeyPosition& at) {
  switch (function) {
    case PENUMBRA_FN_EQ: return RangeSet::Of(at.floor, at.floor);
    case PENUMBRA_FN_NE: return RangeSet::All();
    case PENUMBRA_FN_LT:
    case PENUMBRA_FN_LE: return RangeSet::Of(INT64_MIN, at.floor);
    default: return RangeSet::Of(at.floor, INT64_MAX);
  }
}

std::optional<RangeSet> CompileComparison(const Expr& expr, const KeyDomain& domain) {
  // Bounds and ranges of keys are bytewise.
  if (expr.args.size() != 2 || expr.collation != nullptr) return std::nullopt;
  const Expr* column = expr.args[0];
  const Expr* constant = expr.args[1];
  PenumbraFunction function = expr.function;
  if (column->kind == Expr::Kind::kConstant) {
    std::swap(column, constant);
    function = Mirror(function);
  }
  if (column->kind != Expr::Kind::kColumn || constant->kind != Expr::Kind::kConstant) return std::nullopt;
  const std::optional<KeyPosition> at = FindPosition(constant->constant, 0, domain);
  if (!at) return std::nullopt;
  return domain.kind == KeyKind::kPrefix ? PrefixRangesOfComparison(function, *at) : RangesOfComparison(function, *at);
}

std::optional<RangeSet> CompileList(const Expr& expr, const KeyDomain& domain) {
  if (expr.args.empty() || expr.args[0]->kind != Expr::Kind::kColumn) return std::nullopt;
  std::vector<int64_t> keys;
  for (size_t a = 1; a < expr.args.size(); ++a) {
    const Expr& arg = *expr.args[a];
    if (!arg.is_constant()) return std::nullopt;
    for (uint32_t i = 0; i < arg.constant_count(); ++i) {
      const std::optional<KeyPosition> at = FindPosition(arg.constant, i, domain);
      if (!at) return std::nullopt;
      if (at->is_exact && at->floor == static_cast<int64_t>(at->floor)) keys.push_back(static_cast<int64_t>(at->floor));
    }
  }
  RangeSet set = RangeSet::OfKeys(std::move(keys));
  if (expr.function == PENUMBRA_FN_IN_LIST) return set;
  return domain.kind == KeyKind::kPrefix ? RangeSet::All() : set.Complement();
}

// What begins with the pattern's first literal. A char(n) has its keys without trailing blanks.
std::optional<RangeSet> CompileLike(const Expr& expr, const KeyDomain& domain) {
  const LikePattern* pattern = ConstantPattern(expr);
  if (pattern == nullptr || expr.args[0]->kind != Expr::Kind::kColumn) return std::nullopt;
  std::string_view prefix = pattern->literals().front();
  if (domain.type == PENUMBRA_BPCHAR) prefix = TrimBlanks(prefix);
  std::string last(prefix.substr(0, sizeof(int64_t)));
  last.resize(sizeof(int64_t), '\xff');
  return RangeSet::Of(PrefixKey(prefix), PrefixKey(last));
}

std::optional<RangeSet> CompileConnective(const Expr& expr, const KeyDomain& domain) {
  std::vector<RangeSet> sets;
  for (const Expr* arg : expr.args) {
    std::optional<RangeSet> set = CompileRanges(*arg, domain);
    if (!set) return std::nullopt;
    sets.push_back(std::move(*set));
  }
  if (expr.function == PENUMBRA_FN_OR) return RangeSet::Union(std::move(sets));
  RangeSet all = RangeSet::All();
  for (const RangeSet& set : sets) all = all.Intersect(set);
  return all;
}

}  // namespace

PenumbraFunction Mirror(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_LT: return PENUMBRA_FN_GT;
    case PENUMBRA_FN_LE: return PENUMBRA_FN_GE;
    case PENUMBRA_FN_GT: return PENUMBRA_FN_LT;
    case PENUMBRA_FN_GE: return PENUMBRA_FN_LE;
    default: return function;
  }
}

std::optional<RangeSet> CompileRanges(const Expr& expr, const KeyDomain& domain) {
  if (expr.kind == Expr::Kind::kColumn) {
    if (domain.type != PENUMBRA_BOOL) return std::nullopt;
    return RangeSet::Of(1, 1);
  }
  // A constant does not become null with the column, which would break the promise for nulls.
  if (expr.kind == Expr::Kind::kConstant) return std::nullopt;
  if (IsComparison(expr.function)) return CompileComparison(expr, domain);
  switch (expr.function) {
    case PENUMBRA_FN_IN_LIST:
    case PENUMBRA_FN_NOT_IN_LIST: return CompileList(expr, domain);
    case PENUMBRA_FN_LIKE: return CompileLike(expr, domain);
    case PENUMBRA_FN_AND:
    case PENUMBRA_FN_OR: return CompileConnective(expr, domain);
    case PENUMBRA_FN_NOT: {
      if (domain.kind == KeyKind::kPrefix) return std::nullopt;
      const std::optional<RangeSet> set = CompileRanges(*expr.args[0], domain);
      if (!set) return std::nullopt;
      return set->Complement();
    }
    default: return std::nullopt;
  }
}

}  // namespace penumbra
