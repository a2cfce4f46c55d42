#include <gtest/gtest.h>

#include "kernels/kernels.h"

TEST(BitmapTest, CountsWords) { EXPECT_EQ(penumbra::kernels::BitmapWords(65), 2u); }
