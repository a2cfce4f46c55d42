#include "kernels_testing.h"

namespace penumbra::kernels {
namespace {

class BitmapTest : public KernelTest {};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(BitmapTest);

TEST_P(BitmapTest, SelectsCountsAndConverts) {
  for (size_t rows : Sizes()) {
    for (int density : {0, 1, 5, 50, 99, 100}) {
      std::vector<uint64_t> bits = Bits(rows, density);
      std::vector<uint16_t> expected;
      for (size_t row = 0; row < rows; ++row) {
        if (BitAt(bits, row)) expected.push_back(static_cast<uint16_t>(row));
      }
      EXPECT_EQ(CountBits(bits.data(), rows), expected.size());
      std::vector<uint16_t> selected(BitmapWords(rows) * 64);
      ASSERT_EQ(BitsToSelection(bits.data(), rows, selected.data()), expected.size());
      selected.resize(expected.size());
      EXPECT_EQ(selected, expected);

      std::vector<uint8_t> bytes(rows + 1, 9);
      BitsToBytes(bits.data(), rows, bytes.data());
      EXPECT_EQ(bytes.back(), 9);
      for (size_t row = 0; row < rows; ++row) ASSERT_EQ(bytes[row], BitAt(bits, row));
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(byte * (1 + random() % 255));
      std::vector<uint64_t> back = EmptyBits(rows);
      BytesToBits(bytes.data(), rows, back.data());
      EXPECT_EQ(back, BitsOf(rows, [&](size_t row) { return BitAt(bits, row); }));
    }
  }
}

template <typename T, typename Source>
void CheckCompact(const std::vector<T>& values, const Source& bits, size_t rows) {
  std::vector<T> expected;
  for (size_t row = 0; row < rows; ++row) {
    if (BitAt(bits, row)) expected.push_back(values[row]);
  }
  std::vector<T> out(BitmapWords(rows) * 64);
  ASSERT_EQ(CompactValues(values.data(), bits.data(), rows, out.data()), expected.size());
  out.resize(expected.size());
  EXPECT_EQ(out, expected);
}

TEST_P(BitmapTest, CompactsValues) {
  for (size_t rows : Sizes()) {
    for (int density : {0, 3, 50, 97, 100}) {
      std::vector<uint64_t> bits = Bits(rows, density);
      CountBits(bits.data(), rows);
      CheckCompact(Values<uint16_t>(rows), bits, rows);
      CheckCompact(Values<uint32_t>(rows), bits, rows);
      CheckCompact(Values<uint64_t>(rows), bits, rows);
    }
  }
}

TEST(BitmapPlainTest, CombinesMovesAndGathers) {
  std::mt19937_64 random(7);
  for (size_t rows : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1000}, size_t{2048}}) {
    std::vector<uint64_t> a(BitmapWords(rows) + 1), b(BitmapWords(rows) + 1);
    for (uint64_t& word : a) word = random();
    for (uint64_t& word : b) word = random();
    a.back() = 0x5555;
    std::vector<uint64_t> result = a;
    AndBits(result.data(), b.data(), rows);
    EXPECT_EQ(result, BitsOf(rows, [&](size_t row) { return BitAt(a, row) && BitAt(b, row); }));
    result = a;
    OrBits(result.data(), b.data(), rows);
    EXPECT_EQ(result, BitsOf(rows, [&](size_t row) { return BitAt(a, row) || BitAt(b, row); }));
    result = a;
    AndNotBits(result.data(), b.data(), rows);
    EXPECT_EQ(result, BitsOf(rows, [&](size_t row) { return BitAt(a, row) && !BitAt(b, row); }));
    result = a;
    NotBits(result.data(), rows);
    EXPECT_EQ(result, BitsOf(rows, [&](size_t row) { return !BitAt(a, row); }));
    SetBits(result.data(), rows);
    EXPECT_EQ(result, BitsOf(rows, [](size_t) { return true; }));
    for (size_t begin = 0; begin < rows; begin += 13) {
      result = EmptyBits(rows - begin);
      CopyBits(a.data(), begin, rows - begin, result.data());
      EXPECT_EQ(result, BitsOf(rows - begin, [&](size_t row) { return BitAt(a, begin + row); }));
    }
    std::vector<uint16_t> selected(rows);
    for (uint16_t& row : selected) row = static_cast<uint16_t>(random() % rows);
    result = EmptyBits(rows);
    GatherBits(a.data(), selected.data(), rows, result.data());
    EXPECT_EQ(result, BitsOf(rows, [&](size_t row) { return BitAt(a, selected[row]); }));
  }
}

}  // namespace
}  // namespace penumbra::kernels
