#include "function/like.h"

#include <cstring>

#include "function/collation.h"
#include "vector/byte_search.h"
#include "vector/error.h"
#include "vector/utf8.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// kExhausted: no match, and none for any shorter rest of the text either.
enum class Match : uint8_t { kNo, kYes, kExhausted };

struct Text {
  const char* position;
  const char* end;
  bool is_empty() const { return position >= end; }
};

void NeedEscaped(const Text& pattern) {
  if (pattern.is_empty()) throw EngineError(PENUMBRA_INVALID_ESCAPE);
}

Match MatchPattern(Text text, Text pattern, bool is_utf8);

// The pattern's rest after %: it matches at some later place of the text, or nowhere.
Match MatchAfterPercent(Text text, Text pattern, bool is_utf8) {
  while (!pattern.is_empty() && (*pattern.position == '%' || *pattern.position == '_')) {
    if (*pattern.position == '_') {
      if (text.is_empty()) return Match::kExhausted;
      text.position = NextCharacter(text.position, text.end, is_utf8);
    }
    ++pattern.position;
  }
  if (pattern.is_empty()) return Match::kYes;
  char first = *pattern.position;
  if (first == '\\') {
    NeedEscaped({pattern.position + 1, pattern.end});
    first = pattern.position[1];
  }
  for (; !text.is_empty(); text.position = NextCharacter(text.position, text.end, is_utf8)) {
    if (*text.position != first) continue;
    const Match match = MatchPattern(text, pattern, is_utf8);
    if (match != Match::kNo) return match;
  }
  return Match::kExhausted;
}

// Literals are compared bytewise: text and pattern are in step at character boundaries.
Match MatchPattern(Text text, Text pattern, bool is_utf8) {
  while (!text.is_empty() && !pattern.is_empty()) {
    char wanted = *pattern.position++;
    if (wanted == '%') return MatchAfterPercent(text, pattern, is_utf8);
    if (wanted == '_') {
      text.position = NextCharacter(text.position, text.end, is_utf8);
      continue;
    }
    if (wanted == '\\') {
      NeedEscaped(pattern);
      wanted = *pattern.position++;
    }
    if (wanted != *text.position++) return Match::kNo;
  }
  if (!text.is_empty()) return Match::kNo;
  while (!pattern.is_empty() && *pattern.position == '%') ++pattern.position;
  return pattern.is_empty() ? Match::kYes : Match::kExhausted;
}

}  // namespace

// Pieces are the texts between %, for patterns without _. Literals are the runs that a text must contain, for any
// pattern. An escape at the end is an error at run time, as in PostgreSQL.
LikePattern::LikePattern(std::string_view pattern, bool is_utf8) : pattern_(pattern), is_utf8_(is_utf8) {
  pieces_.emplace_back();
  literals_.emplace_back();
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' || pattern[i] == '_') {
      if (literals_.size() == 1 || !literals_.back().empty()) literals_.emplace_back();
    }
    if (pattern[i] == '%') {
      has_percent_ = true;
      if (pieces_.size() == 1 || !pieces_.back().empty()) pieces_.emplace_back();
    } else if (pattern[i] == '_') {
      is_pieces_ = false;
    } else if (pattern[i] == '\\' && i + 1 == pattern.size()) {
      ends_in_escape_ = true;
      is_pieces_ = false;
    } else {
      if (pattern[i] == '\\') ++i;
      pieces_.back() += pattern[i];
      literals_.back() += pattern[i];
    }
  }
}

bool LikePattern::MatchesPieces(const char* text, uint32_t length) const {
  const std::string& first = pieces_.front();
  const std::string_view whole(text, length);  // of an empty text the pointer may be null
  if (!has_percent_) return whole == first;
  const std::string& last = pieces_.back();
  if (length < first.size() + last.size()) return false;
  if (!whole.starts_with(first) || !whole.ends_with(last)) return false;
  const char* end = text + length - last.size();
  // Between them the leftmost place of each piece leaves most room for the next one.
  const char* position = text + first.size();
  for (size_t i = 1; i + 1 < pieces_.size(); ++i) {
    const std::string& piece = pieces_[i];
    position = FindBytes(position, static_cast<size_t>(end - position), piece.data(), piece.size());
    if (position == nullptr) return false;
    position += piece.size();
  }
  return true;
}

bool LikePattern::Matches(const char* text, uint32_t length) const {
  if (is_pieces_) return MatchesPieces(text, length);
  const Text pattern{pattern_.data(), pattern_.data() + pattern_.size()};
  return MatchPattern({text, text + length}, pattern, is_utf8_) == Match::kYes;
}

namespace {

struct LikeState {
  LikePattern pattern;
};

// ILIKE compares text and pattern in lower case.
template <bool kFolds, typename Matcher>
void MatchRows(const Expr& expr, const View<StringRef>& texts, const uint64_t* validity, uint32_t rows, uint8_t* out,
               const Matcher& matches) {
  // A null row's bytes need not be text.
  const bool needs_valid_rows = expr.call_can_fail || (kFolds && expr.collation != nullptr);
  CaseBuffer folder(LetterCaseOf(expr.collation), CaseChange::kLower);
  const auto match = [&](uint32_t i) {
    if (kFolds) {
      const StringRef folded = folder.Change(texts[i]);
      out[i] = matches(i, folded.data(), folded.length);
    } else {
      out[i] = matches(i, texts[i].data(), texts[i].length);
    }
  };
  if (!needs_valid_rows) {
    for (uint32_t i = 0; i < rows; ++i) match(i);
  } else {
    std::fill_n(out, rows, 0);
    ForEachValid(validity, rows, match);
  }
}

void FinishMatch(const uint8_t* matched, bool is_negated, const uint64_t* validity, uint32_t rows, Truth* truth) {
  kernels::BytesToBits(matched, rows, truth->is_true);
  if (is_negated) kernels::NotBits(truth->is_true, rows);
  ApplyValidity(validity, rows, truth);
}

template <bool kFolds>
void EvaluateConstantLike(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const LikePattern& pattern = static_cast<const LikeState*>(expr.state.get())->pattern;
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  uint8_t matched[kVectorRows];
  MatchRows<kFolds>(expr, texts, args[0].validity, rows, matched,
                    [&](uint32_t, const char* bytes, uint32_t length) { return pattern.Matches(bytes, length); });
  FinishMatch(matched, IsNegatedLike(expr.function), args[0].validity, rows, truth);
}

// A pattern per row, walked as it is.
template <bool kFolds>
void EvaluateLike(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const bool is_utf8 = context.session.encoding_is_utf8;
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  const View<StringRef> patterns = ViewOf<StringRef>(args[1], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  uint8_t matched[kVectorRows];
  CaseBuffer pattern_folder(LetterCaseOf(expr.collation), CaseChange::kLower);
  MatchRows<kFolds>(expr, texts, validity, rows, matched, [&](uint32_t i, const char* bytes, uint32_t length) {
    const StringRef pattern = kFolds ? pattern_folder.Change(patterns[i]) : patterns[i];
    const char* pattern_bytes = pattern.data();
    return MatchPattern({bytes, bytes + length}, {pattern_bytes, pattern_bytes + pattern.length}, is_utf8) ==
           Match::kYes;
  });
  FinishMatch(matched, IsNegatedLike(expr.function), validity, rows, truth);
}

}  // namespace

bool IsFoldingLike(PenumbraFunction function) {
  return function == PENUMBRA_FN_ILIKE || function == PENUMBRA_FN_NOT_ILIKE;
}

bool IsNegatedLike(PenumbraFunction function) {
  return function == PENUMBRA_FN_NOT_LIKE || function == PENUMBRA_FN_NOT_ILIKE;
}

const LikePattern* ConstantPattern(const Expr& expr) {
  if (expr.kind != Expr::Kind::kCall) return nullptr;
  if (expr.evaluate_truth != EvaluateConstantLike<false> && expr.evaluate_truth != EvaluateConstantLike<true>) {
    return nullptr;
  }
  const LikePattern& pattern = static_cast<const LikeState*>(expr.state.get())->pattern;
  return pattern.can_fail() ? nullptr : &pattern;
}

// ILIKE folds both sides. A constant pattern is folded once.
Binding BindLike(const CallSite& call) {
  Binding binding;
  if (call.result != PENUMBRA_BOOL || call.args.size() != 2) return binding;
  if (!IsStringType(call.args[0]->type) || call.args[1]->type != PENUMBRA_TEXT) return binding;
  const bool folds = IsFoldingLike(call.function);
  const LetterCase& letter_case = LetterCaseOf(call.collation);
  if (folds && !letter_case.KeepsWildcards()) {
    binding.reason = "ILIKE with this collation";
    return binding;
  }
  const Expr& pattern = *call.args[1];
  binding.evaluate = EvaluateByTruth;
  binding.can_be_unsupported = folds && letter_case.can_fail();
  if (pattern.kind != Expr::Kind::kConstant || pattern.constant.is_null_constant()) {
    binding.evaluate_truth = folds ? EvaluateLike<true> : EvaluateLike<false>;
    binding.can_fail = true;
    return binding;
  }
  StringRef wanted = *pattern.constant.values<StringRef>();
  CaseBuffer folder(letter_case, CaseChange::kLower);
  if (folds) wanted = folder.Change(wanted);
  const std::string bytes(wanted.view());
  auto state = std::make_shared<LikeState>(LikeState{LikePattern(bytes, call.session.encoding_is_utf8)});
  binding.can_fail = state->pattern.can_fail() || binding.can_be_unsupported;
  binding.state = std::move(state);
  binding.evaluated_args = 1;
  binding.evaluate_truth = folds ? EvaluateConstantLike<true> : EvaluateConstantLike<false>;
  return binding;
}

}  // namespace penumbra
