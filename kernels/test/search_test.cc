#include <algorithm>
#include <string>
#include <string_view>

#include "kernels_testing.h"

namespace penumbra::kernels {
namespace {

class SearchTest : public KernelTest {
 protected:
  std::string Text(size_t length, int letters) {
    std::string text(length, '\0');
    for (char& byte : text) byte = static_cast<char>('a' + random() % static_cast<size_t>(letters));
    return text;
  }

  // In memory of its own, so that a sanitizer sees a read past the end.
  void Check(const std::string& text, const std::string& needle_bytes) {
    const std::vector<char> memory(text.begin(), text.end());
    const Needle needle = MakeNeedle(needle_bytes.data(), needle_bytes.size());
    ASSERT_LT(needle.probes[0], needle.length);
    ASSERT_LT(needle.probes[1], needle.length);
    for (size_t begin = 0; begin <= text.size(); begin += 1 + random() % 40) {
      const size_t expected = std::min(text.find(needle_bytes, begin), text.size());
      ASSERT_EQ(FindNeedle(needle, memory.data(), begin, memory.size()), expected)
          << "'" << needle_bytes << "' from " << begin << " of " << text.size();
    }
  }
};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(SearchTest);

TEST_P(SearchTest, AgreesWithFind) {
  for (size_t size : Sizes()) {
    for (int letters : {1, 2, 4, 26}) {
      const std::string text = Text(size, letters);
      for (size_t length : {1, 2, 3, 7, 16, 17, 40, 70}) {
        Check(text, Text(length, letters));
        if (length <= size) Check(text, text.substr(random() % (size - length + 1), length));
      }
    }
  }
}

TEST_P(SearchTest, EveryPlace) {
  for (size_t size : {31, 64, 129, 200}) {
    for (size_t place = 0; place + 5 <= size; ++place) {
      std::string text(size, '-');
      text.replace(place, 5, "\xc3\xbcqed");
      Check(text, "\xc3\xbcqed");
      Check(text, "ed");
    }
  }
}

TEST(NeedleTest, ProbesAreRareAndDifferent) {
  const auto probes = [](std::string_view bytes) {
    const Needle needle = MakeNeedle(bytes.data(), bytes.size());
    return std::string{bytes[needle.probes[0]], bytes[needle.probes[1]]};
  };
  EXPECT_EQ(probes("requests"), "qu");
  EXPECT_EQ(probes("e"), "ee");
  EXPECT_EQ(probes("tee t"), "te");
  EXPECT_EQ(probes("a-b"), "-b");
  for (const char* equal : {"99", "aaaa"}) {
    const Needle needle = MakeNeedle(equal, std::strlen(equal));
    EXPECT_NE(needle.probes[0], needle.probes[1]);
  }
}

}  // namespace
}  // namespace penumbra::kernels
