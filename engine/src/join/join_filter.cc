#include "join/join_filter.h"

#include <algorithm>

namespace penumbra {
namespace {

// Bits of a range that are looked at to find that none is set, for a vector of rows: less than testing each row.
constexpr uint64_t kSearchedSpan = 16 * 1024;

}  // namespace

JoinKeyFilter::JoinKeyFilter(const KeyRange& range, const KeyBitmap* bitmap)
    : range_(range), bitmap_(bitmap), is_dense_(bitmap != nullptr && bitmap->Count() == range.span() + 1) {}

Verdict JoinKeyFilter::CheckBounds(int64_t least, int64_t greatest) const {
  if (table_ != nullptr && table_->row_count() == 0) return Verdict::kNone;
  if (greatest < range_.least || least > range_.greatest) return Verdict::kNone;
  if (is_dense_ && least >= range_.least && greatest <= range_.greatest) return Verdict::kAll;
  const KeyRange common{std::max(least, range_.least), std::min(greatest, range_.greatest)};
  if (bitmap_ != nullptr && common.span() < kSearchedSpan && !bitmap_->HasAny(common.least, common.greatest)) {
    return Verdict::kNone;
  }
  return Verdict::kSome;
}

void JoinKeyFilter::Apply(const Vector& v, uint32_t rows, Arena& arena, uint64_t* bits) const {
  if (table_ == nullptr) return ApplyIntegers(range_, bitmap_, v, rows, arena, bits);
  ApplyTags(v, rows, arena, bits);
}

void JoinKeyFilter::ApplyTags(const Vector& v, uint32_t rows, Arena& arena, uint64_t* bits) const {
  if (v.is_null_constant() || table_->row_count() == 0) {
    std::fill_n(bits, BitWords(rows), 0);
    return;
  }
  JoinTable::Run run;
  // The word of a null row is anything, and a null has an image that the table may have: validity has the last word.
  if (keys_->has_one_word()) {
    auto* words = arena.AllocateArray<uint64_t>(rows);
    keys_->BuildWords(&v, rows, arena, words);
    ClearBits(rows, bits, [&](uint32_t i) { return table_->Find(KeyLayout::HashWord(words[i]), &run); });
    if (!v.is_constant() && v.validity != nullptr) kernels::AndBits(bits, v.validity, rows);
    return;
  }
  const uint32_t image_bytes = keys_->image_bytes();
  char* images = arena.AllocateArray<char>(size_t{rows} * image_bytes);
  keys_->BuildImages(&v, {nullptr, rows}, arena, images);
  ClearBits(rows, bits,
            [&](uint32_t i) { return table_->Find(KeyLayout::Hash(images + size_t{i} * image_bytes), &run); });
  if (!v.is_constant() && v.validity != nullptr) kernels::AndBits(bits, v.validity, rows);
}

}  // namespace penumbra
