// Expressions: an immutable tree per plan, evaluated a batch at a time.
//
// Each node holds an Evaluate function chosen by function and types when the plan is built; inside it
// the forms of the arguments (flat, constant, dictionary) choose the loop. Functions register in
// registry.h; one file per topic: compare.cc logic.cc arithmetic.cc numeric_functions.cc
// text.cc datetime.cc cast.cc conditional.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penumbra/functions.h"
#include "penumbra/types.h"
#include "vector/arena.h"
#include "vector/cancellation.h"
#include "vector/vector.h"
#include "vector/vector_build.h"

namespace penumbra {

class Collation;

// See PenumbraTimeZone; empty: not given.
struct ZoneTable {
  std::vector<int64_t> from_us;
  std::vector<int32_t> offset_seconds;
  int64_t valid_until_us = 0;
};

// Of the session: what functions may depend on. Immutable after the plan is built.
struct Session {
  bool encoding_is_utf8 = true;
  bool power_scale_by_result = false;  // see PenumbraPlanOptions
  bool width_bucket_divides_first = false;
  ZoneTable zone;
};

// The values of shared subexpressions on the batch in hand, so that each is computed once per batch.
// Begin() starts a batch; a batch made for a part of its rows (CASE, AND) is not the one in hand and
// finds nothing here. Evaluate() looks up and stores; who evaluates several expressions calls Begin().
class EvalMemo {
 public:
  explicit EvalMemo(int slot_count) : entries_(slot_count) {}
  void Begin(const Batch& batch) {
    columns_ = batch.columns;
    rows_ = batch.rows;
    ++batch_number_;
  }
  const Vector* Find(int slot, const Batch& batch) const {
    const Entry& entry = entries_[slot];
    return entry.batch_number == batch_number_ && IsCurrent(batch) ? &entry.value : nullptr;
  }
  void Store(int slot, const Batch& batch, const Vector& value) {
    if (IsCurrent(batch)) entries_[slot] = {batch_number_, value};
  }

 private:
  struct Entry {
    uint64_t batch_number = 0;
    Vector value;
  };
  bool IsCurrent(const Batch& batch) const { return batch.columns == columns_ && batch.rows == rows_; }

  std::vector<Entry> entries_;
  const Vector* columns_ = nullptr;
  uint32_t rows_ = 0;
  uint64_t batch_number_ = 0;
};

class HostCalls;

// Per thread and batch. Results live in `arena` (or in the arguments' memory) until its Reset().
struct EvalContext {
  Arena& arena;
  const Session& session;
  EvalMemo* memo = nullptr;                    // null: nothing is shared
  const Cancellation* cancellation = nullptr;  // null: of no execution
  HostCalls* host = nullptr;                   // null: it has no functions that can be called

  // For values that are not the batch's.
  EvalContext In(Arena& other) const { return {other, session, nullptr, cancellation, host}; }
  void CheckCancelled() const {
    if (cancellation != nullptr) cancellation->CheckCancelled();
  }
};

struct Expr;

// Computes `rows` values. `args` are the evaluated arguments, in any form. Must not raise an error for
// a row in which a strict function has a null argument. May return any form.
using EvaluateFunction = Vector (*)(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context);

// For functions that evaluate their arguments themselves, on a part of the rows (AND, OR, CASE, COALESCE).
using EvaluateLazyFunction = Vector (*)(const Expr& expr, const Batch& batch, EvalContext& context);

// What filters and AND, OR, NOT work on: comparisons give bits without going through bytes. `args` hold at
// least one flat vector, no null constant and no dictionary.
using EvaluateTruthFunction = void (*)(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context,
                                       Truth* truth);

using EvaluateLazyTruthFunction = void (*)(const Expr& expr, const Batch& batch, EvalContext& context, Truth* truth);

// What is known of a NUMERIC expression's values when the plan is built; -1: nothing.
struct NumericTraits {
  int scale_least = -1;  // display scale of the finite values
  int scale_greatest = -1;
  int integer_digits = -1;  // at most so many before the point, and no value is infinite
  int finite_digits = -1;   // the same, where a value may be infinite

  bool has_scale() const { return scale_least >= 0; }
  bool has_one_scale() const { return has_scale() && scale_least == scale_greatest; }
};

// See code_domain.h.
struct CodedCall {
  int column = -1;           // the only one that the call reads; -1: not worth it
  bool keeps_nulls = false;  // a null gives a null
};

// Whatever walks or evaluates an expression recurses, on stacks that have an end: the engine's threads and
// the caller's, of which PostgreSQL leaves 512 kB beyond max_stack_depth. A call of more than kExprDepthMax
// levels is refused. kEvaluationStackBytes holds the deepest one of any kind (depth_test.cc measures it).
constexpr int kExprDepthMax = 200;
constexpr size_t kEvaluationStackBytes = size_t{384} << 10;

struct Expr {
  enum class Kind : uint8_t { kColumn, kConstant, kList, kCall };

  Kind kind = Kind::kConstant;
  PenumbraType type = PENUMBRA_BOOL;
  int column = -1;          // kColumn: index into the batch
  Vector constant;          // kConstant: kConstant form; kList: flat; its memory owned by `storage`
  uint32_t list_count = 0;  // kList, an argument of IN and NOT IN that nobody evaluates: its elements
  PenumbraFunction function = PENUMBRA_FN_COUNT_OF;
  std::vector<const Expr*> args;  // owned by the plan
  EvaluateFunction evaluate = nullptr;
  EvaluateLazyFunction evaluate_lazily = nullptr;
  EvaluateTruthFunction evaluate_truth = nullptr;           // beside `evaluate`
  EvaluateLazyTruthFunction evaluate_lazy_truth = nullptr;  // beside `evaluate_lazily`
  int depth = 0;                                            // calls on the longest way down, this one included
  uint32_t evaluated_args = 0;      // the leading ones that `evaluate` reads; the others are in `state`
  bool can_fail = false;            // this node or one below can raise an error
  bool can_be_unsupported = false;  // this node or one below can raise PENUMBRA_UNSUPPORTED
  bool calls_host = false;          // this node or one below is a function of the host's
  int memo_slot = -1;               // in EvalMemo, when more than one place of the plan uses this node
  bool call_can_fail = false;       // this node can, given its arguments' values
  bool hides_scale = false;         // NUMERIC branches need not keep their display scales
  NumericTraits numeric;
  CodedCall coded;
  bool is_strict = true;                 // kCall: null if any argument is null
  const Collation* collation = nullptr;  // of a call that orders text or changes its case; null: C
  std::shared_ptr<const void> state;     // prepared from constants when built: compiled LIKE pattern, IN set, ...
  std::shared_ptr<const void> storage;

  bool is_constant() const { return kind == Kind::kConstant || kind == Kind::kList; }
  uint32_t constant_count() const { return kind == Kind::kList ? list_count : 1; }
};

// Evaluates on all rows of the batch. A null row's value is unspecified.
// A call whose only non-constant argument is a dictionary vector with fewer entries than the batch has
// rows and that cannot fail is evaluated once per entry (strict functions; IS NULL and friends aside).
Vector Evaluate(const Expr& expr, const Batch& batch, EvalContext& context);

// The same for a boolean expression, as bitmaps.
void EvaluateTruth(const Expr& expr, const Batch& batch, EvalContext& context, Truth* truth);

// The call with arguments that were evaluated already, in any form.
Vector Apply(const Expr& call, const Vector* args, uint32_t rows, EvalContext& context);
void ApplyTruth(const Expr& call, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth);

// Evaluates a boolean expression and writes the rows where it is true to selected; returns how many.
uint32_t EvaluateFilter(const Expr& expr, const Batch& batch, EvalContext& context, uint16_t* selected);

// Whether one of the expressions can raise an error.
bool CanFail(const std::vector<const Expr*>& exprs);

// Adds to *columns the batch columns the expression reads, each once.
void CollectColumns(const Expr& expr, std::vector<int>* columns);

// evaluate and evaluate_lazily of functions that are written as evaluate_truth, evaluate_lazy_truth.
Vector EvaluateByTruth(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateLazilyByTruth(const Expr& expr, const Batch& batch, EvalContext& context);
// Validity of a strict call's result.
inline const uint64_t* StrictValidity(const Expr& expr, const Vector* args, uint32_t rows, Arena& arena) {
  const uint64_t* validity = nullptr;
  for (uint32_t i = 0; i < expr.evaluated_args; ++i) {
    validity = AndValidity(validity, args[i].validity, rows, arena);
  }
  return validity;
}

// =, <>, <, <=, >, >=
constexpr bool IsComparison(PenumbraFunction function) {
  return function >= PENUMBRA_FN_EQ && function <= PENUMBRA_FN_GE;
}

}  // namespace penumbra
