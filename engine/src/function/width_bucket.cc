// width_bucket between two bounds.
#include <algorithm>
#include <cmath>

#include "function/registry.h"
#include "numeric/numeric_rows.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

[[noreturn]] void RaiseUnsupported() { throw EngineError(PENUMBRA_UNSUPPORTED, "width_bucket() of such a number"); }

// The bounds of falling buckets, and their operands, are negated: then the buckets rise. A bucket has its lower bound.
struct FloatBuckets {
  double lower, upper;
  int32_t count;
  bool is_negated;
  bool divides_first;  // see PenumbraPlanOptions

  int32_t Find(double x) const {
    if (std::isnan(x)) RaiseUnsupported();  // an error in some versions
    if (is_negated) x = -x;
    if (x < lower) return 0;
    if (x >= upper) return count + 1;
    const double count_as_double = count;
    if (!divides_first) return static_cast<int32_t>(count_as_double * (x - lower) / (upper - lower) + 1);
    return std::min(static_cast<int32_t>(count_as_double * ((x - lower) / (upper - lower))), count - 1) + 1;
  }
};

// PostgreSQL 15 rounds the quotient, to at least so many decimals where it is below kNumericCountMax: one that is next
// to the bucket's end may become the end.
constexpr int kQuotientDecimals = 12;
constexpr int32_t kNumericCountMax = 100000000;

struct NumericBuckets {
  SmallNumber lower, upper;
  int32_t count;
  bool is_negated;

  int32_t FindInfinite(Decimal::Kind kind) const {
    if (kind != Decimal::Kind::kPositiveInfinity && kind != Decimal::Kind::kNegativeInfinity) RaiseUnsupported();
    return (kind == Decimal::Kind::kPositiveInfinity) == is_negated ? 0 : count + 1;
  }

  int32_t Find(const Vector& v, uint32_t row) const {
    SmallNumber x;
    if (!ReadSmall(v, row, &x)) return FindInfinite(DecimalAt(v, row).kind());
    if (is_negated) x.value = -x.value;
    const int scale = std::max({x.scale, lower.scale, upper.scale});
    int128 least = lower.value, end = upper.value, distance, length, quotient;
    if (!ScaleUpInLimit(&x.value, scale - x.scale) || !ScaleUpInLimit(&least, scale - lower.scale) ||
        !ScaleUpInLimit(&end, scale - upper.scale)) {
      RaiseUnsupported();
    }
    if (x.value < least) return 0;
    if (x.value >= end) return count + 1;
    if (!MultiplyInLimit(x.value - least, count, &distance)) RaiseUnsupported();
    length = end - least;
    if (distance <= INT64_MAX && length <= INT64_MAX) {
      quotient = static_cast<int64_t>(distance) / static_cast<int64_t>(length);
    } else {
      quotient = distance / length;
    }
    int128 missing = length - (distance - quotient * length);
    if (!ScaleUpInLimit(&missing, kQuotientDecimals) || missing > length) return static_cast<int32_t>(quotient) + 1;
    RaiseUnsupported();
  }

  // Of integers with one scale, where the distances from the lower bound times the count are words and the length is
  // so small that no quotient is that near to the next bucket. False: take the rows.
  bool FindAll(const Vector& v, uint32_t rows, int32_t* out) const {
    const int scale = std::max({int{v.scale}, lower.scale, upper.scale});
    int128 factor = 1, least = lower.value, end = upper.value, greatest;
    if (v.form != VectorForm::kFlat || v.numeric_form != NumericForm::kInt64 ||
        !ScaleUpInLimit(&factor, scale - v.scale) || !ScaleUpInLimit(&least, scale - lower.scale) ||
        !ScaleUpInLimit(&end, scale - upper.scale) || !MultiplyInLimit(end - least, count, &greatest) ||
        greatest >= static_cast<int128>(kWordMagnitudeLimit) || end - least >= kPowersOfTen[kQuotientDecimals] ||
        end - least < 2 || !FitsInt64(least, end)) {
      return false;
    }
    for (int128 bound : {v.lower, v.upper}) {
      if (!MultiplyInLimit(bound, factor, &bound) || !FitsInt64(bound, bound) || !FitsInt64(-bound, -bound)) {
        return false;
      }
    }
    const NarrowDivider divider(static_cast<uint64_t>(end - least));
    const int64_t* values = v.values<int64_t>();
    const uint64_t first = static_cast<uint64_t>(least), length = static_cast<uint64_t>(end - least);
    const uint64_t step = static_cast<uint64_t>(is_negated ? -factor : factor);
    for (uint32_t i = 0; i < rows; ++i) {
      const uint64_t x = static_cast<uint64_t>(values[i]) * step;
      const uint64_t distance = std::min(x - first, length - 1);  // of what is outside any
      const int32_t bucket = static_cast<int32_t>(divider.Divide(distance * static_cast<uint64_t>(count))) + 1;
      const bool is_below = static_cast<int64_t>(x) < static_cast<int64_t>(first);
      const bool is_above = static_cast<int64_t>(x) >= static_cast<int64_t>(first + length);
      out[i] = is_below ? 0 : is_above ? count + 1 : bucket;
    }
    return true;
  }
};

Vector EvaluateOfFloats(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const auto& buckets = *static_cast<const FloatBuckets*>(expr.state.get());
  const View<double> in = ViewOf<double>(args[0], rows, context.arena);
  int32_t* out = context.arena.AllocateArray<int32_t>(rows);
  if (args[0].validity != nullptr) std::fill_n(out, rows, 0);
  ForEachValid(args[0].validity, rows, [&](uint32_t i) { out[i] = buckets.Find(in[i]); });
  return FlatVector(PENUMBRA_INT4, out, args[0].validity);
}

Vector EvaluateOfNumerics(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const auto& buckets = *static_cast<const NumericBuckets*>(expr.state.get());
  int32_t* out = context.arena.AllocateArray<int32_t>(rows);
  if (!buckets.FindAll(args[0], rows, out)) {
    if (args[0].validity != nullptr) std::fill_n(out, rows, 0);
    ForEachValid(args[0].validity, rows, [&](uint32_t i) { out[i] = buckets.Find(args[0], i); });
  }
  return FlatVector(PENUMBRA_INT4, out, args[0].validity);
}

// Of finite bounds that are not equal, as all of them are that PostgreSQL takes.
std::shared_ptr<const FloatBuckets> BucketsOfFloats(double lower, double upper, int32_t count, bool divides_first) {
  if (!std::isfinite(upper - lower) || lower == upper) return nullptr;
  const bool is_negated = lower > upper;
  return std::make_shared<const FloatBuckets>(
      FloatBuckets{is_negated ? -lower : lower, is_negated ? -upper : upper, count, is_negated, divides_first});
}

std::shared_ptr<const NumericBuckets> BucketsOfNumerics(const Expr& lower, const Expr& upper, int32_t count) {
  NumericBuckets buckets{{}, {}, count, false};
  int order;
  if (count >= kNumericCountMax || !ReadAnySmall(lower.constant, 0, &buckets.lower) ||
      !ReadAnySmall(upper.constant, 0, &buckets.upper) || !CompareSmall(buckets.lower, buckets.upper, &order) ||
      order == 0) {
    return nullptr;
  }
  if (order > 0) {
    buckets.is_negated = true;
    buckets.lower.value = -buckets.lower.value;
    buckets.upper.value = -buckets.upper.value;
  }
  return std::make_shared<const NumericBuckets>(buckets);
}

}  // namespace

// Errors of the bounds and of their number are PostgreSQL's: then there are no buckets.
Binding BindWidthBucket(const CallSite& call) {
  Binding binding;
  if (call.function != PENUMBRA_FN_WIDTH_BUCKET || call.args.size() != 4 || call.result != PENUMBRA_INT4) return {};
  const PenumbraType type = call.args[0]->type;
  if ((type != PENUMBRA_FLOAT8 && type != PENUMBRA_NUMERIC) || call.args[1]->type != type ||
      call.args[2]->type != type || call.args[3]->type != PENUMBRA_INT4) {
    return binding;
  }
  const auto* count = KnownValue<int32_t>(*call.args[3]);
  const bool is_known = count != nullptr && *count > 0 && *count < INT32_MAX &&
                        KnownValue<char>(*call.args[1]) != nullptr && KnownValue<char>(*call.args[2]) != nullptr;
  if (is_known && type == PENUMBRA_FLOAT8) {
    binding.state = BucketsOfFloats(*KnownValue<double>(*call.args[1]), *KnownValue<double>(*call.args[2]), *count,
                                    call.session.width_bucket_divides_first);
  } else if (is_known) {
    binding.state = BucketsOfNumerics(*call.args[1], *call.args[2], *count);
  }
  if (binding.state == nullptr) {
    binding.reason = "buckets of width_bucket() that are not known";
    return binding;
  }
  binding.evaluate = type == PENUMBRA_FLOAT8 ? EvaluateOfFloats : EvaluateOfNumerics;
  binding.evaluated_args = 1;
  binding.can_fail = binding.can_be_unsupported = true;
  return binding;
}

}  // namespace penumbra
