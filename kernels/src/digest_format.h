// MD5 (RFC 1321) and SHA-256 (FIPS 180-4): their constants, how they write numbers and cut messages into blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penumbra::kernels {

constexpr size_t kDigestLanesMax = 16;
constexpr size_t kDigestSlotsMax = 2 * kDigestLanesMax;
constexpr size_t kDigestBlock = 64;

inline constexpr uint32_t kMd5Constants[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

inline constexpr uint32_t kSha256Constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// All supported processors are little endian.
struct Md5Format {
  static constexpr size_t kStateWords = 4;
  static constexpr uint32_t kInitial[kStateWords] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  static uint32_t Load(const uint8_t* bytes) {
    uint32_t word;
    std::memcpy(&word, bytes, 4);
    return word;
  }
  static void Store(uint32_t word, uint8_t* bytes) { std::memcpy(bytes, &word, 4); }
  static void StoreBits(uint64_t bits, uint8_t* bytes) { std::memcpy(bytes, &bits, 8); }
};

struct Sha256Format {
  static constexpr size_t kStateWords = 8;
  static constexpr uint32_t kInitial[kStateWords] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  static uint32_t Load(const uint8_t* bytes) { return __builtin_bswap32(Md5Format::Load(bytes)); }
  static void Store(uint32_t word, uint8_t* bytes) { Md5Format::Store(__builtin_bswap32(word), bytes); }
  static void StoreBits(uint64_t bits, uint8_t* bytes) { Md5Format::StoreBits(__builtin_bswap64(bits), bytes); }
};

// The blocks of a message: those that it fills, and its end with the padding.
class MessageBlocks {
 public:
  template <class Format>
  void Begin(const uint8_t* message, uint32_t length, size_t number) {
    const size_t whole = length / kDigestBlock, rest = length % kDigestBlock;
    const size_t ends = rest + 9 <= kDigestBlock ? 1 : 2;
    std::memset(end_, 0, ends * kDigestBlock);
    if (rest > 0) std::memcpy(end_, message + whole * kDigestBlock, rest);
    end_[rest] = 0x80;
    Format::StoreBits(uint64_t{length} * 8, end_ + ends * kDigestBlock - 8);
    message_ = message;
    number_ = number;
    whole_ = whole;
    count_ = whole + ends;
    place_ = 0;
  }
  // A slot that is not open has one, too: its last.
  const uint8_t* Block() const {
    return place_ < whole_ ? message_ + place_ * kDigestBlock : end_ + (place_ - whole_) * kDigestBlock;
  }
  bool is_open() const { return count_ > 0; }
  // True: that was the last one.
  bool Advance() {
    if (++place_ < count_) return false;
    whole_ = count_ = place_ = 0;
    return true;
  }
  size_t number() const { return number_; }

 private:
  const uint8_t* message_ = nullptr;
  size_t number_ = 0;  // of the message
  size_t whole_ = 0;
  size_t count_ = 0;
  size_t place_ = 0;
  uint8_t end_[2 * kDigestBlock] = {};
};

}  // namespace penumbra::kernels
