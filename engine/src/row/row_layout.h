// The columns of a row side by side, so that putting a row in its place in a result costs one cache miss and not one
// per column:
//
//   null bits    one per column; the slot of a null is zero
//   slots        packed, in the order of the columns: values as in a flat vector, StringRefs, numerics (row_numeric.h)
//   (padding to 8)
#pragma once

#include <atomic>
#include <vector>

#include "row/row_numeric.h"
#include "row/row_strings.h"
#include "vector/arena.h"
#include "vector/result_vector.h"
#include "vector/vector.h"

namespace penumbra {

// Whether something was seen, by any thread; rows that it was seen in are read after a barrier.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark& other) : is_set_(other.is_set()) {}
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }
  void Set() const {
    if (!is_set()) is_set_.store(true, std::memory_order_relaxed);
  }

 private:
  mutable std::atomic<bool> is_set_{false};
};

class RowLayout {
 public:
  explicit RowLayout(const std::vector<PenumbraType>& types);

  uint32_t row_bytes() const { return row_bytes_; }
  int column_count() const { return static_cast<int>(columns_.size()); }
  PenumbraType type(int column) const { return columns_[column].type; }

  // Makes a row of each selected row of the (flat) columns; rows[i] is zero before. Strings are
  // copied to `arena`.
  void Write(const Vector* columns, RowSelection selection, char* const* rows, Arena& arena) const;
  // Makes a row of nulls; `row` is zero before.
  void WriteNulls(char* row) const;
  // Of a row's strings, but for short ones that it holds itself.
  size_t StringBytes(const char* row) const;
  // A copy of a row that points only into `arena`.
  char* Copy(const char* row, Arena& arena) const;
  // The long strings of a row, as row_strings.h's functions for one.
  void SaveStrings(const char* row, std::vector<char>* bytes) const;
  const char* LoadStrings(char* row, const char* bytes, Arena* arena) const;
  // A column of the rows, flat; strings point to where the rows' do. Without has_nulls none of the rows has one.
  Vector Read(int column, const char* const* rows, uint32_t count, Arena& arena, bool has_nulls = true) const;

  // The rows lie anywhere: their cache misses overlap when they are asked for all at once.
  void Prefetch(const char* const* rows, uint32_t count) const {
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t at = 0; at < row_bytes_; at += 64) __builtin_prefetch(rows[i] + at);
    }
  }

  bool IsNull(const char* row, int column) const { return (row[column / 8] >> (column % 8)) & 1; }
  // Of a condition's column.
  bool IsTrue(const char* row, int column) const { return !IsNull(row, column) && Get<uint8_t>(row, column) != 0; }
  // Whether both are null, or have the same bytes.
  bool HasSameBytes(const char* a, const char* b, int column) const {
    const Column& of = columns_[column];
    if (IsNull(a, column) != IsNull(b, column)) return false;
    switch (of.width) {
      case 4: return Get<uint32_t>(a, column) == Get<uint32_t>(b, column);
      case 8: return Get<uint64_t>(a, column) == Get<uint64_t>(b, column);
      case 16: return Get<uint128>(a, column) == Get<uint128>(b, column);
      default: return std::memcmp(a + of.offset, b + of.offset, of.width) == 0;
    }
  }
  template <typename T>
  T Get(const char* row, int column) const {
    T value;
    std::memcpy(static_cast<void*>(&value), row + columns_[column].offset, sizeof(T));
    return value;
  }
  // Of a column of numerics that is not null in the row.
  RowNumeric GetNumeric(const char* row, int column) const {
    return NumericAt(row + columns_[column].offset, columns_[column].scale.Get());
  }

 private:
  struct Column {
    PenumbraType type;
    uint32_t offset;
    uint32_t width;
    CommonScale scale;  // of numerics
    Mark has_nulls;     // in any row that was written
  };
  // Calls on_string(slot) for each slot that holds a StringRef, on_number(slot) for each with a number elsewhere.
  template <typename Row, typename OnString, typename OnNumber>
  void ForEachPointer(Row* row, const OnString& on_string, const OnNumber& on_number) const;
  Vector ReadNumeric(int column, const char* const* rows, uint32_t count, Arena& arena, bool has_nulls) const;
  void WriteColumn(int column, const Vector& v, RowSelection selection, char* const* rows, Arena& arena) const;

  void WriteNumeric(int column, const Vector& v, RowSelection selection, char* const* rows, Arena& arena) const;

  std::vector<Column> columns_;
  std::vector<int> pointer_columns_;  // those whose slots may point elsewhere
  uint32_t row_bytes_ = 0;
};

}  // namespace penumbra
