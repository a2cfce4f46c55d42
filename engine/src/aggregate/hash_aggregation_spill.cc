#include "aggregate/hash_aggregation_spill.h"

namespace penumbra {
namespace {
constexpr size_t kExtentBytes = size_t{96} << 10;
}

RowSpiller::RowSpiller(const GroupLayout& layout, std::shared_ptr<SpillFile> file,
                       const ExecutionEnvironment& environment)
    : layout_(layout), format_(layout.format()), rows_(std::move(file), kExtentBytes, environment) {}

void RowSpiller::Add(const char* row) {
  if (KeyLayout::Hash(row) == 0) return;
  format_.Save(row, rows_.buffer());
  for (const AccumulatorSlot& slot : layout_.accumulators) {
    if (slot.accumulator->has_variable_part()) slot.accumulator->Save(row + slot.offset, rows_.buffer());
  }
  rows_.EndRow();
}

}  // namespace penumbra
