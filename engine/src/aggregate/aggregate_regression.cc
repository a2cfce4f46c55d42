// Aggregates of pairs (y, x) of float8: covariance, correlation, linear regression.
//
// The running state is float8_regr_accum's (Youngs and Cramer), with its errors: a sum that becomes infinite from
// finite values is an overflow, from infinite ones the spreads are NaN.
#include <cmath>
#include <limits>

#include "aggregate/aggregate_accumulator.h"

namespace penumbra {
namespace {

struct RegressionState {
  double count;
  double sum_x;
  double spread_x;  // the sum of squares of differences from the mean
  double sum_y;
  double spread_y;
  double spread_xy;  // the sum of products of these differences
};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void ThrowOverflow() { throw EngineError(PENUMBRA_FLOAT_OVERFLOW); }

void SetNaNIfInfinite(double& value) {
  if (std::isinf(value)) value = kNaN;
}

// Youngs and Cramer's update, with float8_regr_accum()'s order of operations and its errors: an infinity that finite
// values make is an overflow, one that an infinite input makes is NaN.
void Add(RegressionState& state, double y, double x) {
  const RegressionState old = state;
  state.count += 1.0;
  state.sum_x += x;
  state.sum_y += y;
  if (old.count == 0.0) {
    if (!std::isfinite(x)) state.spread_x = state.spread_xy = kNaN;
    if (!std::isfinite(y)) state.spread_y = state.spread_xy = kNaN;
    return;
  }
  const double delta_x = x * state.count - state.sum_x;
  const double delta_y = y * state.count - state.sum_y;
  const double scale = 1.0 / (state.count * old.count);
  state.spread_x += delta_x * delta_x * scale;
  state.spread_y += delta_y * delta_y * scale;
  state.spread_xy += delta_x * delta_y * scale;
  const bool x_is_infinite = std::isinf(state.sum_x) || std::isinf(state.spread_x);
  const bool y_is_infinite = std::isinf(state.sum_y) || std::isinf(state.spread_y);
  if (!x_is_infinite && !y_is_infinite && !std::isinf(state.spread_xy)) return;
  const bool x_was_finite = !std::isinf(old.sum_x) && !std::isinf(x);
  const bool y_was_finite = !std::isinf(old.sum_y) && !std::isinf(y);
  if ((x_is_infinite && x_was_finite) || (y_is_infinite && y_was_finite) ||
      (std::isinf(state.spread_xy) && x_was_finite && y_was_finite)) {
    ThrowOverflow();
  }
  SetNaNIfInfinite(state.spread_x);
  SetNaNIfInfinite(state.spread_y);
  SetNaNIfInfinite(state.spread_xy);
}

// a + b + more
double Sum(double a, double b, double more) {
  const double sum = a + b + more;
  if (std::isinf(sum) && !std::isinf(a) && !std::isinf(b)) ThrowOverflow();
  return sum;
}

void CombineStates(RegressionState& into, const RegressionState& from) {
  if (from.count == 0.0) return;
  if (into.count == 0.0) {
    into = from;
    return;
  }
  const double count = into.count + from.count;
  const double delta_x = into.sum_x / into.count - from.sum_x / from.count;
  const double delta_y = into.sum_y / into.count - from.sum_y / from.count;
  const double product = into.count * from.count;
  into.sum_x = Sum(into.sum_x, from.sum_x, 0.0);
  into.spread_x = Sum(into.spread_x, from.spread_x, product * delta_x * delta_x / count);
  into.sum_y = Sum(into.sum_y, from.sum_y, 0.0);
  into.spread_y = Sum(into.spread_y, from.spread_y, product * delta_y * delta_y / count);
  into.spread_xy = Sum(into.spread_xy, from.spread_xy, product * delta_x * delta_y / count);
  into.count = count;
}

// Finals: null for too few rows, and where the line that is asked for is vertical (or, for corr, horizontal).
using Final = std::optional<double> (*)(const RegressionState&);

std::optional<double> Correlation(const RegressionState& s) {
  if (s.spread_x == 0 || s.spread_y == 0) return std::nullopt;
  return s.spread_xy / std::sqrt(s.spread_x * s.spread_y);
}
std::optional<double> SampleCovariance(const RegressionState& s) {
  if (s.count < 2.0) return std::nullopt;
  return s.spread_xy / (s.count - 1.0);
}
std::optional<double> Slope(const RegressionState& s) {
  if (s.spread_x == 0) return std::nullopt;
  return s.spread_xy / s.spread_x;
}
std::optional<double> Intercept(const RegressionState& s) {
  if (s.spread_x == 0) return std::nullopt;
  return (s.sum_y - s.sum_x * s.spread_xy / s.spread_x) / s.count;
}
std::optional<double> Determination(const RegressionState& s) {
  if (s.spread_x == 0) return std::nullopt;
  if (s.spread_y == 0) return 1.0;
  return (s.spread_xy * s.spread_xy) / (s.spread_x * s.spread_y);
}

constexpr struct {
  PenumbraAggregate function;
  Final final;
} kFinals[] = {
    {PENUMBRA_AGG_CORR, Correlation},
    {PENUMBRA_AGG_COVAR_POP, [](const RegressionState& s) -> std::optional<double> { return s.spread_xy / s.count; }},
    {PENUMBRA_AGG_COVAR_SAMP, SampleCovariance},
    {PENUMBRA_AGG_REGR_SLOPE, Slope},
    {PENUMBRA_AGG_REGR_INTERCEPT, Intercept},
    {PENUMBRA_AGG_REGR_R2, Determination},
    {PENUMBRA_AGG_REGR_AVGX, [](const RegressionState& s) -> std::optional<double> { return s.sum_x / s.count; }},
    {PENUMBRA_AGG_REGR_AVGY, [](const RegressionState& s) -> std::optional<double> { return s.sum_y / s.count; }},
    {PENUMBRA_AGG_REGR_SXX, [](const RegressionState& s) -> std::optional<double> { return s.spread_x; }},
    {PENUMBRA_AGG_REGR_SYY, [](const RegressionState& s) -> std::optional<double> { return s.spread_y; }},
    {PENUMBRA_AGG_REGR_SXY, [](const RegressionState& s) -> std::optional<double> { return s.spread_xy; }},
};

Final FinalOf(PenumbraAggregate function) {
  for (const auto& entry : kFinals) {
    if (entry.function == function) return entry.final;
  }
  throw EngineError(PENUMBRA_INTERNAL, "an aggregate that is none of pairs");
}

class RegressionAccumulator : public Accumulator {
 public:
  RegressionAccumulator() : Accumulator(sizeof(RegressionState), false) {}

  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore&) const override {
    const double* y = arguments[0].values<double>();
    const double* x = arguments[1].values<double>();
    RegressionState running = StateAt(state);
    VisitValid(arguments[0], selection, [&](uint32_t row) { Add(running, y[row], x[row]); });
    StateAt(state) = running;
  }
  void AddScattered(char* const* groups, uint32_t offset, const Vector* arguments, RowSelection selection,
                    StateStore&) const override {
    const double* y = arguments[0].values<double>();
    const double* x = arguments[1].values<double>();
    VisitValid(arguments[0], selection, [&](uint32_t row) { Add(StateAt(groups[row] + offset), y[row], x[row]); });
  }
  void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count, StateStore&) const override {
    for (uint32_t i = 0; i < count; ++i) CombineStates(StateAt(into[i] + offset), StateAt(from[i] + offset));
  }
  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    const Final final = FinalOf(result.function);
    double* values;
    ResultVector out = MakeResult(result.type, count, arena, &values);
    for (uint32_t i = 0; i < count; ++i) {
      const RegressionState& state = *reinterpret_cast<const RegressionState*>(groups[i] + offset);
      const std::optional<double> value = state.count > 0 ? final(state) : std::nullopt;
      if (!value) out.SetNull(i, arena);
      values[i] = value.value_or(0);
    }
    return out.vector;
  }

 private:
  static RegressionState& StateAt(char* state) { return *reinterpret_cast<RegressionState*>(state); }
};

}  // namespace

std::unique_ptr<Accumulator> CreateRegressionAccumulator(const AggregateSpec&) {
  return std::make_unique<RegressionAccumulator>();
}

}  // namespace penumbra
