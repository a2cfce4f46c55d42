// Arithmetic on integers and floats. Loops compute all rows, null ones too, and note whether any may have
// failed; only then are the valid rows looked at one by one, and the first that failed raises the error.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "function/registry.h"
#include "kernels/kernels.h"
#include "numeric/numeric_words.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

using kernels::Arithmetic;

template <typename T>
constexpr PenumbraCode kOutOfRange = sizeof(T) == 2   ? PENUMBRA_INT2_OUT_OF_RANGE
                                     : sizeof(T) == 4 ? PENUMBRA_INT4_OUT_OF_RANGE
                                                      : PENUMBRA_INT8_OUT_OF_RANGE;

template <typename From, typename To>
const To* WidenValues(const From* values, uint32_t count, Arena& arena) {
  To* wide = arena.AllocateArray<To>(count);
  for (uint32_t i = 0; i < count; ++i) wide[i] = static_cast<To>(values[i]);
  return wide;
}

// An argument as T, to which its own type is widened: a pointer to one value per row, or to the constant.
template <typename T>
const T* Load(const Vector& v, uint32_t rows, Arena& arena) {
  const Vector flat = v.form == VectorForm::kDictionary ? Flatten(v, rows, arena) : v;
  const uint32_t count = v.is_constant() ? 1 : rows;
  if constexpr (std::is_floating_point_v<T>) {
    if (v.type == PENUMBRA_FLOAT4 && sizeof(T) == 8) {
      return WidenValues<float, T>(flat.values<float>(), count, arena);
    }
    return flat.values<T>();
  } else {
    if (v.type == PENUMBRA_INT2 && sizeof(T) > 2) {
      return WidenValues<int16_t, T>(flat.values<int16_t>(), count, arena);
    }
    if (v.type == PENUMBRA_INT4 && sizeof(T) > 4) {
      return WidenValues<int32_t, T>(flat.values<int32_t>(), count, arena);
    }
    return flat.values<T>();
  }
}

Arithmetic OperatorOf(PenumbraFunction function) {
  if (function == PENUMBRA_FN_ADD) return Arithmetic::kAdd;
  if (function == PENUMBRA_FN_SUB) return Arithmetic::kSubtract;
  if (function == PENUMBRA_FN_MUL) return Arithmetic::kMultiply;
  throw EngineError(PENUMBRA_INTERNAL, "no arithmetic kernel");
}

template <typename T>
bool Overflows(Arithmetic op, T a, T b) {
  T result;
  switch (op) {
    case Arithmetic::kAdd: return __builtin_add_overflow(a, b, &result);
    case Arithmetic::kSubtract: return __builtin_sub_overflow(a, b, &result);
    case Arithmetic::kMultiply: return __builtin_mul_overflow(a, b, &result);
  }
  return true;
}

// Null rows may overflow. So after a kernel's complaint the valid rows are checked one by one.
template <typename T>
Vector EvaluateIntegers(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const Arithmetic op = OperatorOf(expr.function);
  const T* a = Load<T>(args[0], rows, context.arena);
  const T* b = Load<T>(args[1], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  T* out = context.arena.AllocateArray<T>(rows);
  const uint32_t a_stride = args[0].is_constant() ? 0 : 1, b_stride = args[1].is_constant() ? 0 : 1;
  bool is_good;
  if (a_stride == b_stride) {
    is_good = kernels::ArithmeticColumnsChecked<T>(op, a, b, rows, out);
  } else if (b_stride == 0) {
    is_good = kernels::ArithmeticConstantChecked<T>(op, a, *b, rows, out);
  } else {
    is_good = kernels::ArithmeticFromConstantChecked<T>(op, *a, b, rows, out);
  }
  if (!is_good) {
    ForEachValid(validity, rows, [&](uint32_t i) {
      if (Overflows(op, a[i * a_stride], b[i * b_stride])) throw EngineError(kOutOfRange<T>);
    });
  }
  return FlatVector(expr.type, out, validity);
}

// A quotient by a positive constant, through double: exact, as |value| < 2^53 and a quotient that is not an integer
// is further from the next one than rounding carries it.
void Divide(const int32_t* values, int32_t divisor, uint32_t rows, int32_t* out) {
  const double wide_divisor = divisor;
  for (uint32_t i = 0; i < rows; ++i) out[i] = static_cast<int32_t>(values[i] / wide_divisor);
}

// The same of 64 bits, by a multiplication.
void Divide(const int64_t* values, int64_t divisor, uint32_t rows, int64_t* out) {
  if (divisor == 1) {
    std::copy_n(values, rows, out);
    return;
  }
  const NarrowDivider divider(static_cast<uint64_t>(divisor));
  for (uint32_t i = 0; i < rows; ++i) {
    const uint64_t sign = values[i] < 0 ? ~uint64_t{0} : 0;
    const uint64_t quotient = divider.Divide((static_cast<uint64_t>(values[i]) ^ sign) - sign);
    out[i] = static_cast<int64_t>((quotient ^ sign) - sign);
  }
}

// The quotient of 0 or MIN / -1 is replaced by something harmless and noted.
template <typename T>
T DivideSafely(T a, T b, bool* is_bad) {
  *is_bad |= b == 0;
  if (b == 0) return 0;
  if (b == -1) {
    *is_bad |= a == std::numeric_limits<T>::min();
    return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(a));
  }
  return static_cast<T>(a / b);
}

template <typename T>
T RemainderSafely(T a, T b, bool* is_bad) {
  *is_bad |= b == 0;
  return b == 0 || b == -1 ? 0 : static_cast<T>(a % b);
}

// A division by a positive constant cannot fail, so its loop checks nothing.
template <typename T, bool kIsDivision>
Vector EvaluateDivision(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<T> a{Load<T>(args[0], rows, context.arena), args[0].is_constant() ? 0u : 1u};
  const View<T> b{Load<T>(args[1], rows, context.arena), args[1].is_constant() ? 0u : 1u};
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  T* out = context.arena.AllocateArray<T>(rows);
  bool is_bad = false;
  if (b.stride == 0 && a.stride == 1 && b[0] > 0) {
    const T divisor = b[0];
    if constexpr (sizeof(T) >= 4) {
      Divide(a.values, divisor, rows, out);
      for (uint32_t i = 0; !kIsDivision && i < rows; ++i) out[i] = a.values[i] - out[i] * divisor;
    } else {
      for (uint32_t i = 0; i < rows; ++i) {
        out[i] = static_cast<T>(kIsDivision ? a.values[i] / divisor : a.values[i] % divisor);
      }
    }
  } else {
    for (uint32_t i = 0; i < rows; ++i) {
      out[i] = kIsDivision ? DivideSafely<T>(a[i], b[i], &is_bad) : RemainderSafely<T>(a[i], b[i], &is_bad);
    }
  }
  if (is_bad) {
    ForEachValid(validity, rows, [&](uint32_t i) {
      if (b[i] == 0) throw EngineError(PENUMBRA_DIVISION_BY_ZERO);
      if (kIsDivision && b[i] == -1 && a[i] == std::numeric_limits<T>::min()) {
        throw EngineError(kOutOfRange<T>);
      }
    });
  }
  return FlatVector(expr.type, out, validity);
}

// - and abs: both fail for the least integer only.
template <typename T, bool kIsAbs>
Vector EvaluateSignChange(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<T> a = ViewOf<T>(args[0], rows, context.arena);
  T* out = context.arena.AllocateArray<T>(rows);
  bool is_bad = false;
  for (uint32_t i = 0; i < rows; ++i) {
    const T value = a[i];
    is_bad |= value == std::numeric_limits<T>::min();
    const T negated = static_cast<T>(-static_cast<std::make_unsigned_t<T>>(value));
    out[i] = kIsAbs && value >= 0 ? value : negated;
  }
  if (is_bad) {
    ForEachValid(args[0].validity, rows, [&](uint32_t i) {
      if (a[i] == std::numeric_limits<T>::min()) throw EngineError(kOutOfRange<T>);
    });
  }
  return FlatVector(expr.type, out, args[0].validity);
}

// Each operator on bits. A shift counts modulo the width of PostgreSQL's registers: 32, and 64 for int8.
template <typename T>
struct BitAnd {
  static T Compute(T a, T b) { return static_cast<T>(a & b); }
};
template <typename T>
struct BitOr {
  static T Compute(T a, T b) { return static_cast<T>(a | b); }
};
template <typename T>
struct BitXor {
  static T Compute(T a, T b) { return static_cast<T>(a ^ b); }
};
template <typename T>
struct ShiftLeft {
  static T Compute(T a, int32_t b) {
    using Register = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    return static_cast<T>(static_cast<Register>(a) << (b & (sizeof(Register) * 8 - 1)));
  }
};
template <typename T>
struct ShiftRight {
  static T Compute(T a, int32_t b) { return static_cast<T>(a >> (b & (sizeof(T) == 8 ? 63 : 31))); }
};

template <typename T, typename B, typename Op>
Vector EvaluateBits(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<T> a = ViewOf<T>(args[0], rows, context.arena);
  const View<B> b = ViewOf<B>(args[1], rows, context.arena);
  T* out = context.arena.AllocateArray<T>(rows);
  for (uint32_t i = 0; i < rows; ++i) out[i] = Op::Compute(a[i], b[i]);
  return FlatVector(expr.type, out, StrictValidity(expr, args, rows, context.arena));
}

template <typename T>
Vector EvaluateBitNot(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<T> a = ViewOf<T>(args[0], rows, context.arena);
  T* out = context.arena.AllocateArray<T>(rows);
  for (uint32_t i = 0; i < rows; ++i) out[i] = static_cast<T>(~a[i]);
  return FlatVector(expr.type, out, args[0].validity);
}

bool IsShift(PenumbraFunction function) {
  return function == PENUMBRA_FN_SHIFT_LEFT || function == PENUMBRA_FN_SHIFT_RIGHT;
}

bool IsBitwise(PenumbraFunction function) {
  return IsShift(function) || function == PENUMBRA_FN_BIT_AND || function == PENUMBRA_FN_BIT_OR ||
         function == PENUMBRA_FN_BIT_XOR;
}

template <typename T>
EvaluateFunction ChooseBits(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_BIT_AND: return EvaluateBits<T, T, BitAnd<T>>;
    case PENUMBRA_FN_BIT_OR: return EvaluateBits<T, T, BitOr<T>>;
    case PENUMBRA_FN_BIT_XOR: return EvaluateBits<T, T, BitXor<T>>;
    case PENUMBRA_FN_SHIFT_LEFT: return EvaluateBits<T, int32_t, ShiftLeft<T>>;
    case PENUMBRA_FN_SHIFT_RIGHT: return EvaluateBits<T, int32_t, ShiftRight<T>>;
    default: return nullptr;
  }
}

// Each operator: Compute; MayFail, cheap and true for every row that fails; Fails, as float8_pl and its
// siblings decide it; Raise raises the error. X is a number T or a vector of them, a test's result bool or a
// mask. No test need be right about NaN but the divisor's: with a NaN the result is NaN, neither infinite nor
// zero.
template <typename T, typename X>
auto IsInfinite(X x) {
  return (x > std::numeric_limits<T>::max()) | (x < -std::numeric_limits<T>::max());
}
template <typename T, typename X>
auto IsFinite(X x) {
  return (x <= std::numeric_limits<T>::max()) & (x >= -std::numeric_limits<T>::max());
}

template <typename T>
struct FloatAdd {
  static auto Compute(auto a, auto b) { return a + b; }
  static auto Fails(auto a, auto b, auto result) { return IsInfinite<T>(result) & IsFinite<T>(a) & IsFinite<T>(b); }
  static auto MayFail(auto, auto, auto result) { return IsInfinite<T>(result); }
  static void Raise(T, T) { throw EngineError(PENUMBRA_FLOAT_OVERFLOW); }
};
template <typename T>
struct FloatSubtract : FloatAdd<T> {
  static auto Compute(auto a, auto b) { return a - b; }
};
template <typename T>
struct FloatMultiply {
  static auto Compute(auto a, auto b) { return a * b; }
  static auto Fails(auto a, auto b, auto result) {
    return (IsInfinite<T>(result) & IsFinite<T>(a) & IsFinite<T>(b)) | ((result == 0) & (a != 0) & (b != 0));
  }
  static auto MayFail(auto a, auto b, auto result) {
    return IsInfinite<T>(result) | ((result == 0) & (a != 0) & (b != 0));
  }
  static void Raise(T, T result) {
    throw EngineError(result == 0 ? PENUMBRA_FLOAT_UNDERFLOW : PENUMBRA_FLOAT_OVERFLOW);
  }
};
template <typename T>
struct FloatDivide {
  static auto Compute(auto a, auto b) { return a / b; }
  static auto Fails(auto a, auto b, auto result) {
    return ((b == 0) & (a == a)) | (IsInfinite<T>(result) & IsFinite<T>(a)) |
           ((result == 0) & (a != 0) & IsFinite<T>(b));
  }
  static auto MayFail(auto a, auto b, auto result) {
    return (b == 0) | IsInfinite<T>(result) | ((result == 0) & (a != 0));
  }
  static void Raise(T b, T result) {
    if (b == 0) throw EngineError(PENUMBRA_DIVISION_BY_ZERO);
    throw EngineError(result == 0 ? PENUMBRA_FLOAT_UNDERFLOW : PENUMBRA_FLOAT_OVERFLOW);
  }
};

// Whether a row may have failed. Vectors of the compiler: it does not vectorise the tests by itself.
template <typename T, typename Op, bool kHasVectorA, bool kHasVectorB>
bool ComputeFloats(const T* a, const T* b, uint32_t rows, T* out) {
  typedef T Lanes __attribute__((vector_size(16)));
  constexpr uint32_t kLanes = sizeof(Lanes) / sizeof(T);
  const auto load = [](const T* values, uint32_t row, bool is_vector) {
    Lanes lanes = *values - Lanes{};  // not +: -0 must stay
    if (is_vector) std::memcpy(&lanes, values + row, sizeof(lanes));
    return lanes;
  };
  decltype(Lanes{} < Lanes{}) failed{};
  uint32_t row = 0;
  for (; row + kLanes <= rows; row += kLanes) {
    const Lanes x = load(a, row, kHasVectorA), y = load(b, row, kHasVectorB);
    const Lanes result = Op::Compute(x, y);
    std::memcpy(out + row, &result, sizeof(result));
    failed |= Op::MayFail(x, y, result);
  }
  bool has_failed = false;
  for (uint32_t lane = 0; lane < kLanes; ++lane) has_failed |= failed[lane] != 0;
  for (; row < rows; ++row) {
    const T x = a[kHasVectorA ? row : 0], y = b[kHasVectorB ? row : 0];
    out[row] = Op::Compute(x, y);
    has_failed |= Op::MayFail(x, y, out[row]);
  }
  return has_failed;
}

// As in EvaluateIntegers(), valid rows are checked one by one once any row may have an error.
template <typename T, typename Op>
Vector EvaluateFloats(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const T* a = Load<T>(args[0], rows, context.arena);
  const T* b = Load<T>(args[1], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  T* out = context.arena.AllocateArray<T>(rows);
  const uint32_t a_stride = args[0].is_constant() ? 0 : 1, b_stride = args[1].is_constant() ? 0 : 1;
  bool is_bad;
  if (a_stride == b_stride) {
    is_bad = ComputeFloats<T, Op, true, true>(a, b, rows, out);
  } else if (b_stride == 0) {
    is_bad = ComputeFloats<T, Op, true, false>(a, b, rows, out);
  } else {
    is_bad = ComputeFloats<T, Op, false, true>(a, b, rows, out);
  }
  if (is_bad) {
    ForEachValid(validity, rows, [&](uint32_t i) {
      const T x = a[i * a_stride], y = b[i * b_stride];
      if (Op::Fails(x, y, out[i])) Op::Raise(y, out[i]);
    });
  }
  return FlatVector(expr.type, out, validity);
}

template <typename T, T (*kFunction)(T)>
Vector EvaluateFloatUnary(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<T> a = ViewOf<T>(args[0], rows, context.arena);
  T* out = context.arena.AllocateArray<T>(rows);
  for (uint32_t i = 0; i < rows; ++i) out[i] = kFunction(a[i]);
  return FlatVector(expr.type, out, args[0].validity);
}

template <typename T>
T Negate(T x) {
  return -x;
}
template <typename T>
T Absolute(T x) {
  return std::fabs(x);
}
double Sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }
double Round(double x) { return std::rint(x); }
double Truncate(double x) { return std::trunc(x); }
double Floor(double x) { return std::floor(x); }
double Ceil(double x) { return std::ceil(x); }

template <typename T>
EvaluateFunction ChooseIntegers(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_ADD:
    case PENUMBRA_FN_SUB:
    case PENUMBRA_FN_MUL: return EvaluateIntegers<T>;
    case PENUMBRA_FN_DIV: return EvaluateDivision<T, true>;
    case PENUMBRA_FN_MOD: return EvaluateDivision<T, false>;
    default: return nullptr;
  }
}

template <typename T>
EvaluateFunction ChooseFloats(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_ADD: return EvaluateFloats<T, FloatAdd<T>>;
    case PENUMBRA_FN_SUB: return EvaluateFloats<T, FloatSubtract<T>>;
    case PENUMBRA_FN_MUL: return EvaluateFloats<T, FloatMultiply<T>>;
    case PENUMBRA_FN_DIV: return EvaluateFloats<T, FloatDivide<T>>;
    default: return nullptr;
  }
}

template <typename T>
EvaluateFunction ChooseSignChange(PenumbraFunction function) {
  if (function == PENUMBRA_FN_NEG) return EvaluateSignChange<T, false>;
  if (function == PENUMBRA_FN_BIT_NOT) return EvaluateBitNot<T>;
  return function == PENUMBRA_FN_ABS ? EvaluateSignChange<T, true> : nullptr;
}

EvaluateFunction ChooseBinary(PenumbraFunction function, PenumbraType a, PenumbraType b, PenumbraType result) {
  if (IsBitwise(function)) {
    if (result != a || b != (IsShift(function) ? PENUMBRA_INT4 : a)) return nullptr;
    if (a == PENUMBRA_INT2) return ChooseBits<int16_t>(function);
    if (a == PENUMBRA_INT4) return ChooseBits<int32_t>(function);
    return a == PENUMBRA_INT8 ? ChooseBits<int64_t>(function) : nullptr;
  }
  if (IsInteger(a) && IsInteger(b)) {
    if (result != std::max(a, b)) return nullptr;  // the types are numbered by width
    if (result == PENUMBRA_INT2) return ChooseIntegers<int16_t>(function);
    return result == PENUMBRA_INT4 ? ChooseIntegers<int32_t>(function) : ChooseIntegers<int64_t>(function);
  }
  if (IsFloat(a) && IsFloat(b) && result == std::max(a, b)) {
    if (result == PENUMBRA_FLOAT4) return ChooseFloats<float>(function);
    return ChooseFloats<double>(function);
  }
  return nullptr;
}

EvaluateFunction ChooseUnary(PenumbraFunction function, PenumbraType type) {
  switch (type) {
    case PENUMBRA_INT2: return ChooseSignChange<int16_t>(function);
    case PENUMBRA_INT4: return ChooseSignChange<int32_t>(function);
    case PENUMBRA_INT8: return ChooseSignChange<int64_t>(function);
    case PENUMBRA_FLOAT4:
      if (function == PENUMBRA_FN_NEG) return EvaluateFloatUnary<float, Negate<float>>;
      return function == PENUMBRA_FN_ABS ? EvaluateFloatUnary<float, Absolute<float>> : nullptr;
    case PENUMBRA_FLOAT8: break;
    default: return nullptr;
  }
  switch (function) {
    case PENUMBRA_FN_NEG: return EvaluateFloatUnary<double, Negate<double>>;
    case PENUMBRA_FN_ABS: return EvaluateFloatUnary<double, Absolute<double>>;
    case PENUMBRA_FN_SIGN: return EvaluateFloatUnary<double, Sign>;
    case PENUMBRA_FN_ROUND: return EvaluateFloatUnary<double, Round>;
    case PENUMBRA_FN_TRUNC: return EvaluateFloatUnary<double, Truncate>;
    case PENUMBRA_FN_FLOOR: return EvaluateFloatUnary<double, Floor>;
    case PENUMBRA_FN_CEIL: return EvaluateFloatUnary<double, Ceil>;
    default: return nullptr;
  }
}

}  // namespace

Binding BindArithmetic(const CallSite& call) {
  Binding binding;
  if (call.args.size() == 2) {
    binding.evaluate = ChooseBinary(call.function, call.args[0]->type, call.args[1]->type, call.result);
    binding.can_fail = !IsBitwise(call.function);
  } else if (call.args.size() == 1 && call.args[0]->type == call.result) {
    binding.evaluate = ChooseUnary(call.function, call.result);
    binding.can_fail = IsInteger(call.result) && call.function != PENUMBRA_FN_BIT_NOT;
  }
  return binding;
}

}  // namespace penumbra
