// Choosing an encoding: integers and other values of fixed width. Strings are in
// segment_encode_strings.cc.
#include "segment/segment_encode.h"

#include <numeric>

#include "segment/segment.h"

namespace penumbra {

SegmentWriter::SegmentWriter(PenumbraType type, uint32_t rows, uint32_t null_count) {
  header_.magic = kSegmentMagic;
  header_.version = kSegmentVersion;
  header_.type = static_cast<uint8_t>(type);
  header_.rows = rows;
  header_.null_count = null_count;
  header_.step = 1;
}

// Padding is zero, so equal rows make equal bytes.
void* SegmentWriter::Finish(size_t* segment_bytes) {
  size_t end = sizeof(SegmentHeader);
  for (int p = 0; p < kPartCount; ++p) {
    if (sources_[p].first == nullptr) continue;
    const size_t begin = (end + kPartAlignment - 1) & ~(kPartAlignment - 1);
    header_.parts[p] = {begin, sources_[p].second};
    end = begin + sources_[p].second + (p == kBytes ? kBytesPadding : 0);
  }
  end = (end + kPartAlignment - 1) & ~(kPartAlignment - 1);
  header_.segment_bytes = end;
  char* segment = static_cast<char*>(std::aligned_alloc(kPartAlignment, end));
  if (segment == nullptr) throw EngineError(PENUMBRA_OUT_OF_MEMORY);
  std::memcpy(segment, &header_, sizeof(header_));
  size_t written = sizeof(header_);
  for (int p = 0; p < kPartCount; ++p) {
    if (sources_[p].first == nullptr) continue;
    const SegmentPart& part = header_.parts[p];
    std::memset(segment + written, 0, part.offset - written);
    if (part.bytes > 0) std::memcpy(segment + part.offset, sources_[p].first, part.bytes);
    written = part.offset + part.bytes;
  }
  std::memset(segment + written, 0, end - written);
  *segment_bytes = end;
  return segment;
}

namespace {

template <typename Code>
void NarrowTo(const std::vector<uint32_t>& codes, uint8_t* packed) {
  Code* out = reinterpret_cast<Code*>(packed);
  for (size_t i = 0; i < codes.size(); ++i) out[i] = static_cast<Code>(codes[i]);
}

}  // namespace

std::vector<uint8_t> PackCodes(const std::vector<uint32_t>& codes, uint8_t code_bytes) {
  std::vector<uint8_t> packed(codes.size() * code_bytes);
  switch (code_bytes) {
    case 1: NarrowTo<uint8_t>(codes, packed.data()); break;
    case 2: NarrowTo<uint16_t>(codes, packed.data()); break;
    default: NarrowTo<uint32_t>(codes, packed.data()); break;
  }
  return packed;
}

void SetBounds(int64_t least, int64_t greatest, bool are_exact, SegmentWriter* writer) {
  writer->header().least = least;
  writer->header().greatest = greatest;
  writer->header().flags = static_cast<uint8_t>(kHasBounds | (are_exact ? kExactBounds : 0));
}

namespace {

const uint64_t* ValidityOf(const RowsColumn& column) {
  return column.validity.empty() ? nullptr : column.validity.data();
}

void SetValidity(const RowsColumn& column, uint32_t rows, SegmentWriter* writer) {
  if (column.null_count == 0) return;
  writer->SetPart(kValidity, column.validity.data(), kernels::BitmapWords(rows) * sizeof(uint64_t));
}

// ---------------------------------------------------------------- integers --------------------

// The greatest divisor of all differences to `least`; gives up, with 1, once it is below
// step_wanted.
template <typename T>
uint64_t FindStep(const RowsColumn& column, const T* values, uint32_t rows, int64_t least, uint64_t step_wanted) {
  uint64_t step = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    if (!column.IsValid(row)) continue;
    const uint64_t difference = static_cast<uint64_t>(values[row]) - static_cast<uint64_t>(least);
    // Mostly the step so far divides, which a remainder shows faster than a gcd.
    if (step == 0 || difference % step != 0) step = std::gcd(step, difference);
    if (step != 0 && step < step_wanted) return 1;
  }
  return step == 0 ? 1 : step;
}

template <typename T, typename Code>
std::vector<uint8_t> FrameCodes(const RowsColumn& column, const T* values, uint32_t rows, int64_t base, uint64_t step) {
  std::vector<uint8_t> packed(size_t{rows} * sizeof(Code));
  Code* codes = reinterpret_cast<Code*>(packed.data());
  if (step == 1) {
    for (uint32_t row = 0; row < rows; ++row) codes[row] = static_cast<Code>(static_cast<uint64_t>(values[row]) - base);
  } else {
    for (uint32_t row = 0; row < rows; ++row) {
      codes[row] = static_cast<Code>((static_cast<uint64_t>(values[row]) - base) / step);
    }
  }
  if (column.null_count > 0) {
    for (uint32_t row = 0; row < rows; ++row) codes[row] = column.IsValid(row) ? codes[row] : 0;
  }
  return packed;
}

template <typename T>
std::vector<uint8_t> FrameCodes(const RowsColumn& column, const T* values, uint32_t rows, const SegmentHeader& header) {
  switch (header.code_bytes) {
    case 1: return FrameCodes<T, uint8_t>(column, values, rows, header.base, header.step);
    case 2: return FrameCodes<T, uint16_t>(column, values, rows, header.base, header.step);
    case 4: return FrameCodes<T, uint32_t>(column, values, rows, header.base, header.step);
    default: return FrameCodes<T, uint64_t>(column, values, rows, header.base, header.step);
  }
}

// Zones that would exclude nothing are not stored.
template <typename T>
std::vector<SegmentZone> FindZones(const RowsColumn& column, const T* values, uint32_t rows,
                                   const SegmentHeader& header) {
  std::vector<SegmentZone> zones(VectorCount(rows));
  double covered = 0;
  for (uint32_t v = 0; v < zones.size(); ++v) {
    const uint32_t begin = v * kVectorRows;
    const uint64_t* validity = column.validity.empty() ? nullptr : column.validity.data() + begin / 64;
    T least, greatest;
    if (kernels::FindBounds(values + begin, validity, std::min(kVectorRows, rows - begin), &least, &greatest)) {
      zones[v] = {least, greatest};
      covered += static_cast<double>(greatest) - static_cast<double>(least);
    } else {
      zones[v] = {INT64_MAX, INT64_MIN};
    }
  }
  const double range = static_cast<double>(header.greatest) - static_cast<double>(header.least);
  constexpr double kSelectiveShare = 0.5;
  if (zones.size() < 2 || covered > kSelectiveShare * range * static_cast<double>(zones.size())) zones.clear();
  return zones;
}

// Few values far apart: codes of a dictionary are narrower than those of a frame.
template <typename T>
void* TryIntegerDictionary(const RowsColumn& column, const T* values, uint32_t rows, uint8_t frame_bytes,
                           const std::vector<SegmentZone>& zones, SegmentWriter* writer, size_t* segment_bytes) {
  constexpr uint8_t kWorthwhileBytes = 4;
  if (frame_bytes < kWorthwhileBytes) return nullptr;
  const auto value_of = [&](uint32_t row) {
    return DistinctKey{static_cast<uint64_t>(values[row]), {reinterpret_cast<const char*>(values + row), sizeof(T)}};
  };
  if (!LooksRepetitive(column, rows, value_of)) return nullptr;
  const auto less = [](std::string_view a, std::string_view b) {
    T x, y;
    std::memcpy(&x, a.data(), sizeof(T));
    std::memcpy(&y, b.data(), sizeof(T));
    return x < y;
  };
  RowDictionary dictionary;
  const uint32_t limit = std::min<uint32_t>(1u << 16, std::max<uint32_t>(rows / 4, 1));
  if (!BuildRowDictionary(column, rows, limit, value_of, less, &dictionary)) return nullptr;
  const uint8_t code_bytes = CodeBytes(dictionary.entries.size() - 1);
  const size_t size = dictionary.entry_bytes + size_t{code_bytes} * rows;
  if (size * 5 > size_t{frame_bytes} * rows * 3) return nullptr;
  std::vector<T> entries(dictionary.entries.size());
  for (size_t i = 0; i < entries.size(); ++i) std::memcpy(&entries[i], dictionary.entries[i].data(), sizeof(T));
  const std::vector<uint8_t> codes = PackCodes(dictionary.codes, code_bytes);
  writer->header().encoding = static_cast<uint8_t>(Encoding::kDictionary);
  writer->header().code_bytes = code_bytes;
  writer->header().dictionary_size = static_cast<uint32_t>(entries.size());
  writer->header().base = 0;
  writer->header().step = 1;
  writer->SetPart(kCodes, codes.data(), codes.size());
  writer->SetPart(kValues, entries.data(), entries.size() * sizeof(T));
  writer->SetPart(kZones, zones.empty() ? nullptr : zones.data(), zones.size() * sizeof(SegmentZone));
  return writer->Finish(segment_bytes);
}

template <typename T>
void* EncodeIntegersOf(const RowsColumn& column, uint32_t rows, size_t* segment_bytes) {
  const T* values = reinterpret_cast<const T*>(column.fixed.data());
  SegmentWriter writer(column.type, rows, column.null_count);
  SegmentHeader& header = writer.header();
  header.plain_bytes = uint64_t{rows} * sizeof(T);
  if (column.type == PENUMBRA_NUMERIC) header.scale = std::max<int16_t>(column.scale, 0);
  T least, greatest;
  if (!kernels::FindBounds(values, ValidityOf(column), rows, &least, &greatest)) {
    throw EngineError(PENUMBRA_INTERNAL, "no value to encode");
  }
  SetBounds(least, greatest, true, &writer);
  if (least == greatest && column.null_count == 0) {
    header.encoding = static_cast<uint8_t>(Encoding::kConstant);
    writer.SetPart(kValues, &least, sizeof(T));
    return writer.Finish(segment_bytes);
  }
  SetValidity(column, rows, &writer);
  const std::vector<SegmentZone> zones = FindZones(column, values, rows, header);
  const uint64_t range = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
  header.code_bytes = CodeBytes(range);
  header.base = least;
  if (header.code_bytes > 1) {
    // The step costs a multiplication per row: only for narrower codes, of half the width or less.
    const uint64_t narrower_codes = uint64_t{1} << (4 * header.code_bytes);
    const uint64_t step = FindStep(column, values, rows, least, range / narrower_codes + 1);
    if (step > 1 && CodeBytes(range / step) < header.code_bytes) {
      header.step = step;
      header.code_bytes = CodeBytes(range / step);
    }
  }
  if (void* segment = TryIntegerDictionary(column, values, rows, header.code_bytes, zones, &writer, segment_bytes)) {
    return segment;
  }
  if (!zones.empty()) writer.SetPart(kZones, zones.data(), zones.size() * sizeof(SegmentZone));
  if (header.code_bytes == sizeof(T)) {  // in place, no base to add
    header.encoding = static_cast<uint8_t>(Encoding::kPlain);
    header.code_bytes = 0;
    header.base = 0;
    writer.SetPart(kValues, values, size_t{rows} * sizeof(T));
    return writer.Finish(segment_bytes);
  }
  header.encoding = static_cast<uint8_t>(Encoding::kFrame);
  const std::vector<uint8_t> codes = FrameCodes(column, values, rows, header);
  writer.SetPart(kCodes, codes.data(), codes.size());
  return writer.Finish(segment_bytes);
}

// ---------------------------------------------------------------- other fixed widths ----------

// The order key of a value, exact or only its beginning; false: the type has none.
bool FixedKey(PenumbraType type, const uint8_t* value, int64_t* key) {
  if (type == PENUMBRA_FLOAT4) {
    float v;
    std::memcpy(&v, value, sizeof(v));
    *key = FloatKey(v);
  } else if (type == PENUMBRA_FLOAT8) {
    double v;
    std::memcpy(&v, value, sizeof(v));
    *key = FloatKey(v);
  } else if (type == PENUMBRA_UUID) {
    *key = PrefixKey({reinterpret_cast<const char*>(value), 8});
  } else {
    return false;
  }
  return true;
}

void SetFixedBounds(const RowsColumn& column, uint32_t rows, uint32_t width, SegmentWriter* writer) {
  int64_t key, least = INT64_MAX, greatest = INT64_MIN;
  for (uint32_t row = 0; row < rows; ++row) {
    if (!column.IsValid(row)) continue;
    if (!FixedKey(column.type, column.fixed.data() + size_t{row} * width, &key)) return;
    least = std::min(least, key);
    greatest = std::max(greatest, key);
  }
  SetBounds(least, greatest, column.type != PENUMBRA_UUID, writer);
}

// Any total order of the bits that agrees with the type's order.
bool FixedLess(PenumbraType type, std::string_view a, std::string_view b) {
  int64_t x, y;
  if (FixedKey(type, reinterpret_cast<const uint8_t*>(a.data()), &x) &&
      FixedKey(type, reinterpret_cast<const uint8_t*>(b.data()), &y) && x != y) {
    return x < y;
  }
  return a < b;
}

}  // namespace

void* EncodeIntegers(const RowsColumn& column, uint32_t rows, size_t* segment_bytes) {
  switch (FlatWidth(column.type, column.numeric_form)) {
    case 1: return EncodeIntegersOf<uint8_t>(column, rows, segment_bytes);
    case 2: return EncodeIntegersOf<int16_t>(column, rows, segment_bytes);
    case 4: return EncodeIntegersOf<int32_t>(column, rows, segment_bytes);
    default: return EncodeIntegersOf<int64_t>(column, rows, segment_bytes);
  }
}

// A dictionary must save two fifths to be worth its indirection; all else is the values as they are.
void* EncodeFixed(const RowsColumn& column, uint32_t rows, size_t* segment_bytes) {
  const uint32_t width = FlatWidth(column.type, column.numeric_form);
  SegmentWriter writer(column.type, rows, column.null_count);
  SegmentHeader& header = writer.header();
  header.plain_bytes = uint64_t{rows} * width;
  SetFixedBounds(column, rows, width, &writer);
  SetValidity(column, rows, &writer);
  const auto value_of = [&](uint32_t row) {
    const char* value = reinterpret_cast<const char*>(column.fixed.data()) + size_t{row} * width;
    DistinctKey key = {0, {value, width}};
    std::memcpy(&key.word, value, width == 4 ? 4 : 8);
    return key;
  };
  RowDictionary dictionary;
  const uint32_t limit = std::max<uint32_t>(rows / 4, 1);
  if (LooksRepetitive(column, rows, value_of) &&
      BuildRowDictionary(
          column, rows, limit, value_of,
          [&](std::string_view a, std::string_view b) { return FixedLess(column.type, a, b); }, &dictionary)) {
    if (dictionary.entries.size() == 1 && column.null_count == 0) {
      header.encoding = static_cast<uint8_t>(Encoding::kConstant);
      writer.SetPart(kValues, dictionary.entries[0].data(), width);
      return writer.Finish(segment_bytes);
    }
    header.code_bytes = CodeBytes(dictionary.entries.size() - 1);
    if ((dictionary.entry_bytes + size_t{header.code_bytes} * rows) * 5 <= size_t{width} * rows * 3) {
      std::vector<char> entries;
      entries.reserve(dictionary.entry_bytes);
      for (std::string_view entry : dictionary.entries) entries.insert(entries.end(), entry.begin(), entry.end());
      const std::vector<uint8_t> codes = PackCodes(dictionary.codes, header.code_bytes);
      header.encoding = static_cast<uint8_t>(Encoding::kDictionary);
      header.dictionary_size = static_cast<uint32_t>(dictionary.entries.size());
      writer.SetPart(kCodes, codes.data(), codes.size());
      writer.SetPart(kValues, entries.data(), entries.size());
      return writer.Finish(segment_bytes);
    }
    header.code_bytes = 0;
  }
  header.encoding = static_cast<uint8_t>(Encoding::kPlain);
  writer.SetPart(kValues, column.fixed.data(), size_t{rows} * width);
  return writer.Finish(segment_bytes);
}

void* EncodeSegment(const Rows& rows, int c, size_t* segment_bytes) {
  const RowsColumn& column = rows.column(c);
  if (rows.row_count() > kSegmentRowsMax) throw EngineError(PENUMBRA_UNSUPPORTED, "too many rows for one segment");
  if (column.null_count == rows.row_count()) {
    SegmentWriter writer(column.type, rows.row_count(), column.null_count);
    writer.header().encoding = static_cast<uint8_t>(Encoding::kConstant);
    return writer.Finish(segment_bytes);
  }
  if (column.is_variable()) return EncodeStrings(column, rows.row_count(), segment_bytes);
  if (IsIntegerType(column.type, column.numeric_form)) return EncodeIntegers(column, rows.row_count(), segment_bytes);
  return EncodeFixed(column, rows.row_count(), segment_bytes);
}

}  // namespace penumbra
