#include "expr.h"

#include <algorithm>
#include <new>

#include "error.h"
#include "vector_build.h"

namespace penumbra {
namespace {

constexpr uint32_t kInlineArgs = 8;

// The evaluated arguments of one call.
struct Arguments {
  Vector inlined[kInlineArgs];
  Vector* vectors = inlined;
  uint32_t varying = 0;  // how many are not constant
  uint32_t which = 0;    // the last of them
  bool is_null = false;  // a strict call with a null constant
};

void EvaluateArguments(const Expr& expr, const Batch& batch, EvalContext& context,
                       Arguments* arguments) {
  const uint32_t count = expr.evaluated_args;
  if (count > kInlineArgs) {
    arguments->vectors = context.arena.AllocateArray<Vector>(count);
    std::uninitialized_fill_n(arguments->vectors, count, Vector());
  }
  for (uint32_t i = 0; i < count; ++i) {
    Vector& v = arguments->vectors[i];
    v = Evaluate(*expr.args[i], batch, context);
    if (expr.is_strict && v.is_null_constant()) {
      arguments->is_null = true;
      return;
    }
    if (!v.is_constant()) {
      ++arguments->varying;
      arguments->which = i;
    }
  }
}

// The call once per dictionary entry; args[which] is the only argument that is not constant.
Vector EvaluateOnDictionary(const Expr& expr, const Arguments& arguments, uint32_t rows,
                            EvalContext& context) {
  const Vector& coded = arguments.vectors[arguments.which];
  Vector local[kInlineArgs];
  std::copy_n(arguments.vectors, expr.evaluated_args, local);
  local[arguments.which] = *coded.dictionary;
  Vector entries = expr.evaluate(expr, local, coded.dictionary_size, context);
  if (entries.is_null_constant()) return entries;
  if (entries.is_constant() && coded.validity == nullptr) return entries;
  entries = Flatten(entries, coded.dictionary_size, context.arena);
  if (entries.validity == nullptr && entries.type != PENUMBRA_BOOL) {
    Vector result = entries;
    result.form = VectorForm::kDictionary;
    result.code_bytes = coded.code_bytes;
    result.dictionary_size = coded.dictionary_size;
    result.data = coded.data;
    result.validity = coded.validity;
    result.dictionary = new (context.arena.Allocate(sizeof(Vector))) Vector(entries);
    return result;
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

bool HasUsefulDictionary(const Expr& expr, const Arguments& arguments, uint32_t rows) {
  if (arguments.varying != 1 || !expr.is_strict || expr.evaluated_args > kInlineArgs) return false;
  const Vector& only = arguments.vectors[arguments.which];
  return only.form == VectorForm::kDictionary && only.dictionary_size > 0 &&
         only.dictionary_size < rows;
}

Vector Apply(const Expr& expr, const Arguments& arguments, uint32_t rows, EvalContext& context) {
  if (arguments.is_null) return NullConstant(expr.type);
  if (arguments.varying == 0) {
    return ConstantFromRow(expr.evaluate(expr, arguments.vectors, 1, context), context.arena);
  }
  if (HasUsefulDictionary(expr, arguments, rows)) {
    if (!expr.call_can_fail) return EvaluateOnDictionary(expr, arguments, rows, context);
    // An entry that no row of the batch has may fail: then only the rows decide.
    try {
      return EvaluateOnDictionary(expr, arguments, rows, context);
    } catch (const EngineError&) {
    }
  }
  return expr.evaluate(expr, arguments.vectors, rows, context);
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
      SetBits(truth->is_true, rows);
    }
    return;
  }
  PackBytes(v.values<uint8_t>(), rows, truth->is_true);
  ApplyValidity(v.validity, rows, truth);
}

}  // namespace

Vector Evaluate(const Expr& expr, const Batch& batch, EvalContext& context) {
  switch (expr.kind) {
    case Expr::Kind::kColumn: return batch.columns[expr.column];
    case Expr::Kind::kConstant: return expr.constant;
    case Expr::Kind::kCall: break;
  }
  const bool is_shared = expr.memo_slot >= 0 && context.memo != nullptr;
  if (is_shared) {
    const Vector* known = context.memo->Find(expr.memo_slot, batch);
    if (known != nullptr) return *known;
  }
  Vector value;
  if (expr.evaluate_lazily != nullptr) {
    value = expr.evaluate_lazily(expr, batch, context);
  } else {
    Arguments arguments;
    EvaluateArguments(expr, batch, context, &arguments);
    value = Apply(expr, arguments, batch.rows, context);
  }
  if (is_shared) context.memo->Store(expr.memo_slot, batch, value);
  return value;
}

void EvaluateTruth(const Expr& expr, const Batch& batch, EvalContext& context, Truth* truth) {
  const uint32_t rows = batch.rows;
  Vector v;
  if (expr.kind != Expr::Kind::kCall || expr.memo_slot >= 0) {
    v = Evaluate(expr, batch, context);
  } else if (expr.evaluate_lazy_truth != nullptr) {
    expr.evaluate_lazy_truth(expr, batch, context, truth);
    return;
  } else if (expr.evaluate_lazily != nullptr) {
    v = expr.evaluate_lazily(expr, batch, context);
  } else {
    Arguments arguments;
    EvaluateArguments(expr, batch, context, &arguments);
    if (expr.evaluate_truth != nullptr && !arguments.is_null && arguments.varying > 0 &&
        !HasUsefulDictionary(expr, arguments, rows)) {
      for (uint32_t i = 0; i < expr.evaluated_args; ++i) {
        Vector& argument = arguments.vectors[i];
        if (argument.form == VectorForm::kDictionary) {
          argument = Flatten(argument, rows, context.arena);
        }
      }
      expr.evaluate_truth(expr, arguments.vectors, rows, context, truth);
      return;
    }
    v = Apply(expr, arguments, rows, context);
  }
  if (v.form == VectorForm::kDictionary) v = Flatten(v, rows, context.arena);
  TruthFromVector(v, rows, truth);
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

uint32_t EvaluateFilter(const Expr& expr, const Batch& batch, EvalContext& context,
                        uint16_t* selected) {
  Truth truth;
  EvaluateTruth(expr, batch, context, &truth);
  return SelectBits(truth.is_true, batch.rows, selected);
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
