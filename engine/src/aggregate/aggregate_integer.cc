// sum and avg of integers: of int2 and int4 in 64 bits, of int8 in 128, which cannot overflow in
// practice.
#include "aggregate/aggregate_typed.h"
#include "numeric/numeric_rows.h"

namespace penumbra {
namespace {

template <typename T>
struct IntegerSum {
  using Sum = std::conditional_t<sizeof(T) == 8, int128, int64_t>;
  struct __attribute__((packed, aligned(8))) State {
    int64_t count;
    Sum sum;
  };
  using Value = T;
  static void Add(State& state, const T& x, StateStore&) {
    ++state.count;
    state.sum += x;
  }
  static void Combine(State& into, const State& from, StateStore&) {
    into.count += from.count;
    into.sum += from.sum;
  }
};

template <typename T>
class IntegerSumAccumulator : public TypedAccumulator<IntegerSum<T>> {
  using Base = TypedAccumulator<IntegerSum<T>>;

 public:
  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    if (selection.rows != nullptr) return Base::AddRun(state, arguments, selection, store);
    auto& running = Base::StateAt(state);
    running.count += CountValid(*arguments, selection);
    running.sum += kernels::SumValues(arguments->values<T>(), arguments->validity, selection.count);
  }
  // avg and the sum of int8 are numeric; the sums of int4 and int2 are int8.
  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    if (result.type == PENUMBRA_NUMERIC) {
      NumericWriter values(count, arena);
      for (uint32_t i = 0; i < count; ++i) {
        const auto& state = Base::StateAt(groups[i] + offset);
        if (state.count == 0) continue;
        if (result.function == PENUMBRA_AGG_AVG) {
          values.SetAverage(i, state.sum, 0, state.count);
        } else {
          values.SetInteger(i, state.sum, 0);
        }
      }
      return values.Finish();
    }
    return Base::template FinalizeEach<int64_t>(result.type, groups, offset, count, arena,
                                                [](const auto& state, int64_t* value) {
                                                  *value = static_cast<int64_t>(state.sum);
                                                  return state.count != 0;
                                                });
  }
};

}  // namespace

std::unique_ptr<Accumulator> CreateIntegerAccumulator(PenumbraType type) {
  if (type == PENUMBRA_INT2) return std::make_unique<IntegerSumAccumulator<int16_t>>();
  if (type == PENUMBRA_INT4) return std::make_unique<IntegerSumAccumulator<int32_t>>();
  return std::make_unique<IntegerSumAccumulator<int64_t>>();
}

}  // namespace penumbra
