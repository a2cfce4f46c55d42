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

}  // namespace
}  // namespace penumbra::kernels
