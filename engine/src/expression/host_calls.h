// Functions of the host's, which only the caller's thread may run.
//
// A thread that comes to such a call looks for the arguments of its rows in a memo that all threads share. What is not
// there it asks for once per distinct arguments, and waits until the caller's thread has served it. Frames of a window
// it hands over as they come.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "expression/expr.h"
#include "penumbra/engine.h"
#include "vector/arena.h"
#include "vector/value_set.h"

namespace penumbra {

// A result as a flat value, or a StringRef to bytes in the arena: of a numeric in PostgreSQL's format. False: it is
// null.
bool ReadHostValue(PenumbraType type, const PenumbraColumnInput& results, uint32_t row, char (&value)[16],
                   Arena& arena);

// What a function gave, by its arguments. Entries stay where they are by number; their bytes live as long as the memo.
class HostMemo {
 public:
  struct Entry {
    uint64_t hash = 0;
    std::string_view key;
    alignas(16) char value[16] = {};  // a flat value, or a StringRef
    bool is_known = false;
    bool is_null = false;
    const void* asked_by = nullptr;  // while it is not known: the last that did
  };

  HostMemo(MemoryBudget* budget, const HashSeed& seed) : arena_(budget), seed_(seed) {}

  uint64_t HashOf(std::string_view key) const { return HashKey(key, seed_); }
  // The number of the entry of these arguments, a new one if there is none.
  uint32_t FindOrAdd(std::string_view key, uint64_t hash);
  Entry& entry(uint32_t number) { return entries_[number]; }
  // Row `row` of the results becomes the entry's value.
  void Set(uint32_t number, PenumbraType type, const PenumbraColumnInput& results, uint32_t row);
  bool HasRoom(size_t bytes_max) const;

  // Numbers of entries, plus 1, by the codes of a column: those of a dictionary, or its values as integers. 0: not
  // known.
  class Codes {
   public:
    uint32_t& Of(int64_t code) {
      if (keys_.empty()) return numbers_[code - least_];
      if (code == kNoKey) return number_of_no_key_;
      const size_t mask = keys_.size() - 1;
      size_t slot = HashKey(code, seed_) & mask;
      while (keys_[slot] != code && keys_[slot] != kNoKey) slot = (slot + 1) & mask;
      used_ += keys_[slot] == kNoKey;
      keys_[slot] = code;
      return numbers_[slot];
    }
    uint32_t& OfNull() { return null_number_; }

   private:
    friend HostMemo;
    static constexpr int64_t kNoKey = INT64_MIN;

    void Reserve(size_t more);

    int64_t least_ = 0;
    std::vector<uint32_t> numbers_;  // from `least_` on, or by place in keys_
    std::vector<int64_t> keys_;      // a power of two, at least twice the used ones; empty: an array is small enough
    size_t used_ = 0;
    HashSeed seed_;
    uint32_t number_of_no_key_ = 0;
    uint32_t null_number_ = 0;
  };
  Codes& CodesOfDictionary(const Vector& column);
  // With room for `count` codes between these.
  Codes& CodesOfIntegers(int64_t least, int64_t greatest, uint32_t count);

 private:
  void Grow();

  Arena arena_;
  const HashSeed seed_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // a power of two of them, at least twice the entries: a number + 1, or 0
  std::unordered_map<uint64_t, Codes> dictionaries_;  // by dictionary_id
  size_t dictionary_bytes_ = 0;
  Codes integers_;
};

class HostCalls {
 public:
  // wake_caller: what the caller's thread waits for has come, or something else has; any thread calls it.
  HostCalls(const PenumbraExecOptions& options, MemoryBudget* budget, std::function<void()> wake_caller);

  // Any thread: the call's values for its evaluated arguments, flat or a dictionary.
  Vector Evaluate(const Expr& call, const Vector* args, uint32_t rows, EvalContext& context);
  // Any thread: take(results) is called, on the caller's thread, with those of the frames.
  void EvaluateFrames(const PenumbraFrames& frames, const std::function<void(const PenumbraColumnInput&)>& take);
  // A number for PenumbraFrames.state, which nobody else has until it is given back.
  uint32_t TakeState();
  void GiveBackState(uint32_t state);
  // The caller's thread: runs what another one has waited for longest. False: there is nothing such.
  bool Serve();
  // Threads that wait are not served any more.
  void Stop();

 private:
  struct Request {
    std::function<void()> run;
    bool is_done = false;
    std::exception_ptr error;
  };
  // What the memo lacks.
  struct Lookup {
    const Expr* call;
    HostMemo* memo;
    const Vector* args;
    std::vector<uint16_t> rows;     // that have the arguments
    std::vector<uint32_t> entries;  // of these
  };

  HostMemo* FindMemoLocked(const Expr& call);
  // The memo's entries for the rows' arguments, known after it.
  std::vector<uint32_t> Resolve(const Expr& call, HostMemo* memo, const Vector* args, uint32_t rows, Arena& arena);
  bool ResolveByCodes(const Expr& call, HostMemo* memo, const Vector* args, uint32_t rows, Arena& arena,
                      std::vector<uint32_t>* entries);
  void Ask(std::function<void()> run);
  void Run(const Lookup& lookup);

  const PenumbraHostFunction function_;
  const PenumbraHostFrames frames_;
  void* const host_;
  MemoryBudget* const budget_;
  const pthread_t caller_ = pthread_self();
  const std::function<void()> wake_caller_;
  const HashSeed seed_ = HashSeed::Random();
  Arena arena_;  // the caller's thread's: of the arguments that it hands over

  std::mutex memo_mutex_;                         // of the memos; taken alone
  std::vector<std::unique_ptr<HostMemo>> memos_;  // by function; null: not asked yet

  std::mutex states_mutex_;  // taken alone
  std::vector<uint32_t> free_states_;
  uint32_t state_count_ = 0;

  std::mutex queue_mutex_;  // taken alone
  std::condition_variable served_;
  std::deque<Request*> waiting_;
  bool has_failed_ = false;
  bool is_stopped_ = false;
};

// The call of a host's function by its number; the caller has checked types. Arguments are borrowed.
std::unique_ptr<Expr> BuildHostCall(int function, PenumbraType result, const std::vector<const Expr*>& args);

}  // namespace penumbra
