// Results in the adapter's form, and the bounded queue in which engine threads leave them.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "penumbra/engine.h"
#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

// One batch of the output. What it points to lives in its own arena, in segments, or in the sink that
// the batch was read from; a pipeline that fills one evaluates in arena(), so nothing is copied.
class ResultBatch {
 public:
  explicit ResultBatch(MemoryBudget* budget) : arena_(budget) {}

  Arena& arena() { return arena_; }
  // Flattens the batch, which must not be changed while the result is in use.
  void Set(const Batch& batch);
  // The same with copies, for a batch that does not outlive the call.
  void SetCopy(const Batch& batch);
  void Clear();
  PenumbraResult result() const { return {rows_, columns_.data()}; }
  uint32_t rows() const { return rows_; }
  size_t bytes() const { return arena_.bytes(); }

 private:
  Arena arena_;
  std::vector<PenumbraResultColumn> columns_;
  uint32_t rows_ = 0;
};

// Many producers, one consumer. Batches are used again: their arenas keep their first blocks.
class ResultQueue {
 public:
  ResultQueue(MemoryBudget* budget, size_t capacity, size_t capacity_bytes)
      : budget_(budget), capacity_(capacity), capacity_bytes_(capacity_bytes) {}

  std::unique_ptr<ResultBatch> Allocate();
  void Recycle(std::unique_ptr<ResultBatch> batch);
  // Waits while the queue is full; drops the batch when the queue is closed.
  void Push(std::unique_ptr<ResultBatch> batch);
  // False: it is full.
  bool TryPush(std::unique_ptr<ResultBatch>* batch);
  // For the consumer's own batches: never waits.
  void PushUnbounded(std::unique_ptr<ResultBatch> batch);
  std::unique_ptr<ResultBatch> TryPop();
  // Waits until there is a batch, the deadline passes or Wake() is called.
  template <typename TimePoint>
  void WaitForBatch(const TimePoint& deadline) {
    std::unique_lock lock(mutex_);
    not_empty_.wait_until(lock, deadline, [this] { return !ready_.empty() || is_woken_; });
    is_woken_ = false;
  }
  void Wake();
  void Close();

 private:
  MemoryBudget* const budget_;
  bool IsFullLocked() const {
    return ready_.size() >= capacity_ || (!ready_.empty() && ready_bytes_ >= capacity_bytes_);
  }
  void AddLocked(std::unique_ptr<ResultBatch> batch);

  const size_t capacity_;
  const size_t capacity_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<std::unique_ptr<ResultBatch>> ready_;
  size_t ready_bytes_ = 0;
  std::vector<std::unique_ptr<ResultBatch>> free_;
  bool is_closed_ = false;
  bool is_woken_ = false;
};

}  // namespace penumbra
