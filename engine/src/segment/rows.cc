#include "segment/rows.h"

#include <algorithm>
#include <cassert>

#include "kernels/kernels.h"
#include "numeric/numeric.h"
#include "segment/segment.h"
#include "vector/string_load.h"

namespace penumbra {
namespace {

// The strings of a chunk's pages take less in all columns together, unless they were toasted.
constexpr size_t kKeepBytes = size_t{16} << 20;
constexpr size_t kVariableBytesMax = UINT32_MAX - RowsColumn::kPaddingBytes;

bool IsNull(const PenumbraColumnInput& input, uint32_t row) { return input.nulls != nullptr && input.nulls[row] != 0; }

// Grows by doubling: one fill with zeros per doubling, not per append.
template <typename T>
void GrowTo(std::vector<T>* v, size_t size) {
  if (v->capacity() < size) v->reserve(std::max(size, 2 * v->capacity()));
  v->resize(size);
}

void AppendValidity(const PenumbraColumnInput& input, uint32_t rows_before, uint32_t row_count, RowsColumn* column) {
  uint32_t nulls = 0;
  if (input.nulls != nullptr) {
    for (uint32_t i = 0; i < row_count; ++i) nulls += input.nulls[i] != 0;
  }
  if (nulls == 0 && column->validity.empty()) return;
  if (column->validity.empty()) {
    column->validity.resize(kernels::BitmapWords(rows_before));
    kernels::SetBits(column->validity.data(), rows_before);
  }
  GrowTo(&column->validity, kernels::BitmapWords(size_t{rows_before} + row_count));
  uint64_t* validity = column->validity.data();
  for (uint32_t i = 0; i < row_count; ++i) {
    const uint32_t row = rows_before + i;
    validity[row / 64] |= static_cast<uint64_t>(!IsNull(input, i)) << (row % 64);
  }
  column->null_count += nulls;
}

template <typename T>
void AppendFixed(const PenumbraColumnInput& input, uint32_t row_count, RowsColumn* column) {
  const size_t before = column->fixed.size();
  GrowTo(&column->fixed, before + row_count * sizeof(T));
  T* out = reinterpret_cast<T*>(column->fixed.data() + before);
  if (input.nulls == nullptr) {
    for (uint32_t i = 0; i < row_count; ++i) out[i] = static_cast<T>(input.values[i]);
  } else {
    for (uint32_t i = 0; i < row_count; ++i) out[i] = input.nulls[i] != 0 ? T{0} : static_cast<T>(input.values[i]);
  }
}

void AppendWide(const PenumbraColumnInput& input, uint32_t row_count, RowsColumn* column) {
  const size_t before = column->fixed.size();
  GrowTo(&column->fixed, before + size_t{row_count} * 16);
  uint8_t* out = column->fixed.data() + before;
  for (uint32_t i = 0; i < row_count; ++i) {
    if (!IsNull(input, i)) std::memcpy(out + size_t{i} * 16, reinterpret_cast<const void*>(input.values[i]), 16);
  }
}

// Room for `more` bytes and the padding; returns where they go.
char* ReserveBytes(RowsColumn* column, size_t more) {
  const size_t used = column->variable_bytes();
  if (used + more > kVariableBytesMax)
    throw EngineError(PENUMBRA_UNSUPPORTED, "more than 4 GB in one column of a chunk");
  const size_t wanted = used + more + RowsColumn::kPaddingBytes;
  // What is past the last row is padding.
  if (column->bytes.size() < wanted) GrowTo(&column->bytes, wanted);
  return column->bytes.data() + used;
}

void AppendVariable(const PenumbraColumnInput& input, uint32_t row_count, RowsColumn* column) {
  size_t total = 0;
  for (uint32_t i = 0; i < row_count; ++i) total += IsNull(input, i) ? 0 : input.lengths[i];
  const size_t rows_before = column->ends.size();
  uint32_t end = static_cast<uint32_t>(column->variable_bytes());
  char* out = ReserveBytes(column, total);
  GrowTo(&column->ends, rows_before + row_count);
  uint32_t* ends = column->ends.data() + rows_before;
  for (uint32_t i = 0; i < row_count; ++i) {
    if (!IsNull(input, i)) {
      std::memcpy(out, reinterpret_cast<const void*>(input.values[i]), input.lengths[i]);
      out += input.lengths[i];
      end += input.lengths[i];
    }
    ends[i] = end;
  }
}

// The first `rows` rows of a kInt64 column become payloads.
void ConvertToPayload(uint32_t rows, RowsColumn* column) {
  const int64_t* values = reinterpret_cast<const int64_t*>(column->fixed.data());
  column->ends.resize(rows);
  size_t end = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    if (column->bytes.size() < end + kIntegerPayloadBytes + RowsColumn::kPaddingBytes) {
      column->bytes.resize(2 * column->bytes.size() + 256);
    }
    if (column->IsValid(row)) {
      end += IntegerToPayload(values[row], column->scale, column->bytes.data() + end);
      if (end > kVariableBytesMax) throw EngineError(PENUMBRA_UNSUPPORTED, "more than 4 GB in one column of a chunk");
    }
    column->ends[row] = static_cast<uint32_t>(end);
  }
  column->fixed.clear();
  column->numeric_form = NumericForm::kPayload;
  column->scale = -1;
}

// True when all rows were appended as int64; false leaves the column as it was.
bool AppendNumericAsInt64(const PenumbraColumnInput& input, uint32_t row_count, RowsColumn* column) {
  const size_t before = column->fixed.size();
  GrowTo(&column->fixed, before + row_count * sizeof(int64_t));
  int64_t* out = reinterpret_cast<int64_t*>(column->fixed.data() + before);
  int16_t scale = column->scale;
  for (uint32_t i = 0; i < row_count; ++i) {
    if (IsNull(input, i)) continue;
    int value_scale;
    const char* payload = reinterpret_cast<const char*>(input.values[i]);
    const bool fits = PayloadToInt64(payload, input.lengths[i], &out[i], &value_scale);
    if (!fits || (scale >= 0 && value_scale != scale)) {
      column->fixed.resize(before);
      return false;
    }
    scale = static_cast<int16_t>(value_scale);
  }
  column->scale = scale;
  return true;
}

void AppendNumeric(const PenumbraColumnInput& input, uint32_t rows_before, uint32_t row_count, RowsColumn* column) {
  if (column->numeric_form == NumericForm::kInt64) {
    if (AppendNumericAsInt64(input, row_count, column)) return;
    ConvertToPayload(rows_before, column);
  }
  AppendVariable(input, row_count, column);
}

// Validity exists from the first null on; then it is filled up for the rows before.
void AppendColumn(const PenumbraColumnInput& input, uint32_t rows_before, uint32_t row_count, RowsColumn* column) {
  switch (column->type) {
    case PENUMBRA_BOOL: AppendFixed<uint8_t>(input, row_count, column); break;
    case PENUMBRA_INT2: AppendFixed<uint16_t>(input, row_count, column); break;
    case PENUMBRA_INT4:
    case PENUMBRA_DATE:
    case PENUMBRA_FLOAT4: AppendFixed<uint32_t>(input, row_count, column); break;
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ:
    case PENUMBRA_FLOAT8: AppendFixed<uint64_t>(input, row_count, column); break;
    case PENUMBRA_UUID:
    case PENUMBRA_INTERVAL: AppendWide(input, row_count, column); break;
    case PENUMBRA_NUMERIC: AppendNumeric(input, rows_before, row_count, column); break;
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR: AppendVariable(input, row_count, column); break;
    default: throw EngineError(PENUMBRA_UNSUPPORTED, "unknown column type");
  }
  AppendValidity(input, rows_before, row_count, column);
}

template <typename T>
void ReadFixed(const Vector& v, uint32_t rows, uint64_t* out) {
  for (uint32_t row = 0; row < rows; ++row) out[row] = v.values<T>()[row];
}

void ReadWide(const Vector& v, uint32_t rows, uint64_t* out) {
  for (uint32_t row = 0; row < rows; ++row) out[row] = reinterpret_cast<uint64_t>(v.values<char>() + size_t{row} * 16);
}

void ReadStrings(const Vector& v, uint32_t rows, uint64_t* out, uint32_t* lengths) {
  for (uint32_t row = 0; row < rows; ++row) {
    const StringRef& value = v.values<StringRef>()[row];
    out[row] = reinterpret_cast<uint64_t>(value.data());
    lengths[row] = value.length;
  }
}

template <typename T>
void ReadIntegersAsNumeric(const Vector& v, uint32_t rows, Arena& arena, uint64_t* out, uint32_t* lengths) {
  char* payload = arena.AllocateArray<char>(size_t{rows} * kIntegerPayloadBytes);
  for (uint32_t row = 0; row < rows; ++row, payload += kIntegerPayloadBytes) {
    if (!v.IsValid(row)) continue;
    out[row] = reinterpret_cast<uint64_t>(payload);
    lengths[row] = IntegerToPayload(v.values<T>()[row], v.scale, payload);
  }
}

// The rows of a flat vector as an adapter would give them.
PenumbraColumnInput ReadVector(const Vector& v, uint32_t rows, Arena& arena) {
  uint64_t* values = arena.AllocateArray<uint64_t>(rows);
  uint32_t* lengths = arena.AllocateArray<uint32_t>(rows);
  uint8_t* nulls = v.validity == nullptr ? nullptr : arena.AllocateArray<uint8_t>(rows);
  for (uint32_t row = 0; nulls != nullptr && row < rows; ++row) nulls[row] = !v.IsValid(row);
  if (IsStringForm(v.type, v.numeric_form)) {
    ReadStrings(v, rows, values, lengths);
  } else if (v.type == PENUMBRA_NUMERIC && v.numeric_form == NumericForm::kInt64) {
    ReadIntegersAsNumeric<int64_t>(v, rows, arena, values, lengths);
  } else if (v.type == PENUMBRA_NUMERIC) {
    ReadIntegersAsNumeric<int128>(v, rows, arena, values, lengths);
  } else {
    switch (FlatWidth(v)) {
      case 1: ReadFixed<uint8_t>(v, rows, values); break;
      case 2: ReadFixed<uint16_t>(v, rows, values); break;
      case 4: ReadFixed<uint32_t>(v, rows, values); break;
      case 8: ReadFixed<uint64_t>(v, rows, values); break;
      default: ReadWide(v, rows, values); break;
    }
  }
  return {values, lengths, nulls};
}

}  // namespace

Rows::Rows(const PenumbraType* types, int column_count) {
  columns_.resize(static_cast<size_t>(column_count));
  for (int i = 0; i < column_count; ++i) columns_[i].type = types[i];
}

void Rows::Append(const PenumbraColumnInput* columns, uint32_t row_count) {
  if (row_count > UINT32_MAX - row_count_) throw EngineError(PENUMBRA_UNSUPPORTED, "more than 2^32 rows");
  for (size_t c = 0; c < columns_.size(); ++c) {
    AppendColumn(columns[c], row_count_, row_count, &columns_[c]);
  }
  row_count_ += row_count;
}

void Rows::AppendSegments(const void* const* segments, uint32_t begin, uint32_t end) {
  Arena arena;
  std::vector<PenumbraColumnInput> inputs(columns_.size());
  for (; begin < end; begin += kVectorRows) {
    const uint32_t count = std::min(kVectorRows, end - begin);
    arena.Reset();
    for (size_t c = 0; c < columns_.size(); ++c) {
      const SegmentReader reader(segments[c]);
      if (reader.type() != columns_[c].type || reader.rows() < begin + count)
        throw EngineError(PENUMBRA_INTERNAL, "a segment is not of the rows' column");
      inputs[c] = ReadVector(Flatten(reader.Decode(begin, count, arena), count, arena), count, arena);
    }
    Append(inputs.data(), count);
  }
}

void Rows::Clear() {
  size_t kept_bytes = 0;
  for (RowsColumn& column : columns_) {
    column.numeric_form = NumericForm::kInt64;
    column.scale = -1;
    column.fixed.clear();
    column.ends.clear();  // `bytes` stays: all of it is padding now
    if (kept_bytes + column.bytes.capacity() > kKeepBytes) column.bytes = std::vector<char>();
    kept_bytes += column.bytes.capacity();
    column.validity.clear();
    column.null_count = 0;
  }
  row_count_ = 0;
}

Rows Rows::Copy() const {
  Rows copy;
  copy.row_count_ = row_count_;
  for (const RowsColumn& column : columns_) {
    RowsColumn& added = copy.columns_.emplace_back();
    added.type = column.type;
    added.numeric_form = column.numeric_form;
    added.scale = column.scale;
    added.fixed = column.fixed;
    added.ends = column.ends;
    added.validity = column.validity;
    added.null_count = column.null_count;
    if (column.ends.empty()) continue;
    added.bytes.assign(column.bytes.begin(),
                       column.bytes.begin() + column.variable_bytes() + RowsColumn::kPaddingBytes);
  }
  return copy;
}

size_t Rows::byte_count() const {
  size_t bytes = 0;
  for (const RowsColumn& column : columns_) {
    bytes += column.fixed.size() + column.variable_bytes() + column.ends.size() * sizeof(uint32_t) +
             column.validity.size() * sizeof(uint64_t);
  }
  return bytes;
}

// Strings and numerics as payloads get a reference each; other values stay where they are. Bounds of a numeric are
// computed for the slice, so they are tight.
Vector Rows::Slice(int c, uint32_t begin, uint32_t count, Arena& arena) const {
  const RowsColumn& column = columns_[c];
  Vector v;
  assert(begin % 64 == 0);  // validity is given in whole words
  v.type = column.type;
  if (!column.validity.empty()) {
    const uint64_t* validity = column.validity.data() + begin / 64;
    v.validity = kernels::CountBits(validity, count) == count ? nullptr : validity;
  }
  if (column.is_variable()) {
    v.numeric_form = column.numeric_form;
    StringRef* refs = arena.AllocateArray<StringRef>(count);
    uint32_t from = begin == 0 ? 0 : column.ends[begin - 1];
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t to = column.ends[begin + i];
      refs[i] = LoadStringRef(column.bytes.data() + from, to - from);
      from = to;
    }
    v.data = refs;
    return v;
  }
  v.data = column.fixed.data() + size_t{begin} * FlatWidth(v);
  if (column.type == PENUMBRA_NUMERIC) {
    v.scale = std::max<int16_t>(column.scale, 0);
    int64_t least = 0, greatest = 0;
    kernels::FindBounds(v.values<int64_t>(), v.validity, count, &least, &greatest);
    v.lower = least;
    v.upper = greatest;
  }
  return v;
}

}  // namespace penumbra
