// Where a regular expression matches, as PostgreSQL finds it: a search, which ends where some match ends first, tells
// from where on one may begin. The match is the first place from there on at which one begins, up to its longest or
// shortest end.
#include "function/regex.h"
#include "vector/utf8.h"

namespace penumbra {
namespace {

constexpr ptrdiff_t kPiece = 1 << 16;  // between looks at a cancel

}  // namespace

const char* RegexProgram::FindStart(std::string_view text, const char* from, const EvalContext& context) const {
  const char* const end = text.data() + text.size();
  RegexWalk walk(search_, ColorBefore(text, from));
  const char* start = from;
  for (const char* place = from; !walk.is_dead() && !walk.has_accepted();) {
    if (place == end) return walk.AcceptsAtEnd() ? start : nullptr;
    walk.Step(*place++);
    if (walk.makes_no_progress()) start = place;
    if ((place - from) % kPiece == 0) context.CheckCancelled();
  }
  return walk.is_dead() ? nullptr : start;
}

// The character behind the match has been read when it is accepted.
const char* RegexProgram::FindEnd(std::string_view text, const char* begin, const EvalContext& context) const {
  const char* const end = text.data() + text.size();
  const bool is_utf8 = regex_.alphabet.is_utf8();
  RegexWalk walk(match_, ColorBefore(text, begin));
  const char* accepted = nullptr;
  for (const char* place = begin; !walk.is_dead();) {
    if (place == end) {
      if (walk.AcceptsAtEnd()) return end;
      break;
    }
    walk.Step(*place++);
    if (walk.has_accepted()) {
      accepted = place;
      if (regex_.is_shortest) break;
    }
    if ((place - begin) % kPiece == 0) context.CheckCancelled();
  }
  return accepted == nullptr ? nullptr : CharacterBefore(begin, accepted, is_utf8);
}

bool RegexProgram::FindMatch(std::string_view text, const char* from, const EvalContext& context, Match* match) const {
  const char* const end = text.data() + text.size();
  const char* begin = FindStart(text, from, context);
  if (begin == nullptr) return false;
  for (size_t tries = 1;; ++tries) {
    if (const char* match_end = FindEnd(text, begin, context)) {
      *match = {begin, match_end};
      return true;
    }
    if (begin == end) return false;
    begin = NextCharacter(begin, end, regex_.alphabet.is_utf8());
    if (tries % kPiece == 0) context.CheckCancelled();
  }
}

}  // namespace penumbra
