#include "execution/result_queue.h"

#include "numeric/result_column.h"

namespace penumbra {

void ResultBatch::Clear() {
  arena_.Reset();
  rows_ = 0;
}

void ResultBatch::Set(const Batch& batch) {
  rows_ = batch.rows;
  columns_.clear();
  for (uint32_t c = 0; c < batch.column_count; ++c)
    columns_.push_back(MakeResultColumn(batch.columns[c], rows_, arena_));
}

void ResultBatch::SetCopy(const Batch& batch) {
  Set(batch);
  for (PenumbraResultColumn& column : columns_) {
    if (column.values != nullptr) {
      column.values = arena_.CopyBytes(column.values, size_t{rows_} * FlatWidth(column.type, NumericForm::kInt64));
    }
    if (column.payloads == nullptr) continue;
    auto** payloads = arena_.AllocateArray<const char*>(rows_);
    for (uint32_t i = 0; i < rows_; ++i) {
      bool is_null = column.nulls != nullptr && column.nulls[i] != 0;
      payloads[i] = is_null ? nullptr : arena_.CopyBytes(column.payloads[i], column.payload_lengths[i]);
    }
    column.payloads = payloads;
  }
}

std::unique_ptr<ResultBatch> ResultQueue::Allocate() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto batch = std::move(free_.back());
      free_.pop_back();
      return batch;
    }
  }
  return std::make_unique<ResultBatch>(budget_);
}

void ResultQueue::Recycle(std::unique_ptr<ResultBatch> batch) {
  if (batch == nullptr) return;
  batch->Clear();
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(batch));
}

bool ResultQueue::TryPush(std::unique_ptr<ResultBatch>* batch) {
  std::lock_guard lock(mutex_);
  if (!is_closed_ && IsFullLocked()) return false;
  AddLocked(std::move(*batch));
  return true;
}

void ResultQueue::Push(std::unique_ptr<ResultBatch> batch) {
  std::unique_lock lock(mutex_);
  not_full_.wait(lock, [this] { return !IsFullLocked() || is_closed_; });
  AddLocked(std::move(batch));
}

void ResultQueue::AddLocked(std::unique_ptr<ResultBatch> batch) {
  if (is_closed_) return;
  ready_bytes_ += batch->bytes();
  ready_.push_back(std::move(batch));
  not_empty_.notify_one();
}

void ResultQueue::PushUnbounded(std::unique_ptr<ResultBatch> batch) {
  std::lock_guard lock(mutex_);
  ready_bytes_ += batch->bytes();
  ready_.push_back(std::move(batch));
}

std::unique_ptr<ResultBatch> ResultQueue::TryPop() {
  std::lock_guard lock(mutex_);
  if (ready_.empty()) return nullptr;
  auto batch = std::move(ready_.front());
  ready_.pop_front();
  ready_bytes_ -= batch->bytes();
  not_full_.notify_one();
  return batch;
}

void ResultQueue::Wake() {
  std::lock_guard lock(mutex_);
  is_woken_ = true;
  not_empty_.notify_all();
}

void ResultQueue::Close() {
  std::lock_guard lock(mutex_);
  is_closed_ = true;
  not_full_.notify_all();
}

}  // namespace penumbra
