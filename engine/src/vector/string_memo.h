// What was found out about strings, for a batch in which the same ones come again.
#pragma once

#include <cstring>

#include "vector/vector.h"

namespace penumbra {

// Known by their 16 bytes, which stand for the string as long as nobody reuses its memory: within a batch.
// A string takes the place of another one that shares its slot.
template <typename Value>
class StringMemo {
 public:
  StringMemo() {
    for (Slot& slot : slots_) slot.words[0] = slot.words[1] = ~uint64_t{0};  // no string is that long
  }

  // The value kept for the string; `make()` gives it when there is none.
  template <typename Make>
  const Value& Get(const StringRef& string, Make&& make) {
    uint64_t words[2];
    std::memcpy(words, &string, sizeof(words));
    const uint64_t hash = words[0] * 0x9e3779b97f4a7c15u ^ words[1] * 0xc2b2ae3d27d4eb4fu;
    Slot& slot = slots_[hash >> (64 - kSlotBits)];
    if (slot.words[0] != words[0] || slot.words[1] != words[1]) {
      slot.value = make();
      slot.words[0] = words[0];
      slot.words[1] = words[1];
    }
    return slot.value;
  }

 private:
  static constexpr int kSlotBits = 7;
  struct Slot {
    uint64_t words[2];
    Value value;
  };
  Slot slots_[1 << kSlotBits];
};

}  // namespace penumbra
