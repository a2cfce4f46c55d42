// A set of constants that rows are looked up in: open addressing, filled once, then only read.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "vector/vector.h"

namespace penumbra {

inline uint64_t MixHash(uint64_t x) {
  x *= 0x9e3779b97f4a7c15ull;
  return x ^ (x >> 32);
}
inline uint64_t HashKey(int64_t key) { return MixHash(static_cast<uint64_t>(key)); }
inline uint64_t HashKey(int128 key) {
  return MixHash(static_cast<uint64_t>(key) ^ MixHash(static_cast<uint64_t>(key >> 64)));
}
inline uint64_t HashKey(std::string_view key) {
  uint64_t hash = key.size();
  for (; key.size() >= 8; key.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, key.data(), 8);
    hash = MixHash(hash ^ word);
  }
  uint64_t tail = 0;
  std::memcpy(&tail, key.data(), key.size());
  return MixHash(hash ^ tail);
}

template <typename Key>
class ValueSet {
 public:
  ValueSet() { Build({}); }
  void Build(const std::vector<Key>& keys) {
    const size_t capacity = std::bit_ceil(2 * keys.size() + 2);
    mask_ = capacity - 1;
    slots_.assign(capacity, Key{});
    is_used_.assign(capacity, 0);
    for (const Key& key : keys) {
      const size_t slot = FindSlot(key);
      slots_[slot] = key;
      is_used_[slot] = 1;
    }
  }
  bool Contains(const Key& key) const { return is_used_[FindSlot(key)] != 0; }

 private:
  size_t FindSlot(const Key& key) const {
    size_t slot = HashKey(key) & mask_;
    while (is_used_[slot] != 0 && !(slots_[slot] == key)) slot = (slot + 1) & mask_;
    return slot;
  }

  size_t mask_ = 0;
  std::vector<Key> slots_;
  std::vector<uint8_t> is_used_;
};

}  // namespace penumbra
