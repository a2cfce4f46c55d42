#include "aggregate/batch_groups.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace penumbra {
namespace {

// The first row of each run of equal values, ascending, to *first_rows; false: the values do not ascend.
template <typename T>
bool FindRuns(const T* values, uint32_t rows, std::vector<uint16_t>* first_rows) {
  const uint32_t pairs = rows - 1;  // of neighbours
  uint64_t bits[kValidityWords];
  kernels::CompareColumns(kernels::Compare::kLt, values + 1, values, pairs, bits);
  if (kernels::CountBits(bits, pairs) != 0) return false;
  kernels::CompareColumns(kernels::Compare::kNe, values + 1, values, pairs, bits);
  uint16_t last_rows[kVectorRows];  // kernels write whole words of 64 rows
  const size_t count = kernels::BitsToSelection(bits, pairs, last_rows);
  first_rows->resize(count + 1);
  for (size_t i = 0; i < count; ++i) (*first_rows)[i + 1] = static_cast<uint16_t>(last_rows[i] + 1);
  return true;
}

bool FindRuns(const Vector& key, uint32_t rows, std::vector<uint16_t>* first_rows) {
  if (key.form != VectorForm::kFlat || key.validity != nullptr || !IsIntegerType(key.type, key.numeric_form))
    return false;
  switch (FlatWidth(key)) {
    case 2: return FindRuns(key.values<int16_t>(), rows, first_rows);
    case 4: return FindRuns(key.values<int32_t>(), rows, first_rows);
    case 8: return FindRuns(key.values<int64_t>(), rows, first_rows);
    default: return false;
  }
}

}  // namespace

bool BatchGroups::Number(const Vector* keys, int key_count, uint32_t rows) {
  rows_ = rows;
  numbers_ = nullptr;
  first_rows_.assign(1, 0);
  if (key_count == 1 && FindRuns(keys[0], rows, &first_rows_)) return true;
  first_rows_.clear();
  memo_.Forget();
  if (!memo_.Encode(keys, key_count, rows)) return false;
  numbers_ = memo_.NumberGroups(rows, &first_rows_);
  return true;
}

char* const* BatchGroups::AddStates(const std::vector<StateUpdate>& updates) {
  const size_t row_bytes = aggregation_.layout().row_bytes;
  states_.assign(count() * row_bytes, 0);
  if (store_ == nullptr || store_->bytes() > 0) store_ = std::make_unique<StateStore>(&environment_.budget);
  for (uint32_t g = 0; g < count(); ++g) groups_[g] = states_.data() + g * row_bytes;
  if (numbers_ != nullptr) {
    for (uint32_t i = 0; i < rows_; ++i) row_groups_[i] = groups_[numbers_[i]];
  } else {
    for (uint32_t g = 0; g < count(); ++g) {
      const uint32_t end = g + 1 < count() ? first_rows_[g + 1] : rows_;
      std::fill(row_groups_ + first_rows_[g], row_groups_ + end, groups_[g]);
    }
  }
  AddScattered(aggregation_.layout(), row_groups_, updates, *store_);
  return groups_;
}

}  // namespace penumbra
