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

#include <cstring>
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

  // Of a column of the rows.
  ArrayImage(uint32_t element_oid, const RowLayout& layout, int column = 0)
      : element_oid_(element_oid), layout_(layout), column_(column) {}

  void Clear() {
    count_ = 0;
    has_nulls_ = false;
    bits_.clear();
    elements_.clear();
    places_.clear();
  }
  // With places, parts of what was appended can be made arrays, and dropped.
  void KeepPlaces() { keeps_places_ = true; }
  uint64_t count() const { return count_; }
  size_t bytes() const { return bits_.capacity() + elements_.capacity() + places_.capacity() * sizeof(uint64_t); }
  void Append(const char* row) {
    const bool is_null = layout_.IsNull(row, column_);
    if (count_ % 8 == 0) bits_.push_back(0);
    if (keeps_places_) places_.push_back(elements_.size());
    if (is_null) {
      has_nulls_ = true;
    } else {
      bits_.back() |= static_cast<char>(1 << (count_ % 8));
      AppendElement(row);
    }
    ++count_;
    if (!keeps_places_) CheckSize(kVarlenaBytes + kHeaderBytes + bits_.size() + 8 + elements_.size());
  }
  // Of the elements [from, to), of which there is one at least.
  StringRef Make(uint64_t from, uint64_t to, Arena& arena) const {
    bool has_nulls = false;
    if (has_nulls_) {
      for (uint64_t i = from; i < to && !has_nulls; ++i) has_nulls = !IsValid(i);
    }
    const size_t bits = has_nulls ? (to - from + 7) / 8 : 0;
    const size_t begin = places_[from], end = to == count_ ? elements_.size() : places_[to];
    CheckSize(kVarlenaBytes + kHeaderBytes + bits + 8 + (end - begin));
    const size_t data = (kVarlenaBytes + kHeaderBytes + bits + 7) / 8 * 8 - kVarlenaBytes;
    char* image = MakeHead(data, has_nulls, to - from, data + (end - begin), arena);
    for (uint64_t i = from; i < to && has_nulls; ++i) {
      if (IsValid(i)) image[kHeaderBytes + (i - from) / 8] |= static_cast<char>(1 << ((i - from) % 8));
    }
    std::memcpy(image + data, elements_.data() + begin, end - begin);
    return StringRef(image, static_cast<uint32_t>(data + (end - begin)));
  }
  void DropFirst(uint64_t elements) {
    const size_t bytes = elements == count_ ? elements_.size() : places_[elements];
    std::vector<char> bits((count_ - elements + 7) / 8);
    for (uint64_t i = elements; i < count_; ++i) {
      if (IsValid(i)) bits[(i - elements) / 8] |= static_cast<char>(1 << ((i - elements) % 8));
    }
    bits_ = std::move(bits);
    elements_.erase(elements_.begin(), elements_.begin() + static_cast<ptrdiff_t>(bytes));
    places_.erase(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(elements));
    for (uint64_t& place : places_) place -= bytes;
    count_ -= elements;
  }
  // Of what was appended.
  StringRef Make(Arena& arena) const {
    const size_t data = (kVarlenaBytes + kHeaderBytes + (has_nulls_ ? bits_.size() : 0) + 7) / 8 * 8 - kVarlenaBytes;
    const size_t bytes = data + elements_.size();
    char* image = MakeHead(data, has_nulls_, count_, bytes, arena);
    if (has_nulls_) std::memcpy(image + kHeaderBytes, bits_.data(), bits_.size());
    std::memcpy(image + data, elements_.data(), elements_.size());
    return StringRef(image, static_cast<uint32_t>(bytes));
  }
  StringRef Make(const SortEntry* entries, uint64_t count, const ExecutionEnvironment& environment, Arena& arena) {
    Clear();
    for (uint64_t i = 0; i < count; ++i) {
      if (i % kPollElements == 0) environment.CheckCancelled();
      Append(entries[i].row);
    }
    return Make(arena);
  }

 private:
  static constexpr size_t kHeaderBytes = 20;
  static constexpr size_t kBytesMax = (size_t{1} << 30) - 1;
  static constexpr uint64_t kPollElements = 1 << 16;

  bool IsValid(uint64_t i) const { return (bits_[i / 8] >> (i % 8) & 1) != 0; }
  // An array without its null bits and elements, which begin at `data`.
  char* MakeHead(size_t data, bool has_nulls, uint64_t count, size_t bytes, Arena& arena) const {
    char* image = static_cast<char*>(arena.Allocate(bytes));
    const uint32_t header[] = {1, has_nulls ? static_cast<uint32_t>(data + kVarlenaBytes) : 0, element_oid_,
                               static_cast<uint32_t>(count), 1};
    static_assert(sizeof(header) == kHeaderBytes);
    std::memset(image, 0, data);
    std::memcpy(image, header, kHeaderBytes);
    return image;
  }

  template <typename T>
  void AppendValue(const T& value) {
    const char* from = reinterpret_cast<const char*>(&value);
    elements_.insert(elements_.end(), from, from + sizeof(T));
  }
  void AppendPayload(const StringRef& payload) {
    AppendValue(static_cast<uint32_t>((payload.length + kVarlenaBytes) << 2));
    elements_.insert(elements_.end(), payload.data(), payload.data() + payload.length);
    elements_.resize((elements_.size() + 3) / 4 * 4);
  }
  void AppendElement(const char* row) {
    const PenumbraType type = layout_.type(column_);
    char room[kIntegerPayloadBytes];
    if (type == PENUMBRA_NUMERIC) return AppendPayload(PayloadOf(layout_.GetNumeric(row, column_), room));
    if (IsStringType(type)) return AppendPayload(layout_.Get<StringRef>(row, column_));
    switch (FlatWidth(type, NumericForm::kInt64)) {
      case 1: return AppendValue(layout_.Get<uint8_t>(row, column_));
      case 2: return AppendValue(layout_.Get<uint16_t>(row, column_));
      case 4: return AppendValue(layout_.Get<uint32_t>(row, column_));
      case 8: return AppendValue(layout_.Get<uint64_t>(row, column_));
      default: return AppendValue(layout_.Get<uint128>(row, column_));
    }
  }

  const uint32_t element_oid_;
  const RowLayout& layout_;
  const int column_;
  uint64_t count_ = 0;
  bool has_nulls_ = false;
  std::vector<char> bits_;      // by element: it is not null
  std::vector<char> elements_;  // that are not null; they begin at a multiple of 8
  bool keeps_places_ = false;
  std::vector<uint64_t> places_;  // by element: where in elements_ it is, or the next one
};

}  // namespace penumbra
