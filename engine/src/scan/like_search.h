// LIKE with a constant pattern over many strings at once.
#pragma once

#include <cstdint>

#include "function/letter_case.h"
#include "function/like.h"
#include "scan/literal_filter.h"
#include "scan/text_search.h"

namespace penumbra {

// One literal of the pattern is searched for in all strings. Only rows that have it are then compared with the pattern,
// if there is more in it.
class LikeSearch final : public TextSearch {
 public:
  // `pattern` and `letter_case` outlive this; the pattern cannot fail. With `letter_case` texts are folded to
  // lower case first.
  LikeSearch(const LikePattern& pattern, const LetterCase* letter_case);

  void Find(const StringRun& texts, const uint64_t* wanted, EvalContext& context, uint64_t* truth) const override;

 private:
  const LikePattern& pattern_;
  const LetterCase* letter_case_;
  const LiteralFilter filter_;
  const bool is_decisive_;  // what passes the filter matches
};

}  // namespace penumbra
