// A regular expression over many strings at once.
#pragma once

#include "function/regex.h"
#include "scan/literal_filter.h"
#include "scan/text_search.h"

namespace penumbra {

// Only rows that have the literal which the pattern asks for are matched.
class RegexSearch final : public TextSearch {
 public:
  explicit RegexSearch(const RegexPattern& pattern) : pattern_(pattern) {}  // outlives this

  void Find(const StringRun& texts, const uint64_t* wanted, EvalContext& context, uint64_t* truth) const override;

 private:
  const LiteralFilter& FilterOf(const RegexLiteral& literal, const EvalContext& context) const;

  const RegexPattern& pattern_;
  MadeOnce<LiteralFilter> filter_;
};

}  // namespace penumbra
