// Conditions on strings that are not coded.
#include <algorithm>
#include <limits>
#include <string>

#include "kernels/kernels.h"
#include "scan/scan_predicate_bound.h"
#include "segment/segment_strings.h"

namespace penumbra {
namespace {

using kernels::BitmapWords;

// Calls f(strings) with the PlainStrings or CompressedStrings of the segment.
template <typename Length, typename F>
void WithStrings(const SegmentView& segment, Arena& arena, F f) {
  if (segment.encoding() == Encoding::kCompressed) {
    CompressedStrings<Length> strings(segment, arena);
    f(strings);
  } else {
    PlainStrings<Length> strings(segment);
    f(strings);
  }
}

template <typename Length>
class StringEqualityBound final : public ValueBound {
 public:
  StringEqualityBound(const SegmentView& segment, std::string_view wanted, bool is_negated)
      : ValueBound(segment, false),
        lengths_(segment.part<Length>(kCodes)),
        wanted_(wanted),
        wanted_ref_(wanted_),
        is_negated_(is_negated) {}

 private:
  void FindTruth(uint32_t begin, uint32_t count, const uint64_t* wanted_rows, EvalContext& context,
                 uint64_t* truth) override {
    if (wanted_.size() > std::numeric_limits<Length>::max()) {
      std::fill_n(truth, BitmapWords(count), 0);
    } else {
      kernels::CompareConstant(kernels::Compare::kEq, lengths_ + begin, static_cast<Length>(wanted_.size()), count,
                               truth);
      if (!wanted_.empty()) {
        WithStrings<Length>(segment_, context.arena,
                            [&](auto& strings) { CompareBytes(strings, begin, count, wanted_rows, truth); });
      }
    }
    if (is_negated_) kernels::NotBits(truth, count);
  }
  template <typename Strings>
  void CompareBytes(Strings& strings, uint32_t begin, uint32_t count, const uint64_t* wanted_rows,
                    uint64_t* truth) const {
    for (size_t w = 0; w < BitmapWords(count); ++w) {
      for (uint64_t left = truth[w] & wanted_rows[w]; left != 0; left &= left - 1) {
        const uint32_t row = begin + static_cast<uint32_t>(w * 64) + static_cast<uint32_t>(__builtin_ctzll(left));
        if (!(strings.At(row) == wanted_ref_)) truth[w] &= ~(left & (0 - left));
      }
    }
  }

  const Length* const lengths_;
  const std::string wanted_;
  const StringRef wanted_ref_;  // of wanted_
  const bool is_negated_;
};

// Sets bits [at, at + rows) of `to`, so far zero, to `bits`.
void PasteBits(const uint64_t* bits, uint32_t rows, uint32_t at, uint64_t* to) {
  const uint32_t shift = at % 64;
  for (uint32_t w = 0; w < BitmapWords(rows); ++w) {
    const uint32_t left = rows - w * 64;
    const uint64_t word = left < 64 ? bits[w] & ((uint64_t{1} << left) - 1) : bits[w];
    to[at / 64 + w] |= word << shift;
    if (shift + left > 64 && shift > 0) to[at / 64 + w + 1] |= word >> (64 - shift);
  }
}

template <typename Length>
class SearchBound final : public ValueBound {
 public:
  SearchBound(const SegmentView& segment, const TextSearch& search, bool is_negated)
      : ValueBound(segment, false), lengths_(segment.part<Length>(kCodes)), search_(search), is_negated_(is_negated) {}

 private:
  void FindTruth(uint32_t begin, uint32_t count, const uint64_t* wanted, EvalContext& context,
                 uint64_t* truth) override {
    std::fill_n(truth, BitmapWords(count), 0);
    WithStrings<Length>(segment_, context.arena, [&](auto& strings) {
      for (uint32_t row = begin, end; row < begin + count; row = end) {
        end = strings.RunEnd(row, begin + count);
        FindInRun(strings, row - begin, row, end, wanted, context, truth);
      }
    });
    if (is_negated_) kernels::NotBits(truth, count);
  }
  // Rows [row, end), whose bits begin at `at`.
  template <typename Strings>
  void FindInRun(Strings& strings, uint32_t at, uint32_t row, uint32_t end, const uint64_t* wanted,
                 EvalContext& context, uint64_t* truth) const {
    const uint32_t rows = end - row;
    uint64_t run_wanted[kValidityWords], run_truth[kValidityWords];
    kernels::CopyBits(wanted, at, rows, run_wanted);
    if (kernels::CountBits(run_wanted, rows) == 0) return;  // nothing is decompressed
    uint32_t ends[kVectorRows];
    uint32_t offset = 0;
    for (uint32_t i = 0; i < rows; ++i) ends[i] = offset += lengths_[row + i];
    search_.Find({strings.Bytes(row), ends, rows}, run_wanted, context, run_truth);
    PasteBits(run_truth, rows, at, truth);
  }

  const Length* const lengths_;
  const TextSearch& search_;
  const bool is_negated_;
};

}  // namespace

BoundPredicate BindStringEquality(const SegmentView& segment, std::string_view wanted, bool is_negated) {
  switch (segment.header().code_bytes) {
    case 1: return std::make_unique<StringEqualityBound<uint8_t>>(segment, wanted, is_negated);
    case 2: return std::make_unique<StringEqualityBound<uint16_t>>(segment, wanted, is_negated);
    default: return std::make_unique<StringEqualityBound<uint32_t>>(segment, wanted, is_negated);
  }
}

BoundPredicate BindSearch(const SegmentView& segment, const TextSearch& search, bool is_negated) {
  switch (segment.header().code_bytes) {
    case 1: return std::make_unique<SearchBound<uint8_t>>(segment, search, is_negated);
    case 2: return std::make_unique<SearchBound<uint16_t>>(segment, search, is_negated);
    default: return std::make_unique<SearchBound<uint32_t>>(segment, search, is_negated);
  }
}

// Find() takes at most kVectorRows strings, whose ends count from their first byte. So the entries are searched in
// parts.
std::vector<uint8_t> FindEntries(const SegmentView& segment, const TextSearch& search, bool is_negated,
                                 EvalContext& context) {
  const uint32_t count = segment.header().dictionary_size;
  const uint32_t* entry_ends = segment.part<uint32_t>(kStarts);
  const char* bytes = segment.part<char>(kBytes);
  std::vector<uint8_t> truth(count);
  Arena arena;
  EvalContext local = context.In(arena);
  uint64_t wanted[kValidityWords], found[kValidityWords];
  kernels::SetBits(wanted, kVectorRows);
  uint32_t offset = 0;
  for (uint32_t begin = 0; begin < count; begin += kVectorRows) {
    const uint32_t rows = std::min(kVectorRows, count - begin);
    uint32_t ends[kVectorRows];
    for (uint32_t i = 0; i < rows; ++i) ends[i] = entry_ends[begin + i] - offset;
    search.Find({bytes + offset, ends, rows}, wanted, local, found);
    if (is_negated) kernels::NotBits(found, rows);
    kernels::BitsToBytes(found, rows, truth.data() + begin);
    offset = entry_ends[begin + rows - 1];
    arena.Reset();
  }
  return truth;
}

}  // namespace penumbra
