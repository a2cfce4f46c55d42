#include <string>
#include <vector>

#include "kernels_testing.h"

namespace penumbra::kernels {
namespace {

const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

class Base64Test : public KernelTest {};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(Base64Test);

// Bit by bit, as RFC 4648 says.
std::string Encoded(const std::vector<uint8_t>& bytes) {
  std::string digits;
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 6) {
    size_t value = 0;
    for (size_t i = bit; i < bit + 6; ++i)
      value = value << 1 | (i / 8 < bytes.size() && bytes[i / 8] >> (7 - i % 8) & 1);
    digits += kDigits[value];
  }
  while (digits.size() % 4 != 0) digits += '=';
  return digits;
}

TEST_P(Base64Test, WritesDigits) {
  for (size_t count = 0; count <= 300; ++count) {
    std::vector<uint8_t> bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    const std::string expected = Encoded(bytes);
    std::vector<char> digits(expected.size() + 1, '#');
    WriteBase64(bytes.data(), count, digits.data());
    ASSERT_EQ(std::string(digits.data(), expected.size()), expected);
    ASSERT_EQ(digits.back(), '#');
  }
}

// Another character at each place of texts around the steps: what is before it is read, and nothing written past that.
TEST_P(Base64Test, ReadsUpToAnotherCharacter) {
  for (size_t count = 0; count <= 100; ++count) {
    std::string digits;
    for (size_t i = 0; i < count; ++i) digits += kDigits[random() % 64];
    for (size_t place = 0; place <= count; ++place) {
      std::string text = digits;
      if (place < count) text[place] = "=-_.*,:@[`{ \n\0\xff\xc1\xaf"[random() % 17];
      std::vector<uint8_t> bytes(place / 4 * 3 + 1, 0x55);
      ASSERT_EQ(ReadBase64(text.data(), count, bytes.data()), place / 4 * 4) << text;
      ASSERT_EQ(bytes.back(), 0x55);
      bytes.pop_back();
      ASSERT_EQ(Encoded(bytes), text.substr(0, place / 4 * 4));
    }
  }
  for (int c = 0; c < 256; ++c) {
    const std::string text(32, static_cast<char>(c));
    uint8_t bytes[24];
    ASSERT_EQ(ReadBase64(text.data(), 32, bytes), kDigits.find(static_cast<char>(c)) != std::string::npos ? 32u : 0u)
        << c;
  }
}

}  // namespace
}  // namespace penumbra::kernels
