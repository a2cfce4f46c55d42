// Decoding. Nothing here checks the segment: CheckSegment() did, once.
#include <algorithm>
#include <new>

#include "expression/code_domain.h"
#include "kernels/kernels.h"
#include "segment/range_zones.h"
#include "segment/segment.h"
#include "segment/segment_format.h"
#include "segment/segment_strings.h"
#include "vector/string_load.h"

namespace penumbra {
namespace {

Vector BaseVector(const SegmentView& segment) {
  Vector v;
  v.type = segment.type();
  v.numeric_form = segment.numeric_form();
  if (v.type == PENUMBRA_NUMERIC) {
    const SegmentHeader& header = segment.header();
    v.scale = header.scale;
    v.lower = header.least;
    v.upper = header.greatest;
    if (v.numeric_form == NumericForm::kInt128) {  // the keys are saturated
      constexpr int128 kMax = static_cast<int128>(~uint128{0} >> 1);
      if (v.lower == INT64_MIN) v.lower = -kMax - 1;
      if (v.upper == INT64_MAX) v.upper = kMax;
    }
  }
  return v;
}

// ---------------------------------------------------------------- validity --------------------

const uint64_t* DecodeValidity(const SegmentView& segment, uint32_t begin, uint32_t count, Arena& arena) {
  const uint64_t* validity = segment.part<uint64_t>(kValidity);
  if (validity == nullptr) return nullptr;
  if (begin % 64 == 0) {
    validity += begin / 64;
  } else {
    uint64_t* moved = arena.AllocateArray<uint64_t>(kernels::BitmapWords(count));
    kernels::CopyBits(validity, begin, count, moved);
    validity = moved;
  }
  return kernels::CountBits(validity, count) == count ? nullptr : validity;
}

const uint64_t* GatherValidity(const SegmentView& segment, uint32_t begin, const uint16_t* selected,
                               uint32_t selected_count, Arena& arena) {
  const uint64_t* validity = segment.part<uint64_t>(kValidity);
  if (validity == nullptr) return nullptr;
  uint64_t* gathered = arena.AllocateArray<uint64_t>(kernels::BitmapWords(selected_count));
  std::memset(gathered, 0, kernels::BitmapWords(selected_count) * sizeof(uint64_t));
  uint32_t valid = 0;
  for (uint32_t i = 0; i < selected_count; ++i) {
    const uint32_t row = begin + selected[i];
    const uint64_t bit = (validity[row / 64] >> (row % 64)) & 1;
    gathered[i / 64] |= bit << (i % 64);
    valid += static_cast<uint32_t>(bit);
  }
  return valid == selected_count ? nullptr : gathered;
}

// ---------------------------------------------------------------- frames ----------------------

template <typename T>
void MultiplyByStep(size_t code_bytes, uint64_t step, uint32_t rows, T* values) {
  if constexpr (sizeof(T) == 8) {
    if (code_bytes <= 2 && step <= INT32_MAX) {
      return kernels::MultiplyNarrowConstant(values, static_cast<int32_t>(step), rows, values);
    }
  }
  kernels::ArithmeticConstant(kernels::Arithmetic::kMultiply, values, static_cast<T>(step), rows, values);
}

template <typename Code, typename T>
void DecodeCodes(const Code* codes, const SegmentHeader& header, uint32_t rows, T* values) {
  if constexpr (sizeof(Code) <= sizeof(T)) {
    if (header.step == 1) return kernels::DecodeFrame(codes, static_cast<T>(header.base), rows, values);
    kernels::DecodeFrame(codes, T{0}, rows, values);
    MultiplyByStep(sizeof(Code), header.step, rows, values);
    kernels::ArithmeticConstant(kernels::Arithmetic::kAdd, values, static_cast<T>(header.base), rows, values);
  }
}

template <typename T>
void DecodeFrameTo(const void* codes, const SegmentHeader& header, uint32_t rows, T* values) {
  switch (header.code_bytes) {
    case 1: return DecodeCodes(static_cast<const uint8_t*>(codes), header, rows, values);
    case 2: return DecodeCodes(static_cast<const uint16_t*>(codes), header, rows, values);
    case 4: return DecodeCodes(static_cast<const uint32_t*>(codes), header, rows, values);
    default: return DecodeCodes(static_cast<const uint64_t*>(codes), header, rows, values);
  }
}

void DecodeFrameOfWidth(uint32_t width, const void* codes, const SegmentHeader& header, uint32_t rows, void* values) {
  switch (width) {
    case 2: return DecodeFrameTo(codes, header, rows, static_cast<int16_t*>(values));
    case 4: return DecodeFrameTo(codes, header, rows, static_cast<int32_t*>(values));
    default: return DecodeFrameTo(codes, header, rows, static_cast<int64_t*>(values));
  }
}

template <typename T>
const T* GatherCodes(const T* values, const uint16_t* selected, uint32_t count, Arena& arena) {
  T* out = arena.AllocateArray<T>(count);
  kernels::GatherValues(values, selected, count, out);
  return out;
}

// Selected elements of `width` bytes.
const void* GatherWidth(uint32_t width, const void* values, const uint16_t* selected, uint32_t count, Arena& arena) {
  switch (width) {
    case 1: return GatherCodes(static_cast<const uint8_t*>(values), selected, count, arena);
    case 2: return GatherCodes(static_cast<const uint16_t*>(values), selected, count, arena);
    case 4: return GatherCodes(static_cast<const uint32_t*>(values), selected, count, arena);
    case 8: return GatherCodes(static_cast<const uint64_t*>(values), selected, count, arena);
    default: return GatherCodes(static_cast<const kernels::Bytes16*>(values), selected, count, arena);
  }
}

// ---------------------------------------------------------------- strings ---------------------

template <typename Length>
void DecodePlainStrings(const SegmentView& segment, uint32_t begin, uint32_t count, StringRef* refs) {
  StringCursor<Length> cursor(segment);
  const Length* lengths = segment.part<Length>(kCodes) + begin;
  const char* bytes = segment.part<char>(kBytes) + (count > 0 ? cursor.Seek(begin) : 0);
  for (uint32_t i = 0; i < count; ++i) {
    refs[i] = LoadStringRef(bytes, lengths[i]);
    bytes += lengths[i];
  }
}

// Rows that lie apart are fetched from memory while those before them become references.
template <typename Length>
void DecodeSelectedStrings(const SegmentView& segment, uint32_t begin, const uint16_t* selected, uint32_t count,
                           StringRef* refs) {
  constexpr uint32_t kAhead = 32;
  PlainStrings<Length> strings(segment);
  const Length* lengths = segment.part<Length>(kCodes) + begin;
  const char* ahead[kAhead];
  for (uint32_t i = 0; i < count + kAhead; ++i) {
    const char*& bytes = ahead[i % kAhead];
    if (i >= kAhead) refs[i - kAhead] = LoadStringRef(bytes, lengths[selected[i - kAhead]]);
    if (i >= count) continue;
    bytes = strings.Bytes(begin + selected[i]);
    __builtin_prefetch(bytes);
  }
}

// All `count` rows from begin on, or with `selected` those.
template <typename Length>
void DecodeStringsOf(const SegmentView& segment, uint32_t begin, const uint16_t* selected, uint32_t count, Arena& arena,
                     StringRef* refs) {
  if (segment.encoding() == Encoding::kCompressed) {
    CompressedStrings<Length> strings(segment, arena);
    for (uint32_t i = 0; i < count; ++i) refs[i] = strings.At(begin + (selected != nullptr ? selected[i] : i));
  } else if (selected != nullptr) {
    DecodeSelectedStrings<Length>(segment, begin, selected, count, refs);
  } else {
    DecodePlainStrings<Length>(segment, begin, count, refs);
  }
}

const StringRef* DecodeStrings(const SegmentView& segment, uint32_t begin, const uint16_t* selected, uint32_t count,
                               Arena& arena) {
  StringRef* refs = arena.AllocateArray<StringRef>(count);
  switch (segment.header().code_bytes) {
    case 1: DecodeStringsOf<uint8_t>(segment, begin, selected, count, arena, refs); break;
    case 2: DecodeStringsOf<uint16_t>(segment, begin, selected, count, arena, refs); break;
    default: DecodeStringsOf<uint32_t>(segment, begin, selected, count, arena, refs); break;
  }
  return refs;
}

// ---------------------------------------------------------------- dictionaries ----------------

bool HasLongEntries(const SegmentView& segment) { return segment.part<uint32_t>(kStarts) != nullptr; }

Vector* MakeDictionary(const SegmentView& segment, Arena& arena) {
  Vector* entries = new (arena.Allocate(sizeof(Vector))) Vector(BaseVector(segment));
  if (!HasLongEntries(segment)) {
    entries->data = segment.part<void>(kValues);
    return entries;
  }
  const uint32_t count = segment.header().dictionary_size;
  const uint32_t* ends = segment.part<uint32_t>(kStarts);
  const char* bytes = segment.part<char>(kBytes);
  StringRef* refs = arena.AllocateArray<StringRef>(count);
  uint32_t from = 0;
  for (uint32_t i = 0; i < count; ++i) {
    refs[i] = LoadStringRef(bytes + from, ends[i] - from);
    from = ends[i];
  }
  entries->data = refs;
  return entries;
}

template <typename Code>
const StringRef* LookupLongEntries(const SegmentView& segment, const Code* codes, uint32_t count, Arena& arena) {
  const uint32_t* ends = segment.part<uint32_t>(kStarts);
  const char* bytes = segment.part<char>(kBytes);
  StringRef* refs = arena.AllocateArray<StringRef>(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t code = codes[i];
    const uint32_t from = code == 0 ? 0 : ends[code - 1];
    refs[i] = LoadStringRef(bytes + from, ends[code] - from);
  }
  return refs;
}

// Flat, without building the entries that the rows do not use.
void FlattenLongEntries(const SegmentView& segment, const void* codes, uint32_t count, Arena& arena, Vector* v) {
  switch (segment.header().code_bytes) {
    case 1: v->data = LookupLongEntries(segment, static_cast<const uint8_t*>(codes), count, arena); break;
    case 2: v->data = LookupLongEntries(segment, static_cast<const uint16_t*>(codes), count, arena); break;
    default: v->data = LookupLongEntries(segment, static_cast<const uint32_t*>(codes), count, arena); break;
  }
}

void DecodeConstant(const SegmentView& segment, Arena& arena, Vector* v) {
  v->form = VectorForm::kConstant;
  v->validity = nullptr;
  if (segment.is_null_constant() || segment.header().rows == 0) return;
  if (!segment.is_string_form()) {
    v->data = segment.part<void>(kValues);
    return;
  }
  StringRef* ref = arena.AllocateArray<StringRef>(1);
  *ref = LoadStringRef(segment.part<char>(kBytes), static_cast<uint32_t>(segment.part_bytes(kBytes)));
  v->data = ref;
}

}  // namespace

SegmentReader::SegmentReader(const void* segment, Arena* arena) : segment_(segment), arena_(arena) {}

PenumbraType SegmentReader::type() const { return SegmentView(segment_).type(); }
uint32_t SegmentReader::rows() const { return SegmentView(segment_).header().rows; }
uint32_t SegmentReader::null_count() const { return SegmentView(segment_).header().null_count; }

PenumbraZoneMap SegmentReader::zone_map() const {
  const SegmentView segment(segment_);
  const SegmentHeader& header = segment.header();
  return {.least = header.least,
          .greatest = header.greatest,
          .rows = header.rows,
          .null_count = header.null_count,
          .scale = header.scale,
          .type = header.type,
          .numeric_form = header.numeric_form,
          .flags = header.flags,
          .zero = {},
          .ranges = UniteRangeZones(segment)};
}

const Vector* SegmentReader::Dictionary(Arena& arena) const {
  const SegmentView segment(segment_);
  if (segment.encoding() != Encoding::kDictionary) return nullptr;
  if (arena_ == nullptr) return MakeDictionary(segment, arena);
  if (dictionary_ == nullptr) {
    dictionary_ = MakeDictionary(segment, *arena_);
    dictionary_id_ = NextDictionaryId();
  }
  return dictionary_;
}

// Only with an arena, which promises that the vectors do not outlive this reader.
void SegmentReader::AttachDomain(const void* codes, Vector* v) const {
  const SegmentHeader& header = SegmentView(segment_).header();
  if (arena_ == nullptr || header.code_bytes > 2) return;
  if (domain_ == nullptr) {
    const uint32_t count = FrameCodeCount(header);
    if (count > header.rows / 2) return;
    domain_ = new (arena_->Allocate(sizeof(CodeDomain))) CodeDomain(*v, header.base, header.step, count, arena_);
  }
  v->codes = codes;
  v->code_bytes = header.code_bytes;
  v->domain = domain_;
}

Vector SegmentReader::Decode(uint32_t begin, uint32_t count, Arena& arena) const {
  return DecodeRows(begin, nullptr, count, arena);
}

Vector SegmentReader::DecodeSelected(uint32_t begin, uint32_t /*count*/, const uint16_t* selected,
                                     uint32_t selected_count, Arena& arena) const {
  return DecodeRows(begin, selected, selected_count, arena);
}

// `selected`: places after `begin`; null: the next `count` rows. Constants and dictionaries stay what they are, but not
// a dictionary of long entries with more of them than rows wanted: those are decoded alone.
Vector SegmentReader::DecodeRows(uint32_t begin, const uint16_t* selected, uint32_t count, Arena& arena) const {
  const SegmentView segment(segment_);
  const SegmentHeader& header = segment.header();
  Vector v = BaseVector(segment);
  if (segment.encoding() == Encoding::kConstant) {
    DecodeConstant(segment, arena, &v);
    return v;
  }
  v.validity = selected == nullptr ? DecodeValidity(segment, begin, count, arena)
                                   : GatherValidity(segment, begin, selected, count, arena);
  const uint32_t width = segment.value_width();
  const auto elements = [&](Part part, uint32_t element_bytes) {
    const void* from = segment.part<char>(part) + size_t{begin} * element_bytes;
    return selected == nullptr ? from : GatherWidth(element_bytes, from, selected, count, arena);
  };
  switch (segment.encoding()) {
    case Encoding::kFrame: {
      void* values = arena.Allocate(size_t{count} * width);
      const void* codes = elements(kCodes, header.code_bytes);
      DecodeFrameOfWidth(width, codes, header, count, values);
      v.data = values;
      AttachDomain(codes, &v);
      break;
    }
    case Encoding::kDictionary: {
      const void* codes = elements(kCodes, header.code_bytes);
      if (HasLongEntries(segment) && arena_ == nullptr && header.dictionary_size > count) {
        FlattenLongEntries(segment, codes, count, arena, &v);
        break;
      }
      v.form = VectorForm::kDictionary;
      v.data = codes;
      v.code_bytes = header.code_bytes;
      v.dictionary_size = header.dictionary_size;
      v.dictionary = Dictionary(arena);
      v.dictionary_id = dictionary_id_;
      break;
    }
    default:
      if (segment.is_string_form()) {
        v.data = DecodeStrings(segment, begin, selected, count, arena);
      } else {
        v.data = elements(kValues, width);
      }
  }
  return v;
}

const char* EncodingName(const void* bytes) {
  const SegmentView segment(bytes);
  switch (segment.encoding()) {
    case Encoding::kConstant: return "constant";
    case Encoding::kDictionary: return "dictionary";
    case Encoding::kCompressed: return "lz4";
    case Encoding::kFrame:
      switch (segment.header().code_bytes) {
        case 1: return "for1";
        case 2: return "for2";
        case 4: return "for4";
        default: return "for8";
      }
    default: return segment.numeric_form() == NumericForm::kInt128 ? "int128" : "plain";
  }
}

}  // namespace penumbra
