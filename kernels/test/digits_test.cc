// Long numbers against schoolbook arithmetic digit by digit.
#include "penumbra/digits.h"

#include <algorithm>
#include <string>

#include "kernels_testing.h"

namespace penumbra::kernels {
namespace {

using Limbs = std::vector<uint64_t>;

// Random limbs, of which some are extreme.
Limbs Number(std::mt19937_64& random, size_t limbs) {
  Limbs number(limbs);
  const uint64_t kind = random() % 4;
  for (uint64_t& limb : number) {
    limb = random() % PENUMBRA_LIMB_BASE;
    if (kind == 1) limb = PENUMBRA_LIMB_BASE - 1;
    if (kind == 2 && random() % 2 == 0) limb = random() % 2 == 0 ? 0 : PENUMBRA_LIMB_BASE - 1;
    if (kind == 3) limb = 5000'4999'5000'4999;
  }
  return number;
}

Limbs Product(const Limbs& a, const Limbs& b) {
  Limbs product(a.size() + b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const auto value = static_cast<unsigned __int128>(a[i]) * b[j] + product[i + j] + carry;
      product[i + j] = static_cast<uint64_t>(value % PENUMBRA_LIMB_BASE);
      carry = static_cast<uint64_t>(value / PENUMBRA_LIMB_BASE);
    }
    product[i + b.size()] = carry;
  }
  return product;
}

double Leading(const Limbs& a) {
  const double next = a.size() > 1 ? static_cast<double>(a[a.size() - 2]) / PENUMBRA_LIMB_BASE : 0;
  return static_cast<double>(a.back()) + next;
}

// Memory with a guard behind it.
class GuardedScratch {
 public:
  explicit GuardedScratch(size_t bytes) : memory_(bytes / sizeof(uint64_t) + kGuard, kMark) {}
  void* get() { return memory_.data(); }
  bool IsIntact() const {
    return std::all_of(memory_.end() - kGuard, memory_.end(), [](uint64_t x) { return x == kMark; });
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr uint64_t kMark = 0xdeadbeefdeadbeef;
  std::vector<uint64_t> memory_;
};

Limbs Multiply(const Limbs& a, const Limbs& b) {
  const size_t bytes = penumbra_limbs_multiply_scratch_bytes(a.size(), b.size());
  GuardedScratch scratch(bytes);
  Limbs product(a.size() + b.size());
  penumbra_limbs_multiply(a.data(), a.size(), b.data(), b.size(), product.data(), scratch.get());
  EXPECT_TRUE(scratch.IsIntact());
  return product;
}

void CheckDivision(const Limbs& a, const Limbs& b) {
  const size_t quotient_limbs = a.size() - b.size() + 1;
  Limbs quotient(quotient_limbs);
  Limbs remainder(b.size());
  GuardedScratch scratch(penumbra_limbs_divide_scratch_bytes(a.size(), b.size()));
  penumbra_limbs_divide(a.data(), a.size(), b.data(), b.size(), quotient.data(), remainder.data(), scratch.get());
  ASSERT_TRUE(scratch.IsIntact());
  ASSERT_LT(penumbra_limbs_compare(remainder.data(), b.data(), b.size()), 0);
  Limbs back = Multiply(quotient, b);
  EXPECT_EQ(back.back(), 0);
  back.pop_back();
  EXPECT_EQ(penumbra_limbs_add(back.data(), back.size(), remainder.data(), b.size(), back.data()), 0);
  ASSERT_EQ(back, a) << a.size() << " by " << b.size();

  Limbs in_place = a;
  Limbs same_quotient(quotient_limbs);
  penumbra_limbs_divide(in_place.data(), a.size(), b.data(), b.size(), same_quotient.data(), in_place.data(),
                        scratch.get());
  ASSERT_EQ(same_quotient, quotient) << a.size() << " by " << b.size();
  in_place.resize(b.size());
  ASSERT_EQ(in_place, remainder);

  const double fraction =
      penumbra_limbs_quotient(a.data(), a.size(), b.data(), b.size(), same_quotient.data(), scratch.get());
  ASSERT_EQ(same_quotient, quotient) << a.size() << " by " << b.size();
  ASSERT_TRUE(scratch.IsIntact());
  ASSERT_GE(fraction, 0);
  ASSERT_NEAR(fraction, Leading(remainder) / Leading(b), 1e-14);
}

// What has SIMD runs once per target, the rest once.
class DigitsTest : public KernelTest {};
class LimbsTest : public ::testing::Test {
 protected:
  std::mt19937_64 random{20260101};
};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(DigitsTest);

TEST_P(DigitsTest, Multiply) {
  for (size_t a_limbs : {0, 1, 2, 3, 4, 5, 6, 8, 9, 15, 16, 17, 31, 50, 100, 199, 201, 260, 700}) {
    for (size_t b_limbs : {1, 2, 5, 7, 12, 25, 64, 130, 200, 203, 330, 500, 900}) {
      for (int i = 0; i < 3; ++i) {
        const Limbs a = Number(random, a_limbs);
        const Limbs b = Number(random, b_limbs);
        ASSERT_EQ(Multiply(a, b), Product(a, b)) << a_limbs << " by " << b_limbs;
      }
    }
  }
}

TEST_P(DigitsTest, MultiplyHigh) {
  for (size_t a_limbs : {1, 3, 8, 9, 17, 70, 199, 260}) {
    for (size_t b_limbs : {1, 9, 33, 130, 230}) {
      for (int i = 0; i < 8; ++i) {
        const Limbs a = Number(random, a_limbs);
        const Limbs b = Number(random, b_limbs);
        const size_t dropped = random() % (a_limbs + b_limbs);
        GuardedScratch scratch(penumbra_limbs_multiply_scratch_bytes(a_limbs, b_limbs));
        Limbs product(a_limbs + b_limbs);
        penumbra_limbs_multiply_high(a.data(), a_limbs, b.data(), b_limbs, dropped, product.data(), scratch.get());
        EXPECT_TRUE(scratch.IsIntact());
        product.erase(product.begin(), product.begin() + static_cast<ptrdiff_t>(dropped));
        Limbs expected = Product(a, b);
        expected.erase(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(dropped));
        if (product == expected) continue;
        constexpr uint64_t kOne = 1;
        penumbra_limbs_add(product.data(), product.size(), &kOne, 1, product.data());
        ASSERT_EQ(product, expected) << a_limbs << " by " << b_limbs << " without " << dropped;
      }
    }
  }
}

TEST_P(DigitsTest, Square) {
  for (size_t limbs : {1, 4, 5, 40, 199, 200, 333, 640, 1000}) {
    const Limbs a = Number(random, limbs);
    ASSERT_EQ(Multiply(a, a), Product(a, a)) << limbs;
  }
}

// The worst case of the transforms' error bound.
TEST_P(DigitsTest, MultiplyLongest) {
  const size_t half = PENUMBRA_LIMBS_MAX / 2;
  const Limbs nines(half, PENUMBRA_LIMB_BASE - 1);
  Limbs expected(2 * half, PENUMBRA_LIMB_BASE - 1);
  std::fill_n(expected.begin(), half, 0);
  expected[0] = 1;
  expected[half] = PENUMBRA_LIMB_BASE - 2;
  EXPECT_EQ(Multiply(nines, nines), expected);
  // By a number of one limb's value, every limb is known.
  for (size_t a_limbs : {half, half / 2, half / 3, half / 5}) {
    const Limbs a(a_limbs, 5000'5000'5000'5000);
    Limbs b(PENUMBRA_LIMBS_MAX - a_limbs, 0);
    b[b.size() - 1] = 2;
    b[0] = 2;
    Limbs sum(a_limbs + b.size(), 0);
    for (size_t from : {size_t{0}, b.size() - 1}) {
      Limbs twice(a_limbs + 1);
      twice[a_limbs] = penumbra_limbs_multiply_small(a.data(), a_limbs, 2, 0, twice.data());
      penumbra_limbs_add(sum.data() + from, sum.size() - from, twice.data(), twice.size(), sum.data() + from);
    }
    EXPECT_EQ(Multiply(a, b), sum) << a_limbs;
  }
}

TEST_P(DigitsTest, Divide) {
  for (size_t b_limbs : {1, 2, 3, 4, 9, 30, 119, 121, 350, 401, 700}) {
    for (size_t quotient_limbs : {1, 2, 3, 7, 25, 130, 399, 402, 450, 900, 1700}) {
      const Limbs quotient = Number(random, quotient_limbs);
      Limbs b = Number(random, b_limbs);
      if (b.back() < PENUMBRA_DIVISOR_TOP_MIN) b.back() += PENUMBRA_DIVISOR_TOP_MIN;
      if (random() % 3 == 0) b.back() = PENUMBRA_DIVISOR_TOP_MIN;
      // An exact multiple, one less, and something else.
      Limbs a = Product(quotient, b);
      CheckDivision(a, b);
      constexpr uint64_t kOne = 1;
      if (penumbra_limbs_subtract(a.data(), a.size(), &kOne, 1, a.data()) == 0) CheckDivision(a, b);
      CheckDivision(Number(random, b_limbs + quotient_limbs - 1), b);
    }
  }
}

TEST_P(DigitsTest, Root) {
  constexpr uint64_t kOne = 1;
  for (size_t n : {1, 2, 3, 4, 5, 8, 13, 31, 63, 64, 130, 451, 900}) {
    for (int i = 0; i < 8; ++i) {
      Limbs expected = Number(random, n);
      if (expected.back() == 0) expected.back() = 1 + random() % 1000;
      // a square, one less than a square, the greatest with this root
      Limbs square = Multiply(expected, expected);
      if (square.back() == 0) continue;
      Limbs less = square;
      penumbra_limbs_subtract(less.data(), 2 * n, &kOne, 1, less.data());
      Limbs most = square;
      penumbra_limbs_add(most.data(), 2 * n, expected.data(), n, most.data());
      penumbra_limbs_add(most.data(), 2 * n, expected.data(), n, most.data());
      Limbs less_root = expected;
      penumbra_limbs_subtract(less_root.data(), n, &kOne, 1, less_root.data());
      GuardedScratch scratch(penumbra_limbs_root_scratch_bytes(n));
      Limbs root(n);
      penumbra_limbs_root(square.data(), n, root.data(), scratch.get());
      ASSERT_EQ(root, expected) << n;
      penumbra_limbs_root(most.data(), n, root.data(), scratch.get());
      ASSERT_EQ(root, expected) << n;
      if (less.back() == 0) continue;
      penumbra_limbs_root(less.data(), n, root.data(), scratch.get());
      ASSERT_EQ(root, less_root) << n;
      ASSERT_TRUE(scratch.IsIntact());
    }
  }
}

TEST_P(DigitsTest, RootOfAny) {
  for (size_t n : {1, 2, 3, 4, 5, 9, 16, 33, 64, 65, 200}) {
    for (int i = 0; i < 100; ++i) {
      Limbs a = Number(random, 2 * n);
      if (a.back() == 0 || i % 4 == 0) a.back() = 1 + random() % 1000;
      if (i % 10 == 0) {
        // The greatest that is multiplied by a power of 4 too small, unless the next limb is seen
        // too.
        const size_t bits = 2 * (16 + random() % 8);
        const unsigned __int128 top =
            (static_cast<unsigned __int128>(PENUMBRA_LIMB_BASE) * (PENUMBRA_LIMB_BASE / 4)) >> bits;
        a[2 * n - 1] = static_cast<uint64_t>(top / PENUMBRA_LIMB_BASE);
        a[2 * n - 2] = static_cast<uint64_t>(top % PENUMBRA_LIMB_BASE);
      }
      GuardedScratch scratch(penumbra_limbs_root_scratch_bytes(n));
      Limbs root(n);
      penumbra_limbs_root(a.data(), n, root.data(), scratch.get());
      ASSERT_TRUE(scratch.IsIntact());
      // root^2 <= a <= root^2 + 2 root
      Limbs square = Multiply(root, root);
      ASSERT_LE(penumbra_limbs_compare(square.data(), a.data(), 2 * n), 0) << n;
      uint64_t carry = penumbra_limbs_add(square.data(), 2 * n, root.data(), n, square.data());
      carry += penumbra_limbs_add(square.data(), 2 * n, root.data(), n, square.data());
      if (carry == 0) {
        ASSERT_GE(penumbra_limbs_compare(square.data(), a.data(), 2 * n), 0) << n;
      }
    }
  }
}

TEST_F(LimbsTest, DigitsAndLimbs) {
  for (size_t n = 0; n < 40; ++n) {
    std::vector<int16_t> digits(n);
    for (int16_t& digit : digits) digit = static_cast<int16_t>(random() % 10000);
    Limbs limbs((n + 3) / 4);
    penumbra_limbs_from_digits(digits.data(), n, limbs.data());
    std::vector<int16_t> back(4 * limbs.size());
    penumbra_limbs_to_digits(limbs.data(), limbs.size(), back.data());
    std::vector<int16_t> expected(back.size() - n, 0);
    expected.insert(expected.end(), digits.begin(), digits.end());
    EXPECT_EQ(back, expected);
  }
}

TEST_F(LimbsTest, AddSubtractCompare) {
  for (size_t n : {1, 2, 5, 30}) {
    for (size_t m = 0; m <= n; ++m) {
      const Limbs a = Number(random, n);
      const Limbs b = Number(random, m);
      Limbs sum(n);
      const uint64_t carry = penumbra_limbs_add(a.data(), n, b.data(), m, sum.data());
      Limbs back(n);
      EXPECT_EQ(penumbra_limbs_subtract(sum.data(), n, b.data(), m, back.data()), carry);
      EXPECT_EQ(back, a);
      Limbs padded = b;
      padded.resize(n);
      const int order = penumbra_limbs_compare(a.data(), padded.data(), n);
      EXPECT_EQ(order < 0, penumbra_limbs_subtract(a.data(), n, b.data(), m, back.data()) == 1);
      EXPECT_EQ(order == 0, a == padded);
    }
  }
}

TEST_F(LimbsTest, SmallFactors) {
  for (size_t n : {1, 2, 9, 40}) {
    for (uint64_t factor : {uint64_t{1}, uint64_t{10000}, uint64_t{1} << 53, PENUMBRA_LIMB_BASE - 1}) {
      const Limbs a = Number(random, n);
      const uint64_t addend = random() % factor;
      Limbs product = Product(a, {factor});
      penumbra_limbs_add(product.data(), n + 1, &addend, 1, product.data());
      Limbs multiplied(n + 1);
      multiplied[n] = penumbra_limbs_multiply_small(a.data(), n, factor, addend, multiplied.data());
      EXPECT_EQ(multiplied, product);
      Limbs quotient(n + 1);
      EXPECT_EQ(penumbra_limbs_divide_small(product.data(), n + 1, factor, quotient.data()), addend);
      quotient.resize(n);
      EXPECT_EQ(quotient, a);
    }
  }
}

}  // namespace
}  // namespace penumbra::kernels
