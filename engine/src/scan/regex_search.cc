#include "scan/regex_search.h"

#include <algorithm>
#include <bit>

namespace penumbra {

using kernels::BitmapWords;

const LiteralFilter& RegexSearch::FilterOf(const RegexLiteral& literal, const EvalContext& context) const {
  return filter_.Get(context, [&] {
    using Place = LiteralFilter::Place;
    const Place place = literal.bytes.empty() ? Place::kNone : literal.is_prefix ? Place::kPrefix : Place::kContained;
    return std::make_unique<const LiteralFilter>(place, literal.bytes);
  });
}

void RegexSearch::Find(const StringRun& run, const uint64_t* wanted, EvalContext& context, uint64_t* truth) const {
  const RegexProgram& program = pattern_.Get(context);
  const LiteralFilter& filter = FilterOf(program.literal(), context);
  uint64_t candidates[kValidityWords];
  const size_t words = BitmapWords(run.rows);
  const bool is_filtered = filter.IsWorth(run, wanted);
  if (is_filtered) {
    filter.Find(run, candidates);
    for (size_t w = 0; w < words; ++w) candidates[w] &= wanted[w];
    if (program.literal().is_all && filter.is_exact()) {
      std::copy_n(candidates, words, truth);
      return;
    }
  } else {
    std::copy_n(wanted, words, candidates);
  }
  std::fill_n(truth, words, 0);
  size_t word = 0;
  const auto next = [&](RegexText* text) {
    while (word < words && candidates[word] == 0) ++word;
    if (word == words) return false;
    const auto row = static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(std::countr_zero(candidates[word]));
    if (row >= run.rows) return false;
    candidates[word] &= candidates[word] - 1;
    *text = {run.bytes + (row == 0 ? 0 : run.ends[row - 1]), run.bytes + run.ends[row], row};
    return true;
  };
  MatchTexts(program.matches(), context, next, [&](uint32_t row) { truth[row / 64] |= uint64_t{1} << (row % 64); });
}

}  // namespace penumbra
