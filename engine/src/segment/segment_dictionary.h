// Finding the distinct values of a column while it is encoded.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace penumbra {

// A byte string with its first eight bytes as a word, zero past its end.
struct DistinctKey {
  uint64_t word;
  std::string_view bytes;
};

// Of bytes that are followed by at least 8 readable ones.
inline DistinctKey PaddedKey(std::string_view bytes) {
  uint64_t word;
  std::memcpy(&word, bytes.data(), 8);
  if (bytes.size() < 8) word &= (uint64_t{1} << (8 * bytes.size())) - 1;
  return {word, bytes};
}

// Numbers distinct byte strings in the order they first appear.
class DistinctValues {
 public:
  // Gives up when there are more than entry_limit.
  explicit DistinctValues(uint32_t entry_limit) : entry_limit_(entry_limit), slots_(512) {}

  // The value's number, or kTooMany.
  uint32_t Add(const DistinctKey& key) {
    const size_t mask = slots_.size() - 1;
    size_t at = Hash(key) & mask;
    while (slots_[at].code != kEmpty) {
      const Slot& slot = slots_[at];
      // Most values are told apart, and short ones proven equal, without a look at the entry's
      // bytes.
      if (slot.word == key.word && slot.length == key.bytes.size() && IsRestEqual(slot, key.bytes)) return slot.code;
      at = (at + 1) & mask;
    }
    if (entries_.size() >= entry_limit_) return kTooMany;
    const uint32_t code = static_cast<uint32_t>(entries_.size());
    entries_.push_back(key.bytes);
    slots_[at] = {key.word, static_cast<uint32_t>(key.bytes.size()), code};
    if (2 * entries_.size() > slots_.size()) Grow();
    return code;
  }
  const std::vector<std::string_view>& entries() const { return entries_; }

  static constexpr uint32_t kTooMany = UINT32_MAX;

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;

  struct Slot {
    uint64_t word = 0;
    uint32_t length = 0;
    uint32_t code = kEmpty;
  };

  bool IsRestEqual(const Slot& slot, std::string_view bytes) const {
    return bytes.size() <= 8 || std::memcmp(entries_[slot.code].data() + 8, bytes.data() + 8, bytes.size() - 8) == 0;
  }

  // For this table only: never stored.
  static uint64_t Hash(const DistinctKey& key) {
    const size_t length = key.bytes.size();
    uint64_t hash = Mix(key.word ^ length * 0x9E3779B97F4A7C15ull);
    if (length <= 8) return hash;
    const char* bytes = key.bytes.data();
    for (size_t done = 8; done + 8 < length; done += 8) hash = Mix(hash ^ Load(bytes + done));
    return Mix(hash ^ Load(bytes + length - 8));  // overlaps what was read before
  }
  static uint64_t Load(const char* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
  }
  static uint64_t Mix(uint64_t x) {
    const unsigned __int128 product = static_cast<unsigned __int128>(x ^ 0xA0761D6478BD642Full) * 0xE7037ED1A0B428DBull;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  void Grow() {
    std::vector<Slot> old(4 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.code == kEmpty) continue;
      size_t at = Hash({slot.word, entries_[slot.code]}) & (slots_.size() - 1);
      while (slots_[at].code != kEmpty) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  uint32_t entry_limit_;
  std::vector<Slot> slots_;
  std::vector<std::string_view> entries_;
};

}  // namespace penumbra
