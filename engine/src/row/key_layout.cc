#include "row/key_layout.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "numeric/numeric.h"
#include "numeric/numeric_rows.h"
#include "vector/value_order.h"

namespace penumbra {
namespace {

// ---------------------------------------------------------------- layout

bool HasStringSlot(PenumbraType type) { return IsStringType(type) || type == PENUMBRA_NUMERIC; }

uint32_t ExtraWidth(PenumbraType type) {
  switch (type) {
    case PENUMBRA_BPCHAR:
    case PENUMBRA_NUMERIC:
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: return 4;
    case PENUMBRA_INTERVAL: return 16;
    case PENUMBRA_BOOL:
    case PENUMBRA_INT2:
    case PENUMBRA_INT4:
    case PENUMBRA_INT8:
    case PENUMBRA_DATE:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ:
    case PENUMBRA_TEXT:
    case PENUMBRA_UUID:
    case PENUMBRA_ARRAY: break;
  }
  return 0;
}

constexpr uint32_t RoundUp(uint32_t bytes, uint32_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

// ---------------------------------------------------------------- canonical values

// A numeric of up to 18 digits without trailing fractional zeros, scale 0 to 18, is 10 inline
// bytes: integer and scale. Any other one is its canonical bytes and this suffix, which makes it
// longer than that.
constexpr uint32_t kShortNumericBytes = 10;
constexpr uint32_t kLongNumericSuffixBytes = 13;

template <int kZeros>
inline void StripZeros(int64_t* value, int* scale) {
  constexpr int64_t kPower = [] {
    int64_t power = 1;
    for (int i = 0; i < kZeros; ++i) power *= 10;
    return power;
  }();
  if (*scale >= kZeros && *value % kPower == 0) {
    *value /= kPower;
    *scale -= kZeros;
  }
}

// 0 <= scale <= 18
inline StringRef ShortNumeric(int64_t value, int scale) {
  StripZeros<16>(&value, &scale);
  StripZeros<8>(&value, &scale);
  StripZeros<4>(&value, &scale);
  StripZeros<2>(&value, &scale);
  StripZeros<1>(&value, &scale);
  char bytes[kShortNumericBytes];
  int16_t scale16 = static_cast<int16_t>(scale);
  std::memcpy(bytes, &value, 8);
  std::memcpy(bytes + 8, &scale16, 2);
  return StringRef(bytes, kShortNumericBytes);
}

bool IsShort(int128 value) { return value > -kPowersOfTen[kMaxInt64Digits] && value < kPowersOfTen[kMaxInt64Digits]; }

StringRef LongNumeric(const StringRef& canonical, Arena& arena) {
  const uint32_t length = canonical.length + kLongNumericSuffixBytes;
  char* bytes = static_cast<char*>(arena.Allocate(length));
  std::memcpy(bytes, canonical.data(), canonical.length);
  std::memset(bytes + canonical.length, 0, kLongNumericSuffixBytes);
  return StringRef(bytes, length);
}

StringRef CanonicalNumeric(int128 value, int scale, Arena& arena) {
  int128 stripped = value;
  int stripped_scale = scale;
  while (stripped_scale > 0 && (stripped_scale > kMaxInt64Digits || !IsShort(stripped)) && stripped % 10 == 0) {
    stripped /= 10;
    --stripped_scale;
  }
  if (stripped_scale >= 0 && stripped_scale <= kMaxInt64Digits && IsShort(stripped)) {
    return ShortNumeric(static_cast<int64_t>(stripped), stripped_scale);
  }
  return LongNumeric(CanonicalInteger(value, scale, arena), arena);
}

StringRef CanonicalNumericPayload(const StringRef& payload, Arena& arena, int* scale) {
  int64_t narrow;
  int128 wide;
  if (PayloadToInt64(payload.data(), payload.length, &narrow, scale)) return CanonicalNumeric(narrow, *scale, arena);
  if (PayloadToInt128(payload.data(), payload.length, &wide, scale)) return CanonicalNumeric(wide, *scale, arena);
  Decimal value = Decimal::FromPayload(payload.view());
  *scale = value.scale();
  if (value.kind() == Decimal::Kind::kFinite) {
    // Only trailing zeros may hide a short value here.
    Decimal rounded = Decimal::Round(value, kMaxInt64Digits);
    if (Decimal::Compare(rounded, value) == 0 && rounded.ToScaledInteger(&wide)) {
      StringRef canonical = CanonicalNumeric(wide, kMaxInt64Digits, arena);
      if (canonical.length == kShortNumericBytes) return canonical;
    }
  }
  return LongNumeric(CanonicalPayload(payload.view(), arena), arena);
}

template <typename T>
void WriteFloat(const T& value, char* slot, char* extra) {
  T canonical = std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value == 0 ? T{0} : value;
  std::memcpy(slot, &canonical, sizeof(T));
  uint32_t is_negative_zero = value == 0 && std::signbit(value);
  std::memcpy(extra, &is_negative_zero, 4);
}

void WriteNumeric(const Vector& v, uint32_t i, char* slot, char* extra, Arena& arena) {
  int scale = v.scale;
  StringRef canonical;
  switch (v.numeric_form) {
    case NumericForm::kInt64:
      canonical = scale >= 0 && scale <= kMaxInt64Digits && IsShort(v.values<int64_t>()[i])
                      ? ShortNumeric(v.values<int64_t>()[i], scale)
                      : CanonicalNumeric(v.values<int64_t>()[i], scale, arena);
      break;
    case NumericForm::kInt128: canonical = CanonicalNumeric(v.values<int128>()[i], scale, arena); break;
    case NumericForm::kPayload: canonical = CanonicalNumericPayload(v.values<StringRef>()[i], arena, &scale); break;
  }
  std::memcpy(slot, &canonical, 16);
  std::memcpy(extra, &scale, 4);
}

void WriteInterval(const PenumbraInterval& value, char* slot, char* extra) {
  int128 span = IntervalSpan(value);
  std::memcpy(slot, &span, 16);
  std::memcpy(extra, &value, 16);
}

// Where one key goes in the images.
struct ImageColumn {
  char* slots;  // of image 0
  char* extras;
  char* nulls;  // the byte with the key's bit
  uint8_t null_bit;
  uint32_t stride;
  uint32_t width;
  uint32_t extra_width;
};

// Calls write(vector, index, slot, extra) once per entry of a small dictionary or constant, then
// copies.
template <typename Write>
void WriteEntries(const Vector& v, const Vector& entries, uint32_t entry_count, RowSelection selection,
                  const ImageColumn& column, Arena& arena, Write&& write) {
  char* canonical = static_cast<char*>(arena.Allocate(size_t{entry_count} * 32));
  for (uint32_t e = 0; e < entry_count; ++e) write(entries, e, canonical + 32 * e, canonical + 32 * e + 16);
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint32_t row = selection.rows == nullptr ? i : selection.rows[i];
    const size_t at = size_t{i} * column.stride;
    if (!v.IsValid(row)) {
      column.nulls[at] |= column.null_bit;
      continue;
    }
    const char* entry = canonical + 32 * (v.is_constant() ? 0 : v.Code(row));
    std::memcpy(column.slots + at, entry, column.width);
    std::memcpy(column.extras + at, entry + 16, column.extra_width);
  }
}

// The same for a vector of any form.
template <typename Write>
void WriteColumn(const Vector& v, RowSelection selection, const ImageColumn& column, Arena& arena, Write&& write) {
  if (v.is_null_constant()) {
    for (uint32_t i = 0; i < selection.count; ++i) column.nulls[size_t{i} * column.stride] |= column.null_bit;
    return;
  }
  if (v.is_constant()) return WriteEntries(v, v, 1, selection, column, arena, write);
  const bool is_dictionary = v.form == VectorForm::kDictionary;
  if (is_dictionary && v.dictionary_size <= selection.count) {
    return WriteEntries(v, *v.dictionary, v.dictionary_size, selection, column, arena, write);
  }
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint32_t row = selection.rows == nullptr ? i : selection.rows[i];
    const size_t at = size_t{i} * column.stride;
    if (v.validity != nullptr && !((v.validity[row / 64] >> (row % 64)) & 1)) {
      column.nulls[at] |= column.null_bit;
    } else if (is_dictionary) {
      write(*v.dictionary, v.Code(row), column.slots + at, column.extras + at);
    } else {
      write(v, row, column.slots + at, column.extras + at);
    }
  }
}

// Where a value alone says what is written.
template <typename T, void (*kWrite)(const T& value, char* slot, char* extra)>
void WriteColumnWith(const Vector& v, RowSelection selection, const ImageColumn& column, Arena& arena) {
  WriteColumn(v, selection, column, arena, [](const Vector& from, uint32_t i, char* slot, char* extra) {
    kWrite(from.values<T>()[i], slot, extra);
  });
}

template <int kWidth>
void WriteFixedColumn(const Vector& v, RowSelection selection, const ImageColumn& column, Arena& arena) {
  WriteColumn(v, selection, column, arena, [](const Vector& from, uint32_t i, char* slot, char*) {
    std::memcpy(slot, static_cast<const char*>(from.data) + size_t{i} * kWidth, kWidth);
  });
}

}  // namespace

// A string with a tail is too long for the slot (PENUMBRA_TAILED_BYTES_MIN): its tail is behind it.
void KeyLayout::WriteBpchar(const StringRef& value, char* slot, char* extra) {
  static_assert(PENUMBRA_TAILED_BYTES_MIN > StringRef::kInlineBytes);
  const uint32_t tail = penumbra_tail_bytes(value.data(), value.length);
  const uint32_t length = tail != 0 ? value.length - tail : TrimmedLength(value.data(), value.length);
  const uint32_t rest = tail != 0 ? tail | kIsTail : value.length - length;
  StringRef trimmed(value.data(), length);
  std::memcpy(slot, &trimmed, 16);
  std::memcpy(extra, &rest, 4);
}

// An image: the hash, string slots, fixed-width slots from wide to narrow (so none is padded), the null bits; up to
// here it is compared as words. Then what equal keys may differ in (a numeric's scale, an interval as written). With up
// to eight keys the null bits stand in the hash's word.
KeyLayout::KeyLayout(const std::vector<PenumbraType>& types, bool only_compares) {
  slots_.resize(types.size());
  uint32_t at = 8;
  for (size_t i = 0; i < types.size(); ++i) {
    slots_[i] = {types[i], 0, FlatWidth(types[i], NumericForm::kPayload), 0, ExtraWidth(types[i])};
    if (!HasStringSlot(types[i])) continue;
    slots_[i].offset = at;
    at += 16;
    ++string_count_;
  }
  fixed_begin_ = at;
  for (uint32_t width : {16, 8, 4, 2, 1}) {
    for (Slot& slot : slots_) {
      if (HasStringSlot(slot.type) || slot.width != width) continue;
      slot.offset = at;
      at += width;
    }
  }
  null_begin_ = at;
  if (types.size() > 8) at += (static_cast<uint32_t>(types.size()) - 1) / 8;
  compared_end_ = RoundUp(at, 8);
  at = compared_end_;
  for (Slot& slot : slots_) {
    slot.extra_offset = at;
    at += slot.extra_width;
    if (!HasStringSlot(slot.type)) continue;
    tail_offsets_.push_back(slot.type == PENUMBRA_BPCHAR && !only_compares ? slot.extra_offset : 0);
  }
  image_bytes_ = RoundUp(at, 8);
  has_one_word_ = compared_end_ == fixed_begin_ + 8 && string_count_ == 0 &&
                  std::all_of(types.begin(), types.end(),
                              [](PenumbraType type) { return IsIntegerType(type, NumericForm::kPayload); });
}

// Types of which equal values have several forms write the one that is compared and, beside, the one that is shown.
void KeyLayout::WriteKey(int key, const Vector& v, RowSelection selection, Arena& arena, char* images) const {
  const Slot& slot = slots_[key];
  ImageColumn column{images + slot.offset,   images + slot.extra_offset,
                     images + NullByte(key), static_cast<uint8_t>(1 << (key % 8)),
                     image_bytes_,           slot.width,
                     slot.extra_width};
  switch (slot.type) {
    case PENUMBRA_NUMERIC:
      return WriteColumn(v, selection, column, arena, [&](const Vector& from, uint32_t i, char* s, char* extra) {
        WriteNumeric(from, i, s, extra, arena);
      });
    case PENUMBRA_BPCHAR: return WriteColumnWith<StringRef, WriteBpchar>(v, selection, column, arena);
    case PENUMBRA_INTERVAL: return WriteColumnWith<PenumbraInterval, WriteInterval>(v, selection, column, arena);
    case PENUMBRA_FLOAT4: return WriteColumnWith<float, WriteFloat<float>>(v, selection, column, arena);
    case PENUMBRA_FLOAT8: return WriteColumnWith<double, WriteFloat<double>>(v, selection, column, arena);
    case PENUMBRA_BOOL:
    case PENUMBRA_INT2:
    case PENUMBRA_INT4:
    case PENUMBRA_INT8:
    case PENUMBRA_DATE:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ:
    case PENUMBRA_TEXT:
    case PENUMBRA_UUID:
    case PENUMBRA_ARRAY: break;
  }
  switch (slot.width) {
    case 1: return WriteFixedColumn<1>(v, selection, column, arena);
    case 2: return WriteFixedColumn<2>(v, selection, column, arena);
    case 4: return WriteFixedColumn<4>(v, selection, column, arena);
    case 8: return WriteFixedColumn<8>(v, selection, column, arena);
    default: return WriteFixedColumn<16>(v, selection, column, arena);
  }
}

void KeyLayout::BuildImages(const Vector* keys, RowSelection selection, Arena& arena, char* images) const {
  std::memset(images, 0, size_t{selection.count} * image_bytes_);
  for (int key = 0; key < count(); ++key) WriteKey(key, keys[key], selection, arena, images);
  HashImages(selection.count, images);
}

// More bytes than a StringRef holds inline. Words may overlap: copies of constant size only, as one
// of variable size is a call.
uint64_t KeyLayout::HashLongString(uint64_t hash, const char* bytes, uint32_t length) {
  const auto word = [bytes](uint32_t at) {
    uint64_t value;
    std::memcpy(&value, bytes + at, 8);
    return value;
  };
  for (uint32_t at = 0; at + 16 < length; at += 16) hash = MixPair(hash, word(at), word(at + 8));
  return MixPair(hash, word(length < 16 ? 0 : length - 16), word(length - 8));
}

void KeyLayout::BuildWords(const Vector* keys, uint32_t rows, Arena& arena, uint64_t* words) const {
  for (int k = 0; k < count(); ++k) {
    const Vector flat = Flatten(keys[k], rows, arena);
    const uint32_t shift = 8 * (slots_[k].offset - fixed_begin_);
    auto add = [&](const auto* values) {
      for (uint32_t i = 0; i < rows; ++i) words[i] = (k == 0 ? 0 : words[i]) | uint64_t{values[i]} << shift;
    };
    switch (slots_[k].width) {
      case 1: add(flat.values<uint8_t>()); break;
      case 2: add(flat.values<uint16_t>()); break;
      case 4: add(flat.values<uint32_t>()); break;
      default: add(flat.values<uint64_t>());
    }
  }
}

// The image's first word holds the null bits. The hash is written around them: they stay its low byte.
void KeyLayout::HashImages(uint32_t count, char* images) const {
  for (uint32_t i = 0; i < count; ++i) {
    char* image = images + size_t{i} * image_bytes_;
    uint64_t hash, word;
    std::memcpy(&word, image, 8);
    const uint64_t nulls = word;
    hash = kSeed ^ nulls;
    for (uint32_t s = 0; s < string_count_; ++s) {
      StringRef ref = StringAt(image, s);
      uint64_t rest;
      std::memcpy(&word, image + 8 + 16 * s, 8);
      std::memcpy(&rest, image + 16 + 16 * s, 8);
      hash = ref.is_inline() ? MixPair(hash, word, rest) : HashLongString(Mix(hash, word), ref.pointer, ref.length);
    }
    for (uint32_t at = fixed_begin_; at < compared_end_; at += 8) {
      std::memcpy(&word, image + at, 8);
      hash = Mix(hash, word);
    }
    hash = Finish(hash, nulls);
    assert(hash != 0);  // which marks a row that was merged away
    std::memcpy(image, &hash, 8);
  }
}

template <typename T>
int64_t LoadInteger(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// Copies of constant size: one of variable size is a call.
int64_t KeyLayout::Integer(const char* image, int key) const {
  const Slot& slot = slots_[key];
  switch (slot.width) {
    case 1: return LoadInteger<int8_t>(image + slot.offset);
    case 2: return LoadInteger<int16_t>(image + slot.offset);
    case 4: return LoadInteger<int32_t>(image + slot.offset);
    default: return LoadInteger<int64_t>(image + slot.offset);
  }
}

uint64_t KeyLayout::SlotsOfFewStrings(const Vector* keys) const {
  constexpr uint32_t kFewStrings = 256;
  uint64_t slots = 0, slot = 1;
  for (int k = 0; k < count(); ++k) {
    if (!HasStringSlot(slots_[k].type)) continue;
    const Vector& v = keys[k];
    const bool is_few = v.is_constant() || (v.form == VectorForm::kDictionary && v.dictionary_size <= kFewStrings);
    slots |= is_few ? slot : 0;
    slot <<= 1;
  }
  return slots;
}

void KeyLayout::OwnStrings(char* image, Arena& arena) const {
  for (uint32_t i = 0; i < string_count_; ++i) OwnString(image + 8 + 16 * i, arena, TailBytes(image, i));
}

void KeyLayout::SaveStrings(const char* image, std::vector<char>* bytes) const {
  for (uint32_t i = 0; i < string_count_; ++i) SaveString(image + 8 + 16 * i, bytes, TailBytes(image, i));
}

const char* KeyLayout::LoadStrings(char* image, const char* bytes, Arena* arena) const {
  for (uint32_t i = 0; i < string_count_; ++i) {
    bytes = LoadString(image + 8 + 16 * i, bytes, arena, TailBytes(image, i));
  }
  return bytes;
}

// Keys are equal whatever their scale. So an image holds the canonical value, and beside it the scale to show.
Vector KeyLayout::OutputNumeric(int key, const char* const* rows, uint32_t count, Arena& arena) const {
  const Slot& slot = slots_[key];
  NumericWriter result(count, arena);
  for (uint32_t i = 0; i < count; ++i) {
    if (IsNull(rows[i], key)) continue;
    StringRef canonical;
    int32_t display_scale;
    std::memcpy(static_cast<void*>(&canonical), rows[i] + slot.offset, 16);
    std::memcpy(&display_scale, rows[i] + slot.extra_offset, 4);
    if (canonical.length == kShortNumericBytes) {
      int64_t value;
      int16_t scale;
      std::memcpy(&value, canonical.data(), 8);
      std::memcpy(&scale, canonical.data() + 8, 2);
      const int shift = display_scale - scale;
      if (shift <= kMaxInt64Digits) {
        result.SetInteger(i, value * kPowersOfTen[shift], display_scale);
      } else {
        result.SetDecimal(i, Decimal::Round(Decimal::FromInteger(value, scale), display_scale));
      }
      continue;
    }
    Decimal value = CanonicalToDecimal(canonical.view().substr(0, canonical.length - kLongNumericSuffixBytes));
    if (value.kind() == Decimal::Kind::kFinite) value = Decimal::Round(value, display_scale);
    result.SetDecimal(i, value);
  }
  return result.Finish();
}

Vector KeyLayout::Output(int key, const char* const* rows, uint32_t count, Arena& arena) const {
  const Slot& slot = slots_[key];
  if (slot.type == PENUMBRA_NUMERIC) return OutputNumeric(key, rows, count, arena);
  ResultVector out;
  out.vector.type = slot.type;
  char* values = static_cast<char*>(arena.Allocate(size_t{count} * slot.width));
  out.vector.data = values;
  const uint32_t from = slot.type == PENUMBRA_INTERVAL ? slot.extra_offset : slot.offset;
  switch (slot.width) {
    case 4:
      for (uint32_t i = 0; i < count; ++i) std::memcpy(values + 4 * i, rows[i] + from, 4);
      break;
    case 8:
      for (uint32_t i = 0; i < count; ++i) std::memcpy(values + 8 * i, rows[i] + from, 8);
      break;
    case 16:
      for (uint32_t i = 0; i < count; ++i) std::memcpy(values + 16 * i, rows[i] + from, 16);
      break;
    default:
      for (uint32_t i = 0; i < count; ++i) std::memcpy(values + slot.width * i, rows[i] + from, slot.width);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (IsNull(rows[i], key)) {
      out.SetNull(i, arena);
      continue;
    }
    if (slot.extra_width != 4) continue;
    uint32_t extra;
    std::memcpy(&extra, rows[i] + slot.extra_offset, 4);
    if (extra == 0) continue;
    if (slot.type == PENUMBRA_BPCHAR) {
      StringRef trimmed;
      std::memcpy(static_cast<void*>(&trimmed), values + 16 * i, 16);
      if ((extra & kIsTail) != 0) {
        const StringRef ref(trimmed.pointer, trimmed.length + (extra & ~kIsTail));
        std::memcpy(values + 16 * i, &ref, 16);
        continue;
      }
      char* padded = static_cast<char*>(arena.Allocate(trimmed.length + extra));
      std::memcpy(padded, trimmed.data(), trimmed.length);
      std::memset(padded + trimmed.length, ' ', extra);
      StringRef ref(padded, trimmed.length + extra);
      std::memcpy(values + 16 * i, &ref, 16);
    } else {
      values[slot.width * (i + 1) - 1] = static_cast<char>(0x80);  // the sign bit of a negative zero
    }
  }
  return out.vector;
}

}  // namespace penumbra
