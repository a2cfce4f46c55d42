// LIKE with a constant pattern over many strings at once.
#pragma once

#include <cstdint>

#include "function/letter_case.h"
#include "function/like.h"
#include "kernels/kernels.h"
#include "segment/segment_strings.h"
#include "vector/arena.h"

namespace penumbra {

// Strings of a segment lie back to back, so one literal of the pattern is searched for in all of them
// at once, and a place that is found is mapped to its row. Only rows that have the literal are then
// compared with the pattern, if there is more in it.
class LikeSearch {
 public:
  // `pattern` and `letter_case` outlive this; the pattern cannot fail. With `letter_case` texts are folded to
  // lower case first.
  LikeSearch(const LikePattern& pattern, const LetterCase* letter_case);

  // Bit i of `truth`: row i matches. Rows whose bit is not set in `wanted` may be anything.
  void Find(const StringRun& texts, const uint64_t* wanted, Arena& arena, uint64_t* truth) const;

 private:
  // What a row must have to be compared with the whole pattern.
  enum class Filter : uint8_t { kNone, kPrefix, kSuffix, kContained };

  void ChooseFilter();
  void FindCandidates(const StringRun& run, uint64_t* candidates) const;
  void FindPrefix(const StringRun& run, uint64_t* candidates) const;
  void FindSuffix(const StringRun& run, uint64_t* candidates) const;
  void FindContained(const StringRun& run, uint64_t* candidates) const;
  // Clears the candidates that do not match.
  void Confirm(const StringRun& run, uint64_t* candidates) const;

  const LikePattern& pattern_;
  const LetterCase* letter_case_;
  Filter filter_ = Filter::kNone;
  bool is_decisive_ = false;   // what passes the filter matches
  kernels::Needle needle_{};   // kContained
  uint64_t anchor_ = 0;        // kPrefix, kSuffix: the first bytes of the prefix, the last of the suffix
  uint64_t anchor_mask_ = 0;   // of these bytes
  uint32_t anchor_bytes_ = 0;  // how many they are
};

}  // namespace penumbra
