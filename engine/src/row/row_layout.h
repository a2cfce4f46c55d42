// The columns of a row side by side, so that putting a row in its place in a result costs one cache miss and not one
// per column:
//
//   null bits    one per column; the slot of a null is zero
//   slots        packed, in the order of the columns: values as in a flat vector, StringRefs, RowNumerics
//   (padding to 8)
#pragma once

#include <vector>

#include "numeric/numeric.h"
#include "row/row_strings.h"
#include "vector/arena.h"
#include "vector/result_vector.h"
#include "vector/vector.h"

namespace penumbra {

// A NUMERIC in a row: values of one column may come in several forms and scales.
struct RowNumeric {
  char value[16];  // int64, int128 or StringRef by form
  int16_t scale;
  NumericForm form;

  bool ToInteger(int128* integer) const;  // false: kPayload
  StringRef payload() const;
  Decimal ToDecimal() const;
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
  // Of a row's strings, but for short ones that it holds itself.
  size_t StringBytes(const char* row) const;
  // A copy of a row that points only into `arena`.
  char* Copy(const char* row, Arena& arena) const;
  // The long strings of a row, as row_strings.h's functions for one.
  void SaveStrings(const char* row, std::vector<char>* bytes) const;
  const char* LoadStrings(char* row, const char* bytes, Arena* arena) const;
  // A column of the rows, flat; strings point to where the rows' do. Without has_nulls none of the rows has one.
  Vector Read(int column, const char* const* rows, uint32_t count, Arena& arena, bool has_nulls = true) const;

  bool IsNull(const char* row, int column) const { return (row[column / 8] >> (column % 8)) & 1; }
  template <typename T>
  T Get(const char* row, int column) const {
    T value;
    std::memcpy(static_cast<void*>(&value), row + columns_[column].offset, sizeof(T));
    return value;
  }

 private:
  struct Column {
    PenumbraType type;
    uint32_t offset;
    uint32_t width;
  };
  // Calls visit(slot) for each slot that holds a StringRef.
  template <typename Row, typename Visit>
  void ForEachString(Row* row, const Visit& visit) const;
  Vector ReadNumeric(int column, const char* const* rows, uint32_t count, Arena& arena) const;
  void WriteColumn(int column, const Vector& v, RowSelection selection, char* const* rows, Arena& arena) const;

  std::vector<Column> columns_;
  std::vector<Column> string_columns_;  // those whose slots may hold a StringRef
  uint32_t row_bytes_ = 0;
};

}  // namespace penumbra
