#include "vector.h"

#include <gtest/gtest.h>

namespace penumbra {
namespace {

TEST(StringRefTest, ComparesBytes) {
  EXPECT_TRUE(StringRef("abcdefghijklm", 13) == StringRef(std::string_view("abcdefghijklm")));
  EXPECT_FALSE(StringRef("abc", 3) == StringRef("abd", 3));
}

}  // namespace
}  // namespace penumbra
