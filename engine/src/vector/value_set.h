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
#include "vector/vector_build.h"

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

// One product of what is at both ends of a key: half of a set's hash, of which keys may have the same by intent.
inline uint64_t QuickHash(uint64_t first, uint64_t last, const HashSeed& seed) {
  return FoldedProduct(first ^ seed.added, last ^ seed.factor);
}
inline uint64_t QuickHash(int64_t key, const HashSeed& seed) { return QuickHash(static_cast<uint64_t>(key), 0, seed); }
inline uint64_t QuickHash(int128 key, const HashSeed& seed) {
  return QuickHash(static_cast<uint64_t>(key), static_cast<uint64_t>(static_cast<uint128>(key) >> 64), seed);
}
inline uint64_t QuickHash(std::string_view key, const HashSeed& seed) {
  const auto load = [&key]<typename Word>(Word, size_t begin) {
    Word word;
    std::memcpy(&word, key.data() + begin, sizeof(word));
    return uint64_t{word};
  };
  const size_t size = key.size();
  if (size >= 8) return QuickHash(load(uint64_t{}, 0) ^ size, load(uint64_t{}, size - 8), seed);
  if (size >= 4) return QuickHash(load(uint32_t{}, 0) ^ size, load(uint32_t{}, size - 4), seed);
  return size == 0 ? 0
                   : QuickHash(load(uint8_t{}, 0) | load(uint8_t{}, size / 2) << 8, load(uint8_t{}, size - 1), seed);
}
// A text's word with its length and prefix, and its last eight bytes or what is inline of them.
inline uint64_t QuickHash(const StringRef& key, const HashSeed& seed) {
  uint64_t first, last;
  std::memcpy(&first, &key, 8);
  const char* end = key.is_inline() ? reinterpret_cast<const char*>(&key) + 8 : key.pointer + key.length - 8;
  std::memcpy(&last, end, 8);
  return QuickHash(first, last, seed);
}
inline uint64_t HashKey(const StringRef& key, const HashSeed& seed) {
  if (!key.is_inline()) return HashKey(key.view(), seed);
  int128 inline_key;
  std::memcpy(&inline_key, &key, sizeof(inline_key));
  return HashKey(inline_key, seed);
}

// What is looked up is mostly not there: a bit that a quick hash says, of 16 for each key, is asked before the table.
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
    bits_.assign(capacity * kBitsPerSlot / 64 + 1, 0);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i % kCheckedKeys == 0) check();
      const uint64_t hash = HashKey(keys[i], seed_);
      const size_t slot = FindSlot(keys[i], hash);
      slots_[slot] = keys[i];
      tags_[slot] = TagOf(hash);
      const uint64_t bit = BitOf(keys[i]);
      bits_[bit / 64] |= uint64_t{1} << bit % 64;
    }
  }
  // bit i = Contains(key_of(i)).
  template <typename KeyOf>
  void Find(uint32_t rows, const KeyOf& key_of, uint64_t* bits) const {
    if (rows == 0) return;
    PackTests(rows, bits, [&](uint32_t i) {
      const uint64_t bit = BitOf(key_of(i));
      return static_cast<uint8_t>(bits_[bit / 64] >> bit % 64 & 1);
    });
    for (uint32_t w = 0; w < BitWords(rows); ++w) {
      for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
        const uint32_t row = w * 64 + static_cast<uint32_t>(std::countr_zero(left));
        if (!Contains(key_of(row))) bits[w] &= ~(left & (0 - left));
      }
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
  static constexpr size_t kBitsPerSlot = 8;

  uint64_t BitOf(const Key& key) const { return QuickHash(key, seed_) & (mask_ * kBitsPerSlot + kBitsPerSlot - 1); }
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
  std::vector<uint64_t> bits_ = std::vector<uint64_t>(1);
};

}  // namespace penumbra
