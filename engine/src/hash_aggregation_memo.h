// Grouping without hashing where the keys of a batch have few possible values: dictionary codes,
// constants and integers of a narrow range make one small composite code, and a table remembers
// which group each code is.
//
// Vectors say nothing of whether a dictionary is the one of the batch before (its address may be
// used again for another), so its entries are compared with a copy; that is cheap for the few
// entries that qualify.
#pragma once

#include <vector>

#include "vector.h"

namespace penumbra {

class CodeMemo {
 public:
  static constexpr uint16_t kUnknown = 0xffff;

  // Writes codes[i] < domain for each row; false: these keys are not for the memo. What the memo
  // knew is kept if the codes still mean the same.
  bool Encode(const Vector* keys, int key_count, uint32_t rows);
  // Replaces each code by the number of its group. New codes get the next numbers; rows that
  // represent them, in that order, are appended to *new_rows.
  const uint16_t* NumberGroups(uint32_t rows, std::vector<uint16_t>* new_rows);
  // The groups by number: the caller appends one for each new row.
  std::vector<char*>& groups() { return groups_; }
  void Forget();

 private:
  enum class Kind : uint8_t { kEntries, kRange };
  struct Dimension {
    Kind kind = Kind::kEntries;
    PenumbraType type = PENUMBRA_BOOL;
    NumericForm numeric_form = NumericForm::kInt64;
    int16_t scale = 0;
    uint32_t values = 0;             // codes 0..values-1; null is code `values`
    int64_t base = 0;                // kRange: the value of code 0
    std::vector<char> entries;       // kEntries: copy of the flat entries
    std::vector<char> long_strings;  // and of the strings that are not inline, one after the other
    uint32_t cardinality() const { return values + 1; }
  };

  bool UpdateDimension(const Vector& key, uint32_t rows, Dimension* dimension, bool* changed);
  static bool UpdateEntries(const Vector& entries, uint32_t count, Dimension* dimension,
                            bool* changed);
  static bool UpdateRange(const Vector& key, uint32_t rows, Dimension* dimension, bool* changed);
  static bool EntriesEqual(const Vector& entries, uint32_t count, const Dimension& dimension);
  void AddCodes(const Vector& key, uint32_t rows, const Dimension& dimension, uint32_t stride,
                bool is_first);

  std::vector<Dimension> dimensions_;
  std::vector<uint16_t> group_of_code_;
  std::vector<char*> groups_;
  uint16_t codes_[kVectorRows];
  uint16_t numbers_[kVectorRows];
};

// Rows sorted by a small number: those of number n are rows()[begin(n) .. begin(n + 1)).
class RowsByNumber {
 public:
  static constexpr uint32_t kMaxNumbers = 64;
  // count of the selected rows; numbers[row] < number_count <= kMaxNumbers
  void Sort(const uint16_t* numbers, uint32_t number_count, const uint16_t* selected,
            uint32_t count);
  const uint16_t* rows() const { return rows_; }
  uint32_t begin(uint32_t number) const { return begins_[number]; }

 private:
  uint16_t rows_[kVectorRows];
  uint32_t begins_[kMaxNumbers + 1];
};

}  // namespace penumbra
