// Every aggregate of PENUMBRA_AGGREGATE_LIST against results of a server (aggregate_cases.py). One without cases fails,
// but for those that collect rows.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>

#include "aggregate/aggregate_accumulator.h"
#include "aggregate/hash_aggregation.h"
#include "support/expr_cases.h"
#include "support/sink.h"

namespace penumbra::test {
namespace {

const char* const kAggregateIds[] = {
#define PENUMBRA_AGGREGATE_ID(id, name, types, state, needs) #id,
    PENUMBRA_AGGREGATE_LIST(PENUMBRA_AGGREGATE_ID)
#undef PENUMBRA_AGGREGATE_ID
};

struct AggregateCase {
  int line;
  std::vector<std::string> how;  // of the call: aggregate_cases.py
  PenumbraType result;
  std::string expected;
  std::vector<PenumbraType> types;
  std::vector<std::vector<std::string>> columns;

  size_t rows() const { return columns[0].size(); }
};

std::vector<AggregateCase> CasesOf(const std::string& id) {
  std::vector<AggregateCase> cases;
  std::ifstream stream(PENUMBRA_TEST_DIRECTORY "/golden/aggregate_cases.tsv");
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::vector<std::string> fields = SplitFields(line);
    if (fields[0] != id) continue;
    AggregateCase c{number, SplitFields(fields[1], ' '), TypeOf(fields[2]), fields[3], {}, {}};
    for (size_t i = 4; i + 1 < fields.size(); i += 2) {
      c.types.push_back(TypeOf(fields[i]));
      c.columns.push_back(fields[i + 1].empty() ? std::vector<std::string>() : SplitFields(fields[i + 1], ','));
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

// How the rows come: in how many threads' locals, one after the other; by how many rows at a time; and each of them
// once for each of so many groups (0: no keys).
struct Way {
  const char* name;
  uint32_t locals;
  uint32_t batch_rows;
  uint32_t groups;
};
constexpr Way kWays[] = {
    {"one batch", 1, kVectorRows, 0},     {"row by row", 1, 1, 0},
    {"two threads", 2, kVectorRows, 0},   {"two groups", 1, kVectorRows, 2},
    {"many groups", 1, kVectorRows, 100}, {"many groups, two threads", 2, 3, 100},
};

// The results of all groups.
std::vector<std::string> ResultsOf(const AggregateCase& c, PenumbraAggregate function, const Way& way) {
  Session session;
  ExecutionEnvironment environment(size_t{1} << 26, session);
  std::vector<std::unique_ptr<Expr>> exprs;
  AggregationSpec spec;
  AggregateSpec aggregate{function, c.result};
  aggregate.distinct = c.how[0] == "distinct";
  aggregate.descending = c.how[0] == "desc";
  if (c.how.size() > 1 && c.how[1] != "NULL") aggregate.fractions = {std::stod(c.how[1])};
  for (size_t i = 0; i < c.types.size() && function != PENUMBRA_AGG_COUNT_STAR; ++i) {
    aggregate.arguments.push_back(exprs.emplace_back(ColumnExpr(static_cast<int>(i), c.types[i])).get());
  }
  if (way.groups > 0) {
    spec.keys.push_back(exprs.emplace_back(ColumnExpr(static_cast<int>(c.types.size()), PENUMBRA_INT4)).get());
  }
  spec.aggregates.push_back(aggregate);
  std::unique_ptr<Sink> sink = CreateAggregation(spec, environment);
  const size_t copies = std::max(way.groups, 1u);
  const size_t rows = c.rows() * copies;
  const size_t rows_of_local = (c.rows() + way.locals - 1) / way.locals * copies;
  for (size_t local_begin = 0; local_begin < rows; local_begin += rows_of_local) {
    std::unique_ptr<Sink::Local> local = sink->CreateLocal();
    Arena arena;
    EvalContext context{arena, session};
    const size_t local_end = std::min(rows, local_begin + rows_of_local);
    for (size_t begin = local_begin; begin < local_end; begin += way.batch_rows) {
      const size_t end = std::min<size_t>(local_end, begin + way.batch_rows);
      std::vector<Vector> columns;
      for (size_t a = 0; a < c.types.size(); ++a) {
        std::vector<std::string> values;
        for (size_t i = begin; i < end; ++i) values.push_back(c.columns[a][i / copies]);
        columns.push_back(VectorOf(c.types[a], values, arena));
      }
      std::vector<int32_t> keys;
      for (size_t i = begin; i < end; ++i) keys.push_back(static_cast<int32_t>(i % copies * 1000003));
      Vector key;
      key.type = PENUMBRA_INT4;
      key.data = keys.data();
      columns.push_back(key);
      sink->Consume(*local, {static_cast<uint32_t>(end - begin), static_cast<uint32_t>(columns.size()), columns.data()},
                    context);
    }
    sink->Combine(*local);
  }
  while (int tasks = sink->PrepareFinish()) {
    for (int task = 0; task < tasks; ++task) sink->RunFinishTask(task);
  }
  std::vector<std::string> results;
  const int partitions = sink->Seal();
  for (int p = 0; p < partitions; ++p) {
    std::unique_ptr<Sink::Reader> reader = sink->OpenPartition(p);
    Batch batch;
    while (reader->Next(&batch)) {
      for (uint32_t i = 0; i < batch.rows; ++i) results.push_back(FormatRow(batch.columns[spec.keys.size()], i));
    }
  }
  return results;
}

double RealOf(const std::string& hex) { return std::bit_cast<double>(std::stoull(hex, nullptr, 16)); }

// Sums of floats in parts differ in the last digits, as in PostgreSQL's parallel plans.
bool IsClose(const AggregateCase& c, const std::string& actual) {
  if (IsSameResult(c.result, c.expected, actual)) return true;
  if (c.result != PENUMBRA_FLOAT8 || c.expected.size() != 16 || actual.size() != 16) return false;
  const double a = RealOf(c.expected), b = RealOf(actual);
  return std::fabs(a - b) <= 1e-12 * std::fabs(a);
}

class AggregateGoldenTest : public testing::TestWithParam<int> {};

TEST_P(AggregateGoldenTest, GivesPostgresResults) {
  const auto function = static_cast<PenumbraAggregate>(GetParam());
  if (InfoOf(function).needs == AggregateNeeds::kRows) {
    GTEST_SKIP() << "ordered.sql has them";
  }
  const std::vector<AggregateCase> cases = CasesOf(kAggregateIds[function]);
  EXPECT_FALSE(cases.empty()) << "add cases to aggregate_cases.py and run make goldens";
  for (const AggregateCase& c : cases) {
    for (const Way& way : kWays) {
      if (c.expected == "~") continue;
      std::vector<std::string> results;
      try {
        results = ResultsOf(c, function, way);
      } catch (const EngineError& error) {
        results = {Outcome(error)};
      }
      const size_t wanted = c.rows() == 0 ? way.groups == 0 : c.expected[0] == '!' ? 1 : std::max(way.groups, 1u);
      EXPECT_EQ(results.size(), wanted) << "line " << c.line << ", " << way.name;
      for (const std::string& actual : results) {
        EXPECT_TRUE(way.locals == 1 ? IsSameResult(c.result, c.expected, actual) : IsClose(c, actual))
            << actual << " for " << c.expected << " of line " << c.line << ", " << way.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Aggregate, AggregateGoldenTest, testing::Range(0, static_cast<int>(PENUMBRA_AGG_COUNT_OF)),
                         [](const auto& parameter) { return std::string(kAggregateIds[parameter.param]); });

}  // namespace
}  // namespace penumbra::test
