// What is in the groups of a match, as PostgreSQL finds it. The match is divided from the outside to the inside, and a
// part is never divided anew: an automaton accepts a text exactly if it can be divided further. PostgreSQL may take a
// division back for a back reference alone, and patterns with one are not the engine's.
#include "function/regex.h"
#include "vector/error.h"
#include "vector/utf8.h"

namespace penumbra {
namespace {

constexpr ptrdiff_t kPiece = 1 << 16;  // between looks at a cancel
constexpr ptrdiff_t kCharacterBytesMax = 4;

[[noreturn]] void ThrowUndivided() { throw EngineError(PENUMBRA_UNSUPPORTED, "match that cannot be divided"); }

}  // namespace

// The character behind has to be read: a part may look at it.
bool RegexProgram::Accepts(const PenumbraRegexPart& part, std::string_view text, const Match& between,
                           const EvalContext& context) const {
  const char* const end = text.data() + text.size();
  const char* const behind = between.end == end ? end : NextCharacter(between.end, end, regex_.alphabet.is_utf8());
  RegexWalk walk(DfaOf(part), ColorBefore(text, between.begin));
  for (const char* place = between.begin; place < behind && !walk.is_dead();) {
    walk.Step(*place++);
    if ((place - between.begin) % kPiece == 0) context.CheckCancelled();
  }
  return !walk.is_dead() && (between.end == end ? walk.AcceptsAtEnd() : walk.has_accepted());
}

const char* RegexProgram::FindMiddle(std::string_view text, const PenumbraRegexPart& first, const Match& match,
                                     const EvalContext& context) const {
  const char* const end = text.data() + text.size();
  const bool is_utf8 = regex_.alphabet.is_utf8();
  const PenumbraRegexPart& second = regex_.parts[first.next];
  std::vector<const char*> ends;
  RegexWalk walk(DfaOf(first), ColorBefore(text, match.begin));
  for (const char* place = match.begin; !walk.is_dead() && place - match.end < kCharacterBytesMax;) {
    if (place == end) {
      if (walk.AcceptsAtEnd()) ends.push_back(end);
      break;
    }
    walk.Step(*place++);
    if (walk.has_accepted()) ends.push_back(CharacterBefore(match.begin, place, is_utf8));
    if ((place - match.begin) % kPiece == 0) context.CheckCancelled();
  }
  while (!ends.empty() && ends.back() > match.end) ends.pop_back();
  // The match can be divided.
  if (ends.size() == 1) return ends.front();
  if (!first.is_shortest) std::reverse(ends.begin(), ends.end());
  for (const char* middle : ends) {
    if (Accepts(second, text, {middle, match.end}, context)) return middle;
    context.CheckCancelled();
  }
  ThrowUndivided();
}

void RegexProgram::FindGroups(std::string_view text, uint32_t place, Match match, const EvalContext& context,
                              std::vector<Match>* groups) const {
  for (;;) {
    const PenumbraRegexPart& part = regex_.parts[place];
    if (part.group != 0) (*groups)[part.group] = match;
    if (part.kind == PENUMBRA_REGEX_UNDIVIDED) return;
    place = part.first;
    if (part.kind == PENUMBRA_REGEX_OPTIONAL && match.begin == match.end &&
        (regex_.parts[place].is_shortest || !Accepts(regex_.parts[place], text, match, context))) {
      return;
    }
    if (part.kind == PENUMBRA_REGEX_SEQUENCE) {
      const char* middle = FindMiddle(text, regex_.parts[place], match, context);
      FindGroups(text, place, {match.begin, middle}, context, groups);
      match.begin = middle;
      place = regex_.parts[place].next;
    }
    while (part.kind == PENUMBRA_REGEX_CHOICE && !Accepts(regex_.parts[place], text, match, context)) {
      place = regex_.parts[place].next;
      if (place == 0) ThrowUndivided();
    }
  }
}

std::vector<RegexProgram::Match> RegexProgram::FindGroups(std::string_view text, const Match& match,
                                                          const EvalContext& context) const {
  std::vector<Match> groups(group_count_ + 1);
  if (!regex_.parts.empty()) FindGroups(text, 0, match, context, &groups);
  groups[0] = match;
  return groups;
}

}  // namespace penumbra
