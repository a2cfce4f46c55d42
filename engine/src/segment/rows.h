// Uncompressed rows, column by column: the source of segments and of heap rows in a query.
#pragma once

#include <vector>

#include "penumbra/engine.h"
#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

// One growing column. Fixed-width values are appended to `fixed`; strings, and numerics in
// PostgreSQL's format, to `bytes` with `ends`. A NUMERIC column holds int64 values of one scale
// while all of its values allow it (numeric_form kInt64), and is converted once to kPayload when
// one does not.
struct RowsColumn {
  PenumbraType type;
  NumericForm numeric_form = NumericForm::kInt64;
  int16_t scale = -1;              // kInt64: of all values so far; -1 before the first
  std::vector<uint8_t> fixed;      // rows * FlatWidth, for fixed-width forms; zero in null rows
  std::vector<char> bytes;         // kPaddingBytes and more after the last row's
  std::vector<uint32_t> ends;      // end offset in bytes of each row; a null row is empty
  std::vector<uint64_t> validity;  // empty while there is no null; zero past the last row
  uint32_t null_count = 0;

  // So that reading a short string as two words stays inside.
  static constexpr size_t kPaddingBytes = 16;

  bool is_variable() const { return IsStringForm(type, numeric_form); }
  bool IsValid(uint32_t row) const { return validity.empty() || ((validity[row / 64] >> (row % 64)) & 1) != 0; }
  std::string_view View(uint32_t row) const {
    uint32_t begin = row == 0 ? 0 : ends[row - 1];
    return {bytes.data() + begin, ends[row] - begin};
  }
  size_t variable_bytes() const { return ends.empty() ? 0 : ends.back(); }
};

class Rows {
 public:
  Rows() = default;
  Rows(const PenumbraType* types, int column_count);
  // After an error the rows are of no use but to be cleared.
  void Append(const PenumbraColumnInput* columns, uint32_t row_count);
  // Rows [begin, end) of segments, one for each column, of its type.
  void AppendSegments(const void* const* segments, uint32_t begin, uint32_t end);
  void Clear();
  // With no more memory than the rows need.
  Rows Copy() const;
  uint32_t row_count() const { return row_count_; }
  size_t byte_count() const;
  int column_count() const { return static_cast<int>(columns_.size()); }
  const RowsColumn& column(int i) const { return columns_[i]; }
  // Rows [begin, begin + count), count <= kVectorRows, begin a multiple of 64.
  Vector Slice(int column, uint32_t begin, uint32_t count, Arena& arena) const;

 private:
  std::vector<RowsColumn> columns_;
  uint32_t row_count_ = 0;
};

}  // namespace penumbra

struct PenumbraRows : penumbra::Rows {
  using penumbra::Rows::Rows;
};
