// Plans of every shape, run through the C interface.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/query.h"
#include "support/rivals.h"

namespace penumbra::test {
namespace {

const std::vector<PenumbraType> kTypes = {PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_TEXT, PENUMBRA_NUMERIC};

// Column 0: the row number; 1: row % 7, null when row % 10 == 3; 2: one of five strings, some longer
// than a StringRef holds; 3: row / 100 with two digits.
Cell CellOf(uint32_t row, int column) {
  switch (column) {
    case 0: return std::to_string(row);
    case 1: return row % 10 == 3 ? Cell() : std::to_string(row % 7);
    case 2: return row % 5 == 0 ? "a string that does not fit inline" : "s" + std::to_string(row % 5);
    default: return std::to_string(row / 100) + (row % 100 < 10 ? ".0" : ".") + std::to_string(row % 100);
  }
}

Table MakeTable(uint32_t rows, uint32_t first = 0) {
  return Table(kTypes, rows, [first](uint32_t row, int column) { return CellOf(first + row, column); });
}

Row RowOf(uint32_t row) {
  Row result;
  for (int c = 0; c < 4; ++c) result.push_back(CellOf(row, c).value_or("NULL"));
  return result;
}

// Where a test's rows come from: chunks, pushed rows or both, and how many threads work.
struct Source {
  const char* name;
  bool has_chunks;
  bool has_pushed;
  int threads;
  bool pushes_chunks = false;
  bool has_rivals = false;  // others take its threads away, and give them back
};

class ExecutorTest : public ::testing::TestWithParam<Source> {
 protected:
  // Rows [0, rows), in chunks of 70,000 and pushed tables of 5,000, as the source has it.
  void Load(uint32_t rows) {
    uint32_t row = 0;
    bool is_chunk = GetParam().has_chunks;
    while (row < rows) {
      const uint32_t chunk_rows = GetParam().pushes_chunks ? 20000 : 70000;
      uint32_t count = std::min(is_chunk ? chunk_rows : 5000u, rows - row);
      tables_.push_back(MakeTable(count, row));
      if (is_chunk) {
        chunks_.emplace_back(tables_.back());
      } else {
        pushed_.push_back(tables_.size() - 1);
      }
      row += count;
      if (GetParam().has_pushed && GetParam().has_chunks) is_chunk = !is_chunk;
    }
  }

  Input MakeInput() const {
    Input input;
    for (const Chunk& chunk : chunks_) input.chunks.push_back(&chunk);
    for (size_t i : pushed_) input.pushed.push_back(&tables_[i]);
    input.threads = GetParam().threads;
    input.pushes_chunks = GetParam().pushes_chunks;
    return input;
  }
  Output Run(const PlanBuilder& plan) const {
    Input input = MakeInput();
    if (!GetParam().has_rivals) return test::Run(plan, input);
    Rivals rivals(&input);
    return test::Run(plan, input);
  }

 private:
  std::vector<Table> tables_;
  std::vector<Chunk> chunks_;
  std::vector<size_t> pushed_;
};

TEST_P(ExecutorTest, PassesAllRowsThrough) {
  Load(20000);
  PlanBuilder plan(kTypes);
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::vector<Row> expected;
  for (uint32_t i = 0; i < 20000; ++i) expected.push_back(RowOf(i));
  EXPECT_EQ(Sorted(output.rows), Sorted(expected));
  EXPECT_EQ(output.cached_rows + output.pushed_rows, 20000u);
}

// What zone maps exclude is not pushed, so nobody has to read it, and counts as skipped.
TEST(Executor, ChunksThatZoneMapsExcludeAreNotPushed) {
  const std::vector<PenumbraType> types = {PENUMBRA_INT8, PENUMBRA_TEXT};
  std::vector<Table> tables;
  std::vector<Chunk> chunks;
  for (uint32_t part = 0; part < 6; ++part) {
    tables.emplace_back(types, 5000, [part](uint32_t row, int column) -> Cell {
      if (column == 1 && part == 5) return Cell();
      return column == 0 ? std::to_string(part * 5000 + row) : "text";
    });
  }
  for (const Table& table : tables) chunks.emplace_back(table);
  Input input;
  for (const Chunk& chunk : chunks) input.chunks.push_back(&chunk);
  for (bool is_pushed : {false, true}) {
    PlanBuilder plan(types);
    plan.Filter({plan.Call(PENUMBRA_FN_GE, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT8, "12000")}),
                 plan.Call(PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, {plan.Column(1)})});
    plan.Aggregate({}, {CountStar()});
    input.pushes_chunks = is_pushed;
    const Output output = test::Run(plan, input);
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(output.rows[0][0], "13000");
    EXPECT_EQ(output.chunks_skipped, 3u);
    EXPECT_EQ(output.chunks_not_pushed, is_pushed ? 3u : 0u);
  }
}

// While a scan runs, chunks of the next one are begun to be read, but not those that zone maps exclude.
TEST(Executor, ChunksOfTheNextScanAreExcludedEarly) {
  const std::vector<PenumbraType> types = {PENUMBRA_INT8};
  const auto make = [&types](int first) {
    return Table(types, 3000, [first](uint32_t row, int) { return std::to_string(first + row); });
  };
  const Table low = make(0), high = make(20000);
  const Chunk low_chunk(low), high_chunk(high);
  PlanBuilder plan(types);
  const PenumbraOperator first = plan.scan();
  const PenumbraOperator second = plan.Scan();
  plan.Filter({plan.Call(PENUMBRA_FN_GE, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT8, "12000")})});
  plan.Union({first, plan.current()});
  plan.Aggregate({}, {CountStar()});
  const PenumbraExecOptions options{size_t{256} << 20, 0, "/tmp/penumbra_test", nullptr, {nullptr, nullptr}, false};
  PenumbraExec* exec = penumbra_exec_create(plan.Finish(), &options);
  EXPECT_LT(penumbra_exec_next_scan(exec), 0);
  ASSERT_EQ(penumbra_exec_expect_chunks(exec, second, 3000).code, PENUMBRA_OK);
  ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
  EXPECT_EQ(penumbra_exec_wanted_scan(exec), first);
  EXPECT_EQ(penumbra_exec_next_scan(exec), second);
  EXPECT_TRUE(penumbra_exec_skip_chunk(exec, second, low_chunk.zone_maps().data()));
  EXPECT_FALSE(penumbra_exec_skip_chunk(exec, second, high_chunk.zone_maps().data()));
  ASSERT_EQ(penumbra_exec_end_rows(exec, first).code, PENUMBRA_OK);
  ASSERT_EQ(penumbra_exec_wanted_scan(exec), second);
  EXPECT_LT(penumbra_exec_next_scan(exec), 0);
  const PenumbraChunk chunk = high_chunk.chunk();
  ASSERT_EQ(penumbra_exec_push_chunk(exec, second, &chunk).code, PENUMBRA_OK);
  ASSERT_EQ(penumbra_exec_end_rows(exec, second).code, PENUMBRA_OK);
  PenumbraResult result{};
  PenumbraStatus status{};
  PenumbraFetch fetch = PENUMBRA_FETCH_WAIT;
  while (fetch == PENUMBRA_FETCH_WAIT) fetch = penumbra_exec_fetch(exec, &result, &status);
  ASSERT_EQ(fetch, PENUMBRA_FETCH_ROWS) << status.message;
  EXPECT_EQ(static_cast<const int64_t*>(result.columns[0].values)[0], 3000);
  PenumbraExecStats stats;
  penumbra_exec_get_stats(exec, &stats);
  EXPECT_EQ(stats.chunks_skipped, 1u);
  EXPECT_GT(stats.memory_peak_bytes, 0u);
  penumbra_exec_destroy(exec);
}

// Dictionaries of some thousand entries, other ones in each chunk.
TEST(Executor, GroupsByDictionariesOfManyEntries) {
  const std::vector<PenumbraType> types = {PENUMBRA_TEXT, PENUMBRA_INT4, PENUMBRA_FLOAT8};
  std::vector<Table> tables;
  std::vector<Chunk> chunks;
  for (uint32_t part = 0; part < 4; ++part) {
    tables.emplace_back(types, 30000, [part](uint32_t row, int column) -> Cell {
      const uint32_t n = row * 2654435761u >> 8;
      if (column == 0 && n % 50 == 7) return Cell();
      if (column == 0) {
        const std::string number = std::to_string(n % 2500 + part * 700);
        return n % 3 == 0 ? number : "longer than twelve bytes: " + number;
      }
      return std::to_string(column == 1 ? n % 40 : n % 1500 + part);
    });
    chunks.emplace_back(tables.back());
  }
  Input cached, pushed;
  for (size_t i = 0; i < tables.size(); ++i) {
    cached.chunks.push_back(&chunks[i]);
    pushed.pushed.push_back(&tables[i]);
  }
  for (int variant = 0; variant < 5; ++variant) {
    PlanBuilder plan(types);
    const PenumbraExpr text = plan.Column(0), number = plan.Column(1), real = plan.Column(2);
    const PenumbraAggregateCall sum = Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, number);
    const PenumbraAggregateCall distinct = {PENUMBRA_AGG_COUNT, PENUMBRA_INT8, {text}, 1, -1, true};
    if (variant == 0) plan.Aggregate({text}, {CountStar(), sum});
    if (variant == 1) plan.Aggregate({text, number}, {CountStar()});
    if (variant == 2) plan.Aggregate({real, number}, {});
    if (variant == 3) plan.Aggregate({}, {distinct, {PENUMBRA_AGG_SUM, PENUMBRA_FLOAT8, {real}, 1, -1, true}});
    if (variant == 4) plan.Aggregate({number}, {distinct, sum});
    for (int threads : {0, 2}) {
      SCOPED_TRACE(::testing::Message() << "variant " << variant << " threads " << threads);
      cached.threads = threads;
      const Output output = test::Run(plan, cached);
      ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
      EXPECT_EQ(Sorted(output.rows), Sorted(test::Run(plan, pushed).rows));
    }
  }
}

TEST_P(ExecutorTest, FiltersAndProjects) {
  Load(200000);
  PlanBuilder plan(kTypes);
  PenumbraExpr seven =
      plan.Call(PENUMBRA_FN_MOD, PENUMBRA_INT4, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "1000")});
  plan.Filter({plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {seven, plan.Constant(PENUMBRA_INT4, "777")}),
               plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "150000")})});
  plan.Project({plan.Column(3), plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(0), plan.Column(0)})});
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::vector<Row> expected;
  for (uint32_t i = 777; i < 150000; i += 1000) expected.push_back({*CellOf(i, 3), std::to_string(2 * i)});
  EXPECT_EQ(Sorted(output.rows), Sorted(expected));
}

TEST_P(ExecutorTest, CountsAllRows) {
  Load(200000);
  PlanBuilder plan(kTypes);
  plan.Aggregate({}, {CountStar()});
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  EXPECT_EQ(output.rows, (std::vector<Row>{{"200000"}}));
}

TEST_P(ExecutorTest, GroupsThenSorts) {
  Load(210000);
  PlanBuilder plan(kTypes);
  plan.Aggregate({plan.Column(1)}, {CountStar(), Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, plan.Column(0)),
                                    Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, plan.Column(3))});
  plan.Sort({{plan.Column(0), true, true}});
  plan.Project({plan.Column(0), plan.Column(1), plan.Column(2)});
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::map<int, std::pair<int64_t, int64_t>> groups;
  for (uint32_t i = 0; i < 210000; ++i) {
    auto& group = groups[i % 10 == 3 ? -1 : static_cast<int>(i % 7)];
    ++group.first;
    group.second += i;
  }
  std::vector<Row> expected;
  for (auto it = groups.rbegin(); it != groups.rend(); ++it) {
    expected.push_back(
        {std::to_string(it->first), std::to_string(it->second.first), std::to_string(it->second.second)});
  }
  expected.insert(expected.begin(), {"NULL", expected.back()[1], expected.back()[2]});
  expected.pop_back();
  EXPECT_EQ(output.rows, expected);
}

TEST_P(ExecutorTest, TopN) {
  Load(150000);
  PlanBuilder plan(kTypes);
  plan.Sort({{plan.Column(0), true, true}}, 5, 2);
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::vector<Row> expected;
  for (uint32_t i = 149997; i > 149992; --i) expected.push_back(RowOf(i));
  EXPECT_EQ(output.rows, expected);
}

TEST_P(ExecutorTest, SortsAll) {
  Load(100000);
  PlanBuilder plan(kTypes);
  plan.Sort({{plan.Column(1), false, true}, {plan.Column(0), true, false}});
  plan.Project({plan.Column(1), plan.Column(0)});
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::vector<Row> expected;
  for (int key = -1; key < 7; ++key) {
    for (int i = 99999; i >= 0; --i) {
      if ((i % 10 == 3 ? -1 : i % 7) == key)
        expected.push_back({key < 0 ? "NULL" : std::to_string(key), std::to_string(i)});
    }
  }
  EXPECT_EQ(output.rows, expected);
}

TEST_P(ExecutorTest, FilterAboveAnAggregation) {
  Load(100000);
  PlanBuilder plan(kTypes);
  plan.Aggregate({plan.Column(2)}, {CountStar()});
  plan.Filter({plan.Call(PENUMBRA_FN_NE, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_TEXT, "s1")})});
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  EXPECT_EQ(Sorted(output.rows),
            (std::vector<Row>{
                {"a string that does not fit inline", "20000"}, {"s2", "20000"}, {"s3", "20000"}, {"s4", "20000"}}));
}

TEST_P(ExecutorTest, AggregationOfAnAggregation) {
  Load(200000);
  PlanBuilder plan(kTypes);
  plan.Aggregate({plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "2")})},
                 {CountStar()});
  plan.Aggregate({plan.Column(1)}, {CountStar()});
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  EXPECT_EQ(output.rows, (std::vector<Row>{{"2", "100000"}}));
}

TEST_P(ExecutorTest, DivisionByZeroIsReported) {
  Load(200000);
  PlanBuilder plan(kTypes);
  PenumbraExpr shifted =
      plan.Call(PENUMBRA_FN_SUB, PENUMBRA_INT4, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "190000")});
  PenumbraExpr quotient = plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {plan.Constant(PENUMBRA_INT4, "1"), shifted});
  plan.Aggregate({}, {Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, quotient)});
  EXPECT_EQ(Run(plan).status.code, PENUMBRA_DIVISION_BY_ZERO);
}

TEST_P(ExecutorTest, AConjunctGuardsTheNextOne) {
  Load(100000);
  PlanBuilder plan(kTypes);
  PenumbraExpr zero = plan.Constant(PENUMBRA_INT4, "0");
  PenumbraExpr quotient =
      plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {plan.Constant(PENUMBRA_INT4, "1000"), plan.Column(0)});
  plan.Filter({plan.Call(PENUMBRA_FN_NE, PENUMBRA_BOOL, {plan.Column(0), zero}),
               plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {quotient, zero})});
  plan.Aggregate({}, {CountStar()});
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  EXPECT_EQ(output.rows, (std::vector<Row>{{"1000"}}));
}

TEST_P(ExecutorTest, ManyGroupsAreReadByAllThreads) {
  Load(200000);
  PlanBuilder plan(kTypes);
  plan.Aggregate({plan.Column(0), plan.Column(2)}, {Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, plan.Column(3))});
  plan.Filter({plan.Call(PENUMBRA_FN_NE, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "77")})});
  Output output = Run(plan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::vector<Row> expected;
  for (uint32_t i = 0; i < 200000; ++i) {
    if (i != 77) expected.push_back({*CellOf(i, 0), *CellOf(i, 2), *CellOf(i, 3)});
  }
  EXPECT_EQ(Sorted(output.rows), Sorted(expected));
}

TEST_P(ExecutorTest, TopNOfEveryKindOfKey) {
  Load(100000);
  struct Case {
    int column;
    bool descending;
    bool nulls_first;
  };
  for (const Case& c : {Case{0, false, false}, Case{0, true, true}, Case{1, true, true}, Case{1, false, false},
                        Case{1, true, false}, Case{3, true, true}, Case{3, false, false}, Case{2, true, false}}) {
    PlanBuilder plan(kTypes);
    plan.Sort({{plan.Column(c.column), c.descending, c.nulls_first}, {plan.Column(0), true, true}}, 1500, 100);
    plan.Project({plan.Column(c.column), plan.Column(0)});
    PlanBuilder full(kTypes);
    full.Sort({{full.Column(c.column), c.descending, c.nulls_first}, {full.Column(0), true, true}});
    full.Project({full.Column(c.column), full.Column(0)});
    Output top = Run(plan), all = Run(full);
    ASSERT_EQ(top.status.code, PENUMBRA_OK) << top.status.message;
    ASSERT_EQ(all.rows.size(), 100000u);
    EXPECT_EQ(top.rows, std::vector<Row>(all.rows.begin() + 100, all.rows.begin() + 1600)) << c.column << c.descending;
  }
}

// Rows that the cases of a union share: of the parameterised source first, then of the other scan.
class UnionTest : public ExecutorTest {
 protected:
  // An aggregation and a plain scan below one aggregation, in either order: its pipelines must not mix with those
  // of the aggregation below.
  void Check(bool is_grouped_first) {
    PlanBuilder plan(kTypes);
    plan.Filter({plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "150000")})});
    plan.Project({plan.Column(1)});
    const PenumbraOperator plain = plan.current();
    const PenumbraOperator scan = plan.Scan();
    plan.Aggregate({plan.Column(1)}, {});
    const PenumbraOperator grouped = plan.current();
    if (is_grouped_first) {
      plan.Union({grouped, plain});
    } else {
      plan.Union({plain, grouped});
    }
    plan.Aggregate({plan.Column(0)}, {CountStar()});
    plan.Sort({{plan.Column(0), false, false}});
    Output output = RunWith(plan, scan);
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    std::map<int, int> counts;
    for (int i = 0; i < 150000; ++i) ++counts[i % 10 == 3 ? 7 : i % 7];
    std::vector<Row> expected;
    for (const auto& [key, count] : counts) {
      expected.push_back({key == 7 ? "NULL" : std::to_string(key), std::to_string(count + 1)});
    }
    EXPECT_EQ(output.rows, expected);
  }

  // The same rows for both scans.
  Output RunWith(const PlanBuilder& plan, PenumbraOperator other) {
    Input input = MakeInput();
    input.others.push_back({other, input.chunks, input.pushed});
    return test::Run(plan, input);
  }
};

TEST_P(UnionTest, SeveralPipelinesEndInOneSink) {
  Load(200000);
  Check(true);
  Check(false);
}

TEST_P(UnionTest, IntoTheOutput) {
  Load(100000);
  PlanBuilder plan(kTypes);
  plan.Filter({plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "50")})});
  const PenumbraOperator first = plan.current();
  const PenumbraOperator scan = plan.Scan();
  plan.Sort({{plan.Column(0), true, false}}, 10);
  plan.Union({first, plan.current()});
  plan.Project({plan.Column(0), plan.Column(2)});
  Output output = RunWith(plan, scan);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::vector<Row> expected;
  for (int i = 0; i < 50; ++i) expected.push_back({RowOf(i)[0], RowOf(i)[2]});
  for (int i = 99990; i < 100000; ++i) expected.push_back({RowOf(i)[0], RowOf(i)[2]});
  EXPECT_EQ(Sorted(output.rows), Sorted(expected));
}

TEST_P(UnionTest, OfEmptyScans) {
  PlanBuilder plan(kTypes);
  const PenumbraOperator first = plan.current();
  const PenumbraOperator scan = plan.Scan();
  plan.Union({first, scan});
  plan.Aggregate({}, {CountStar()});
  EXPECT_EQ(RunWith(plan, scan).rows, (std::vector<Row>{{"0"}}));
}

TEST_P(ExecutorTest, NoRowsAtAll) {
  PlanBuilder plan(kTypes);
  EXPECT_TRUE(Run(plan).rows.empty());
  PlanBuilder count(kTypes);
  count.Aggregate({}, {CountStar()});
  EXPECT_EQ(Run(count).rows, (std::vector<Row>{{"0"}}));
  PlanBuilder groups(kTypes);
  groups.Aggregate({groups.Column(0)}, {CountStar()});
  EXPECT_TRUE(Run(groups).rows.empty());
  PlanBuilder sort(kTypes);
  sort.Sort({{sort.Column(0), false, false}});
  EXPECT_TRUE(Run(sort).rows.empty());
}

const auto kSources = ::testing::Values(
    Source{"Pushed", false, true, 0}, Source{"PushedThreads", false, true, 3}, Source{"Chunks", true, false, 0},
    Source{"ChunksThreads", true, false, 3}, Source{"Mixed", true, true, 0}, Source{"MixedThreads", true, true, 7},
    Source{"PushedChunks", true, false, 0, true}, Source{"PushedChunksThreads", true, false, 3, true},
    Source{"PushedMixedThreads", true, true, 3, true}, Source{"MixedRivals", true, true, 3, false, true},
    Source{"PushedMixedRivals", true, true, 3, true, true});
std::string NameOfSource(const ::testing::TestParamInfo<Source>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Sources, ExecutorTest, kSources, NameOfSource);
INSTANTIATE_TEST_SUITE_P(Sources, UnionTest, kSources, NameOfSource);

}  // namespace
}  // namespace penumbra::test
