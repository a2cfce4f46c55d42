// sum, avg and the variance family of float4 and float8.
//
// Sums are kept in double; PostgreSQL sums float4 in float4, so ours differs from any of its plans
// by less than they differ among themselves. Overflow is an error exactly where float8pl and
// float8_accum raise it: a finite sum, or the running sum of squares of avg and variance, that
// becomes infinite from finite inputs.
#include <cfloat>
#include <cmath>
#include <limits>

#include "aggregate/aggregate_typed.h"

namespace penumbra {
namespace {

// Below this magnitude no sum of squares of 2^62 values overflows.
constexpr double kSafeMagnitude = 1e140;

struct FloatState {
  double count;
  double sum;
  double spread;  // Youngs-Cramer's Sxx
};

[[noreturn]] void ThrowOverflow() { throw EngineError(PENUMBRA_FLOAT_OVERFLOW); }

template <typename T>
struct FloatSum {
  struct State {
    int64_t count;
    double sum;
  };
  using Value = T;
  static void AddToSum(State& state, int64_t count, double x) {
    // Nothing and -0 is -0, which 0 and -0 is not.
    const double sum = state.count == 0 ? -0.0 : state.sum;
    const double next = sum + x;
    if (std::isinf(next) && !std::isinf(sum) && !std::isinf(x)) ThrowOverflow();
    state.sum = next;
    state.count += count;
  }
  static void Add(State& state, const T& x, StateStore&) { AddToSum(state, 1, x); }
  static void Combine(State& into, const State& from, StateStore&) {
    if (from.count != 0) AddToSum(into, from.count, from.sum);
  }
};

// Sums with four running sums, of which each is -0 before its first value; false when the sum is not finite and must be
// looked at row by row.
template <typename T>
bool SumFinite(const Vector& argument, RowSelection selection, double* sum) {
  double sums[4] = {-0.0, -0.0, -0.0, -0.0};
  const T* values = argument.values<T>();
  if (argument.validity == nullptr) {
    const uint16_t* rows = selection.rows;
    uint32_t i = 0;
    for (; i + 4 <= selection.count; i += 4) {
      for (int k = 0; k < 4; ++k) sums[k] += values[rows == nullptr ? i + k : rows[i + k]];
    }
    for (; i < selection.count; ++i) sums[0] += values[rows == nullptr ? i : rows[i]];
  } else {
    VisitValid(argument, selection, [&](uint32_t row) { sums[row % 4] += values[row]; });
  }
  *sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return std::isfinite(*sum);
}

template <typename T>
class FloatSumAccumulator : public TypedAccumulator<FloatSum<T>> {
  using Base = TypedAccumulator<FloatSum<T>>;

 public:
  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    auto& running = Base::StateAt(state);
    double sum;
    if (SumFinite<T>(*arguments, selection, &sum) && std::isfinite(running.sum + sum)) {
      const int64_t count = CountValid(*arguments, selection);
      if (count != 0) FloatSum<T>::AddToSum(running, count, sum);
    } else {
      Base::AddRun(state, arguments, selection, store);
    }
  }
  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    return Base::template FinalizeEach<T>(result.type, groups, offset, count, arena, [](const auto& state, T* value) {
      *value = static_cast<T>(state.sum);
      if (std::isinf(*value) && !std::isinf(state.sum)) ThrowOverflow();
      return state.count != 0;
    });
  }
};

template <typename T>
struct FloatSpread {
  using State = FloatState;
  using Value = T;
  static void Add(State& state, const T& value, StateStore&) {
    const double x = value;
    const double old_count = state.count, old_sum = state.sum;
    state.count += 1.0;
    state.sum += x;
    if (old_count > 0.0) {
      double delta = x * state.count - state.sum;
      state.spread += delta * delta / (state.count * old_count);
      if (std::isinf(state.sum) || std::isinf(state.spread)) {
        if (!std::isinf(old_sum) && !std::isinf(x)) ThrowOverflow();
        state.spread = std::numeric_limits<double>::quiet_NaN();
      }
    } else if (!std::isfinite(x)) {
      state.spread = std::numeric_limits<double>::quiet_NaN();
    }
  }
  // As float8_combine.
  static void Combine(State& into, const State& from, StateStore&) {
    if (from.count == 0.0) return;
    if (into.count == 0.0) {
      into = from;
      return;
    }
    double count = into.count + from.count;
    double sum = into.sum + from.sum;
    if (std::isinf(sum) && !std::isinf(into.sum) && !std::isinf(from.sum)) ThrowOverflow();
    double delta = into.sum / into.count - from.sum / from.count;
    double spread = into.spread + from.spread + into.count * from.count * delta * delta / count;
    if (std::isinf(spread) && !std::isinf(into.spread) && !std::isinf(from.spread)) ThrowOverflow();
    into = {count, sum, spread};
  }
};

// avg: as the spread, but Sxx matters only for its overflow, so that small values skip it.
template <typename T>
struct FloatAverage : FloatSpread<T> {
  static void Add(FloatState& state, const T& x, StateStore& store) {
    if (std::fabs(static_cast<double>(x)) < kSafeMagnitude && std::fabs(state.sum) < kSafeMagnitude) {
      state.count += 1.0;
      state.sum += x;
    } else {
      FloatSpread<T>::Add(state, x, store);
    }
  }
};

template <typename Ops>
class FloatSpreadAccumulator : public TypedAccumulator<Ops> {
  using Base = TypedAccumulator<Ops>;

 public:
  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    return Base::template FinalizeEach<double>(
        result.type, groups, offset, count, arena,
        [&](const FloatState& state, double* value) { return Result(result.function, state, value); });
  }

 private:
  static bool Result(PenumbraAggregate function, const FloatState& state, double* value) {
    const double n = state.count;
    const double divisor = IsOfSample(function) ? n - 1.0 : n;
    *value = 0;
    if (divisor <= 0) return false;
    if (function == PENUMBRA_AGG_AVG) {
      *value = state.sum / n;
    } else {
      const double variance = state.spread / divisor;
      *value = IsDeviation(function) ? std::sqrt(variance) : variance;
    }
    return true;
  }
};

template <typename T>
class FloatAverageAccumulator : public FloatSpreadAccumulator<FloatAverage<T>> {
  using Base = FloatSpreadAccumulator<FloatAverage<T>>;

 public:
  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    FloatState& running = Base::StateAt(state);
    const T* values = arguments->values<T>();
    double greatest = std::fabs(running.sum);
    bool is_small = greatest < kSafeMagnitude;
    VisitValid(*arguments, selection, [&](uint32_t row) { is_small &= std::fabs(values[row]) < kSafeMagnitude; });
    double sum;
    if (is_small && SumFinite<T>(*arguments, selection, &sum)) {
      running.sum += sum;
      running.count += static_cast<double>(CountValid(*arguments, selection));
    } else {
      Base::AddRun(state, arguments, selection, store);
    }
  }
};

template <template <typename> class StateAccumulator>
std::unique_ptr<Accumulator> Create(PenumbraType type) {
  if (type == PENUMBRA_FLOAT4) return std::make_unique<StateAccumulator<float>>();
  return std::make_unique<StateAccumulator<double>>();
}

template <typename T>
using SpreadAccumulatorOf = FloatSpreadAccumulator<FloatSpread<T>>;

}  // namespace

std::unique_ptr<Accumulator> CreateFloatSumAccumulator(PenumbraType type) { return Create<FloatSumAccumulator>(type); }

std::unique_ptr<Accumulator> CreateFloatSpreadAccumulator(PenumbraType type) {
  return Create<SpreadAccumulatorOf>(type);
}

std::unique_ptr<Accumulator> CreateAverageAccumulator(const AggregateSpec& spec) {
  return Create<FloatAverageAccumulator>(ArgumentType(spec));
}

}  // namespace penumbra
