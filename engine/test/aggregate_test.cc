// Single aggregates: results, display scales, special values and errors as PostgreSQL has them. The
// expected texts are PostgreSQL's.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "aggregate/hash_aggregation.h"
#include "numeric/numeric.h"
#include "numeric/numeric_rows.h"
#include "support/sink.h"

namespace penumbra::test {
namespace {

// The aggregate over the values, in batches of two rows from one thread, or one row each from
// three.
std::string AggregateOver(const char* name, PenumbraType result, PenumbraType type, std::vector<SinkCell> cells,
                          int threads = 1) {
  Session session;
  ExecutionEnvironment environment(size_t{1} << 24, session);
  auto argument = ColumnExpr(0, type);
  AggregationSpec spec;
  spec.aggregates.push_back({AggregateOf(name), result, {argument.get()}});
  std::unique_ptr<Sink> sink = CreateAggregation(spec, environment);
  std::vector<SinkColumn> table{{type, std::move(cells)}};
  SinkRun run =
      RunSink(*sink, environment, table, threads == 1 ? 2 : 1, threads, [](int, uint32_t) { return SinkForm::kFlat; });
  EXPECT_EQ(run.rows.size(), 1u);
  return run.rows.empty() ? "" : run.rows[0][0];
}

std::string Numeric(const char* name, std::vector<SinkCell> cells) {
  std::string one = AggregateOver(name, PENUMBRA_NUMERIC, PENUMBRA_NUMERIC, cells);
  EXPECT_EQ(AggregateOver(name, PENUMBRA_NUMERIC, PENUMBRA_NUMERIC, cells, 3), one);
  return one;
}

std::string Float8(const char* name, std::vector<SinkCell> cells) {
  return AggregateOver(name, PENUMBRA_FLOAT8, PENUMBRA_FLOAT8, std::move(cells));
}

template <typename Action>
PenumbraCode CodeThrown(Action&& action) {
  try {
    action();
  } catch (const EngineError& error) {
    return error.code();
  }
  return PENUMBRA_OK;
}

TEST(Aggregate, NumericScales) {
  EXPECT_EQ(Numeric("sum", {"1.5", "2.25", std::nullopt, "3"}), "6.75");
  EXPECT_EQ(Numeric("sum", {"1.50", "-1.5"}), "0.00");
  EXPECT_EQ(Numeric("avg", {"1", "2"}), "1.5000000000000000");
  EXPECT_EQ(Numeric("avg", {"100", "101", "101"}), "100.6666666666666667");
  EXPECT_EQ(Numeric("avg", {"0.00001", "0.00002"}), "0.000015000000000000000000");
  EXPECT_EQ(Numeric("max", {"1.0", "0.999"}), "1.0");
  EXPECT_EQ(Numeric("min", {"1.0", "0.999"}), "0.999");
  EXPECT_EQ(Numeric("sum", {std::nullopt}), "NULL");
}

TEST(Aggregate, NumericBeyond128Bits) {
  const std::string nines(38, '9');
  EXPECT_EQ(Numeric("sum", {nines, nines, nines}), "2" + std::string(37, '9') + "7");
  EXPECT_EQ(Numeric("sum", {nines, "-" + nines, "0.5"}), "0.5");
  const std::string wide(100, '7');
  EXPECT_EQ(Numeric("sum", {wide, "1.25"}), std::string(99, '7').append("8.25"));
  EXPECT_EQ(Numeric("max", {wide, nines, "NaN"}), "NaN");
  EXPECT_EQ(Numeric("min", {"-" + wide, nines}), "-" + wide);
}

TEST(Aggregate, NumericSpecialValues) {
  EXPECT_EQ(Numeric("sum", {"1", "NaN"}), "NaN");
  EXPECT_EQ(Numeric("sum", {"1", "Infinity"}), "Infinity");
  EXPECT_EQ(Numeric("avg", {"-Infinity", "1"}), "-Infinity");
  EXPECT_EQ(Numeric("sum", {"Infinity", "-Infinity"}), "NaN");
  EXPECT_EQ(Numeric("var_samp", {"Infinity", "1"}), "NaN");
  EXPECT_EQ(Numeric("var_samp", {"Infinity"}), "NULL");
  EXPECT_EQ(Numeric("var_pop", {"Infinity"}), "NaN");
  EXPECT_EQ(Numeric("max", {"-Infinity", "-1"}), "-1");
}

TEST(Aggregate, Spread) {
  EXPECT_EQ(Numeric("var_pop", {"1", "2", "3", "4"}), "1.2500000000000000");
  EXPECT_EQ(Numeric("var_samp", {"1", "2", "3", "4"}), "1.6666666666666667");
  EXPECT_EQ(Numeric("stddev_pop", {"1", "2", "3", "4"}), "1.1180339887498948");
  EXPECT_EQ(Numeric("stddev_samp", {"1", "2", "3", "4"}), "1.2909944487358056");
  EXPECT_EQ(Numeric("var_pop", {"5"}), "0");
  EXPECT_EQ(Numeric("var_samp", {"5"}), "NULL");
  EXPECT_EQ(AggregateOver("var_pop", PENUMBRA_NUMERIC, PENUMBRA_INT8, {"9223372036854775807", "-9223372036854775808"}),
            "85070591730234615856620279821087277056");
  EXPECT_EQ(Float8("var_pop", {"1", "2", "3", "4"}), "1.25");
  EXPECT_EQ(Float8("stddev_samp", {"1", "2", "3", "4"}), "1.29099444873581");
  EXPECT_EQ(Float8("var_samp", {"1"}), "NULL");
  EXPECT_EQ(Float8("var_pop", {"inf"}), "nan");
  EXPECT_EQ(AggregateOver("var_pop", PENUMBRA_FLOAT8, PENUMBRA_FLOAT8, {"1", "2", "3", "4"}, 3), "1.25");
}

TEST(Aggregate, Integers) {
  EXPECT_EQ(AggregateOver("sum", PENUMBRA_INT8, PENUMBRA_INT4, {"2147483647", "2147483647", "1"}), "4294967295");
  EXPECT_EQ(AggregateOver("sum", PENUMBRA_INT8, PENUMBRA_INT2, {"-32768", "-32768"}), "-65536");
  EXPECT_EQ(AggregateOver("sum", PENUMBRA_NUMERIC, PENUMBRA_INT8, {"9223372036854775807", "9223372036854775807"}),
            "18446744073709551614");
  EXPECT_EQ(AggregateOver("avg", PENUMBRA_NUMERIC, PENUMBRA_INT8, {"9223372036854775807", "9223372036854775806"}),
            "9223372036854775807");
  EXPECT_EQ(AggregateOver("avg", PENUMBRA_NUMERIC, PENUMBRA_INT4, {"1", "1", "0"}), "0.66666666666666666667");
}

TEST(Aggregate, FloatsAndTheirErrors) {
  EXPECT_EQ(Float8("sum", {"1.5", "nan"}), "nan");
  EXPECT_EQ(Float8("sum", {"inf", "1"}), "inf");
  EXPECT_EQ(Float8("sum", {"inf", "-inf"}), "nan");
  EXPECT_EQ(Float8("max", {"inf", "nan", "1"}), "nan");
  EXPECT_EQ(Float8("min", {"inf", "nan", "1"}), "1");
  EXPECT_EQ(Float8("avg", {"1", "2"}), "1.5");
  EXPECT_EQ(AggregateOver("sum", PENUMBRA_FLOAT4, PENUMBRA_FLOAT4, {"1.5", "2"}), "3.5");
  EXPECT_EQ(CodeThrown([] { Float8("sum", {"1e308", "1e308"}); }), PENUMBRA_FLOAT_OVERFLOW);
  // The sum is fine, the sum of squares that avg carries along is not: PostgreSQL raises it, so we
  // do.
  EXPECT_EQ(CodeThrown([] { Float8("avg", {"1e200", "-1e200"}); }), PENUMBRA_FLOAT_OVERFLOW);
  EXPECT_EQ(CodeThrown([] { Float8("sum", {"1e200", "-1e200"}); }), PENUMBRA_OK);
  EXPECT_EQ(CodeThrown([] { AggregateOver("sum", PENUMBRA_FLOAT4, PENUMBRA_FLOAT4, {"3e38", "3e38"}); }),
            PENUMBRA_FLOAT_OVERFLOW);
}

TEST(Aggregate, Intervals) {
  auto interval = [](const char* name, std::vector<SinkCell> cells) {
    return AggregateOver(name, PENUMBRA_INTERVAL, PENUMBRA_INTERVAL, std::move(cells));
  };
  EXPECT_EQ(interval("sum", {"1/2/3", "4/-5/6", std::nullopt}), "5/-3/9");
  EXPECT_EQ(interval("avg", {"1/0/0", "0/0/0"}), "0/15/0");
  EXPECT_EQ(interval("avg", {"0/1/0", "0/0/0"}), "0/0/43200000000");
  EXPECT_EQ(interval("avg", {"1/5/10800000000", "7/-4/0", "0/3/1500000"}), "2/21/32400500000");
  EXPECT_EQ(interval("max", {"0/29/0", "1/0/0"}), "1/0/0");
  EXPECT_EQ(CodeThrown([&] { interval("sum", {"2147483647/0/0", "1/0/0"}); }), PENUMBRA_INTERVAL_OUT_OF_RANGE);
}

TEST(Aggregate, AverageOfIntegersIsThatOfDecimals) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    int128 sum = static_cast<int64_t>(random()) >> (random() % 64);
    if (random() % 4 == 0) sum *= static_cast<int64_t>(random() >> (random() % 64));
    const int scale = static_cast<int>(random() % 20);
    const int64_t count = 1 + static_cast<int64_t>(random() >> (1 + random() % 63));
    Arena arena;
    NumericWriter writer(1, arena);
    writer.SetAverage(0, sum, scale, count);
    ASSERT_EQ(DecimalAt(writer.Finish(), 0).ToString(),
              Decimal::Average(Decimal::FromInteger(sum, scale), count).ToString())
        << Decimal::FromInteger(sum, scale).ToString() << " / " << count;
  }
}

// min and max own what they keep: the vectors' memory is gone by the time of the result.
TEST(Aggregate, ExtremesOfLongStrings) {
  std::vector<SinkCell> cells;
  std::string longest;
  for (int i = 0; i < 3000; ++i) {
    longest = "a prefix that all of them share " + std::to_string(1000000 + i) + std::string(i % 50, 'x');
    cells.push_back(longest);
  }
  EXPECT_EQ(AggregateOver("max", PENUMBRA_TEXT, PENUMBRA_TEXT, cells, 2), longest);
  EXPECT_EQ(AggregateOver("min", PENUMBRA_TEXT, PENUMBRA_TEXT, cells, 2), *cells[0]);
  EXPECT_EQ(AggregateOver("max", PENUMBRA_BPCHAR, PENUMBRA_BPCHAR, {"a  ", "a\x01", "Z"}), "a\x01");
}

}  // namespace
}  // namespace penumbra::test
