// The rows of a group as PenumbraGroupRows describes them.
#pragma once

#include <vector>

#include "aggregate/array_image.h"
#include "operator/execution_environment.h"
#include "row/row_layout.h"
#include "sort/sort_input.h"

namespace penumbra {

class GroupRowsImage {
 public:
  GroupRowsImage(uint32_t label, int column_count, const RowLayout& layout)
      : label_(label), column_count_(column_count), layout_(layout) {}

  // Of the first columns of the rows.
  StringRef Make(const SortEntry* entries, uint64_t count, const ExecutionEnvironment& environment, Arena& arena) {
    bytes_.clear();
    ArrayImage::CheckSize(count);
    Append(PenumbraGroupRows{label_ | PENUMBRA_GROUP_ROWS, static_cast<uint32_t>(count)});
    for (int column = 0; column < column_count_; ++column) {
      environment.CheckCancelled();
      for (uint64_t i = 0; i < count; ++i) bytes_.push_back(layout_.IsNull(entries[i].row, column));
      while ((bytes_.size() + ArrayImage::kVarlenaBytes) % 8 != 0) bytes_.push_back(0);
      AppendColumn(column, entries, count, environment);
    }
    return StringRef(arena.CopyBytes(bytes_.data(), bytes_.size()), static_cast<uint32_t>(bytes_.size()));
  }

 private:
  static constexpr uint64_t kPollRows = 1 << 16;

  template <typename T>
  void Append(const T& value) {
    const char* from = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(T));
  }
  void AppendColumn(int column, const SortEntry* entries, uint64_t count, const ExecutionEnvironment& environment) {
    const PenumbraType type = layout_.type(column);
    if (IsStringType(type) || type == PENUMBRA_NUMERIC) return AppendPayloads(column, entries, count, environment);
    switch (FlatWidth(type, NumericForm::kInt64)) {
      case 1: return AppendValues<uint8_t>(column, entries, count);
      case 2: return AppendValues<uint16_t>(column, entries, count);
      case 4: return AppendValues<uint32_t>(column, entries, count);
      case 8: return AppendValues<uint64_t>(column, entries, count);
      default: return AppendValues<uint128>(column, entries, count);
    }
  }
  template <typename T>
  void AppendValues(int column, const SortEntry* entries, uint64_t count) {
    ArrayImage::CheckSize(bytes_.size() + count * sizeof(T));
    for (uint64_t i = 0; i < count; ++i) Append(layout_.Get<T>(entries[i].row, column));
  }
  void AppendPayloads(int column, const SortEntry* entries, uint64_t count, const ExecutionEnvironment& environment) {
    const bool is_numeric = layout_.type(column) == PENUMBRA_NUMERIC;
    const size_t lengths = bytes_.size();
    bytes_.resize(lengths + count * sizeof(uint32_t));
    for (uint64_t i = 0; i < count; ++i) {
      if (i % kPollRows == 0) environment.CheckCancelled();
      const char* row = entries[i].row;
      if (layout_.IsNull(row, column)) continue;
      char room[kIntegerPayloadBytes];
      const StringRef payload =
          is_numeric ? PayloadOf(layout_.GetNumeric(row, column), room) : layout_.Get<StringRef>(row, column);
      bytes_.insert(bytes_.end(), payload.data(), payload.data() + payload.length);
      std::memcpy(&bytes_[lengths + i * sizeof(uint32_t)], &payload.length, sizeof(uint32_t));
      ArrayImage::CheckSize(bytes_.size());
    }
  }

  const uint32_t label_;
  const int column_count_;
  const RowLayout& layout_;
  std::vector<char> bytes_;
};

}  // namespace penumbra
