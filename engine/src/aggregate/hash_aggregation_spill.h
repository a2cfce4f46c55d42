// Rows of groups on disk: each followed by the long strings of its keys and what its states point to.
#pragma once

#include <memory>

#include "aggregate/hash_aggregation_rows.h"
#include "row/spilled_rows.h"

namespace penumbra {

// Writes rows of one partition.
class RowSpiller {
 public:
  RowSpiller(const GroupLayout& layout, std::shared_ptr<SpillFile> file, const ExecutionEnvironment& environment);
  void Add(const char* row);  // but one merged away
  SpilledRows Finish() { return rows_.Finish(); }

 private:
  const GroupLayout& layout_;
  const RowFormat format_;
  SpilledRowWriter rows_;
};

// Calls visit(row), a row of layout.row_bytes, for each spilled row. The row is place(), a place for
// one, whose strings and states then point into `store`.
template <typename Place, typename Visit>
void LoadSpilled(const GroupLayout& layout, const SpilledRows& spilled, StateStore& store,
                 ExecutionEnvironment& environment, Place&& place, Visit&& visit) {
  const RowFormat format = layout.format();
  for (SpilledRowReader rows(spilled, environment); !rows.is_at_end();) {
    char* row = place();
    const char* at = format.Load(row, rows.Begin(), store.arena());
    for (const AccumulatorSlot& slot : layout.accumulators) {
      if (slot.accumulator->has_variable_part()) at = slot.accumulator->Load(row + slot.offset, at, store);
    }
    rows.End(at);
    visit(row);
  }
}

}  // namespace penumbra
