#include "sort/sort_key.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "function/collation.h"
#include "function/numeric_traits.h"
#include "kernels/kernels.h"
#include "numeric/integer_codes.h"
#include "numeric/numeric_rows.h"
#include "vector/string_memo.h"
#include "vector/value_order.h"

namespace penumbra {
namespace {

constexpr uint32_t kPrefixBytes = 16;
constexpr char kNullFirst = 0, kNotNull = 1, kNullLast = 2;
constexpr uint32_t kNumericBytes = 11;
constexpr int kExponentBits = 20;
constexpr int kExponentBias = 1 << (kExponentBits - 1);

enum NumericClass : uint32_t { kNegativeInfinity = 1, kNegative, kZero, kPositive, kPositiveInfinity, kNaN };

void StoreBigEndian(char* to, uint64_t value, int bytes) {
  value = __builtin_bswap64(value << (64 - 8 * bytes));
  std::memcpy(to, &value, 8);  // the slack of the cursor takes what is beyond
}

struct NumericCode {
  uint32_t head;  // class and exponent
  uint64_t tail;  // digits and the bit for more
  bool has_more;
};

NumericCode CodeOf(NumericClass numeric_class, int exponent, uint64_t digits, bool has_more) {
  constexpr uint32_t kExponentMask = (1u << kExponentBits) - 1;
  NumericCode code{static_cast<uint32_t>(exponent + kExponentBias) & kExponentMask, digits << 1 | has_more, has_more};
  if (numeric_class == kNegative) {
    code.head = ~code.head & kExponentMask;
    code.tail = ~code.tail;
  }
  code.head |= static_cast<uint32_t>(numeric_class) << kExponentBits;
  return code;
}

int CountDigits(uint64_t value) {
  const int guess = (64 - __builtin_clzll(value)) * 1233 >> 12;
  return guess + (value >= static_cast<uint64_t>(kPowersOfTen[guess]));
}

NumericCode CodeOfInteger(int128 value, int scale);

NumericCode CodeOfInteger(int64_t value, int scale) {
  if (value == 0) return CodeOf(kZero, 0, 0, false);
  const uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int digits = CountDigits(magnitude);
  if (digits > kMaxInt64Digits) return CodeOfInteger(static_cast<int128>(value), scale);
  const uint64_t mantissa = magnitude * static_cast<uint64_t>(kPowersOfTen[kMaxInt64Digits - digits]);
  return CodeOf(value < 0 ? kNegative : kPositive, digits - scale, mantissa, false);
}

NumericCode CodeOfInteger(int128 value, int scale) {
  if (value == 0) return CodeOf(kZero, 0, 0, false);
  uint128 magnitude = value < 0 ? -static_cast<uint128>(value) : static_cast<uint128>(value);
  const int digits = CountDecimals(magnitude);
  bool has_more = false;
  uint64_t mantissa;
  if (digits <= kMaxInt64Digits) {
    mantissa = static_cast<uint64_t>(magnitude) * static_cast<uint64_t>(kPowersOfTen[kMaxInt64Digits - digits]);
  } else {
    const uint128 power = static_cast<uint128>(kPowersOfTen[digits - kMaxInt64Digits]);
    mantissa = static_cast<uint64_t>(magnitude / power);
    has_more = magnitude % power != 0;
  }
  return CodeOf(value < 0 ? kNegative : kPositive, digits - scale, mantissa, has_more);
}

// Of what fits no integer: by its decimal digits.
NumericCode CodeOfDecimal(const Decimal& value) {
  switch (value.kind()) {
    case Decimal::Kind::kNaN: return CodeOf(kNaN, 0, 0, false);
    case Decimal::Kind::kPositiveInfinity: return CodeOf(kPositiveInfinity, 0, 0, false);
    case Decimal::Kind::kNegativeInfinity: return CodeOf(kNegativeInfinity, 0, 0, false);
    case Decimal::Kind::kFinite: break;
  }
  const std::string text = value.ToString();
  const bool is_negative = text[0] == '-';
  uint64_t mantissa = 0;
  int digits = 0, exponent = 0;
  bool in_fraction = false, has_started = false, has_more = false;
  for (size_t i = is_negative; i < text.size(); ++i) {
    if (text[i] == '.') {
      in_fraction = true;
      continue;
    }
    has_started |= text[i] != '0';
    if (!has_started) {
      exponent -= in_fraction;
      continue;
    }
    exponent += !in_fraction;
    if (digits < kMaxInt64Digits) {
      mantissa = mantissa * 10 + static_cast<uint64_t>(text[i] - '0');
      ++digits;
    } else {
      has_more |= text[i] != '0';
    }
  }
  if (!has_started) return CodeOf(kZero, 0, 0, false);
  for (; digits < kMaxInt64Digits; ++digits) mantissa *= 10;
  return CodeOf(is_negative ? kNegative : kPositive, exponent, mantissa, has_more);
}

NumericCode CodeOfNumeric(const Vector& v, uint32_t row) {
  switch (v.numeric_form) {
    case NumericForm::kInt64: return CodeOfInteger(v.values<int64_t>()[row], v.scale);
    case NumericForm::kInt128: return CodeOfInteger(v.values<int128>()[row], v.scale);
    case NumericForm::kPayload: break;
  }
  const StringRef& payload = v.values<StringRef>()[row];
  int128 value;
  int scale;
  if (PayloadToInt128(payload.data(), payload.length, &value, &scale)) return CodeOfInteger(value, scale);
  return CodeOfDecimal(Decimal::FromPayload(payload.view()));
}

template <typename T>
uint64_t Ordered(const T& value) {
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<Unsigned>(static_cast<Unsigned>(value) ^ (Unsigned{1} << (8 * sizeof(T) - 1)));
}
template <>
uint64_t Ordered(const uint8_t& value) {
  return value;
}
template <>
uint64_t Ordered(const float& value) {
  return FloatBits<uint32_t>(value);
}
template <>
uint64_t Ordered(const double& value) {
  return FloatBits<uint64_t>(value);
}

uint32_t CodeBytes(PenumbraType type) {
  if (type == PENUMBRA_NUMERIC) return kNumericBytes;
  return 1 + FlatWidth(type, NumericForm::kInt64);
}

// Whether values with other bytes are others: there is no second zero, nor a second place for a text.
bool HasOneForm(PenumbraType type) { return IsIntegerType(type, NumericForm::kPayload) || type == PENUMBRA_UUID; }

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a;
}

}  // namespace

SortKeys::SortKeys(const std::vector<SortKeySpec>& keys, std::vector<int> columns, const RowLayout& layout,
                   bool has_weights)
    : layout_(layout), has_weights_(has_weights) {
  uint32_t bytes = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Collation* collation = keys[i].collation;
    if (!IsStringType(keys[i].expr->type) || (collation != nullptr && collation->is_bytewise())) collation = nullptr;
    const int integer_scale = IntegerScale(*keys[i].expr);
    const PenumbraType code_type = integer_scale >= 0 ? PENUMBRA_INT8 : keys[i].expr->type;
    keys_.push_back(
        {keys[i].expr->type, code_type, integer_scale, keys[i].descending, keys[i].nulls_first, columns[i], collation});
    bytes += CodeBytes(code_type);
    needs_proof_ |= has_weights && collation != nullptr;
    // Texts and numerics may be longer than any prefix.
    if (IsStringType(code_type) || code_type == PENUMBRA_NUMERIC) is_exact_ = false;
    are_fixed_ = are_fixed_ && FlatWidth(code_type, NumericForm::kInt64) <= 8;
    are_coded_ = are_coded_ || integer_scale >= 0;
  }
  is_exact_ = is_exact_ && bytes <= kPrefixBytes;
  are_fixed_ = are_fixed_ && is_exact_;
}

namespace {

constexpr uint64_t Repeat(uint8_t byte) { return byte * 0x0101010101010101u; }

bool HasByteBelow2(uint64_t word) { return ((word - Repeat(2)) & ~word & Repeat(0x80)) != 0; }

// The beginning of a string that ends with a zero byte. So that no string has that byte in it, zeros and ones are two
// bytes: 1 1 and 1 2. Returns how many bytes the code has, which are kPrefixBytes where it is cut; writes one more.
uint32_t EncodeBytes(const char* value, uint32_t length, char* bytes) {
  const uint32_t copied = std::min(length, kPrefixBytes);
  uint64_t words[2] = {~uint64_t{0}, ~uint64_t{0}};
  std::memcpy(words, value, copied);
  if (!HasByteBelow2(words[0]) && !HasByteBelow2(words[1])) {
    std::memcpy(bytes, words, kPrefixBytes);
    bytes[copied] = 0;
    return std::min(copied + 1, kPrefixBytes);
  }
  uint32_t at = 0;
  for (uint32_t i = 0; i < copied && at < kPrefixBytes; ++i) {
    const bool is_escaped = static_cast<unsigned char>(value[i]) < 2;
    if (is_escaped) bytes[at++] = 1;
    bytes[at++] = static_cast<char>(value[i] + is_escaped);
  }
  if (at >= kPrefixBytes) return kPrefixBytes;
  bytes[at] = 0;
  return at + 1;
}

// Encodes with encode(row, bytes) -> length; 17 bytes at most may be written.
template <typename Cursor, typename EncodeValue>
void EncodeRows(bool descending, bool nulls_first, const Vector& v, RowSelection selection, Cursor* cursors,
                EncodeValue&& encode) {
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint32_t row = selection.rows == nullptr ? i : selection.rows[i];
    char* bytes = cursors[i].bytes + cursors[i].at;
    uint32_t length = 1;
    if (!v.IsValid(row)) {
      *bytes = nulls_first ? kNullFirst : kNullLast;
    } else {
      *bytes = kNotNull;
      length += encode(row, bytes + 1);
      if (descending) {
        for (uint32_t b = 1; b < length; ++b) bytes[b] = static_cast<char>(~bytes[b]);
      }
    }
    cursors[i].Advance(length);
  }
}

// The same for a column of fixed-width values.
template <typename T, typename Cursor>
void EncodeFixed(bool descending, bool nulls_first, const Vector& v, RowSelection selection, Cursor* cursors) {
  const T* values = v.values<T>();
  const uint64_t invert = descending ? ~uint64_t{0} : 0;
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint32_t row = selection.rows == nullptr ? i : selection.rows[i];
    char* bytes = cursors[i].bytes + cursors[i].at;
    const bool is_valid = v.IsValid(row);
    *bytes = is_valid ? kNotNull : nulls_first ? kNullFirst : kNullLast;
    StoreBigEndian(bytes + 1, is_valid ? Ordered(values[row]) ^ invert : 0, sizeof(T));
    cursors[i].Advance(1 + (is_valid ? static_cast<uint32_t>(sizeof(T)) : 0));
  }
}

}  // namespace

void SortKeys::Cursor::Advance(uint32_t length) {
  is_cut |= at + length > kPrefixBytes;
  at = std::min(at + length, kPrefixBytes);
}

// Weights are more than fit, whatever the text: the cursors are cut.
void SortKeys::EncodeCollated(const Key& key, const Vector& v, RowSelection selection, Cursor* cursors) const {
  struct Weights {
    char bytes[kPrefixBytes] = {};
  };
  StringMemo<Weights> known;
  EncodeRows(key.descending, key.nulls_first, v, selection, cursors, [&](uint32_t row, char* bytes) {
    const StringRef& value = v.values<StringRef>()[row];
    const Weights none;
    const Weights& weights = !has_weights_ ? none : known.Get(value, [&] {
      Weights made;
      const char* text = value.data();
      const uint32_t length = key.type == PENUMBRA_BPCHAR ? TrimmedLength(text, value.length) : value.length;
      key.collation->WriteWeights(text, length, made.bytes, kPrefixBytes);
      return made;
    });
    std::memcpy(bytes, weights.bytes, kPrefixBytes);
    return kPrefixBytes;
  });
}

// Bytes whose unsigned order is the key's, NULL's place and direction included, each key where the one before it ends.
// Where a key needs more bytes than are left, the prefixes of two rows may be equal and the rows not: then comparing
// the values decides, never a later key's bytes, which is why a cut key fills the prefix.
void SortKeys::EncodeKey(const Key& key, const Vector& v, RowSelection selection, Cursor* cursors) const {
  const bool desc = key.descending, first = key.nulls_first;
  switch (key.code_type) {
    case PENUMBRA_BOOL: return EncodeFixed<uint8_t>(desc, first, v, selection, cursors);
    case PENUMBRA_INT2: return EncodeFixed<int16_t>(desc, first, v, selection, cursors);
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return EncodeFixed<int32_t>(desc, first, v, selection, cursors);
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return EncodeFixed<int64_t>(desc, first, v, selection, cursors);
    case PENUMBRA_FLOAT4: return EncodeFixed<float>(desc, first, v, selection, cursors);
    case PENUMBRA_FLOAT8: return EncodeFixed<double>(desc, first, v, selection, cursors);
    case PENUMBRA_UUID:
      return EncodeRows(desc, first, v, selection, cursors, [&](uint32_t row, char* bytes) {
        std::memcpy(bytes, static_cast<const char*>(v.data) + size_t{row} * 16, 16);
        return 16u;
      });
    case PENUMBRA_INTERVAL:
      return EncodeRows(desc, first, v, selection, cursors, [&](uint32_t row, char* bytes) {
        const int128 span = IntervalSpan(v.values<PenumbraInterval>()[row]);
        StoreBigEndian(bytes, Ordered(static_cast<int64_t>(span >> 64)), 8);
        StoreBigEndian(bytes + 8, static_cast<uint64_t>(span), 8);
        return 16u;
      });
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR:
      if (key.collation != nullptr) return EncodeCollated(key, v, selection, cursors);
      return EncodeRows(desc, first, v, selection, cursors, [&](uint32_t row, char* bytes) {
        const StringRef& value = v.values<StringRef>()[row];
        const uint32_t length = key.type == PENUMBRA_BPCHAR ? TrimmedLength(value.data(), value.length) : value.length;
        return EncodeBytes(value.data(), length, bytes);
      });
    case PENUMBRA_NUMERIC:
    case PENUMBRA_ARRAY: break;
  }
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint32_t row = selection.rows == nullptr ? i : selection.rows[i];
    char* bytes = cursors[i].bytes + cursors[i].at;
    NumericCode code{first ? 0u : 0xffffffu, 0, false};
    if (v.IsValid(row)) {
      code = CodeOfNumeric(v, row);
      if (desc) code = {~code.head & 0xffffffu, ~code.tail, code.has_more};
    }
    StoreBigEndian(bytes, code.head, 3);
    StoreBigEndian(bytes + 3, code.tail, 8);
    cursors[i].Advance(kNumericBytes + (code.has_more ? kPrefixBytes : 0));
    if (code.has_more) std::memset(bytes + kNumericBytes, 0, kPrefixBytes);
  }
}

bool SortKeys::EncodeKeys(const Vector* keys, size_t key_count, RowSelection selection, SortPrefix* prefixes) const {
  bool is_cut = false;
  constexpr uint32_t kBlockRows = 256;
  Cursor cursors[kBlockRows];
  uint16_t rows[kBlockRows];
  for (uint32_t begin = 0; begin < selection.count; begin += kBlockRows) {
    const uint32_t count = std::min(kBlockRows, selection.count - begin);
    for (uint32_t i = 0; i < count; ++i) {
      rows[i] = static_cast<uint16_t>(selection.rows == nullptr ? begin + i : selection.rows[begin + i]);
      std::memset(cursors[i].bytes, 0, kPrefixBytes);
      cursors[i].at = 0;
      cursors[i].is_cut = false;
    }
    for (size_t k = 0; k < key_count; ++k) EncodeKey(keys_[k], keys[k], {rows, count}, cursors);
    for (uint32_t i = 0; i < count; ++i) {
      SortPrefix& prefix = prefixes[begin + i];
      is_cut |= cursors[i].is_cut;
      // What was stored past the cursor belongs to no key.
      std::memset(cursors[i].bytes + cursors[i].at, 0, kPrefixBytes);
      std::memcpy(&prefix.high, cursors[i].bytes, 8);
      std::memcpy(&prefix.low, cursors[i].bytes + 8, 8);
      prefix.high = __builtin_bswap64(prefix.high);
      prefix.low = __builtin_bswap64(prefix.low);
    }
  }
  return !is_cut;
}

namespace {

// As EncodeFixed and EncodeRows, in registers.
template <typename T>
void FixedFirstWords(bool descending, uint64_t null_word, const Vector& v, uint32_t rows, uint64_t* words) {
  const T* values = v.values<T>();
  const uint64_t invert = descending ? ~uint64_t{0} : 0;
  constexpr int kBits = 8 * sizeof(T);
  for (uint32_t i = 0; i < rows; ++i) {
    const uint64_t code = (Ordered(values[i]) ^ invert) << (64 - kBits);
    words[i] = uint64_t{kNotNull} << 56 | code >> 8;
  }
  if (v.validity == nullptr) return;
  for (uint32_t i = 0; i < rows; ++i) {
    if (!v.IsValid(i)) words[i] = null_word;
  }
}

void NumericFirstWords(bool descending, uint64_t null_word, const Vector& v, uint32_t rows, uint64_t* words) {
  const uint64_t invert = descending ? ~uint64_t{0} : 0;
  for (uint32_t i = 0; i < rows; ++i) {
    if (!v.IsValid(i)) {
      words[i] = null_word;
      continue;
    }
    const NumericCode code = CodeOfNumeric(v, i);
    words[i] = (uint64_t{code.head} << 40 | code.tail >> 24) ^ invert;
  }
}

}  // namespace

// Gives the first word of what Encode() makes. Some types compute it alone for less; for the others the whole key is
// encoded.
void SortKeys::EncodeFirstWords(const Vector& values, uint32_t rows, uint64_t* words) const {
  const Key& key = keys_[0];
  const uint64_t null_word = key.nulls_first ? 0 : uint64_t{kNullLast} << 56;
  Arena arena;
  const Vector v = CodesOf(key, values, rows, arena);
  switch (key.code_type) {
    case PENUMBRA_INT2: return FixedFirstWords<int16_t>(key.descending, null_word, v, rows, words);
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return FixedFirstWords<int32_t>(key.descending, null_word, v, rows, words);
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return FixedFirstWords<int64_t>(key.descending, null_word, v, rows, words);
    case PENUMBRA_FLOAT4: return FixedFirstWords<float>(key.descending, null_word, v, rows, words);
    case PENUMBRA_FLOAT8: return FixedFirstWords<double>(key.descending, null_word, v, rows, words);
    case PENUMBRA_NUMERIC:
      return NumericFirstWords(key.descending, key.nulls_first ? 0 : uint64_t{0xffffff} << 40, v, rows, words);
    default: break;
  }
  SortPrefix prefixes[kVectorRows];
  EncodeKeys(&v, 1, {nullptr, rows}, prefixes);
  for (uint32_t i = 0; i < rows; ++i) words[i] = prefixes[i].high;
}

namespace {

// Adds the code of a key of T, whose last bit is `shift` bits from the prefix's end.
template <typename T>
void AddFixed(bool descending, bool nulls_first, const Vector& v, RowSelection selection, uint32_t shift,
              SortPrefix* prefixes) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  const T* values = v.values<T>();
  const uint64_t invert = descending ? ~uint64_t{0} >> (64 - kBits) : 0;
  const uint128 null_code = static_cast<uint128>(nulls_first ? kNullFirst : kNullLast) << kBits;
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint32_t row = selection.rows == nullptr ? i : selection.rows[i];
    uint128 code = static_cast<uint128>(kNotNull) << kBits | (Ordered(values[row]) ^ invert);
    if (!v.IsValid(row)) code = null_code;
    code <<= shift;
    prefixes[i].high |= static_cast<uint64_t>(code >> 64);
    prefixes[i].low |= static_cast<uint64_t>(code);
  }
}

}  // namespace

// As EncodeKeys(), in registers, for keys of which every value has as many bytes, nulls too.
void SortKeys::EncodeFixedKeys(const Vector* keys, RowSelection selection, SortPrefix* prefixes) const {
  std::fill_n(prefixes, selection.count, SortPrefix{});
  uint32_t shift = 8 * kPrefixBytes;
  for (size_t k = 0; k < keys_.size(); ++k) {
    const Key& key = keys_[k];
    const auto add = [&](auto add_fixed) {
      shift -= 8 * CodeBytes(key.code_type);
      add_fixed(key.descending, key.nulls_first, keys[k], selection, shift, prefixes);
    };
    switch (key.code_type) {
      case PENUMBRA_BOOL: add(AddFixed<uint8_t>); break;
      case PENUMBRA_INT2: add(AddFixed<int16_t>); break;
      case PENUMBRA_INT4:
      case PENUMBRA_DATE: add(AddFixed<int32_t>); break;
      case PENUMBRA_FLOAT4: add(AddFixed<float>); break;
      case PENUMBRA_FLOAT8: add(AddFixed<double>); break;
      default: add(AddFixed<int64_t>); break;
    }
  }
}

Vector SortKeys::CodesOf(const Key& key, const Vector& v, uint32_t rows, Arena& arena) const {
  return key.integer_scale < 0 ? v : ToIntegerCodes(v, rows, key.integer_scale, arena);
}

bool SortKeys::Encode(const Vector* keys, RowSelection selection, SortPrefix* prefixes) const {
  std::vector<Vector> codes;
  Arena arena;
  if (are_coded_) {
    uint32_t rows = selection.count;
    if (selection.rows != nullptr && rows > 0) rows = *std::max_element(selection.rows, selection.rows + rows) + 1;
    for (size_t k = 0; k < keys_.size(); ++k) codes.push_back(CodesOf(keys_[k], keys[k], rows, arena));
    keys = codes.data();
  }
  if (!are_fixed_) return EncodeKeys(keys, keys_.size(), selection, prefixes);
  EncodeFixedKeys(keys, selection, prefixes);
  return true;
}

namespace {

constexpr int kWordBits = 64;

// The word of a numeric of one scale, without its column's null code.
uint64_t NumericWord(int64_t value, int scale, bool descending) {
  NumericCode code = CodeOfInteger(value, scale);
  if (descending) code = {~code.head & 0xffffffu, ~code.tail, code.has_more};
  return static_cast<uint64_t>(code.head) << 40 | code.tail >> 24;
}

// Integers in [lower, upper] whose word is not beyond the bound are those at or below (descending:
// at or above) *threshold; false when there are none.
bool FindNumericThreshold(const Vector& key, uint64_t bound, bool descending, int64_t* threshold) {
  // Walks from the value that sorts first to the one that sorts last.
  auto first = static_cast<int64_t>(descending ? key.upper : key.lower);
  auto last = static_cast<int64_t>(descending ? key.lower : key.upper);
  if (NumericWord(first, key.scale, descending) > bound) return false;
  if (NumericWord(last, key.scale, descending) <= bound) {
    *threshold = last;
    return true;
  }
  // `first` is in, `last` is out.
  while (true) {
    const int64_t middle = static_cast<int64_t>((static_cast<int128>(first) + last) / 2);
    if (middle == first || middle == last) break;
    (NumericWord(middle, key.scale, descending) <= bound ? first : last) = middle;
  }
  *threshold = first;
  return true;
}

template <typename T>
void SelectValues(const Vector& key, bool descending, T threshold, uint32_t rows, uint64_t* bits) {
  using kernels::Compare;
  kernels::CompareConstant(descending ? Compare::kGe : Compare::kLe, key.values<T>(), threshold, rows, bits);
}

// The bound's value of T, greatest among those that share its word.
template <typename T>
void SelectIntegers(const Vector& key, bool descending, uint64_t bound, uint32_t rows, uint64_t* bits) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr int kValueBits = 8 * sizeof(T);
  constexpr int kShift = kWordBits - 8 - kValueBits;  // negative: the word lacks the last bits
  const uint64_t code = kShift >= 0 ? bound >> std::max(kShift, 0) : bound << 8 | 0xff;
  auto value = static_cast<Unsigned>(code);
  if (descending) value = static_cast<Unsigned>(~value);
  value ^= Unsigned{1} << (kValueBits - 1);
  SelectValues(key, descending, static_cast<T>(value), rows, bits);
}

bool SelectValid(PenumbraType type, const Vector& key, bool descending, uint64_t bound, uint32_t rows, uint64_t* bits) {
  if (type == PENUMBRA_NUMERIC) {
    int64_t threshold;
    if (key.numeric_form != NumericForm::kInt64) return false;
    if (FindNumericThreshold(key, bound, descending, &threshold)) {
      SelectValues(key, descending, threshold, rows, bits);
    } else {
      std::fill_n(bits, kernels::BitmapWords(rows), 0);
    }
    return true;
  }
  // The first byte is the null code; a bound that is null takes no value, or every one.
  const char null_code = static_cast<char>(bound >> 56);
  if (null_code == kNullFirst) {
    std::fill_n(bits, kernels::BitmapWords(rows), 0);
    return true;
  }
  if (null_code == kNullLast) {
    kernels::SetBits(bits, rows);
    return true;
  }
  switch (type) {
    case PENUMBRA_INT2: SelectIntegers<int16_t>(key, descending, bound, rows, bits); return true;
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: SelectIntegers<int32_t>(key, descending, bound, rows, bits); return true;
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: SelectIntegers<int64_t>(key, descending, bound, rows, bits); return true;
    default: return false;
  }
}

}  // namespace

bool SortKeys::SelectFirst(const Vector& key, uint32_t rows, uint64_t bound, uint64_t* bits) const {
  const Key& first = keys_[0];
  if (key.form != VectorForm::kFlat) return false;
  if (first.integer_scale >= 0 && (key.numeric_form != NumericForm::kInt64 || key.scale != first.integer_scale)) {
    return false;
  }
  if (!SelectValid(first.code_type, key, first.descending, bound, rows, bits)) return false;
  if (key.validity == nullptr) return true;
  kernels::AndBits(bits, key.validity, rows);
  const uint64_t null_last_word =
      first.code_type == PENUMBRA_NUMERIC ? uint64_t{0xffffff} << 40 : uint64_t{kNullLast} << 56;
  if (!first.nulls_first && null_last_word > bound) return true;
  uint64_t nulls[kValidityWords];
  kernels::SetBits(nulls, rows);
  kernels::AndNotBits(nulls, key.validity, rows);
  kernels::OrBits(bits, nulls, rows);
  return true;
}

// Compares whole values, for rows whose encoded keys are equal but may be cut.
int SortKeys::CompareValues(const Key& key, const char* a, const char* b, int column) const {
  const int own = key.column;
  switch (key.type) {
    case PENUMBRA_BOOL: return Order(layout_.Get<uint8_t>(a, own), layout_.Get<uint8_t>(b, column));
    case PENUMBRA_INT2: return Order(layout_.Get<int16_t>(a, own), layout_.Get<int16_t>(b, column));
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return Order(layout_.Get<int32_t>(a, own), layout_.Get<int32_t>(b, column));
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return Order(layout_.Get<int64_t>(a, own), layout_.Get<int64_t>(b, column));
    case PENUMBRA_FLOAT4: return Order(Ordered(layout_.Get<float>(a, own)), Ordered(layout_.Get<float>(b, column)));
    case PENUMBRA_FLOAT8: return Order(Ordered(layout_.Get<double>(a, own)), Ordered(layout_.Get<double>(b, column)));
    case PENUMBRA_INTERVAL:
      return Order(IntervalSpan(layout_.Get<PenumbraInterval>(a, own)),
                   IntervalSpan(layout_.Get<PenumbraInterval>(b, column)));
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR:
      return CompareCollated(key.collation, key.type == PENUMBRA_BPCHAR, layout_.Get<StringRef>(a, own),
                             layout_.Get<StringRef>(b, column));
    case PENUMBRA_UUID: {
      using kernels::Bytes16;
      const Bytes16 x = layout_.Get<Bytes16>(a, own), y = layout_.Get<Bytes16>(b, column);
      return std::memcmp(&x, &y, 16);
    }
    case PENUMBRA_NUMERIC:
    case PENUMBRA_ARRAY: break;
  }
  const RowNumeric x = layout_.GetNumeric(a, own), y = layout_.GetNumeric(b, column);
  int128 x_integer, y_integer;
  if (x.scale == y.scale && x.ToInteger(&x_integer) && y.ToInteger(&y_integer)) return Order(x_integer, y_integer);
  return Decimal::Compare(x.ToDecimal(), y.ToDecimal());
}

// An entry that is beyond the bound stays so: bounds only get better. The others are compared in each row; they are
// few.
uint32_t SortKeys::SelectStrings(const Vector& key, uint32_t rows, const char* row, BeyondCodes* beyond,
                                 uint16_t* selected) const {
  const Key& first = keys_[0];
  const bool is_null = layout_.IsNull(row, first.column);
  const bool keeps_nulls = is_null || first.nulls_first;
  const StringRef bound = layout_.Get<StringRef>(row, first.column);
  const auto is_beyond = [&](const StringRef& value) {
    if (is_null) return first.nulls_first;
    const int order = CompareCollated(first.collation, first.type == PENUMBRA_BPCHAR, value, bound);
    return first.descending ? order < 0 : order > 0;
  };
  const auto select = [&](const auto& is_value_beyond) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows; ++i) {
      selected[count] = static_cast<uint16_t>(i);
      count += key.IsValid(i) ? !is_value_beyond(i) : keeps_nulls;
    }
    return count;
  };
  if (key.form != VectorForm::kDictionary) {
    const StringRef* values = key.values<StringRef>();
    if (first.collation == nullptr) return select([&](uint32_t i) { return is_beyond(values[i]); });
    StringMemo<bool> known;  // collations are slow
    return select([&](uint32_t i) { return known.Get(values[i], [&] { return is_beyond(values[i]); }); });
  }
  if (beyond->dictionary_id != key.dictionary_id) {
    beyond->dictionary_id = key.dictionary_id;
    beyond->is_beyond.assign(key.dictionary_size, 0);
  }
  const StringRef* entries = key.dictionary->values<StringRef>();
  uint8_t* known = beyond->is_beyond.data();
  return select([&](uint32_t i) {
    const uint32_t code = key.Code(i);
    if (known[code] == 0 && is_beyond(entries[code])) known[code] = 1;
    return known[code] != 0;
  });
}

int SortKeys::CompareKey(const Key& key, const char* a, const char* b, int column) const {
  const bool a_null = layout_.IsNull(a, key.column), b_null = layout_.IsNull(b, column);
  if (a_null || b_null) return a_null == b_null ? 0 : a_null == key.nulls_first ? -1 : 1;
  const int order = CompareValues(key, a, b, column);
  return key.descending ? -order : order;
}

bool SortKeys::AreEqual(const char* a, const char* b) const {
  for (const Key& key : keys_) {
    if (layout_.HasSameBytes(a, b, key.column)) continue;
    if (HasOneForm(key.type) || CompareKey(key, a, b, key.column) != 0) return false;
  }
  return true;
}

int SortKeys::CompareRows(const char* a, const char* b) const {
  for (const Key& key : keys_) {
    if (const int order = CompareKey(key, a, b, key.column)) return order;
  }
  return 0;
}

}  // namespace penumbra
