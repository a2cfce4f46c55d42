#include "execution/result_queue.h"

#include "numeric/numeric.h"

namespace penumbra {
namespace {

const uint8_t* ExpandNulls(const Vector& vector, uint32_t rows, Arena& arena) {
  if (vector.is_null_constant()) {
    auto* nulls = arena.AllocateArray<uint8_t>(rows);
    std::memset(nulls, 1, rows);
    return nulls;
  }
  if (vector.is_constant() || vector.validity == nullptr) return nullptr;
  auto* nulls = arena.AllocateArray<uint8_t>(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    nulls[i] = static_cast<uint8_t>((~vector.validity[i / 64] >> (i % 64)) & 1);
  }
  return nulls;
}

// The values of a vector in any form, row by row, without making it flat.
template <typename T, typename Visit>
void ForEachValue(const Vector& vector, uint32_t rows, Visit visit) {
  switch (vector.form) {
    case VectorForm::kFlat:
      for (uint32_t i = 0; i < rows; ++i) visit(i, vector.values<T>()[i]);
      break;
    case VectorForm::kConstant:
      for (uint32_t i = 0; i < rows; ++i) visit(i, vector.values<T>()[0]);
      break;
    case VectorForm::kDictionary: {
      const T* entries = vector.dictionary->values<T>();
      for (uint32_t i = 0; i < rows; ++i) {
        if (vector.IsValid(i)) visit(i, entries[vector.Code(i)]);
      }
      break;
    }
  }
}

}  // namespace

void ResultBatch::Clear() {
  arena_.Reset();
  rows_ = 0;
}

void ResultBatch::Set(const Batch& batch) {
  rows_ = batch.rows;
  columns_.clear();
  for (uint32_t c = 0; c < batch.column_count; ++c) columns_.push_back(MakeColumn(batch.columns[c]));
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

// Values of fixed width are flattened; strings and numerics become a pointer and a length per row. Pointers and lengths
// of null rows are zero, since a vector may hold anything there.
PenumbraResultColumn ResultBatch::MakeColumn(const Vector& vector) {
  PenumbraResultColumn column{};
  column.type = vector.type;
  column.nulls = ExpandNulls(vector, rows_, arena_);
  const bool has_payloads = IsStringForm(vector.type, NumericForm::kPayload);
  if (!has_payloads) {
    if (!vector.is_null_constant()) column.values = Flatten(vector, rows_, arena_).data;
    return column;
  }
  auto* payloads = arena_.AllocateArray<const char*>(rows_);
  auto* lengths = arena_.AllocateArray<uint32_t>(rows_);
  column.payloads = payloads;
  column.payload_lengths = lengths;
  if (column.nulls != nullptr) {
    std::memset(payloads, 0, rows_ * sizeof(*payloads));
    std::memset(lengths, 0, rows_ * sizeof(*lengths));
  }
  if (vector.is_null_constant()) return column;
  const Vector& values = vector.form == VectorForm::kDictionary ? *vector.dictionary : vector;
  if (vector.type == PENUMBRA_NUMERIC && values.numeric_form != NumericForm::kPayload) {
    SetIntegerPayloads(vector, &column);
  } else {
    SetPayloads(vector, &column);
  }
  return column;
}

void ResultBatch::SetPayloads(const Vector& vector, PenumbraResultColumn* column) {
  auto** payloads = const_cast<const char**>(column->payloads);
  auto* lengths = const_cast<uint32_t*>(column->payload_lengths);
  ForEachValue<StringRef>(vector, rows_, [payloads, lengths](uint32_t i, const StringRef& string) {
    payloads[i] = string.data();
    lengths[i] = string.length;
  });
}

void ResultBatch::SetIntegerPayloads(const Vector& vector, PenumbraResultColumn* column) {
  auto** payloads = const_cast<const char**>(column->payloads);
  auto* lengths = const_cast<uint32_t*>(column->payload_lengths);
  const uint8_t* nulls = column->nulls;
  const Vector& values = vector.form == VectorForm::kDictionary ? *vector.dictionary : vector;
  char* bytes = arena_.AllocateArray<char>(size_t{rows_} * kIntegerPayloadBytes);
  auto pack = [&](uint32_t i, int128 value) {
    // A null row's integer is unspecified and may not be packable.
    if (nulls != nullptr && nulls[i] != 0) return;
    payloads[i] = bytes;
    lengths[i] = IntegerToPayload(value, values.scale, bytes);
    bytes += lengths[i];
  };
  if (values.numeric_form == NumericForm::kInt64) {
    ForEachValue<int64_t>(vector, rows_, pack);
  } else {
    ForEachValue<int128>(vector, rows_, pack);
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
