#include "row/row_layout.h"

#include <algorithm>
#include <type_traits>

#include "numeric/numeric_rows.h"

namespace penumbra {

bool RowNumeric::ToInteger(int128* integer) const {
  if (form == NumericForm::kPayload) return false;
  if (form == NumericForm::kInt64) {
    int64_t narrow;
    std::memcpy(&narrow, value, 8);
    *integer = narrow;
  } else {
    std::memcpy(integer, value, 16);
  }
  return true;
}

StringRef RowNumeric::payload() const {
  StringRef ref;
  std::memcpy(static_cast<void*>(&ref), value, 16);
  return ref;
}

Decimal RowNumeric::ToDecimal() const {
  int128 integer;
  return ToInteger(&integer) ? Decimal::FromInteger(integer, scale) : Decimal::FromPayload(payload().view());
}

RowLayout::RowLayout(const std::vector<PenumbraType>& types) {
  columns_.resize(types.size());
  uint32_t at = (static_cast<uint32_t>(types.size()) + 7) / 8;
  for (size_t i = 0; i < types.size(); ++i) {
    const bool is_numeric = types[i] == PENUMBRA_NUMERIC;
    const uint32_t width = is_numeric ? sizeof(RowNumeric) : FlatWidth(types[i], NumericForm::kInt64);
    columns_[i] = {types[i], at, width};
    if (is_numeric || IsStringType(types[i])) string_columns_.push_back(columns_[i]);
    at += width;
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

void RowLayout::WriteColumn(int column, const Vector& v, RowSelection selection, char* const* rows,
                            Arena& arena) const {
  const Column& to = columns_[column];
  const bool is_numeric = to.type == PENUMBRA_NUMERIC;
  switch (is_numeric ? FlatWidth(v) : to.width) {
    case 1: WriteFixed<1>(v, selection, to.offset, rows); break;
    case 2: WriteFixed<2>(v, selection, to.offset, rows); break;
    case 4: WriteFixed<4>(v, selection, to.offset, rows); break;
    case 8: WriteFixed<8>(v, selection, to.offset, rows); break;
    default: WriteFixed<16>(v, selection, to.offset, rows); break;
  }
  const bool has_strings = IsStringForm(v);
  if (!is_numeric && !has_strings && v.validity == nullptr) return;
  for (uint32_t i = 0; i < selection.count; ++i) {
    char* slot = rows[i] + to.offset;
    // What the vector has there is anything: ForEachString() must find no pointer in it.
    if (!v.IsValid(selection.rows == nullptr ? i : selection.rows[i])) {
      rows[i][column / 8] |= static_cast<char>(1 << (column % 8));
      std::memset(slot, 0, to.width);
      continue;
    }
    if (is_numeric) {
      std::memcpy(slot + offsetof(RowNumeric, scale), &v.scale, sizeof(v.scale));
      std::memcpy(slot + offsetof(RowNumeric, form), &v.numeric_form, sizeof(v.numeric_form));
    }
    if (has_strings) OwnString(slot, arena);
  }
}

void RowLayout::Write(const Vector* columns, RowSelection selection, char* const* rows, Arena& arena) const {
  for (int c = 0; c < column_count(); ++c) WriteColumn(c, columns[c], selection, rows, arena);
}

template <typename Row, typename Visit>
void RowLayout::ForEachString(Row* row, const Visit& visit) const {
  for (const Column& column : string_columns_) {
    Row* slot = row + column.offset;
    // Null slots are zero: an empty string, or a numeric of the form kInt64.
    const bool is_numeric = column.type == PENUMBRA_NUMERIC;
    if (is_numeric && slot[offsetof(RowNumeric, form)] != static_cast<char>(NumericForm::kPayload)) continue;
    visit(slot);
  }
}

size_t RowLayout::StringBytes(const char* row) const {
  size_t bytes = 0;
  ForEachString(row, [&](const char* slot) {
    const StringRef ref = StringAt(slot);
    if (!ref.is_inline()) bytes += ref.length;
  });
  return bytes;
}

char* RowLayout::Copy(const char* row, Arena& arena) const {
  char* copy = static_cast<char*>(arena.Allocate(row_bytes_));
  std::memcpy(copy, row, row_bytes_);
  ForEachString(copy, [&](char* slot) { OwnString(slot, arena); });
  return copy;
}

void RowLayout::SaveStrings(const char* row, std::vector<char>* bytes) const {
  ForEachString(row, [&](const char* slot) { SaveString(slot, bytes); });
}

const char* RowLayout::LoadStrings(char* row, const char* bytes, Arena* arena) const {
  ForEachString(row, [&](char* slot) { bytes = LoadString(slot, bytes, arena); });
  return bytes;
}

Vector RowLayout::ReadNumeric(int column, const char* const* rows, uint32_t count, Arena& arena) const {
  // Mostly all are small and of one scale.
  const Column& from = columns_[column];
  auto* values = arena.AllocateArray<int64_t>(count);
  ResultVector out;
  out.vector.type = PENUMBRA_NUMERIC;
  out.vector.data = values;
  int64_t lower = INT64_MAX, upper = INT64_MIN;
  int scale = -1;
  uint32_t i = 0;
  for (; i < count; ++i) {
    values[i] = 0;
    if (IsNull(rows[i], column)) {
      out.SetNull(i, arena);
      continue;
    }
    const char* slot = rows[i] + from.offset;
    RowNumeric value;
    std::memcpy(&value, slot, sizeof(value));
    if (value.form != NumericForm::kInt64 || (scale >= 0 && value.scale != scale)) break;
    scale = value.scale;
    std::memcpy(&values[i], value.value, 8);
    lower = std::min(lower, values[i]);
    upper = std::max(upper, values[i]);
  }
  if (i == count && scale >= 0) {
    out.vector.scale = static_cast<int16_t>(scale);
    out.vector.lower = lower;
    out.vector.upper = upper;
    return out.vector;
  }
  NumericWriter result(count, arena);
  for (i = 0; i < count; ++i) {
    if (IsNull(rows[i], column)) continue;
    RowNumeric value = Get<RowNumeric>(rows[i], column);
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
  if (from.type == PENUMBRA_NUMERIC) return ReadNumeric(column, rows, count, arena);
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
