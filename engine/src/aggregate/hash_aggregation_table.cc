#include "aggregate/hash_aggregation_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penumbra {
namespace {

// So many places are zeroed per row seen, whenever the table is emptied: what bounds that work bounds
// the table against the rows too.
constexpr uint64_t kFirstPlaces = uint64_t{64} << 10;
constexpr uint64_t kBitsPerRow = 128, kPointersPerRow = 6;
constexpr size_t kMaxTableBytes = size_t{32} << 20;
constexpr size_t kBudgetShare = 8;
// Of so many rows more than this share made new groups: the table rests for the next million rows.
constexpr uint64_t kWindowRows = uint64_t{128} << 10;
constexpr double kMostlyNew = 0.95;
constexpr uint64_t kRestRows = uint64_t{1} << 20;

}  // namespace

GroupTable::GroupTable(bool has_states, ExecutionEnvironment& environment)
    : has_states_(has_states), budget_(&environment.budget) {
  const size_t share_bytes =
      environment.budget.budget_bytes() / kBudgetShare / static_cast<size_t>(std::max(1, environment.thread_count));
  const size_t max_bytes = std::min(kMaxTableBytes, share_bytes);
  memory_places_ = has_states ? max_bytes / sizeof(char*) : max_bytes * 8;
}

uint64_t GroupTable::MaxPlaces() const {
  const uint64_t by_rows = kFirstPlaces + rows_seen_ * (has_states_ ? kPointersPerRow : kBitsPerRow);
  return std::min(by_rows - std::min(by_rows, zeroed_places_), memory_places_);
}

bool GroupTable::UpdateRange(const Vector& key, uint32_t rows, uint64_t max_places, KeyDimension* dimension) {
  const bool is_same_kind = dimension->IsRangeOf(key);
  int64_t least = 0, greatest = 0;
  if (!FindIntegerBounds(key, rows, &least, &greatest) && is_same_kind) return true;
  if (is_same_kind && least >= dimension->base && greatest <= dimension->last()) return true;
  const auto span = [](int64_t low, int64_t high) { return static_cast<uint64_t>(high) - static_cast<uint64_t>(low); };
  int64_t low = least, high = greatest;
  bool grows_down = false;
  if (is_same_kind) {
    low = std::min(least, dimension->base);
    high = std::max(greatest, dimension->last());
    grows_down = low < dimension->base && high == dimension->last();
    if (span(low, high) >= memory_places_) {  // the window moves on
      low = least;
      high = greatest;
    }
  }
  if (span(low, high) >= max_places) return false;
  // Doubled, so that a range that grows with the rows is not begun anew with each batch.
  const uint64_t places = std::min(std::bit_ceil(span(low, high) + 1), max_places);
  const uint64_t room = places - span(low, high) - 1;
  if (grows_down && span(INT64_MIN, low) >= room) {
    low -= static_cast<int64_t>(room);
  } else if (!grows_down && span(high, INT64_MAX) >= room) {
    high += static_cast<int64_t>(room);
  }
  dimension->SetRange(key, low, high);
  is_empty_ = true;
  return true;
}

bool GroupTable::UpdateDimension(const Vector& key, uint32_t rows, uint64_t max_places, KeyDimension* dimension) {
  if (HasEntries(key)) {
    bool changed = false;
    const bool is_narrow = dimension->UpdateEntries(key, &changed);
    is_empty_ |= changed;
    return is_narrow;
  }
  return IsIntegerType(key.type, key.numeric_form) && UpdateRange(key, rows, max_places, dimension);
}

bool GroupTable::Encode(const Vector* keys, int key_count, uint32_t rows) {
  if (key_count == 0) return false;
  rows_seen_ += rows;
  if (resting_rows_ > 0) {
    resting_rows_ -= std::min<uint64_t>(resting_rows_, rows);
    return false;
  }
  const uint64_t max_places = std::max(MaxPlaces(), is_empty_ ? 0 : places_);
  dimensions_.resize(key_count);
  uint64_t places = 1, null_places = 0;  // of the last key
  for (int i = 0; i < key_count; ++i) {
    if (!UpdateDimension(keys[i], rows, max_places / places, &dimensions_[i])) return false;
    null_places = places;
    places *= dimensions_[i].cardinality();
    if (places > max_places + null_places) return false;
  }
  is_empty_ |= places != places_;
  if (is_empty_) {
    if (places > MaxPlaces() + null_places) return false;
    Clear(places);
  }
  uint32_t stride = 1;
  for (int i = 0; i < key_count; ++i) {
    AddKeyCodes(keys[i], rows, dimensions_[i], stride, i == 0, codes_);
    stride *= dimensions_[i].cardinality();
  }
  return true;
}

void GroupTable::Clear(uint64_t places) {
  const size_t bytes = has_states_ ? places * sizeof(char*) : (places + 63) / 64 * 8;
  if (bytes > capacity_bytes_) {
    memory_.reset();
    capacity_bytes_ = 0;
    memory_ = std::make_unique<Arena>(budget_, bytes);
    bits_ = static_cast<uint64_t*>(memory_->Allocate(bytes));
    groups_ = reinterpret_cast<char**>(bits_);
    capacity_bytes_ = bytes;
  }
  std::memset(bits_, 0, bytes);
  places_ = places;
  zeroed_places_ += places;
  is_empty_ = false;
}

void GroupTable::FindNew(uint32_t rows, std::vector<uint16_t>* new_rows) {
  if (has_states_) {
    // A place that waits for its group must not be taken for empty again.
    static char pending;
    for (uint32_t i = 0; i < rows; ++i) {
      char*& group = groups_[codes_[i]];
      if (group != nullptr) continue;
      group = &pending;
      new_rows->push_back(static_cast<uint16_t>(i));
    }
  } else {
    for (uint32_t i = 0; i < rows; ++i) {
      uint64_t& word = bits_[codes_[i] / 64];
      const uint64_t bit = uint64_t{1} << (codes_[i] % 64);
      if ((word & bit) != 0) continue;
      word |= bit;
      new_rows->push_back(static_cast<uint16_t>(i));
    }
  }
  Observe(rows, new_rows->size());
}

void GroupTable::Observe(uint32_t rows, size_t new_rows) {
  window_rows_ += rows;
  window_new_rows_ += new_rows;
  if (window_rows_ < kWindowRows) return;
  if (static_cast<double>(window_new_rows_) > kMostlyNew * static_cast<double>(window_rows_)) resting_rows_ = kRestRows;
  window_rows_ = window_new_rows_ = 0;
}

void GroupTable::Enter(const std::vector<uint16_t>& new_rows, char* const* groups) {
  if (!has_states_) return;
  for (size_t i = 0; i < new_rows.size(); ++i) groups_[codes_[new_rows[i]]] = groups[i];
}

void GroupTable::Lookup(uint32_t rows, char** groups) const {
  for (uint32_t i = 0; i < rows; ++i) groups[i] = groups_[codes_[i]];
}

}  // namespace penumbra
