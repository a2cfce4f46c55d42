#include "penumbra/key_search.h"

#include <algorithm>

#include "kernels_testing.h"

namespace penumbra::kernels {
namespace {

constexpr size_t kReadBehind = 7;

class KeySearchTest : public KernelTest {
 protected:
  // Sizes around the window of every width, and pages.
  static std::vector<size_t> Counts() {
    std::vector<size_t> counts = Sizes();
    for (size_t count : {2, 3, 8, 14, 16, 17, 31, 32, 33, 48, 126, 255, 256, 257, 500, 4000}) {
      counts.push_back(count);
    }
    return counts;
  }
  static uint64_t Mask(int width) { return width == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * width); }

  // In memory of their own, so that a sanitizer sees a read past what is allowed.
  std::vector<char> Pack(const std::vector<uint64_t>& keys, int width) {
    std::vector<char> packed(keys.size() * static_cast<size_t>(width) + kReadBehind);
    for (char& byte : packed) byte = static_cast<char>(random());
    for (size_t i = 0; i < keys.size(); ++i) {
      std::memcpy(packed.data() + i * static_cast<size_t>(width), &keys[i], static_cast<size_t>(width));
    }
    return packed;
  }

  void Check(std::vector<uint64_t> keys, int width) {
    for (uint64_t& key : keys) key &= Mask(width);
    std::sort(keys.begin(), keys.end());
    const std::vector<char> packed = Pack(keys, width);
    std::vector<uint64_t> needles = Values<uint64_t>(20);
    for (uint64_t extreme : {uint64_t{0}, Mask(width), Mask(width) + 1, ~uint64_t{0}}) {
      needles.push_back(extreme);
    }
    for (int i = 0; i < 50 && !keys.empty(); ++i) {
      const uint64_t key = keys[random() % keys.size()];
      for (uint64_t needle : {key, key + 1, key - 1, random() & Mask(width)}) {
        needles.push_back(needle);
      }
    }
    for (uint64_t needle : needles) {
      const auto [lower, upper] = std::equal_range(keys.begin(), keys.end(), needle);
      ASSERT_EQ(penumbra_lower_bound_packed(packed.data(), width, keys.size(), needle),
                static_cast<size_t>(lower - keys.begin()))
          << needle << " of " << keys.size() << " of width " << width;
      ASSERT_EQ(penumbra_upper_bound_packed(packed.data(), width, keys.size(), needle),
                static_cast<size_t>(upper - keys.begin()))
          << needle << " of " << keys.size() << " of width " << width;
    }
  }
};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(KeySearchTest);

TEST_P(KeySearchTest, AgreesWithStandard) {
  for (int width = 0; width <= 8; ++width) {
    for (size_t count : Counts()) {
      Check(Values<uint64_t>(count), width);  // many equal keys
      std::vector<uint64_t> keys(count);
      for (uint64_t& key : keys) key = random();
      Check(keys, width);
      for (size_t i = 0; i < count; ++i) keys[i] = 7 + i;
      Check(keys, width);
      Check(std::vector<uint64_t>(count, 42), width);
    }
  }
}

// A page that is read while it is written, or damaged, gives a number within bounds.
TEST_P(KeySearchTest, UnsortedKeys) {
  for (int width = 1; width <= 8; ++width) {
    for (size_t count : Counts()) {
      const std::vector<char> packed = Pack(Values<uint64_t>(count), width);
      for (uint64_t needle : Values<uint64_t>(50)) {
        EXPECT_LE(penumbra_lower_bound_packed(packed.data(), width, count, needle & Mask(width)), count);
      }
    }
  }
}

}  // namespace
}  // namespace penumbra::kernels
