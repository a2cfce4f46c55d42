// count(*) and count(x).
#include "aggregate/aggregate_accumulator.h"

namespace penumbra {
namespace {

class CountAccumulator : public Accumulator {
 public:
  explicit CountAccumulator(bool counts_nulls)
      : Accumulator(8, false), counts_nulls_(counts_nulls) {}

  void AddRun(char* state, const Vector& argument, RowSelection selection,
              StateStore&) const override {
    CountAt(state) += counts_nulls_ ? selection.count : CountValid(argument, selection);
  }
  void AddScattered(char* const* groups, uint32_t offset, const Vector& argument,
                    RowSelection selection, StateStore&) const override {
    Vector all;
    VisitValid(counts_nulls_ ? all : argument, selection,
               [&](uint32_t row) { ++CountAt(groups[row] + offset); });
  }
  void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count,
               StateStore&) const override {
    for (uint32_t i = 0; i < count; ++i) CountAt(into[i] + offset) += CountAt(from[i] + offset);
  }
  Vector Finalize(PenumbraAggregate, PenumbraType result, const char* const* groups,
                  uint32_t offset, uint32_t count, Arena& arena) const override {
    int64_t* values;
    ResultVector out = MakeResult(result, count, arena, &values);
    for (uint32_t i = 0; i < count; ++i) std::memcpy(&values[i], groups[i] + offset, 8);
    return out.vector;
  }

 private:
  static int64_t& CountAt(char* state) { return *reinterpret_cast<int64_t*>(state); }
  const bool counts_nulls_;
};

}  // namespace

std::unique_ptr<Accumulator> CreateCountAccumulator(AccumulatorKind kind) {
  return std::make_unique<CountAccumulator>(kind == AccumulatorKind::kCountStar);
}

}  // namespace penumbra
