// A set of constants that rows are looked up in: open addressing, filled once, then only read.
//
// Elements may come from whoever wants the set to be slow. So each set has factors of its own, which nobody can guess,
// and no list of keys collides for more than a few of them. What the set contains does not depend on them.
#pragma once

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "vector/hash.h"
#include "vector/vector.h"

namespace penumbra {

struct HashSeed {
  uint64_t added = 0x9e3779b97f4a7c15ull;
  uint64_t factor = 0xd6e8feb86659fd93ull;

  // Where the kernel gives no random bytes, which a sandbox may forbid, the seed is a known one.
  static HashSeed Random() {
    uint64_t random[2];
    if (getentropy(random, sizeof(random)) != 0) return {};
    return {random[0], random[1] | 1};
  }
};

// One product alone would keep the distances of a progression of words: for some factors its hashes lie side by side.
inline uint64_t HashWord(uint64_t word, const HashSeed& seed) {
  return FoldedProduct(FoldedProduct(word, seed.factor) ^ seed.factor, seed.added | 1);
}
inline uint64_t HashKey(int64_t key, const HashSeed& seed) {
  return HashWord(static_cast<uint64_t>(key) ^ seed.added, seed);
}
inline uint64_t HashKey(int128 key, const HashSeed& seed) {
  return HashKey(static_cast<int64_t>(key) ^ static_cast<int64_t>(HashKey(static_cast<int64_t>(key >> 64), seed)),
                 seed);
}
inline uint64_t HashKey(std::string_view key, const HashSeed& seed) {
  uint64_t hash = key.size() ^ seed.added;
  for (; key.size() >= 8; key.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, key.data(), 8);
    hash = FoldedProduct(hash ^ word, seed.factor) ^ seed.added;
  }
  uint64_t tail = 0;
  std::memcpy(&tail, key.data(), key.size());
  return HashWord(hash ^ tail, seed);
}

template <typename Key>
class ValueSet {
 public:
  ValueSet() = default;
  // `check` is called from time to time, and may throw.
  template <typename Check>
  ValueSet(const std::vector<Key>& keys, const Check& check) : seed_(HashSeed::Random()) {
    const size_t capacity = std::bit_ceil(2 * keys.size() + 2);
    mask_ = capacity - 1;
    slots_.assign(capacity, Key{});
    tags_.assign(capacity, 0);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i % kCheckedKeys == 0) check();
      const uint64_t hash = HashKey(keys[i], seed_);
      const size_t slot = FindSlot(keys[i], hash);
      slots_[slot] = keys[i];
      tags_[slot] = TagOf(hash);
    }
  }
  bool Contains(const Key& key) const { return tags_[FindSlot(key, HashKey(key, seed_))] != 0; }
  // Of slots that are taken: no look-up passes more.
  size_t LongestRun() const {
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < 2 * tags_.size(); ++i) {
      run = tags_[i & mask_] != 0 ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    return longest;
  }

 private:
  static constexpr size_t kCheckedKeys = 4096;

  // 0: a free slot. Keys of other tags need not be compared.
  static uint8_t TagOf(uint64_t hash) { return static_cast<uint8_t>(hash >> 57 | 0x80); }
  size_t FindSlot(const Key& key, uint64_t hash) const {
    size_t slot = hash & mask_;
    while (tags_[slot] != 0 && (tags_[slot] != TagOf(hash) || !(slots_[slot] == key))) slot = (slot + 1) & mask_;
    return slot;
  }

  HashSeed seed_;
  size_t mask_ = 0;
  std::vector<Key> slots_ = std::vector<Key>(1);
  std::vector<uint8_t> tags_ = std::vector<uint8_t>(1);
};

}  // namespace penumbra
