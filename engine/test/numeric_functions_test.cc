// Numeric functions over whole vectors: each row against Decimal, which numeric_golden_test
// compares with PostgreSQL, over forms, scales, nulls and bounds that are tight, wide or absent.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>

#include "function/registry.h"
#include "numeric/numeric.h"
#include "numeric/numeric_rows.h"
#include "penumbra/engine.h"
#include "vector/error.h"

namespace penumbra {
namespace {

class NumericFunctionsTest : public testing::Test {
 protected:
  uint64_t Random() { return random_(); }
  int64_t RandomInteger(int digits) {
    const int64_t limit = static_cast<int64_t>(kPowersOfTen[Random() % (digits + 1)]);
    return static_cast<int64_t>(Random() % (2 * limit + 1)) - limit;
  }

  const uint64_t* RandomValidity(uint32_t rows) {
    uint64_t* validity = arena_.AllocateArray<uint64_t>((rows + 63) / 64);
    for (uint32_t w = 0; w < (rows + 63) / 64; ++w) validity[w] = Random() | Random();
    return validity;
  }

  // A flat kInt64 vector of numbers of up to `digits` digits; null rows hold anything.
  Vector MakeInt64(uint32_t rows, int digits, int scale, bool has_nulls, bool is_wide) {
    int64_t* values = arena_.AllocateArray<int64_t>(rows);
    Vector v;
    v.type = PENUMBRA_NUMERIC;
    v.scale = static_cast<int16_t>(scale);
    v.data = values;
    if (has_nulls) v.validity = RandomValidity(rows);
    bool is_first = true;
    for (uint32_t i = 0; i < rows; ++i) {
      if (!IsRowValid(v.validity, i)) {
        values[i] = Random() % 2 == 0 ? INT64_MIN : static_cast<int64_t>(Random());
        continue;
      }
      values[i] = RandomInteger(digits);
      if (is_first || values[i] < v.lower) v.lower = values[i];
      if (is_first || values[i] > v.upper) v.upper = values[i];
      is_first = false;
    }
    if (is_wide) {
      v.lower = INT64_MIN;
      v.upper = INT64_MAX;
    }
    return v;
  }

  // The same numbers as payloads, with some of a scale of their own.
  Vector ToPayloads(const Vector& source, uint32_t rows) {
    StringRef* payloads = arena_.AllocateArray<StringRef>(rows);
    for (uint32_t i = 0; i < rows; ++i) {
      payloads[i] = StringRef("?", 1);
      if (!source.IsValid(i)) continue;
      Decimal number = DecimalAt(source, i);
      if (Random() % 4 == 0) number = Decimal::Round(number, number.scale() + 3);
      payloads[i] = number.ToPayload(arena_);
    }
    Vector v = source;
    v.numeric_form = NumericForm::kPayload;
    v.scale = 0;
    v.data = payloads;
    return v;
  }

  Vector Constant(int64_t value, int scale) {
    int64_t* data = arena_.AllocateArray<int64_t>(1);
    *data = value;
    Vector v;
    v.type = PENUMBRA_NUMERIC;
    v.form = VectorForm::kConstant;
    v.scale = static_cast<int16_t>(scale);
    v.data = data;
    v.lower = v.upper = value;
    return v;
  }

  Vector Call(PenumbraFunction function, PenumbraType result, const std::vector<Vector>& args, uint32_t rows,
              const std::vector<int>& integers = {}) {
    std::vector<std::unique_ptr<Expr>> owned;
    std::vector<const Expr*> exprs;
    std::vector<Vector> all = args;
    for (size_t i = 0; i < args.size(); ++i) owned.push_back(BuildColumn(static_cast<int>(i), args[i].type));
    for (int integer : integers) {
      PenumbraValue value = {};
      value.integer = integer;
      owned.push_back(BuildConstant(PENUMBRA_INT4, value));
      all.push_back(owned.back()->constant);
    }
    for (const auto& expr : owned) exprs.push_back(expr.get());
    std::string reason;
    calls_.push_back(BuildCall(function, result, exprs, session_, &reason));
    EXPECT_NE(calls_.back(), nullptr) << reason;
    EvalContext context{arena_, session_};
    const Vector out = calls_.back()->evaluate(*calls_.back(), all.data(), rows, context);
    keep_.push_back(std::move(owned));
    return out;
  }

  // Every row where all arguments are valid equals `expected`, the others are null.
  void CheckRows(const Vector& result, const std::vector<Vector>& args, uint32_t rows,
                 const std::function<Decimal(uint32_t)>& expected) {
    const Vector flat = Flatten(result, rows, arena_);
    for (uint32_t i = 0; i < rows; ++i) {
      bool is_valid = true;
      for (const Vector& arg : args) is_valid &= arg.IsValid(i);
      ASSERT_EQ(flat.IsValid(i), is_valid) << "row " << i;
      if (!is_valid) continue;
      ASSERT_EQ(DecimalAt(flat, i).ToString(), expected(i).ToString()) << "row " << i;
      SmallNumber number;
      if (flat.numeric_form != NumericForm::kPayload) {
        ASSERT_TRUE(ReadSmall(flat, i, &number) && number.value >= flat.lower && number.value <= flat.upper);
      }
    }
  }

  std::mt19937_64 random_{20240611};
  Arena arena_;
  Session session_;
  std::vector<std::unique_ptr<Expr>> calls_;
  std::vector<std::vector<std::unique_ptr<Expr>>> keep_;
};

constexpr uint32_t kRowCounts[] = {1, 3, 64, 65, 1000, kVectorRows};

TEST_F(NumericFunctionsTest, ArithmeticOfEveryWidth) {
  using Binary = Decimal (*)(const Decimal&, const Decimal&);
  const std::pair<PenumbraFunction, Binary> functions[] = {
      {PENUMBRA_FN_ADD, Decimal::Add}, {PENUMBRA_FN_SUB, Decimal::Subtract}, {PENUMBRA_FN_MUL, Decimal::Multiply}};
  for (int round = 0; round < 400; ++round) {
    arena_.Reset();
    const uint32_t rows = kRowCounts[Random() % std::size(kRowCounts)];
    Vector a = MakeInt64(rows, 1 + Random() % 18, Random() % 12, Random() % 2, Random() % 2);
    Vector b = Random() % 4 == 0 ? Constant(RandomInteger(18), Random() % 12)
                                 : MakeInt64(rows, 1 + Random() % 18, Random() % 12, Random() % 2, Random() % 2);
    if (Random() % 8 == 0) a = ToPayloads(a, rows);
    if (Random() % 2 == 0) std::swap(a, b);
    for (const auto& [function, decimal] : functions) {
      const Vector result = Call(function, PENUMBRA_NUMERIC, {a, b}, rows);
      CheckRows(result, {a, b}, rows, [&](uint32_t i) { return decimal(DecimalAt(a, i), DecimalAt(b, i)); });
      // A result as an argument.
      const Vector again = Call(function, PENUMBRA_NUMERIC, {result, b}, rows);
      CheckRows(again, {a, b}, rows, [&](uint32_t i) { return decimal(DecimalAt(result, i), DecimalAt(b, i)); });
      if (HasFatalFailure()) return;
    }
    calls_.clear();
  }
}

// TPC-H Q1: what the loops over int64 are for.
TEST_F(NumericFunctionsTest, ProductsOfPricesStayInInt64) {
  const uint32_t rows = kVectorRows;
  Vector price = MakeInt64(rows, 7, 2, false, false);
  Vector discount = MakeInt64(rows, 1, 2, false, false);
  Vector tax = MakeInt64(rows, 1, 2, false, false);
  const Vector one = Constant(1, 0);
  const Vector kept = Call(PENUMBRA_FN_SUB, PENUMBRA_NUMERIC, {one, discount}, rows);
  const Vector taxed = Call(PENUMBRA_FN_ADD, PENUMBRA_NUMERIC, {one, tax}, rows);
  const Vector paid = Call(PENUMBRA_FN_MUL, PENUMBRA_NUMERIC, {price, kept}, rows);
  const Vector charge = Call(PENUMBRA_FN_MUL, PENUMBRA_NUMERIC, {paid, taxed}, rows);
  EXPECT_EQ(charge.numeric_form, NumericForm::kInt64);
  EXPECT_EQ(charge.scale, 6);
  CheckRows(charge, {}, rows, [&](uint32_t i) {
    const Decimal unit = Decimal::FromInteger(1);
    return Decimal::Multiply(Decimal::Multiply(DecimalAt(price, i), Decimal::Subtract(unit, DecimalAt(discount, i))),
                             Decimal::Add(unit, DecimalAt(tax, i)));
  });
}

TEST_F(NumericFunctionsTest, BoundsThatAreTooWideAreTightened) {
  const uint32_t rows = 100;
  Vector a = MakeInt64(rows, 6, 2, true, true);
  const Vector square = Call(PENUMBRA_FN_MUL, PENUMBRA_NUMERIC, {a, a}, rows);
  EXPECT_EQ(square.numeric_form, NumericForm::kInt64);
}

TEST_F(NumericFunctionsTest, RoundingToEveryScale) {
  using Rounder = Decimal (*)(const Decimal&, int);
  const std::pair<PenumbraFunction, Rounder> functions[] = {{PENUMBRA_FN_ROUND, Decimal::Round},
                                                            {PENUMBRA_FN_TRUNC, Decimal::Truncate}};
  for (int round = 0; round < 300; ++round) {
    arena_.Reset();
    const uint32_t rows = kRowCounts[Random() % std::size(kRowCounts)];
    Vector a = MakeInt64(rows, 1 + Random() % 18, Random() % 19, Random() % 2, Random() % 3 == 0);
    if (Random() % 8 == 0) a = ToPayloads(a, rows);
    const int scale = static_cast<int>(Random() % 40) - 20;
    for (const auto& [function, decimal] : functions) {
      CheckRows(Call(function, PENUMBRA_NUMERIC, {a}, rows, {scale}), {a}, rows,
                [&](uint32_t i) { return decimal(DecimalAt(a, i), scale); });
    }
    CheckRows(Call(PENUMBRA_FN_FLOOR, PENUMBRA_NUMERIC, {a}, rows), {a}, rows,
              [&](uint32_t i) { return Decimal::Floor(DecimalAt(a, i)); });
    CheckRows(Call(PENUMBRA_FN_CEIL, PENUMBRA_NUMERIC, {a}, rows), {a}, rows,
              [&](uint32_t i) { return Decimal::Ceil(DecimalAt(a, i)); });
    CheckRows(Call(PENUMBRA_FN_ABS, PENUMBRA_NUMERIC, {a}, rows), {a}, rows,
              [&](uint32_t i) { return Decimal::Abs(DecimalAt(a, i)); });
    CheckRows(Call(PENUMBRA_FN_NEG, PENUMBRA_NUMERIC, {a}, rows), {a}, rows,
              [&](uint32_t i) { return Decimal::Negate(DecimalAt(a, i)); });
    if (HasFatalFailure()) return;
    calls_.clear();
  }
}

TEST_F(NumericFunctionsTest, DigitsThatVaryByRow) {
  const uint32_t rows = 500;
  const Vector a = MakeInt64(rows, 12, 5, true, false);
  int32_t* scales = arena_.AllocateArray<int32_t>(rows);
  for (uint32_t i = 0; i < rows; ++i) scales[i] = static_cast<int32_t>(Random() % 12) - 4;
  Vector digits;
  digits.type = PENUMBRA_INT4;
  digits.data = scales;
  digits.validity = RandomValidity(rows);
  CheckRows(Call(PENUMBRA_FN_ROUND, PENUMBRA_NUMERIC, {a, digits}, rows), {a, digits}, rows,
            [&](uint32_t i) { return Decimal::Round(DecimalAt(a, i), scales[i]); });
}

// Doubles of quotients, whose decimals end in zeros: as of the number's text.
TEST_F(NumericFunctionsTest, FloatsOfQuotients) {
  for (int round = 0; round < 100; ++round) {
    arena_.Reset();
    const uint32_t rows = kRowCounts[Random() % std::size(kRowCounts)];
    const Vector a = MakeInt64(rows, 1 + Random() % 18, Random() % 6, Random() % 2, Random() % 2);
    const Vector divisor =
        Constant(static_cast<int64_t>(kPowersOfTen[Random() % 9]) * (1 + Random() % 3), Random() % 9);
    Vector quotient = Flatten(Call(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, {a, divisor}, rows), rows, arena_);
    if (Random() % 4 == 0) quotient = ToPayloads(quotient, rows);
    const Vector doubles = Flatten(Call(PENUMBRA_FN_CAST, PENUMBRA_FLOAT8, {quotient}, rows), rows, arena_);
    const Vector floats = Flatten(Call(PENUMBRA_FN_CAST, PENUMBRA_FLOAT4, {quotient}, rows), rows, arena_);
    for (uint32_t i = 0; i < rows; ++i) {
      if (!quotient.IsValid(i)) continue;
      const std::string text = DecimalAt(quotient, i).ToString();
      ASSERT_EQ(doubles.values<double>()[i], std::strtod(text.c_str(), nullptr)) << text;
      ASSERT_EQ(floats.values<float>()[i], std::strtof(text.c_str(), nullptr)) << text;
    }
    calls_.clear();
  }
}

TEST_F(NumericFunctionsTest, QuotientsAndRemainders) {
  for (int round = 0; round < 100; ++round) {
    arena_.Reset();
    const uint32_t rows = 1 + Random() % 300;
    const int digits = 1 + Random() % 18;
    Vector a = MakeInt64(rows, digits, Random() % 20, Random() % 2, false);
    Vector b = MakeInt64(rows, 1 + Random() % 18, Random() % 20, Random() % 2, false);
    int64_t* divisors = const_cast<int64_t*>(b.values<int64_t>());
    for (uint32_t i = 0; i < rows; ++i) divisors[i] += divisors[i] == 0 && b.IsValid(i);
    b.upper += 1;
    if (Random() % 4 == 0) a = ToPayloads(a, rows);
    CheckRows(Call(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, {a, b}, rows), {a, b}, rows,
              [&](uint32_t i) { return Decimal::Divide(DecimalAt(a, i), DecimalAt(b, i)); });
    CheckRows(Call(PENUMBRA_FN_MOD, PENUMBRA_NUMERIC, {a, b}, rows), {a, b}, rows,
              [&](uint32_t i) { return Decimal::Modulo(DecimalAt(a, i), DecimalAt(b, i)); });
    if (HasFatalFailure()) return;
    calls_.clear();
  }
}

// PostgreSQL rounds a quotient to its own scale first, which may make a half of what is a little less.
TEST_F(NumericFunctionsTest, QuotientsAreRoundedTwice) {
  for (int round = 0; round < 400; ++round) {
    arena_.Reset();
    const uint32_t rows = 1 + Random() % 300;
    Vector a = MakeInt64(rows, 1 + Random() % 18, Random() % 10, Random() % 2, false);
    Vector b = Random() % 3 == 0 ? Constant(1 + static_cast<int64_t>(Random() % 1000000), Random() % 4)
                                 : MakeInt64(rows, 1 + Random() % 18, Random() % 10, Random() % 2, false);
    const int scale = static_cast<int>(Random() % 20);
    if (!b.is_constant()) {
      auto* dividends = const_cast<int64_t*>(a.values<int64_t>());
      auto* divisors = const_cast<int64_t*>(b.values<int64_t>());
      const int shift = std::max(0, a.scale - b.scale - scale);
      for (uint32_t i = 0; i < rows; ++i) {
        divisors[i] += divisors[i] == 0 && b.IsValid(i);
        // Next to a half, as far as the factor is exact.
        if (a.IsValid(i) && b.IsValid(i) && shift == 0 && a.scale == b.scale + scale && Random() % 2 == 0) {
          dividends[i] = divisors[i] / 2 - static_cast<int64_t>(Random() % 3);
        }
      }
      a.lower = b.lower = INT64_MIN;
      a.upper = b.upper = INT64_MAX;
    }
    if (Random() % 4 == 0) a = ToPayloads(a, rows);
    if (Random() % 4 == 0 && !b.is_constant()) b = ToPayloads(b, rows);
    const auto column = BuildColumn(0, PENUMBRA_NUMERIC), divisor = BuildColumn(1, PENUMBRA_NUMERIC);
    PenumbraValue value = {};
    value.integer = scale;
    const auto digits = BuildConstant(PENUMBRA_INT4, value);
    std::string reason;
    const auto quotient =
        BuildCall(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, {column.get(), divisor.get()}, session_, &reason);
    const Vector columns[] = {a, b};
    EvalContext context{arena_, session_};
    const struct {
      PenumbraFunction function;
      bool has_scale;
      Decimal (*round)(const Decimal&, int);
    } kFunctions[] = {
        {PENUMBRA_FN_ROUND, true, Decimal::Round},
        {PENUMBRA_FN_TRUNC, true, Decimal::Truncate},
        {PENUMBRA_FN_FLOOR, false, [](const Decimal& x, int) { return Decimal::Floor(x); }},
        {PENUMBRA_FN_CEIL, false, [](const Decimal& x, int) { return Decimal::Ceil(x); }},
    };
    for (const auto& [function, has_scale, exact] : kFunctions) {
      std::vector<const Expr*> args = {quotient.get()};
      if (has_scale) args.push_back(digits.get());
      const auto rounded = BuildCall(function, PENUMBRA_NUMERIC, args, session_, &reason);
      ASSERT_NE(rounded->evaluate_lazily, nullptr);
      CheckRows(Evaluate(*rounded, {rows, 2, columns}, context), {a, b}, rows,
                [&](uint32_t i) { return exact(Decimal::Divide(DecimalAt(a, i), DecimalAt(b, i)), scale); });
    }
    if (HasFatalFailure()) return;
  }
}

// Next to a bound: with divisors of so many digits that the first rounding reaches it, and of fewer.
TEST_F(NumericFunctionsTest, QuotientsNextToIntegers) {
  for (int round = 0; round < 2000; ++round) {
    arena_.Reset();
    const uint32_t rows = 100;
    const int64_t divisor = 1 + static_cast<int64_t>(Random() % static_cast<uint64_t>(kPowersOfTen[Random() % 19]));
    const int64_t whole_max = std::max<int64_t>(INT64_MAX / 2 / divisor, 1);
    Vector a = MakeInt64(rows, 1, Random() % 3, Random() % 2, false);
    auto* dividends = const_cast<int64_t*>(a.values<int64_t>());
    a.lower = a.upper = 0;
    for (uint32_t i = 0; i < rows; ++i) {
      if (!a.IsValid(i)) continue;
      const int64_t whole = static_cast<int64_t>(Random() % static_cast<uint64_t>(whole_max)) % 1000;
      const int64_t part = Random() % 3 == 0 ? divisor / 2 : 0;
      dividends[i] = whole * divisor + part + static_cast<int64_t>(Random() % 5) - 2;
      if (Random() % 2 == 0) dividends[i] = -dividends[i];
      a.lower = std::min<int128>(a.lower, dividends[i]);
      a.upper = std::max<int128>(a.upper, dividends[i]);
    }
    const Vector b = Constant(Random() % 2 == 0 ? divisor : -divisor, Random() % 3);
    const auto column = BuildColumn(0, PENUMBRA_NUMERIC), second = BuildColumn(1, PENUMBRA_NUMERIC);
    std::string reason;
    const auto quotient = BuildCall(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, {column.get(), second.get()}, session_, &reason);
    const Vector columns[] = {a, b};
    EvalContext context{arena_, session_};
    const auto check = [&](PenumbraFunction function, Decimal (*exact)(const Decimal&)) {
      const auto rounded = BuildCall(function, PENUMBRA_NUMERIC, {quotient.get()}, session_, &reason);
      CheckRows(Evaluate(*rounded, {rows, 2, columns}, context), {a, b}, rows,
                [&](uint32_t i) { return exact(Decimal::Divide(DecimalAt(a, i), DecimalAt(b, i))); });
    };
    check(PENUMBRA_FN_FLOOR, Decimal::Floor);
    check(PENUMBRA_FN_CEIL, Decimal::Ceil);
    check(PENUMBRA_FN_TRUNC, [](const Decimal& x) { return Decimal::Truncate(x, 0); });
    check(PENUMBRA_FN_ROUND, [](const Decimal& x) { return Decimal::Round(x, 0); });
    CheckRows(Call(PENUMBRA_FN_MOD, PENUMBRA_NUMERIC, {a, b}, rows), {a, b}, rows,
              [&](uint32_t i) { return Decimal::Modulo(DecimalAt(a, i), DecimalAt(b, i)); });
    calls_.clear();
    if (HasFatalFailure()) return;
  }
}

// Floats as NUMERIC by integers, against their text.
TEST_F(NumericFunctionsTest, SmallNumbersOfFloats) {
  const auto check = [](auto value) {
    SmallNumber number;
    if (!SmallFromFloat(value, &number)) return false;
    const Decimal exact = Decimal::FromFloat(value);
    EXPECT_EQ(Decimal::FromInteger(number.value, number.scale).ToString(), exact.ToString()) << value;
    return true;
  };
  int taken = 0;
  for (int i = 0; i < 200000; ++i) {
    const int64_t digits = RandomInteger(18);
    const double quotient = static_cast<double>(digits) / static_cast<double>(kPowersOfTen[Random() % 19]);
    taken += check(quotient) + check(static_cast<float>(quotient));
    // Ties of the last digit, and any bits.
    taken += check(static_cast<double>(digits % 1000000) / static_cast<double>(uint64_t{1} << Random() % 60));
    taken += check(std::bit_cast<double>(Random())) + check(std::bit_cast<float>(static_cast<uint32_t>(Random())));
    check(std::nextafter(static_cast<double>(kPowersOfTen[Random() % 17]), Random() % 2 == 0 ? 0.0 : 1e30));
  }
  EXPECT_GT(taken, 400000);
  for (double value : {0.0, -0.0, 1e14, 1e15, 999999999999999.5, 99999999999999.95, 0.5, 1e-18, 1e-19}) check(value);
}

// Answers of servers: the first major version with such ones, base, exponent, power.
TEST_F(NumericFunctionsTest, PowersOfEveryVersion) {
  const char* path = std::getenv("PENUMBRA_POWER_CASES");
  std::ifstream file(path != nullptr ? path : PENUMBRA_TEST_DIRECTORY "/golden/power_cases.tsv");
  int cases = 0;
  std::string version, base, exponent, expected;
  for (; file >> version >> base >> exponent >> expected; ++cases) {
    session_.power_scale_by_result = version == "16";
    const Decimal number = Decimal::FromString(base);
    const auto column = BuildColumn(0, PENUMBRA_NUMERIC);
    column->numeric = {number.scale(), number.scale(), 40};
    PenumbraValue value = {};
    const StringRef payload = Decimal::FromString(exponent).ToPayload(arena_);
    value.bytes = payload.data();
    value.bytes_length = payload.length;
    const auto constant = BuildConstant(PENUMBRA_NUMERIC, value);
    std::string reason;
    const auto power =
        BuildCall(PENUMBRA_FN_POWER, PENUMBRA_NUMERIC, {column.get(), constant.get()}, session_, &reason);
    ASSERT_NE(power, nullptr) << base << " ^ " << exponent;
    EvalContext context{arena_, session_};
    StringRef packed = number.ToPayload(arena_);
    Vector v = FlatVector(PENUMBRA_NUMERIC, &packed, nullptr);
    v.numeric_form = NumericForm::kPayload;
    const Vector payloads[] = {v};
    const Vector result = Flatten(Evaluate(*power, {1, 1, payloads}, context), 1, arena_);
    EXPECT_EQ(DecimalAt(result, 0).ToString(), expected) << version << ": " << base << " ^ " << exponent;
    const PowerRule& rule = *static_cast<const PowerRule*>(power->state.get());
    EXPECT_EQ(Decimal::Power(number, rule).ToString(), expected) << version << ": " << base << " ^ " << exponent;
  }
  EXPECT_GT(cases, 400);
}

TEST_F(NumericFunctionsTest, NullRowsRaiseNothing) {
  const uint32_t rows = 64;
  Vector a = MakeInt64(rows, 6, 2, false, false);
  Vector zero = MakeInt64(rows, 3, 2, false, false);
  int64_t* divisors = const_cast<int64_t*>(zero.values<int64_t>());
  static constexpr uint64_t kOdd = 0xAAAAAAAAAAAAAAAAull;
  for (uint32_t i = 0; i < rows; ++i) divisors[i] = i % 2;
  zero.validity = &kOdd;
  EXPECT_NO_THROW(Call(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, {a, zero}, rows));
  EXPECT_NO_THROW(Call(PENUMBRA_FN_MOD, PENUMBRA_NUMERIC, {a, zero}, rows));
  static constexpr uint64_t kAll = ~uint64_t{0};
  zero.validity = &kAll;
  EXPECT_THROW(Call(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, {a, zero}, rows), EngineError);
  // Casts and typmods see no null row either.
  int64_t* values = const_cast<int64_t*>(a.values<int64_t>());
  for (uint32_t i = 0; i < rows; ++i) values[i] = i % 2 == 0 ? INT64_MAX : 123;
  a.validity = &kOdd;
  a.lower = 0;
  a.upper = INT64_MAX;  // wider than need be
  EXPECT_NO_THROW(Call(PENUMBRA_FN_CAST, PENUMBRA_INT2, {a}, rows));
  EXPECT_NO_THROW(Call(PENUMBRA_FN_NUMERIC_TYPMOD, PENUMBRA_NUMERIC, {a}, rows, {3, 2}));
  a.validity = nullptr;
  EXPECT_THROW(Call(PENUMBRA_FN_CAST, PENUMBRA_INT2, {a}, rows), EngineError);
  EXPECT_THROW(Call(PENUMBRA_FN_NUMERIC_TYPMOD, PENUMBRA_NUMERIC, {a}, rows, {3, 2}), EngineError);
}

TEST_F(NumericFunctionsTest, ComparisonsOfEveryScale) {
  const std::pair<PenumbraFunction, bool (*)(int)> functions[] = {
      {PENUMBRA_FN_EQ, [](int order) { return order == 0; }}, {PENUMBRA_FN_NE, [](int order) { return order != 0; }},
      {PENUMBRA_FN_LT, [](int order) { return order < 0; }},  {PENUMBRA_FN_LE, [](int order) { return order <= 0; }},
      {PENUMBRA_FN_GT, [](int order) { return order > 0; }},  {PENUMBRA_FN_GE, [](int order) { return order >= 0; }}};
  for (int round = 0; round < 400; ++round) {
    arena_.Reset();
    const uint32_t rows = kRowCounts[Random() % std::size(kRowCounts)];
    const int digits = Random() % 3 == 0 ? 18 : 2;
    Vector a = MakeInt64(rows, digits, Random() % 4, Random() % 2, Random() % 2);
    Vector b = Random() % 2 == 0 ? Constant(RandomInteger(digits), Random() % 6)
                                 : MakeInt64(rows, digits, Random() % 4, Random() % 2, Random() % 2);
    if (Random() % 6 == 0) a = ToPayloads(a, rows);
    if (Random() % 2 == 0) std::swap(a, b);
    for (const auto& [function, test] : functions) {
      const Vector result = Flatten(Call(function, PENUMBRA_BOOL, {a, b}, rows), rows, arena_);
      for (uint32_t i = 0; i < rows; ++i) {
        const bool is_valid = a.IsValid(i) && b.IsValid(i);
        ASSERT_EQ(result.IsValid(i), is_valid);
        if (!is_valid) continue;
        ASSERT_EQ(result.values<uint8_t>()[i] != 0, test(Decimal::Compare(DecimalAt(a, i), DecimalAt(b, i))))
            << DecimalAt(a, i).ToString() << " " << FunctionName(function) << " " << DecimalAt(b, i).ToString();
      }
    }
    calls_.clear();
  }
}

TEST_F(NumericFunctionsTest, NullsInDistinctNullIfAndExtremes) {
  const uint32_t rows = 1000;
  for (int round = 0; round < 20; ++round) {
    const Vector a = MakeInt64(rows, 1, 1, true, false);
    Vector b = MakeInt64(rows, 1, round % 2, true, false);
    if (round % 3 == 0) b = ToPayloads(b, rows);
    const Vector distinct = Flatten(Call(PENUMBRA_FN_IS_DISTINCT, PENUMBRA_BOOL, {a, b}, rows), rows, arena_);
    const Vector not_distinct = Flatten(Call(PENUMBRA_FN_IS_NOT_DISTINCT, PENUMBRA_BOOL, {a, b}, rows), rows, arena_);
    const Vector null_if = Flatten(Call(PENUMBRA_FN_NULLIF, PENUMBRA_NUMERIC, {a, b}, rows), rows, arena_);
    const Vector greatest = Flatten(Call(PENUMBRA_FN_GREATEST, PENUMBRA_NUMERIC, {a, b}, rows), rows, arena_);
    const Vector least = Flatten(Call(PENUMBRA_FN_LEAST, PENUMBRA_NUMERIC, {a, b}, rows), rows, arena_);
    for (uint32_t i = 0; i < rows; ++i) {
      const bool both = a.IsValid(i) && b.IsValid(i);
      const int order = both ? Decimal::Compare(DecimalAt(a, i), DecimalAt(b, i)) : 0;
      const bool is_distinct = both ? order != 0 : a.IsValid(i) != b.IsValid(i);
      ASSERT_TRUE(distinct.IsValid(i) && not_distinct.IsValid(i));
      ASSERT_EQ(distinct.values<uint8_t>()[i] != 0, is_distinct);
      ASSERT_EQ(not_distinct.values<uint8_t>()[i] == 0, is_distinct);
      ASSERT_EQ(null_if.IsValid(i), a.IsValid(i) && !(both && order == 0));
      if (null_if.IsValid(i)) {
        ASSERT_EQ(DecimalAt(null_if, i).ToString(), DecimalAt(a, i).ToString());
      }
      ASSERT_EQ(greatest.IsValid(i), a.IsValid(i) || b.IsValid(i));
      ASSERT_EQ(least.IsValid(i), a.IsValid(i) || b.IsValid(i));
      if (!greatest.IsValid(i)) continue;
      const bool greatest_is_a = both ? order >= 0 : a.IsValid(i);
      const bool least_is_a = both ? order <= 0 : a.IsValid(i);
      ASSERT_EQ(DecimalAt(greatest, i).ToString(), DecimalAt(greatest_is_a ? a : b, i).ToString());
      ASSERT_EQ(DecimalAt(least, i).ToString(), DecimalAt(least_is_a ? a : b, i).ToString());
    }
  }
}

TEST_F(NumericFunctionsTest, NullConstants) {
  const uint32_t rows = 10;
  const Vector a = MakeInt64(rows, 3, 1, false, false);
  Vector null;
  null.type = PENUMBRA_NUMERIC;
  null.form = VectorForm::kConstant;
  const Vector distinct = Flatten(Call(PENUMBRA_FN_IS_DISTINCT, PENUMBRA_BOOL, {a, null}, rows), rows, arena_);
  for (uint32_t i = 0; i < rows; ++i) EXPECT_EQ(distinct.values<uint8_t>()[i], 1);
  CheckRows(Call(PENUMBRA_FN_NULLIF, PENUMBRA_NUMERIC, {a, null}, rows), {a}, rows,
            [&](uint32_t i) { return DecimalAt(a, i); });
  CheckRows(Call(PENUMBRA_FN_GREATEST, PENUMBRA_NUMERIC, {null, a}, rows), {a}, rows,
            [&](uint32_t i) { return DecimalAt(a, i); });
  EXPECT_TRUE(Call(PENUMBRA_FN_LEAST, PENUMBRA_NUMERIC, {null, null}, rows).is_null_constant());
}

// Every square root and every spread that the short way takes is that of Decimal.
TEST_F(NumericFunctionsTest, SmallRootsAndSpreads) {
  int taken = 0;
  for (int round = 0; round < 100000; ++round) {
    // Around squares and where rounding changes, and any.
    const uint128 near = Random() % static_cast<uint64_t>(kPowersOfTen[1 + round % 18]) + 1;
    const uint128 values[] = {near * near - 1, near * near, near * near + near, near * near + near + 1,
                              near * Random() % static_cast<uint128>(kInt128Limit)};
    const SmallNumber a = {static_cast<int128>(values[Random() % 5]), static_cast<int>(Random() % 20)};
    SmallNumber root;
    if (SquareRootSmall(a, &root)) {
      EXPECT_EQ(Decimal::FromInteger(root.value, root.scale).ToString(),
                Decimal::SquareRoot(Decimal::FromInteger(a.value, a.scale)).ToString());
      ++taken;
    }
    // Two values at least, or one often.
    const int scale = static_cast<int>(Random() % 7);
    const int64_t count = 1 + static_cast<int64_t>(Random() % 1000), first = RandomInteger(9),
                  second = RandomInteger(9);
    const int64_t others = count - 1;
    const SmallNumber sum = {int128{first} + int128{others} * second, scale};
    const SmallNumber squares = {int128{first} * first + int128{others} * second * second, 2 * scale};
    for (Decimal::Spread spread : {Decimal::Spread::kVarPop, Decimal::Spread::kVarSamp, Decimal::Spread::kStddevPop,
                                   Decimal::Spread::kStddevSamp}) {
      SmallNumber small;
      Decimal expected;
      if (count == 1 && (spread == Decimal::Spread::kVarSamp || spread == Decimal::Spread::kStddevSamp)) continue;
      if (!SpreadSmall(spread, count, sum, squares, &small)) continue;
      ++taken;
      ASSERT_TRUE(Decimal::ComputeSpread(spread, count, Decimal::FromInteger(sum.value, sum.scale),
                                         Decimal::FromInteger(squares.value, squares.scale), &expected));
      EXPECT_EQ(Decimal::FromInteger(small.value, small.scale).ToString(), expected.ToString());
    }
  }
  EXPECT_GT(taken, 300000);
}

// Of stored numbers, within room that is not written beyond.
TEST_F(NumericFunctionsTest, TextOfAPayload) {
  const auto check = [this](const std::string& text) {
    const StringRef payload = Decimal::FromString(text).ToPayload(arena_);
    const uint32_t enough = static_cast<uint32_t>(text.size()) + 16;
    for (uint32_t room = 0; room <= enough; ++room) {
      std::string out(enough, '#');
      const uint32_t length = penumbra_numeric_text(payload.data(), payload.length, out.data(), room);
      if (length > 0 || room == enough) {
        ASSERT_EQ(out.substr(0, length), text);
      }
      ASSERT_EQ(out.find_first_not_of('#', room), std::string::npos) << text;
    }
  };
  for (const char* text : {"0",
                           "0.0",
                           "0.00000",
                           "1",
                           "-1",
                           "9",
                           "10",
                           "99",
                           "100",
                           "999",
                           "1000",
                           "9999",
                           "10000",
                           "100000000",
                           "-123456789012345678901234567890",
                           "0.1",
                           "0.01",
                           "0.001",
                           "0.0001",
                           "-0.00001",
                           "0.00001234",
                           "1.5",
                           "12.50",
                           "10000.0001",
                           "99999999.99999999",
                           "-1.000000000",
                           "100010001.00010001",
                           "1234567.8",
                           "10.000"}) {
    check(text);
  }
  check("1" + std::string(500, '0'));
  check("0." + std::string(500, '0') + "1");
  for (int i = 0; i < 20000; ++i) {
    std::string text = std::to_string(RandomInteger(18));
    const int scale = static_cast<int>(Random() % 6);
    if (scale > 0) text += "." + std::to_string(1000000 + Random() % 1000000).substr(7 - scale);
    if (text.find_first_not_of("-0.") != std::string::npos) check(text);
  }
  char out[100];
  for (const char* text : {"NaN", "Infinity", "-Infinity"}) {
    const StringRef payload = Decimal::FromString(text).ToPayload(arena_);
    EXPECT_EQ(penumbra_numeric_text(payload.data(), payload.length, out, sizeof(out)), 0);
  }
}

TEST_F(NumericFunctionsTest, WhatIsRefused) {
  for (PenumbraFunction function : {PENUMBRA_FN_EXP, PENUMBRA_FN_LN}) {
    const auto column = BuildColumn(0, PENUMBRA_NUMERIC);
    std::string reason;
    EXPECT_EQ(BuildCall(function, PENUMBRA_NUMERIC, {column.get()}, session_, &reason), nullptr);
    EXPECT_NE(reason.find("numeric"), std::string::npos);
  }
}

}  // namespace
}  // namespace penumbra
