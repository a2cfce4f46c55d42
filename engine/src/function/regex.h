// Regular expressions: functions of a text and an automaton (penumbra/regex.h).
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "function/made_once.h"
#include "function/regex_dfa.h"
#include "function/regex_literal.h"
#include "function/registry.h"

namespace penumbra {

// A pattern, ready to match.
class RegexProgram {
 public:
  explicit RegexProgram(std::string_view automata)
      : regex_(ParseRegex(automata)),
        literal_(FindLiteral(regex_.automata[0], regex_.alphabet)),
        matches_(regex_.automata[0], regex_.alphabet, true),
        search_(regex_.automata[0], regex_.alphabet, false),
        match_(regex_.automata[std::min<size_t>(1, regex_.automata.size() - 1)], regex_.alphabet, false) {
    for (size_t i = 2; i < regex_.automata.size(); ++i) parts_.emplace_back(regex_.automata[i], regex_.alphabet, false);
    for (const PenumbraRegexPart& part : regex_.parts) group_count_ = std::max<size_t>(group_count_, part.group);
  }

  const RegexLiteral& literal() const { return literal_; }
  // Whether a text is matched anywhere.
  const RegexDfa& matches() const { return matches_; }

  struct Match {
    const char* begin = nullptr;  // null: of a group that is in no part of the match
    const char* end = nullptr;
  };
  // The first match in a text that begins at `from` or later. The pattern has both automata.
  bool FindMatch(std::string_view text, const char* from, const EvalContext& context, Match* match) const;
  // What is in parentheses in a match, by number; the first is the match.
  std::vector<Match> FindGroups(std::string_view text, const Match& match, const EvalContext& context) const;
  uint32_t asked_group() const { return regex_.group; }

 private:
  void FindGroups(std::string_view text, uint32_t place, Match match, const EvalContext& context,
                  std::vector<Match>* groups) const;
  // Where the first part of a sequence ends that has the text of the match.
  const char* FindMiddle(std::string_view text, const PenumbraRegexPart& first, const Match& match,
                         const EvalContext& context) const;
  // Where the last piece of a repeated part begins that has the text of the match, which is not empty.
  const char* FindLastPiece(std::string_view text, const PenumbraRegexPart& repeated, const Match& match,
                            const EvalContext& context) const;
  // Where texts that the part accepts may end, from the begin of `within` to its end, in order, until visit() says
  // false.
  template <typename Visit>
  void VisitEnds(std::string_view text, const PenumbraRegexPart& part, const Match& within, const EvalContext& context,
                 Visit visit) const;
  // Whether the part accepts what is between, as a part of the text.
  bool Accepts(const PenumbraRegexPart& part, std::string_view text, const Match& between,
               const EvalContext& context) const;
  const RegexDfa& DfaOf(const PenumbraRegexPart& part) const {
    return part.automaton >= 2 ? parts_[part.automaton - 2] : match_;
  }
  // Where the first match begins at the earliest; null: there is none.
  const char* FindStart(std::string_view text, const char* from, const EvalContext& context) const;
  // Where the match ends that begins there; null: none does.
  const char* FindEnd(std::string_view text, const char* begin, const EvalContext& context) const;
  uint32_t ColorBefore(std::string_view text, const char* place) const {
    return place == text.data() ? PENUMBRA_REGEX_BEGIN : regex_.alphabet.ColorBefore(text.data(), place);
  }

  const Regex regex_;
  const RegexLiteral literal_;
  const RegexDfa matches_;
  const RegexDfa search_;
  const RegexDfa match_;
  std::deque<RegexDfa> parts_;
  size_t group_count_ = 0;
};

// The pattern of a call, made when the first text is to be matched: most plans are made for their costs.
class RegexPattern {
 public:
  explicit RegexPattern(std::string_view automata) : automata_(automata) {}
  const RegexProgram& Get(const EvalContext& context) const {
    return program_.Get(context, [&] { return std::make_unique<const RegexProgram>(automata_); });
  }

 private:
  const std::string_view automata_;
  MadeOnce<RegexProgram> program_;
};

// REGEX_MATCHES and its negation; null: another expression.
const RegexPattern* FindRegexMatch(const Expr& expr);

Binding BindRegex(const CallSite& call);

}  // namespace penumbra
