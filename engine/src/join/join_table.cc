#include "join/join_table.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace penumbra {
namespace {

std::vector<PenumbraType> KeyTypes(const JoinSpec& spec) {
  std::vector<PenumbraType> types;
  for (const JoinKeySpec& key : spec.keys) types.push_back(key.build->type);
  return types;
}

// Of the columns, then of codes for those that may have some, then of what the range compares.
std::vector<PenumbraType> PayloadTypes(const JoinSpec& spec, const JoinRange& range, const std::vector<int>& columns,
                                       std::vector<int>* code_columns, int* range_column) {
  std::vector<PenumbraType> types;
  for (int column : columns) types.push_back(spec.build_types[column]);
  for (int column : columns) {
    const bool has_codes = IsStringType(spec.build_types[column]);
    code_columns->push_back(has_codes ? static_cast<int>(types.size()) : -1);
    if (has_codes) types.push_back(PENUMBRA_INT2);
  }
  *range_column = static_cast<int>(types.size());
  if (!range.is_empty()) types.push_back(PENUMBRA_INT8);
  if (range.other != nullptr) types.push_back(PENUMBRA_INT8);
  return types;
}

// A slot of the array takes 4 bytes, one of the directory 8 and a row's hash and key 16 more; the array is worth being
// this many times as long as the rows are many, and whatever small caches hold.
constexpr uint64_t kArraySlotsPerRow = 8;
constexpr uint64_t kSmallArray = 16 * 1024;
constexpr uint64_t kArrayRowsMax = UINT32_MAX;

constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr uint64_t kRowsBetweenChecks = 64 * 1024;
constexpr uint64_t kRowsAhead = 16;
// Sorted at once: some 20 ms.
constexpr uint64_t kRunEntries = uint64_t{1} << 20;
// For more the vectorised sort is worth its memory.
constexpr uint64_t kFewEntries = 64;

// In one of two arrays, the given one and one of `arena`. Runs of kRunEntries are merged in pairs.
hwy::uint128_t* SortEntries(hwy::uint128_t* entries, uint64_t count, const Cancellation& cancellation, Arena& arena) {
  if (count <= kFewEntries) {
    std::sort(entries, entries + count, [](const hwy::uint128_t& a, const hwy::uint128_t& b) { return a.hi < b.hi; });
    return entries;
  }
  const hwy::Sorter sorter;
  for (uint64_t begin = 0; begin < count; begin += kRunEntries) {
    cancellation.CheckCancelled();
    sorter(entries + begin, std::min(kRunEntries, count - begin), hwy::SortAscending());
  }
  if (count <= kRunEntries) return entries;
  auto* merged = arena.AllocateArray<hwy::uint128_t>(count);
  for (uint64_t run = kRunEntries; run < count; run *= 2) {
    for (uint64_t begin = 0; begin < count; begin += 2 * run) {
      const uint64_t middle = std::min(begin + run, count), end = std::min(begin + 2 * run, count);
      for (uint64_t a = begin, b = middle, to = begin; to < end; ++to) {
        if (to % kRowsBetweenChecks == 0) cancellation.CheckCancelled();
        const bool takes_second = a == middle || (b < end && entries[b].hi < entries[a].hi);
        merged[to] = takes_second ? entries[b++] : entries[a++];
      }
    }
    std::swap(entries, merged);
  }
  return entries;
}

}  // namespace

JoinLayout::JoinLayout(const JoinSpec& spec)
    : keys(KeyTypes(spec), true),
      range(spec),
      columns(spec.BuildColumnsKept()),
      sorts_runs(!range.is_empty() && !spec.keys.empty()),
      sorts_long_runs_only(sorts_runs && spec.choice == PENUMBRA_JOIN_ALL),
      payload(PayloadTypes(spec, range, columns, &code_columns, &range_column)) {
  payload_offset = keys.compared_bytes();
  columns_bytes = columns.empty() ? 0 : payload.row_bytes();
  row_bytes = payload_offset + columns_bytes + (spec.gives_build_rows() ? 8 : 0);
}

// The 1,820 words with four bits set, the first of them again up to a power of two.
const std::array<uint16_t, 2048> JoinTable::kTags = [] {
  std::array<uint16_t, 2048> tags{};
  uint16_t word = 0;
  for (uint16_t& tag : tags) {
    do {
      ++word;
    } while (std::popcount(word) != 4);
    tag = word;
  }
  return tags;
}();

// The array is in the order of keys alone, so it is not for many rows of each that a range narrows.
JoinForm JoinTable::ChooseForm(const JoinSpec& spec, bool has_range, const KeyRange& range, uint64_t rows) {
  if (spec.keys.size() != 1 || spec.keys[0].nulls_are_equal || range.is_empty() || spec.choice != PENUMBRA_JOIN_ALL) {
    return JoinForm::kHash;
  }
  if (!spec.has_build_columns() && spec.conditions.empty() && KeyBitmap::IsWorthIt(range, rows)) {
    return JoinForm::kBitmap;
  }
  const uint64_t span = range.span();
  if (has_range && rows / kLongRun > span) return JoinForm::kHash;
  return rows < kArrayRowsMax && (span < kSmallArray || span / kArraySlotsPerRow < rows) ? JoinForm::kArray
                                                                                         : JoinForm::kHash;
}

void JoinTable::Reserve(JoinForm form, const KeyRange& range, const std::vector<uint64_t>& partition_rows,
                        const ExecutionEnvironment& environment) {
  form_ = form;
  row_count_ = std::accumulate(partition_rows.begin(), partition_rows.end(), uint64_t{0});
  if (form == JoinForm::kBitmap) return;
  // Rows are told apart by their addresses.
  skipped_bytes_ = form == JoinForm::kHash ? 0 : std::min(layout_.payload_offset, layout_.row_bytes - 8);
  row_bytes_ = layout_.row_bytes - skipped_bytes_;
  payload_offset_ = layout_.payload_offset - skipped_bytes_;
  SetRowBytesInverse();
  memory_ = std::make_unique<Arena>(budget_);
  rows_ = memory_->AllocateArray<char>(std::max<size_t>(row_count_ * row_bytes_, 8));
  if (form == JoinForm::kArray) ReserveArray(range, environment);
  if (form == JoinForm::kHash) ReserveDirectory(partition_rows, environment);
}

// Newton's method: each step doubles the right low bits, of which an odd number as its own inverse has three.
void JoinTable::SetRowBytesInverse() {
  if (row_bytes_ == 0) return;
  row_bytes_shift_ = std::countr_zero(row_bytes_);
  const uint32_t odd = row_bytes_ >> row_bytes_shift_;
  row_bytes_inverse_ = odd;
  for (int bits = 3; bits < 32; bits *= 2) row_bytes_inverse_ *= 2 - odd * row_bytes_inverse_;
}

// It may be a large part of the budget, and its pages are new.
template <typename Slot>
Slot* JoinTable::AllocateZeros(size_t count, const ExecutionEnvironment& environment) {
  constexpr size_t kSlotsAtOnce = (size_t{4} << 20) / sizeof(Slot);
  Slot* slots = memory_->AllocateArray<Slot>(count);
  for (size_t i = 0; i < count; i += kSlotsAtOnce) {
    environment.CheckCancelled();
    std::fill_n(slots + i, std::min(count - i, kSlotsAtOnce), Slot{0});
  }
  return slots;
}

void JoinTable::ReserveArray(const KeyRange& range, const ExecutionEnvironment& environment) {
  least_ = range.least;
  span_ = range.span();
  // Counting needs one slot more before, what lies outside of the range one more behind.
  begins_ = AllocateZeros<uint32_t>(span_ + 4, environment);
}

void JoinTable::ReserveDirectory(const std::vector<uint64_t>& partition_rows, const ExecutionEnvironment& environment) {
  partition_begins_.assign(partition_rows.size(), 0);
  std::exclusive_scan(partition_rows.begin(), partition_rows.end(), partition_begins_.begin(), uint64_t{0});
  const int bits = std::max(kPartitionBits, static_cast<int>(std::bit_width(row_count_)));
  shift_ = 64 - bits;
  directory_ = AllocateZeros<uint64_t>((size_t{1} << bits) + 1, environment);
  directory_[0] = reinterpret_cast<uint64_t>(rows_) << 16;
  if (layout_.sorts_runs) values_in_runs_ = memory_->AllocateArray<int64_t>(row_count_);
  if (layout_.sorts_long_runs_only && layout_.range.other != nullptr) {
    others_ = memory_->AllocateArray<int64_t>(row_count_);
  }
}

template <typename Visit>
void JoinTable::ForEachRow(const std::vector<const RowPages*>& rows, const ExecutionEnvironment& environment,
                           const Visit& visit) const {
  for (const RowPages* some : rows) some->ForEach(environment, visit);
}

// Between counting and placing: from how many rows a key has to where they begin.
void JoinTable::StartRound(int round, const ExecutionEnvironment& environment) {
  if (round != 1) return;
  if (form_ == JoinForm::kHash && has_long_runs()) {
    environment.CheckCancelled();
    range_index_.Build(nullptr, others_, row_count_, memory_.get());
  }
  if (form_ != JoinForm::kArray) return;
  is_unique_ = true;
  uint32_t begin = 0;
  for (uint64_t i = 0; i <= span_ + 1; ++i) {
    if (i % (uint64_t{1} << 20) == 0) environment.CheckCancelled();
    const uint32_t count = begins_[i + 2];
    is_unique_ = is_unique_ && count <= 1;
    begins_[i + 1] = begin;
    begin += count;
  }
}

void JoinTable::Enter(int round, uint32_t partition, const std::vector<const RowPages*>& rows,
                      const ExecutionEnvironment& environment) {
  switch (form_) {
    case JoinForm::kBitmap: break;
    case JoinForm::kArray: return EnterArray(round, rows, environment);
    case JoinForm::kHash:
      if (round == 0) EnterDirectory(partition, rows, environment);
      break;
    case JoinForm::kRange: return EnterRange(rows, environment);
  }
}

// Partitions are no ranges of keys, so places are shared. begins_[i + 2] counts key i in the first round; in the second
// begins_[i + 1] is where its next row goes, and in the end where the next key's begin. An atomic addition waits for
// what it touches and for all stores before it. So both are fetched a block ahead, and rows are copied when the block's
// additions are done.
void JoinTable::EnterArray(int round, const std::vector<const RowPages*>& rows,
                           const ExecutionEnvironment& environment) {
  uint32_t* const slots = begins_ + (round == 0 ? 2 : 1);
  struct {
    const char* row;
    uint32_t* slot;
  } block[64];
  char* places[std::size(block)];
  size_t count = 0;
  const auto enter = [&] {
    for (size_t i = 0; i < count; ++i) {
      const uint32_t at = std::atomic_ref(*block[i].slot).fetch_add(1, std::memory_order_relaxed);
      if (round == 0) continue;
      places[i] = rows_ + size_t{at} * row_bytes_;
      __builtin_prefetch(places[i], 1);
    }
    for (size_t i = 0; round == 1 && i < count; ++i) std::memcpy(places[i], block[i].row + skipped_bytes_, row_bytes_);
    count = 0;
  };
  ForEachRow(rows, environment, [&](const char* row) {
    const uint64_t place = static_cast<uint64_t>(layout_.keys.Integer(row, 0)) - static_cast<uint64_t>(least_);
    block[count] = {row, &slots[place]};
    __builtin_prefetch(block[count].slot, 1);
    if (++count == std::size(block)) enter();
  });
  enter();
}

// Without keys one partition has all rows.
void JoinTable::EnterRange(const std::vector<const RowPages*>& rows, const ExecutionEnvironment& environment) {
  if (std::all_of(rows.begin(), rows.end(), [](const RowPages* some) { return some->row_count() == 0; })) return;
  Arena sorting(budget_);
  auto* entries = sorting.AllocateArray<hwy::uint128_t>(row_count_);
  uint64_t count = 0;
  ForEachRow(rows, environment, [&](const char* row) {
    entries[count++] = {reinterpret_cast<uint64_t>(row), static_cast<uint64_t>(RangeValue(row, 0)) ^ kSignBit};
  });
  entries = SortEntries(entries, count, environment, sorting);
  auto* sorted = memory_->AllocateArray<int64_t>(count);
  auto* others = layout_.range.other != nullptr ? memory_->AllocateArray<int64_t>(count) : nullptr;
  for (uint64_t i = 0; i < count; ++i) {
    if (i % kRowsBetweenChecks == 0) environment.CheckCancelled();
    if (i + kRowsAhead < count) __builtin_prefetch(reinterpret_cast<const char*>(entries[i + kRowsAhead].lo));
    const char* row = reinterpret_cast<const char*>(entries[i].lo);
    sorted[i] = static_cast<int64_t>(entries[i].hi ^ kSignBit);
    if (others != nullptr) others[i] = OtherValue(row);
    std::memcpy(this->row(i), row + skipped_bytes_, row_bytes_);
  }
  range_index_.Build(sorted, others, count, memory_.get());
}

// By the hash, then the value. Mostly a run has one hash.
void JoinTable::SortRuns(uint32_t partition, const ExecutionEnvironment& environment) {
  const size_t slots = (size_t{1} << (64 - shift_)) / partition_begins_.size();
  const uint64_t* slot = directory_ + 1 + partition * slots;
  const auto row_of = [](const hwy::uint128_t& entry) { return reinterpret_cast<const char*>(entry.lo); };
  Arena sorting(budget_);
  uint64_t begin = partition_begins_[partition];
  for (size_t i = 0; i < slots; ++i) {
    const uint64_t count = static_cast<uint64_t>(RowOf(slot[i]) - row(begin)) / row_bytes_;
    if (layout_.sorts_long_runs_only) {
      if (!IsLong(count)) {
        if (others_ != nullptr) std::fill_n(others_ + begin, count, INT64_MAX);  // all are looked at
        begin += count;
        continue;
      }
      has_long_runs_.store(true, std::memory_order_relaxed);
    }
    sorting.Reset();
    char* copies = sorting.AllocateArray<char>(count * row_bytes_);
    std::memcpy(copies, row(begin), count * row_bytes_);
    auto* entries = sorting.AllocateArray<hwy::uint128_t>(count);
    bool has_one_hash = true;
    for (uint64_t e = 0; e < count; ++e) {
      const char* row = copies + e * row_bytes_;
      entries[e] = {reinterpret_cast<uint64_t>(row), static_cast<uint64_t>(RangeValue(row, 0)) ^ kSignBit};
      has_one_hash &= KeyLayout::Hash(row) == KeyLayout::Hash(copies);
    }
    entries = SortEntries(entries, count, environment, sorting);
    if (!has_one_hash) {
      std::stable_sort(entries, entries + count, [&](const hwy::uint128_t& a, const hwy::uint128_t& b) {
        return KeyLayout::Hash(row_of(a)) < KeyLayout::Hash(row_of(b));
      });
    }
    for (uint64_t e = 0; e < count; ++e) {
      std::memcpy(row(begin + e), row_of(entries[e]), row_bytes_);
      values_in_runs_[begin + e] = static_cast<int64_t>(entries[e].hi ^ kSignBit);
      if (others_ != nullptr) others_[begin + e] = OtherValue(row(begin + e));
    }
    begin += count;
  }
}

char* JoinTable::EndBelow(const Run& run, uint64_t hash, int64_t bound, bool is_strict) const {
  const uint64_t begin = static_cast<uint64_t>(run.begin - rows_) / row_bytes_;
  uint64_t below = 0;
  for (uint64_t left = static_cast<uint64_t>(run.end - run.begin) / row_bytes_; left > 0;) {
    const uint64_t half = left / 2, middle = begin + below + half;
    const uint64_t found = KeyLayout::Hash(row(middle));
    const int64_t value = values_in_runs_[middle];
    const bool is_below = found < hash || (found == hash && (value < bound || (is_strict && value == bound)));
    below += is_below ? half + 1 : 0;
    left = is_below ? left - half - 1 : half;
  }
  return row(begin + below);
}

void JoinTable::EnterDirectory(uint32_t partition, const std::vector<const RowPages*>& rows,
                               const ExecutionEnvironment& environment) {
  const size_t slots = (size_t{1} << (64 - shift_)) / partition_begins_.size();
  uint64_t* slot = directory_ + 1 + partition * slots;
  // How many bytes each prefix takes, then where they begin; entering a row moves that to where they end.
  ForEachRow(rows, environment, [&](const char* row) {
    const uint64_t hash = KeyLayout::Hash(row);
    uint64_t& counted = directory_[1 + PrefixOf(hash)];
    counted = (counted + (uint64_t{row_bytes_} << 16)) | TagOf(hash);
  });
  uint64_t begin = reinterpret_cast<uint64_t>(rows_ + partition_begins_[partition] * row_bytes_);
  for (size_t i = 0; i < slots; ++i) {
    const uint64_t bytes = slot[i] >> 16;
    slot[i] = (begin << 16) | (slot[i] & 0xffff);
    begin += bytes;
  }
  ForEachRow(rows, environment, [&](const char* row) {
    uint64_t& end = directory_[1 + PrefixOf(KeyLayout::Hash(row))];
    std::memcpy(RowOf(end), row, row_bytes_);
    end += uint64_t{row_bytes_} << 16;
  });
  if (layout_.sorts_runs) SortRuns(partition, environment);
}

}  // namespace penumbra
