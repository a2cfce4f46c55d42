#include "numeric/result_column.h"

#include <cstring>

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

void SetPayloads(const Vector& vector, uint32_t rows, PenumbraResultColumn* column) {
  auto** payloads = const_cast<const char**>(column->payloads);
  auto* lengths = const_cast<uint32_t*>(column->payload_lengths);
  ForEachValue<StringRef>(vector, rows, [payloads, lengths](uint32_t i, const StringRef& string) {
    payloads[i] = string.data();
    lengths[i] = string.length;
  });
}

void SetIntegerPayloads(const Vector& vector, uint32_t rows, Arena& arena, PenumbraResultColumn* column) {
  auto** payloads = const_cast<const char**>(column->payloads);
  auto* lengths = const_cast<uint32_t*>(column->payload_lengths);
  const uint8_t* nulls = column->nulls;
  const Vector& values = vector.form == VectorForm::kDictionary ? *vector.dictionary : vector;
  char* bytes = arena.AllocateArray<char>(size_t{rows} * kIntegerPayloadBytes);
  auto pack = [&](uint32_t i, int128 value) {
    // A null row's integer is unspecified and may not be packable.
    if (nulls != nullptr && nulls[i] != 0) return;
    payloads[i] = bytes;
    lengths[i] = IntegerToPayload(value, values.scale, bytes);
    bytes += lengths[i];
  };
  if (values.numeric_form == NumericForm::kInt64) {
    ForEachValue<int64_t>(vector, rows, pack);
  } else {
    ForEachValue<int128>(vector, rows, pack);
  }
}

}  // namespace

PenumbraResultColumn MakeResultColumn(const Vector& vector, uint32_t rows, Arena& arena) {
  PenumbraResultColumn column{};
  column.type = vector.type;
  column.nulls = ExpandNulls(vector, rows, arena);
  const bool has_payloads = IsStringForm(vector.type, NumericForm::kPayload);
  if (!has_payloads) {
    if (!vector.is_null_constant()) column.values = Flatten(vector, rows, arena).data;
    return column;
  }
  auto* payloads = arena.AllocateArray<const char*>(rows);
  auto* lengths = arena.AllocateArray<uint32_t>(rows);
  column.payloads = payloads;
  column.payload_lengths = lengths;
  if (column.nulls != nullptr) {
    std::memset(payloads, 0, rows * sizeof(*payloads));
    std::memset(lengths, 0, rows * sizeof(*lengths));
  }
  if (vector.is_null_constant()) return column;
  const Vector& values = vector.form == VectorForm::kDictionary ? *vector.dictionary : vector;
  if (vector.type == PENUMBRA_NUMERIC && values.numeric_form != NumericForm::kPayload) {
    SetIntegerPayloads(vector, rows, arena, &column);
  } else {
    SetPayloads(vector, rows, &column);
  }
  return column;
}

}  // namespace penumbra
