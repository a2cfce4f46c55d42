#include "function/numeric_traits.h"

#include <algorithm>

#include "numeric/numeric.h"
#include "numeric/numeric_rows.h"

namespace penumbra {
namespace {

constexpr int kDeclaredDigitsMax = 1000;  // the greatest precision that can be declared
constexpr int kSafeDigits = 100000;       // the format holds 131,072 before the point
constexpr int kBigintDigits = 19;
constexpr int kPlainScaleMax = 1000;  // past it versions of PostgreSQL clamp differently

bool IsNullConstant(const Expr& expr) { return expr.kind == Expr::Kind::kConstant && expr.constant.is_null_constant(); }

// The display scale of a constant divisor that is finite and not zero.
bool FindDivisorScale(const Expr& expr, int* scale) {
  if (expr.kind != Expr::Kind::kConstant || IsNullConstant(expr)) return false;
  const Decimal divisor = DecimalAt(expr.constant, 0);
  *scale = divisor.scale();
  return divisor.kind() == Decimal::Kind::kFinite && Decimal::Compare(divisor, Decimal()) != 0;
}

bool FindInt4(const Expr& expr, int* value) {
  if (expr.kind != Expr::Kind::kConstant || expr.type != PENUMBRA_INT4 || IsNullConstant(expr)) {
    return false;
  }
  *value = *expr.constant.values<int32_t>();
  return true;
}

NumericTraits WithScale(int scale, int integer_digits) { return {scale, scale, integer_digits}; }

int FiniteDigits(const NumericTraits& traits) { return std::max(traits.integer_digits, traits.finite_digits); }

int AddDigits(int a, int b) { return a < 0 || b < 0 ? -1 : std::min(a + b, kSafeDigits + 1); }

NumericTraits TraitsOfSum(const NumericTraits& a, const NumericTraits& b) {
  NumericTraits traits;
  if (a.has_scale() && b.has_scale()) {
    traits.scale_least = std::max(a.scale_least, b.scale_least);
    traits.scale_greatest = std::max(a.scale_greatest, b.scale_greatest);
  }
  if (a.integer_digits >= 0 && b.integer_digits >= 0) {
    traits.integer_digits = AddDigits(std::max(a.integer_digits, b.integer_digits), 1);
  }
  return traits;
}

NumericTraits TraitsOfProduct(const NumericTraits& a, const NumericTraits& b) {
  NumericTraits traits;
  if (a.has_scale() && b.has_scale() && a.scale_greatest + b.scale_greatest <= kNumericScaleMax) {
    traits.scale_least = a.scale_least + b.scale_least;
    traits.scale_greatest = a.scale_greatest + b.scale_greatest;
  }
  traits.integer_digits = AddDigits(a.integer_digits, b.integer_digits);
  return traits;
}

NumericTraits TraitsOfQuotient(const NumericTraits& a, const Expr& divisor) {
  NumericTraits traits;
  int scale;
  if (FindDivisorScale(divisor, &scale)) traits.integer_digits = AddDigits(a.integer_digits, scale + 1);
  return traits;
}

NumericTraits TraitsOfRemainder(const NumericTraits& a, const Expr& divisor) {
  int scale;
  if (!FindDivisorScale(divisor, &scale)) return {};
  return TraitsOfSum(a, divisor.numeric);
}

NumericTraits TraitsOfRounding(const Expr& call) {
  const NumericTraits& a = call.args[0]->numeric;
  int scale = 0;
  if (call.args.size() > 1 && !FindInt4(*call.args[1], &scale)) return {};
  if (scale > kPlainScaleMax || scale < -kPlainScaleMax) return {};
  return WithScale(std::max(scale, 0), AddDigits(a.integer_digits, 1));
}

NumericTraits TraitsOfTypmod(const Expr& call) {
  int precision = 0, scale = 0;
  if (!FindInt4(*call.args[1], &precision) || !FindInt4(*call.args[2], &scale)) return {};
  return WithScale(std::max(scale, 0), precision + std::max(-scale, 0));
}

// One of the values that are not null.
NumericTraits TraitsOfChoice(const Expr& call, size_t first, size_t step) {
  NumericTraits traits;
  bool is_first = true;
  const auto add = [&](const Expr& value) {
    if (IsNullConstant(value)) return;
    traits = is_first ? value.numeric : TraitsOfEither(traits, value.numeric);
    is_first = false;
  };
  for (size_t i = first; i < call.args.size(); i += step) add(*call.args[i]);
  const bool has_else = call.function == PENUMBRA_FN_CASE && call.args.size() % 2 == 1;
  if (has_else) add(*call.args.back());
  return traits;
}

}  // namespace

NumericScale ScaleRuleOf(PenumbraFunction function) {
  static constexpr NumericScale kScales[] = {
#define PENUMBRA_FUNCTION_SCALE(id, name, collation, scale) NumericScale::scale,
      PENUMBRA_FUNCTION_LIST(PENUMBRA_FUNCTION_SCALE)
#undef PENUMBRA_FUNCTION_SCALE
  };
  return kScales[function];
}

NumericTraits TraitsOfDeclared(int precision, int scale) {
  return WithScale(scale, precision > 0 ? std::max(precision - scale, 0) : kDeclaredDigitsMax);
}

NumericTraits TraitsOfConstant(const Vector& constant) {
  if (constant.is_null_constant()) return {};
  const Decimal decimal = DecimalAt(constant, 0);
  if (decimal.kind() != Decimal::Kind::kFinite) return {};
  SmallNumber number;
  // Constants beyond the integer forms are not worth counting their digits.
  if (!ReadAnySmall(constant, 0, &number)) return WithScale(decimal.scale(), -1);
  const uint128 magnitude = number.value < 0 ? -static_cast<uint128>(number.value) : static_cast<uint128>(number.value);
  return WithScale(decimal.scale(), std::max(CountDecimals(magnitude) - number.scale, 0));
}

NumericTraits TraitsOfEither(const NumericTraits& a, const NumericTraits& b) {
  NumericTraits traits;
  if (a.has_scale() && b.has_scale()) {
    traits.scale_least = std::min(a.scale_least, b.scale_least);
    traits.scale_greatest = std::max(a.scale_greatest, b.scale_greatest);
  }
  const auto greater = [](int x, int y) { return x < 0 || y < 0 ? -1 : std::max(x, y); };
  traits.integer_digits = greater(a.integer_digits, b.integer_digits);
  traits.finite_digits = greater(FiniteDigits(a), FiniteDigits(b));
  return traits;
}

NumericTraits TraitsOfCall(const Expr& call) {
  if (call.type != PENUMBRA_NUMERIC || call.args.empty()) return {};
  const NumericTraits& a = call.args[0]->numeric;
  switch (ScaleRuleOf(call.function)) {
    case NumericScale::kSum: return TraitsOfSum(a, call.args[1]->numeric);
    case NumericScale::kProduct: return TraitsOfProduct(a, call.args[1]->numeric);
    case NumericScale::kQuotient: return TraitsOfQuotient(a, *call.args[1]);
    case NumericScale::kRemainder: return TraitsOfRemainder(a, *call.args[1]);
    case NumericScale::kSame:
    case NumericScale::kFirst: return a;
    case NumericScale::kRounded: return TraitsOfRounding(call);
    case NumericScale::kDeclared: return TraitsOfTypmod(call);
    case NumericScale::kInteger: return IsInteger(call.args[0]->type) ? WithScale(0, kBigintDigits) : NumericTraits();
    case NumericScale::kChoice:
      return call.function == PENUMBRA_FN_CASE ? TraitsOfChoice(call, 1, 2) : TraitsOfChoice(call, 0, 1);
    case NumericScale::kUnknown: break;
  }
  return {};
}

int IntegerScale(const Expr& expr) {
  if (expr.type != PENUMBRA_NUMERIC || !expr.numeric.has_one_scale()) return -1;
  const int digits = FiniteDigits(expr.numeric);
  const int scale = expr.numeric.scale_greatest;
  return digits >= 0 && digits + scale <= kMaxInt64Digits ? scale : -1;
}

bool IsSafeNumericCall(const Expr& call) {
  switch (ScaleRuleOf(call.function)) {
    case NumericScale::kSum:
    case NumericScale::kProduct:
    case NumericScale::kQuotient:
    case NumericScale::kRemainder:
    case NumericScale::kRounded:
      return call.type == PENUMBRA_NUMERIC && call.numeric.integer_digits >= 0 &&
             call.numeric.integer_digits <= kSafeDigits;
    case NumericScale::kUnknown:
    case NumericScale::kSame:
    case NumericScale::kFirst:
    case NumericScale::kDeclared:
    case NumericScale::kInteger:
    case NumericScale::kChoice: break;
  }
  return false;
}

}  // namespace penumbra
