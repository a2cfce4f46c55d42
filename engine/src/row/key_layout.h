// The keys of a row as bytes: one fixed-size image per row in which equal keys have equal bytes.
//
//   hash          8   of the compared part; its low byte is the null bits of the first eight keys.
//                     0 never occurs and marks a row that was merged away
//   strings      16 * n  StringRefs: text, bpchar without trailing blanks or a tail, canonical numerics
//   fixed        packed, widest first: integers, dates, floats with one NaN and one zero, uuid,
//   interval spans null bits    a byte per eight further keys; the slot of a null key is zero
//   (padding to 8: end of the compared part)
//   extras       what the output needs beyond equality: blanks or tail of bpchar, display scale of numeric,
//                the sign of a zero, the interval itself; those of the group's first row stay
//
// Images with strings of up to 12 bytes and without strings compare as words.
#pragma once

#include <cstring>
#include <vector>

#include "row/row_strings.h"
#include "vector/hash.h"
#include "vector/result_vector.h"
#include "vector/vector.h"

namespace penumbra {

class KeyLayout {
 public:
  // only_compares: what is kept of an image is its compared part, without what the output needs.
  explicit KeyLayout(const std::vector<PenumbraType>& types, bool only_compares = false);

  int count() const { return static_cast<int>(slots_.size()); }
  uint32_t image_bytes() const { return image_bytes_; }      // a multiple of 8
  uint32_t compared_bytes() const { return compared_end_; }  // of which; equal keys are equal in these
  bool has_strings() const { return string_count_ != 0; }

  // Image i (at images + i * image_bytes()) is of row selection.rows[i]. Long strings stay where
  // they are, or lie in `arena`.
  void BuildImages(const Vector* keys, RowSelection selection, Arena& arena, char* images) const;

  static uint64_t Hash(const char* image) {
    uint64_t hash;
    std::memcpy(&hash, image, 8);
    return hash;
  }
  // Of keys of integer types that take one word together, none of them null: the word (BuildWords) is all that an
  // image compares beyond its hash, which is HashWord() of it.
  bool has_one_word() const { return has_one_word_; }
  void BuildWords(const Vector* keys, uint32_t rows, Arena& arena, uint64_t* words) const;
  static uint64_t HashWord(uint64_t word) { return Finish(Mix(kSeed, word), 0); }
  static uint64_t Word(const char* image) {
    uint64_t word;
    std::memcpy(&word, image + 8, 8);
    return word;
  }

  // Of two images with equal hash words.
  bool Equal(const char* a, const char* b) const {
    for (uint32_t i = 0; i < string_count_; ++i) {
      if (!(StringAt(a, i) == StringAt(b, i))) return false;
    }
    for (uint32_t at = fixed_begin_; at < compared_end_; at += 8) {
      uint64_t x, y;
      std::memcpy(&x, a + at, 8);
      std::memcpy(&y, b + at, 8);
      if (x != y) return false;
    }
    return true;
  }

  // The value of a key of an integer type (IsIntegerType) that is not null.
  int64_t Integer(const char* image, int key) const;

  // A bit for each string slot whose keys are the entries of a small dictionary, or a constant.
  uint64_t SlotsOfFewStrings(const Vector* keys) const;
  uint32_t string_count() const { return string_count_; }
  static char* StringSlot(char* image, uint32_t i) { return image + 8 + 16 * i; }
  // The bytes of a tail, which lie behind the string that slot i points to.
  uint32_t TailBytes(const char* image, uint32_t i) const {
    if (tail_offsets_[i] == 0) return 0;
    uint32_t extra;
    std::memcpy(&extra, image + tail_offsets_[i], 4);
    return (extra & kIsTail) == 0 ? 0 : extra & ~kIsTail;
  }
  // Copies the long strings of an image into `arena`.
  void OwnStrings(char* image, Arena& arena) const;
  // The long strings of an image, as row_strings.h's functions for one.
  void SaveStrings(const char* image, std::vector<char>* bytes) const;
  const char* LoadStrings(char* image, const char* bytes, Arena* arena) const;

  // The key's values in the rows, as a flat vector. Strings point into the rows' memory.
  Vector Output(int key, const char* const* rows, uint32_t count, Arena& arena) const;

 private:
  static constexpr uint64_t kSeed = 0x9e3779b97f4a7c15, kFactor = 0xd6e8feb86659fd93, kFinal = 0xff51afd7ed558ccd;
  static uint64_t Mix(uint64_t hash, uint64_t word) { return FoldedProduct(hash ^ word, kFactor) ^ kSeed; }
  // Two words with one multiplication.
  static uint64_t MixPair(uint64_t hash, uint64_t a, uint64_t b) {
    return FoldedProduct(hash ^ a, b ^ kFactor) ^ kSeed;
  }
  static uint64_t HashLongString(uint64_t hash, const char* bytes, uint32_t length);
  static uint64_t Finish(uint64_t hash, uint64_t nulls) {
    hash *= kFinal;
    hash ^= hash >> 32;
    hash = (hash & ~uint64_t{0xff}) | nulls;
    return hash == 0 ? uint64_t{1} << 32 : hash;
  }

  // The extra of a bpchar: the number of its blanks or, with this bit, of its tail's bytes.
  static constexpr uint32_t kIsTail = 1u << 31;

  static void WriteBpchar(const StringRef& value, char* slot, char* extra);

  struct Slot {
    PenumbraType type;
    uint32_t offset;
    uint32_t width;
    uint32_t extra_offset;
    uint32_t extra_width;
  };

  static StringRef StringAt(const char* image, uint32_t i) { return penumbra::StringAt(image + 8 + 16 * i); }
  // Where the key's null bit is; the hash word is little endian.
  uint32_t NullByte(int key) const { return key < 8 ? 0 : null_begin_ + key / 8 - 1; }
  bool IsNull(const char* image, int key) const { return (image[NullByte(key)] >> (key % 8)) & 1; }
  void WriteKey(int key, const Vector& v, RowSelection selection, Arena& arena, char* images) const;
  void HashImages(uint32_t count, char* images) const;
  Vector OutputNumeric(int key, const char* const* rows, uint32_t count, Arena& arena) const;

  std::vector<Slot> slots_;
  std::vector<uint32_t> tail_offsets_;  // by string slot: where the extra of a bpchar is kept; 0: it has none
  uint32_t string_count_ = 0;
  uint32_t fixed_begin_ = 0;
  uint32_t null_begin_ = 0;
  uint32_t compared_end_ = 0;
  uint32_t image_bytes_ = 0;
  bool has_one_word_ = false;
};

}  // namespace penumbra
