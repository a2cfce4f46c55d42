// Which scans get a join's runtime filter, and what it drops there.
#include <gtest/gtest.h>

#include "plan/plan.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

const std::vector<PenumbraType> kTypes = {PENUMBRA_INT8, PENUMBRA_INT4, PENUMBRA_TEXT};

// Column 0: the row number times `step`; 1: its last digit; 2: one of 50 texts.
Table MakeTable(uint32_t rows, uint32_t step = 1, uint32_t first = 0) {
  return Table(kTypes, rows, [=](uint32_t row, int column) -> Cell {
    if (column == 0) return std::to_string(uint64_t{first + row} * step);
    return column == 1 ? std::to_string(row % 10) : "a text of some length, " + std::to_string(row % 50);
  });
}

const std::vector<RuntimeFilter>& FiltersOf(const PlanBuilder& plan, PenumbraOperator scan) {
  return plan.plan()->op(scan).scan.runtime_filters;
}

PenumbraOperator Join(PlanBuilder& plan, PenumbraOperator probe, int probe_column, PenumbraOperator build,
                      PenumbraJoinKind kind, bool nulls_are_equal = false) {
  return plan.Join(probe, build, kind,
                   {{plan.ColumnOf(probe, probe_column), plan.ColumnOf(build, 0), nulls_are_equal}});
}

TEST(RuntimeFilter, OnlyJoinsThatDropRowsHaveOne) {
  for (int kind = PENUMBRA_JOIN_INNER; kind <= PENUMBRA_JOIN_RIGHT_ANTI; ++kind) {
    for (bool nulls_are_equal : {false, true}) {
      PlanBuilder plan(kTypes);
      Join(plan, plan.scan(), 0, plan.Scan(), static_cast<PenumbraJoinKind>(kind), nulls_are_equal);
      plan.Finish();
      const bool drops = kind == PENUMBRA_JOIN_INNER || kind == PENUMBRA_JOIN_SEMI || kind == PENUMBRA_JOIN_RIGHT ||
                         kind == PENUMBRA_JOIN_RIGHT_SEMI;
      EXPECT_EQ(FiltersOf(plan, plan.scan()).size(), drops && !nulls_are_equal ? 1u : 0u) << kind;
    }
  }
}

TEST(RuntimeFilter, FollowsAColumnDown) {
  PlanBuilder plan(kTypes);
  const PenumbraOperator second = plan.Scan();
  plan.Union({plan.scan(), second});
  plan.Filter({plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {plan.Column(1), plan.Constant(PENUMBRA_INT4, "1")})});
  plan.Aggregate({plan.Column(2), plan.Column(0)}, {CountStar()});
  plan.Project({plan.Column(2), plan.Column(1)});
  const PenumbraOperator probe = plan.current();
  Join(plan, probe, 1, plan.Scan(), PENUMBRA_JOIN_INNER);
  plan.Finish();
  for (PenumbraOperator scan : {plan.scan(), second}) {
    ASSERT_EQ(FiltersOf(plan, scan).size(), 1u);
    EXPECT_EQ(FiltersOf(plan, scan)[0].column, 0);
  }
}

TEST(RuntimeFilter, StopsAtWhatIsComputedOrCounted) {
  auto filters = [](const std::function<void(PlanBuilder&)>& build) {
    PlanBuilder plan(kTypes);
    build(plan);
    const PenumbraOperator probe = plan.current();
    Join(plan, probe, 0, plan.Scan(), PENUMBRA_JOIN_INNER);
    plan.Finish();
    return FiltersOf(plan, plan.scan()).size();
  };
  EXPECT_EQ(filters([](PlanBuilder& plan) { plan.Sort({{plan.Column(0), false, false}}); }), 1u);
  EXPECT_EQ(filters([](PlanBuilder& plan) { plan.Sort({{plan.Column(0), false, false}}, 10); }), 0u);
  EXPECT_EQ(filters([](PlanBuilder& plan) { plan.Sort({{plan.Column(0), false, false}}, -1, 5); }), 0u);
  EXPECT_EQ(filters([](PlanBuilder& plan) {
              plan.Project({plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT8, {plan.Column(0), plan.Column(1)})});
            }),
            0u);
  EXPECT_EQ(filters([](PlanBuilder& plan) {
              plan.Aggregate({}, {Aggregate(PENUMBRA_AGG_MAX, PENUMBRA_INT8, plan.Column(0))});
            }),
            0u);
}

TEST(RuntimeFilter, PassesJoinsThatDoNotMissRows) {
  for (int kind = PENUMBRA_JOIN_INNER; kind <= PENUMBRA_JOIN_FULL; ++kind) {
    for (bool is_of_build : {false, true}) {
      PlanBuilder plan(kTypes);
      const PenumbraOperator lower_build = plan.Scan();
      const PenumbraOperator lower = Join(plan, plan.scan(), 0, lower_build, static_cast<PenumbraJoinKind>(kind), true);
      const bool has_build_columns = penumbra_plan_column(plan.plan(), lower, 4) >= 0;
      if (is_of_build && !has_build_columns) continue;
      Join(plan, lower, is_of_build ? 3 : 0, plan.Scan(), PENUMBRA_JOIN_INNER);
      plan.Finish();
      const bool passes =
          is_of_build ? kind == PENUMBRA_JOIN_INNER : kind != PENUMBRA_JOIN_RIGHT && kind != PENUMBRA_JOIN_FULL;
      EXPECT_EQ(FiltersOf(plan, is_of_build ? lower_build : plan.scan()).size(), passes ? 1u : 0u) << kind;
      EXPECT_EQ(FiltersOf(plan, is_of_build ? plan.scan() : lower_build).size(), 0u);
    }
  }
}

struct Dropped {
  uint64_t rows_out;
  uint64_t filtered;
  uint64_t probed;
  uint32_t chunks_not_pushed;
};

// A join on one column of probe tables, cached and pushed, with a build table.
Dropped RunJoin(const std::vector<const Chunk*>& chunks, const std::vector<const Table*>& pushed, const Table& build,
                int column, bool pushes_chunks = false) {
  PlanBuilder plan(kTypes);
  const PenumbraOperator build_scan = plan.Scan();
  plan.Join(plan.scan(), build_scan, PENUMBRA_JOIN_SEMI,
            {{plan.ColumnOf(plan.scan(), column), plan.ColumnOf(build_scan, column), false}});
  plan.Aggregate({}, {CountStar()});
  Input input{chunks, pushed, {{build_scan, {}, {&build}}}};
  input.pushes_chunks = pushes_chunks;
  const Output output = Run(plan, input);
  EXPECT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  const PenumbraOperatorStats& join = output.operators[2];
  EXPECT_EQ(output.rows[0][0], std::to_string(join.rows_out));
  return {join.rows_out, join.filtered_rows, join.rows_in, output.chunks_not_pushed};
}

TEST(RuntimeFilter, BitmapsAreExact) {
  const Table first = MakeTable(20000), second = MakeTable(20000, 1, 20000), build = MakeTable(100, 30);
  const Chunk chunk(first), far(second);
  for (int variant = 0; variant < 3; ++variant) {
    const Dropped dropped =
        variant == 0 ? RunJoin({}, {&first, &second}, build, 0) : RunJoin({&chunk, &far}, {}, build, 0, variant == 2);
    EXPECT_EQ(dropped.rows_out, 100u);
    EXPECT_EQ(dropped.probed, 100u);
    EXPECT_EQ(dropped.filtered, 39900u);
    EXPECT_EQ(dropped.chunks_not_pushed, variant == 2 ? 1u : 0u);
  }
}

TEST(RuntimeFilter, WideKeysGoByTags) {
  const Table probe = MakeTable(20000, 1000000007), build = MakeTable(100, 1000000007u);
  const Chunk chunk(probe);
  const Dropped dropped = RunJoin({&chunk}, {}, build, 0);
  EXPECT_EQ(dropped.rows_out, 100u);
  EXPECT_LT(dropped.probed, 2000u);
  EXPECT_EQ(dropped.probed + dropped.filtered, 20000u);
}

TEST(RuntimeFilter, TextsOfADictionaryGoByCode) {
  const Table probe = MakeTable(20000), build = MakeTable(5);
  const Chunk chunk(probe);
  for (bool is_pushed : {false, true}) {
    const Dropped dropped = is_pushed ? RunJoin({}, {&probe}, build, 2) : RunJoin({&chunk}, {}, build, 2);
    EXPECT_EQ(dropped.rows_out, 2000u);
    EXPECT_LE(dropped.probed, 6000u);
    EXPECT_EQ(dropped.probed + dropped.filtered, 20000u);
  }
}

// Nothing of an empty build side matches.
TEST(RuntimeFilter, AnEmptyBuildDropsAll) {
  const Table probe = MakeTable(20000), build = MakeTable(0);
  const Chunk chunk(probe);
  for (int column : {0, 1, 2}) {
    const Dropped dropped = RunJoin({&chunk}, {&probe}, build, column);
    EXPECT_EQ(dropped.rows_out, 0u);
    EXPECT_EQ(dropped.filtered, 40000u);
  }
}

// A filter that drops little is not asked for most vectors.
TEST(RuntimeFilter, RestsWhenItDropsLittle) {
  const Table probe = MakeTable(400000), build = Table(kTypes, 390000, [](uint32_t row, int column) -> Cell {
                                           return column == 0 ? std::to_string(row / 39 * 40 + row % 39) : "0";
                                         });
  const Chunk chunk(probe);
  const Dropped dropped = RunJoin({&chunk}, {}, build, 0);
  EXPECT_EQ(dropped.rows_out, 390000u);
  EXPECT_GT(dropped.filtered, 0u);
  EXPECT_LT(dropped.filtered, 5000u);
}

}  // namespace
}  // namespace penumbra::test
