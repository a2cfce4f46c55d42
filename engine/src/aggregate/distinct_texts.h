// count(DISTINCT text): which rows are the first with their text in their group, of all threads' rows. Such rows are
// counted as they come; nothing is left to merge. Threads share a set of the texts, and of the first 64 groups, which
// get numbers. A text has a bit for each group in which it was seen. So a text is hashed and compared once per row, or
// once per entry of a chunk's dictionary, whatever the groups are.
//
// Other rows are grouped by keys and text like those of any DISTINCT:
//
//   all of them    where the first rows say that this is better: few texts, hardly any that come again, many groups
//   some of them   whose group or text is not in the sets when these stop growing. Which these are depends on group and
//                  text alone, since nothing is entered later
//
// Learning: the first of equal rows are grouped so, too, and not counted. Whatever is decided then, no row counts
// twice.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "aggregate/hash_aggregation_rows.h"
#include "operator/execution_environment.h"
#include "vector/value_set.h"

namespace penumbra {

// Numbers of groups by their keys. A group's row has a place where its number is kept.
class GroupNumbers {
 public:
  static constexpr uint32_t kGroupsMax = 64;
  static constexpr uint32_t kNone = UINT32_MAX - 1;

  // `place`: where 8 bytes in rows of the layout are, which are zero at first.
  GroupNumbers(const GroupLayout& layout, uint32_t place, ExecutionEnvironment& environment);
  // The number of a row's group; kNone: it has none, nor will it have one.
  uint32_t NumberOf(char* row) {
    uint32_t kept;
    std::memcpy(&kept, row + place_, sizeof(kept));
    return (kept != 0 ? kept : Find(row)) - 1;
  }

 private:
  uint32_t Find(char* row);
  const char* Enter(const char* row);

  const KeyLayout& keys_;
  const uint32_t place_;
  std::mutex mutex_;
  std::atomic<bool> is_full_{false};  // and read without the lock
  GroupDirectory directory_;
  Arena arena_;  // of images, each followed by its number + 1
};

// Words that threads share. One is found without a lock and entered under the lock of its shard; none is 0.
class SharedWords {
 public:
  explicit SharedWords(MemoryBudget* budget) : budget_(budget) {}
  ~SharedWords() { budget_->Subtract(bytes_.load(std::memory_order_relaxed)); }

  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  void Prefetch(uint64_t hash) const {
    const Table* table = TableOf(hash);
    if (table != nullptr) __builtin_prefetch(&table->words[hash & table->mask]);
  }
  // What stands where the word of that hash is looked for first.
  uint64_t Peek(uint64_t hash) const {
    const Table* table = TableOf(hash);
    return table == nullptr ? 0 : table->words[hash & table->mask].load(std::memory_order_acquire);
  }
  // The word for which equal() is true; 0: there is none so far.
  template <typename Equal>
  uint64_t Find(uint64_t hash, const Equal& equal) const {
    const Table* table = TableOf(hash);
    return table == nullptr ? 0 : Probe(*table, hash, equal).word;
  }
  // Such a word, or the one that make() gives, which is entered if it is not 0. hash_of(word) has the lower 32 bits of
  // a word's hash.
  template <typename Equal, typename Make, typename HashOf>
  uint64_t FindOrEnter(uint64_t hash, const Equal& equal, const Make& make, const HashOf& hash_of) {
    Shard& shard = shards_[hash >> (64 - kShardBits)];
    std::lock_guard<std::mutex> lock(shard.mutex);
    if (shard.tables.empty() || 2 * shard.count > shard.tables.back()->mask) Grow(shard, hash_of);
    const Table& table = *shard.tables.back();
    const Place found = Probe(table, hash, equal);
    if (found.word != 0) return found.word;
    const uint64_t made = make();
    if (made == 0) return 0;
    table.words[found.at].store(made, std::memory_order_release);
    ++shard.count;
    return made;
  }

 private:
  static constexpr int kShardBits = 6;
  static constexpr uint64_t kFirstWords = 64, kGrowth = 4;

  struct Table {
    uint64_t mask;
    std::unique_ptr<std::atomic<uint64_t>[]> words;
  };
  struct alignas(64) Shard {
    std::atomic<const Table*> table{nullptr};  // the last of `tables`
    std::mutex mutex;                          // guards the next two
    uint64_t count = 0;
    std::vector<std::unique_ptr<Table>> tables;  // others may still read the smaller ones
  };

  const Table* TableOf(uint64_t hash) const {
    return shards_[hash >> (64 - kShardBits)].table.load(std::memory_order_acquire);
  }
  // Where such a word is, or would be, and what was there: without the lock it may be another one by now.
  struct Place {
    uint64_t at;
    uint64_t word;
  };
  template <typename Equal>
  static Place Probe(const Table& table, uint64_t hash, const Equal& equal) {
    for (uint64_t at = hash & table.mask;; at = (at + 1) & table.mask) {
      const uint64_t word = table.words[at].load(std::memory_order_acquire);
      if (word == 0 || equal(word)) return {at, word};
    }
  }
  template <typename HashOf>
  void Grow(Shard& shard, const HashOf& hash_of) {
    const Table* from = shard.tables.empty() ? nullptr : shard.tables.back().get();
    const uint64_t capacity = from == nullptr ? kFirstWords : kGrowth * (from->mask + 1);
    budget_->Add(capacity * sizeof(uint64_t));
    bytes_ += capacity * sizeof(uint64_t);
    auto table = std::make_unique<Table>(Table{capacity - 1, std::make_unique<std::atomic<uint64_t>[]>(capacity)});
    for (uint64_t i = 0; from != nullptr && i <= from->mask; ++i) {
      const uint64_t word = from->words[i].load(std::memory_order_relaxed);
      if (word == 0) continue;
      uint64_t at = hash_of(word) & table->mask;
      while (table->words[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & table->mask;
      table->words[at].store(word, std::memory_order_relaxed);
    }
    shard.table.store(table.get(), std::memory_order_release);
    shard.tables.push_back(std::move(table));
  }

  MemoryBudget* const budget_;
  std::atomic<size_t> bytes_{0};
  Shard shards_[1 << kShardBits];
};

class DistinctTexts {
  struct Text;

 public:
  class Local {
    friend class DistinctTexts;
    explicit Local(Arena& owned) : arena(owned) {}

    Arena& arena;
    uint64_t dictionary_id = 0;
    std::vector<Text*> entries;  // of that dictionary; null: not looked for yet
    uint32_t new_texts = 0;      // of the rows in hand
  };

  DistinctTexts(GroupNumbers& groups, ExecutionEnvironment& environment);
  std::unique_ptr<Local> CreateLocal();

  struct Rows {
    uint16_t rows[kVectorRows];
    uint32_t count = 0;
    void Add(uint16_t row) { rows[count++] = row; }
  };
  // False: all rows are others, and will be.
  bool is_on() const { return state_.load(std::memory_order_relaxed) != State::kOff; }
  // Row i is of the group groups[i]. Appends the selected rows that are to be counted to *first, and those that are to
  // be grouped to *others. None is null.
  void Sort(Local& local, char* const* groups, const Vector& texts, RowSelection selection, Arena& arena, Rows* first,
            Rows* others);

 private:
  enum class State : uint8_t { kLearning, kOn, kOff };
  struct Text {
    std::atomic<uint64_t> groups;  // a bit for each where it was seen
    uint32_t hash;                 // the lower half
    uint32_t length;
    // the bytes follow
    char* bytes() { return reinterpret_cast<char*>(this + 1); }
  };
  static_assert(sizeof(Text) == 16);
  static Text* TextOf(uint64_t word) { return reinterpret_cast<Text*>(word & kPointerMask); }
  static constexpr uint64_t kPointerMask = (uint64_t{1} << 48) - 1;
  // found[i] is the text of row rows[i].
  void FindTexts(Local& local, const Vector& texts, const Rows& rows, Arena& arena, Text** found);
  template <typename StringOf>
  void FindStrings(Local& local, uint32_t count, const StringOf& string_of, Text** found);
  Text* EnterText(Local& local, const StringRef& string, uint64_t hash);
  bool MayGrow();
  void Learn(uint32_t rows, uint32_t new_texts, bool has_other_groups);

  GroupNumbers& groups_;
  ExecutionEnvironment& environment_;
  const HashSeed seed_ = HashSeed::Random();
  std::atomic<State> state_{State::kLearning};
  std::atomic<uint64_t> learned_rows_{0}, learned_texts_{0};
  std::atomic<bool> is_full_{false};
  std::atomic<size_t> text_bytes_{0};
  SharedWords texts_;         // 16 bits of the hash, then a pointer
  Text none_{};               // stands for all texts that are in no set
  std::mutex mutex_;          // guards arenas_
  std::deque<Arena> arenas_;  // of texts
};

}  // namespace penumbra
