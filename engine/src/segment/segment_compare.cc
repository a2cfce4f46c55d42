// Proving a segment equal to rows read anew.
#include <algorithm>

#include "numeric/numeric.h"
#include "segment/rows.h"
#include "segment/segment.h"

namespace penumbra {
namespace {

bool AreNumericsEqual(const Vector& a, const Vector& b, uint32_t row) {
  if (a.numeric_form == b.numeric_form && a.scale == b.scale) {
    switch (a.numeric_form) {
      case NumericForm::kInt64: return a.values<int64_t>()[row] == b.values<int64_t>()[row];
      case NumericForm::kInt128: return a.values<int128>()[row] == b.values<int128>()[row];
      default:
        if (a.values<StringRef>()[row] == b.values<StringRef>()[row]) return true;
    }
  }
  // The same number can be packed in two ways by different versions of PostgreSQL.
  const Decimal x = DecimalAt(a, row);
  const Decimal y = DecimalAt(b, row);
  return x.kind() == y.kind() && x.scale() == y.scale() && Decimal::Compare(x, y) == 0;
}

bool AreRowsEqual(const Vector& a, const Vector& b, uint32_t row) {
  if (a.IsValid(row) != b.IsValid(row)) return false;
  if (!a.IsValid(row)) return true;
  if (a.type == PENUMBRA_NUMERIC) return AreNumericsEqual(a, b, row);
  if (IsStringType(a.type)) return a.values<StringRef>()[row] == b.values<StringRef>()[row];
  const uint32_t width = FlatWidth(a);
  return std::memcmp(a.values<char>() + size_t{row} * width, b.values<char>() + size_t{row} * width, width) == 0;
}

}  // namespace

// Returns -1 if the rows are equal, else the first row that differs. A segment of another type differs in row 0, one
// that is too short in the row after its last.
int64_t CompareSegment(const void* segment, uint32_t segment_begin, const Rows& rows, int column) {
  const SegmentReader reader(segment);
  if (reader.type() != rows.column(column).type) return 0;
  Arena arena;
  for (uint32_t begin = 0; begin < rows.row_count(); begin += kVectorRows) {
    const uint32_t wanted = std::min(kVectorRows, rows.row_count() - begin);
    const uint64_t left = reader.rows() - std::min<uint64_t>(reader.rows(), uint64_t{segment_begin} + begin);
    const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(wanted, left));
    arena.Reset();
    if (count > 0) {
      const Vector a = Flatten(reader.Decode(segment_begin + begin, count, arena), count, arena);
      const Vector b = rows.Slice(column, begin, count, arena);
      for (uint32_t row = 0; row < count; ++row) {
        if (!AreRowsEqual(a, b, row)) return int64_t{begin} + row;
      }
    }
    if (count < wanted) return int64_t{begin} + count;
  }
  return -1;
}

}  // namespace penumbra
