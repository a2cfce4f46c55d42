// States that keep one string.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "aggregate/aggregate_typed.h"

namespace penumbra {

// All zero: there is none. Long strings lie in a buffer that belongs to the state alone.
struct KeptString {
  StringRef value;
  uint32_t capacity_bytes;
  uint32_t has_value;

  // The buffer of a string that is not inline.
  char* buffer() { return const_cast<char*>(value.pointer); }

  void Replace(const StringRef& x, StateStore& store) {
    has_value = 1;
    if (x.is_inline()) {
      value = x;
      capacity_bytes = 0;
      return;
    }
    // Doubled, so that a series of ever longer strings wastes no more than the last of them.
    char* bytes = buffer();
    if (capacity_bytes < x.length) {
      capacity_bytes = std::max(x.length, 2 * capacity_bytes);
      bytes = static_cast<char*>(store.arena().Allocate(capacity_bytes));
    }
    std::memcpy(bytes, x.pointer, x.length);
    value = StringRef(bytes, x.length);
  }
};

// Ops as TypedAccumulator takes them, with a KeptString as the state.
template <typename Ops>
class KeptStringAccumulator : public TypedAccumulator<Ops> {
  using Base = TypedAccumulator<Ops>;

 public:
  KeptStringAccumulator() : Base(true) {}

  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    return Base::template FinalizeEach<StringRef>(result.type, groups, offset, count, arena,
                                                  [](const KeptString& state, StringRef* value) {
                                                    if (state.has_value != 0) *value = state.value;
                                                    return state.has_value != 0;
                                                  });
  }
  void Save(const char* state, std::vector<char>* bytes) const override {
    const StringRef& value = Base::StateAt(state).value;
    if (!value.is_inline()) bytes->insert(bytes->end(), value.pointer, value.pointer + value.length);
  }
  const char* Load(char* state, const char* bytes, StateStore& store) const override {
    KeptString& loaded = Base::StateAt(state);
    if (loaded.value.is_inline()) return bytes;
    const uint32_t length = loaded.value.length;
    loaded.value = StringRef(store.arena().CopyBytes(bytes, length), length);
    loaded.capacity_bytes = length;
    return bytes + length;
  }
};

}  // namespace penumbra
