// The distinct strings of a column that a join's build rows keep. A row has the string's code beside the string, and
// above the join the column is a dictionary vector: equal strings are one entry, which functions see once and groups
// know by its code.
//
// It is an offer: rows of which one was not encoded, or more strings than small caches hold, and there is none. Threads
// encode while they collect their rows. What a segment's dictionary has is looked up once per entry and thread; strings
// that come without one are looked up in a table of the thread's own, so that nobody waits for `mutex_` but for a
// string that the thread has not met.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

class JoinDictionary {
  using Codes = std::unordered_map<std::string_view, uint16_t>;

 public:
  JoinDictionary(PenumbraType type, MemoryBudget* budget) : type_(type), strings_(budget) {}

  // A thread's part of it.
  class Encoder {
   public:
    explicit Encoder(JoinDictionary& dictionary) : dictionary_(dictionary) {}
    // The rows' codes, 0 of a null; null: there is no dictionary any more.
    const uint16_t* Encode(const Vector& strings, uint32_t rows, Arena& arena);

   private:
    void EncodeEntries(const Vector& strings, uint32_t rows, uint16_t* codes);
    void EncodeStrings(const Vector& strings, uint32_t rows, Arena& arena, uint16_t* codes);

    JoinDictionary& dictionary_;
    uint64_t entries_id_ = 0;        // of the vectors' dictionary that `entries_` is of
    std::vector<uint16_t> entries_;  // code of each entry, or kUnknown
    Codes known_;
    uint64_t rows_ = 0;  // looked up there
  };

  // What was encoded is not used.
  void GiveUp() { is_given_up_.store(true, std::memory_order_relaxed); }
  // All rows are there. Without a dictionary its memory is free again.
  void Seal();
  // Of the sealed one: a dictionary vector without rows, for WithCodes(); null: there is none.
  const Vector* column() const { return refs_.empty() ? nullptr : &column_; }
  // Whether they differ by the type's equality, too: char(n)'s ignores blanks at the end.
  bool HasDistinctEntries() const;

 private:
  static constexpr uint16_t kUnknown = UINT16_MAX;

  // Null: there are too many.
  const Codes::value_type* Add(std::string_view string);

  const PenumbraType type_;
  std::atomic<bool> is_given_up_{false};
  std::mutex mutex_;  // guards the next four until Seal()
  Arena strings_;
  std::vector<StringRef> refs_;
  Codes codes_;
  size_t string_bytes_ = 0;
  Vector entries_;
  Vector column_;
};

}  // namespace penumbra
