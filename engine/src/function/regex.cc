#include "function/regex.h"

#include "vector/byte_search.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

bool HasLiteral(const RegexLiteral& literal, const StringRef& text) {
  const std::string& bytes = literal.bytes;
  if (bytes.empty()) return true;
  if (literal.is_prefix) return text.view().starts_with(bytes);
  return FindBytes(text.data(), text.length, bytes.data(), bytes.size()) != nullptr;
}

void EvaluateMatches(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const RegexProgram& program = static_cast<const RegexPattern*>(expr.state.get())->Get(context);
  const RegexLiteral& literal = program.literal();
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  const uint64_t* validity = args[0].validity;
  std::fill_n(truth->is_true, BitWords(rows), 0);
  const auto found = [&](uint32_t row) { truth->is_true[row / 64] |= uint64_t{1} << (row % 64); };
  uint32_t row = 0;
  const auto next = [&](RegexText* text) {
    for (; row < rows; ++row) {
      // A null row's bytes need not be text.
      if (validity != nullptr && (validity[row / 64] >> (row % 64) & 1) == 0) continue;
      const StringRef& string = texts[row];
      if (!HasLiteral(literal, string)) continue;
      if (literal.is_all) {
        found(row);
        continue;
      }
      *text = {string.data(), string.data() + string.length, row++};
      return true;
    }
    return false;
  };
  MatchTexts(program.matches(), context, next, found);
  if (expr.function == PENUMBRA_FN_REGEX_MATCHES_NOT) kernels::NotBits(truth->is_true, rows);
  ApplyValidity(validity, rows, truth);
}

}  // namespace

const RegexPattern* FindRegexMatch(const Expr& expr) {
  const bool is_match = expr.kind == Expr::Kind::kCall && expr.evaluate_truth == EvaluateMatches;
  return is_match ? static_cast<const RegexPattern*>(expr.state.get()) : nullptr;
}

Binding BindRegex(const CallSite& call) {
  Binding binding;
  if (call.result != PENUMBRA_BOOL || call.args.size() != 2) return binding;
  const Expr& automata = *call.args[1];
  if (!IsStringType(call.args[0]->type) || automata.type != PENUMBRA_TEXT) return binding;
  if (automata.kind != Expr::Kind::kConstant || automata.constant.is_null_constant()) {
    binding.reason = "pattern of a regular expression that is not constant";
    return binding;
  }
  // A short string is in the constant, which the plan keeps.
  binding.state = std::make_shared<const RegexPattern>(automata.constant.values<StringRef>()->view());
  binding.evaluated_args = 1;
  binding.evaluate = EvaluateByTruth;
  binding.evaluate_truth = EvaluateMatches;
  return binding;
}

}  // namespace penumbra
