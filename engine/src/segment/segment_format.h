// The bytes of a segment: one column of a chunk. Little endian; no pointers; no padding but zeros;
// nothing depends on the CPU of the writer. A change of meaning raises kSegmentVersion, which old
// code refuses.
//
//   offset  bytes  field
//        0      4  magic "PNBS"
//        4      2  version
//        6      1  type            PenumbraType
//        7      1  encoding        Encoding
//        8      4  rows
//       12      4  null_count
//       16      8  segment_bytes   all of the segment
//       24      8  plain_bytes     of the rows unencoded
//       32      1  numeric_form    NumericForm, for NUMERIC
//       33      1  code_bytes      width of codes (1, 2, 4, 8) or of the lengths of strings (1, 2, 4)
//       34      2  scale           of NUMERIC held as integers
//       36      4  dictionary_size
//       40      8  base            kFrame: value = base + code * step
//       48      8  step            kFrame: >= 1
//       56      8  least           order keys of the smallest and greatest value, see below
//       64      8  greatest
//       72      1  flags           SegmentFlag
//       73      3  zero
//       76      4  block_rows      kCompressed: rows of a block, a multiple of 64
//       80    112  parts           offset and bytes of each Part, 8 bytes each
//      192         the parts, each at a multiple of 64; kBytes is followed by at least 16 more bytes
//
// What each encoding holds, besides kValidity (if there are both nulls and values) and kZones
// (optional):
//
//   kConstant    every row has the value in kValues (strings: kBytes), or is null and there is no
//                part
//   kFrame       kCodes: code_bytes per row; value = base + code * step
//   kPlain       kValues: the flat value of each row (segment.h). Strings: kCodes is the length of
//                each row, kStarts the offset in kBytes of each group of 64 rows and of the end,
//                kBytes the strings
//   kDictionary  kCodes: code of each row; kValues: the entries, flat and ascending. Strings: entries
//                of at most 12 bytes are StringRefs in kValues; longer ones kStarts (ends of the
//                entries) and kBytes
//   kCompressed  strings: kCodes and kStarts as for kPlain, of the decompressed bytes; kBlocks: the
//                offset in kBytes of each block and of the end; a block is LZ4, or raw where LZ4
//                gains nothing
//
// Invariants, which penumbra_segment_check() proves:
//
//   I1  header and parts lie inside the segment, parts are aligned, do not overlap the header, and
//       have exactly the size that rows, code_bytes and dictionary_size give
//   I2  the validity bitmap has rows - null_count ones and zeros past the last row
//   I3  every code of a dictionary is below dictionary_size, also in null rows, where it is 0
//   I4  kStarts ascends; in each group of 64 rows the lengths sum up to the next start; null rows
//       have length 0
//   I5  a StringRef in a segment is inline and zero past its length
//   I6  least and greatest of integers are those of the valid rows, those of a zone of its vector's
//       (least > greatest if it has none), those of floats those of the valid rows' keys: min and max
//       are answered from them. No valid int128 lies outside [least, greatest]. Bounds of other types
//       are the writer's word: a wrong one loses rows, as any wrong value would, but is no wrong read
//   I7  BOOL values are 0 or 1
//   I8  entries of a dictionary of text or uuid ascend bytewise, and each one belongs to a valid row
//   I9  strings have zones only if all of their valid rows are ranges or multiranges of one form (penumbra/types.h).
//       These are the bounds and flags of the vector's rows
//
// Order keys map values to int64 so that a <= b in PostgreSQL's order implies key(a) <= key(b):
// integers are their own key; floats by FloatKey(); strings (bpchar without trailing blanks or a tail) and
// uuid by their first eight bytes. Bounds are exact only for keys that are exact.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "penumbra/types.h"
#include "vector/value_order.h"
#include "vector/vector.h"

namespace penumbra {

static_assert(std::endian::native == std::endian::little, "segments are read in place");

constexpr uint32_t kSegmentMagic = 0x53424e50;  // "PNBS"
constexpr uint16_t kSegmentVersion = 1;
constexpr size_t kPartAlignment = 64;
constexpr size_t kBytesPadding = 16;
constexpr uint32_t kGroupRows = 64;
constexpr uint32_t kSegmentRowsMax = 1u << 20;

enum class Encoding : uint8_t { kConstant = 1, kFrame = 2, kPlain = 3, kDictionary = 4, kCompressed = 5 };
enum Part : uint8_t { kValidity, kCodes, kValues, kStarts, kBytes, kZones, kBlocks, kPartCount };
enum SegmentFlag : uint8_t { kHasBounds = 1, kExactBounds = 2, kAllFlags = 3 };

struct SegmentPart {
  uint64_t offset;  // from the segment's begin; 0 if absent
  uint64_t bytes;
};

struct SegmentHeader {
  uint32_t magic;
  uint16_t version;
  uint8_t type;
  uint8_t encoding;
  uint32_t rows;
  uint32_t null_count;
  uint64_t segment_bytes;
  uint64_t plain_bytes;
  uint8_t numeric_form;
  uint8_t code_bytes;
  int16_t scale;
  uint32_t dictionary_size;
  int64_t base;
  uint64_t step;
  int64_t least;
  int64_t greatest;
  uint8_t flags;
  uint8_t zero[3];
  uint32_t block_rows;
  SegmentPart parts[kPartCount];
};
static_assert(sizeof(SegmentPart) == 16);
static_assert(offsetof(SegmentHeader, rows) == 8 && offsetof(SegmentHeader, segment_bytes) == 16);
static_assert(offsetof(SegmentHeader, numeric_form) == 32 && offsetof(SegmentHeader, dictionary_size) == 36);
static_assert(offsetof(SegmentHeader, base) == 40 && offsetof(SegmentHeader, least) == 56);
static_assert(offsetof(SegmentHeader, flags) == 72 && offsetof(SegmentHeader, block_rows) == 76);
static_assert(offsetof(SegmentHeader, parts) == 80 && sizeof(SegmentHeader) == 192);

// The zone of one vector (kVectorRows rows); least > greatest if all its rows are null.
struct SegmentZone {
  int64_t least;
  int64_t greatest;
};
static_assert(sizeof(SegmentZone) == 16);

// The zone of one vector of strings that are ranges.
using RangeZone = PenumbraRangeZone;
static_assert(sizeof(RangeZone) == 40 && offsetof(RangeZone, empty_count) == 32);

// kAllSingle: no multirange of several ranges. kAllFinite: each row is one range of integers with two finite bounds, so
// that all have the same length. kAllBefore: no such bound is behind its value.
enum RangeZoneFlag : uint8_t { kIsRangeZone = 1, kAllSingle = 2, kAllFinite = 4, kAllBefore = 8 };

// Of a frame with codes of 1 or 2 bytes: how many codes there can be.
inline uint32_t FrameCodeCount(const SegmentHeader& header) {
  const uint64_t range = static_cast<uint64_t>(header.greatest) - static_cast<uint64_t>(header.base);
  return static_cast<uint32_t>(range / header.step) + 1;
}

inline uint32_t VectorCount(uint32_t rows) { return (rows + kVectorRows - 1) / kVectorRows; }
inline uint32_t GroupCount(uint32_t rows) { return (rows + kGroupRows - 1) / kGroupRows; }

// PostgreSQL's order of floats: -0 equals 0, NaN is the greatest.
inline int64_t FloatKey(double value) {
  if (value != value) return INT64_MAX;
  if (value == 0) value = 0;
  int64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits < 0 ? INT64_MIN + (INT64_MAX & ~bits) : bits;
}

inline int64_t PrefixKey(std::string_view bytes) {
  uint64_t key = 0;
  std::memcpy(&key, bytes.data(), bytes.size() < 8 ? bytes.size() : 8);
  return static_cast<int64_t>(__builtin_bswap64(key) ^ (uint64_t{1} << 63));
}

inline std::string_view TrimBlanks(std::string_view bytes) {
  return bytes.substr(0, TrimmedLength(bytes.data(), static_cast<uint32_t>(bytes.size())));
}

// A checked segment, by part.
class SegmentView {
 public:
  explicit SegmentView(const void* segment) : begin_(static_cast<const char*>(segment)) {}
  const SegmentHeader& header() const { return *reinterpret_cast<const SegmentHeader*>(begin_); }
  PenumbraType type() const { return static_cast<PenumbraType>(header().type); }
  Encoding encoding() const { return static_cast<Encoding>(header().encoding); }
  NumericForm numeric_form() const { return static_cast<NumericForm>(header().numeric_form); }
  bool is_string_form() const { return IsStringForm(type(), numeric_form()); }
  bool is_integer() const { return IsIntegerType(type(), numeric_form()); }
  uint32_t value_width() const { return FlatWidth(type(), numeric_form()); }
  // Null if the part is absent.
  template <typename T>
  const T* part(Part p) const {
    const SegmentPart& part = header().parts[p];
    return part.offset == 0 ? nullptr : reinterpret_cast<const T*>(begin_ + part.offset);
  }
  uint64_t part_bytes(Part p) const { return header().parts[p].bytes; }
  bool is_null_constant() const { return encoding() == Encoding::kConstant && header().null_count > 0; }

 private:
  const char* begin_;
};

}  // namespace penumbra
