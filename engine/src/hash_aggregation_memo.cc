#include "hash_aggregation_memo.h"

#include <algorithm>
#include <cstring>

#include "kernels/kernels.h"

namespace penumbra {
namespace {

constexpr uint32_t kMaxDomain = 8192;
constexpr uint32_t kMaxEntries = 1024;

template <typename T>
bool BoundsOf(const Vector& key, uint32_t rows, int64_t* least, int64_t* greatest) {
  T low, high;
  if (!kernels::FindBounds(key.values<T>(), key.validity, rows, &low, &high)) return false;
  *least = low;
  *greatest = high;
  return true;
}

// False when all rows are null.
bool FindBounds(const Vector& key, uint32_t rows, int64_t* least, int64_t* greatest) {
  switch (FlatWidth(key)) {
    case 1:
      return BoundsOf<uint8_t>(key, rows, least, greatest);
    case 2:
      return BoundsOf<int16_t>(key, rows, least, greatest);
    case 4:
      return BoundsOf<int32_t>(key, rows, least, greatest);
    default:
      return BoundsOf<int64_t>(key, rows, least, greatest);
  }
}

// codes[i] (+)= stride * code(i), with null rows as null_code.
template <bool kIsFirst, typename Code>
void AddCodesOf(const Vector& key, uint32_t rows, uint32_t stride, uint32_t null_code, Code&& code,
                uint16_t* codes) {
  const uint64_t* validity = key.validity;
  if (validity == nullptr) {
    for (uint32_t i = 0; i < rows; ++i) {
      uint16_t term = static_cast<uint16_t>(code(i) * stride);
      codes[i] = kIsFirst ? term : static_cast<uint16_t>(codes[i] + term);
    }
    return;
  }
  for (uint32_t i = 0; i < rows; ++i) {
    bool is_valid = (validity[i / 64] >> (i % 64)) & 1;
    uint16_t term =
        static_cast<uint16_t>((is_valid ? static_cast<uint32_t>(code(i)) : null_code) * stride);
    codes[i] = kIsFirst ? term : static_cast<uint16_t>(codes[i] + term);
  }
}

template <bool kIsFirst, typename T>
void AddDictionaryCodes(const Vector& key, uint32_t rows, uint32_t stride, uint32_t null_code,
                        uint16_t* codes) {
  const T* values = key.values<T>();
  AddCodesOf<kIsFirst>(
      key, rows, stride, null_code, [=](uint32_t i) { return uint32_t{values[i]}; }, codes);
}

template <bool kIsFirst, typename T>
void AddRangeCodes(const Vector& key, int64_t base, uint32_t rows, uint32_t stride,
                   uint32_t null_code, uint16_t* codes) {
  const T* values = key.values<T>();
  const uint32_t low = static_cast<uint32_t>(base);
  AddCodesOf<kIsFirst>(
      key, rows, stride, null_code,
      [=](uint32_t i) { return static_cast<uint32_t>(values[i]) - low; }, codes);
}

template <bool kIsFirst>
void AddKeyCodes(const Vector& key, bool is_range, int64_t base, uint32_t rows, uint32_t stride,
                 uint32_t null_code, uint16_t* codes) {
  const uint32_t width = is_range ? FlatWidth(key) : key.code_bytes;
  switch (width * 2 + is_range) {
    case 2:
      return AddDictionaryCodes<kIsFirst, uint8_t>(key, rows, stride, null_code, codes);
    case 4:
      return AddDictionaryCodes<kIsFirst, uint16_t>(key, rows, stride, null_code, codes);
    case 8:
      return AddDictionaryCodes<kIsFirst, uint32_t>(key, rows, stride, null_code, codes);
    case 3:
      return AddRangeCodes<kIsFirst, uint8_t>(key, base, rows, stride, null_code, codes);
    case 5:
      return AddRangeCodes<kIsFirst, int16_t>(key, base, rows, stride, null_code, codes);
    case 9:
      return AddRangeCodes<kIsFirst, int32_t>(key, base, rows, stride, null_code, codes);
    default:
      return AddRangeCodes<kIsFirst, int64_t>(key, base, rows, stride, null_code, codes);
  }
}

bool HasStringEntries(const Vector& v) {
  return IsStringType(v.type) ||
         (v.type == PENUMBRA_NUMERIC && v.numeric_form == NumericForm::kPayload);
}

}  // namespace

bool CodeMemo::EntriesEqual(const Vector& entries, uint32_t count, const Dimension& dimension) {
  if (dimension.kind != Kind::kEntries || dimension.values != count ||
      dimension.type != entries.type || dimension.numeric_form != entries.numeric_form ||
      dimension.scale != entries.scale) {
    return false;
  }
  if (count == 0) return true;
  if (!HasStringEntries(entries)) {
    return std::memcmp(dimension.entries.data(), entries.data, dimension.entries.size()) == 0;
  }
  const StringRef* values = entries.values<StringRef>();
  const char* long_string = dimension.long_strings.data();
  for (uint32_t i = 0; i < count; ++i) {
    // Length and prefix, or all of an inline string.
    const size_t fixed = values[i].is_inline() ? 16 : 8;
    if (std::memcmp(dimension.entries.data() + 16 * i, &values[i], fixed) != 0) return false;
    if (fixed == 16) continue;
    if (std::memcmp(long_string, values[i].pointer, values[i].length) != 0) return false;
    long_string += values[i].length;
  }
  return true;
}

bool CodeMemo::UpdateEntries(const Vector& entries, uint32_t count, Dimension* dimension,
                             bool* changed) {
  if (count > kMaxEntries) return false;
  if (EntriesEqual(entries, count, *dimension)) return true;
  *changed = true;
  dimension->kind = Kind::kEntries;
  dimension->type = entries.type;
  dimension->numeric_form = entries.numeric_form;
  dimension->scale = entries.scale;
  dimension->values = count;
  const char* bytes = static_cast<const char*>(entries.data);
  dimension->entries.assign(bytes, bytes + size_t{count} * (count == 0 ? 0 : FlatWidth(entries)));
  dimension->long_strings.clear();
  if (HasStringEntries(entries)) {
    for (uint32_t i = 0; i < count; ++i) {
      const StringRef& value = entries.values<StringRef>()[i];
      if (value.is_inline()) continue;
      dimension->long_strings.insert(dimension->long_strings.end(), value.pointer,
                                     value.pointer + value.length);
    }
  }
  return true;
}

bool CodeMemo::UpdateRange(const Vector& key, uint32_t rows, Dimension* dimension, bool* changed) {
  int64_t least = 0, greatest = -1;
  if (!FindBounds(key, rows, &least, &greatest)) {
    least = 0;
    greatest = -1;
  }
  const bool is_same_kind = dimension->kind == Kind::kRange && dimension->type == key.type &&
                            dimension->scale == key.scale;
  if (greatest < least) {
    if (is_same_kind) return true;  // only nulls
    greatest = least;
  }
  if (static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least) >= kMaxDomain) return false;
  if (is_same_kind) {
    const int64_t last = dimension->base + (static_cast<int64_t>(dimension->values) - 1);
    if (least >= dimension->base && greatest <= last) return true;
    // The union, while it is not much wider than what the vector needs.
    const int64_t low = std::min(least, dimension->base), high = std::max(greatest, last);
    if (static_cast<uint64_t>(high) - static_cast<uint64_t>(low) < 1024) {
      least = low;
      greatest = high;
    }
  }
  *changed = true;
  dimension->kind = Kind::kRange;
  dimension->type = key.type;
  dimension->scale = key.scale;
  dimension->base = least;
  dimension->values = static_cast<uint32_t>(greatest - least) + 1;
  return true;
}

bool CodeMemo::UpdateDimension(const Vector& key, uint32_t rows, Dimension* dimension,
                               bool* changed) {
  switch (key.form) {
    case VectorForm::kConstant:
      return UpdateEntries(key, key.data == nullptr ? 0 : 1, dimension, changed);
    case VectorForm::kDictionary:
      return UpdateEntries(*key.dictionary, key.dictionary_size, dimension, changed);
    case VectorForm::kFlat:
      return IsIntegerType(key.type, key.numeric_form) && UpdateRange(key, rows, dimension, changed);
  }
  return false;
}

bool CodeMemo::Encode(const Vector* keys, int key_count, uint32_t rows) {
  bool changed = dimensions_.size() != static_cast<size_t>(key_count);
  dimensions_.resize(key_count);
  uint32_t domain = 1;
  bool is_small = true;
  for (int i = 0; i < key_count && is_small; ++i) {
    is_small = UpdateDimension(keys[i], rows, &dimensions_[i], &changed);
    if (is_small) domain *= dimensions_[i].cardinality();
    is_small = is_small && domain <= kMaxDomain;
  }
  if (!is_small) {
    Forget();
    return false;
  }
  if (changed || group_of_code_.size() != domain) {
    group_of_code_.assign(domain, kUnknown);
    groups_.clear();
  }
  uint32_t stride = 1;
  if (key_count == 0) std::fill_n(codes_, rows, uint16_t{0});
  for (int i = 0; i < key_count; ++i) {
    AddCodes(keys[i], rows, dimensions_[i], stride, i == 0);
    stride *= dimensions_[i].cardinality();
  }
  return true;
}

void CodeMemo::AddCodes(const Vector& key, uint32_t rows, const Dimension& dimension,
                        uint32_t stride, bool is_first) {
  if (key.is_constant()) {
    // A constant that is not null has code 0.
    const uint16_t term =
        static_cast<uint16_t>(key.data == nullptr ? dimension.values * stride : 0);
    for (uint32_t i = 0; i < rows; ++i)
      codes_[i] = static_cast<uint16_t>(is_first ? term : codes_[i] + term);
    return;
  }
  const bool is_range = dimension.kind == Kind::kRange;
  if (is_first) {
    AddKeyCodes<true>(key, is_range, dimension.base, rows, stride, dimension.values, codes_);
  } else {
    AddKeyCodes<false>(key, is_range, dimension.base, rows, stride, dimension.values, codes_);
  }
}

const uint16_t* CodeMemo::NumberGroups(uint32_t rows, std::vector<uint16_t>* new_rows) {
  if (group_of_code_.size() == 1 && group_of_code_[0] == 0) {
    std::memset(numbers_, 0, rows * sizeof(*numbers_));
    return numbers_;
  }
  bool has_new = false;
  for (uint32_t i = 0; i < rows; ++i) {
    numbers_[i] = group_of_code_[codes_[i]];
    has_new |= numbers_[i] == kUnknown;
  }
  if (!has_new) return numbers_;
  uint16_t next = static_cast<uint16_t>(groups_.size());
  for (uint32_t i = 0; i < rows; ++i) {
    uint16_t& number = group_of_code_[codes_[i]];
    if (number == kUnknown) {
      number = next++;
      new_rows->push_back(static_cast<uint16_t>(i));
    }
    numbers_[i] = number;
  }
  return numbers_;
}

void CodeMemo::Forget() {
  group_of_code_.clear();
  groups_.clear();
}

void RowsByNumber::Sort(const uint16_t* numbers, uint32_t number_count, const uint16_t* selected,
                        uint32_t count) {
  // Four quarters counted and placed side by side: the chains of increments are independent, and
  // the order within a number stays that of the rows.
  constexpr uint32_t kQuarters = 4;
  uint16_t places[kQuarters][kMaxNumbers] = {};
  const uint32_t quarter = count / kQuarters;
  auto row_at = [&](uint32_t i) {
    return selected == nullptr ? static_cast<uint16_t>(i) : selected[i];
  };
  for (uint32_t i = 0; i < quarter; ++i) {
    for (uint32_t q = 0; q < kQuarters; ++q) ++places[q][numbers[row_at(q * quarter + i)]];
  }
  for (uint32_t i = kQuarters * quarter; i < count; ++i)
    ++places[kQuarters - 1][numbers[row_at(i)]];
  uint32_t at = 0;
  for (uint32_t n = 0; n < number_count; ++n) {
    begins_[n] = at;
    for (uint32_t q = 0; q < kQuarters; ++q) {
      const uint32_t rows = places[q][n];
      places[q][n] = static_cast<uint16_t>(at);
      at += rows;
    }
  }
  begins_[number_count] = at;
  for (uint32_t i = 0; i < quarter; ++i) {
    for (uint32_t q = 0; q < kQuarters; ++q) {
      const uint16_t row = row_at(q * quarter + i);
      rows_[places[q][numbers[row]]++] = row;
    }
  }
  for (uint32_t i = kQuarters * quarter; i < count; ++i) {
    const uint16_t row = row_at(i);
    rows_[places[kQuarters - 1][numbers[row]]++] = row;
  }
}

}  // namespace penumbra
