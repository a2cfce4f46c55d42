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
  for (uint8_t& entry : table) entry = static_cast<uint8_t>(random() % 2);
  std::vector<Code> codes(rows);
  for (Code& code : codes) code = static_cast<Code>(random() % table_size);
  std::vector<uint64_t> bits = EmptyBits(rows);
  LookupToBits(codes.data(), table.data(), table_size, rows, bits.data());
  ASSERT_EQ(bits, BitsOf(rows, [&](size_t row) { return table[codes[row]] == 1; }));
}

TEST_P(CompareTest, Lookup) {
  for (size_t rows : Sizes()) {
    for (size_t table_size : {1, 2, 16, 17, 128, 200, 256}) CheckLookup<uint8_t>(random, table_size, rows);
    CheckLookup<uint16_t>(random, 5000, rows);
    CheckLookup<uint32_t>(random, 100000, rows);
  }
}

// Values around the set's ends, those of the type among them; some words of the bitmap are clear already.
template <typename T>
void CheckMembers(std::mt19937_64& random, SetPlace<T> least, SetPlace<T> span, size_t rows) {
  std::vector<uint64_t> set(static_cast<size_t>(span) / 64 + 1);
  for (uint64_t& word : set) word = random() & random();
  set[span / 64] &= ~(~uint64_t{0} << span % 64);
  std::vector<T> values(rows);
  for (T& value : values) {
    value = random() % 8 == 0 ? static_cast<T>(random()) : static_cast<T>(least - 3 + random() % (uint64_t{span} + 6));
  }
  std::vector<uint64_t> bits = EmptyBits(rows);
  for (size_t w = 0; w < BitmapWords(rows); ++w) bits[w] = random() % 3 == 0 ? 0 : random();
  const std::vector<uint64_t> before = bits;
  AndMembers(values.data(), least, span, set.data(), rows, bits.data());
  ASSERT_EQ(bits, BitsOf(rows, [&](size_t row) {
              const auto place = static_cast<SetPlace<T>>(values[row] - least);
              return (before[row / 64] >> row % 64 & 1) != 0 && place < span &&
                     (set[place / 64] >> place % 64 & 1) != 0;
            }));
}

TEST_P(CompareTest, Members) {
  for (size_t rows : Sizes()) {
    for (uint32_t span : {0u, 1u, 31u, 32u, 63u, 64u, 65u, 1000u, 100000u}) {
      for (uint32_t least : {0u, 7u, 0x80000000u, 0xFFFFFFF0u}) {
        CheckMembers<uint16_t>(random, least, span, rows);
        CheckMembers<uint32_t>(random, least, span, rows);
        CheckMembers<uint64_t>(random, least, span, rows);
        CheckMembers<uint64_t>(random, ~uint64_t{0} - least, span, rows);
      }
    }
  }
}

}  // namespace
}  // namespace penumbra::kernels
