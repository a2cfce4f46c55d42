// Finding the distinct values of a column while it is encoded.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace penumbra {

// Numbers distinct byte strings in the order they first appear.
class DistinctValues {
 public:
  // Gives up when there are more than entry_limit.
  explicit DistinctValues(uint32_t entry_limit) : entry_limit_(entry_limit), slots_(1024, kEmpty) {}

  // The value's number, or kTooMany.
  uint32_t Add(std::string_view value) {
    const uint64_t hash = Hash(value);
    size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != kEmpty) {
      const uint32_t code = slots_[slot];
      if (hashes_[code] == hash && entries_[code] == value) return code;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return Insert(value, hash, slot);
  }
  const std::vector<std::string_view>& entries() const { return entries_; }

  static constexpr uint32_t kTooMany = UINT32_MAX;

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;

  // For this table only: never stored.
  static uint64_t Hash(std::string_view value) {
    uint64_t hash = value.size() * 0x9E3779B97F4A7C15ull;
    const char* bytes = value.data();
    size_t left = value.size();
    for (; left >= 8; left -= 8, bytes += 8) {
      uint64_t word;
      std::memcpy(&word, bytes, 8);
      hash = Mix(hash ^ word);
    }
    if (left > 0) {
      uint64_t word = 0;
      std::memcpy(&word, bytes, left);
      hash = Mix(hash ^ word);
    }
    return hash;
  }
  static uint64_t Mix(uint64_t x) {
    const unsigned __int128 product = static_cast<unsigned __int128>(x ^ 0xA0761D6478BD642Full) * 0xE7037ED1A0B428DBull;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  uint32_t Insert(std::string_view value, uint64_t hash, size_t slot) {
    if (entries_.size() >= entry_limit_) return kTooMany;
    const uint32_t code = static_cast<uint32_t>(entries_.size());
    slots_[slot] = code;
    entries_.push_back(value);
    hashes_.push_back(hash);
    if (2 * entries_.size() > slots_.size()) Grow();
    return code;
  }
  void Grow() {
    slots_.assign(4 * slots_.size(), kEmpty);
    for (uint32_t code = 0; code < hashes_.size(); ++code) {
      size_t slot = hashes_[code] & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = code;
    }
  }

  uint32_t entry_limit_;
  std::vector<uint32_t> slots_;
  std::vector<uint64_t> hashes_;
  std::vector<std::string_view> entries_;
};

}  // namespace penumbra
