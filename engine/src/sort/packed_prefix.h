// Prefixes of sort keys without the bits that all of them share, as a word: what a vectorised sort takes.
#pragma once

#include <array>
#include <cstdint>

#include "sort/sort_key.h"
#include "vector/vector.h"

namespace penumbra {

inline uint128 Bits(const SortPrefix& prefix) { return static_cast<uint128>(prefix.high) << 64 | prefix.low; }

class PackedPrefix {
 public:
  PackedPrefix() = default;
  // Of prefixes that differ from `first` in no other bits than those of `varying`.
  PackedPrefix(const SortPrefix& first, uint128 varying);

  // Whether different prefixes have different words. If not, the word has as many of the first bits as it takes.
  bool is_whole() const { return is_whole_; }
  // In the order of the prefixes.
  uint64_t Pack(const SortPrefix& prefix) const {
    const uint128 bits = Bits(prefix);
    uint64_t word = 0;
    for (int i = 0; i < piece_count_; ++i) word = word << pieces_[i].shift | Part(bits, pieces_[i]);
    return word;
  }
  // The prefix of a whole word.
  SortPrefix Unpack(uint64_t word) const;

 private:
  // Bits of the prefix from `begin` on, counted from the last.
  struct Piece {
    int begin;
    int shift;  // of the pieces before: how many bits it has, and 0 for all 64
    uint64_t mask;
  };
  // Shorter stretches of shared bits are not worth a piece.
  static constexpr int kGapBitsMin = 8;

  static uint64_t Part(uint128 bits, const Piece& piece) {
    return static_cast<uint64_t>(bits >> piece.begin) & piece.mask;
  }

  std::array<Piece, 128 / (kGapBitsMin + 1) + 1> pieces_ = {};
  int piece_count_ = 0;
  bool is_whole_ = true;
  uint128 shared_ = 0;  // the bits that are in no piece
};

}  // namespace penumbra
