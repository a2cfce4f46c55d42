// Gives the strings that a thread meets numbers, as long as they are few: a dictionary that grows.
//
// Tags and labels repeat. With codes a condition is evaluated once per string, and a grouping remembers the group of
// each; without, every element would be hashed and compared there.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vector/arena.h"
#include "vector/value_set.h"
#include "vector/vector.h"

namespace penumbra {

class StringCodes {
 public:
  explicit StringCodes(MemoryBudget* budget) : seed_(HashSeed::Random()), long_strings_(budget) {}

  // Makes a dictionary vector of the strings, of which the dictionary stays until the next call; null rows have
  // strings, too. From too many strings on it leaves the vector as it is.
  void Encode(PenumbraType type, const StringRef* strings, const uint64_t* validity, uint32_t rows, Arena& arena,
              Vector* encoded);

 private:
  static constexpr uint32_t kStringsMax = 4096;
  static constexpr uint32_t kSlots = 2 * kStringsMax;

  uint64_t Hash(const StringRef& string) const {
    if (!string.is_inline()) return HashKey(string.view(), seed_);
    uint64_t words[2];
    std::memcpy(words, &string, sizeof(words));
    return FoldedProduct(words[0] ^ seed_.added, words[1] ^ seed_.factor);
  }
  bool Add(const StringRef& string, uint16_t* slot);

  const HashSeed seed_;
  Arena long_strings_;
  bool is_open_ = true;
  std::vector<StringRef> strings_;
  std::vector<uint16_t> slots_;  // a string's number and one; 0: free
  uint64_t dictionary_id_ = 0;   // of the strings so far
};

}  // namespace penumbra
