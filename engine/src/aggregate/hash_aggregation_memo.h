// Grouping without hashing where the keys of a batch have few possible values: a table remembers
// which group each of their codes (hash_aggregation_codes.h) is.
#pragma once

#include <vector>

#include "aggregate/hash_aggregation_codes.h"

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
  static bool UpdateDimension(const Vector& key, uint32_t rows, KeyDimension* dimension, bool* changed);
  static bool UpdateRange(const Vector& key, uint32_t rows, KeyDimension* dimension, bool* changed);

  std::vector<KeyDimension> dimensions_;
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
  void Count(const uint16_t* numbers, uint32_t number_count, const uint16_t* selected, uint32_t count);
  uint32_t begin(uint32_t number) const { return begins_[number]; }
  // After Count() of the same rows, once.
  void Sort(const uint16_t* numbers, const uint16_t* selected, uint32_t count);
  const uint16_t* rows() const { return rows_; }

 private:
  // Four quarters counted and placed side by side: the chains of increments are independent, and the order within a
  // number stays that of the rows.
  static constexpr uint32_t kQuarters = 4;
  uint16_t places_[kQuarters][kMaxNumbers];
  uint16_t rows_[kVectorRows];
  uint32_t begins_[kMaxNumbers + 1];
};

}  // namespace penumbra
