// Numbers of partitions, by which rows are sorted in place of keys that would take a sort's prefix for themselves, as
// texts do.
//
// The first partitions that come get numbers from 1 on, each thread asking its own table first. When there are enough
// the table of all threads changes no more, and rows of other partitions get 0 and keep their keys.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "aggregate/hash_aggregation_local.h"
#include "window/window_input.h"

namespace penumbra {

class PartitionNumbers {
 public:
  // `input` numbers partitions.
  PartitionNumbers(const WindowInput& input, ExecutionEnvironment& environment);
  PartitionNumbers(const PartitionNumbers&) = delete;

  // One thread's.
  class Local {
   public:
    explicit Local(PartitionNumbers& of);

    // Adds the columns of the input's sort that are still missing: the number, and the keys of rows without one.
    void Extend(uint32_t rows, EvalContext& context, std::vector<Vector>* columns);

   private:
    // Whether some have none.
    bool Number(const std::vector<Vector>& keys, uint32_t rows, Arena& arena, int32_t* numbers);

    PartitionNumbers& of_;
    std::unique_ptr<LocalGroups> groups_;  // null: there are no more numbers
    std::vector<char> images_;
  };

 private:
  static constexpr int32_t kNone = -1;

  bool is_full() const { return is_full_.load(std::memory_order_acquire); }
  // Of a partition that has none yet, or that another thread has numbered; kNone: there are no more.
  int32_t NumberNew(const char* image);
  // What the row of a group has beyond its image; 0 at first.
  int32_t& NumberOf(char* group) const { return *reinterpret_cast<int32_t*>(group + layout_.keys.image_bytes()); }

  const WindowInput& input_;
  ExecutionEnvironment& environment_;
  GroupLayout layout_;
  const uint64_t max_numbers_;
  std::mutex mutex_;  // guards the rest until it is full
  Arena memory_;
  GroupDirectory directory_;
  std::atomic<bool> is_full_{false};
};

}  // namespace penumbra
