// count(*), count(x) and regr_count: how many rows are not null.
#include "aggregate/aggregate_accumulator.h"

namespace penumbra {
namespace {

class CountAccumulator : public Accumulator {
 public:
  CountAccumulator() : Accumulator(8, false) {}

  bool only_counts() const override { return true; }

  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore&) const override {
    CountAt(state) += CountValid(*arguments, selection);
  }
  void AddScattered(char* const* groups, uint32_t offset, const Vector* arguments, RowSelection selection,
                    StateStore&) const override {
    VisitValid(*arguments, selection, [&](uint32_t row) { ++CountAt(groups[row] + offset); });
  }
  void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count, StateStore&) const override {
    for (uint32_t i = 0; i < count; ++i) CountAt(into[i] + offset) += CountAt(from[i] + offset);
  }
  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    int64_t* values;
    ResultVector out = MakeResult(result.type, count, arena, &values);
    for (uint32_t i = 0; i < count; ++i) std::memcpy(&values[i], groups[i] + offset, 8);
    return out.vector;
  }

 private:
  static int64_t& CountAt(char* state) { return *reinterpret_cast<int64_t*>(state); }
};

}  // namespace

std::unique_ptr<Accumulator> CreateCountAccumulator(const AggregateSpec&) {
  return std::make_unique<CountAccumulator>();
}

}  // namespace penumbra
