#include <cmath>

#include "kernels_testing.h"

namespace penumbra::kernels {
namespace {

class CompareTest : public KernelTest {};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(CompareTest);

constexpr Compare kOperators[] = {Compare::kEq, Compare::kNe, Compare::kLt, Compare::kLe, Compare::kGt, Compare::kGe};

// -1, 0, 1; NaN equals NaN and is the greatest.
template <typename T>
int Order(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) - std::isnan(b);
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

template <typename T>
bool Holds(Compare op, T a, T b) {
  int order = Order(a, b);
  switch (op) {
    case Compare::kEq: return order == 0;
    case Compare::kNe: return order != 0;
    case Compare::kLt: return order < 0;
    case Compare::kLe: return order <= 0;
    case Compare::kGt: return order > 0;
    default: return order >= 0;
  }
}

template <typename T, typename Fixture>
void CheckType(Fixture values_of, const std::vector<size_t>& sizes) {
  for (size_t rows : sizes) {
    std::vector<T> a = values_of(rows);
    std::vector<T> b = values_of(rows);
    std::vector<T> constants = values_of(12);
    for (Compare op : kOperators) {
      std::vector<uint64_t> bits = EmptyBits(rows);
      CompareColumns(op, a.data(), b.data(), rows, bits.data());
      ASSERT_EQ(bits, BitsOf(rows, [&](size_t i) { return Holds(op, a[i], b[i]); }));
      for (T constant : constants) {
        bits = EmptyBits(rows);
        CompareConstant(op, a.data(), constant, rows, bits.data());
        ASSERT_EQ(bits, BitsOf(rows, [&](size_t i) { return Holds(op, a[i], constant); }));
      }
    }
    for (size_t i = 0; i + 1 < constants.size(); ++i) {
      T low = constants[i], high = constants[i + 1];
      std::vector<uint64_t> bits = EmptyBits(rows);
      CompareBetween(a.data(), low, high, rows, bits.data());
      ASSERT_EQ(bits, BitsOf(rows, [&](size_t r) { return Order(low, a[r]) <= 0 && Order(a[r], high) <= 0; }));
    }
  }
}

#define PENUMBRA_COMPARE_TEST(T)                                            \
  TEST_P(CompareTest, T) {                                                  \
    CheckType<T>([this](size_t rows) { return Values<T>(rows); }, Sizes()); \
  }
PENUMBRA_COMPARE_TEST(uint8_t)
PENUMBRA_COMPARE_TEST(uint16_t)
PENUMBRA_COMPARE_TEST(uint32_t)
PENUMBRA_COMPARE_TEST(uint64_t)
PENUMBRA_COMPARE_TEST(int16_t)
PENUMBRA_COMPARE_TEST(int32_t)
PENUMBRA_COMPARE_TEST(int64_t)
PENUMBRA_COMPARE_TEST(float)
PENUMBRA_COMPARE_TEST(double)

template <typename Code>
void CheckLookup(std::mt19937_64& random, size_t table_size, size_t rows) {
  std::vector<uint8_t> table(table_size);
  for (uint8_t& entry : table) entry = static_cast<uint8_t>(random() % 3);
  std::vector<Code> codes(rows);
  for (Code& code : codes) code = static_cast<Code>(random() % table_size);
  std::vector<uint64_t> bits = EmptyBits(rows);
  LookupToBits(codes.data(), table.data(), table_size, rows, bits.data());
  ASSERT_EQ(bits, BitsOf(rows, [&](size_t row) { return table[codes[row]] != 0; }));
}

TEST_P(CompareTest, Lookup) {
  for (size_t rows : Sizes()) {
    for (size_t table_size : {1, 2, 16, 17, 128, 200, 256}) CheckLookup<uint8_t>(random, table_size, rows);
    CheckLookup<uint16_t>(random, 5000, rows);
    CheckLookup<uint32_t>(random, 100000, rows);
  }
}

}  // namespace
}  // namespace penumbra::kernels
