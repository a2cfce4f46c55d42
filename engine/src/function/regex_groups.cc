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

template <typename Visit>
void RegexProgram::VisitEnds(std::string_view text, const PenumbraRegexPart& part, const Match& within,
                             const EvalContext& context, Visit visit) const {
  const char* const end = text.data() + text.size();
  const bool is_utf8 = regex_.alphabet.is_utf8();
  RegexWalk walk(DfaOf(part), ColorBefore(text, within.begin));
  for (const char* place = within.begin; !walk.is_dead() && place - within.end < kCharacterBytesMax;) {
    if (place == end) {
      if (end <= within.end && walk.AcceptsAtEnd()) visit(end);
      return;
    }
    walk.Step(*place++);
    if (walk.has_accepted()) {
      const char* accepted = CharacterBefore(within.begin, place, is_utf8);
      if (accepted > within.end || !visit(accepted)) return;
    }
    if ((place - within.begin) % kPiece == 0) context.CheckCancelled();
  }
}

const char* RegexProgram::FindMiddle(std::string_view text, const PenumbraRegexPart& first, const Match& match,
                                     const EvalContext& context) const {
  const PenumbraRegexPart& second = regex_.parts[first.next];
  std::vector<const char*> ends;
  VisitEnds(text, first, match, context, [&](const char* end) {
    ends.push_back(end);
    return true;
  });
  // The match can be divided.
  if (ends.size() == 1) return ends.front();
  if (!first.is_shortest) std::reverse(ends.begin(), ends.end());
  for (const char* middle : ends) {
    if (Accepts(second, text, {middle, match.end}, context)) return middle;
    context.CheckCancelled();
  }
  ThrowUndivided();
}

// A piece is never empty, and is as long, or as short, as those behind it allow. What is behind a place where a piece
// may end is divided once at most.
const char* RegexProgram::FindLastPiece(std::string_view text, const PenumbraRegexPart& repeated, const Match& match,
                                        const EvalContext& context) const {
  const PenumbraRegexPart& piece = regex_.parts[repeated.first];
  const uint32_t pieces_max = repeated.pieces_max;
  std::vector<const char*> begins = {match.begin};
  std::vector<uint32_t> refused;  // by place: so many pieces cannot begin there; of any number 1
  const char* tried = nullptr;    // the last end of the last piece
  const auto pieces_left = [&] { return pieces_max == 0 ? 1 : pieces_max - static_cast<uint32_t>(begins.size()); };
  while (!begins.empty()) {
    const char* const begin = begins.back();
    const bool is_last = pieces_max != 0 && begins.size() == pieces_max;
    const Match within = {begin, tried == nullptr || piece.is_shortest ? match.end : tried - 1};
    const char* found = nullptr;
    VisitEnds(text, piece, within, context, [&](const char* end) {
      const bool is_possible =
          end > begin && (!is_last || end == match.end) && (!piece.is_shortest || tried == nullptr || end > tried);
      if (is_possible) found = end;
      return !is_possible || !piece.is_shortest;
    });
    context.CheckCancelled();
    if (found == match.end) return begin;
    if (found == nullptr) {
      tried = begin;
      begins.pop_back();
      if (refused.empty()) refused.resize(static_cast<size_t>(match.end - match.begin));
      refused[static_cast<size_t>(begin - match.begin)] = pieces_left();
    } else if (!refused.empty() && refused[static_cast<size_t>(found - match.begin)] >= pieces_left()) {
      tried = found;
    } else {
      begins.push_back(found);
      tried = nullptr;
    }
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
    const bool is_repeated = part.kind == PENUMBRA_REGEX_REPEATED;
    if ((is_repeated || part.kind == PENUMBRA_REGEX_OPTIONAL) && match.begin == match.end &&
        (regex_.parts[place].is_shortest || !Accepts(regex_.parts[place], text, match, context))) {
      return;
    }
    if (is_repeated && match.begin != match.end) match.begin = FindLastPiece(text, part, match, context);
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
