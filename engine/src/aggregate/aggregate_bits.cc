// bit_and, bit_or and bit_xor of integers.
#include <functional>

#include "aggregate/aggregate_typed.h"

namespace penumbra {
namespace {

template <typename T, typename Operation>
struct Bits {
  struct State {
    alignas(8) T bits;
    uint64_t has_value;
  };
  using Value = T;
  static void Add(State& state, const T& x, StateStore&) {
    state.bits = state.has_value != 0 ? static_cast<T>(Operation()(state.bits, x)) : x;
    state.has_value = 1;
  }
  static void Combine(State& into, const State& from, StateStore& store) {
    if (from.has_value != 0) Add(into, from.bits, store);
  }
};

template <typename T, typename Operation>
class BitsAccumulator : public TypedAccumulator<Bits<T, Operation>> {
  using Base = TypedAccumulator<Bits<T, Operation>>;

 public:
  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    return Base::template FinalizeEach<T>(result.type, groups, offset, count, arena, [](const auto& state, T* value) {
      *value = state.bits;
      return state.has_value != 0;
    });
  }
};

template <typename Operation>
std::unique_ptr<Accumulator> Create(PenumbraType type) {
  if (type == PENUMBRA_INT2) return std::make_unique<BitsAccumulator<int16_t, Operation>>();
  if (type == PENUMBRA_INT4) return std::make_unique<BitsAccumulator<int32_t, Operation>>();
  return std::make_unique<BitsAccumulator<int64_t, Operation>>();
}

}  // namespace

std::unique_ptr<Accumulator> CreateBitAndAccumulator(const AggregateSpec& spec) {
  return Create<std::bit_and<>>(ArgumentType(spec));
}
std::unique_ptr<Accumulator> CreateBitOrAccumulator(const AggregateSpec& spec) {
  return Create<std::bit_or<>>(ArgumentType(spec));
}
std::unique_ptr<Accumulator> CreateBitXorAccumulator(const AggregateSpec& spec) {
  return Create<std::bit_xor<>>(ArgumentType(spec));
}

}  // namespace penumbra
