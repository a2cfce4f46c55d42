// Ordered-set aggregates against sorted values: many and few, in memory and spilled, by one thread and by several.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "aggregate/ordered_selection.h"
#include "aggregate/ordered_values.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

constexpr double kFractions[] = {0, 0.001, 0.25, 0.5, 0.9, 0.9999, 1};

// The call points to the fraction.
PenumbraAggregateCall Ordered(PenumbraAggregate function, PenumbraType type, PenumbraExpr argument,
                              const double& fraction, bool descending) {
  PenumbraAggregateCall call = Aggregate(function, type, argument);
  call.fractions = &fraction;
  call.fraction_count = function == PENUMBRA_AGG_MODE ? 0 : 1;
  call.descending = descending;
  return call;
}

// Rows of a group, a number and a text that stands for it in order.
struct Rows {
  std::vector<int> groups;
  std::vector<int64_t> numbers;
  std::vector<bool> nulls;

  Rows(uint32_t count, int group_count, int64_t distinct, uint32_t seed) {
    std::mt19937 random(seed);
    for (uint32_t i = 0; i < count; ++i) {
      groups.push_back(static_cast<int>(random() % static_cast<unsigned>(group_count)));
      numbers.push_back(static_cast<int64_t>(random()) % distinct);
      nulls.push_back(random() % 11 == 0);
    }
  }
  std::string TextOf(int64_t number) const {
    std::string digits = std::to_string(number);
    return std::string(number % 3 == 0 ? "a common beginning " : "a ") + std::string(12 - digits.size(), '0') + digits;
  }
  Table MakeTable() const {
    return Table({PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_FLOAT8, PENUMBRA_TEXT}, static_cast<uint32_t>(groups.size()),
                 [&](uint32_t row, int column) -> Cell {
                   if (column == 0) return std::to_string(groups[row]);
                   if (nulls[row]) return std::nullopt;
                   return column == 3 ? TextOf(numbers[row]) : std::to_string(numbers[row]);
                 });
  }
};

template <typename T>
std::vector<Row> Expected(const Rows& rows, const std::function<T(size_t)>& value,
                          const std::function<std::string(const T&)>& show) {
  std::map<int, std::vector<T>> groups;
  for (size_t i = 0; i < rows.groups.size(); ++i) {
    std::vector<T>& group = groups[rows.groups[i]];
    if (!rows.nulls[i]) group.push_back(value(i));
  }
  std::vector<Row> results;
  for (auto& [number, values] : groups) {
    std::sort(values.begin(), values.end());
    Row row{std::to_string(number)};
    const size_t count = values.size();
    std::map<T, size_t> counts;
    for (const T& x : values) ++counts[x];
    const T* first = nullptr;
    const T* last = nullptr;
    for (const auto& [x, n] : counts) {
      if (first == nullptr || n > counts[*first]) first = &x;
      if (last == nullptr || n >= counts[*last]) last = &x;
    }
    for (bool descending : {false, true}) {
      for (double fraction : kFractions) {
        const size_t place =
            std::max<size_t>(1, static_cast<size_t>(std::ceil(fraction * static_cast<double>(count)))) - 1;
        row.push_back(count == 0 ? "NULL" : show(values[descending ? count - 1 - place : place]));
      }
      row.push_back(count == 0 ? "NULL" : show(descending ? *last : *first));
    }
    results.push_back(row);
  }
  std::sort(results.begin(), results.end());
  return results;
}

struct Shape {
  uint32_t rows;
  int groups;
  int64_t distinct;
};
constexpr Shape kShapes[] = {{200000, 1, 1 << 30}, {60000, 1, 10},     {60000, 2, 3000}, {50000, 40, 1 << 30},
                             {50000, 20000, 50},   {3000, 3, 1 << 30}, {40000, 1, 1},    {3, 2, 2}};

void CheckColumn(int column, PenumbraType type, const Rows& rows, const Input& input,
                 const std::vector<Row>& expected) {
  PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_FLOAT8, PENUMBRA_TEXT});
  const auto disc = [&](int fraction, bool descending) {
    return Ordered(PENUMBRA_AGG_PERCENTILE_DISC, type, plan.Column(column), kFractions[fraction], descending);
  };
  const auto mode = [&](bool descending) {
    return Ordered(PENUMBRA_AGG_MODE, type, plan.Column(column), 0, descending);
  };
  plan.Aggregate({plan.Column(0)},
                 {disc(0, false), disc(1, false), disc(2, false), disc(3, false), disc(4, false), disc(5, false),
                  disc(6, false), mode(false), disc(0, true), disc(1, true), disc(2, true), disc(3, true),
                  disc(4, true), disc(5, true), disc(6, true), mode(true)});
  EXPECT_EQ(Sorted(Run(plan, input).rows), expected) << rows.groups.size() << " rows, column " << column;
}

TEST(OrderedAggregate, GivesWhatSortingGives) {
  uint32_t seed = 1;
  for (const Shape& shape : kShapes) {
    const Rows rows(shape.rows, shape.groups, shape.distinct, seed++);
    const Table table = rows.MakeTable();
    const Chunk chunk(table);
    const std::vector<Row> numbers =
        Expected<int64_t>(rows, [&](size_t i) { return rows.numbers[i]; }, [](int64_t x) { return std::to_string(x); });
    const std::vector<Row> texts = Expected<std::string>(
        rows, [&](size_t i) { return rows.TextOf(rows.numbers[i]); }, [](const std::string& x) { return x; });
    for (int threads : {0, 2}) {
      for (size_t memory : {size_t{256} << 20, size_t{256} << 10}) {
        Input input;
        input.chunks = {&chunk};
        input.threads = threads;
        input.memory_bytes = memory;
        CheckColumn(1, PENUMBRA_INT8, rows, input, numbers);
        CheckColumn(3, PENUMBRA_TEXT, rows, input, texts);
      }
    }
  }
}

// What string_agg gives for each group of rows: the texts by number, descending, then by text.
std::vector<Row> Joined(const Rows& rows, bool is_distinct) {
  std::map<int, std::vector<int64_t>> groups;
  for (size_t i = 0; i < rows.groups.size(); ++i) {
    std::vector<int64_t>& group = groups[rows.groups[i]];
    if (!rows.nulls[i]) group.push_back(rows.numbers[i]);
  }
  std::vector<Row> results;
  for (auto& [group, numbers] : groups) {
    std::sort(numbers.begin(), numbers.end(),
              [&](int64_t a, int64_t b) { return is_distinct ? rows.TextOf(a) < rows.TextOf(b) : a > b; });
    if (is_distinct) numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    std::string joined;
    for (size_t i = 0; i < numbers.size(); ++i) joined += (i == 0 ? "" : ", ") + rows.TextOf(numbers[i]);
    results.push_back({std::to_string(group), numbers.empty() ? "NULL" : joined});
  }
  std::sort(results.begin(), results.end());
  return results;
}

TEST(OrderedAggregate, JoinsTextsInTheirOrder) {
  uint32_t seed = 100;
  for (const Shape& shape : kShapes) {
    const Rows rows(shape.rows, shape.groups, shape.distinct, seed++);
    const Table table = rows.MakeTable();
    const Chunk chunk(table);
    for (bool is_distinct : {false, true}) {
      const std::vector<Row> expected = Joined(rows, is_distinct);
      for (int threads : {0, 2}) {
        for (size_t memory : {size_t{256} << 20, size_t{4} << 20}) {
          PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_FLOAT8, PENUMBRA_TEXT});
          PenumbraAggregateCall call = Aggregate(PENUMBRA_AGG_STRING_AGG, PENUMBRA_TEXT, plan.Column(3));
          call.arguments[call.argument_count++] = plan.Constant(PENUMBRA_TEXT, ", ");
          const PenumbraSortKey by_number{plan.Column(1), true, true, nullptr};
          const PenumbraSortKey by_text{plan.Column(3), false, false, nullptr};
          call.order = is_distinct ? &by_text : &by_number;
          call.order_count = 1;
          call.distinct = is_distinct;
          plan.Aggregate({plan.Column(0)}, {call});
          Input input;
          input.chunks = {&chunk};
          input.threads = threads;
          input.memory_bytes = memory;
          EXPECT_EQ(Sorted(test::Run(plan, input).rows), expected)
              << shape.rows << " rows, " << shape.groups << " groups";
        }
      }
    }
  }
}

TEST(OrderedAggregate, RefusesOrdersItCannotKeep) {
  PlanBuilder plan({PENUMBRA_TEXT, PENUMBRA_INT4});
  const PenumbraExpr group = plan.Column(1);
  PenumbraAggregateCall call = Aggregate(PENUMBRA_AGG_STRING_AGG, PENUMBRA_TEXT, plan.Column(0));
  call.arguments[call.argument_count++] = plan.Column(0);
  EXPECT_LT(penumbra_plan_add_aggregation(plan.plan(), plan.current(), &group, 1, &call, 1), 0);
  EXPECT_STREQ(plan.reason(), "an aggregate that shows the order of rows");
  const PenumbraSortKey key{plan.Column(1), false, false, nullptr};
  call.order = &key;
  call.order_count = 1;
  call.distinct = true;
  EXPECT_LT(penumbra_plan_add_aggregation(plan.plan(), plan.current(), &group, 1, &call, 1), 0);
  EXPECT_STREQ(plan.reason(), "DISTINCT in another order than that of its arguments");
}

TEST(OrderedAggregate, RefusesZerosOfBothSigns) {
  for (bool has_both : {false, true}) {
    const Table table({PENUMBRA_FLOAT8}, 5000, [&](uint32_t row, int) -> Cell {
      return row == 17 ? "-0" : row == 4000 && has_both ? "0" : "1.5";
    });
    PlanBuilder plan({PENUMBRA_FLOAT8});
    plan.Aggregate({}, {Ordered(PENUMBRA_AGG_PERCENTILE_CONT, PENUMBRA_FLOAT8, plan.Column(0), 0.5, false)});
    Input input;
    input.pushed = {&table};
    const Output output = test::Run(plan, input);
    EXPECT_EQ(output.status.code, has_both ? PENUMBRA_UNSUPPORTED : PENUMBRA_OK);
  }
}

TEST(OrderedAggregate, RefusesNumericsOfSeveralScales) {
  for (bool has_both : {false, true}) {
    const Table table({PENUMBRA_NUMERIC}, 5000, [&](uint32_t row, int) -> Cell {
      return row == 17 ? "NaN" : row == 4000 && has_both ? "1.50" : std::to_string(row % 7) + ".5";
    });
    PlanBuilder plan({PENUMBRA_NUMERIC});
    plan.Aggregate({}, {Ordered(PENUMBRA_AGG_MODE, PENUMBRA_NUMERIC, plan.Column(0), 0, true)});
    Input input;
    input.pushed = {&table};
    const Output output = test::Run(plan, input);
    EXPECT_EQ(output.status.code, has_both ? PENUMBRA_UNSUPPORTED : PENUMBRA_OK);
    if (!has_both) {
      EXPECT_EQ(output.rows, (std::vector<Row>{{"1.5"}}));
    }
  }
}

TEST(OrderedAggregate, EndsWhenCancelled) {
  Session session;
  ExecutionEnvironment environment(size_t{1} << 26, session);
  StateStore store(&environment.budget);
  Arena arena;
  const IntegerValues<int64_t> values;
  const HashSeed seed;
  CollectedValues<int64_t> collected;
  for (int64_t i = 0; i < 100000; ++i) collected.Add(i * 7919 % 100003, store);
  EXPECT_EQ(OrderedSelection<IntegerValues<int64_t>>(values, collected, seed, environment, arena).At(0), 0);
  environment.is_cancelled = true;
  OrderedSelection<IntegerValues<int64_t>> selection(values, collected, seed, environment, arena);
  EXPECT_THROW(selection.At(50000), EngineError);
  DistinctCounts<IntegerValues<int64_t>> counts(values, seed, arena);
  EXPECT_THROW(counts.Add(collected, 100000, environment), EngineError);
}

TEST(OrderedAggregate, RefusesAFractionOutOfRange) {
  PlanBuilder plan({PENUMBRA_FLOAT8});
  for (double fraction : {-0.1, 1.5, std::nan("")}) {
    const PenumbraAggregateCall call =
        Ordered(PENUMBRA_AGG_PERCENTILE_CONT, PENUMBRA_FLOAT8, plan.Column(0), fraction, false);
    EXPECT_LT(penumbra_plan_add_aggregation(plan.plan(), plan.current(), nullptr, 0, &call, 1), 0);
  }
}

}  // namespace
}  // namespace penumbra::test
