// What a segment tells of its rows without being decoded: the counts and bounds that segment_format.h
// promises to be those of the values (I2, I6, I8).
#include "kernels/kernels.h"
#include "segment/segment.h"
#include "segment/segment_format.h"
#include "vector/string_load.h"

namespace penumbra {
namespace {

uint32_t CountValidRows(const SegmentView& segment, uint32_t begin, uint32_t count) {
  const SegmentHeader& header = segment.header();
  if (header.null_count == 0) return count;
  if (header.null_count == header.rows) return 0;
  if (count == header.rows) return count - header.null_count;
  return static_cast<uint32_t>(kernels::CountBits(segment.part<uint64_t>(kValidity) + begin / 64, count));
}

template <typename T>
const void* MakePair(T least, T greatest, Arena& arena) {
  T* pair = arena.AllocateArray<T>(2);
  pair[0] = least;
  pair[1] = greatest;
  return pair;
}

const void* MakeIntegers(uint32_t width, SegmentZone zone, Arena& arena) {
  switch (width) {
    case 1: return MakePair(static_cast<uint8_t>(zone.least), static_cast<uint8_t>(zone.greatest), arena);
    case 2: return MakePair(static_cast<int16_t>(zone.least), static_cast<int16_t>(zone.greatest), arena);
    case 4: return MakePair(static_cast<int32_t>(zone.least), static_cast<int32_t>(zone.greatest), arena);
    default: return MakePair(zone.least, zone.greatest, arena);
  }
}

// False for the keys that stand for more than one value: both zeros, and every NaN.
bool FloatOfKey(int64_t key, double* value) {
  if (key == FloatKey(0) || key == INT64_MAX) return false;
  const int64_t bits = key < 0 ? INT64_MIN | (INT64_MAX & ~key) : key;
  std::memcpy(value, &bits, sizeof(bits));
  return true;
}

const void* MakeFloats(const SegmentHeader& header, BoundsNeeded needed, Arena& arena) {
  if ((header.flags & kExactBounds) == 0) return nullptr;
  double least = 0, greatest = 0;
  if (needed.least && !FloatOfKey(header.least, &least)) return nullptr;
  if (needed.greatest && !FloatOfKey(header.greatest, &greatest)) return nullptr;
  if (header.type == PENUMBRA_FLOAT8) return MakePair(least, greatest, arena);
  return MakePair(static_cast<float>(least), static_cast<float>(greatest), arena);
}

StringRef TextEntry(const SegmentView& segment, uint32_t code) {
  const uint32_t* ends = segment.part<uint32_t>(kStarts);
  if (ends == nullptr) return segment.part<StringRef>(kValues)[code];
  const uint32_t begin = code == 0 ? 0 : ends[code - 1];
  return LoadStringRef(segment.part<char>(kBytes) + begin, ends[code] - begin);
}

// Entries ascend in the type's order, and equal values are the same bytes, with these types only.
const void* MakeEntries(const SegmentView& segment, Arena& arena) {
  const uint32_t last = segment.header().dictionary_size - 1;
  if (segment.type() == PENUMBRA_TEXT) return MakePair(TextEntry(segment, 0), TextEntry(segment, last), arena);
  if (segment.type() != PENUMBRA_UUID) return nullptr;
  const auto* entries = segment.part<kernels::Bytes16>(kValues);
  return MakePair(entries[0], entries[last], arena);
}

}  // namespace

// Returns false if the bounds are not known without decoding. The rows are the whole segment or one vector of it, since
// zones are kept per vector.
bool SegmentReader::Summarize(uint32_t begin, uint32_t count, BoundsNeeded needed, Arena& arena,
                              ColumnSummary* summary) const {
  const SegmentView segment(segment_);
  const SegmentHeader& header = segment.header();
  const bool is_whole = count == header.rows;
  summary->valid_rows = CountValidRows(segment, begin, count);
  if (summary->valid_rows == 0 || !needed.any()) return true;
  Vector& bounds = summary->bounds;
  bounds = Vector();
  bounds.type = segment.type();
  bounds.numeric_form = segment.numeric_form();
  bounds.scale = header.scale;
  if (segment.encoding() == Encoding::kConstant) {
    const uint32_t width = segment.value_width();
    char* pair = static_cast<char*>(arena.Allocate(size_t{2} * width));
    const Vector value = Decode(0, 1, arena);
    for (uint32_t i = 0; i < 2; ++i) std::memcpy(pair + i * width, value.data, width);
    bounds.data = pair;
    bounds.lower = value.lower;
    bounds.upper = value.upper;
  } else if (segment.is_integer()) {
    const SegmentZone* zones = segment.part<SegmentZone>(kZones);
    if (!is_whole && zones == nullptr) return false;
    const SegmentZone zone = is_whole ? SegmentZone{header.least, header.greatest} : zones[begin / kVectorRows];
    bounds.data = MakeIntegers(segment.value_width(), zone, arena);
    bounds.lower = zone.least;
    bounds.upper = zone.greatest;
  } else if (!is_whole) {
    return false;
  } else if (bounds.type == PENUMBRA_FLOAT4 || bounds.type == PENUMBRA_FLOAT8) {
    bounds.data = MakeFloats(header, needed, arena);
  } else if (segment.encoding() == Encoding::kDictionary) {
    bounds.data = MakeEntries(segment, arena);
  }
  return bounds.data != nullptr;
}

}  // namespace penumbra
