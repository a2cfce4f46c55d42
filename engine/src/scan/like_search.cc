#include "scan/like_search.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penumbra {
namespace {

using kernels::BitmapWords;

constexpr size_t kAnchorBytesMax = 8;

uint64_t LoadWord(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// bit i = test(begin of row i, end of row i).
template <typename Test>
void TestRows(const StringRun& run, uint64_t* bits, Test test) {
  uint32_t begin = 0;
  for (uint32_t first = 0; first < run.rows; first += 64) {
    const uint32_t rows = std::min(run.rows - first, 64u);
    uint64_t word = 0;
    for (uint32_t i = 0; i < rows; ++i) {
      const uint32_t end = run.ends[first + i];
      word |= static_cast<uint64_t>(test(begin, end)) << i;
      begin = end;
    }
    bits[first / 64] = word;
  }
}

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

}  // namespace

LikeSearch::LikeSearch(const LikePattern& pattern, const LetterCase* letter_case)
    : pattern_(pattern), letter_case_(letter_case) {
  ChooseFilter();
}

// A prefix or suffix is one comparison of words a row, a literal in between about half an
// instruction a byte.
void LikeSearch::ChooseFilter() {
  const std::vector<std::string>& literals = pattern_.literals();
  const std::string& first = literals.front();
  const std::string& last = literals.back();
  if (!first.empty() || (literals.size() == 2 && !last.empty())) {
    filter_ = first.empty() ? Filter::kSuffix : Filter::kPrefix;
    const std::string& literal = first.empty() ? last : first;
    const size_t bytes = std::min(literal.size(), kAnchorBytesMax);
    std::memcpy(&anchor_, literal.data() + (first.empty() ? literal.size() - bytes : 0), bytes);
    anchor_mask_ = ~uint64_t{0} >> (64 - 8 * bytes);
    anchor_bytes_ = static_cast<uint32_t>(bytes);
    is_decisive_ = pattern_.is_anchored_literal() && bytes == literal.size();
    return;
  }
  const auto longest = std::max_element(literals.begin(), literals.end(),
                                        [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  if (longest->empty()) return;
  filter_ = Filter::kContained;
  needle_ = kernels::MakeNeedle(longest->data(), longest->size());
  is_decisive_ = pattern_.is_contained_literal();
}

void LikeSearch::Find(const StringRun& texts, const uint64_t* wanted, Arena& arena, uint64_t* truth) const {
  const StringRun run = letter_case_ != nullptr ? Fold(texts, *letter_case_, wanted, arena) : texts;
  const size_t words = BitmapWords(run.rows);
  // Few rows left are looked at by themselves.
  const bool is_filtered = filter_ != Filter::kNone && kernels::CountBits(wanted, run.rows) * 8 >= run.rows;
  if (is_filtered) {
    FindCandidates(run, truth);
    for (size_t w = 0; w < words; ++w) truth[w] &= wanted[w];
  } else {
    std::copy_n(wanted, words, truth);
  }
  if (!is_filtered || !is_decisive_) Confirm(run, truth);
}

void LikeSearch::FindCandidates(const StringRun& run, uint64_t* candidates) const {
  switch (filter_) {
    case Filter::kPrefix: return FindPrefix(run, candidates);
    case Filter::kSuffix: return FindSuffix(run, candidates);
    default: return FindContained(run, candidates);
  }
}

void LikeSearch::FindPrefix(const StringRun& run, uint64_t* candidates) const {
  TestRows(run, candidates, [&](uint32_t begin, uint32_t end) {
    const bool is_equal = ((LoadWord(run.bytes + begin) ^ anchor_) & anchor_mask_) == 0;
    return is_equal & (end - begin >= anchor_bytes_);
  });
}

// The word is loaded from the suffix on, so that it ends in what follows and not before the first row.
void LikeSearch::FindSuffix(const StringRun& run, uint64_t* candidates) const {
  TestRows(run, candidates, [&](uint32_t begin, uint32_t end) {
    const bool is_long_enough = end - begin >= anchor_bytes_;
    const uint32_t at = is_long_enough ? end - anchor_bytes_ : begin;
    return is_long_enough & (((LoadWord(run.bytes + at) ^ anchor_) & anchor_mask_) == 0);
  });
}

void LikeSearch::FindContained(const StringRun& run, uint64_t* candidates) const {
  std::fill_n(candidates, BitmapWords(run.rows), 0);
  const uint32_t bytes = run.rows == 0 ? 0 : run.ends[run.rows - 1];
  uint32_t row = 0;
  for (size_t place = 0;;) {
    place = kernels::FindNeedle(needle_, run.bytes, place, bytes);
    if (place == bytes) return;
    while (run.ends[row] <= place) ++row;
    // Else it reaches into the next row, as every later place in this one does.
    if (place + needle_.length <= run.ends[row]) candidates[row / 64] |= uint64_t{1} << (row % 64);
    place = run.ends[row];
  }
}

void LikeSearch::Confirm(const StringRun& run, uint64_t* candidates) const {
  for (size_t w = 0; w < BitmapWords(run.rows); ++w) {
    for (uint64_t left = candidates[w]; left != 0; left &= left - 1) {
      const auto row = static_cast<uint32_t>(w * 64) + static_cast<uint32_t>(std::countr_zero(left));
      if (row >= run.rows) break;
      const uint32_t begin = row == 0 ? 0 : run.ends[row - 1];
      if (!pattern_.Matches(run.bytes + begin, run.ends[row] - begin)) {
        candidates[w] &= ~(left & (0 - left));
      }
    }
  }
}

}  // namespace penumbra
