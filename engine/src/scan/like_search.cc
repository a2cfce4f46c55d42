#include "scan/like_search.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penumbra {
namespace {

using kernels::BitmapWords;

// Of rows that are not wanted: anything.
StringRun Fold(const StringRun& run, const LetterCase& letter_case, const uint64_t* wanted, Arena& arena) {
  const uint32_t bytes = run.rows == 0 ? 0 : run.ends[run.rows - 1];
  char* folded = static_cast<char*>(arena.Allocate(letter_case.ChangedBytesMax(bytes) + kBytesPadding));
  if (letter_case.KeepsLengths(run.bytes, bytes)) {
    letter_case.Change(CaseChange::kLower, run.bytes, bytes, folded);
    std::memset(folded + bytes, 0, kBytesPadding);
    return {folded, run.ends, run.rows};
  }
  uint32_t* ends = arena.AllocateArray<uint32_t>(run.rows);
  uint32_t begin = 0, end = 0;
  for (uint32_t i = 0; i < run.rows; ++i) {
    if ((wanted[i / 64] >> (i % 64) & 1) != 0) {
      end += letter_case.Change(CaseChange::kLower, run.bytes + begin, run.ends[i] - begin, folded + end);
    }
    ends[i] = end;
    begin = run.ends[i];
  }
  std::memset(folded + end, 0, kBytesPadding);
  return {folded, ends, run.rows};
}

LiteralFilter FilterOf(const LikePattern& pattern) {
  using Place = LiteralFilter::Place;
  const std::vector<std::string>& literals = pattern.literals();
  if (!literals.front().empty()) return {Place::kPrefix, literals.front()};
  if (literals.size() == 2 && !literals.back().empty()) return {Place::kSuffix, literals.back()};
  const auto longest = std::max_element(literals.begin(), literals.end(),
                                        [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  if (longest->empty()) return {};
  return {Place::kContained, *longest};
}

}  // namespace

LikeSearch::LikeSearch(const LikePattern& pattern, const LetterCase* letter_case)
    : pattern_(pattern),
      letter_case_(letter_case),
      filter_(FilterOf(pattern)),
      is_decisive_(filter_.is_exact() && (pattern.is_contained_literal() || pattern.is_anchored_literal())) {}

void LikeSearch::Find(const StringRun& texts, const uint64_t* wanted, EvalContext& context, uint64_t* truth) const {
  const StringRun run = letter_case_ != nullptr ? Fold(texts, *letter_case_, wanted, context.arena) : texts;
  const size_t words = BitmapWords(run.rows);
  const bool is_filtered = filter_.IsWorth(run, wanted);
  if (is_filtered) {
    filter_.Find(run, truth);
    for (size_t w = 0; w < words; ++w) truth[w] &= wanted[w];
  } else {
    std::copy_n(wanted, words, truth);
  }
  if (is_filtered && is_decisive_) return;
  ForEachCandidate(run, truth, [&](uint32_t row, const char* begin, const char* end) {
    if (!pattern_.Matches(begin, static_cast<uint32_t>(end - begin))) truth[row / 64] &= ~(uint64_t{1} << (row % 64));
  });
}

}  // namespace penumbra
