// An unchained hash table (Birler et al. 2024) of build rows: rows lie sorted by a prefix of their hash, and a
// directory says where each prefix's run ends. So a look-up costs one access for rows that have no match, and
// duplicates are neighbours.
//
// A row is
//   the compared part of its keys' image (group_keys.h), which begins with the hash
//   the columns kept (sort_rows.h)
//   for joins that give build rows a byte: whether a probe row has matched it
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "aggregate/group_keys.h"
#include "aggregate/hash_aggregation_rows.h"
#include "operator/operator.h"
#include "sort/sort_rows.h"

namespace penumbra {

struct JoinLayout {
  explicit JoinLayout(const JoinSpec& spec);

  std::atomic_ref<char> MatchedFlag(char* row) const { return std::atomic_ref<char>(row[matched_offset]); }

  GroupKeys keys;
  std::vector<int> columns;  // of the build input that rows keep, in the order of `payload`
  SortRowLayout payload;
  uint32_t payload_offset;
  uint32_t matched_offset;  // 0: no flag
  uint32_t row_bytes;
};

class JoinTable {
 public:
  // Threads partition rows by the hash's highest bits, which are those of the directory too: each partition is a
  // range of both.
  static constexpr int kPartitionBits = 6;
  static constexpr int kPartitions = 1 << kPartitionBits;
  static uint32_t PartitionOf(uint64_t hash) { return static_cast<uint32_t>(hash >> (64 - kPartitionBits)); }

  JoinTable(uint32_t row_bytes, MemoryBudget* budget) : row_bytes_(row_bytes), budget_(budget) {}

  // Room for rows by partition, of which none is entered yet.
  void Reserve(const std::vector<uint64_t>& partition_rows);
  // Enters all rows of a partition at once: pages of several threads. Partitions may be entered concurrently.
  void EnterPartition(uint32_t partition, const std::vector<const GroupRows*>& rows,
                      const ExecutionEnvironment& environment);

  uint64_t row_count() const { return row_count_; }
  char* row(uint64_t i) const { return rows_ + i * row_bytes_; }

  struct Run {
    char* begin;
    char* end;
  };
  // The rows that may have the hash; false: none does.
  bool Find(uint64_t hash, Run* run) const {
    const uint64_t* slot = directory_ + (hash >> shift_);
    const uint64_t tag = TagOf(hash);
    if ((slot[1] & tag) != tag) return false;
    *run = {RowOf(slot[0]), RowOf(slot[1])};
    return true;
  }
  void Prefetch(uint64_t hash) const { __builtin_prefetch(directory_ + (hash >> shift_)); }

 private:
  // Four of 16 bits, chosen by 11 bits of the hash that no directory of less than 2^45 slots uses.
  static uint64_t TagOf(uint64_t hash) { return kTags[(hash >> 8) & 2047]; }
  static const std::array<uint16_t, 2048> kTags;
  static char* RowOf(uint64_t slot) { return reinterpret_cast<char*>(slot >> 16); }

  const uint32_t row_bytes_;
  MemoryBudget* const budget_;
  std::unique_ptr<Arena> memory_;
  // Slot i + 1: where the rows with prefix i end, and above the low 16 bits, the union of their tags.
  uint64_t* directory_ = nullptr;
  int shift_ = 0;
  char* rows_ = nullptr;
  uint64_t row_count_ = 0;
  std::vector<uint64_t> partition_begins_;
};

}  // namespace penumbra
