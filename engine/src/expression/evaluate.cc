#include <algorithm>
#include <new>

#include "expression/code_domain.h"
#include "expression/expr.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

constexpr uint32_t kInlineArgs = 8;  // of functions that no recursion passes through

// What the evaluated arguments of a call are.
struct Shape {
  bool is_null = false;  // a strict call has a null constant
  uint32_t varying = 0;  // how many are not constant
  uint32_t which = 0;    // the last of them
};

Shape DescribeArguments(const Expr& expr, const Vector* args) {
  Shape shape;
  for (uint32_t i = 0; i < expr.evaluated_args; ++i) {
    if (expr.is_strict && args[i].is_null_constant()) shape.is_null = true;
    if (args[i].is_constant()) continue;
    ++shape.varying;
    shape.which = i;
  }
  return shape;
}

// Null: a strict call with a null constant; the rest is evaluated only if it can fail, as PostgreSQL's is. In the
// arena, because this recurses.
const Vector* EvaluateArguments(const Expr& expr, const Batch& batch, EvalContext& context) {
  const uint32_t count = expr.evaluated_args;
  auto* args = context.arena.AllocateArray<Vector>(std::max(count, 1u));
  bool is_null = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (is_null && !expr.args[i]->can_fail) continue;
    new (&args[i]) Vector(Evaluate(*expr.args[i], batch, context));
    is_null |= expr.is_strict && args[i].is_null_constant();
  }
  return is_null ? nullptr : args;
}

// The call once per dictionary entry; args[which] is the only argument that is not constant.
Vector EvaluateOnDictionary(const Expr& expr, const Vector* args, uint32_t which, uint32_t rows, EvalContext& context) {
  const Vector& coded = args[which];
  Vector local[kInlineArgs];
  std::copy_n(args, expr.evaluated_args, local);
  local[which] = *coded.dictionary;
  Vector entries = expr.evaluate(expr, local, coded.dictionary_size, context);
  if (entries.is_null_constant()) return entries;
  if (entries.is_constant() && coded.validity == nullptr) return entries;
  entries = Flatten(entries, coded.dictionary_size, context.arena);
  if (entries.validity == nullptr && entries.type != PENUMBRA_BOOL) {
    return WithEntries(coded, entries, context.arena);
  }
  uint16_t* codes = context.arena.AllocateArray<uint16_t>(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    const uint32_t code = coded.Code(i);
    codes[i] = static_cast<uint16_t>(code < coded.dictionary_size ? code : 0);  // of a null row: any
  }
  Vector result = Gather(entries, codes, rows, context.arena);
  result.validity = AndValidity(result.validity, coded.validity, rows, context.arena);
  return result;
}

// A result of one row as a constant.
Vector ConstantFromRow(const Vector& row, Arena& arena) {
  if (row.is_constant()) return row;
  Vector result = Flatten(row, 1, arena);
  if (!result.IsValid(0)) return NullConstant(row.type);
  result.form = VectorForm::kConstant;
  result.validity = nullptr;
  return result;
}

bool HasUsefulDictionary(const Expr& expr, const Vector* args, const Shape& shape, uint32_t rows) {
  if (shape.varying != 1 || !expr.is_strict || expr.evaluated_args > kInlineArgs) return false;
  const Vector& only = args[shape.which];
  return only.form == VectorForm::kDictionary && only.dictionary_size > 0 && only.dictionary_size < rows;
}

void TruthFromVector(const Vector& v, uint32_t rows, Truth* truth) {
  const uint32_t words = (rows + 63) / 64;
  truth->has_nulls = false;
  if (v.is_constant()) {
    std::fill_n(truth->is_true, words, 0);
    if (v.is_null_constant()) {
      truth->has_nulls = true;
      std::fill_n(truth->is_null, words, ~uint64_t{0});
    } else if (*v.values<uint8_t>() != 0) {
      kernels::SetBits(truth->is_true, rows);
    }
    return;
  }
  kernels::BytesToBits(v.values<uint8_t>(), rows, truth->is_true);
  ApplyValidity(v.validity, rows, truth);
}

bool EvaluateOnCodes(const Expr& expr, const Batch& batch, EvalContext& context, Vector* value) {
  if (expr.coded.column < 0) return false;
  const Vector& column = batch.columns[expr.coded.column];
  if (column.domain == nullptr || (column.validity != nullptr && !expr.coded.keeps_nulls)) return false;
  return column.domain->Evaluate(expr, column, batch.rows, context, value);
}

Vector EvaluateCall(const Expr& expr, const Batch& batch, EvalContext& context) {
  if (expr.evaluate_lazily != nullptr) return expr.evaluate_lazily(expr, batch, context);
  const Vector* args = EvaluateArguments(expr, batch, context);
  return args != nullptr ? Apply(expr, args, batch.rows, context) : NullConstant(expr.type);
}

}  // namespace

Vector Evaluate(const Expr& expr, const Batch& batch, EvalContext& context) {
  switch (expr.kind) {
    case Expr::Kind::kColumn: return batch.columns[expr.column];
    case Expr::Kind::kConstant: return expr.constant;
    case Expr::Kind::kList: throw EngineError(PENUMBRA_INTERNAL, "a list of constants where a value is wanted");
    case Expr::Kind::kCall: break;
  }
  const bool is_shared = expr.memo_slot >= 0 && context.memo != nullptr;
  if (is_shared) {
    const Vector* known = context.memo->Find(expr.memo_slot, batch);
    if (known != nullptr) return *known;
  }
  Vector value;
  if (!EvaluateOnCodes(expr, batch, context, &value)) value = EvaluateCall(expr, batch, context);
  if (is_shared) context.memo->Store(expr.memo_slot, batch, value);
  return value;
}

// Not inlined: its frame is large, and callers recurse.
[[gnu::noinline]] Vector Apply(const Expr& call, const Vector* args, uint32_t rows, EvalContext& context) {
  const Shape shape = DescribeArguments(call, args);
  if (shape.is_null) return NullConstant(call.type);
  if (shape.varying == 0) {
    return ConstantFromRow(call.evaluate(call, args, 1, context), context.arena);
  }
  if (HasUsefulDictionary(call, args, shape, rows)) {
    if (!call.call_can_fail) return EvaluateOnDictionary(call, args, shape.which, rows, context);
    // An entry that no row of the batch has may fail: then only the rows decide.
    try {
      return EvaluateOnDictionary(call, args, shape.which, rows, context);
    } catch (const EngineError&) {
    }
  }
  return call.evaluate(call, args, rows, context);
}

[[gnu::noinline]] void ApplyTruth(const Expr& call, const Vector* args, uint32_t rows, EvalContext& context,
                                  Truth* truth) {
  const Shape shape = DescribeArguments(call, args);
  if (call.evaluate_truth != nullptr && !shape.is_null && shape.varying > 0 &&
      !HasUsefulDictionary(call, args, shape, rows)) {
    Vector flat[kInlineArgs];
    for (uint32_t i = 0; i < call.evaluated_args; ++i) {
      flat[i] = args[i].form == VectorForm::kDictionary ? Flatten(args[i], rows, context.arena) : args[i];
    }
    call.evaluate_truth(call, flat, rows, context, truth);
    return;
  }
  Vector v = Apply(call, args, rows, context);
  if (v.form == VectorForm::kDictionary) v = Flatten(v, rows, context.arena);
  TruthFromVector(v, rows, truth);
}

void EvaluateTruth(const Expr& expr, const Batch& batch, EvalContext& context, Truth* truth) {
  const bool is_plain_call = expr.kind == Expr::Kind::kCall && expr.memo_slot < 0;
  if (is_plain_call && expr.evaluate_lazy_truth != nullptr) {
    expr.evaluate_lazy_truth(expr, batch, context, truth);
    return;
  }
  if (is_plain_call && expr.evaluate_lazily == nullptr) {
    if (const Vector* args = EvaluateArguments(expr, batch, context)) {
      ApplyTruth(expr, args, batch.rows, context, truth);
    } else {
      TruthFromVector(NullConstant(expr.type), batch.rows, truth);
    }
    return;
  }
  Vector v = Evaluate(expr, batch, context);
  if (v.form == VectorForm::kDictionary) v = Flatten(v, batch.rows, context.arena);
  TruthFromVector(v, batch.rows, truth);
}

Vector EvaluateByTruth(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  Vector flat[kInlineArgs];
  bool has_flat = false;
  for (uint32_t i = 0; i < expr.evaluated_args; ++i) {
    flat[i] = args[i].form == VectorForm::kDictionary ? Flatten(args[i], rows, context.arena) : args[i];
    has_flat |= flat[i].form == VectorForm::kFlat;
  }
  if (!has_flat) flat[0] = Flatten(flat[0], rows, context.arena);
  Truth truth;
  expr.evaluate_truth(expr, flat, rows, context, &truth);
  return VectorFromTruth(truth, rows, context.arena);
}

Vector EvaluateLazilyByTruth(const Expr& expr, const Batch& batch, EvalContext& context) {
  Truth truth;
  expr.evaluate_lazy_truth(expr, batch, context, &truth);
  return VectorFromTruth(truth, batch.rows, context.arena);
}

uint32_t EvaluateFilter(const Expr& expr, const Batch& batch, EvalContext& context, uint16_t* selected) {
  Truth truth;
  EvaluateTruth(expr, batch, context, &truth);
  return kernels::BitsToSelection(truth.is_true, batch.rows, selected);
}

bool CanFail(const std::vector<const Expr*>& exprs) {
  return std::any_of(exprs.begin(), exprs.end(), [](const Expr* expr) { return expr->can_fail; });
}

void CollectColumns(const Expr& expr, std::vector<int>* columns) {
  if (expr.kind == Expr::Kind::kColumn) {
    if (std::find(columns->begin(), columns->end(), expr.column) == columns->end()) {
      columns->push_back(expr.column);
    }
  }
  for (const Expr* arg : expr.args) CollectColumns(*arg, columns);
}

}  // namespace penumbra
