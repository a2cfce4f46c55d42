// Keys of few possible values as small numbers: the codes of dictionaries, constants and integers of
// a narrow range, each key a dimension, combined into one code per row.
//
// A dictionary without an id may be another one than that of the batch before, at the same address:
// its entries are compared with a copy, which is cheap for few entries; more do not qualify. So are
// those of a dictionary with a new id, as the next chunk's often has the same few entries.
#pragma once

#include <cstdint>
#include <vector>

#include "vector/vector.h"

namespace penumbra {

// What the codes of one key mean.
struct KeyDimension {
  enum class Kind : uint8_t { kEntries, kRange };
  Kind kind = Kind::kEntries;
  PenumbraType type = PENUMBRA_BOOL;
  NumericForm numeric_form = NumericForm::kInt64;
  int16_t scale = 0;
  uint32_t values = 0;             // codes 0..values-1; null is code `values`
  int64_t base = 0;                // kRange: the value of code 0
  uint64_t dictionary_id = 0;      // kEntries: of the dictionary, if it has one
  bool has_copy = false;           // kEntries: the next two are there
  std::vector<char> entries;       // copy of the flat entries
  std::vector<char> long_strings;  // and of the strings that are not inline, one after the other

  uint32_t cardinality() const { return values + 1; }
  int64_t last() const { return base + (static_cast<int64_t>(values) - 1); }
  bool IsRangeOf(const Vector& key) const { return kind == Kind::kRange && type == key.type && scale == key.scale; }
  // Makes it the range [low, high] of the key's type.
  void SetRange(const Vector& key, int64_t low, int64_t high);
  // Makes it the entries of a dictionary or constant; false: too many. *changed is set if codes
  // mean something else than before.
  bool UpdateEntries(const Vector& key, bool* changed);

 private:
  bool EntriesEqual(const Vector& from, uint32_t count) const;
  void CopyEntries(const Vector& from, uint32_t count);
};

// Whether UpdateEntries() is for the key; else it may have a range.
inline bool HasEntries(const Vector& key) { return key.form != VectorForm::kFlat; }
// Of a flat vector of an integer type; false when all rows are null.
bool FindIntegerBounds(const Vector& key, uint32_t rows, int64_t* least, int64_t* greatest);

// codes[i] = stride * (the key's code in row i), or += if not is_first. Code: uint16_t, uint32_t.
template <typename Code>
void AddKeyCodes(const Vector& key, uint32_t rows, const KeyDimension& dimension, uint32_t stride, bool is_first,
                 Code* codes);

}  // namespace penumbra
