// CASE and COALESCE. A branch that can fail sees only the rows that reach it.
#include <algorithm>

#include "function/merge.h"
#include "function/registry.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

struct BranchState {
  std::vector<std::vector<int>> columns;  // that each argument reads
};

// The rows that no branch has taken yet.
struct Remaining {
  uint64_t bits[kValidityWords];
  uint32_t count;

  explicit Remaining(uint32_t rows) : count(rows) { kernels::SetBits(bits, rows); }
};

const BranchState& StateOf(const Expr& expr) { return *static_cast<const BranchState*>(expr.state.get()); }

// Gathering pays for a call when it saves at least half of its rows.
bool IsWorthGathering(const Expr& arg, uint32_t count, uint32_t rows) {
  if (count == rows || arg.kind != Expr::Kind::kCall) return false;
  return arg.can_fail || count <= rows / 2;
}

const uint16_t* SelectRows(const uint64_t* bits, uint32_t rows, EvalContext& context) {
  uint16_t* selected = context.arena.AllocateArray<uint16_t>(kVectorRows);
  kernels::BitsToSelection(bits, rows, selected);
  return selected;
}

// Argument i for the rows of `bits` (count of them).
Piece EvaluatePiece(const Expr& expr, size_t i, const Batch& batch, const uint64_t* bits, uint32_t count,
                    EvalContext& context) {
  const Expr& arg = *expr.args[i];
  Piece piece;
  piece.selected = SelectRows(bits, batch.rows, context);
  piece.count = count;
  piece.is_dense = !IsWorthGathering(arg, count, batch.rows);
  if (piece.is_dense) {
    piece.value = Evaluate(arg, batch, context);
  } else {
    const Batch part = GatherBatch(batch, StateOf(expr).columns[i], piece.selected, count, context.arena);
    piece.value = Evaluate(arg, part, context);
  }
  return piece;
}

// The rows among `remaining` where argument i is true.
uint32_t EvaluateCondition(const Expr& expr, size_t i, const Batch& batch, const Remaining& remaining,
                           EvalContext& context, uint64_t* is_true) {
  const Expr& condition = *expr.args[i];
  const uint32_t words = BitWords(batch.rows);
  Truth truth;
  if (!IsWorthGathering(condition, remaining.count, batch.rows)) {
    EvaluateTruth(condition, batch, context, &truth);
    for (uint32_t w = 0; w < words; ++w) is_true[w] = truth.is_true[w] & remaining.bits[w];
    return kernels::CountBits(is_true, batch.rows);
  }
  const uint16_t* selected = SelectRows(remaining.bits, batch.rows, context);
  const Batch part = GatherBatch(batch, StateOf(expr).columns[i], selected, remaining.count, context.arena);
  EvaluateTruth(condition, part, context, &truth);
  std::fill_n(is_true, words, 0);
  for (uint32_t j = 0; j < remaining.count; ++j) {
    is_true[selected[j] / 64] |= uint64_t{IsBitSet(truth.is_true, j)} << (selected[j] % 64);
  }
  return kernels::CountBits(is_true, batch.rows);
}

Vector EvaluateCase(const Expr& expr, const Batch& batch, EvalContext& context) {
  Remaining remaining(batch.rows);
  std::vector<Piece> pieces;
  size_t i = 0;
  for (; i + 1 < expr.args.size() && remaining.count > 0; i += 2) {
    uint64_t is_true[kValidityWords];
    const uint32_t count = EvaluateCondition(expr, i, batch, remaining, context, is_true);
    if (count == 0) continue;
    pieces.push_back(EvaluatePiece(expr, i + 1, batch, is_true, count, context));
    for (uint32_t w = 0; w < BitWords(batch.rows); ++w) remaining.bits[w] &= ~is_true[w];
    remaining.count -= count;
  }
  if (remaining.count > 0 && i < expr.args.size()) {
    pieces.push_back(EvaluatePiece(expr, i, batch, remaining.bits, remaining.count, context));
  }
  return MergePieces(expr.type, pieces, batch.rows, expr.hides_scale, context.arena);
}

// Narrows the piece to its rows that are not null and takes them from `remaining`.
void TakeValidRows(uint32_t rows, Piece* piece, Remaining* remaining, EvalContext& context) {
  if (piece->value.is_null_constant()) {
    piece->count = 0;
    return;
  }
  const uint64_t* validity = piece->value.validity;
  if (validity == nullptr) {
    remaining->count = 0;
    return;
  }
  uint64_t taken[kValidityWords];
  if (piece->is_dense) {
    for (uint32_t w = 0; w < BitWords(rows); ++w) taken[w] = remaining->bits[w] & validity[w];
    piece->selected = SelectRows(taken, rows, context);
    piece->count = kernels::CountBits(taken, rows);
  } else {
    uint16_t* positions = context.arena.AllocateArray<uint16_t>(kVectorRows);
    const auto count = static_cast<uint32_t>(kernels::BitsToSelection(validity, piece->count, positions));
    uint16_t* valid = context.arena.AllocateArray<uint16_t>(count);
    std::fill_n(taken, BitWords(rows), 0);
    for (uint32_t j = 0; j < count; ++j) {
      valid[j] = piece->selected[positions[j]];
      taken[valid[j] / 64] |= uint64_t{1} << (valid[j] % 64);
    }
    piece->value = Gather(piece->value, positions, count, context.arena);
    piece->selected = valid;
    piece->count = count;
  }
  for (uint32_t w = 0; w < BitWords(rows); ++w) remaining->bits[w] &= ~taken[w];
  remaining->count -= piece->count;
  piece->value.validity = nullptr;  // of the rows that still count
}

Vector EvaluateCoalesce(const Expr& expr, const Batch& batch, EvalContext& context) {
  Remaining remaining(batch.rows);
  std::vector<Piece> pieces;
  for (size_t i = 0; i < expr.args.size() && remaining.count > 0; ++i) {
    Piece piece = EvaluatePiece(expr, i, batch, remaining.bits, remaining.count, context);
    TakeValidRows(batch.rows, &piece, &remaining, context);
    if (piece.count > 0) pieces.push_back(piece);
  }
  return MergePieces(expr.type, pieces, batch.rows, expr.hides_scale, context.arena);
}

bool HaveResultType(const CallSite& call) {
  if (call.args.empty()) return false;
  if (call.function == PENUMBRA_FN_COALESCE) {
    return std::all_of(call.args.begin(), call.args.end(), [&](const Expr* arg) { return arg->type == call.result; });
  }
  const size_t count = call.args.size();
  for (size_t i = 0; i < count; ++i) {
    const bool is_condition = i % 2 == 0 && i + 1 < count;
    if (call.args[i]->type != (is_condition ? PENUMBRA_BOOL : call.result)) return false;
  }
  return true;
}

}  // namespace

Binding BindConditional(const CallSite& call) {
  Binding binding;
  binding.is_strict = false;
  const bool is_case = call.function == PENUMBRA_FN_CASE;
  if ((!is_case && call.function != PENUMBRA_FN_COALESCE) || !HaveResultType(call)) return binding;
  auto state = std::make_shared<BranchState>();
  for (const Expr* arg : call.args) CollectColumns(*arg, &state->columns.emplace_back());
  binding.state = std::move(state);
  binding.evaluate_lazily = is_case ? EvaluateCase : EvaluateCoalesce;
  return binding;
}

}  // namespace penumbra
