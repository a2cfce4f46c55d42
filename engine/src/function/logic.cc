// Three-valued logic on bitmaps.
#include <algorithm>

#include "function/registry.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// The columns that each argument reads: what to gather to evaluate it on a part of the rows.
struct LogicState {
  std::vector<std::vector<int>> columns;
};

// An argument that cannot fail is evaluated on all rows unless at most one in this many still counts:
// gathering costs about as much as a comparison.
constexpr uint32_t kSparseRatio = 8;

void ClearBits(uint64_t* bits, uint32_t rows) { std::fill_n(bits, BitWords(rows), 0); }

// Evaluates argument i on the rows of `active`; the truth of other rows is false.
void EvaluatePart(const Expr& expr, uint32_t i, const Batch& batch, const uint64_t* active, uint32_t active_rows,
                  EvalContext& context, Truth* truth) {
  const LogicState& state = *static_cast<const LogicState*>(expr.state.get());
  uint16_t* selected = context.arena.AllocateArray<uint16_t>(kVectorRows);
  const uint32_t count = kernels::BitsToSelection(active, batch.rows, selected);
  Batch part = GatherBatch(batch, state.columns[i], selected, active_rows, context.arena);
  Truth part_truth;
  EvaluateTruth(*expr.args[i], part, context, &part_truth);
  ClearBits(truth->is_true, batch.rows);
  for (uint32_t j = 0; j < count; ++j) {
    const uint32_t row = selected[j];
    truth->is_true[row / 64] |= uint64_t{IsBitSet(part_truth.is_true, j)} << (row % 64);
  }
  truth->has_nulls = part_truth.has_nulls;
  if (!part_truth.has_nulls) return;
  ClearBits(truth->is_null, batch.rows);
  for (uint32_t j = 0; j < count; ++j) {
    const uint32_t row = selected[j];
    truth->is_null[row / 64] |= uint64_t{IsBitSet(part_truth.is_null, j)} << (row % 64);
  }
}

// AND stops at the first false of a row, OR at the first true; a null goes on.
template <bool kIsAnd>
void EvaluateAndOr(const Expr& expr, const Batch& batch, EvalContext& context, Truth* truth) {
  const uint32_t rows = batch.rows, words = BitWords(rows);
  EvaluateTruth(*expr.args[0], batch, context, truth);
  if (rows == 0) return;
  for (uint32_t i = 1; i < expr.args.size(); ++i) {
    uint64_t active[kValidityWords];
    for (uint32_t w = 0; w < words; ++w) {
      const uint64_t null = truth->has_nulls ? truth->is_null[w] : 0;
      active[w] = kIsAnd ? truth->is_true[w] | null : ~truth->is_true[w];
    }
    active[words - 1] &= LastWordMask(rows);
    const uint32_t active_rows = kernels::CountBits(active, rows);
    if (active_rows == 0) return;
    Truth other;
    const bool is_part = active_rows < rows && (expr.args[i]->can_fail || active_rows <= rows / kSparseRatio);
    if (is_part) {
      EvaluatePart(expr, i, batch, active, active_rows, context, &other);
    } else {
      EvaluateTruth(*expr.args[i], batch, context, &other);
    }
    const bool has_nulls = truth->has_nulls || other.has_nulls;
    for (uint32_t w = 0; w < words; ++w) {
      const uint64_t true_a = truth->is_true[w], true_b = other.is_true[w];
      const uint64_t null_a = truth->has_nulls ? truth->is_null[w] : 0;
      const uint64_t null_b = other.has_nulls ? other.is_null[w] : 0;
      truth->is_true[w] = kIsAnd ? true_a & true_b : true_a | true_b;
      truth->is_null[w] =
          kIsAnd ? (null_a & (true_b | null_b)) | (true_a & null_b) : (null_a | null_b) & ~(true_a | true_b);
    }
    truth->has_nulls = has_nulls;
  }
}

void EvaluateNot(const Expr& expr, const Batch& batch, EvalContext& context, Truth* truth) {
  EvaluateTruth(*expr.args[0], batch, context, truth);
  const uint32_t words = BitWords(batch.rows);
  for (uint32_t w = 0; w < words; ++w) {
    truth->is_true[w] = ~(truth->is_true[w] | (truth->has_nulls ? truth->is_null[w] : 0));
  }
  if (words > 0) truth->is_true[words - 1] &= LastWordMask(batch.rows);
}

// IS [NOT] TRUE, IS [NOT] FALSE.
template <bool kValue, bool kNegated>
void EvaluateIs(const Expr& expr, const Batch& batch, EvalContext& context, Truth* truth) {
  EvaluateTruth(*expr.args[0], batch, context, truth);
  const uint32_t words = BitWords(batch.rows);
  for (uint32_t w = 0; w < words; ++w) {
    uint64_t is = truth->is_true[w];
    if (!kValue) is = ~(is | (truth->has_nulls ? truth->is_null[w] : 0));
    truth->is_true[w] = kNegated ? ~is : is;
  }
  if (words > 0) truth->is_true[words - 1] &= LastWordMask(batch.rows);
  truth->has_nulls = false;
}

template <bool kNegated>
void EvaluateIsNull(const Expr& expr, const Batch& batch, EvalContext& context, Truth* truth) {
  const Vector v = Evaluate(*expr.args[0], batch, context);
  truth->has_nulls = false;
  const uint32_t words = BitWords(batch.rows);
  if (v.is_constant() || v.validity == nullptr) {
    if (v.is_null_constant() != kNegated) {
      kernels::SetBits(truth->is_true, batch.rows);
    } else {
      ClearBits(truth->is_true, batch.rows);
    }
    return;
  }
  for (uint32_t w = 0; w < words; ++w) truth->is_true[w] = kNegated ? v.validity[w] : ~v.validity[w];
  if (words > 0) truth->is_true[words - 1] &= LastWordMask(batch.rows);
}

EvaluateLazyTruthFunction ChooseTest(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_NOT: return EvaluateNot;
    case PENUMBRA_FN_IS_TRUE: return EvaluateIs<true, false>;
    case PENUMBRA_FN_IS_NOT_TRUE: return EvaluateIs<true, true>;
    case PENUMBRA_FN_IS_FALSE: return EvaluateIs<false, false>;
    case PENUMBRA_FN_IS_NOT_FALSE: return EvaluateIs<false, true>;
    case PENUMBRA_FN_IS_NULL: return EvaluateIsNull<false>;
    case PENUMBRA_FN_IS_NOT_NULL: return EvaluateIsNull<true>;
    default: return nullptr;
  }
}

}  // namespace

Binding BindLogic(const CallSite& call) {
  Binding binding;
  binding.is_strict = false;
  if (call.result != PENUMBRA_BOOL || call.args.empty()) return binding;
  const bool takes_any = call.function == PENUMBRA_FN_IS_NULL || call.function == PENUMBRA_FN_IS_NOT_NULL;
  for (const Expr* arg : call.args) {
    if (!takes_any && arg->type != PENUMBRA_BOOL) return binding;
  }
  if (call.function == PENUMBRA_FN_AND || call.function == PENUMBRA_FN_OR) {
    auto state = std::make_shared<LogicState>();
    for (const Expr* arg : call.args) CollectColumns(*arg, &state->columns.emplace_back());
    binding.state = std::move(state);
    binding.evaluate_lazy_truth = call.function == PENUMBRA_FN_AND ? EvaluateAndOr<true> : EvaluateAndOr<false>;
  } else if (call.args.size() == 1) {
    binding.evaluate_lazy_truth = ChooseTest(call.function);
  }
  if (binding.evaluate_lazy_truth != nullptr) binding.evaluate_lazily = EvaluateLazilyByTruth;
  return binding;
}

}  // namespace penumbra
