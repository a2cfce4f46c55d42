// A sink's prefilter at a place below it in its pipeline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "operator/sink.h"

namespace penumbra {

// There the columns that the sink needs may have other numbers.
class PlacedPrefilter {
 public:
  PlacedPrefilter(Sink* sink, Sink::Local* local, std::vector<int> columns, bool all_come)
      : sink_(sink),
        local_(local),
        sink_columns_(sink->prefilter_needs().columns),
        columns_(std::move(columns)),
        all_come_(all_come) {}
  // Of the batches here, in the order of those that the sink needs.
  const std::vector<int>& columns() const { return columns_; }
  uint32_t Select(const Batch& batch, EvalContext& context, uint16_t* selected) const {
    const int width = *std::max_element(sink_columns_.begin(), sink_columns_.end()) + 1;
    auto* vectors = context.arena.AllocateArray<Vector>(width);
    for (size_t i = 0; i < columns_.size(); ++i) vectors[sink_columns_[i]] = batch.columns[columns_[i]];
    const Batch needed{batch.rows, static_cast<uint32_t>(width), vectors};
    if (context.memo != nullptr) context.memo->Begin(needed);
    return sink_->Prefilter(*local_, needed, all_come_, context, selected);
  }

 private:
  Sink* const sink_;
  Sink::Local* const local_;
  const std::vector<int> sink_columns_;
  const std::vector<int> columns_;
  const bool all_come_;
};

}  // namespace penumbra
