// The table of a join's build rows, in one of four forms, chosen when all rows are there (ChooseForm):
//
//   bitmap        of one integer key of a narrow range, where the question is only whether there is a match: no rows
//   direct array  of one integer key of a range not much wider than the rows are many: rows sorted by key, and where
//                 each possible key's begin. Nothing is hashed or compared
//   hash table    unchained (Birler et al. 2024): rows sorted by a prefix of their hash, a directory of where each
//                 prefix's run ends and 16 bits of tags, so that a key without a match mostly costs one access.
//                 Without keys it is the list of all rows
//   range index   of no key, but of conditions that compare the sides by their order (join_range.h): rows sorted by
//                 one of the compared values
//
// In all of them rows that a look-up finds are neighbours: it gives a run.
//
// A row as it is collected (JoinLayout) is
//   the compared part of its keys' image (key_layout.h), which begins with the hash
//   the columns kept (row_layout.h), codes of strings, and the values that a range compares
//   for joins that give build rows a byte: whether a probe row has matched it
// Rows of the direct array and of the range index are without the first of these.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "join/join_integers.h"
#include "join/join_range.h"
#include "join/join_spec.h"
#include "operator/execution_environment.h"
#include "row/row_format.h"
#include "row/row_pages.h"

namespace penumbra {

struct JoinLayout {
  explicit JoinLayout(const JoinSpec& spec);

  // Of a row's columns.
  std::atomic_ref<char> MatchedFlag(char* columns_of_row) const {
    return std::atomic_ref<char>(columns_of_row[columns_bytes]);
  }

  // Of a column of the build input in `columns`; -1: rows do not keep it.
  int PlaceOf(int column) const {
    const auto kept = std::find(columns.begin(), columns.end(), column);
    return kept == columns.end() ? -1 : static_cast<int>(kept - columns.begin());
  }

  KeyLayout keys;
  JoinRange range;
  std::vector<int> columns;       // of the build input that rows keep, in the order of `payload`
  std::vector<int> code_columns;  // for each of them its codes' place in `payload`, behind them; -1: it has none
  int range_column = -1;          // of the sorted value; the other one is behind it
  bool sorts_runs;                // rows of the hash table with one hash are in the order of that value
  bool sorts_long_runs_only;      // where they are many
  RowLayout payload;
  uint32_t payload_offset;
  uint32_t columns_bytes;  // of the payload; the flag follows
  uint32_t row_bytes;
};

enum class JoinForm : uint8_t { kBitmap, kArray, kHash, kRange };

class JoinTable {
 public:
  // Threads partition rows by the hash's highest bits, which are those of the directory too: each partition is a
  // range of both.
  static constexpr int kPartitionBits = 6;
  static constexpr int kPartitions = 1 << kPartitionBits;
  static uint32_t PartitionOf(uint64_t hash) { return static_cast<uint32_t>(hash >> (64 - kPartitionBits)); }

  // The form for rows whose only key (if it is of an integer type) has the range.
  static JoinForm ChooseForm(const JoinSpec& spec, bool has_range, const KeyRange& range, uint64_t rows);

  // `used_bits`: highest ones of the hash that all rows have in common.
  JoinTable(const JoinLayout& layout, MemoryBudget* budget, int used_bits)
      : layout_(layout), budget_(budget), used_bits_(used_bits) {}

  // Building: Reserve(), then rounds of Enter() until it was called kRounds times for each partition with all of its
  // rows. Calls of a round may be concurrent, StartRound() is alone.
  void Reserve(JoinForm form, const KeyRange& range, const std::vector<uint64_t>& partition_rows,
               const ExecutionEnvironment& environment);
  int round_count() const {
    return form_ == JoinForm::kArray || others_ != nullptr ? 2 : form_ == JoinForm::kBitmap ? 0 : 1;
  }
  void StartRound(int round, const ExecutionEnvironment& environment);
  void Enter(int round, uint32_t partition, const std::vector<const RowPages*>& rows,
             const ExecutionEnvironment& environment);

  JoinForm form() const { return form_; }
  uint64_t row_count() const { return row_count_; }
  const RangeIndex& range_index() const { return range_index_; }
  // Of the hash table: whether a run has so many rows that they are worth being narrowed by the range.
  bool has_long_runs() const { return has_long_runs_.load(std::memory_order_relaxed); }
  bool IsLong(uint64_t rows) const { return rows >= kLongRun; }
  // Of the array: no two rows have one key.
  bool is_unique() const { return is_unique_; }
  uint32_t row_bytes() const { return row_bytes_; }
  uint32_t payload_offset() const { return payload_offset_; }
  char* payload(uint64_t i) const { return rows_ + i * row_bytes_ + payload_offset_; }
  char* row(uint64_t i) const { return rows_ + i * row_bytes_; }
  // The i of payload(i), below 2^32: an exact division is a multiplication by the inverse of its odd part modulo 2^32
  // (Hacker's Delight, 10-16).
  uint32_t NumberOf(const char* payload) const {
    const auto distance = static_cast<uint64_t>(payload - payload_offset_ - rows_);
    return static_cast<uint32_t>(distance >> row_bytes_shift_) * row_bytes_inverse_;
  }

  struct Run {
    char* begin;
    char* end;
  };
  // The rows that may have the hash; false: none does.
  bool Find(uint64_t hash, Run* run) const {
    const uint64_t* slot = directory_ + PrefixOf(hash);
    const uint64_t tag = TagOf(hash);
    *run = {RowOf(slot[0]), RowOf(slot[1])};
    return (slot[1] & tag) == tag;
  }
  // Of a run of Find(), where runs are sorted: the rows that have the hash and a value within the range's bounds, null
  // where there is none.
  Run Narrow(const Run& run, uint64_t hash, const JoinRange& range, const int64_t* least,
             const int64_t* greatest) const {
    return {
        least != nullptr ? EndBelow(run, hash, *least, range.least.is_strict) : EndBelow(run, hash, INT64_MIN, false),
        greatest != nullptr ? EndBelow(run, hash, *greatest, !range.greatest.is_strict)
                            : EndBelow(run, hash, INT64_MAX, true)};
  }
  void Prefetch(uint64_t hash) const { __builtin_prefetch(directory_ + PrefixOf(hash)); }
  // The rows that have the key.
  bool FindInteger(int64_t key, Run* run) const {
    const uint64_t place = std::min(static_cast<uint64_t>(key) - static_cast<uint64_t>(least_), span_ + 1);
    const uint64_t begin = begins_[place], end = begins_[place + 1];
    *run = {rows_ + begin * row_bytes_, rows_ + end * row_bytes_};
    return begin != end;
  }

 private:
  template <typename Visit>
  void ForEachRow(const std::vector<const RowPages*>& rows, const ExecutionEnvironment& environment,
                  const Visit& visit) const;
  template <typename Slot>
  Slot* AllocateZeros(size_t count, const ExecutionEnvironment& environment);
  void SetRowBytesInverse();
  void ReserveArray(const KeyRange& range, const ExecutionEnvironment& environment);
  void ReserveDirectory(const std::vector<uint64_t>& partition_rows, const ExecutionEnvironment& environment);
  void EnterArray(int round, const std::vector<const RowPages*>& rows, const ExecutionEnvironment& environment);
  void EnterRange(const std::vector<const RowPages*>& rows, const ExecutionEnvironment& environment);
  int64_t RangeValue(const char* row, int place) const {
    return layout_.payload.Get<int64_t>(row + layout_.payload_offset, layout_.range_column + place);
  }
  // Where the rows end that are before the first with the hash whose value is at least (or, if it is strict, more than)
  // the bound.
  char* EndBelow(const Run& run, uint64_t hash, int64_t bound, bool is_strict) const;
  void SortRuns(uint32_t partition, const ExecutionEnvironment& environment);
  int64_t OtherValue(const char* row) const {
    return layout_.range.is_other_reversed ? ~RangeValue(row, 1) : RangeValue(row, 1);
  }
  void EnterDirectory(uint32_t partition, const std::vector<const RowPages*>& rows,
                      const ExecutionEnvironment& environment);

  // Fewer rows are paired with a probe row faster than they are searched.
  static constexpr uint64_t kLongRun = 16;

  uint64_t PrefixOf(uint64_t hash) const { return (hash << used_bits_) >> shift_; }
  // Four of 16 bits, chosen by 11 bits of the hash that no directory of less than 2^45 slots uses.
  static uint64_t TagOf(uint64_t hash) { return kTags[(hash >> 8) & 2047]; }
  static const std::array<uint16_t, 2048> kTags;
  static char* RowOf(uint64_t slot) { return reinterpret_cast<char*>(slot >> 16); }

  const JoinLayout& layout_;
  MemoryBudget* const budget_;
  const int used_bits_;
  JoinForm form_ = JoinForm::kHash;
  std::unique_ptr<Arena> memory_;
  uint64_t row_count_ = 0;
  char* rows_ = nullptr;
  uint32_t skipped_bytes_ = 0;  // of a collected row
  uint32_t row_bytes_ = 0;
  uint32_t payload_offset_ = 0;
  int row_bytes_shift_ = 0;
  uint32_t row_bytes_inverse_ = 0;
  // kHash. Slot i + 1: where the rows with prefix i end, and in the low 16 bits the union of their tags.
  uint64_t* directory_ = nullptr;
  int shift_ = 0;
  std::vector<uint64_t> partition_begins_;
  // kArray: begins_[i] is the first row whose key is least_ + i or greater; of all rows past the range.
  uint32_t* begins_ = nullptr;
  int64_t least_ = 0;
  uint64_t span_ = 0;
  bool is_unique_ = false;
  RangeIndex range_index_;             // kRange, and of others_
  int64_t* values_in_runs_ = nullptr;  // kHash, of sorted runs: by row, what the range compares first
  int64_t* others_ = nullptr;          // kHash, where long runs are sorted: by row, what it compares then
  std::atomic<bool> has_long_runs_{false};
};

}  // namespace penumbra
