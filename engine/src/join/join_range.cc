#include "join/join_range.h"

#include <algorithm>

#include "function/numeric_traits.h"
#include "join/join_integers.h"
#include "numeric/integer_codes.h"
#include "vector/error.h"
#include "vector/value_order.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// A condition as what it asks of the build side.
struct Comparison {
  const Expr* condition;
  const Expr* build;
  JoinRange::Bound bound;
  bool is_lower;  // build is at least the bound
};

enum class Side : uint8_t { kNone, kProbe, kBuild, kBoth };

Side SideOf(const Expr& expr, size_t probe_width) {
  std::vector<int> columns;
  CollectColumns(expr, &columns);
  bool reads_probe = false, reads_build = false;
  for (int column : columns) (static_cast<size_t>(column) < probe_width ? reads_probe : reads_build) = true;
  return reads_probe ? reads_build ? Side::kBoth : Side::kProbe : reads_build ? Side::kBuild : Side::kNone;
}

bool IsInteger(PenumbraType type) { return type == PENUMBRA_INT2 || type == PENUMBRA_INT4 || type == PENUMBRA_INT8; }

// Whether OrderedValues() of both have one order.
bool HaveOneOrder(const Expr& a, const Expr& b) {
  if (IsInteger(a.type)) return IsInteger(b.type);
  if (a.type != b.type) return false;
  if (a.type == PENUMBRA_NUMERIC) return IntegerScale(a) >= 0 && IntegerScale(a) == IntegerScale(b);
  return IsFloat(a.type) || IsIntegerType(a.type, NumericForm::kPayload);
}

std::optional<Comparison> AsComparison(const Expr& condition, size_t probe_width) {
  if (!IsRangeComparison(condition)) return {};
  const PenumbraFunction function = condition.function;
  const bool is_less = function == PENUMBRA_FN_LT || function == PENUMBRA_FN_LE;
  const Expr &left = *condition.args[0], &right = *condition.args[1];
  const Side left_side = SideOf(left, probe_width), right_side = SideOf(right, probe_width);
  const bool is_probe_left = left_side == Side::kProbe && right_side == Side::kBuild;
  if (!is_probe_left && (left_side != Side::kBuild || right_side != Side::kProbe)) return {};
  const bool is_strict = function == PENUMBRA_FN_LT || function == PENUMBRA_FN_GT;
  return Comparison{&condition,
                    is_probe_left ? &right : &left,
                    {is_probe_left ? &left : &right, is_strict},
                    is_less == is_probe_left};
}

}  // namespace

bool IsRangeComparison(const Expr& condition) {
  if (condition.kind != Expr::Kind::kCall || condition.calls_host) return false;
  switch (condition.function) {
    case PENUMBRA_FN_LT:
    case PENUMBRA_FN_LE:
    case PENUMBRA_FN_GT:
    case PENUMBRA_FN_GE: return HaveOneOrder(*condition.args[0], *condition.args[1]);
    default: return false;
  }
}

JoinRange::JoinRange(const JoinSpec& spec) {
  const bool has_keys = !spec.keys.empty() && spec.choice == PENUMBRA_JOIN_ALL;
  // A null among values would count as one among keys.
  if (has_keys && spec.is_null_aware) return;
  std::vector<Comparison> comparisons;
  for (const Expr* condition : spec.conditions) {
    const std::optional<Comparison> comparison = AsComparison(*condition, spec.probe_types.size());
    if (comparison) comparisons.push_back(*comparison);
  }
  if (comparisons.empty()) return;
  // Two bounds of one value leave no more rows than those that match.
  const auto has_both = [&](const Comparison& a) {
    return std::any_of(comparisons.begin(), comparisons.end(),
                       [&](const Comparison& b) { return a.build == b.build && a.is_lower != b.is_lower; });
  };
  const auto first = std::find_if(comparisons.begin(), comparisons.end(), has_both);
  sorted = first == comparisons.end() ? comparisons[0].build : first->build;
  rest = spec.conditions;
  for (const Comparison& comparison : comparisons) {
    Bound& bound = comparison.is_lower ? least : greatest;
    if (comparison.build == sorted && bound.probe == nullptr) {
      bound = comparison.bound;
    } else if (other == nullptr) {
      other = comparison.build;
      other_bound = comparison.bound;
      is_other_reversed = !comparison.is_lower;
    } else {
      continue;
    }
    std::erase(rest, comparison.condition);
  }
  if (has_keys && other == nullptr && (least.probe == nullptr || greatest.probe == nullptr)) sorted = nullptr;
}

std::optional<Vector> OrderedValues(const Expr& expr, const Batch& pairs, EvalContext& context) {
  Arena& arena = context.arena;
  Vector v;
  try {
    v = Evaluate(expr, pairs, context);
    if (expr.type == PENUMBRA_NUMERIC) v = ToIntegerCodes(v, pairs.rows, IntegerScale(expr), arena);
  } catch (const EngineError&) {
    return {};
  }
  v = Flatten(v, pairs.rows, arena);
  auto* ordered = arena.AllocateArray<int64_t>(pairs.rows);
  switch (expr.type) {
    case PENUMBRA_FLOAT4:
      std::transform(v.values<float>(), v.values<float>() + pairs.rows, ordered, FloatBits<uint32_t, float>);
      break;
    case PENUMBRA_FLOAT8:
      std::transform(v.values<double>(), v.values<double>() + pairs.rows, ordered,
                     [](double value) { return static_cast<int64_t>(FloatBits<uint64_t>(value) ^ uint64_t{1} << 63); });
      break;
    default: WithIntegers(v, [&](const auto* values) { std::copy_n(values, pairs.rows, ordered); });
  }
  return FlatVector(PENUMBRA_INT8, ordered, v.validity);
}

void RangeIndex::Build(const int64_t* sorted, const int64_t* others, uint64_t rows, Arena* arena) {
  sorted_ = sorted;
  rows_ = rows;
  maxima_.clear();
  if (others == nullptr) return;
  maxima_.push_back(others);
  for (uint64_t count = rows; count > kFanOut;) {
    const int64_t* below = maxima_.back();
    const uint64_t blocks = (count + kFanOut - 1) / kFanOut;
    auto* maxima = arena->AllocateArray<int64_t>(blocks);
    for (uint64_t i = 0; i < blocks; ++i) {
      maxima[i] = *std::max_element(below + i * kFanOut, below + std::min(count, (i + 1) * kFanOut));
    }
    maxima_.push_back(maxima);
    count = blocks;
  }
}

// Without branches that depend on values: they would be guessed wrong half of the time.
uint64_t RangeIndex::RowsBelow(int64_t bound, bool is_strict) const {
  if (is_strict && bound == INT64_MAX) return rows_;
  const int64_t least = bound + is_strict;
  const int64_t* begin = sorted_;
  for (uint64_t left = rows_; left > 0;) {
    const uint64_t half = (left + 1) / 2;
    begin = begin[half - 1] < least ? begin + half : begin;
    left -= half;
  }
  return static_cast<uint64_t>(begin - sorted_);
}

// A block is asked for its maximum before its rows are: on a row that begins one it goes up, past a block without a
// match to the next, and down into one with a match.
uint64_t RangeIndex::Next(uint64_t row, uint64_t end, int64_t bound) const {
  size_t level = 0;
  uint64_t block = row;  // of `level`
  const auto go_up = [&] {
    for (; level + 1 < maxima_.size() && block % kFanOut == 0; block /= kFanOut) ++level;
  };
  go_up();
  while ((block << (level * kFanOutBits)) < end) {
    if (maxima_[level][block] < bound) {
      ++block;
      go_up();
    } else if (level == 0) {
      return block;
    } else {
      --level;
      block *= kFanOut;
    }
  }
  return end;
}

}  // namespace penumbra
