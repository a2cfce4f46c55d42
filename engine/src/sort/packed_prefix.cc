#include "sort/packed_prefix.h"

#include <algorithm>

namespace penumbra {
namespace {

constexpr int kWordBits = 64;

int CountLeadingZeros(uint128 bits) {
  const uint64_t high = static_cast<uint64_t>(bits >> 64), low = static_cast<uint64_t>(bits);
  return high != 0 ? __builtin_clzll(high) : low != 0 ? 64 + __builtin_clzll(low) : 128;
}

}  // namespace

// From the first bit on: a piece ends where enough shared bits follow, or where the word is full.
PackedPrefix::PackedPrefix(const SortPrefix& first, uint128 varying) : shared_(Bits(first)) {
  int left = kWordBits;
  for (int at = 128 - CountLeadingZeros(varying); at > 0;) {
    if (left == 0) {
      is_whole_ = false;
      break;
    }
    int begin = at, next = at;
    while (begin - next < kGapBitsMin && next > 0) {
      if ((varying >> --next & 1) != 0) begin = next;
    }
    const int bits = std::min(at - begin, left);
    is_whole_ = bits == at - begin;
    begin = at - bits;
    left -= bits;
    const uint64_t mask = ~uint64_t{0} >> (kWordBits - bits);
    pieces_[static_cast<size_t>(piece_count_++)] = {begin, bits % kWordBits, mask};
    shared_ &= ~(static_cast<uint128>(mask) << begin);
    if (!is_whole_) break;
    const uint128 rest = begin == 0 ? 0 : varying << (128 - begin) >> (128 - begin);
    at = 128 - CountLeadingZeros(rest);
  }
}

SortPrefix PackedPrefix::Unpack(uint64_t word) const {
  uint128 bits = shared_;
  for (int i = piece_count_; i-- > 0;) {
    bits |= static_cast<uint128>(word & pieces_[i].mask) << pieces_[i].begin;
    word = pieces_[i].shift == 0 ? 0 : word >> pieces_[i].shift;
  }
  return {static_cast<uint64_t>(bits >> 64), static_cast<uint64_t>(bits)};
}

}  // namespace penumbra
