// Comparisons: = <> < <= > >=, IS [NOT] DISTINCT FROM, NULLIF, GREATEST, LEAST. IN lists are in in_list.cc.
#include <algorithm>
#include <limits>

#include "function/collation.h"
#include "function/compare_operator.h"
#include "function/in_list.h"
#include "function/merge.h"
#include "function/registry.h"
#include "kernels/kernels.h"
#include "vector/value_order.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

using kernels::Compare;

void FillTruth(bool value, uint32_t rows, Truth* truth) {
  if (value) {
    kernels::SetBits(truth->is_true, rows);
  } else {
    std::fill_n(truth->is_true, BitWords(rows), 0);
  }
}

// Numbers of one type, through the kernels.
template <typename T>
void CompareNumbers(Compare op, const Vector& a, const Vector& b, uint32_t rows, uint64_t* bits) {
  if (b.is_constant()) {
    kernels::CompareConstant<T>(op, a.values<T>(), *b.values<T>(), rows, bits);
  } else if (a.is_constant()) {
    kernels::CompareConstant<T>(Exchange(op), b.values<T>(), *a.values<T>(), rows, bits);
  } else {
    kernels::CompareColumns<T>(op, a.values<T>(), b.values<T>(), rows, bits);
  }
}

template <typename T>
void EvaluateNumbers(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  CompareNumbers<T>(CompareOf(expr.function), args[0], args[1], rows, truth->is_true);
  ApplyValidity(StrictValidity(expr, args, rows, context.arena), rows, truth);
}

// What a column of T op a constant of a wider type is, when the constant is outside of T.
template <typename T>
bool CompareOutOfRange(Compare op, int64_t constant) {
  const bool is_above = constant > std::numeric_limits<T>::max();
  switch (op) {
    case Compare::kEq: return false;
    case Compare::kNe: return true;
    case Compare::kLt:
    case Compare::kLe: return is_above;
    case Compare::kGt:
    case Compare::kGe: break;
  }
  return !is_above;
}

template <typename T>
void CompareToInteger(Compare op, const Vector& v, int64_t constant, uint32_t rows, Truth* truth) {
  if (constant < std::numeric_limits<T>::min() || constant > std::numeric_limits<T>::max()) {
    FillTruth(CompareOutOfRange<T>(op, constant), rows, truth);
  } else {
    kernels::CompareConstant<T>(op, v.values<T>(), static_cast<T>(constant), rows, truth->is_true);
  }
}

void CompareColumnToInteger(Compare op, const Vector& v, int64_t constant, uint32_t rows, Truth* truth) {
  if (v.type == PENUMBRA_INT2) return CompareToInteger<int16_t>(op, v, constant, rows, truth);
  if (v.type == PENUMBRA_INT4) return CompareToInteger<int32_t>(op, v, constant, rows, truth);
  CompareToInteger<int64_t>(op, v, constant, rows, truth);
}

template <typename From, typename To>
Vector Widen(const Vector& v, PenumbraType type, uint32_t rows, Arena& arena) {
  To* values = arena.AllocateArray<To>(rows);
  for (uint32_t i = 0; i < rows; ++i) values[i] = static_cast<To>(v.values<From>()[i]);
  return FlatVector(type, values, v.validity);
}

Vector WidenInteger(const Vector& v, uint32_t rows, Arena& arena) {
  if (v.type == PENUMBRA_INT2) return Widen<int16_t, int64_t>(v, PENUMBRA_INT8, rows, arena);
  if (v.type == PENUMBRA_INT4) return Widen<int32_t, int64_t>(v, PENUMBRA_INT8, rows, arena);
  return v;
}

void EvaluateMixedIntegers(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const Compare op = CompareOf(expr.function);
  if (args[1].is_constant()) {
    CompareColumnToInteger(op, args[0], IntegerAt(args[1], 0), rows, truth);
  } else if (args[0].is_constant()) {
    CompareColumnToInteger(Exchange(op), args[1], IntegerAt(args[0], 0), rows, truth);
  } else {
    const Vector a = WidenInteger(args[0], rows, context.arena);
    const Vector b = WidenInteger(args[1], rows, context.arena);
    CompareNumbers<int64_t>(op, a, b, rows, truth->is_true);
  }
  ApplyValidity(StrictValidity(expr, args, rows, context.arena), rows, truth);
}

void EvaluateMixedFloats(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  Vector wide[2];
  for (int i = 0; i < 2; ++i) {
    wide[i] = args[i];
    if (args[i].type == PENUMBRA_FLOAT8) continue;
    const uint32_t count = args[i].is_constant() ? 1 : rows;
    wide[i] = Widen<float, double>(args[i], PENUMBRA_FLOAT8, count, context.arena);
    wide[i].form = args[i].form;
  }
  CompareNumbers<double>(CompareOf(expr.function), wide[0], wide[1], rows, truth->is_true);
  ApplyValidity(StrictValidity(expr, args, rows, context.arena), rows, truth);
}

// Values of T in the order that `order(a, b)` gives as -, 0, +.
template <typename T, typename Order>
void CompareOrdered(Compare op, const View<T>& a, const View<T>& b, uint32_t rows, uint64_t* bits, Order order) {
  switch (op) {
    case Compare::kEq: return PackTests(rows, bits, [&](uint32_t i) { return order(a[i], b[i]) == 0; });
    case Compare::kNe: return PackTests(rows, bits, [&](uint32_t i) { return order(a[i], b[i]) != 0; });
    case Compare::kLt: return PackTests(rows, bits, [&](uint32_t i) { return order(a[i], b[i]) < 0; });
    case Compare::kLe: return PackTests(rows, bits, [&](uint32_t i) { return order(a[i], b[i]) <= 0; });
    case Compare::kGt: return PackTests(rows, bits, [&](uint32_t i) { return order(a[i], b[i]) > 0; });
    case Compare::kGe: return PackTests(rows, bits, [&](uint32_t i) { return order(a[i], b[i]) >= 0; });
  }
}

void EvaluateText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const View<StringRef> a = ViewOf<StringRef>(args[0], rows, context.arena);
  const View<StringRef> b = ViewOf<StringRef>(args[1], rows, context.arena);
  uint64_t* bits = truth->is_true;
  if (expr.function == PENUMBRA_FN_EQ) {
    PackTests(rows, bits, [&](uint32_t i) { return a[i] == b[i]; });
  } else if (expr.function == PENUMBRA_FN_NE) {
    PackTests(rows, bits, [&](uint32_t i) { return !(a[i] == b[i]); });
  } else {
    CompareOrdered(CompareOf(expr.function), a, b, rows, bits, CompareText);
  }
  ApplyValidity(StrictValidity(expr, args, rows, context.arena), rows, truth);
}

// By a collation that is not bytewise; valid rows only, since strcoll costs much.
template <bool kIsPadded>
void EvaluateCollated(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const View<StringRef> a = ViewOf<StringRef>(args[0], rows, context.arena);
  const View<StringRef> b = ViewOf<StringRef>(args[1], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  int8_t* orders = context.arena.AllocateArray<int8_t>(rows);
  std::fill_n(orders, rows, 0);
  ForEachValid(validity, rows, [&](uint32_t i) {
    const int order = CompareCollated(expr.collation, kIsPadded, a[i], b[i]);
    orders[i] = static_cast<int8_t>((order > 0) - (order < 0));
  });
  const View<int8_t> order_view{orders, 1};
  static constexpr int8_t kEqual = 0;
  CompareOrdered(CompareOf(expr.function), order_view, View<int8_t>{&kEqual, 0}, rows, truth->is_true,
                 [](int8_t x, int8_t y) { return x - y; });
  ApplyValidity(validity, rows, truth);
}

template <typename T, auto kOrder>
void EvaluateOrdered(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const View<T> a = ViewOf<T>(args[0], rows, context.arena);
  const View<T> b = ViewOf<T>(args[1], rows, context.arena);
  CompareOrdered(CompareOf(expr.function), a, b, rows, truth->is_true,
                 [](const T& x, const T& y) { return kOrder(x, y); });
  ApplyValidity(StrictValidity(expr, args, rows, context.arena), rows, truth);
}

int CompareIntervals(const PenumbraInterval& a, const PenumbraInterval& b) {
  const int128 a_span = IntervalSpan(a), b_span = IntervalSpan(b);
  return (a_span > b_span) - (a_span < b_span);
}

struct Uuid {
  char bytes[16];
};
int CompareUuids(const Uuid& a, const Uuid& b) { return std::memcmp(a.bytes, b.bytes, 16); }

EvaluateTruthFunction ChooseComparison(PenumbraType a, PenumbraType b) {
  if (a != b) {
    if (IsInteger(a) && IsInteger(b)) return EvaluateMixedIntegers;
    if (IsFloat(a) && IsFloat(b)) return EvaluateMixedFloats;
    return nullptr;
  }
  switch (a) {
    case PENUMBRA_BOOL: return EvaluateNumbers<uint8_t>;
    case PENUMBRA_INT2: return EvaluateNumbers<int16_t>;
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return EvaluateNumbers<int32_t>;
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return EvaluateNumbers<int64_t>;
    case PENUMBRA_FLOAT4: return EvaluateNumbers<float>;
    case PENUMBRA_FLOAT8: return EvaluateNumbers<double>;
    case PENUMBRA_INTERVAL: return EvaluateOrdered<PenumbraInterval, CompareIntervals>;
    case PENUMBRA_TEXT: return EvaluateText;
    case PENUMBRA_BPCHAR: return EvaluateOrdered<StringRef, CompareBpchar>;
    case PENUMBRA_UUID: return EvaluateOrdered<Uuid, CompareUuids>;
    case PENUMBRA_NUMERIC:  // BindNumeric's
    case PENUMBRA_ARRAY: break;
  }
  return nullptr;
}

// A comparison by which another function works; its arguments are handed in evaluated.
struct InnerComparison {
  std::vector<std::unique_ptr<Expr>> columns;
  std::unique_ptr<Expr> call;
};

std::shared_ptr<const InnerComparison> BindInner(PenumbraFunction function, PenumbraType a, PenumbraType b,
                                                 const CallSite& site, std::string* reason) {
  auto inner = std::make_shared<InnerComparison>();
  inner->columns.push_back(BuildColumn(0, a));
  inner->columns.push_back(BuildColumn(1, b));
  inner->call = BindCall(function, PENUMBRA_BOOL, {inner->columns[0].get(), inner->columns[1].get()}, site.session,
                         reason, site.collation);
  return inner->call == nullptr ? nullptr : inner;
}

const Expr& InnerOf(const Expr& expr) { return *static_cast<const InnerComparison*>(expr.state.get())->call; }

uint64_t ValidWord(const Vector& v, uint32_t word) {
  if (v.is_constant()) return v.data == nullptr ? 0 : ~uint64_t{0};
  return v.validity == nullptr ? ~uint64_t{0} : v.validity[word];
}

template <bool kIsDistinct>
Vector EvaluateDistinct(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  Truth truth;
  ApplyTruth(InnerOf(expr), args, rows, context, &truth);
  const uint32_t words = BitWords(rows);
  for (uint32_t w = 0; w < words; ++w) {
    const uint64_t a = ValidWord(args[0], w), b = ValidWord(args[1], w);
    const uint64_t is_same = (~a & ~b) | truth.is_true[w];
    truth.is_true[w] = kIsDistinct ? ~is_same : is_same;
  }
  if (words > 0) truth.is_true[words - 1] &= LastWordMask(rows);
  truth.has_nulls = false;
  return VectorFromTruth(truth, rows, context.arena);
}

Vector EvaluateNullIf(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  if (args[0].is_null_constant() || args[1].is_null_constant()) return args[0];
  Truth truth;
  ApplyTruth(InnerOf(expr), args, rows, context, &truth);
  Vector result = args[0].is_constant() ? Flatten(args[0], rows, context.arena) : args[0];
  const uint32_t words = BitWords(rows);
  uint64_t* validity = context.arena.AllocateArray<uint64_t>(words);
  for (uint32_t w = 0; w < words; ++w) validity[w] = ValidWord(args[0], w) & ~truth.is_true[w];
  result.validity = validity;
  return result;
}

// GREATEST, LEAST: the inner call says that the second argument wins.
Vector EvaluateExtreme(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  Vector best = args[0];
  for (uint32_t i = 1; i < expr.evaluated_args; ++i) {
    if (args[i].is_null_constant()) continue;
    if (best.is_null_constant()) {
      best = args[i];
      continue;
    }
    const Vector pair[2] = {best, args[i]};
    Truth wins;
    ApplyTruth(InnerOf(expr), pair, rows, context, &wins);
    uint64_t takes[kValidityWords], keeps[kValidityWords];
    for (uint32_t w = 0; w < BitWords(rows); ++w) {
      takes[w] = (wins.is_true[w] | ~ValidWord(best, w)) & ValidWord(args[i], w);
      keeps[w] = ~takes[w];
    }
    takes[BitWords(rows) - 1] &= LastWordMask(rows);
    keeps[BitWords(rows) - 1] &= LastWordMask(rows);
    std::vector<Piece> pieces;
    for (int side = 0; side < 2; ++side) {
      uint16_t* selected = context.arena.AllocateArray<uint16_t>(kVectorRows);
      const uint32_t count = kernels::BitsToSelection(side == 0 ? keeps : takes, rows, selected);
      pieces.push_back({pair[side], selected, count, true});
    }
    best = MergePieces(expr.type, pieces, rows, false, context.arena);
  }
  return best;
}

Binding BindComparison(const CallSite& call) {
  Binding binding;
  if (call.result != PENUMBRA_BOOL || call.args.size() != 2) return binding;
  const PenumbraType type = call.args[0]->type;
  binding.evaluate_truth = ChooseComparison(type, call.args[1]->type);
  const bool is_equality = call.function == PENUMBRA_FN_EQ || call.function == PENUMBRA_FN_NE;
  if (call.collation != nullptr && !call.collation->is_bytewise() && IsStringType(type) && !is_equality &&
      binding.evaluate_truth != nullptr) {
    binding.evaluate_truth = type == PENUMBRA_BPCHAR ? EvaluateCollated<true> : EvaluateCollated<false>;
  }
  if (binding.evaluate_truth != nullptr) binding.evaluate = EvaluateByTruth;
  return binding;
}

Binding BindExtreme(const CallSite& call) {
  Binding binding;
  binding.is_strict = false;
  if (call.args.empty()) return binding;
  for (const Expr* arg : call.args) {
    if (arg->type != call.result) return binding;
  }
  const bool is_greatest = call.function == PENUMBRA_FN_GREATEST;
  binding.state =
      BindInner(is_greatest ? PENUMBRA_FN_LT : PENUMBRA_FN_GT, call.result, call.result, call, &binding.reason);
  if (binding.state != nullptr) binding.evaluate = EvaluateExtreme;
  return binding;
}

Binding BindByEquality(const CallSite& call) {
  Binding binding;
  binding.is_strict = false;
  if (call.args.size() != 2) return binding;
  if (call.result != (call.function == PENUMBRA_FN_NULLIF ? call.args[0]->type : PENUMBRA_BOOL)) return binding;
  binding.state = BindInner(PENUMBRA_FN_EQ, call.args[0]->type, call.args[1]->type, call, &binding.reason);
  if (binding.state == nullptr) return binding;
  binding.evaluate = call.function == PENUMBRA_FN_NULLIF        ? EvaluateNullIf
                     : call.function == PENUMBRA_FN_IS_DISTINCT ? EvaluateDistinct<true>
                                                                : EvaluateDistinct<false>;
  return binding;
}

}  // namespace

Binding BindCompare(const CallSite& call) {
  if (IsComparison(call.function)) return BindComparison(call);
  switch (call.function) {
    case PENUMBRA_FN_IS_DISTINCT:
    case PENUMBRA_FN_IS_NOT_DISTINCT:
    case PENUMBRA_FN_NULLIF: return BindByEquality(call);
    case PENUMBRA_FN_GREATEST:
    case PENUMBRA_FN_LEAST: return BindExtreme(call);
    case PENUMBRA_FN_IN_LIST:
    case PENUMBRA_FN_NOT_IN_LIST: return BindInList(call);
    default: return {};
  }
}

}  // namespace penumbra
