// Moving, reducing and computing values.
#include "kernels_testing.h"

namespace penumbra::kernels {
namespace {

class ValuesTest : public KernelTest {};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(ValuesTest);

template <typename Code, typename T>
void CheckFrame(const std::vector<Code>& codes, T base) {
  std::vector<T> values(codes.size() + 1, 77);
  DecodeFrame(codes.data(), base, codes.size(), values.data());
  EXPECT_EQ(values.back(), 77);
  for (size_t i = 0; i < codes.size(); ++i) {
    ASSERT_EQ(values[i], static_cast<T>(static_cast<uint64_t>(base) + codes[i]));
  }
}

TEST_P(ValuesTest, DecodesFrames) {
  for (size_t rows : Sizes()) {
    CheckFrame(Values<uint8_t>(rows), Value<int16_t>());
    CheckFrame(Values<uint16_t>(rows), Value<int16_t>());
    CheckFrame(Values<uint8_t>(rows), Value<int32_t>());
    CheckFrame(Values<uint16_t>(rows), Value<int32_t>());
    CheckFrame(Values<uint32_t>(rows), Value<int32_t>());
    CheckFrame(Values<uint8_t>(rows), Value<int64_t>());
    CheckFrame(Values<uint16_t>(rows), Value<int64_t>());
    CheckFrame(Values<uint32_t>(rows), Value<int64_t>());
    CheckFrame(Values<uint64_t>(rows), Value<int64_t>());
  }
}

template <typename T>
void CheckSum(const std::vector<T>& values, const uint64_t* validity) {
  __int128 expected = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (validity == nullptr || ((validity[i / 64] >> (i % 64)) & 1) != 0) expected += values[i];
  }
  __int128 sum = SumValues(values.data(), validity, values.size());
  ASSERT_TRUE(sum == expected) << values.size() << " values of " << sizeof(T) << " bytes";
}

template <typename T>
void CheckBounds(const std::vector<T>& values, const uint64_t* validity) {
  bool is_any = false;
  T least{}, greatest{};
  for (size_t i = 0; i < values.size(); ++i) {
    if (validity != nullptr && ((validity[i / 64] >> (i % 64)) & 1) == 0) continue;
    least = is_any ? std::min(least, values[i]) : values[i];
    greatest = is_any ? std::max(greatest, values[i]) : values[i];
    is_any = true;
  }
  T low = 5, high = 6;
  ASSERT_EQ(FindBounds(values.data(), validity, values.size(), &low, &high), is_any);
  EXPECT_EQ(low, is_any ? least : 5);
  EXPECT_EQ(high, is_any ? greatest : 6);
}

TEST_P(ValuesTest, SumsAndBounds) {
  for (size_t rows : Sizes()) {
    for (int density : {-1, 0, 2, 50, 98, 100}) {
      std::vector<uint64_t> bits = Bits(rows, density);
      const uint64_t* validity = density < 0 ? nullptr : bits.data();
      auto check = [&](auto zero) {
        using T = decltype(zero);
        std::vector<T> values = Values<T>(rows);
        if (density == 2) std::fill(values.begin(), values.end(), std::numeric_limits<T>::max());
        CheckSum(values, validity);
        CheckBounds(values, validity);
      };
      check(uint8_t{});
      check(uint16_t{});
      check(uint32_t{});
      check(int16_t{});
      check(int32_t{});
      check(int64_t{});
      CheckBounds(Values<uint64_t>(rows), validity);
    }
  }
}

template <typename T>
bool Compute(Arithmetic op, T a, T b, T* result) {
  switch (op) {
    case Arithmetic::kAdd: return !__builtin_add_overflow(a, b, result);
    case Arithmetic::kSubtract: return !__builtin_sub_overflow(a, b, result);
    default: return !__builtin_mul_overflow(a, b, result);
  }
}

// Every form of one operation on the same rows; `b` is also used as a constant, by its first row.
template <typename T>
void CheckArithmetic(Arithmetic op, const std::vector<T>& a, const std::vector<T>& b) {
  size_t rows = a.size();
  auto expect = [&](auto left, auto right, auto wrapping, auto checked) {
    std::vector<T> expected(rows);
    bool is_exact = true;
    for (size_t i = 0; i < rows; ++i) is_exact &= Compute(op, left(i), right(i), &expected[i]);
    std::vector<T> out(rows);
    wrapping(out.data());
    ASSERT_EQ(out, expected);
    std::vector<T> out_checked(rows);
    ASSERT_EQ(checked(out_checked.data()), is_exact);
    ASSERT_EQ(out_checked, expected);
  };
  T c = rows > 0 ? b[0] : 3;
  expect([&](size_t i) { return a[i]; }, [&](size_t i) { return b[i]; },
         [&](T* out) { ArithmeticColumns(op, a.data(), b.data(), rows, out); },
         [&](T* out) { return ArithmeticColumnsChecked(op, a.data(), b.data(), rows, out); });
  expect([&](size_t i) { return a[i]; }, [&](size_t) { return c; },
         [&](T* out) { ArithmeticConstant(op, a.data(), c, rows, out); },
         [&](T* out) { return ArithmeticConstantChecked(op, a.data(), c, rows, out); });
  expect([&](size_t) { return c; }, [&](size_t i) { return a[i]; },
         [&](T* out) { ArithmeticFromConstant(op, c, a.data(), rows, out); },
         [&](T* out) { return ArithmeticFromConstantChecked(op, c, a.data(), rows, out); });
}

TEST_P(ValuesTest, Computes) {
  for (size_t rows : Sizes()) {
    for (Arithmetic op : {Arithmetic::kAdd, Arithmetic::kSubtract, Arithmetic::kMultiply}) {
      auto check = [&](auto zero) {
        using T = decltype(zero);
        CheckArithmetic(op, Values<T>(rows), Values<T>(rows));
        // Without overflow, and with exactly one row that overflows.
        std::vector<T> a(rows), b(rows);
        int bits = static_cast<int>(sizeof(T)) * 4 - 1;
        for (T& value : a) value = static_cast<T>(static_cast<int64_t>(random()) >> (64 - bits));
        for (T& value : b) value = static_cast<T>(static_cast<int64_t>(random()) >> (64 - bits));
        CheckArithmetic(op, a, b);
        if (rows == 0) return;
        size_t row = random() % rows;
        a[row] = op == Arithmetic::kSubtract ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
        b[row] = 2;
        CheckArithmetic(op, a, b);
      };
      check(int16_t{});
      check(int32_t{});
      check(int64_t{});
    }
    std::vector<int32_t> narrow = Values<int32_t>(2 * rows + 1);
    std::vector<int64_t> a(narrow.begin(), narrow.begin() + rows);
    std::vector<int64_t> b(narrow.begin() + rows, narrow.begin() + 2 * rows);
    std::vector<int64_t> out(rows);
    MultiplyNarrowColumns(a.data(), b.data(), rows, out.data());
    for (size_t i = 0; i < rows; ++i) ASSERT_EQ(out[i], a[i] * b[i]);
    MultiplyNarrowConstant(a.data(), narrow.back(), rows, out.data());
    for (size_t i = 0; i < rows; ++i) ASSERT_EQ(out[i], a[i] * narrow.back());
    std::vector<int64_t> in_place = a;
    MultiplyNarrowConstant(in_place.data(), narrow.back(), rows, in_place.data());
    EXPECT_EQ(in_place, out);
    ArithmeticColumns(Arithmetic::kAdd, a.data(), b.data(), rows, out.data());
    ArithmeticColumns(Arithmetic::kAdd, a.data(), b.data(), rows, b.data());
    EXPECT_EQ(b, out);
  }
}

template <typename T>
T Wide(uint64_t r) {
  if constexpr (sizeof(T) == 16) {
    return {{r, ~r}};
  } else {
    return static_cast<T>(r);
  }
}

template <typename T>
void CheckGather(std::mt19937_64& random, size_t rows) {
  std::vector<T> values(300), out(rows + 1);
  for (T& value : values) value = Wide<T>(random());
  std::vector<uint16_t> selected(rows);
  std::vector<uint8_t> small_codes(rows);
  std::vector<uint32_t> codes(rows);
  for (size_t i = 0; i < rows; ++i) {
    codes[i] = random() % 300;
    selected[i] = static_cast<uint16_t>(codes[i]);
    small_codes[i] = static_cast<uint8_t>(codes[i]);
  }
  auto equals = [](const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; };
  GatherValues(values.data(), selected.data(), rows, out.data());
  for (size_t i = 0; i < rows; ++i) ASSERT_TRUE(equals(out[i], values[codes[i]]));
  LookupValues(selected.data(), values.data(), rows, out.data());
  for (size_t i = 0; i < rows; ++i) ASSERT_TRUE(equals(out[i], values[codes[i]]));
  LookupValues(codes.data(), values.data(), rows, out.data());
  for (size_t i = 0; i < rows; ++i) ASSERT_TRUE(equals(out[i], values[codes[i]]));
  LookupValues(small_codes.data(), values.data(), rows, out.data());
  for (size_t i = 0; i < rows; ++i) ASSERT_TRUE(equals(out[i], values[small_codes[i]]));
}

// Selections with one row in `gap` left out, and such selections with two rows swapped.
template <typename T>
void CheckGatherDense(std::mt19937_64& random, uint32_t gap) {
  std::vector<T> values(2048);
  for (T& value : values) value = Wide<T>(random());
  std::vector<uint16_t> selected;
  for (uint16_t i = 0; i < 2048; ++i) {
    if (random() % gap != 0) selected.push_back(i);
  }
  for (int round = 0; round < 3; ++round) {
    std::vector<T> out(selected.size());
    GatherValues(values.data(), selected.data(), selected.size(), out.data());
    for (size_t i = 0; i < selected.size(); ++i) {
      ASSERT_EQ(std::memcmp(&out[i], &values[selected[i]], sizeof(T)), 0) << i;
    }
    const size_t a = random() % selected.size(), b = random() % selected.size();
    std::swap(selected[a], selected[b]);
  }
}

TEST(ValuesPlainTest, GathersDenseSelections) {
  std::mt19937_64 random(6);
  for (uint32_t gap : {2, 9, 50, 100000}) {
    CheckGatherDense<uint8_t>(random, gap);
    CheckGatherDense<uint16_t>(random, gap);
    CheckGatherDense<uint32_t>(random, gap);
    CheckGatherDense<uint64_t>(random, gap);
    CheckGatherDense<Bytes16>(random, gap);
  }
}

TEST(ValuesPlainTest, Gathers) {
  std::mt19937_64 random(5);
  for (size_t rows : {0, 1, 3, 4, 5, 1000}) {
    CheckGather<uint8_t>(random, rows);
    CheckGather<uint16_t>(random, rows);
    CheckGather<uint32_t>(random, rows);
    CheckGather<uint64_t>(random, rows);
    CheckGather<Bytes16>(random, rows);
  }
}

}  // namespace
}  // namespace penumbra::kernels
