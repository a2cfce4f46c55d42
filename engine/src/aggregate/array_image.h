// PostgreSQL's one-dimensional array, as array_agg makes it, without the varlena header:
//
//   number of dimensions   4   1
//   offset of the data     4   with the header; 0: no element is null
//   type of the elements   4   its OID
//   length, lower bound    4 + 4
//   null bits              a bit per element, set: not null; only if one is null
//   (padding to 8, counted with the header)
//   elements               those that are not null: of fixed width packed; others with a header of 4 bytes, padded to 4
#pragma once

#include <string>
#include <vector>

#include "operator/execution_environment.h"
#include "row/row_layout.h"
#include "sort/sort_input.h"

namespace penumbra {

// A value as results have it, in PostgreSQL's format: of an integer it is made in `room`.
inline StringRef PayloadOf(const RowNumeric& number, char (&room)[kIntegerPayloadBytes]) {
  int128 integer;
  return number.ToInteger(&integer) ? StringRef(room, IntegerToPayload(integer, number.scale, room)) : number.payload();
}

class ArrayImage {
 public:
  static constexpr size_t kVarlenaBytes = 4;

  // Of a result without its header.
  static void CheckSize(size_t bytes) {
    if (bytes > kBytesMax - kVarlenaBytes) {
      throw EngineError(PENUMBRA_VALUE_TOO_LARGE,
                        "Array size exceeds the maximum allowed (" + std::to_string(kBytesMax) + ").");
    }
  }

  ArrayImage(uint32_t element_oid, const RowLayout& layout) : element_oid_(element_oid), layout_(layout) {}

  // Of the first column of the rows.
  StringRef Make(const SortEntry* entries, uint64_t count, const ExecutionEnvironment& environment, Arena& arena) {
    bytes_.clear();
    bool has_nulls = false;
    for (uint64_t i = 0; i < count; ++i) has_nulls |= layout_.IsNull(entries[i].row, 0);
    const size_t bits = has_nulls ? (count + 7) / 8 : 0;
    const size_t data = (kVarlenaBytes + kHeaderBytes + bits + 7) / 8 * 8;
    CheckSize(data + count);
    AppendHeader(static_cast<uint32_t>(count), has_nulls ? static_cast<uint32_t>(data) : 0);
    bytes_.resize(data - kVarlenaBytes);
    for (uint64_t i = 0; i < count; ++i) {
      if (i % kPollElements == 0) environment.CheckCancelled();
      const char* row = entries[i].row;
      if (layout_.IsNull(row, 0)) continue;
      if (has_nulls) bytes_[kHeaderBytes + i / 8] |= static_cast<char>(1 << (i % 8));
      AppendElement(row);
      CheckSize(bytes_.size());
    }
    return StringRef(arena.CopyBytes(bytes_.data(), bytes_.size()), static_cast<uint32_t>(bytes_.size()));
  }

 private:
  static constexpr size_t kHeaderBytes = 20;
  static constexpr size_t kBytesMax = (size_t{1} << 30) - 1;
  static constexpr uint64_t kPollElements = 1 << 16;

  template <typename T>
  void Append(const T& value) {
    const char* from = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(T));
  }
  void AppendHeader(uint32_t count, uint32_t data_offset) {
    for (uint32_t word : {uint32_t{1}, data_offset, element_oid_, count, uint32_t{1}}) Append(word);
  }
  void AppendPayload(const StringRef& payload) {
    Append(static_cast<uint32_t>((payload.length + kVarlenaBytes) << 2));
    bytes_.insert(bytes_.end(), payload.data(), payload.data() + payload.length);
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  void AppendElement(const char* row) {
    const PenumbraType type = layout_.type(0);
    char room[kIntegerPayloadBytes];
    if (type == PENUMBRA_NUMERIC) return AppendPayload(PayloadOf(layout_.GetNumeric(row, 0), room));
    if (IsStringType(type)) return AppendPayload(layout_.Get<StringRef>(row, 0));
    switch (FlatWidth(type, NumericForm::kInt64)) {
      case 1: return Append(layout_.Get<uint8_t>(row, 0));
      case 2: return Append(layout_.Get<uint16_t>(row, 0));
      case 4: return Append(layout_.Get<uint32_t>(row, 0));
      case 8: return Append(layout_.Get<uint64_t>(row, 0));
      default: return Append(layout_.Get<uint128>(row, 0));
    }
  }

  const uint32_t element_oid_;
  const RowLayout& layout_;
  std::vector<char> bytes_;
};

}  // namespace penumbra
