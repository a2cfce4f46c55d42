// Joins of which a side is empty, or proves to be.
#include <gtest/gtest.h>

#include <random>

#include "support/nested_loop.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

class JoinEmptySideTest : public ::testing::TestWithParam<PenumbraJoinKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, JoinEmptySideTest, ::testing::ValuesIn(kJoinKinds));

// Without a probe row nothing is built, but for the kinds that give build rows; with one the build is complete.
TEST_P(JoinEmptySideTest, BuildsNothingWithoutAProbeRow) {
  std::mt19937 random(5);
  const bool starts_from_probe_rows =
      GetParam() != PENUMBRA_JOIN_RIGHT && GetParam() != PENUMBRA_JOIN_FULL && GetParam() != PENUMBRA_JOIN_RIGHT_ANTI;
  const Relation probe = RandomRelation(random, PENUMBRA_INT4, PENUMBRA_TEXT, 5000, 5000, 5);
  const Relation build = RandomRelation(random, PENUMBRA_INT4, PENUMBRA_TEXT, 3000, 5000, 5);
  for (int round = 0; round < 24; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const bool is_empty = round % 2 == 0;
    const Loaded probe_rows(probe, round % 3 != 0, round % 3 != 1);
    const Loaded build_rows(build, round % 4 < 2, round % 4 >= 2);
    PlanBuilder plan(probe.types);
    // Evaluated on encoded data, or decoded.
    const PenumbraExpr digit =
        round % 8 < 4 ? plan.Column(2) : plan.Call(PENUMBRA_FN_ABS, PENUMBRA_INT4, {plan.Column(2)});
    const PenumbraExpr name =
        plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL,
                  {plan.Column(3), plan.Constant(PENUMBRA_TEXT, is_empty ? "row 77777" : "row 4321")});
    plan.Filter({plan.Call(PENUMBRA_FN_GE, PENUMBRA_BOOL, {digit, plan.Constant(PENUMBRA_INT4, "0")}), name});
    Relation filtered{probe.types, {}}, expected;
    for (const auto& row : probe.rows) {
      if (!is_empty && row[3].shown == "row 4321" && !row[2].is_null()) filtered.rows.push_back(row);
    }
    const PenumbraOperator filter = plan.current(), build_scan = plan.Scan(build.types);
    const NaiveJoin join{GetParam(), false, {{0, 0}}};
    AddJoin(plan, filter, build_scan, join);
    ASSERT_TRUE(join.Run(filtered, build, &expected));
    const ScanInput first = probe_rows.Input(plan.scan());
    Input input{first.chunks, first.pushed, {build_rows.Input(build_scan)}, round % 5 == 0 ? 2 : 0, kEnoughMemory};
    const Output output = test::Run(plan, input);
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(Sorted(output.rows), Shown(expected));
    const uint64_t built = output.operators.back().build_rows;
    EXPECT_EQ(built, filtered.rows.empty() && starts_from_probe_rows ? 0 : build.rows.size());
  }
}

// Sides that are empty, in memory, filtered or pushed, of joins in each other.
TEST(JoinEmptySide, OfSeveralJoins) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const NaiveJoin lower{kJoinKinds[random() % std::size(kJoinKinds)], false, {{0, 0}}};
    const NaiveJoin upper{kJoinKinds[random() % std::size(kJoinKinds)], false, {{0, 0}}};
    PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_INT4, PENUMBRA_INT4, PENUMBRA_TEXT});
    std::vector<Relation> relations(3), filtered(3);
    std::vector<Loaded> loaded;
    std::vector<PenumbraOperator> scans, tops;
    for (int i = 0; i < 3; ++i) {
      const uint32_t rows = random() % 4 == 0 ? 0 : random() % 3 > 0 ? 100 : 2100;
      relations[i] = RandomRelation(random, PENUMBRA_INT4, PENUMBRA_INT4, rows, 2000, 5);
      const bool has_chunks = random() % 3 != 0;
      loaded.emplace_back(relations[i], has_chunks, !has_chunks || random() % 2 == 0);
      scans.push_back(i == 0 ? plan.scan() : plan.Scan(relations[i].types));
      tops.push_back(scans[i]);
      filtered[i] = relations[i];
      if (random() % 2 == 0) continue;
      const std::string name = "row " + std::to_string(1 + 2 * (random() % 2000));
      plan.Filter({plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {plan.Column(3), plan.Constant(PENUMBRA_TEXT, name)})});
      tops[i] = plan.current();
      std::erase_if(filtered[i].rows, [&name](const auto& row) { return row[3].shown != name; });
    }
    Relation joined, expected;
    const bool is_left_deep = random() % 2 == 0;
    const PenumbraOperator below = AddJoin(plan, tops[0], tops[1], lower);
    is_left_deep ? AddJoin(plan, below, tops[2], upper) : AddJoin(plan, tops[2], below, upper);
    bool is_ok = lower.Run(filtered[0], filtered[1], &joined);
    is_ok =
        is_ok && (is_left_deep ? upper.Run(joined, filtered[2], &expected) : upper.Run(filtered[2], joined, &expected));
    if (!is_ok) continue;
    const ScanInput first = loaded[0].Input(scans[0]);
    const int threads = random() % 3 == 0 ? 2 : 0;
    const Output output = test::Run(plan, {first.chunks,
                                           first.pushed,
                                           {loaded[1].Input(scans[1]), loaded[2].Input(scans[2])},
                                           threads,
                                           random() % 4 == 0 ? kNoMemory : kEnoughMemory});
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(Sorted(output.rows), Shown(expected));
  }
}

// Threads search the probe side together: they find a row, or none, or give up, and no row is lost or read twice.
TEST(JoinEmptySide, ThreadsSearchTheProbeSide) {
  constexpr int kChunks = 3, kChunkRows = 60000, kPushedRows = 3000, kBuildRows = 70000;
  constexpr int kProbeRows = kChunks * kChunkRows + kPushedRows;
  const std::vector<PenumbraType> types = {PENUMBRA_INT4};
  // A permutation of all numbers.
  const auto number = [](int row) { return static_cast<int>(int64_t{row} * 7919 % kProbeRows); };
  std::vector<Table> tables;
  std::vector<Chunk> chunks;
  for (int first = 0; first < kProbeRows; first += kChunkRows) {
    const uint32_t rows = std::min(kChunkRows, kProbeRows - first);
    tables.emplace_back(types, rows, [&](uint32_t row, int) { return std::to_string(number(first + row)); });
    if (rows == kChunkRows) chunks.emplace_back(tables.back());
  }
  const Table build(types, kBuildRows, [](uint32_t row, int) { return std::to_string(2 * row); });
  const Chunk build_chunk(build);
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    PlanBuilder plan(types);
    const bool is_decoded = round % 2 == 1;
    const PenumbraExpr value =
        is_decoded ? plan.Call(PENUMBRA_FN_ABS, PENUMBRA_INT4, {plan.Column(0)}) : plan.Column(0);
    // From here on, or this one only.
    const bool is_range = round % 8 < 2;
    const int from = round % 8 > 5 ? kProbeRows : static_cast<int>(random() % kProbeRows);
    plan.Filter({plan.Call(is_range ? PENUMBRA_FN_GE : PENUMBRA_FN_EQ, PENUMBRA_BOOL,
                           {value, plan.Constant(PENUMBRA_INT4, std::to_string(from))})});
    const PenumbraOperator filter = plan.current(), build_scan = plan.Scan();
    plan.Join(filter, build_scan, PENUMBRA_JOIN_LEFT, {{plan.ColumnOf(filter, 0), plan.ColumnOf(build_scan, 0)}});
    plan.Aggregate({}, {CountStar(), Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, plan.Column(1))});
    int64_t rows = 0, matches = 0;
    for (int n = from; n < kProbeRows && (is_range || n == from); ++n) {
      ++rows;
      matches += n % 2 == 0 && n < 2 * kBuildRows;
    }
    Input input;
    for (const Chunk& chunk : chunks) input.chunks.push_back(&chunk);
    input.pushed = {&tables.back()};
    input.others = {{build_scan, {&build_chunk}, {}}};
    input.threads = round % 4;
    const Output output = test::Run(plan, input);
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(output.rows, (std::vector<Row>{{std::to_string(rows), std::to_string(matches)}}));
    // None is read twice; zone maps may exclude chunks.
    EXPECT_LE(output.operators[0].rows_in, uint64_t{kProbeRows});
    for (const PenumbraOperatorStats& stats : output.operators) {
      if (stats.join_table != nullptr && rows > 0) {
        EXPECT_EQ(stats.build_rows, uint64_t{kBuildRows});
      }
    }
  }
}

}  // namespace
}  // namespace penumbra::test
