#include "row/row_layout.h"

#include <algorithm>
#include <type_traits>

#include "numeric/numeric_rows.h"

namespace penumbra {

RowLayout::RowLayout(const std::vector<PenumbraType>& types) {
  columns_.resize(types.size());
  uint32_t at = (static_cast<uint32_t>(types.size()) + 7) / 8;
  for (size_t i = 0; i < types.size(); ++i) {
    columns_[i].type = types[i];
    columns_[i].offset = at;
    columns_[i].width = FlatWidth(types[i], NumericForm::kInt64);
    if (IsStringForm(types[i], NumericForm::kPayload)) pointer_columns_.push_back(static_cast<int>(i));
    at += columns_[i].width;
  }
  row_bytes_ = (at + 7) / 8 * 8;
}

namespace {

template <int kWidth>
void WriteFixed(const Vector& v, RowSelection selection, uint32_t offset, char* const* rows) {
  const char* values = static_cast<const char*>(v.data);
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint32_t row = selection.rows == nullptr ? i : selection.rows[i];
    std::memcpy(rows[i] + offset, values + size_t{row} * kWidth, kWidth);
  }
}

}  // namespace

// Integers of the column's scale are copied like values of any type.
void RowLayout::WriteNumeric(int column, const Vector& v, RowSelection selection, char* const* rows,
                             Arena& arena) const {
  const Column& to = columns_[column];
  const bool has_scale = v.numeric_form == NumericForm::kInt64 && to.scale.IsOrBecomes(v.scale);
  if (has_scale && FitsSlot(v.lower) && FitsSlot(v.upper)) return WriteFixed<8>(v, selection, to.offset, rows);
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint32_t row = selection.rows == nullptr ? i : selection.rows[i];
    if (!v.IsValid(row)) continue;
    char* slot = rows[i] + to.offset;
    if (has_scale && FitsSlot(v.values<int64_t>()[row])) {
      std::memcpy(slot, &v.values<int64_t>()[row], 8);
    } else {
      OwnNumeric(slot, NumericOf(v, row), arena);
    }
  }
}

void RowLayout::WriteColumn(int column, const Vector& v, RowSelection selection, char* const* rows,
                            Arena& arena) const {
  const Column& to = columns_[column];
  const bool is_numeric = to.type == PENUMBRA_NUMERIC;
  switch (is_numeric ? 0 : to.width) {
    case 0: WriteNumeric(column, v, selection, rows, arena); break;
    case 1: WriteFixed<1>(v, selection, to.offset, rows); break;
    case 2: WriteFixed<2>(v, selection, to.offset, rows); break;
    case 4: WriteFixed<4>(v, selection, to.offset, rows); break;
    case 8: WriteFixed<8>(v, selection, to.offset, rows); break;
    default: WriteFixed<16>(v, selection, to.offset, rows); break;
  }
  const bool has_strings = !is_numeric && IsStringForm(v);
  if (!has_strings && v.validity == nullptr) return;
  for (uint32_t i = 0; i < selection.count; ++i) {
    char* slot = rows[i] + to.offset;
    // What the vector has there is anything: ForEachPointer() must find no pointer in it.
    if (!v.IsValid(selection.rows == nullptr ? i : selection.rows[i])) {
      to.has_nulls.Set();
      rows[i][column / 8] |= static_cast<char>(1 << (column % 8));
      std::memset(slot, 0, to.width);
      continue;
    }
    if (has_strings) OwnString(slot, arena);
  }
}

void RowLayout::Write(const Vector* columns, RowSelection selection, char* const* rows, Arena& arena) const {
  for (int c = 0; c < column_count(); ++c) WriteColumn(c, columns[c], selection, rows, arena);
}

void RowLayout::WriteNulls(char* row) const {
  std::fill_n(row, (columns_.size() + 7) / 8, static_cast<char>(0xff));
  for (const Column& column : columns_) column.has_nulls.Set();
}

// Null slots are zero: an empty string, or an integer.
template <typename Row, typename OnString, typename OnNumber>
void RowLayout::ForEachPointer(Row* row, const OnString& on_string, const OnNumber& on_number) const {
  for (int column : pointer_columns_) {
    Row* slot = row + columns_[column].offset;
    if (columns_[column].type != PENUMBRA_NUMERIC) {
      on_string(slot);
    } else if (IsElsewhere(SlotAt(slot))) {
      on_number(slot);
    }
  }
}

size_t RowLayout::StringBytes(const char* row) const {
  size_t bytes = 0;
  ForEachPointer(
      row,
      [&](const char* slot) {
        const StringRef ref = StringAt(slot);
        if (!ref.is_inline()) bytes += ref.length;
      },
      [&](const char* slot) { bytes += PayloadBytes(slot); });
  return bytes;
}

char* RowLayout::Copy(const char* row, Arena& arena) const {
  char* copy = static_cast<char*>(arena.Allocate(row_bytes_));
  std::memcpy(copy, row, row_bytes_);
  ForEachPointer(copy, [&](char* slot) { OwnString(slot, arena); }, [&](char* slot) { CopyNumeric(slot, arena); });
  return copy;
}

void RowLayout::SaveStrings(const char* row, std::vector<char>* bytes) const {
  ForEachPointer(
      row, [&](const char* slot) { SaveString(slot, bytes); }, [&](const char* slot) { SaveNumeric(slot, bytes); });
}

const char* RowLayout::LoadStrings(char* row, const char* bytes, Arena* arena) const {
  ForEachPointer(
      row, [&](char* slot) { bytes = LoadString(slot, bytes, arena); },
      [&](char* slot) { bytes = LoadNumeric(slot, bytes, arena); });
  return bytes;
}

// If all slots hold integers of one scale, they make a vector at once. A slot whose number lies elsewhere exceeds every
// integer in a slot, so the greatest slot tells.
Vector RowLayout::ReadNumeric(int column, const char* const* rows, uint32_t count, Arena& arena, bool has_nulls) const {
  const Column& from = columns_[column];
  auto* values = arena.AllocateArray<int64_t>(count);
  ResultVector out;
  out.vector.type = PENUMBRA_NUMERIC;
  out.vector.data = values;
  int64_t lower = INT64_MAX, upper = INT64_MIN;
  for (uint32_t i = 0; i < count; ++i) {
    values[i] = SlotAt(rows[i] + from.offset);
    lower = std::min(lower, values[i]);
    upper = std::max(upper, values[i]);
  }
  if (count > 0 && !IsElsewhere(upper) && from.scale.Get() >= 0) {
    for (uint32_t i = 0; i < count && has_nulls; ++i) {
      if (IsNull(rows[i], column)) out.SetNull(i, arena);
    }
    out.vector.scale = static_cast<int16_t>(from.scale.Get());
    out.vector.lower = lower;
    out.vector.upper = upper;
    return out.vector;
  }
  NumericWriter result(count, arena);
  for (uint32_t i = 0; i < count; ++i) {
    if (IsNull(rows[i], column)) continue;
    const RowNumeric value = GetNumeric(rows[i], column);
    int128 integer;
    if (value.ToInteger(&integer)) {
      result.SetInteger(i, integer, value.scale);
    } else {
      result.SetPayload(i, value.payload());
    }
  }
  return result.Finish();
}

Vector RowLayout::Read(int column, const char* const* rows, uint32_t count, Arena& arena, bool has_nulls) const {
  const Column& from = columns_[column];
  has_nulls = has_nulls && from.has_nulls.is_set();
  if (from.type == PENUMBRA_NUMERIC) return ReadNumeric(column, rows, count, arena, has_nulls);
  ResultVector out;
  out.vector.type = from.type;
  char* values = static_cast<char*>(arena.Allocate(size_t{count} * from.width));
  out.vector.data = values;
  auto read = [&](auto width) {
    const uint32_t offset = from.offset;
    for (uint32_t i = 0; i < count; ++i) std::memcpy(values + size_t{i} * width, rows[i] + offset, width);
  };
  switch (from.width) {
    case 1: read(std::integral_constant<uint32_t, 1>()); break;
    case 2: read(std::integral_constant<uint32_t, 2>()); break;
    case 4: read(std::integral_constant<uint32_t, 4>()); break;
    case 8: read(std::integral_constant<uint32_t, 8>()); break;
    default: read(std::integral_constant<uint32_t, 16>());
  }
  for (uint32_t i = 0; i < count && has_nulls; ++i) {
    if (IsNull(rows[i], column)) out.SetNull(i, arena);
  }
  return out.vector;
}

}  // namespace penumbra
