#include "aggregate/hash_aggregation_codes.h"

#include <bit>
#include <cstring>

#include "kernels/kernels.h"

namespace penumbra {
namespace {

constexpr uint32_t kMaxCopiedEntries = 1024;

template <typename T>
bool BoundsOf(const Vector& key, uint32_t rows, int64_t* least, int64_t* greatest) {
  T low, high;
  if (!kernels::FindBounds(key.values<T>(), key.validity, rows, &low, &high)) return false;
  *least = low;
  *greatest = high;
  return true;
}

}  // namespace

bool FindIntegerBounds(const Vector& key, uint32_t rows, int64_t* least, int64_t* greatest) {
  switch (FlatWidth(key)) {
    case 1: return BoundsOf<uint8_t>(key, rows, least, greatest);
    case 2: return BoundsOf<int16_t>(key, rows, least, greatest);
    case 4: return BoundsOf<int32_t>(key, rows, least, greatest);
    default: return BoundsOf<int64_t>(key, rows, least, greatest);
  }
}

namespace {

// codes[i] (+)= stride * code_of(i), with null rows as null_code: whatever those have is added first, and then taken
// away modulo the width of a code.
template <bool kIsFirst, typename Code, typename CodeOf>
void AddCodesOf(const Vector& key, uint32_t rows, uint32_t stride, uint32_t null_code, CodeOf&& code_of, Code* codes) {
  for (uint32_t i = 0; i < rows; ++i) {
    const Code term = static_cast<Code>(code_of(i) * stride);
    codes[i] = kIsFirst ? term : static_cast<Code>(codes[i] + term);
  }
  if (key.validity == nullptr) return;
  const Code null_term = static_cast<Code>(null_code * stride);
  for (uint32_t begin = 0; begin < rows; begin += 64) {
    uint64_t nulls = ~key.validity[begin / 64];
    if (rows - begin < 64) nulls &= (uint64_t{1} << (rows - begin)) - 1;
    for (; nulls != 0; nulls &= nulls - 1) {
      const uint32_t i = begin + static_cast<uint32_t>(std::countr_zero(nulls));
      codes[i] = static_cast<Code>(codes[i] + null_term - code_of(i) * stride);
    }
  }
}

template <bool kIsFirst, typename T, typename Code>
void AddDictionaryCodes(const Vector& key, uint32_t rows, uint32_t stride, uint32_t null_code, Code* codes) {
  const T* values = key.values<T>();
  AddCodesOf<kIsFirst>(key, rows, stride, null_code, [=](uint32_t i) { return uint32_t{values[i]}; }, codes);
}

template <bool kIsFirst, typename T, typename Code>
void AddRangeCodes(const Vector& key, int64_t base, uint32_t rows, uint32_t stride, uint32_t null_code, Code* codes) {
  const T* values = key.values<T>();
  const uint32_t low = static_cast<uint32_t>(base);
  AddCodesOf<kIsFirst>(
      key, rows, stride, null_code, [=](uint32_t i) { return static_cast<uint32_t>(values[i]) - low; }, codes);
}

template <bool kIsFirst, typename Code>
void AddColumnCodes(const Vector& key, const KeyDimension& dimension, uint32_t rows, uint32_t stride, Code* codes) {
  const bool is_range = dimension.kind == KeyDimension::Kind::kRange;
  const int64_t base = dimension.base;
  const uint32_t null_code = dimension.values;
  const uint32_t width = is_range ? FlatWidth(key) : key.code_bytes;
  switch (width * 2 + is_range) {
    case 2: return AddDictionaryCodes<kIsFirst, uint8_t>(key, rows, stride, null_code, codes);
    case 4: return AddDictionaryCodes<kIsFirst, uint16_t>(key, rows, stride, null_code, codes);
    case 8: return AddDictionaryCodes<kIsFirst, uint32_t>(key, rows, stride, null_code, codes);
    case 3: return AddRangeCodes<kIsFirst, uint8_t>(key, base, rows, stride, null_code, codes);
    case 5: return AddRangeCodes<kIsFirst, int16_t>(key, base, rows, stride, null_code, codes);
    case 9: return AddRangeCodes<kIsFirst, int32_t>(key, base, rows, stride, null_code, codes);
    default: return AddRangeCodes<kIsFirst, int64_t>(key, base, rows, stride, null_code, codes);
  }
}

}  // namespace

template <typename Code>
void AddKeyCodes(const Vector& key, uint32_t rows, const KeyDimension& dimension, uint32_t stride, bool is_first,
                 Code* codes) {
  if (key.is_constant()) {
    // A constant that is not null has code 0.
    const Code term = static_cast<Code>(key.data == nullptr ? dimension.values * stride : 0);
    for (uint32_t i = 0; i < rows; ++i) codes[i] = static_cast<Code>(is_first ? term : codes[i] + term);
  } else if (is_first) {
    AddColumnCodes<true>(key, dimension, rows, stride, codes);
  } else {
    AddColumnCodes<false>(key, dimension, rows, stride, codes);
  }
}

template void AddKeyCodes(const Vector&, uint32_t, const KeyDimension&, uint32_t, bool, uint16_t*);
template void AddKeyCodes(const Vector&, uint32_t, const KeyDimension&, uint32_t, bool, uint32_t*);

void KeyDimension::SetRange(const Vector& key, int64_t low, int64_t high) {
  kind = Kind::kRange;
  type = key.type;
  scale = key.scale;
  base = low;
  values = static_cast<uint32_t>(high - low) + 1;
}

bool KeyDimension::EntriesEqual(const Vector& from, uint32_t count) const {
  if (kind != Kind::kEntries || !has_copy || values != count || type != from.type ||
      numeric_form != from.numeric_form || scale != from.scale) {
    return false;
  }
  if (count == 0) return true;
  if (!IsStringForm(from)) return std::memcmp(entries.data(), from.data, entries.size()) == 0;
  const StringRef* strings = from.values<StringRef>();
  const char* long_string = long_strings.data();
  for (uint32_t i = 0; i < count; ++i) {
    // Length and prefix, or all of an inline string.
    const size_t fixed = strings[i].is_inline() ? 16 : 8;
    if (std::memcmp(entries.data() + 16 * i, &strings[i], fixed) != 0) return false;
    if (fixed == 16) continue;
    if (std::memcmp(long_string, strings[i].pointer, strings[i].length) != 0) return false;
    long_string += strings[i].length;
  }
  return true;
}

void KeyDimension::CopyEntries(const Vector& from, uint32_t count) {
  const char* bytes = static_cast<const char*>(from.data);
  entries.assign(bytes, bytes + size_t{count} * (count == 0 ? 0 : FlatWidth(from)));
  long_strings.clear();
  if (!IsStringForm(from)) return;
  for (uint32_t i = 0; i < count; ++i) {
    const StringRef& value = from.values<StringRef>()[i];
    if (value.is_inline()) continue;
    long_strings.insert(long_strings.end(), value.pointer, value.pointer + value.length);
  }
}

// Few entries are copied and compared: another dictionary with equal entries changes nothing. Many entries are equal
// only if the dictionary's id is.
bool KeyDimension::UpdateEntries(const Vector& key, bool* changed) {
  const bool is_dictionary = key.form == VectorForm::kDictionary;
  const uint64_t id = is_dictionary ? key.dictionary_id : 0;
  if (id != 0 && kind == Kind::kEntries && id == dictionary_id && type == key.type) return true;
  const Vector& from = is_dictionary ? *key.dictionary : key;
  const uint32_t count = is_dictionary ? key.dictionary_size : key.data == nullptr ? 0 : 1;
  const bool is_copied = count <= kMaxCopiedEntries;
  if (!is_copied && id == 0) return false;
  if (!is_copied || !EntriesEqual(from, count)) {
    *changed = true;
    kind = Kind::kEntries;
    type = from.type;
    numeric_form = from.numeric_form;
    scale = from.scale;
    values = count;
    has_copy = is_copied;
    if (is_copied) CopyEntries(from, count);
  }
  dictionary_id = id;
  return true;
}

}  // namespace penumbra
