#include "function/regex.h"

#include "vector/byte_search.h"
#include "vector/error.h"
#include "vector/utf8.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

bool HasLiteral(const RegexLiteral& literal, const StringRef& text) {
  const std::string& bytes = literal.bytes;
  if (bytes.empty()) return true;
  if (literal.is_prefix) return text.view().starts_with(bytes);
  return FindBytes(text.data(), text.length, bytes.data(), bytes.size()) != nullptr;
}

const RegexProgram& ProgramOf(const Expr& expr, const EvalContext& context) {
  return static_cast<const RegexPattern*>(expr.state.get())->Get(context);
}

void EvaluateMatches(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const RegexProgram& program = ProgramOf(expr, context);
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

// f(begin, end) for the matches in their order, until it returns false.
template <typename F>
void ForEachMatch(const RegexProgram& program, const StringRef& string, const EvalContext& context, F f) {
  const std::string_view text = string.view();
  const char* const end = text.data() + text.size();
  if (!HasLiteral(program.literal(), string)) return;
  RegexProgram::Match match;
  for (const char* from = text.data(); program.FindMatch(text, from, context, &match);) {
    if (!f(match.begin, match.end)) return;
    from = match.end;
    if (match.begin != match.end) continue;
    // After an empty match the next one begins a character later.
    if (from == end) return;
    from = NextCharacter(from, end, context.session.encoding_is_utf8);
  }
}

// The replacement's \1 and the like are groups of the match, \& is all of it, and a backslash before another one is
// one; before anything else it stands for itself.
void AppendReplacement(std::string_view replacement, std::string_view text, const RegexProgram::Match& match,
                       const RegexProgram& program, const EvalContext& context, std::string* out) {
  std::vector<RegexProgram::Match> groups;
  for (;;) {
    const size_t escape = replacement.find('\\');
    out->append(replacement.substr(0, escape));
    if (escape == std::string_view::npos) return;
    replacement.remove_prefix(escape + 1);
    const char what = replacement.empty() ? '\0' : replacement.front();
    const bool is_group = what >= '1' && what <= '9';
    if (!is_group && what != '&' && what != '\\') {
      out->push_back('\\');
      continue;
    }
    replacement.remove_prefix(1);
    if (what == '\\') out->push_back('\\');
    if (what == '&') out->append(match.begin, match.end);
    if (!is_group) continue;
    if (groups.empty()) groups = program.FindGroups(text, match, context);
    const auto number = static_cast<size_t>(what - '0');
    if (number < groups.size() && groups[number].begin != nullptr)
      out->append(groups[number].begin, groups[number].end);
  }
}

Vector EvaluateSubstring(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const RegexProgram& program = ProgramOf(expr, context);
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  StringRef* out = context.arena.AllocateArray<StringRef>(rows);
  uint64_t* validity = context.arena.AllocateArray<uint64_t>(BitWords(rows));
  std::fill_n(out, rows, StringRef());
  std::fill_n(validity, BitWords(rows), 0);
  ForEachValid(args[0].validity, rows, [&](uint32_t i) {
    const StringRef& text = texts[i];
    ForEachMatch(program, text, context, [&](const char* begin, const char* end) {
      RegexProgram::Match given = {begin, end};
      if (program.asked_group() != 0) {
        const auto groups = program.FindGroups(text.view(), given, context);
        given = program.asked_group() < groups.size() ? groups[program.asked_group()] : RegexProgram::Match();
      }
      if (given.begin == nullptr) return false;
      out[i] = StringRef(given.begin, static_cast<uint32_t>(given.end - given.begin));
      validity[i / 64] |= uint64_t{1} << (i % 64);
      return false;
    });
  });
  return FlatVector(expr.type, out, validity);
}

template <typename Value>
Vector MapMatches(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Value value) {
  const RegexProgram& program = ProgramOf(expr, context);
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  int32_t* out = context.arena.AllocateArray<int32_t>(rows);
  std::fill_n(out, rows, 0);
  ForEachValid(args[0].validity, rows, [&](uint32_t i) { out[i] = value(program, texts[i]); });
  return FlatVector(expr.type, out, args[0].validity);
}

Vector EvaluateCount(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  return MapMatches(expr, args, rows, context, [&](const RegexProgram& program, const StringRef& text) {
    int32_t count = 0;
    ForEachMatch(program, text, context, [&](const char*, const char*) { return ++count != 0; });
    return count;
  });
}

Vector EvaluateInstr(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  return MapMatches(expr, args, rows, context, [&](const RegexProgram& program, const StringRef& text) {
    int32_t place = 0;
    ForEachMatch(program, text, context, [&](const char* begin, const char*) {
      const auto before = static_cast<uint32_t>(begin - text.data());
      place = 1 + static_cast<int32_t>(CountCharacters(text.data(), before, context.session.encoding_is_utf8));
      return false;
    });
    return place;
  });
}

Vector EvaluateReplace(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  constexpr size_t kMaxTextBytes = (size_t{1} << 30) - 5;
  const RegexProgram& program = ProgramOf(expr, context);
  const bool is_global = expr.args.size() == 4 && *expr.args[3]->constant.values<uint8_t>() != 0;
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  const View<StringRef> replacements = ViewOf<StringRef>(args[2], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  StringRef* out = context.arena.AllocateArray<StringRef>(rows);
  std::fill_n(out, rows, StringRef());
  std::string replaced;
  ForEachValid(validity, rows, [&](uint32_t i) {
    const StringRef& text = texts[i];
    const char* rest = text.data();
    bool is_changed = false;
    replaced.clear();
    ForEachMatch(program, text, context, [&](const char* begin, const char* end) {
      is_changed = true;
      replaced.append(rest, begin);
      AppendReplacement(replacements[i].view(), text.view(), {begin, end}, program, context, &replaced);
      if (replaced.size() > kMaxTextBytes) throw EngineError(PENUMBRA_UNSUPPORTED, "text longer than 1 GB");
      rest = end;
      return is_global;
    });
    if (!is_changed) {
      out[i] = text;
      return;
    }
    replaced.append(rest, text.data() + text.length);
    if (replaced.size() > kMaxTextBytes) throw EngineError(PENUMBRA_UNSUPPORTED, "text longer than 1 GB");
    const auto length = static_cast<uint32_t>(replaced.size());
    out[i] = StringRef(
        length <= StringRef::kInlineBytes ? replaced.data() : context.arena.CopyBytes(replaced.data(), length), length);
  });
  return FlatVector(expr.type, out, validity);
}

bool IsConstant(const Expr& expr, PenumbraType type) {
  return expr.kind == Expr::Kind::kConstant && expr.type == type && !expr.constant.is_null_constant();
}

void ChooseEvaluator(const CallSite& call, Binding* binding) {
  const bool takes_two = call.args.size() == 2;
  switch (call.function) {
    case PENUMBRA_FN_REGEX_MATCHES:
    case PENUMBRA_FN_REGEX_MATCHES_NOT:
      if (!takes_two || call.result != PENUMBRA_BOOL) return;
      binding->evaluate = EvaluateByTruth;
      binding->evaluate_truth = EvaluateMatches;
      break;
    case PENUMBRA_FN_REGEX_SUBSTRING:
      if (takes_two && call.result == PENUMBRA_TEXT) binding->evaluate = EvaluateSubstring;
      break;
    case PENUMBRA_FN_REGEX_COUNT:
      if (takes_two && call.result == PENUMBRA_INT4) binding->evaluate = EvaluateCount;
      break;
    case PENUMBRA_FN_REGEX_INSTR:
      if (takes_two && call.result == PENUMBRA_INT4) binding->evaluate = EvaluateInstr;
      break;
    default:
      if (call.args.size() < 3 || call.args.size() > 4 || call.result != PENUMBRA_TEXT ||
          call.args[2]->type != PENUMBRA_TEXT || (call.args.size() == 4 && !IsConstant(*call.args[3], PENUMBRA_BOOL))) {
        return;
      }
      binding->evaluate = EvaluateReplace;
      binding->can_fail = true;
  }
}

}  // namespace

const RegexPattern* FindRegexMatch(const Expr& expr) {
  const bool is_match = expr.kind == Expr::Kind::kCall && expr.evaluate_truth == EvaluateMatches;
  return is_match ? static_cast<const RegexPattern*>(expr.state.get()) : nullptr;
}

Binding BindRegex(const CallSite& call) {
  const bool is_match = call.function == PENUMBRA_FN_REGEX_MATCHES || call.function == PENUMBRA_FN_REGEX_MATCHES_NOT;
  Binding binding;
  if (call.args.size() < 2 || call.args[1]->type != PENUMBRA_TEXT) return binding;
  const PenumbraType type = call.args[0]->type;
  if (type != PENUMBRA_TEXT && (!is_match || !IsStringType(type))) return binding;
  ChooseEvaluator(call, &binding);
  if (binding.evaluate == nullptr) return binding;
  const Expr& automata = *call.args[1];
  if (!IsConstant(automata, PENUMBRA_TEXT)) {
    binding.evaluate = nullptr;
    binding.reason = "pattern of a regular expression that is not constant";
    return binding;
  }
  // The plan keeps the constant.
  binding.state = std::make_shared<const RegexPattern>(automata.constant.values<StringRef>()->view());
  binding.evaluated_args = call.function == PENUMBRA_FN_REGEX_REPLACE ? 3 : 1;
  return binding;
}

}  // namespace penumbra
