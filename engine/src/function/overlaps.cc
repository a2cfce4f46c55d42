// (a, b) OVERLAPS (c, d).
#include <algorithm>

#include "function/registry.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

constexpr int kBounds = 4;

enum class Answer : uint8_t { kFalse, kTrue, kNull };

struct Period {
  int64_t begin, end;
  bool has_begin, has_end;
};

// The bounds come in any order. The only one that is there is the begin.
Period MakePeriod(const int64_t* bounds, const bool* are_valid) {
  if (!are_valid[0] || !are_valid[1]) {
    return {are_valid[0] ? bounds[0] : bounds[1], 0, are_valid[0] || are_valid[1], false};
  }
  return {std::min(bounds[0], bounds[1]), std::max(bounds[0], bounds[1]), true, true};
}

// The period that begins later overlaps the other one if it begins before its end. Where it does not, NULL for its own
// end is unknown, though no end could change that: so SQL has it.
Answer Overlap(const Period& a, const Period& b) {
  if (!a.has_begin || !b.has_begin) return Answer::kNull;
  if (a.begin == b.begin) return a.has_end && b.has_end ? Answer::kTrue : Answer::kNull;
  const Period &later = a.begin > b.begin ? a : b, &earlier = a.begin > b.begin ? b : a;
  if (!earlier.has_end) return Answer::kNull;
  if (later.begin < earlier.end) return Answer::kTrue;
  return later.has_end ? Answer::kFalse : Answer::kNull;
}

struct Bounds {
  View<int64_t> values[kBounds];
  const uint64_t* validity[kBounds];
  bool is_null[kBounds];

  Answer AnswerOf(uint32_t row) const {
    int64_t bounds[kBounds];
    bool are_valid[kBounds];
    for (int i = 0; i < kBounds; ++i) {
      are_valid[i] = !is_null[i] && IsRowValid(validity[i], row);
      bounds[i] = are_valid[i] ? values[i][row] : 0;
    }
    return Overlap(MakePeriod(bounds, are_valid), MakePeriod(bounds + 2, are_valid + 2));
  }
};

void EvaluateOverlaps(const Expr&, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  Bounds bounds;
  bool has_nulls = false;
  for (int i = 0; i < kBounds; ++i) {
    bounds.is_null[i] = args[i].is_null_constant();
    bounds.validity[i] = args[i].is_constant() ? nullptr : args[i].validity;
    if (!bounds.is_null[i]) bounds.values[i] = ViewOf<int64_t>(args[i], rows, context.arena);
    has_nulls |= bounds.is_null[i] || bounds.validity[i] != nullptr;
  }
  truth->has_nulls = has_nulls;
  if (has_nulls) {
    uint8_t* answers = context.arena.AllocateArray<uint8_t>(rows);
    for (uint32_t i = 0; i < rows; ++i) answers[i] = static_cast<uint8_t>(bounds.AnswerOf(i));
    PackTests(rows, truth->is_true, [&](uint32_t i) { return answers[i] == static_cast<uint8_t>(Answer::kTrue); });
    PackTests(rows, truth->is_null, [&](uint32_t i) { return answers[i] == static_cast<uint8_t>(Answer::kNull); });
    return;
  }
  const auto [a, b, c, d] = bounds.values;
  PackTests(rows, truth->is_true, [=](uint32_t i) {
    const int64_t begin = std::min(a[i], b[i]), end = std::max(a[i], b[i]);
    const int64_t other_begin = std::min(c[i], d[i]), other_end = std::max(c[i], d[i]);
    return ((begin < other_end) & (other_begin < end)) | (begin == other_begin);
  });
}

}  // namespace

Binding BindOverlaps(const CallSite& call) {
  Binding binding;
  if (call.function != PENUMBRA_FN_OVERLAPS || call.result != PENUMBRA_BOOL || call.args.size() != kBounds) return {};
  const PenumbraType type = call.args[0]->type;
  if (type != PENUMBRA_TIMESTAMP && type != PENUMBRA_TIMESTAMPTZ) return binding;
  for (const Expr* arg : call.args) {
    if (arg->type != type) return binding;
  }
  binding.is_strict = false;
  binding.evaluate_truth = EvaluateOverlaps;
  binding.evaluate = EvaluateByTruth;
  return binding;
}

}  // namespace penumbra
