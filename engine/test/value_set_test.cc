#include "vector/value_set.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penumbra {
namespace {

constexpr auto kNoCheck = [] {};

// A hash that anyone can compute is inverted, so that all keys have the same low half of their hashes.
class Attack {
 public:
  static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ull;

  static uint64_t Hash(uint64_t word) {
    word *= kFactor;
    return word ^ (word >> 32);
  }
  static uint64_t Word(uint64_t hash) {
    uint64_t inverse = kFactor;  // of an odd number modulo 2^64: each round doubles the bits that are right
    for (int round = 0; round < 6; ++round) inverse *= 2 - kFactor * inverse;
    return (hash ^ (hash >> 32)) * inverse;
  }
  static std::vector<int64_t> Integers(uint64_t count) {
    std::vector<int64_t> keys;
    for (uint64_t i = 0; i < count; ++i) keys.push_back(static_cast<int64_t>(Word(i << 32)));
    return keys;
  }
};

TEST(ValueSet, TheAttackIsOne) {
  for (const int64_t key : Attack::Integers(1000)) EXPECT_EQ(static_cast<uint32_t>(Attack::Hash(key)), 0u);
}

template <typename Key>
void CheckSet(const std::vector<Key>& keys, const std::vector<Key>& others) {
  const ValueSet<Key> set(keys, kNoCheck);
  for (const Key& key : keys) ASSERT_TRUE(set.Contains(key));
  for (const Key& key : others) ASSERT_FALSE(set.Contains(key));
  constexpr uint32_t kRows = 1001;
  uint64_t bits[kValidityWords];
  set.Find(kRows, [&](uint32_t i) { return i % 3 == 0 ? keys[i] : others[i]; }, bits);
  for (uint32_t i = 0; i < kRows; ++i) ASSERT_EQ(IsBitSet(bits, i), i % 3 == 0);
  // Of a table that is half full and filled at random, it is some dozens.
  EXPECT_LT(set.LongestRun(), 100u);
}

TEST(ValueSet, KeysThatCollideBeforeTheSeedIsKnownDoNotAfter) {
  constexpr size_t kKeys = 100'000;
  const std::vector<int64_t> all = Attack::Integers(2 * kKeys);
  const std::vector<int64_t> integers(all.begin(), all.begin() + kKeys), others(all.begin() + kKeys, all.end());
  CheckSet(integers, others);
  std::vector<int128> wide, wide_others;
  std::vector<std::string> bytes;
  for (const int64_t key : all) {
    (wide.size() < kKeys ? wide : wide_others).push_back(static_cast<int128>(static_cast<uint64_t>(key)));
    bytes.emplace_back(reinterpret_cast<const char*>(&key), sizeof(key));
    bytes.back() += "the same tail";
  }
  CheckSet(wide, wide_others);
  CheckSet<std::string_view>({bytes.begin(), bytes.begin() + kKeys}, {bytes.begin() + kKeys, bytes.end()});
}

// Multiples, neighbours, powers: what real lists are made of.
TEST(ValueSet, RegularKeysDoNotCollide) {
  for (const int shift : {0, 1, 8, 20, 32, 40}) {
    std::vector<int64_t> keys, others;
    for (int64_t i = 0; i < 100'000; ++i) (i % 2 == 0 ? keys : others).push_back(i << shift);
    CheckSet(keys, others);
  }
}

// Of every length: in a StringRef, of parts that overlap.
TEST(ValueSet, Texts) {
  std::vector<std::string> texts;
  for (int i = 0; i < 4000; ++i) texts.push_back(std::to_string(i * 7919) + std::string(i % 23, 'x'));
  std::vector<std::string_view> views(texts.begin(), texts.end());
  CheckSet<std::string_view>({views.begin(), views.begin() + 2000}, {views.begin() + 2000, views.end()});
  std::vector<StringRef> refs;
  for (std::string_view view : views) refs.emplace_back(view);
  CheckSet<StringRef>({refs.begin(), refs.begin() + 2000}, {refs.begin() + 2000, refs.end()});
}

TEST(ValueSet, NothingAndOneKeyAgainAndAgain) {
  EXPECT_FALSE(ValueSet<int64_t>().Contains(0));
  const ValueSet<int64_t> set(std::vector<int64_t>(10'000, 0), kNoCheck);
  EXPECT_TRUE(set.Contains(0));
  EXPECT_FALSE(set.Contains(1));
  EXPECT_EQ(set.LongestRun(), 1u);
}

TEST(ValueSet, ACheckEndsIt) {
  struct Ended {};
  int checks = 0;
  const std::vector<int64_t> keys(100'000);
  EXPECT_THROW(ValueSet<int64_t>(keys, [&checks] { checks == 5 ? throw Ended() : ++checks; }), Ended);
}

}  // namespace
}  // namespace penumbra
