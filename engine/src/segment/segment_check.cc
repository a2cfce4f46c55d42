// Proves the invariants of segment_format.h for bytes that may be anything: every read below is
// inside what an earlier line has proven.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "numeric/numeric.h"
#include "segment/range_zones.h"
#include "segment/segment.h"
#include "segment/segment_format.h"

namespace penumbra {
namespace {

[[noreturn]] void Fail(const char* what) { throw EngineError(PENUMBRA_CORRUPT, what); }
void Require(bool holds, const char* what) {
  if (!holds) Fail(what);
}

bool IsKnownType(uint8_t type) { return type >= PENUMBRA_BOOL && type <= PENUMBRA_UUID; }

void CheckHeader(const SegmentHeader& header, size_t segment_bytes) {
  Require(header.magic == kSegmentMagic, "not a segment");
  Require(header.version == kSegmentVersion, "segment of another version");
  Require(header.segment_bytes == segment_bytes, "segment of the wrong length");
  Require(IsKnownType(header.type), "unknown type");
  Require(header.numeric_form <= static_cast<uint8_t>(NumericForm::kPayload), "unknown form of numeric");
  Require(header.type == PENUMBRA_NUMERIC || header.numeric_form == 0, "form of numeric on another type");
  Require(header.encoding >= 1 && header.encoding <= static_cast<uint8_t>(Encoding::kCompressed), "unknown encoding");
  Require(header.rows <= kSegmentRowsMax && header.null_count <= header.rows, "row counts");
  Require(header.scale >= 0 && header.scale <= kNumericScaleMax, "numeric scale");
  Require(header.step >= 1, "step");
  Require((header.flags & ~kAllFlags) == 0 && header.zero[0] == 0 && header.zero[1] == 0 && header.zero[2] == 0,
          "unknown flags");
}

void CheckParts(const SegmentHeader& header) {
  for (int p = 0; p < kPartCount; ++p) {
    const SegmentPart& part = header.parts[p];
    if (part.offset == 0) {
      Require(part.bytes == 0, "size of an absent part");
      continue;
    }
    const uint64_t padding = p == kBytes ? kBytesPadding : 0;
    Require(part.offset % kPartAlignment == 0 && part.offset >= sizeof(SegmentHeader), "alignment of a part");
    Require(part.offset <= header.segment_bytes && part.bytes <= header.segment_bytes - part.offset &&
                padding <= header.segment_bytes - part.offset - part.bytes,
            "part outside the segment");
  }
}

void RequirePart(const SegmentView& segment, Part part, uint64_t bytes) {
  Require(segment.part<char>(part) != nullptr && segment.part_bytes(part) == bytes, "size of a part");
}
void RequireAbsent(const SegmentView& segment, Part part) {
  Require(segment.part<char>(part) == nullptr, "part that the encoding has not");
}

void CheckValidity(const SegmentView& segment) {
  const SegmentHeader& header = segment.header();
  if (header.null_count == 0 || segment.encoding() == Encoding::kConstant) {
    RequireAbsent(segment, kValidity);
    return;
  }
  RequirePart(segment, kValidity, kernels::BitmapWords(header.rows) * sizeof(uint64_t));
  const uint64_t* validity = segment.part<uint64_t>(kValidity);
  Require(kernels::CountBits(validity, header.rows) == header.rows - header.null_count, "count of nulls");
  Require(header.rows % 64 == 0 || validity[header.rows / 64] >> (header.rows % 64) == 0, "validity past the end");
}

bool IsValidRow(const SegmentView& segment, uint32_t row) {
  const uint64_t* validity = segment.part<uint64_t>(kValidity);
  return validity == nullptr || ((validity[row / 64] >> (row % 64)) & 1) != 0;
}

// ---------------------------------------------------------------- strings ---------------------

template <typename Length>
void CheckLengthsOf(const SegmentView& segment, uint64_t total) {
  const SegmentHeader& header = segment.header();
  const Length* lengths = segment.part<Length>(kCodes);
  const uint32_t* starts = segment.part<uint32_t>(kStarts);
  uint64_t offset = 0;
  for (uint32_t row = 0; row < header.rows; ++row) {
    if (row % kGroupRows == 0) Require(starts[row / kGroupRows] == offset, "start of a group of strings");
    Require(lengths[row] == 0 || IsValidRow(segment, row), "length of a null string");
    offset += lengths[row];
  }
  Require(starts[GroupCount(header.rows)] == offset, "end of the strings");
  Require(total == UINT64_MAX || offset == total, "bytes of the strings");
}

// total: bytes of all strings, UINT64_MAX if not known.
void CheckLengths(const SegmentView& segment, uint64_t total) {
  const SegmentHeader& header = segment.header();
  Require(header.code_bytes == 1 || header.code_bytes == 2 || header.code_bytes == 4, "width of lengths");
  RequirePart(segment, kCodes, uint64_t{header.rows} * header.code_bytes);
  RequirePart(segment, kStarts, (uint64_t{GroupCount(header.rows)} + 1) * sizeof(uint32_t));
  switch (header.code_bytes) {
    case 1: return CheckLengthsOf<uint8_t>(segment, total);
    case 2: return CheckLengthsOf<uint16_t>(segment, total);
    default: return CheckLengthsOf<uint32_t>(segment, total);
  }
}

void CheckCompressed(const SegmentView& segment) {
  const SegmentHeader& header = segment.header();
  Require(segment.is_string_form(), "compressed values that are no strings");
  Require(
      header.block_rows >= kGroupRows && header.block_rows % kGroupRows == 0 && header.block_rows <= kSegmentRowsMax,
      "rows of a block");
  RequireAbsent(segment, kValues);
  CheckLengths(segment, UINT64_MAX);
  const uint32_t block_count = (header.rows + header.block_rows - 1) / header.block_rows;
  RequirePart(segment, kBlocks, (uint64_t{block_count} + 1) * sizeof(uint32_t));
  const uint32_t* blocks = segment.part<uint32_t>(kBlocks);
  const uint32_t* starts = segment.part<uint32_t>(kStarts);
  Require(blocks[0] == 0, "start of the blocks");
  for (uint32_t block = 0; block < block_count; ++block) {
    Require(blocks[block] <= blocks[block + 1], "order of blocks");
    const uint32_t groups = header.block_rows / kGroupRows;
    const uint32_t end = std::min((block + 1) * groups, GroupCount(header.rows));
    // Bytes that do not decompress to this many are refused when read.
    Require(blocks[block + 1] - blocks[block] <= starts[end] - starts[block * groups], "size of a block");
    Require(starts[end] - starts[block * groups] <= INT32_MAX - kBytesPadding, "size of a block");
  }
  Require(segment.part<char>(kBytes) != nullptr && blocks[block_count] == segment.part_bytes(kBytes),
          "end of the blocks");
}

// ---------------------------------------------------------------- dictionaries ----------------

bool IsAnsweredFromEntries(const SegmentView& segment) {
  return segment.type() == PENUMBRA_TEXT || segment.type() == PENUMBRA_UUID;
}

template <typename Code>
void CheckCodesOf(const SegmentView& segment) {
  const SegmentHeader& header = segment.header();
  const Code* codes = segment.part<Code>(kCodes);
  Code least, greatest;
  if (!kernels::FindBounds(codes, nullptr, header.rows, &least, &greatest)) return;
  Require(greatest < header.dictionary_size, "code past the dictionary");
  std::vector<uint8_t> is_used(header.dictionary_size);
  for (uint32_t row = 0; row < header.rows; ++row) {
    const bool is_valid = header.null_count == 0 || IsValidRow(segment, row);
    Require(codes[row] == 0 || is_valid, "code of a null");
    is_used[codes[row]] |= is_valid;
  }
  if (!IsAnsweredFromEntries(segment)) return;
  for (uint8_t is_one_used : is_used) Require(is_one_used != 0, "dictionary entry of no row");
}

void CheckStringRefs(const StringRef* refs, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    Require(refs[i].is_inline(), "string reference that is not inline");
    const char* bytes = reinterpret_cast<const char*>(&refs[i]) + sizeof(uint32_t);
    for (uint32_t b = refs[i].length; b < StringRef::kInlineBytes; ++b) {
      Require(bytes[b] == 0, "string reference not zero past its end");
    }
  }
}

template <typename EntryOf>
void CheckAscending(uint32_t count, EntryOf&& entry_of) {
  for (uint32_t i = 1; i < count; ++i) Require(entry_of(i - 1) < entry_of(i), "order of dictionary entries");
}

void CheckEntryOrder(const SegmentView& segment) {
  const uint32_t count = segment.header().dictionary_size;
  if (segment.type() == PENUMBRA_UUID) {
    const char* values = segment.part<char>(kValues);
    return CheckAscending(count, [=](uint32_t i) { return std::string_view(values + 16 * i, 16); });
  }
  if (const uint32_t* ends = segment.part<uint32_t>(kStarts); ends != nullptr) {
    const char* bytes = segment.part<char>(kBytes);
    return CheckAscending(count, [=](uint32_t i) {
      const uint32_t begin = i == 0 ? 0 : ends[i - 1];
      return std::string_view(bytes + begin, ends[i] - begin);
    });
  }
  const StringRef* refs = segment.part<StringRef>(kValues);
  CheckAscending(count, [=](uint32_t i) { return refs[i].view(); });
}

// The order of entries is checked for the types whose queries are answered from the first and the last entry.
void CheckDictionary(const SegmentView& segment) {
  const SegmentHeader& header = segment.header();
  Require(header.code_bytes == 1 || header.code_bytes == 2 || header.code_bytes == 4, "width of codes");
  Require(header.dictionary_size > 0, "empty dictionary");
  RequirePart(segment, kCodes, uint64_t{header.rows} * header.code_bytes);
  RequireAbsent(segment, kBlocks);
  switch (header.code_bytes) {
    case 1: CheckCodesOf<uint8_t>(segment); break;
    case 2: CheckCodesOf<uint16_t>(segment); break;
    default: CheckCodesOf<uint32_t>(segment); break;
  }
  if (segment.part<char>(kStarts) == nullptr) {
    RequirePart(segment, kValues, uint64_t{header.dictionary_size} * segment.value_width());
    RequireAbsent(segment, kBytes);
    if (segment.is_string_form()) CheckStringRefs(segment.part<StringRef>(kValues), header.dictionary_size);
    if (IsAnsweredFromEntries(segment)) CheckEntryOrder(segment);
    return;
  }
  Require(segment.is_string_form(), "long dictionary entries that are no strings");
  RequireAbsent(segment, kValues);
  RequirePart(segment, kStarts, uint64_t{header.dictionary_size} * sizeof(uint32_t));
  const uint32_t* ends = segment.part<uint32_t>(kStarts);
  for (uint32_t i = 1; i < header.dictionary_size; ++i) Require(ends[i - 1] <= ends[i], "order of dictionary entries");
  RequirePart(segment, kBytes, ends[header.dictionary_size - 1]);
  if (IsAnsweredFromEntries(segment)) CheckEntryOrder(segment);
}

// ---------------------------------------------------------------- bounds ----------------------

struct Bounds {
  bool is_any = false;
  int64_t least = 0;
  int64_t greatest = 0;
};

template <typename T>
Bounds BoundsOf(const T* values, const uint64_t* validity, uint32_t rows) {
  T least{}, greatest{};
  Bounds bounds;
  bounds.is_any = kernels::FindBounds(values, validity, rows, &least, &greatest);
  bounds.least = least;
  bounds.greatest = greatest;
  return bounds;
}

Bounds BoundsOfVector(const Vector& v, uint32_t rows) {
  switch (FlatWidth(v)) {
    case 1: return BoundsOf(v.values<uint8_t>(), v.validity, rows);
    case 2: return BoundsOf(v.values<int16_t>(), v.validity, rows);
    case 4: return BoundsOf(v.values<int32_t>(), v.validity, rows);
    default: return BoundsOf(v.values<int64_t>(), v.validity, rows);
  }
}

// Codes times step plus base may not leave the type: decoding would wrap to a value within the
// bounds.
void CheckFrameRange(const SegmentView& segment) {
  const SegmentHeader& header = segment.header();
  Bounds codes;
  switch (header.code_bytes) {
    case 1: codes = BoundsOf(segment.part<uint8_t>(kCodes), nullptr, header.rows); break;
    case 2: codes = BoundsOf(segment.part<uint16_t>(kCodes), nullptr, header.rows); break;
    default: codes = BoundsOf(segment.part<uint32_t>(kCodes), nullptr, header.rows); break;
  }
  if (!codes.is_any) return;
  const uint32_t bits = 8 * segment.value_width() - 1;
  const int128 limit = static_cast<int128>(1) << bits;
  const int128 highest = static_cast<int128>(codes.greatest) * header.step + header.base;
  Require(header.base >= -limit && highest < limit, "frame outside the type");
}

// Queries are answered from bounds alone, so every value is decoded and compared with them.
void CheckIntegerBounds(const SegmentView& segment, const void* bytes) {
  const SegmentHeader& header = segment.header();
  Require(header.rows == header.null_count || header.flags == kAllFlags, "bounds of integers");
  const SegmentZone* zones = segment.part<SegmentZone>(kZones);
  if (zones != nullptr) RequirePart(segment, kZones, uint64_t{VectorCount(header.rows)} * sizeof(SegmentZone));
  Bounds all;
  SegmentReader reader(bytes);
  Arena arena;
  for (uint32_t begin = 0; begin < header.rows; begin += kVectorRows) {
    const uint32_t count = std::min(kVectorRows, header.rows - begin);
    arena.Reset();
    const Bounds bounds = BoundsOfVector(Flatten(reader.Decode(begin, count, arena), count, arena), count);
    if (zones != nullptr) {
      const SegmentZone& zone = zones[begin / kVectorRows];
      Require(
          bounds.is_any ? zone.least == bounds.least && zone.greatest == bounds.greatest : zone.least > zone.greatest,
          "bounds of a zone");
    }
    if (!bounds.is_any) continue;
    all.least = all.is_any ? std::min(all.least, bounds.least) : bounds.least;
    all.greatest = all.is_any ? std::max(all.greatest, bounds.greatest) : bounds.greatest;
    all.is_any = true;
  }
  if (all.is_any) Require(all.least == header.least && all.greatest == header.greatest, "bounds of the segment");
  if (all.is_any && segment.type() == PENUMBRA_BOOL) Require(all.least >= 0 && all.greatest <= 1, "value of a boolean");
}

// Conditions read ranges by what their zones say, so the zones are found again.
void CheckRangeZones(const SegmentView& segment, const void* bytes) {
  const auto* zones = segment.part<RangeZone>(kZones);
  if (zones == nullptr) return;
  const SegmentHeader& header = segment.header();
  Require(IsStringType(segment.type()) && segment.encoding() != Encoding::kCompressed, "zones of other values");
  RequirePart(segment, kZones, uint64_t{VectorCount(header.rows)} * sizeof(RangeZone));
  SegmentReader reader(bytes);
  Arena arena;
  for (uint32_t begin = 0; begin < header.rows; begin += kVectorRows) {
    const uint32_t count = std::min(kVectorRows, header.rows - begin);
    const RangeZone& zone = zones[begin / kVectorRows];
    arena.Reset();
    const Vector ranges = Flatten(reader.Decode(begin, count, arena), count, arena);
    RangeZone found;
    Require(zone.form == zones[0].form && FindRangeZone(zone.form, ranges, count, &found) &&
                std::memcmp(&zone, &found, sizeof(zone)) == 0,
            "bounds of ranges");
  }
}

template <typename T>
void CheckFloatBoundsOf(const SegmentView& segment, const void* bytes) {
  const SegmentHeader& header = segment.header();
  int64_t least = INT64_MAX, greatest = INT64_MIN;
  SegmentReader reader(bytes);
  Arena arena;
  for (uint32_t begin = 0; begin < header.rows; begin += kVectorRows) {
    const uint32_t count = std::min(kVectorRows, header.rows - begin);
    arena.Reset();
    const Vector v = Flatten(reader.Decode(begin, count, arena), count, arena);
    for (uint32_t row = 0; row < count; ++row) {
      if (!v.IsValid(row)) continue;
      const int64_t key = FloatKey(v.values<T>()[row]);
      least = std::min(least, key);
      greatest = std::max(greatest, key);
    }
  }
  Require(least == header.least && greatest == header.greatest, "bounds of floats");
}

void CheckFloatBounds(const SegmentView& segment, const void* bytes) {
  const SegmentHeader& header = segment.header();
  if (header.null_count == header.rows || (header.flags & kExactBounds) == 0) return;
  if (segment.type() == PENUMBRA_FLOAT4) CheckFloatBoundsOf<float>(segment, bytes);
  if (segment.type() == PENUMBRA_FLOAT8) CheckFloatBoundsOf<double>(segment, bytes);
}

// Consumers of an int128 rest on its bounds, so that sums need no check.
void CheckInt128Bounds(const SegmentView& segment) {
  const SegmentHeader& header = segment.header();
  if (header.null_count == header.rows) return;
  Require((header.flags & kHasBounds) != 0, "bounds of numerics");
  const bool is_constant = segment.encoding() == Encoding::kConstant;
  const bool is_dictionary = segment.encoding() == Encoding::kDictionary;
  const int128* values = segment.part<int128>(kValues);
  const uint32_t count = is_constant ? 1 : is_dictionary ? header.dictionary_size : header.rows;
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_constant && !is_dictionary && !IsValidRow(segment, i)) continue;
    int128 value;
    std::memcpy(static_cast<void*>(&value), values + i, sizeof(value));
    const bool fits_low = value >= header.least || header.least == INT64_MIN;
    const bool fits_high = value <= header.greatest || header.greatest == INT64_MAX;
    Require(fits_low && fits_high, "value outside the bounds");
  }
}

void CheckConstant(const SegmentView& segment) {
  const SegmentHeader& header = segment.header();
  Require(header.null_count == 0 || header.null_count == header.rows, "nulls of a constant");
  for (Part part : {kCodes, kStarts, kZones, kBlocks}) RequireAbsent(segment, part);
  if (header.null_count == header.rows) {
    RequireAbsent(segment, kValues);
    RequireAbsent(segment, kBytes);
  } else if (segment.is_string_form()) {
    RequireAbsent(segment, kValues);
    Require(segment.part<char>(kBytes) != nullptr && segment.part_bytes(kBytes) <= UINT32_MAX, "constant string");
  } else {
    RequirePart(segment, kValues, segment.value_width());
    RequireAbsent(segment, kBytes);
  }
}

void CheckFrame(const SegmentView& segment) {
  const SegmentHeader& header = segment.header();
  Require(segment.is_integer(), "frame of values that are no integers");
  Require(header.code_bytes == 1 || header.code_bytes == 2 || header.code_bytes == 4, "width of codes");
  Require(header.code_bytes < segment.value_width(), "width of codes");
  RequirePart(segment, kCodes, uint64_t{header.rows} * header.code_bytes);
  for (Part part : {kValues, kStarts, kBytes, kBlocks}) RequireAbsent(segment, part);
  CheckFrameRange(segment);
}

void CheckPlain(const SegmentView& segment) {
  const SegmentHeader& header = segment.header();
  RequireAbsent(segment, kBlocks);
  if (segment.is_string_form()) {
    RequireAbsent(segment, kValues);
    Require(segment.part<char>(kBytes) != nullptr, "strings without bytes");
    CheckLengths(segment, segment.part_bytes(kBytes));
  } else {
    for (Part part : {kCodes, kStarts, kBytes}) RequireAbsent(segment, part);
    RequirePart(segment, kValues, uint64_t{header.rows} * segment.value_width());
  }
}

}  // namespace

// Each check relies on those before it. After them readers trust the segment, except for the bytes of compressed
// blocks, which are checked when they are read.
void CheckSegment(const void* bytes, size_t segment_bytes) {
  Require(segment_bytes >= sizeof(SegmentHeader), "shorter than its header");
  Require(reinterpret_cast<uintptr_t>(bytes) % alignof(SegmentHeader) == 0, "not aligned");
  const SegmentView segment(bytes);
  CheckHeader(segment.header(), segment_bytes);
  CheckParts(segment.header());
  CheckValidity(segment);
  switch (segment.encoding()) {
    case Encoding::kConstant: CheckConstant(segment); break;
    case Encoding::kFrame: CheckFrame(segment); break;
    case Encoding::kPlain: CheckPlain(segment); break;
    case Encoding::kDictionary: CheckDictionary(segment); break;
    case Encoding::kCompressed: CheckCompressed(segment); break;
  }
  if (segment.is_integer()) {
    CheckIntegerBounds(segment, bytes);
  } else {
    CheckRangeZones(segment, bytes);
    CheckFloatBounds(segment, bytes);
  }
  if (segment.type() == PENUMBRA_NUMERIC && segment.numeric_form() == NumericForm::kInt128) CheckInt128Bounds(segment);
}

}  // namespace penumbra
