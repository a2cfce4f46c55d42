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
    tags_.assign(capacity, 0);
    for (const Key& key : keys) {
      const uint64_t hash = HashKey(key);
      const size_t slot = FindSlot(key, hash);
      slots_[slot] = key;
      tags_[slot] = TagOf(hash);
    }
  }
  bool Contains(const Key& key) const { return tags_[FindSlot(key, HashKey(key))] != 0; }

 private:
  // 0: a free slot. Keys of other tags need not be compared.
  static uint8_t TagOf(uint64_t hash) { return static_cast<uint8_t>(hash >> 57 | 0x80); }
  size_t FindSlot(const Key& key, uint64_t hash) const {
    size_t slot = hash & mask_;
    while (tags_[slot] != 0 && (tags_[slot] != TagOf(hash) || !(slots_[slot] == key))) slot = (slot + 1) & mask_;
    return slot;
  }

  size_t mask_ = 0;
  std::vector<Key> slots_;
  std::vector<uint8_t> tags_;
};

}  // namespace penumbra
