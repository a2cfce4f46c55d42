#include "aggregate/hash_aggregation_memo.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace penumbra {
namespace {

constexpr uint32_t kMaxDomain = 8192;

}  // namespace

bool CodeMemo::UpdateRange(const Vector& key, uint32_t rows, KeyDimension* dimension, bool* changed) {
  const bool is_same_kind = dimension->IsRangeOf(key);
  int64_t least = 0, greatest = 0;
  if (!FindIntegerBounds(key, rows, &least, &greatest) && is_same_kind) return true;
  if (static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least) >= kMaxDomain) return false;
  if (is_same_kind) {
    if (least >= dimension->base && greatest <= dimension->last()) return true;
    // The union, while it is not much wider than what the vector needs.
    const int64_t low = std::min(least, dimension->base);
    const int64_t high = std::max(greatest, dimension->last());
    if (static_cast<uint64_t>(high) - static_cast<uint64_t>(low) < 1024) {
      least = low;
      greatest = high;
    }
  }
  *changed = true;
  dimension->SetRange(key, least, greatest);
  return true;
}

bool CodeMemo::UpdateDimension(const Vector& key, uint32_t rows, KeyDimension* dimension, bool* changed) {
  if (HasEntries(key)) return dimension->UpdateEntries(key, changed);
  return IsIntegerType(key.type, key.numeric_form) && UpdateRange(key, rows, dimension, changed);
}

bool CodeMemo::Encode(const Vector* keys, int key_count, uint32_t rows) {
  bool changed = dimensions_.size() != static_cast<size_t>(key_count);
  dimensions_.resize(key_count);
  uint32_t domain = 1;
  bool is_small = true;
  for (int i = 0; i < key_count && is_small; ++i) {
    is_small = UpdateDimension(keys[i], rows, &dimensions_[i], &changed);
    if (is_small) domain *= dimensions_[i].cardinality();
    is_small = is_small && domain <= kMaxDomain;
  }
  if (!is_small) {
    Forget();
    return false;
  }
  // A dimension that has changed gives codes to other keys than before: what is known of them is void.
  if (changed || group_of_code_.size() != domain) {
    group_of_code_.assign(domain, kUnknown);
    groups_.clear();
  }
  uint32_t stride = 1;
  if (key_count == 0) std::fill_n(codes_, rows, uint16_t{0});
  for (int i = 0; i < key_count; ++i) {
    AddKeyCodes(keys[i], rows, dimensions_[i], stride, i == 0, codes_);
    stride *= dimensions_[i].cardinality();
  }
  return true;
}

// The first pass has no branches, since most batches have no new combination. New ones are numbered in the order of
// their first rows, which is the order in which the caller inserts them.
const uint16_t* CodeMemo::NumberGroups(uint32_t rows, std::vector<uint16_t>* new_rows) {
  if (group_of_code_.size() == 1 && group_of_code_[0] == 0) {
    std::memset(numbers_, 0, rows * sizeof(*numbers_));
    return numbers_;
  }
  bool has_new = false;
  for (uint32_t i = 0; i < rows; ++i) {
    assert(codes_[i] < group_of_code_.size());
    numbers_[i] = group_of_code_[codes_[i]];
    has_new |= numbers_[i] == kUnknown;
  }
  if (!has_new) return numbers_;
  uint16_t next = static_cast<uint16_t>(groups_.size());
  for (uint32_t i = 0; i < rows; ++i) {
    uint16_t& number = group_of_code_[codes_[i]];
    if (number == kUnknown) {
      number = next++;
      new_rows->push_back(static_cast<uint16_t>(i));
    }
    numbers_[i] = number;
  }
  return numbers_;
}

void CodeMemo::Forget() {
  group_of_code_.clear();
  groups_.clear();
}

namespace {

uint16_t RowAt(const uint16_t* selected, uint32_t i) {
  return selected == nullptr ? static_cast<uint16_t>(i) : selected[i];
}

}  // namespace

void RowsByNumber::Count(const uint16_t* numbers, uint32_t number_count, const uint16_t* selected, uint32_t count) {
  uint16_t places[kQuarters][kMaxNumbers] = {};
  const uint32_t quarter = count / kQuarters;
  for (uint32_t i = 0; i < quarter; ++i) {
    for (uint32_t q = 0; q < kQuarters; ++q) ++places[q][numbers[RowAt(selected, q * quarter + i)]];
  }
  for (uint32_t i = kQuarters * quarter; i < count; ++i) ++places[kQuarters - 1][numbers[RowAt(selected, i)]];
  uint32_t at = 0;
  for (uint32_t n = 0; n < number_count; ++n) {
    begins_[n] = at;
    for (uint32_t q = 0; q < kQuarters; ++q) {
      const uint32_t rows = places[q][n];
      places[q][n] = static_cast<uint16_t>(at);
      at += rows;
    }
  }
  begins_[number_count] = at;
  std::memcpy(places_, places, sizeof(places));
}

void RowsByNumber::Sort(const uint16_t* numbers, const uint16_t* selected, uint32_t count) {
  uint16_t places[kQuarters][kMaxNumbers];
  std::memcpy(places, places_, sizeof(places));
  const uint32_t quarter = count / kQuarters;
  for (uint32_t i = 0; i < quarter; ++i) {
    for (uint32_t q = 0; q < kQuarters; ++q) {
      const uint16_t row = RowAt(selected, q * quarter + i);
      rows_[places[q][numbers[row]]++] = row;
    }
  }
  for (uint32_t i = kQuarters * quarter; i < count; ++i) {
    const uint16_t row = RowAt(selected, i);
    rows_[places[kQuarters - 1][numbers[row]]++] = row;
  }
}

}  // namespace penumbra
