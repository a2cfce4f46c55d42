// SIMD functions on pointers and counts. Each is compiled for every SIMD target of the build and
// dispatched at run time by Highway; all targets give the same result. No function allocates, fails
// or keeps anything. Inputs need only the alignment of their element type; outputs may not overlap
// inputs unless said. Bitmaps are little endian words of 64 rows; bits past the last row of the
// last word are written as zero, and ignored where a bitmap is read.
//
// This header is the whole interface: add a function here, its body in one *-inl.h by topic, and a
// case in test/ that compares every target with a scalar loop. A template here exists for the types
// named in the comment above it; others fail to link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace penumbra::kernels {

// ---------------------------------------------------------------- bitmaps ---------------------

constexpr size_t BitmapWords(size_t rows) { return (rows + 63) / 64; }

void SetBits(uint64_t* bits, size_t rows);                            // all ones
size_t CountBits(const uint64_t* bits, size_t rows);                  // how many are one
void AndBits(uint64_t* bits, const uint64_t* other, size_t rows);     // bits &= other
void OrBits(uint64_t* bits, const uint64_t* other, size_t rows);      // bits |= other
void AndNotBits(uint64_t* bits, const uint64_t* other, size_t rows);  // bits &= ~other
void NotBits(uint64_t* bits, size_t rows);                            // bits = ~bits

// Rows whose bit is set, ascending; returns how many. rows <= 65,536. `selected` needs room for
// `rows` rounded up to a multiple of 64.
size_t BitsToSelection(const uint64_t* bits, size_t rows, uint16_t* selected);
// One byte per row, 0 or 1; and back (any byte but 0 counts as 1).
void BitsToBytes(const uint64_t* bits, size_t rows, uint8_t* bytes);
void BytesToBits(const uint8_t* bytes, size_t rows, uint64_t* bits);
// Bits [begin, begin + rows) of `bits`, moved to bit 0.
void CopyBits(const uint64_t* bits, size_t begin, size_t rows, uint64_t* out);
// out's bit i is bit selected[i] of `bits`.
void GatherBits(const uint64_t* bits, const uint16_t* selected, size_t count, uint64_t* out);

// ---------------------------------------------------------------- comparison ------------------

enum class Compare : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

// bit i = values[i] op constant. T: uint8_t, uint16_t, uint32_t, uint64_t, int16_t, int32_t,
// int64_t, float, double. Floating point in PostgreSQL's order: NaN equals NaN and is greater than
// all else.
template <typename T>
void CompareConstant(Compare op, const T* values, std::type_identity_t<T> constant, size_t rows, uint64_t* bits);
// bit i = a[i] op b[i]; the same types.
template <typename T>
void CompareColumns(Compare op, const T* a, const T* b, size_t rows, uint64_t* bits);
// bit i = low <= values[i] and values[i] <= high; the same types.
template <typename T>
void CompareBetween(const T* values, std::type_identity_t<T> low, std::type_identity_t<T> high, size_t rows,
                    uint64_t* bits);

// bit i = table[codes[i]]. Code: uint8_t, uint16_t, uint32_t. table has table_size entries of 0 or 1,
// all codes are below it.
template <typename Code>
void LookupToBits(const Code* codes, const uint8_t* table, size_t table_size, size_t rows, uint64_t* bits);

// Clears bit i unless values[i] is a member of a set: bit (value - least), modulo 2^32 or 2^64, of `set`, if that is
// below `span`. Bit `span` of `set` must be there, and zero. T: uint16_t, uint32_t, uint64_t.
template <typename T>
using SetPlace = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <typename T>
void AndMembers(const T* values, SetPlace<T> least, SetPlace<T> span, const uint64_t* set, size_t rows, uint64_t* bits);

// ---------------------------------------------------------------- search ----------------------

// A string to search for, of at least one byte, and the places in it of two bytes that are compared
// before all others: rare and different ones.
struct Needle {
  const char* bytes;
  size_t length;
  size_t probes[2];
};
Needle MakeNeedle(const char* bytes, size_t length);

// The first place >= begin where the needle stands in text[0, length); `length` if there is none.
size_t FindNeedle(const Needle& needle, const char* text, size_t begin, size_t length);

// ---------------------------------------------------------------- digests ---------------------

// The digests of `count` messages, 16 and 32 bytes each. Equally long messages are the fastest.
void Md5(const uint8_t* const* messages, const uint32_t* lengths, size_t count, uint8_t* digests);
void Sha256(const uint8_t* const* messages, const uint32_t* lengths, size_t count, uint8_t* digests);

// The 2 * count hexadecimal digits of the bytes, in small letters.
void WriteHex(const uint8_t* bytes, size_t count, char* digits);
// The (count + 2) / 3 * 4 digits of Base64, '=' where bytes are missing; no line feeds.
void WriteBase64(const uint8_t* bytes, size_t count, char* digits);

// The bytes of as many digits as there are before another character: a multiple of two, or of four for Base64, whose
// '=' is no digit. Returns their number.
size_t ReadHex(const char* digits, size_t count, uint8_t* bytes);
size_t ReadBase64(const char* digits, size_t count, uint8_t* bytes);

// ---------------------------------------------------------------- moving ----------------------

// values[i] = base + codes[i], modulo 2^n. Code: uint8_t, uint16_t, uint32_t, uint64_t; T: int16_t,
// int32_t, int64_t, not narrower than Code.
template <typename Code, typename T>
void DecodeFrame(const Code* codes, std::type_identity_t<T> base, size_t rows, T* values);

// A 16-byte value of any kind (StringRef, int128, uuid) for the functions below.
struct Bytes16 {
  uint64_t words[2];
};

// out[i] = values[selected[i]]. T: uint8_t, uint16_t, uint32_t, uint64_t, Bytes16.
template <typename T>
void GatherValues(const T* values, const uint16_t* selected, size_t count, T* out);
// out[i] = table[codes[i]]. Code: uint8_t, uint16_t, uint32_t; T as above.
template <typename Code, typename T>
void LookupValues(const Code* codes, const T* table, size_t rows, T* out);
// Moves the values whose bit is set together; returns how many. T: uint16_t, uint32_t, uint64_t.
// `out` needs room for `rows` rounded up to a multiple of 64.
template <typename T>
size_t CompactValues(const T* values, const uint64_t* bits, size_t rows, T* out);

// ---------------------------------------------------------------- reduction -------------------

// Sums of the rows whose bit in `validity` is set (all rows if it is null). Exact for rows < 2^31.
int64_t SumValues(const int16_t* values, const uint64_t* validity, size_t rows);
int64_t SumValues(const int32_t* values, const uint64_t* validity, size_t rows);
__int128 SumValues(const int64_t* values, const uint64_t* validity, size_t rows);
uint64_t SumValues(const uint8_t* values, const uint64_t* validity, size_t rows);
uint64_t SumValues(const uint16_t* values, const uint64_t* validity, size_t rows);
uint64_t SumValues(const uint32_t* values, const uint64_t* validity, size_t rows);

// Least and greatest of the rows whose bit is set (all rows if `validity` is null); false and
// nothing written when there is none. T: uint8_t, uint16_t, uint32_t, uint64_t, int16_t, int32_t,
// int64_t.
template <typename T>
bool FindBounds(const T* values, const uint64_t* validity, size_t rows, T* least, T* greatest);

// ---------------------------------------------------------------- arithmetic ------------------

enum class Arithmetic : uint8_t { kAdd, kSubtract, kMultiply };

// A column, or with `values` null one constant for all rows.
template <typename T>
struct Operand {
  const T* values;
  T constant;
};

// out[i] = a op b modulo 2^n. T: int16_t, int32_t, int64_t. At most one of a and b is a constant; out
// may be a column of them.
template <typename T>
void RunArithmetic(Arithmetic op, const Operand<T>& a, const Operand<T>& b, size_t rows, T* out);
// The same; false when some row overflowed (null rows count: a caller that has nulls then looks at
// the rows one by one). `out` is written whole in any case and may not overlap an input.
template <typename T>
bool RunArithmeticChecked(Arithmetic op, const Operand<T>& a, const Operand<T>& b, size_t rows, T* out);

template <typename T>
void ArithmeticColumns(Arithmetic op, const T* a, const T* b, size_t rows, T* out) {
  RunArithmetic<T>(op, {a, {}}, {b, {}}, rows, out);
}
template <typename T>
void ArithmeticConstant(Arithmetic op, const T* a, std::type_identity_t<T> b, size_t rows, T* out) {
  RunArithmetic<T>(op, {a, {}}, {nullptr, b}, rows, out);
}
template <typename T>
void ArithmeticFromConstant(Arithmetic op, std::type_identity_t<T> a, const T* b, size_t rows, T* out) {
  RunArithmetic<T>(op, {nullptr, a}, {b, {}}, rows, out);
}
template <typename T>
bool ArithmeticColumnsChecked(Arithmetic op, const T* a, const T* b, size_t rows, T* out) {
  return RunArithmeticChecked<T>(op, {a, {}}, {b, {}}, rows, out);
}
template <typename T>
bool ArithmeticConstantChecked(Arithmetic op, const T* a, std::type_identity_t<T> b, size_t rows, T* out) {
  return RunArithmeticChecked<T>(op, {a, {}}, {nullptr, b}, rows, out);
}
template <typename T>
bool ArithmeticFromConstantChecked(Arithmetic op, std::type_identity_t<T> a, const T* b, size_t rows, T* out) {
  return RunArithmeticChecked<T>(op, {nullptr, a}, {b, {}}, rows, out);
}

// Products of factors that all fit in int32 (null rows may give anything; out may be a or b):
// several times as fast as the general product on targets without a 64-bit multiply.
void MultiplyNarrowColumns(const int64_t* a, const int64_t* b, size_t rows, int64_t* out);
void MultiplyNarrowConstant(const int64_t* a, int32_t b, size_t rows, int64_t* out);

}  // namespace penumbra::kernels
