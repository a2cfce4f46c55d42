// A vector: up to kVectorRows values of one type, and a batch: the vectors of one set of rows.
//
// Vectors are views: they own nothing, their memory is a segment, an arena or another vector.
// Batches are dense: after a filter the rows that passed are compacted, so no operator downstream of
// a filter sees a selection (what this costs and saves is in the README).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "penumbra/types.h"

namespace penumbra {

using int128 = __int128;
using uint128 = unsigned __int128;

constexpr uint32_t kVectorRows = 2048;
constexpr uint32_t kValidityWords = kVectorRows / 64;

// Umbra's string view: up to 12 bytes inline, else 4 bytes of prefix and a pointer. Bytes of an
// inline string past its length are zero, so two inline strings are equal iff their 16 bytes are.
struct StringRef {
  static constexpr uint32_t kInlineBytes = 12;

  uint32_t length = 0;
  char prefix[4] = {};
  union {
    char rest[8];
    const char* pointer;
  };

  StringRef() : rest{} {}
  StringRef(const char* bytes, uint32_t n) : length(n), rest{} {
    if (n <= kInlineBytes) {
      CopyInline(bytes, n);
    } else {
      std::memcpy(prefix, bytes, 4);
      pointer = bytes;
    }
  }
  explicit StringRef(std::string_view s) : StringRef(s.data(), static_cast<uint32_t>(s.size())) {}

  // Copies of constant size that overlap: a memcpy of n bytes would be a call, which costs more.
  void CopyInline(const char* bytes, uint32_t n) {
    char* inlined = reinterpret_cast<char*>(this) + 4;
    if (n >= 4) {
      std::memcpy(inlined, bytes, 4);
      if (n >= 8) std::memcpy(inlined + 4, bytes + 4, 4);
      std::memcpy(inlined + n - 4, bytes + n - 4, 4);
    } else if (n > 0) {
      inlined[0] = bytes[0];
      inlined[n / 2] = bytes[n / 2];
      inlined[n - 1] = bytes[n - 1];
    }
  }

  bool is_inline() const { return length <= kInlineBytes; }
  // prefix and rest are adjacent: an inline string is contiguous from prefix on.
  const char* data() const { return is_inline() ? reinterpret_cast<const char*>(this) + 4 : pointer; }
  std::string_view view() const { return {data(), length}; }

  bool operator==(const StringRef& other) const {
    uint64_t a[2], b[2];
    std::memcpy(a, this, 16);
    std::memcpy(b, &other, 16);
    if (a[0] != b[0]) return false;  // length and prefix
    if (a[1] == b[1]) return true;
    return !is_inline() && std::memcmp(pointer, other.pointer, length) == 0;
  }
};
static_assert(sizeof(StringRef) == 16);

// How the values of a NUMERIC vector are held. All finite values of kInt64 and kInt128 have the
// vector's one display scale: value = integer / 10^scale. kPayload holds anything, NaN and infinities
// and mixed scales too, as StringRefs of PostgreSQL's format (n_header and digits, see numeric.h).
enum class NumericForm : uint8_t { kInt64, kInt128, kPayload };

enum class VectorForm : uint8_t {
  kFlat,      // data: one value per row
  kConstant,  // data: one value for all rows; a null constant has data == nullptr
  // data: codes of code_bytes (1, 2 or 4); dictionary->data: the entries, flat, no nulls, not always
  // distinct (lower() over a dictionary returns one). numeric_form, scale and bounds stand in both.
  kDictionary,
};

class CodeDomain;

struct Vector {
  PenumbraType type = PENUMBRA_BOOL;
  VectorForm form = VectorForm::kFlat;
  NumericForm numeric_form = NumericForm::kInt64;
  uint8_t code_bytes = 0;
  int16_t scale = 0;
  uint32_t dictionary_size = 0;
  // Flat layouts: BOOL uint8 0/1; INT2 int16; INT4, DATE int32; INT8, TIMESTAMP(TZ) int64; FLOAT4, FLOAT8;
  // NUMERIC int64, int128 or StringRef; INTERVAL PenumbraInterval; TEXT, BPCHAR, ARRAY StringRef; UUID 16 bytes.
  const void* data = nullptr;
  // Bit i of word i / 64 is set when row i is not null; nullptr when no row is null. The value of a
  // null row is unspecified but safe to read (StringRef: a readable string). Constants: nullptr.
  const uint64_t* validity = nullptr;
  const Vector* dictionary = nullptr;
  // Of a flat vector that a scan decoded from a frame of code_bytes (1 or 2): the rows' codes, and what
  // expressions of the column are for each code. Null for all other vectors.
  const void* codes = nullptr;
  CodeDomain* domain = nullptr;
  // Of a dictionary: vectors with the same one, if it is not 0, have the same entries. An address says
  // nothing, as arenas use it again.
  uint64_t dictionary_id = 0;
  // Bounds, inclusive, of the integers of a kInt64 or kInt128 NUMERIC, null rows aside.
  int128 lower = 0;
  int128 upper = 0;

  bool is_constant() const { return form == VectorForm::kConstant; }
  bool is_null_constant() const { return is_constant() && data == nullptr; }
  bool IsValid(uint32_t row) const {
    if (is_constant()) return data != nullptr;
    return validity == nullptr || ((validity[row / 64] >> (row % 64)) & 1) != 0;
  }
  template <typename T>
  const T* values() const {
    return static_cast<const T*>(data);
  }
  // Row's code of a dictionary vector.
  uint32_t Code(uint32_t row) const {
    switch (code_bytes) {
      case 1: return values<uint8_t>()[row];
      case 2: return values<uint16_t>()[row];
      default: return values<uint32_t>()[row];
    }
  }
};

// Width of a flat value in bytes.
inline uint32_t FlatWidth(PenumbraType type, NumericForm numeric_form) {
  switch (type) {
    case PENUMBRA_BOOL: return 1;
    case PENUMBRA_INT2: return 2;
    case PENUMBRA_INT4:
    case PENUMBRA_DATE:
    case PENUMBRA_FLOAT4: return 4;
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ:
    case PENUMBRA_FLOAT8: return 8;
    case PENUMBRA_NUMERIC: return numeric_form == NumericForm::kInt64 ? 8 : 16;
    case PENUMBRA_INTERVAL:
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR:
    case PENUMBRA_UUID:
    case PENUMBRA_ARRAY: break;
  }
  return 16;
}
inline uint32_t FlatWidth(const Vector& v) { return FlatWidth(v.type, v.numeric_form); }
// Integer-like: an int64 holds the value, exactly, and its order.
inline bool IsIntegerType(PenumbraType type, NumericForm numeric_form) {
  switch (type) {
    case PENUMBRA_BOOL:
    case PENUMBRA_INT2:
    case PENUMBRA_INT4:
    case PENUMBRA_INT8:
    case PENUMBRA_DATE:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return true;
    case PENUMBRA_NUMERIC: return numeric_form == NumericForm::kInt64;
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8:
    case PENUMBRA_INTERVAL:
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR:
    case PENUMBRA_UUID:
    case PENUMBRA_ARRAY: break;
  }
  return false;
}
// A row's value of a flat vector of such a type, or a constant's of row 0.
inline int64_t IntegerAt(const Vector& v, uint32_t row) {
  switch (FlatWidth(v)) {
    case 1: return v.values<uint8_t>()[row];
    case 2: return v.values<int16_t>()[row];
    case 4: return v.values<int32_t>()[row];
    default: return v.values<int64_t>()[row];
  }
}
inline bool IsStringType(PenumbraType type) { return type == PENUMBRA_TEXT || type == PENUMBRA_BPCHAR; }
// Held as strings: texts, arrays, and numerics in PostgreSQL's format.
inline bool IsStringForm(PenumbraType type, NumericForm numeric_form) {
  return IsStringType(type) || type == PENUMBRA_ARRAY ||
         (type == PENUMBRA_NUMERIC && numeric_form == NumericForm::kPayload);
}
inline bool IsStringForm(const Vector& v) { return IsStringForm(v.type, v.numeric_form); }

// A dictionary_id that no other dictionary of the process has.
uint64_t NextDictionaryId();

class Arena;

// Makes a kConstant or kDictionary vector flat, in `arena`; a flat one is returned as it is.
Vector Flatten(const Vector& v, uint32_t rows, Arena& arena);
// The rows named by selected[0..count), in that order, as a vector of the same form.
Vector Gather(const Vector& v, const uint16_t* selected, uint32_t count, Arena& arena);

// The integers above < value < below, but for some.
struct OwnValues {
  int64_t above = 0;
  int64_t below = 0;
  const int64_t* shared_begin = nullptr;  // these, ascending
  const int64_t* shared_end = nullptr;
  bool Contains(int64_t value) const {
    return above < value && value < below && !std::binary_search(shared_begin, shared_end, value);
  }
};

struct Batch {
  uint32_t rows = 0;
  uint32_t column_count = 0;
  const Vector* columns = nullptr;
  // Values of the column that the sink asked for (Sink::own_values_column()) that no other batch has; null: not known.
  const OwnValues* own_values = nullptr;
};

}  // namespace penumbra
