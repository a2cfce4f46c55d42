// Which function takes which types, and how it runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expression/expr.h"

namespace penumbra {

// Filled by a topic file for one call. Leave evaluate and evaluate_lazily null to refuse; then `reason`
// may say why ("LIKE with an ICU collation"), else the caller says "function X on these types".
struct Binding {
  EvaluateFunction evaluate = nullptr;
  EvaluateLazyFunction evaluate_lazily = nullptr;
  EvaluateTruthFunction evaluate_truth = nullptr;           // boolean functions may have it beside `evaluate`,
  EvaluateLazyTruthFunction evaluate_lazy_truth = nullptr;  // or this beside `evaluate_lazily`
  int evaluated_args = -1;  // how many leading arguments `evaluate` reads, the rest being in `state`; -1: all
  bool can_fail = false;
  bool can_be_unsupported = false;  // some values end the execution with PENUMBRA_UNSUPPORTED; implies can_fail
  bool is_strict = true;            // null if any argument is null
  std::shared_ptr<const void> state;
  NumericTraits numeric;  // of a result of which numeric_traits.h has no rule
  std::string reason;
};

// Everything known of the call when the plan is built; args may be constants (kind kConstant).
struct CallSite {
  PenumbraFunction function;
  PenumbraType result;
  const std::vector<const Expr*>& args;
  const Session& session;
  const Collation* collation = nullptr;  // of the arguments; null: C
};

// The value of an argument that is known when the plan is built; null where it is not, or is NULL.
template <typename T>
const T* KnownValue(const Expr& arg) {
  const bool is_known = arg.kind == Expr::Kind::kConstant && !arg.constant.is_null_constant();
  return is_known ? arg.constant.values<T>() : nullptr;
}

// One per topic file; each returns a Binding without evaluators for what is not its own.
Binding BindCompare(
    const CallSite& call);  // compare.cc: EQ..GE, IS [NOT] DISTINCT, [NOT] IN_LIST, GREATEST, LEAST, NULLIF
Binding BindLogic(const CallSite& call);          // logic.cc: AND OR NOT IS_*
Binding BindConditional(const CallSite& call);    // conditional.cc: CASE COALESCE
Binding BindArithmetic(const CallSite& call);     // arithmetic.cc: integers and floats
Binding BindFloatFunction(const CallSite& call);  // float_functions.cc: those of the C library
Binding BindNumeric(const CallSite& call);   // numeric_functions.cc: arithmetic, rounding, comparison, casts of NUMERIC
Binding BindCast(const CallSite& call);      // cast.cc: the casts that are not NUMERIC's
Binding BindText(const CallSite& call);      // text.cc
Binding BindDatetime(const CallSite& call);  // datetime.cc
Binding BindWidthBucket(const CallSite& call);  // width_bucket.cc
Binding BindOverlaps(const CallSite& call);     // overlaps.cc
Binding BindRange(const CallSite& call);        // ranges.cc

// Nodes, as the plan builds them. Arguments are borrowed. BuildCall returns a call of constants that
// succeeds as a constant; BindCall never does. Null: refused, *reason says why.
std::unique_ptr<Expr> BuildColumn(int column, PenumbraType type);
std::unique_ptr<Expr> BuildConstant(PenumbraType type, const PenumbraValue& value);
// Many constants as one argument of IN or NOT IN.
std::unique_ptr<Expr> BuildList(PenumbraType type, const PenumbraColumnInput& values, uint32_t count);
std::unique_ptr<Expr> BuildCall(PenumbraFunction function, PenumbraType result, const std::vector<const Expr*>& args,
                                const Session& session, std::string* reason, const Collation* collation = nullptr);
std::unique_ptr<Expr> BindCall(PenumbraFunction function, PenumbraType result, const std::vector<const Expr*>& args,
                               const Session& session, std::string* reason, const Collation* collation = nullptr);
const char* FunctionName(PenumbraFunction function);

// For refusals.
const char* TypeName(PenumbraType type);
std::string TypeList(const std::vector<PenumbraType>& types);  // "(text, integer)"

// Asks the topics in turn.
Binding Bind(const CallSite& call);

}  // namespace penumbra
