// LIKE patterns, compiled once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "function/registry.h"

namespace penumbra {

// Matches texts against one pattern. Backslash escapes; % is any string, _ one character. Patterns of
// literals between % (the common ones) are searched for piece by piece; the others walk the pattern.
class LikePattern {
 public:
  LikePattern(std::string_view pattern, bool is_utf8);

  // May throw PENUMBRA_INVALID_ESCAPE: a pattern that ends in an escape fails only when a text leads there.
  bool Matches(const char* text, uint32_t length) const;
  bool can_fail() const { return ends_in_escape_; }

  // The literals between wildcards, in their order: each occurs in every text that matches. The first is
  // what such a text begins with, the last what it ends with; both may be empty.
  const std::vector<std::string>& literals() const { return literals_; }
  // The pattern is %literal%: a text that contains it matches.
  bool is_contained_literal() const {
    return is_pieces_ && literals_.size() == 3 && literals_[0].empty() && literals_[2].empty();
  }
  // It is literal% or %literal: a text that begins or ends with it matches.
  bool is_anchored_literal() const {
    return is_pieces_ && literals_.size() == 2 && literals_[0].empty() != literals_[1].empty();
  }

 private:
  bool MatchesPieces(const char* text, uint32_t length) const;

  std::string pattern_;
  bool is_utf8_;
  bool ends_in_escape_ = false;
  bool is_pieces_ = true;  // no _ and no dangling escape
  bool has_percent_ = false;
  std::vector<std::string> pieces_;  // literals between %: the first is anchored, so is the last
  std::vector<std::string> literals_;
};

// LIKE, ILIKE and their negations with a constant pattern that cannot fail; null for other expressions.
const LikePattern* ConstantPattern(const Expr& expr);
bool IsFoldingLike(PenumbraFunction function);  // ILIKE, NOT ILIKE: pattern and texts are folded first
bool IsNegatedLike(PenumbraFunction function);

Binding BindLike(const CallSite& call);

}  // namespace penumbra
