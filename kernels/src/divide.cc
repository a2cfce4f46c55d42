// Division of long numbers: schoolbook with late carries, and Newton's reciprocal. See
// penumbra/digits.h.
#include "divide.h"

#include <algorithm>
#include <cmath>

#include "limb.h"
#include "scratch.h"

namespace penumbra::kernels {
namespace {

// Measured, see README.md. Limbs of the quotient and of the divisor.
constexpr size_t kNewtonFrom = 700;
// A reciprocal of fewer limbs is a schoolbook division.
constexpr size_t kReciprocalByNewtonFrom = 500;
// Columns of the remainder sum up so many products before they would exceed 2^115; each is below
// 0.51 base^2.
constexpr size_t kSchoolbookMax = 700;
static_assert(kNewtonFrom <= kSchoolbookMax && kReciprocalByNewtonFrom <= kSchoolbookMax);

size_t Bits(uint128 value) { return 128 - static_cast<size_t>(__builtin_clzll(static_cast<uint64_t>(value >> 64))); }

// high is some limbs of a remainder, with the divisor's two highest limbs below: the next limb of
// the quotient, rounded to nearest, with an error below 2^-8 before rounding.
class QuotientEstimate {
 public:
  QuotientEstimate(uint64_t top, uint64_t next) {
    const uint128 divisor = uint128{top} * kLimbBase + next;  // 2^93 or more
    const size_t bits = Bits(divisor);
    shift_ = bits - 62;
    const auto divisor64 = static_cast<uint64_t>(divisor >> (bits - 64));
    const uint128 inverse = (uint128{1} << 126) / divisor64;
    inverse_ = static_cast<int64_t>(std::min(inverse, uint128{INT64_MAX}));
  }

  int64_t Limb(int128 high) const {
    const auto high62 = static_cast<int64_t>(high >> (shift_ & 63));
    const auto ratio = static_cast<int64_t>((int128{high62} * inverse_) >> 62);  // 2^62 is 1
    auto limb = static_cast<int64_t>((int128{ratio} * kLimbBase + (int128{1} << 61)) >> 62);
    // GCC sees that the cast changes nothing, keeps 128 bits and multiplies by all of them.
    asm("" : "+r"(limb));
    return limb;
  }

 private:
  size_t shift_;  // below 64
  int64_t inverse_;
};

// quotient + 1, remainder - divisor and the other way round, as the remainder is too large or
// negative: `borrow` times base^n is to be subtracted from it.
void Correct(const uint64_t* b, size_t n, uint64_t borrow, uint64_t* quotient, size_t quotient_limbs,
             uint64_t* remainder) {
  constexpr uint64_t kOne = 1;
  while (borrow != 0) {
    penumbra_limbs_subtract(quotient, quotient_limbs, &kOne, 1, quotient);
    borrow -= penumbra_limbs_add(remainder, n, b, n, remainder);
  }
  while (penumbra_limbs_compare(remainder, b, n) >= 0) {
    penumbra_limbs_add(quotient, quotient_limbs, &kOne, 1, quotient);
    penumbra_limbs_subtract(remainder, n, b, n, remainder);
  }
}

// The two highest limbs.
double LeadingLimbs(const uint64_t* a, size_t n) {
  return static_cast<double>(a[n - 1]) * static_cast<double>(kLimbBase) + static_cast<double>(a[n - 2]);
}

// Schoolbook division column by column. Quotient limbs are rounded to nearest, so that they and the
// remainder have either sign, and nothing is corrected until the end. A column of what they leave
// of a is summed up in registers when the next estimate needs it, so that the quotient alone takes
// half of the products.
class Schoolbook {
 public:
  Schoolbook(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* quotient)
      : a_(a),
        b_(b),
        b_limbs_(b_limbs),
        quotient_(quotient),
        quotient_limbs_(a_limbs - b_limbs + 1),
        estimate_(b[b_limbs - 1], b[b_limbs - 2]),
        first_(a[a_limbs - 1]),
        second_(a[a_limbs - 2]) {
    for (size_t k = quotient_limbs_; k-- > 0;) NextLimb(k);
  }

  // What is left as a part of b, from -0.51 to 0.51, but for an error of 10^-15.
  double Fraction() const { return static_cast<double>(High()) / LeadingLimbs(b_, b_limbs_); }

  // The remainder's limbs, unless there is no place for them; returned is how many times
  // base^b_limbs is to be subtracted from them, 0 or 1. They may be in the place of a's lowest.
  uint64_t Remainder(uint64_t* remainder) const {
    int128 high = 0;
    for (size_t j = 0; j < b_limbs_; ++j) {
      const SignedSplitLimb split = SplitByBase(RemainderColumn(j) + high);
      if (remainder != nullptr) remainder[j] = split.low;
      high = split.high;
    }
    return high < 0 ? static_cast<uint64_t>(-high) : 0;
  }

  // Gives the quotient's limbs their sign. It is one too large if the remainder is negative.
  void CarryQuotient() {
    int64_t carry = 0;
    for (size_t i = 0; i < quotient_limbs_; ++i) {
      const int64_t limb = static_cast<int64_t>(quotient_[i]) + carry;
      carry = limb < 0 ? -1 : 0;
      quotient_[i] = static_cast<uint64_t>(limb - carry * static_cast<int64_t>(kLimbBase));
    }
  }

 private:
  int128 High() const { return top_ * kLimbBase + first_ + DivideByBase(second_); }

  void NextLimb(size_t k) {
    const int64_t limb = estimate_.Limb(High());
    quotient_[k] = static_cast<uint64_t>(limb);
    top_ = top_ * kLimbBase + first_ - Product(limb, b_[b_limbs_ - 1]);
    first_ = second_ - Product(limb, b_[b_limbs_ - 2]);
    // The newest limb comes last, for the others need not wait for it.
    second_ = k + b_limbs_ > 2 ? Column(k + b_limbs_ - 3, k + 1) : 0;
    if (b_limbs_ > 2) second_ -= Product(limb, b_[b_limbs_ - 3]);
  }

  static int128 Product(int64_t limb, uint64_t b) { return int128{limb} * static_cast<int64_t>(b); }

  // Column j of a less what the quotient's limbs from k on take.
  int128 Column(size_t j, size_t k) const {
    const size_t begin = std::max(k, j >= b_limbs_ ? j - b_limbs_ + 1 : 0);
    const size_t end = std::min(quotient_limbs_, j + 1);
    int128 sum = 0;
#pragma GCC unroll 4
    for (size_t i = begin; i < end; ++i) {
      sum += Product(static_cast<int64_t>(quotient_[i]), b_[j - i]);
    }
    return a_[j] - sum;
  }

  int128 RemainderColumn(size_t j) const {
    switch (b_limbs_ - j) {
      case 1: return top_;
      case 2: return first_;
      case 3: return second_;
      default: return Column(j, 0);
    }
  }

  const uint64_t* a_;
  const uint64_t* b_;
  size_t b_limbs_;
  uint64_t* quotient_;
  size_t quotient_limbs_;
  QuotientEstimate estimate_;
  // The highest columns of what is left, the highest of them with what was above it.
  int128 top_ = 0;
  int128 first_;
  int128 second_;
};

void DivideSchoolbook(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* quotient,
                      uint64_t* remainder) {
  Schoolbook division(a, a_limbs, b, b_limbs, quotient);
  const uint64_t borrow = division.Remainder(remainder);
  division.CarryQuotient();
  Correct(b, b_limbs, borrow, quotient, a_limbs - b_limbs + 1, remainder);
}

// Returns what is left, as a part of b.
double QuotientSchoolbook(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* quotient) {
  constexpr double kSure = 1e-12;
  constexpr uint64_t kOne = 1;
  Schoolbook division(a, a_limbs, b, b_limbs, quotient);
  const double fraction = division.Fraction();
  const bool is_negative = std::abs(fraction) < kSure ? division.Remainder(nullptr) != 0 : fraction < 0;
  division.CarryQuotient();
  if (!is_negative) return std::max(fraction, 0.0);
  penumbra_limbs_subtract(quotient, a_limbs - b_limbs + 1, &kOne, 1, quotient);
  return 1 + std::min(fraction, 0.0);
}

// inverse (n + 1 limbs) = base^2n / b within a few units; the highest limb of b is 10^12 or more.
void Reciprocal(const uint64_t* b, size_t n, uint64_t* inverse, Scratch scratch) {
  if (n < kReciprocalByNewtonFrom) {
    uint64_t* power = scratch.Take(2 * n + 1);
    uint64_t* quotient = scratch.Take(n + 2);
    std::fill_n(power, 2 * n, 0);
    power[2 * n] = 1;
    QuotientSchoolbook(power, 2 * n + 1, b, n, quotient);
    std::copy_n(quotient, n + 1, inverse);
    return;
  }
  // With R the reciprocal of the h highest limbs and E = base^(n + h) - b R:
  // base^2n / b = R base^(n - h) + R E / base^2h within E^2.
  constexpr uint64_t kOne = 1;
  const size_t h = n / 2 + 1;
  uint64_t* r = inverse + n - h;
  Reciprocal(b + n - h, h, r, scratch);
  uint64_t* error = scratch.Take(n + h + 1);
  uint64_t* product = scratch.Take(2 * h + 4);
  penumbra_limbs_multiply(b, n, r, h + 1, error, scratch.Rest());
  const bool is_above = error[n + h] != 0;  // b R is base^(n + h) or a little more
  if (is_above) {
    error[n + h] = 0;
  } else {
    for (size_t i = 0; i < n + h; ++i) error[i] = kLimbBase - 1 - error[i];
    penumbra_limbs_add(error, n + h, &kOne, 1, error);
  }
  // E is below base^(n + 2); limbs of it that cannot reach the result are dropped.
  const size_t dropped = n - h - 1;
  const size_t error_limbs = h + 3;
  penumbra_limbs_multiply(error + dropped, error_limbs, r, h + 1, product, scratch.Rest());
  std::fill_n(inverse, n - h, 0);
  const size_t shift = 2 * h - dropped;
  const size_t correction_limbs = error_limbs + h + 1 - shift;
  const auto correct = is_above ? penumbra_limbs_subtract : penumbra_limbs_add;
  correct(inverse, n + 1, product + shift, correction_limbs, inverse);
}

// A quotient of at most b_limbs + 1 limbs, by the reciprocal of b's `precision` highest limbs. The
// remainder may be in the place of a's limbs from b_limbs on.
void DivideBlock(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, const uint64_t* inverse,
                 size_t precision, uint64_t* quotient, uint64_t* remainder, Scratch scratch) {
  const size_t quotient_limbs = a_limbs - b_limbs + 1;
  // as many limbs of a as the quotient has, and one more
  const size_t top_limbs = quotient_limbs + 1;
  uint64_t* product = scratch.Take(a_limbs + b_limbs + 4);
  penumbra_limbs_multiply(a + a_limbs - top_limbs, top_limbs, inverse, precision + 1, product, scratch.Rest());
  std::copy_n(product + precision + 2, quotient_limbs, quotient);
  penumbra_limbs_multiply(quotient, quotient_limbs, b, b_limbs, product, scratch.Rest());
  // The estimate is off by a few: one limb above b's tells the sign.
  const uint64_t above = a_limbs > b_limbs ? a[b_limbs] : 0;
  uint64_t borrow = penumbra_limbs_subtract(a, b_limbs, product, b_limbs, remainder);
  const uint64_t difference = above + kLimbBase - product[b_limbs] - borrow;
  if (difference % kLimbBase < kLimbBase / 2) {
    // so many times base^b_limbs are left, which is some divisors
    uint64_t carry = difference % kLimbBase;
    constexpr uint64_t kOne = 1;
    while (carry > 0) {
      penumbra_limbs_add(quotient, quotient_limbs, &kOne, 1, quotient);
      carry -= penumbra_limbs_subtract(remainder, b_limbs, b, b_limbs, remainder);
    }
    borrow = 0;
  } else {
    borrow = kLimbBase - difference % kLimbBase;
  }
  Correct(b, b_limbs, borrow, quotient, quotient_limbs, remainder);
}

// The quotient from the highest limbs down, in blocks of as many limbs as b has. The remainder is
// written last, as it may be in the place of limbs of a that a later block needs.
void DivideNewton(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* quotient,
                  uint64_t* remainder, Scratch scratch) {
  const size_t quotient_limbs = a_limbs - b_limbs + 1;
  const size_t precision = std::min(b_limbs, quotient_limbs + 1);
  uint64_t* inverse = scratch.Take(precision + 1);
  Reciprocal(b + b_limbs - precision, precision, inverse, scratch);
  const size_t blocks = (quotient_limbs - 1) / b_limbs;
  const size_t lower = blocks * b_limbs;
  uint64_t* rest = scratch.Take(2 * b_limbs);
  uint64_t* part = scratch.Take(b_limbs + 1);
  DivideBlock(a + lower, a_limbs - lower, b, b_limbs, inverse, precision, quotient + lower, rest + b_limbs, scratch);
  for (size_t at = lower; at > 0;) {
    at -= b_limbs;
    std::copy_n(a + at, b_limbs, rest);
    DivideBlock(rest, 2 * b_limbs, b, b_limbs, inverse, precision, part, rest + b_limbs, scratch);
    std::copy_n(part, b_limbs, quotient + at);
  }
  std::copy_n(rest + b_limbs, b_limbs, remainder);
}

Division ChooseDivision(size_t a_limbs, size_t b_limbs) {
  return std::min(a_limbs - b_limbs + 1, b_limbs) >= kNewtonFrom ? Division::kNewton : Division::kSchoolbook;
}

}  // namespace

size_t DivisionScratchBytes(Division method, size_t b_limbs) {
  if (method == Division::kSchoolbook) return 0;
  // a remainder that nobody asked for; DivideNewton's and DivideBlock's pieces; those of
  // Reciprocal are smaller
  const size_t limbs = b_limbs + 4 * b_limbs + 8 + 3 * b_limbs + 8 + MultiplyScratchBound(3 * b_limbs + 4);
  return limbs * sizeof(uint64_t);
}

double QuotientBy(Division method, const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs,
                  uint64_t* quotient, void* memory) {
  if (method == Division::kSchoolbook) {
    return QuotientSchoolbook(a, a_limbs, b, b_limbs, quotient);
  }
  Scratch scratch(memory);
  uint64_t* remainder = scratch.Take(b_limbs);
  DivideNewton(a, a_limbs, b, b_limbs, quotient, remainder, scratch);
  return LeadingLimbs(remainder, b_limbs) / LeadingLimbs(b, b_limbs);
}

}  // namespace penumbra::kernels

namespace k = penumbra::kernels;

extern "C" {

size_t penumbra_limbs_divide_scratch_bytes(size_t a_limbs, size_t b_limbs) {
  return k::DivisionScratchBytes(k::ChooseDivision(a_limbs, b_limbs), b_limbs);
}

void penumbra_limbs_divide(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* quotient,
                           uint64_t* remainder, void* scratch) {
  if (b_limbs == 1) {
    *remainder = penumbra_limbs_divide_small(a, a_limbs, *b, quotient);
  } else if (k::ChooseDivision(a_limbs, b_limbs) == k::Division::kNewton) {
    k::DivideNewton(a, a_limbs, b, b_limbs, quotient, remainder, k::Scratch(scratch));
  } else {
    k::DivideSchoolbook(a, a_limbs, b, b_limbs, quotient, remainder);
  }
}

double penumbra_limbs_quotient(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* quotient,
                               void* scratch) {
  if (b_limbs == 1) {
    const uint64_t remainder = penumbra_limbs_divide_small(a, a_limbs, *b, quotient);
    return static_cast<double>(remainder) / static_cast<double>(*b);
  }
  return k::QuotientBy(k::ChooseDivision(a_limbs, b_limbs), a, a_limbs, b, b_limbs, quotient, scratch);
}

}  // extern "C"
