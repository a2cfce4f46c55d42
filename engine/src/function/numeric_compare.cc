// Comparisons over NUMERIC vectors, and what chooses between values by comparing them.
#include <algorithm>

#include "function/compare_operator.h"
#include "function/numeric_functions.h"
#include "kernels/kernels.h"
#include "vector/error.h"

namespace penumbra {
namespace {

using kernels::Compare;

template <typename T>
bool Holds(Compare op, T a, T b) {
  switch (op) {
    case Compare::kEq: return a == b;
    case Compare::kNe: return a != b;
    case Compare::kLt: return a < b;
    case Compare::kLe: return a <= b;
    case Compare::kGt: return a > b;
    case Compare::kGe: return a >= b;
  }
  return false;
}

// A constant among the integers of one scale: floor(constant * 10^scale), saturated at
// kInt128Limit.
struct Threshold {
  int128 floor;
  bool is_exact;
};

Threshold FindThreshold(const Vector& constant, int scale) {
  SmallNumber c;
  if (ReadSmall(constant, 0, &c)) {
    SmallNumber floor, back;
    if (RoundSmall(c, scale, Rounding::kFloor, &floor)) {
      return {floor.value, RoundSmall(floor, c.scale, Rounding::kFloor, &back) && back.value == c.value};
    }
    return {c.value < 0 ? -kInt128Limit : kInt128Limit, false};
  }
  const Decimal exact = DecimalAt(constant, 0);
  const bool is_negative = Decimal::Compare(exact, Decimal()) < 0;
  if (exact.kind() == Decimal::Kind::kFinite) {
    const Decimal cut = Decimal::Truncate(exact, scale);
    int128 value;
    if (cut.ToScaledInteger(&value)) {
      const bool is_exact = Decimal::Compare(cut, exact) == 0;
      return {is_negative && !is_exact ? value - 1 : value, is_exact};
    }
  }
  return {is_negative ? -kInt128Limit : kInt128Limit, false};
}

// Whether the bounds alone decide that all rows or none pass.
bool DecideByBounds(Compare op, const Vector& v, int128 threshold, bool* all_pass) {
  if (op == Compare::kEq || op == Compare::kNe) {
    *all_pass = op == Compare::kNe;
    if (threshold < v.lower || threshold > v.upper) return true;
    *all_pass = !*all_pass;
    return v.lower == v.upper;
  }
  *all_pass = Holds(op, v.lower, threshold);
  return *all_pass == Holds(op, v.upper, threshold);
}

void FillBits(bool value, uint32_t rows, uint64_t* bits) {
  if (value) {
    kernels::SetBits(bits, rows);
  } else {
    std::fill_n(bits, BitWords(rows), uint64_t{0});
  }
}

template <typename Test>
void TestRows(uint32_t rows, uint64_t* bits, Test test) {
  std::fill_n(bits, BitWords(rows), uint64_t{0});
  for (uint32_t i = 0; i < rows; ++i) bits[i / 64] |= uint64_t{test(i)} << (i % 64);
}

// An integer column with a constant.
void CompareWithConstant(Compare op, const Vector& v, const Vector& constant, uint32_t rows, uint64_t* bits) {
  Threshold threshold = FindThreshold(constant, v.scale);
  if (!threshold.is_exact) {
    // The constant lies between two neighbours: floor < constant < floor + 1.
    switch (op) {
      case Compare::kEq: return FillBits(false, rows, bits);
      case Compare::kNe: return FillBits(true, rows, bits);
      case Compare::kLt: op = Compare::kLe; break;
      case Compare::kGe: op = Compare::kGt; break;
      case Compare::kLe:
      case Compare::kGt: break;
    }
  }
  bool all_pass;
  if (DecideByBounds(op, v, threshold.floor, &all_pass)) return FillBits(all_pass, rows, bits);
  // Not decided, so the threshold lies within the bounds.
  if (v.numeric_form == NumericForm::kInt64) {
    if (FitsInt64(threshold.floor, threshold.floor)) {
      return kernels::CompareConstant<int64_t>(op, v.values<int64_t>(), static_cast<int64_t>(threshold.floor), rows,
                                               bits);
    }
    const int64_t* values = v.values<int64_t>();
    return TestRows(rows, bits, [&](uint32_t i) { return Holds<int128>(op, values[i], threshold.floor); });
  }
  const int128* values = v.values<int128>();
  TestRows(rows, bits, [&](uint32_t i) { return Holds(op, values[i], threshold.floor); });
}

bool CompareIntegerColumns(Compare op, const NumericOperand& a, const NumericOperand& b, uint32_t rows, Arena& arena,
                           uint64_t* bits) {
  const int scale = std::max(a.vector.scale, b.vector.scale);
  const int exponent_a = scale - a.vector.scale;
  const int exponent_b = scale - b.vector.scale;
  const auto fits_scaled = [](const Vector& v, int exponent) {
    int128 lower = v.lower, upper = v.upper;
    return ScaleUpInLimit(&lower, exponent) && ScaleUpInLimit(&upper, exponent) && FitsInt64(lower, upper);
  };
  if (!fits_scaled(a.vector, exponent_a) || !fits_scaled(b.vector, exponent_b)) return false;
  kernels::CompareColumns<int64_t>(op, ScaledInt64(a, exponent_a, rows, arena), ScaledInt64(b, exponent_b, rows, arena),
                                   rows, bits);
  return true;
}

// Bits of rows that are not valid are unspecified.
void CompareOperands(Compare op, NumericOperand a, NumericOperand b, const uint64_t* validity, uint32_t rows,
                     Arena& arena, uint64_t* bits) {
  if (a.is_constant() && !b.is_constant()) {
    std::swap(a, b);
    op = Exchange(op);
  }
  if (a.is_integer() && !a.is_constant()) {
    if (b.is_constant()) return CompareWithConstant(op, a.vector, b.vector, rows, bits);
    if (b.is_integer()) {
      if (CompareIntegerColumns(op, a, b, rows, arena, bits)) return;
      a.Tighten(rows);
      b.Tighten(rows);
      if (CompareIntegerColumns(op, a, b, rows, arena, bits)) return;
    }
  }
  TestRows(rows, bits,
           [&](uint32_t i) { return IsRowValid(validity, i) && Holds(op, CompareRows(a.vector, i, b.vector, i), 0); });
}

// GREATEST or LEAST of int64 vectors of one scale; those that are flat may have nulls.
Vector ExtremeOfInt64(bool greatest, const std::vector<NumericOperand>& operands, uint32_t rows, Arena& arena) {
  const uint32_t words = BitWords(rows);
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  uint64_t* validity = arena.AllocateArray<uint64_t>(words);
  std::fill_n(out, rows, 0);
  std::fill_n(validity, words, 0);
  int128 lower = operands[0].vector.lower, upper = operands[0].vector.upper;
  for (const NumericOperand& operand : operands) {
    const Vector& v = operand.vector;
    const int64_t* values = v.values<int64_t>();
    const uint32_t stride = v.is_constant() ? 0 : 1;
    for (uint32_t i = 0; i < rows; ++i) {
      const int64_t value = values[i * stride];
      const bool wins = !IsBitSet(validity, i) || (greatest ? value > out[i] : value < out[i]);
      if (wins && IsRowValid(v.validity, i)) out[i] = value;
    }
    for (uint32_t w = 0; w < words; ++w) validity[w] |= v.validity == nullptr ? ~uint64_t{0} : v.validity[w];
    lower = std::min(lower, v.lower);
    upper = std::max(upper, v.upper);
  }
  return IntegerVector(out, operands[0].vector.scale, lower, upper, validity);
}

}  // namespace

void EvaluateNumericComparison(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context,
                               Truth* truth) {
  Arena& arena = context.arena;
  const uint64_t* validity = AndValidity(args[0].validity, args[1].validity, rows, arena);
  CompareOperands(CompareOf(expr.function), MakeOperand(args[0], rows, arena), MakeOperand(args[1], rows, arena),
                  validity, rows, arena, truth->is_true);
  ApplyValidity(validity, rows, truth);
}

// Two nulls are not distinct; a null and a value are distinct.
Vector EvaluateNumericDistinct(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  Arena& arena = context.arena;
  const uint32_t words = BitWords(rows);
  uint64_t equal[kValidityWords];
  uint64_t valid[2][kValidityWords];
  for (int k = 0; k < 2; ++k) {
    for (uint32_t w = 0; w < words; ++w) {
      valid[k][w] = args[k].is_null_constant() ? 0 : (args[k].validity == nullptr ? ~uint64_t{0} : args[k].validity[w]);
    }
  }
  std::fill_n(equal, words, 0);
  if (!args[0].is_null_constant() && !args[1].is_null_constant()) {
    const uint64_t* validity = AndValidity(args[0].validity, args[1].validity, rows, arena);
    CompareOperands(Compare::kEq, MakeOperand(args[0], rows, arena), MakeOperand(args[1], rows, arena), validity, rows,
                    arena, equal);
  }
  const bool negated = expr.function == PENUMBRA_FN_IS_NOT_DISTINCT;
  for (uint32_t w = 0; w < words; ++w) {
    const uint64_t distinct = (valid[0][w] ^ valid[1][w]) | (valid[0][w] & valid[1][w] & ~equal[w]);
    equal[w] = negated ? ~distinct : distinct;
  }
  uint8_t* values = arena.AllocateArray<uint8_t>(rows);
  kernels::BitsToBytes(equal, rows, values);
  return FlatVector(PENUMBRA_BOOL, values, nullptr);
}

Vector EvaluateNumericNullIf(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  Arena& arena = context.arena;
  if (args[0].is_null_constant() || args[1].is_null_constant()) return args[0];
  Vector result = Flatten(args[0], rows, arena);
  const uint32_t words = BitWords(rows);
  uint64_t equal[kValidityWords];
  const uint64_t* both = AndValidity(args[0].validity, args[1].validity, rows, arena);
  CompareOperands(Compare::kEq, MakeOperand(args[0], rows, arena), MakeOperand(args[1], rows, arena), both, rows, arena,
                  equal);
  uint64_t* validity = arena.AllocateArray<uint64_t>(words);
  for (uint32_t w = 0; w < words; ++w) {
    const uint64_t both_valid = both == nullptr ? ~uint64_t{0} : both[w];
    const uint64_t valid = result.validity == nullptr ? ~uint64_t{0} : result.validity[w];
    validity[w] = valid & ~(equal[w] & both_valid);
  }
  result.validity = validity;
  return result;
}

Vector EvaluateNumericExtreme(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  Arena& arena = context.arena;
  const bool greatest = expr.function == PENUMBRA_FN_GREATEST;
  std::vector<NumericOperand> operands;
  for (size_t k = 0; k < expr.args.size(); ++k) {
    if (!args[k].is_null_constant()) operands.push_back(MakeOperand(args[k], rows, arena));
  }
  if (operands.empty()) return NullConstant(PENUMBRA_NUMERIC);
  if (std::all_of(operands.begin(), operands.end(), [&](const NumericOperand& operand) {
        return operand.vector.numeric_form == NumericForm::kInt64 && operand.vector.scale == operands[0].vector.scale;
      })) {
    return ExtremeOfInt64(greatest, operands, rows, arena);
  }
  uint64_t* validity = arena.AllocateArray<uint64_t>(BitWords(rows));
  std::fill_n(validity, BitWords(rows), 0);
  NumericWriter writer(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    const Vector* best = nullptr;  // the first of equals, as each keeps its own scale
    for (const NumericOperand& operand : operands) {
      const Vector& v = operand.vector;
      if (!v.IsValid(i)) continue;
      if (best != nullptr) {
        const int order = CompareRows(v, i, *best, i);
        if (greatest ? order <= 0 : order >= 0) continue;
      }
      best = &v;
    }
    if (best == nullptr) continue;
    validity[i / 64] |= uint64_t{1} << (i % 64);
    writer.SetFrom(i, *best, i);
  }
  return writer.Finish(validity);
}

}  // namespace penumbra
