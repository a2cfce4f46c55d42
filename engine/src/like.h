// LIKE patterns, compiled once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry.h"

namespace penumbra {

// Matches texts against one pattern. Backslash escapes; % is any string, _ one character. Patterns of
// literals between % (the common ones) are searched for piece by piece; the others walk the pattern.
class LikePattern {
 public:
  LikePattern(std::string_view pattern, bool is_utf8);

  // May throw PENUMBRA_INVALID_ESCAPE: a pattern that ends in an escape fails only when a text leads there.
  bool Matches(const char* text, uint32_t length) const;
  bool can_fail() const { return ends_in_escape_; }

 private:
  bool MatchesPieces(const char* text, uint32_t length) const;

  std::string pattern_;
  bool is_utf8_;
  bool ends_in_escape_ = false;
  bool is_pieces_ = true;       // no _ and no dangling escape
  bool has_percent_ = false;
  std::vector<std::string> pieces_;  // literals between %: the first is anchored, so is the last
};

Binding BindLike(const CallSite& call);

}  // namespace penumbra
