// Rows of groups on disk: the rows' bytes, each followed by the long strings of its keys and what
// its states point to. Read only by the process that wrote them.
#pragma once

#include <memory>
#include <vector>

#include "aggregate/hash_aggregation_rows.h"
#include "operator/spill_file.h"

namespace penumbra {

// Collects rows of one partition and writes them in extents of some 100 KB.
class RowSpiller {
 public:
  RowSpiller(const GroupLayout& layout, std::shared_ptr<SpillFile> file)
      : layout_(layout), file_(std::move(file)) {}
  void Add(const char* row);
  void AddAll(const GroupRows& rows,
              const ExecutionEnvironment& environment);  // but the rows merged away
  void Flush();
  SpilledRows& spilled() { return spilled_; }

 private:
  const GroupLayout& layout_;
  std::shared_ptr<SpillFile> file_;
  std::vector<char> buffer_;
  SpilledRows spilled_;
};

// Calls visit(row), a row of layout.row_bytes, for each spilled row. The row is load(), a place for
// one, whose strings and states then point into `store`.
template <typename Place, typename Visit>
void LoadSpilled(const GroupLayout& layout, const SpilledRows& spilled, StateStore& store,
                 const ExecutionEnvironment& environment, Place&& place, Visit&& visit) {
  std::vector<char> buffer;
  for (const SpilledRows::Extent& extent : spilled.extents) {
    environment.CheckCancelled();
    buffer.resize(extent.bytes);
    extent.file->Read(extent.at, buffer.data(), extent.bytes);
    const char* at = buffer.data();
    while (at < buffer.data() + extent.bytes) {
      char* row = place();
      std::memcpy(row, at, layout.row_bytes);
      at = layout.keys.LoadStrings(row, at + layout.row_bytes, store.arena());
      for (const AccumulatorSlot& slot : layout.accumulators) {
        if (slot.accumulator->has_variable_part())
          at = slot.accumulator->Load(row + slot.offset, at, store);
      }
      visit(row);
    }
  }
}

}  // namespace penumbra
