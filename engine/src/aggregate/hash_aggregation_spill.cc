#include "aggregate/hash_aggregation_spill.h"

#include <iterator>
#include <utility>

namespace penumbra {
namespace {
constexpr size_t kExtentBytes = size_t{96} << 10;
}

void SpilledRows::Take(SpilledRows&& other) {
  extents.insert(extents.end(), std::make_move_iterator(other.extents.begin()),
                 std::make_move_iterator(other.extents.end()));
  row_count += std::exchange(other.row_count, 0);
  bytes += std::exchange(other.bytes, 0);
  other.extents.clear();
}

void RowSpiller::Add(const char* row) {
  buffer_.insert(buffer_.end(), row, row + layout_.row_bytes);
  layout_.keys.SaveStrings(row, &buffer_);
  for (const AccumulatorSlot& slot : layout_.accumulators) {
    if (slot.accumulator->has_variable_part()) slot.accumulator->Save(row + slot.offset, &buffer_);
  }
  ++spilled_.row_count;
  if (buffer_.size() >= kExtentBytes) Flush();
}

void RowSpiller::AddAll(const GroupRows& rows, const ExecutionEnvironment& environment) {
  for (size_t p = 0; p < rows.page_count(); ++p) {
    environment.CheckCancelled();
    const char* row = rows.page(p);
    for (uint32_t i = 0; i < rows.page_rows(p); ++i, row += rows.row_bytes()) {
      if (GroupKeys::Hash(row) != 0) Add(row);
    }
  }
}

void RowSpiller::Flush() {
  if (buffer_.empty()) return;
  spilled_.extents.push_back(
      {file_, file_->Append(buffer_.data(), buffer_.size()), buffer_.size()});
  spilled_.bytes += buffer_.size();
  buffer_.clear();
}

}  // namespace penumbra
