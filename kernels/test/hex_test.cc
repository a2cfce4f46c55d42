#include <cctype>
#include <string>
#include <vector>

#include "kernels_testing.h"

namespace penumbra::kernels {
namespace {

class HexTest : public KernelTest {};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(HexTest);

// Every byte at every place of a step; memory that ends where it may be read and written.
TEST_P(HexTest, WritesTwoDigitsForEachByte) {
  for (size_t count = 0; count <= 300; ++count) {
    std::vector<uint8_t> bytes(count);
    std::string expected;
    for (size_t i = 0; i < count; ++i) {
      bytes[i] = static_cast<uint8_t>(i * 37 + count);
      expected += "0123456789abcdef"[bytes[i] >> 4];
      expected += "0123456789abcdef"[bytes[i] & 15];
    }
    std::vector<char> digits(2 * count + 1, '#');
    WriteHex(bytes.data(), count, digits.data());
    ASSERT_EQ(std::string(digits.data(), 2 * count), expected);
    ASSERT_EQ(digits.back(), '#');
  }
}

// Each character at each place of texts around the steps: what is before it is read, and nothing is written past that.
TEST_P(HexTest, ReadsUpToAnotherCharacter) {
  for (size_t count = 0; count <= 70; ++count) {
    std::string digits;
    for (size_t i = 0; i < count; ++i) digits += "0123456789abcdefABCDEF"[random() % 22];
    for (size_t place = 0; place <= count; ++place) {
      std::string text = digits;
      if (place < count) text[place] = "/:@G`g \n\0\xff\xb0\x10"[random() % 12];
      std::vector<uint8_t> bytes(place / 2 + 1, 0x55);
      ASSERT_EQ(ReadHex(text.data(), count, bytes.data()), place / 2 * 2) << text;
      std::string again(place / 2 * 2, '#');
      WriteHex(bytes.data(), place / 2, again.data());
      for (size_t i = 0; i < again.size(); ++i) ASSERT_EQ(again[i], text[i] < 'A' ? text[i] : text[i] | 0x20);
      ASSERT_EQ(bytes.back(), 0x55);
    }
  }
  for (int c = 0; c < 256; ++c) {
    const std::string text(32, static_cast<char>(c));
    uint8_t bytes[16];
    ASSERT_EQ(ReadHex(text.data(), 32, bytes), c < 128 && std::isxdigit(c) ? 32u : 0u) << c;
  }
}

}  // namespace
}  // namespace penumbra::kernels
