// Which scans get a join's runtime filter, and what it drops there.
#include <gtest/gtest.h>

#include <random>

#include "join/join_integers.h"
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

// Values within and around a set of integers, those at the ends of their type among them, and the same as codes of a
// frame.
template <typename T>
void CheckSet(const KeyRange& range, std::mt19937_64& random) {
  constexpr uint32_t kRows = 300;
  Arena arena;
  KeyBitmap set(range, arena);
  std::vector<bool> is_member(range.span() + 1);
  for (uint64_t i = 0; i <= range.span(); ++i) {
    is_member[i] = random() % 3 == 0;
    if (is_member[i]) set.Add(static_cast<int64_t>(static_cast<uint64_t>(range.least) + i));
  }
  auto contains = [&](int64_t value) {
    return value >= range.least && value <= range.greatest &&
           is_member[static_cast<uint64_t>(value) - static_cast<uint64_t>(range.least)];
  };
  T values[kRows];
  for (T& value : values) {
    value = static_cast<T>(static_cast<uint64_t>(range.least) + random() % (range.span() + 9) - 4);
    if (random() % 8 == 0) value = random() % 2 == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    if (random() % 8 == 0) value = static_cast<T>(random());
  }
  uint64_t bits[BitWords(kRows)];
  kernels::SetBits(bits, kRows);
  set.ClearOthers(values, kRows, bits);
  for (uint32_t i = 0; i < kRows; ++i) ASSERT_EQ(IsBitSet(bits, i), contains(values[i])) << +values[i];

  uint16_t codes[kRows];
  for (uint16_t& code : codes) code = static_cast<uint16_t>(random() % 2 == 0 ? random() % 64 : random());
  for (const int64_t distance : {0, -20, 31, -70000, INT32_MIN, INT32_MAX}) {
    int64_t base;
    if (__builtin_sub_overflow(range.least, distance, &base) || base > INT64_MAX - UINT16_MAX) continue;
    kernels::SetBits(bits, kRows);
    const bool is_done = set.ClearOthers(codes, base, kRows, bits);
    EXPECT_EQ(is_done, distance > INT32_MIN && distance < INT32_MAX);
    for (uint32_t i = 0; is_done && i < kRows; ++i) ASSERT_EQ(IsBitSet(bits, i), contains(base + codes[i])) << base;
  }
}

TEST(RuntimeFilter, SetsOfIntegersAtTheEndsOfTypes) {
  std::mt19937_64 random{20261124};
  for (const int64_t near : {int64_t{0}, int64_t{INT16_MIN}, int64_t{INT16_MAX}, int64_t{INT32_MIN}, int64_t{INT32_MAX},
                             int64_t{UINT32_MAX}, -int64_t{UINT32_MAX}, INT64_MIN, INT64_MAX}) {
    for (const int64_t span : {0, 1, 63, 64, 1000}) {
      for (const int64_t below : {int64_t{0}, span / 2, span}) {
        KeyRange range;
        if (__builtin_sub_overflow(near, below, &range.least) ||
            __builtin_add_overflow(range.least, span, &range.greatest)) {
          continue;
        }
        CheckSet<int16_t>(range, random);
        CheckSet<int32_t>(range, random);
        CheckSet<int64_t>(range, random);
      }
    }
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
TEST(RuntimeFilter, AnEmptyBuildNeedsNoProbeRows) {
  const Table probe = MakeTable(20000), build = MakeTable(0);
  const Chunk chunk(probe);
  for (int column : {0, 1, 2}) {
    const Dropped dropped = RunJoin({&chunk}, {&probe}, build, column);
    EXPECT_EQ(dropped.rows_out, 0u);
    EXPECT_EQ(dropped.filtered, 0u);
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
