// Strings, and numerics that are not int64 of one scale.
#include <lz4.h>

#include "numeric/numeric.h"
#include "segment/range_zones.h"
#include "segment/segment_encode.h"

namespace penumbra {
namespace {

class StringBounds {
 public:
  explicit StringBounds(PenumbraType type) : type_(type) {}
  void Add(std::string_view value) {
    const int64_t key = PrefixKey(type_ == PENUMBRA_BPCHAR ? TrimBlanks(value) : value);
    least_ = std::min(least_, key);
    greatest_ = std::max(greatest_, key);
  }
  void Store(SegmentWriter* writer) const {
    if (IsStringType(type_)) SetBounds(least_, greatest_, false, writer);  // there are none for numerics
  }

 private:
  const PenumbraType type_;
  int64_t least_ = INT64_MAX;
  int64_t greatest_ = INT64_MIN;
};

void SetEntryBounds(const RowDictionary& dictionary, PenumbraType type, SegmentWriter* writer) {
  StringBounds bounds(type);
  for (std::string_view entry : dictionary.entries) bounds.Add(entry);
  bounds.Store(writer);
}

void SetRowBounds(const RowsColumn& column, uint32_t rows, SegmentWriter* writer) {
  StringBounds bounds(column.type);
  for (uint32_t row = 0; row < rows; ++row) {
    if (column.IsValid(row)) bounds.Add(column.View(row));
  }
  bounds.Store(writer);
}

// All values as int128 of one scale, if they are.
bool ConvertToInt128(const RowsColumn& column, uint32_t rows, std::vector<int128>* values, int* scale) {
  if (column.type != PENUMBRA_NUMERIC) return false;
  *scale = -1;
  values->assign(rows, 0);
  for (uint32_t row = 0; row < rows; ++row) {
    if (!column.IsValid(row)) continue;
    const std::string_view payload = column.View(row);
    int value_scale;
    if (!PayloadToInt128(payload.data(), static_cast<uint32_t>(payload.size()), &(*values)[row], &value_scale) ||
        (*scale >= 0 && value_scale != *scale)) {
      return false;
    }
    *scale = value_scale;
  }
  return true;
}

int64_t Saturate(int128 value) {
  return value < INT64_MIN ? INT64_MIN : value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
}

void SetInt128Bounds(const RowsColumn& column, const std::vector<int128>& values, SegmentWriter* writer) {
  int64_t least = INT64_MAX, greatest = INT64_MIN;
  for (uint32_t row = 0; row < values.size(); ++row) {
    if (!column.IsValid(row)) continue;
    least = std::min(least, Saturate(values[row]));
    greatest = std::max(greatest, Saturate(values[row]));
  }
  SetBounds(least, greatest, false, writer);
}

void SetRangeZones(const std::vector<RangeZone>& zones, SegmentWriter* writer) {
  if (!zones.empty()) writer->SetPart(kZones, zones.data(), zones.size() * sizeof(RangeZone));
}

// The parts of a string column, plain; kept alive until the segment is written.
struct StringParts {
  std::vector<uint8_t> lengths;
  std::vector<uint32_t> starts;
  std::vector<uint32_t> blocks;
  std::vector<char> compressed;
};

uint8_t LengthBytes(const RowsColumn& column, uint32_t rows) {
  uint32_t longest = 0, begin = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    longest = std::max(longest, column.ends[row] - begin);
    begin = column.ends[row];
  }
  return CodeBytes(longest);
}

StringParts MakeLengths(const RowsColumn& column, uint32_t rows, uint8_t length_bytes) {
  StringParts parts;
  std::vector<uint32_t> lengths(rows);
  uint32_t begin = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    lengths[row] = column.ends[row] - begin;
    if (row % kGroupRows == 0) parts.starts.push_back(begin);
    begin = column.ends[row];
  }
  parts.starts.push_back(begin);
  parts.lengths = PackCodes(lengths, length_bytes);
  return parts;
}

// Rows per block so that a block has some 32 kB: enough for LZ4 to find what repeats, few enough
// that a vector of short texts decodes from few blocks and a selected row of long ones does not
// cost many others.
uint32_t ChooseBlockRows(size_t bytes, uint32_t rows) {
  constexpr size_t kBlockBytes = 32 << 10;
  const size_t average = std::max<size_t>(1, bytes / rows);
  uint32_t block_rows = kGroupRows;
  while (block_rows < kVectorRows && block_rows * 2 * average <= kBlockBytes) block_rows *= 2;
  return block_rows;
}

// LZ4 decodes at a few GB/s, ten times slower than plain strings are read: only for long texts that
// become clearly smaller, and judged by a sample first.
bool Compress(const RowsColumn& column, uint32_t rows, uint32_t block_rows, StringParts* parts) {
  const uint32_t block_count = (rows + block_rows - 1) / block_rows;
  const size_t total = column.variable_bytes();
  constexpr double kClearlySmaller = 0.6;
  constexpr uint32_t kSampleBlocks = 4;
  parts->blocks.assign(1, 0);
  size_t raw_done = 0;
  std::vector<char>& out = parts->compressed;
  for (uint32_t block = 0; block < block_count; ++block) {
    const uint32_t from = parts->starts[size_t{block} * block_rows / kGroupRows];
    const uint32_t to_group = std::min<uint32_t>((block + 1) * (block_rows / kGroupRows), GroupCount(rows));
    const uint32_t raw = parts->starts[to_group] - from;
    if (raw > LZ4_MAX_INPUT_SIZE) return false;
    const size_t before = out.size();
    out.resize(before + static_cast<size_t>(LZ4_compressBound(static_cast<int>(raw))));
    int packed = LZ4_compress_default(column.bytes.data() + from, out.data() + before, static_cast<int>(raw),
                                      static_cast<int>(out.size() - before));
    if (packed <= 0 || static_cast<uint32_t>(packed) >= raw) {
      std::memcpy(out.data() + before, column.bytes.data() + from, raw);
      packed = static_cast<int>(raw);
    }
    out.resize(before + static_cast<size_t>(packed));
    parts->blocks.push_back(static_cast<uint32_t>(out.size()));
    raw_done += raw;
    if (block + 1 == kSampleBlocks &&
        static_cast<double>(out.size()) > kClearlySmaller * static_cast<double>(raw_done)) {
      return false;
    }
  }
  return static_cast<double>(out.size()) <= kClearlySmaller * static_cast<double>(total);
}

// If all entries fit into references, they are stored as such and need no bytes of their own.
void* WriteStringDictionary(const RowDictionary& dictionary, SegmentWriter* writer, size_t* segment_bytes) {
  SegmentHeader& header = writer->header();
  header.encoding = static_cast<uint8_t>(Encoding::kDictionary);
  header.code_bytes = CodeBytes(dictionary.entries.size() - 1);
  header.dictionary_size = static_cast<uint32_t>(dictionary.entries.size());
  const std::vector<uint8_t> codes = PackCodes(dictionary.codes, header.code_bytes);
  writer->SetPart(kCodes, codes.data(), codes.size());
  size_t longest = 0;
  for (std::string_view entry : dictionary.entries) longest = std::max(longest, entry.size());
  if (longest <= StringRef::kInlineBytes) {
    std::vector<StringRef> refs;
    refs.reserve(dictionary.entries.size());
    for (std::string_view entry : dictionary.entries) refs.emplace_back(entry);
    writer->SetPart(kValues, refs.data(), refs.size() * sizeof(StringRef));
    return writer->Finish(segment_bytes);
  }
  std::vector<char> bytes;
  std::vector<uint32_t> ends;
  bytes.reserve(dictionary.entry_bytes);
  for (std::string_view entry : dictionary.entries) {
    bytes.insert(bytes.end(), entry.begin(), entry.end());
    ends.push_back(static_cast<uint32_t>(bytes.size()));
  }
  writer->SetPart(kStarts, ends.data(), ends.size() * sizeof(uint32_t));
  writer->SetPart(kBytes, bytes.data(), bytes.size());
  return writer->Finish(segment_bytes);
}

// Dictionary bytes that are worth it: clearly fewer than plain, and the more so the more entries
// there are, because rows then come from random places.
bool IsDictionarySmaller(const RowDictionary& dictionary, uint32_t rows, size_t plain_size) {
  const size_t entries = dictionary.entries.size();
  const size_t size = dictionary.entry_bytes + entries * sizeof(uint32_t) + size_t{CodeBytes(entries)} * rows;
  const double share = entries > rows / 8 ? 0.5 : 0.8;
  return static_cast<double>(size) < share * static_cast<double>(plain_size);
}

}  // namespace

// Tried in this order: numerics as int128 of one scale, one value, a dictionary (codes also make filters and groups
// cheap), LZ4 in blocks for long text, the bytes with their lengths.
void* EncodeStrings(const RowsColumn& column, uint32_t rows, size_t* segment_bytes) {
  SegmentWriter writer(column.type, rows, column.null_count);
  SegmentHeader& header = writer.header();
  header.numeric_form = static_cast<uint8_t>(column.numeric_form);
  if (column.null_count > 0) {
    writer.SetPart(kValidity, column.validity.data(), kernels::BitmapWords(rows) * sizeof(uint64_t));
  }
  std::vector<int128> wide;
  int scale;
  if (ConvertToInt128(column, rows, &wide, &scale)) {
    header.numeric_form = static_cast<uint8_t>(NumericForm::kInt128);
    header.scale = static_cast<int16_t>(scale);
    header.plain_bytes = uint64_t{rows} * sizeof(int128);
    header.encoding = static_cast<uint8_t>(Encoding::kPlain);
    SetInt128Bounds(column, wide, &writer);
    writer.SetPart(kValues, wide.data(), wide.size() * sizeof(int128));
    return writer.Finish(segment_bytes);
  }
  const size_t total = column.variable_bytes();
  if (IsStringType(column.type)) header.numeric_form = 0;
  const std::vector<RangeZone> zones = FindRangeZones(column, rows);
  const uint8_t length_bytes = LengthBytes(column, rows);
  const size_t plain_size = total + size_t{length_bytes} * rows;
  header.plain_bytes = total + uint64_t{rows} * sizeof(uint32_t);
  const auto value_of = [&](uint32_t row) { return PaddedKey(column.View(row)); };
  RowDictionary dictionary;
  if (LooksRepetitive(column, rows, value_of) &&
      BuildRowDictionary(column, rows, std::max<uint32_t>(rows / 2, 1), value_of, std::less<std::string_view>(),
                         &dictionary)) {
    SetEntryBounds(dictionary, column.type, &writer);
    if (dictionary.entries.size() == 1 && column.null_count == 0) {
      header.encoding = static_cast<uint8_t>(Encoding::kConstant);
      writer.SetPart(kBytes, dictionary.entries[0].data(), dictionary.entries[0].size());
      return writer.Finish(segment_bytes);
    }
    if (IsDictionarySmaller(dictionary, rows, plain_size)) {
      SetRangeZones(zones, &writer);
      return WriteStringDictionary(dictionary, &writer, segment_bytes);
    }
  }
  SetRowBounds(column, rows, &writer);
  StringParts parts = MakeLengths(column, rows, length_bytes);
  header.code_bytes = length_bytes;
  writer.SetPart(kCodes, parts.lengths.data(), parts.lengths.size());
  writer.SetPart(kStarts, parts.starts.data(), parts.starts.size() * sizeof(uint32_t));
  constexpr size_t kLongTextBytes = 128;
  const uint32_t block_rows = ChooseBlockRows(total, rows);
  if (total / (rows - column.null_count) >= kLongTextBytes && Compress(column, rows, block_rows, &parts)) {
    header.encoding = static_cast<uint8_t>(Encoding::kCompressed);
    header.block_rows = block_rows;
    writer.SetPart(kBytes, parts.compressed.data(), parts.compressed.size());
    writer.SetPart(kBlocks, parts.blocks.data(), parts.blocks.size() * sizeof(uint32_t));
    return writer.Finish(segment_bytes);
  }
  header.encoding = static_cast<uint8_t>(Encoding::kPlain);
  SetRangeZones(zones, &writer);
  writer.SetPart(kBytes, column.bytes.data(), total);
  return writer.Finish(segment_bytes);
}

}  // namespace penumbra
