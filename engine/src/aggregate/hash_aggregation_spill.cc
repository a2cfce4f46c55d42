#include "aggregate/hash_aggregation_spill.h"

namespace penumbra {
namespace {
constexpr size_t kExtentBytes = size_t{96} << 10;
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
  spilled_.Append(file_, buffer_);
  buffer_.clear();
}

}  // namespace penumbra
