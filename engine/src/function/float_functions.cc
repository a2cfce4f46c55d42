// Functions of floats that the C library computes, with PostgreSQL's errors.
#include <algorithm>
#include <cerrno>
#include <cmath>

#include "function/registry.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

[[noreturn]] void Raise(PenumbraCode code, const char* message = "") { throw EngineError(code, message); }

// Functions that may fail see valid rows only.
template <double (*kFunction)(double)>
Vector EvaluateChecked(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<double> a = ViewOf<double>(args[0], rows, context.arena);
  double* out = context.arena.AllocateArray<double>(rows);
  if (args[0].validity != nullptr) std::fill_n(out, rows, 0.0);
  ForEachValid(args[0].validity, rows, [&](uint32_t i) { out[i] = kFunction(a[i]); });
  return FlatVector(expr.type, out, args[0].validity);
}

double SquareRoot(double x) {
  if (x < 0) Raise(PENUMBRA_INVALID_POWER_ARGUMENT, "cannot take square root of a negative number");
  return std::sqrt(x);
}

double Exponential(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x > 0 ? x : 0;
  errno = 0;
  const double result = std::exp(x);
  // A result that is only subnormal is a range error too; PostgreSQL takes that for overflow.
  if (std::isinf(result) || (errno == ERANGE && result != 0)) Raise(PENUMBRA_FLOAT_OVERFLOW);
  if (result == 0) Raise(PENUMBRA_FLOAT_UNDERFLOW);
  return result;
}

double Logarithm(double x) {
  if (x == 0) Raise(PENUMBRA_INVALID_LOG_ARGUMENT, "cannot take logarithm of zero");
  if (x < 0) Raise(PENUMBRA_INVALID_LOG_ARGUMENT, "cannot take logarithm of a negative number");
  return std::log(x);
}

// NaN is left as it is before the C library is asked, as PostgreSQL does.
double Logarithm10(double x) {
  if (x == 0) Raise(PENUMBRA_INVALID_LOG_ARGUMENT, "cannot take logarithm of zero");
  if (x < 0) Raise(PENUMBRA_INVALID_LOG_ARGUMENT, "cannot take logarithm of a negative number");
  return std::log10(x);
}

double CubeRoot(double x) { return std::cbrt(x); }

[[noreturn]] void RaiseInput() { Raise(PENUMBRA_FLOAT_OVERFLOW, "input is out of range"); }

// Of an angle, which must be finite.
template <double (*kFunction)(double)>
double OfAngle(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) RaiseInput();
  return kFunction(x);
}
double Cotangent(double x) { return 1.0 / std::tan(x); }

// Of a number from -1 to 1.
template <double (*kFunction)(double)>
double OfRatio(double x) {
  if (std::isnan(x)) return x;
  if (x < -1 || x > 1) RaiseInput();
  return kFunction(x);
}

double HyperbolicSine(double x) {
  errno = 0;
  const double result = std::sinh(x);
  // A range error is infinite for PostgreSQL, also where the result is only subnormal.
  return errno == ERANGE ? std::copysign(HUGE_VAL, x < 0 ? -1.0 : 1.0) : result;
}
double HyperbolicCosine(double x) {
  errno = 0;
  const double result = std::cosh(x);
  return errno == ERANGE ? HUGE_VAL : result;
}
double AreaHyperbolicCosine(double x) {
  if (x < 1) RaiseInput();
  return std::acosh(x);
}
double AreaHyperbolicTangent(double x) {
  if (x < -1 || x > 1) RaiseInput();
  if (x == -1 || x == 1) return x * HUGE_VAL;
  return std::atanh(x);
}

constexpr double kRadiansPerDegree = 0.0174532925199432957692;

double Degrees(double x) {
  const double result = x / kRadiansPerDegree;
  if (std::isinf(result) && !std::isinf(x)) Raise(PENUMBRA_FLOAT_OVERFLOW);
  if (result == 0 && x != 0) Raise(PENUMBRA_FLOAT_UNDERFLOW);
  return result;
}
double Radians(double x) {
  const double result = x * kRadiansPerDegree;
  if (result == 0 && x != 0) Raise(PENUMBRA_FLOAT_UNDERFLOW);
  return result;
}

double ArcTangent2(double y, double x) { return std::atan2(y, x); }

double Power(double x, double y) {
  if (std::isnan(x)) return y == 0 ? 1.0 : x;
  if (std::isnan(y)) return x == 1 ? 1.0 : y;
  if (x == 0 && y < 0) {
    Raise(PENUMBRA_INVALID_POWER_ARGUMENT, "zero raised to a negative power is undefined");
  }
  if (x < 0 && std::floor(y) != y) {
    Raise(PENUMBRA_INVALID_POWER_ARGUMENT, "a negative number raised to a non-integer power yields a complex result");
  }
  errno = 0;
  const double result = std::pow(x, y);
  if (std::isinf(x) || std::isinf(y)) return result;
  if (std::isinf(result)) Raise(PENUMBRA_FLOAT_OVERFLOW);
  // As in Exponential().
  if (errno == ERANGE && result != 0) Raise(PENUMBRA_FLOAT_OVERFLOW);
  if (result == 0 && x != 0) Raise(PENUMBRA_FLOAT_UNDERFLOW);
  return result;
}

template <double (*kFunction)(double, double)>
Vector EvaluateCheckedPair(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<double> a = ViewOf<double>(args[0], rows, context.arena);
  const View<double> b = ViewOf<double>(args[1], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  double* out = context.arena.AllocateArray<double>(rows);
  if (validity != nullptr) std::fill_n(out, rows, 0.0);
  ForEachValid(validity, rows, [&](uint32_t i) { out[i] = kFunction(a[i], b[i]); });
  return FlatVector(expr.type, out, validity);
}

EvaluateFunction ChooseUnary(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_SQRT: return EvaluateChecked<SquareRoot>;
    case PENUMBRA_FN_CBRT: return EvaluateChecked<CubeRoot>;
    case PENUMBRA_FN_EXP: return EvaluateChecked<Exponential>;
    case PENUMBRA_FN_LN: return EvaluateChecked<Logarithm>;
    case PENUMBRA_FN_LOG10: return EvaluateChecked<Logarithm10>;
    case PENUMBRA_FN_SIN: return EvaluateChecked<OfAngle<std::sin>>;
    case PENUMBRA_FN_COS: return EvaluateChecked<OfAngle<std::cos>>;
    case PENUMBRA_FN_TAN: return EvaluateChecked<OfAngle<std::tan>>;
    case PENUMBRA_FN_COT: return EvaluateChecked<OfAngle<Cotangent>>;
    case PENUMBRA_FN_ASIN: return EvaluateChecked<OfRatio<std::asin>>;
    case PENUMBRA_FN_ACOS: return EvaluateChecked<OfRatio<std::acos>>;
    case PENUMBRA_FN_ATAN: return EvaluateChecked<std::atan>;
    case PENUMBRA_FN_SINH: return EvaluateChecked<HyperbolicSine>;
    case PENUMBRA_FN_COSH: return EvaluateChecked<HyperbolicCosine>;
    case PENUMBRA_FN_TANH: return EvaluateChecked<std::tanh>;
    case PENUMBRA_FN_ASINH: return EvaluateChecked<std::asinh>;
    case PENUMBRA_FN_ACOSH: return EvaluateChecked<AreaHyperbolicCosine>;
    case PENUMBRA_FN_ATANH: return EvaluateChecked<AreaHyperbolicTangent>;
    case PENUMBRA_FN_DEGREES: return EvaluateChecked<Degrees>;
    case PENUMBRA_FN_RADIANS: return EvaluateChecked<Radians>;
    default: return nullptr;
  }
}

EvaluateFunction ChooseBinary(PenumbraFunction function) {
  if (function == PENUMBRA_FN_POWER) return EvaluateCheckedPair<Power>;
  return function == PENUMBRA_FN_ATAN2 ? EvaluateCheckedPair<ArcTangent2> : nullptr;
}

// For each number there is a result.
bool IsTotal(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_CBRT:
    case PENUMBRA_FN_ATAN:
    case PENUMBRA_FN_ATAN2:
    case PENUMBRA_FN_SINH:
    case PENUMBRA_FN_COSH:
    case PENUMBRA_FN_TANH:
    case PENUMBRA_FN_ASINH: return true;
    default: return false;
  }
}

}  // namespace

Binding BindFloatFunction(const CallSite& call) {
  Binding binding;
  if (call.result != PENUMBRA_FLOAT8 ||
      !std::all_of(call.args.begin(), call.args.end(), [](const Expr* arg) { return arg->type == PENUMBRA_FLOAT8; })) {
    return binding;
  }
  if (call.args.size() == 1) binding.evaluate = ChooseUnary(call.function);
  if (call.args.size() == 2) binding.evaluate = ChooseBinary(call.function);
  binding.can_fail = !IsTotal(call.function);
  return binding;
}

}  // namespace penumbra
