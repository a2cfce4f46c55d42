// bit_and, bit_or and bit_xor of integers and of bit strings.
#include <functional>
#include <string>

#include "aggregate/aggregate_string.h"

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
constexpr const char* kOperationName = nullptr;
template <>
constexpr const char* kOperationName<std::bit_and<>> = "AND";
template <>
constexpr const char* kOperationName<std::bit_or<>> = "OR";
template <>
constexpr const char* kOperationName<std::bit_xor<>> = "XOR";

// Strings in groups: penumbra/types.h. Those of one length have the same numbers of bits behind their groups.
template <typename Operation>
struct BitStrings {
  using State = KeptString;
  using Value = StringRef;

  static void Add(State& state, const StringRef& x, StateStore& store) {
    if (state.has_value == 0) return state.Replace(x, store);
    const char* added = x.data();
    if (x.length != state.value.length || x.length == 0 || added[x.length - 1] != state.value.data()[x.length - 1]) {
      throw EngineError(PENUMBRA_BITS_OF_OTHER_LENGTH,
                        std::string("cannot ") + kOperationName<Operation> + " bit strings of different sizes");
    }
    if (!x.is_inline()) return Merge(state.buffer(), added, x.length);
    char bytes[StringRef::kInlineBytes];
    std::memcpy(bytes, state.value.data(), x.length);
    Merge(bytes, added, x.length);
    state.value = StringRef(bytes, x.length);
  }
  static void Combine(State& into, const State& from, StateStore& store) {
    if (from.has_value != 0) Add(into, from.value, store);
  }

 private:
  static void Merge(char* into, const char* from, uint32_t length) {
    for (uint32_t i = 0; i + PENUMBRA_BITS_GROUP_BYTES < length; i += PENUMBRA_BITS_GROUP_BYTES + 1) {
      uint64_t bits, more;
      std::memcpy(&bits, into + i, sizeof bits);
      std::memcpy(&more, from + i, sizeof more);
      bits = Operation()(bits, more);
      std::memcpy(into + i, &bits, sizeof bits);
    }
  }
};

template <typename Operation>
std::unique_ptr<Accumulator> Create(PenumbraType type) {
  if (type == PENUMBRA_TEXT) return std::make_unique<KeptStringAccumulator<BitStrings<Operation>>>();
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
