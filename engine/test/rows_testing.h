// Columns of random or given values in the form an adapter hands in.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "numeric/numeric.h"
#include "penumbra/engine.h"
#include "segment/rows.h"

namespace penumbra {

// A column to append: payload types hold their bytes, all others their bits. 16-byte types are
// bytes too.
class TestColumn {
 public:
  explicit TestColumn(PenumbraType type) : type_(type) {}

  void AddNull() { Add(0, {}, true); }
  void AddBits(uint64_t bits) { Add(bits, {}, false); }
  void AddInteger(int64_t value) { AddBits(static_cast<uint64_t>(value)); }
  void AddFloat(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    AddBits(bits);
  }
  void AddDouble(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    AddBits(bits);
  }
  void AddBytes(std::string bytes) { Add(0, std::move(bytes), false); }
  void AddNumeric(const std::string& text) {
    Arena arena;
    AddBytes(std::string(Decimal::FromString(text).ToPayload(arena).view()));
  }

  PenumbraType type() const { return type_; }
  bool is_pointer() const { return type_ == PENUMBRA_NUMERIC || FlatWidth(type_, NumericForm::kPayload) == 16; }
  uint32_t rows() const { return static_cast<uint32_t>(nulls_.size()); }
  bool is_null(uint32_t row) const { return nulls_[row] != 0; }
  uint64_t bits(uint32_t row) const { return bits_[row]; }
  const std::string& bytes(uint32_t row) const { return bytes_[row]; }

  // Appends rows [begin, begin + count) as the only column of `rows`.
  void AppendTo(Rows* rows, uint32_t begin, uint32_t count, bool pass_nulls = true) const {
    std::vector<uint64_t> values(count);
    std::vector<uint32_t> lengths(count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t row = begin + i;
      values[i] = is_pointer() ? reinterpret_cast<uint64_t>(bytes_[row].data()) : bits_[row];
      lengths[i] = static_cast<uint32_t>(bytes_[row].size());
      if (is_null(row)) values[i] = 1;  // never to be read
    }
    PenumbraColumnInput input = {values.data(), lengths.data(), pass_nulls ? nulls_.data() + begin : nullptr};
    rows->Append(&input, count);
  }

 private:
  void Add(uint64_t bits, std::string bytes, bool is_null) {
    bits_.push_back(bits);
    bytes_.push_back(std::move(bytes));
    nulls_.push_back(is_null);
  }

  PenumbraType type_;
  std::vector<uint64_t> bits_;
  std::deque<std::string> bytes_;
  std::vector<uint8_t> nulls_;
};

// Whether row `row` of the vector is row `expected_row` of the column.
inline bool IsRow(const Vector& v, uint32_t row, const TestColumn& column, uint32_t expected_row) {
  if (v.IsValid(row) == column.is_null(expected_row)) return false;
  if (column.is_null(expected_row)) return true;
  const void* data = v.data;
  uint32_t at = row;
  if (v.form == VectorForm::kConstant) at = 0;
  if (v.form == VectorForm::kDictionary) {
    data = v.dictionary->data;
    at = v.Code(row);
    if (at >= v.dictionary_size) return false;
  }
  if (v.type == PENUMBRA_NUMERIC) {
    Arena arena;
    const Decimal decimal = DecimalAt(v, row);
    if (v.numeric_form != NumericForm::kPayload) {
      int128 value;
      if (!decimal.ToScaledInteger(&value) || value < v.lower || value > v.upper) return false;
    }
    return decimal.ToPayload(arena).view() == column.bytes(expected_row);
  }
  const uint32_t width = FlatWidth(v);
  const char* value = static_cast<const char*>(data) + size_t{at} * width;
  if (IsStringType(v.type)) {
    StringRef ref;
    std::memcpy(static_cast<void*>(&ref), value, sizeof(ref));
    // Also that unused inline bytes are zero, which equality of references rests on.
    return ref.view() == column.bytes(expected_row) && ref == StringRef(column.bytes(expected_row));
  }
  if (width == 16) return std::memcmp(value, column.bytes(expected_row).data(), 16) == 0;
  const uint64_t bits = column.bits(expected_row);
  return std::memcmp(value, &bits, width) == 0;
}

}  // namespace penumbra
