#include "join/join_filter.h"

#include <bit>

#include "vector/vector_build.h"

namespace penumbra {
namespace {

// Bits of a range that are looked at to find that none is set, for a vector of rows: less than testing each row.
constexpr uint64_t kSearchedSpan = 16 * 1024;

template <typename Work>
auto WithIntegers(const Vector& flat, const Work& work) {
  switch (FlatWidth(flat)) {
    case 1: return work(flat.values<uint8_t>());
    case 2: return work(flat.values<int16_t>());
    case 4: return work(flat.values<int32_t>());
    default: return work(flat.values<int64_t>());
  }
}

// Clears the bits of rows for which test(i) is 0; whole words that are clear already cost nothing.
template <typename Test>
void ClearBits(uint32_t rows, uint64_t* bits, Test test) {
  for (uint32_t w = 0; w < BitWords(rows); ++w) {
    if (bits[w] == 0) continue;
    const uint32_t count = std::min(64u, rows - w * 64);
    uint64_t truth = 0;
    for (uint32_t i = 0; i < count; ++i) truth |= uint64_t{test(w * 64 + i)} << i;
    bits[w] &= truth;
  }
}

}  // namespace

void KeyRange::Add(const Vector& v, uint32_t rows, Arena& arena) {
  if (v.is_null_constant()) return;
  const Vector flat = v.is_constant() ? v : Flatten(v, rows, arena);
  WithIntegers(flat, [&](const auto* values) {
    auto low = *values, high = *values;
    if (v.is_constant() || kernels::FindBounds(values, flat.validity, rows, &low, &high)) {
      Add(KeyRange{static_cast<int64_t>(low), static_cast<int64_t>(high)});
    }
  });
}

bool KeyBitmap::IsWorthIt(const KeyRange& range, uint64_t rows) {
  constexpr uint64_t kSmallSpan = uint64_t{1} << 22, kMiddleSpan = uint64_t{1} << 26;
  const uint64_t span = range.span();
  return span < kSmallSpan || (span < kMiddleSpan && span / 4096 < rows) || span / 64 < rows;
}

KeyBitmap::KeyBitmap(const KeyRange& range, Arena& arena) : least_(range.least), span_(range.span()) {
  const size_t words = (span_ + 1) / 64 + 1;
  words_ = arena.AllocateArray<uint64_t>(words);
  std::memset(words_, 0, words * sizeof(uint64_t));
}

bool KeyBitmap::HasAny(int64_t least, int64_t greatest) const {
  const uint64_t begin = PlaceOf(least), end = PlaceOf(greatest);
  for (uint64_t w = begin / 64; w <= end / 64; ++w) {
    uint64_t word = words_[w];
    if (w == begin / 64) word &= ~uint64_t{0} << (begin % 64);
    if (w == end / 64) word &= ~uint64_t{0} >> (63 - end % 64);
    if (word != 0) return true;
  }
  return false;
}

uint64_t KeyBitmap::Count() const {
  uint64_t count = 0;
  for (uint64_t w = 0; w <= span_ / 64; ++w) count += std::popcount(words_[w]);
  return count;
}

void ApplyIntegers(const KeyRange& range, const KeyBitmap* bitmap, const Vector& v, uint32_t rows, Arena& arena,
                   uint64_t* bits) {
  if (v.is_null_constant() || range.is_empty()) {
    std::fill_n(bits, BitWords(rows), 0);
    return;
  }
  const Vector flat = Flatten(v, rows, arena);
  WithIntegers(flat, [&](const auto* values) {
    if (bitmap != nullptr) {
      // A copy, so that the loop keeps it in registers.
      const KeyBitmap set = *bitmap;
      ClearBits(rows, bits, [&](uint32_t i) { return set.Has(values[i]); });
    } else {
      ClearBits(rows, bits, [&](uint32_t i) {
        return static_cast<int64_t>(values[i]) >= range.least && static_cast<int64_t>(values[i]) <= range.greatest;
      });
    }
  });
  if (flat.validity != nullptr) kernels::AndBits(bits, flat.validity, rows);
}

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
  const uint32_t image_bytes = keys_->image_bytes();
  char* images = arena.AllocateArray<char>(size_t{rows} * image_bytes);
  keys_->BuildImages(&v, {nullptr, rows}, arena, images);
  ClearBits(rows, bits, [&](uint32_t i) {
    JoinTable::Run run;
    return table_->Find(GroupKeys::Hash(images + size_t{i} * image_bytes), &run);
  });
  if (!v.is_constant() && v.validity != nullptr) kernels::AndBits(bits, v.validity, rows);
}

}  // namespace penumbra
