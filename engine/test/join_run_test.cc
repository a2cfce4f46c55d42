// How joins run: by threads, beyond the memory, in which form, and what is shown of it.
#include <gtest/gtest.h>

#include <map>

#include "plan/plan.h"
#include "support/nested_loop.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

const std::vector<PenumbraType> kNumbers = {PENUMBRA_INT8, PENUMBRA_INT4};

// Column 0: number of the row divided by `repeats`; column 1: the rest.
Table Numbers(uint32_t rows, uint32_t repeats, uint32_t step = 1) {
  return Table(kNumbers, rows, [=](uint32_t row, int column) -> Cell {
    return std::to_string(column == 0 ? uint64_t{row / repeats} * step : row % repeats);
  });
}

// A join of numbers by their first columns.
struct NumbersJoin {
  explicit NumbersJoin(PenumbraJoinKind kind) : plan(kNumbers) {
    build = plan.Scan();
    plan.Join(plan.scan(), build, kind, {{plan.ColumnOf(plan.scan(), 0), plan.ColumnOf(build, 0), false}});
  }
  void Count() { plan.Aggregate({}, {CountStar()}); }

  PlanBuilder plan;
  PenumbraOperator build;
};

TEST(Join, ThreadsAgree) {
  // 150,000 probe rows of keys 0, 2, 4... three times each; build keys 0, 3, 6..., twice each.
  const Table probe = Numbers(150000, 3, 2), build = Numbers(150000, 2, 3);
  const Chunk probe_chunk(probe), build_chunk(build);
  // Keys up to 99,998 match where 6 divides them: 16,667 of them.
  const std::map<PenumbraJoinKind, uint64_t> expected = {
      {PENUMBRA_JOIN_INNER, 16667 * 6},
      {PENUMBRA_JOIN_LEFT, 16667 * 6 + 150000 - 16667 * 3},
      {PENUMBRA_JOIN_SEMI, 16667 * 3},
      {PENUMBRA_JOIN_ANTI, 150000 - 16667 * 3},
      {PENUMBRA_JOIN_RIGHT, 16667 * 6 + 150000 - 16667 * 2},
      {PENUMBRA_JOIN_RIGHT_SEMI, 16667 * 2},
      {PENUMBRA_JOIN_RIGHT_ANTI, 150000 - 16667 * 2},
      {PENUMBRA_JOIN_FULL, 16667 * 6 + 150000 - 16667 * 3 + 150000 - 16667 * 2}};
  for (auto [kind, count] : expected) {
    for (int threads : {0, 3, 2}) {
      NumbersJoin join(kind);
      join.Count();
      Input input{{&probe_chunk}, {}, {{join.build, {&build_chunk}, {}}}, threads};
      if (threads == 2) input.memory_bytes = kNoMemory;
      Output output = test::Run(join.plan, input);
      ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
      EXPECT_EQ(output.rows, (std::vector<Row>{{std::to_string(count)}})) << kind;
      NumbersJoin streaming(kind);
      output = test::Run(streaming.plan, input);
      EXPECT_EQ(output.rows.size(), count) << kind;
    }
  }
}

// The scan drops what the first rows show to be too late, and no expression in between sees fewer rows if it can fail.
TEST(Join, RowsThatCannotMatterAreNotJoined) {
  const Table probe = Numbers(100000, 1), build = Numbers(100000, 1);
  const Chunk probe_chunk(probe), build_chunk(build);
  for (bool can_fail : {false, true}) {
    NumbersJoin join(PENUMBRA_JOIN_INNER);
    if (can_fail) {
      const PenumbraExpr quotient =
          join.plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT8,
                         {join.plan.Constant(PENUMBRA_INT8, "1"),
                          join.plan.Call(PENUMBRA_FN_SUB, PENUMBRA_INT8,
                                         {join.plan.Column(0), join.plan.Constant(PENUMBRA_INT8, "99999")})});
      join.plan.Filter(
          {join.plan.Call(PENUMBRA_FN_LE, PENUMBRA_BOOL, {quotient, join.plan.Constant(PENUMBRA_INT8, "1")})});
    }
    join.plan.Sort({{join.plan.Column(0), false, false}}, 10);
    const Output output = test::Run(join.plan, {{&probe_chunk}, {}, {{join.build, {&build_chunk}, {}}}});
    EXPECT_EQ(output.status.code, can_fail ? PENUMBRA_DIVISION_BY_ZERO : PENUMBRA_OK);
    if (can_fail) continue;
    EXPECT_EQ(output.rows.size(), 10u);
    EXPECT_LT(output.operators[2].rows_in, 5000u);
  }
}

// Nor does a row that does not matter leave its match without one.
TEST(Join, BuildRowsAreMatchedBelowATopN) {
  const Table numbers = Numbers(20000, 1);
  const Chunk probe_chunk(numbers), build_chunk(numbers);
  for (PenumbraJoinKind kind : {PENUMBRA_JOIN_FULL, PENUMBRA_JOIN_RIGHT}) {
    NumbersJoin join(kind);
    join.plan.Sort({{join.plan.Column(0), false, true}}, 10);
    const Output output = test::Run(join.plan, {{&probe_chunk}, {}, {{join.build, {&build_chunk}, {}}}});
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    ASSERT_EQ(output.rows.size(), 10u);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(output.rows[i][0], std::to_string(i)) << kind;
  }
}

// One row matches 300,000: batches of results come all the while, whoever pushes or scans.
TEST(Join, ARowWithManyMatches) {
  const Table probe = Numbers(3, 1), build = Numbers(300000, 300000);
  const Chunk probe_chunk(probe), build_chunk(build);
  for (bool is_pushed : {false, true}) {
    NumbersJoin join(PENUMBRA_JOIN_INNER);
    Input input;
    (is_pushed ? input.pushed.push_back(&probe) : input.chunks.push_back(&probe_chunk));
    input.others = {{join.build, {&build_chunk}, {}}};
    const Output output = test::Run(join.plan, input);
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(output.rows.size(), 300000u);
  }
}

// Pushed rows with more matches than a call may take stay with the engine, which wants no more of them meanwhile.
TEST(Join, PushedRowsDoNotKeepTheCaller) {
  const Table probe = Numbers(2000, 2000), build = Numbers(300000, 300000);
  NumbersJoin join(PENUMBRA_JOIN_INNER);
  const PenumbraExecOptions options{kEnoughMemory, 0, "/tmp/penumbra_test"};
  PenumbraExec* exec = penumbra_exec_create(join.plan.Finish(), &options);
  ASSERT_EQ(penumbra_exec_push_rows(exec, join.build, build.rows()).code, PENUMBRA_OK);
  ASSERT_EQ(penumbra_exec_end_rows(exec, join.build).code, PENUMBRA_OK);
  ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
  PenumbraResult result{};
  PenumbraStatus status{};
  while (penumbra_exec_wanted_scan(exec) < 0) {
    ASSERT_EQ(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_WAIT);
  }
  ASSERT_EQ(penumbra_exec_push_rows(exec, join.plan.scan(), probe.rows()).code, PENUMBRA_OK);
  EXPECT_LT(penumbra_exec_wanted_scan(exec), 0);
  EXPECT_EQ(penumbra_exec_end_rows(exec, join.plan.scan()).code, PENUMBRA_OK);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_ROWS);
  penumbra_exec_destroy(exec);
}

// A batch of pairs is small where their strings are large: each pair is made a string of, whichever side has it.
TEST(Join, LargeStrings) {
  const std::vector<PenumbraType> types = {PENUMBRA_INT4, PENUMBRA_TEXT};
  const std::string large(200'000, 'x');
  const Table few(types, 2, [&](uint32_t, int column) { return column == 0 ? "1" : large; });
  const Table many(types, 1500, [&](uint32_t, int column) { return column == 0 ? "1" : "y"; });
  const Table one(types, 1, [&](uint32_t, int column) { return column == 0 ? "1" : large; });
  const std::pair<const Table*, const Table*> sides[] = {{&few, &many}, {&many, &few}, {&many, &one}};
  for (auto [probe, build] : sides) {
    for (size_t memory_bytes : {kNoMemory, size_t{16} << 20}) {
      for (PenumbraJoinKind kind : {PENUMBRA_JOIN_INNER, PENUMBRA_JOIN_LEFT}) {
        PlanBuilder plan(types);
        const PenumbraOperator scan = plan.Scan();
        const PenumbraOperator join =
            plan.Join(plan.scan(), scan, kind, {{plan.ColumnOf(plan.scan(), 0), plan.ColumnOf(scan, 0), false}});
        const PenumbraExpr both =
            plan.Call(PENUMBRA_FN_CONCAT, PENUMBRA_TEXT, {plan.ColumnOf(join, 1), plan.ColumnOf(join, 3)});
        const PenumbraExpr length = plan.Call(PENUMBRA_FN_LENGTH, PENUMBRA_INT4, {both});
        plan.Aggregate({}, {CountStar(), test::Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, length)});
        const Output output = test::Run(plan, {{}, {probe}, {{scan, {}, {build}}}, 0, memory_bytes});
        ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
        const uint32_t pairs = probe->row_count() * build->row_count();
        EXPECT_EQ(output.rows, (std::vector<Row>{{std::to_string(pairs), std::to_string(pairs * 200'001)}}));
      }
    }
  }
}

// A partition of one key is joined in passes.
TEST(Join, OneKeyPastTheBudget) {
  const Table probe = Numbers(20, 10), build = Numbers(30000, 30000);
  const std::map<PenumbraJoinKind, uint64_t> expected = {
      {PENUMBRA_JOIN_INNER, 300000}, {PENUMBRA_JOIN_SEMI, 10},     {PENUMBRA_JOIN_ANTI, 10},
      {PENUMBRA_JOIN_LEFT, 300010},  {PENUMBRA_JOIN_FULL, 300010}, {PENUMBRA_JOIN_RIGHT_SEMI, 30000}};
  for (auto [kind, count] : expected) {
    NumbersJoin join(kind);
    const Output output = test::Run(join.plan, {{}, {&probe}, {{join.build, {}, {&build}}}, 0, kNoMemory});
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(output.rows.size(), count) << kind;
  }
  // The second match of a row may be in another pass than the first.
  NumbersJoin single(PENUMBRA_JOIN_SINGLE);
  const Output output = test::Run(single.plan, {{}, {&probe}, {{single.build, {}, {&build}}}, 0, kNoMemory});
  EXPECT_EQ(output.status.code, PENUMBRA_CARDINALITY_VIOLATION);
}

TEST(Join, SpillingCanFail) {
  const Table probe = Numbers(50000, 1), build = Numbers(50000, 1);
  NumbersJoin join(PENUMBRA_JOIN_INNER);
  Input input{{}, {&probe}, {{join.build, {}, {&build}}}, 0, kNoMemory};
  PenumbraTemporarySpace space = {UINT64_MAX, 0};
  input.temporary_space = &space;
  EXPECT_EQ(test::Run(join.plan, input).rows.size(), 50000u);
  EXPECT_EQ(space.used_bytes, 0u);
  space.limit_bytes = 1000000;
  EXPECT_EQ(test::Run(join.plan, input).status.code, PENUMBRA_TEMPORARY_SPACE_LIMIT);
  EXPECT_EQ(space.used_bytes, 0u);
  input.temporary_prefix = "/nonexistent/folder/file";
  EXPECT_EQ(test::Run(join.plan, input).status.code, PENUMBRA_IO_ERROR);
}

// The caller's thread does the work, so nobody but it can look at the flag.
TEST(Join, TheCallerIsInterrupted) {
  const Table probe = Numbers(50000, 1), build = Numbers(50000, 1);
  NumbersJoin join(PENUMBRA_JOIN_INNER);
  Input input{{}, {&probe}, {{join.build, {}, {&build}}}, 0, kNoMemory};
  volatile sig_atomic_t flag = 0;
  input.interrupt = &flag;
  EXPECT_EQ(test::Run(join.plan, input).rows.size(), 50000u);
  flag = 1;
  EXPECT_EQ(test::Run(join.plan, input).status.code, PENUMBRA_CANCELLED);
}

// Who planned far fewer rows hears of it before they are all there.
TEST(Join, TooManyBuildRows) {
  const Table probe = Numbers(1000, 1), build = Numbers(150000, 1);
  const Chunk build_chunk(build);
  for (int threads : {0, 3}) {
    for (bool is_pushed : {false, true}) {
      for (uint64_t limit : {uint64_t{0}, uint64_t{1}, uint64_t{149999}, uint64_t{150000}}) {
        PlanBuilder plan(kNumbers);
        const PenumbraOperator scan = plan.Scan();
        plan.Join(plan.scan(), scan, PENUMBRA_JOIN_INNER,
                  {{plan.ColumnOf(plan.scan(), 0), plan.ColumnOf(scan, 0), false}}, {}, false, limit);
        ScanInput build_rows{scan, {}, {}};
        (is_pushed ? build_rows.pushed.push_back(&build) : build_rows.chunks.push_back(&build_chunk));
        const Output output = test::Run(plan, {{}, {&probe}, {build_rows}, threads});
        const bool is_ok = limit == 0 || limit >= 150000;
        ASSERT_EQ(output.status.code, is_ok ? PENUMBRA_OK : PENUMBRA_BUILD_TOO_LARGE) << output.status.message;
        EXPECT_EQ(output.operators[2].is_build_too_large, !is_ok);
        EXPECT_EQ(output.rows.size(), is_ok ? 1000u : 0u);
      }
    }
  }
}

// What EXPLAIN ANALYZE shows.
TEST(Join, Statistics) {
  const Table probe = Numbers(1000, 1), build = Numbers(100, 1, 5);
  NumbersJoin join(PENUMBRA_JOIN_INNER);
  const Output output = test::Run(join.plan, {{}, {&probe}, {{join.build, {}, {&build}}}});
  ASSERT_EQ(output.operators.size(), 3u);
  const PenumbraOperatorStats& stats = output.operators[2];
  EXPECT_STREQ(stats.name, "Vector Hash Join");
  EXPECT_STREQ(stats.join_table, "direct array");
  EXPECT_EQ(stats.filtered_rows, 900u);
  EXPECT_EQ(stats.rows_in, 100u);
  EXPECT_EQ(stats.rows_out, 100u);
  EXPECT_EQ(stats.build_rows, 100u);
}

// What matches nothing is dropped before it is written to disk.
TEST(Join, SpilledBuildsFilterScans) {
  const Table probe = Numbers(300000, 1), build = Numbers(50000, 1, 30);
  const Chunk probe_chunk(probe), build_chunk(build);
  for (int threads : {0, 3}) {
    NumbersJoin join(PENUMBRA_JOIN_INNER);
    const Output output =
        test::Run(join.plan, {{&probe_chunk}, {}, {{join.build, {&build_chunk}, {}}}, threads, size_t{800} << 10});
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(output.rows.size(), 10000u);
    const PenumbraOperatorStats& stats = output.operators[2];
    EXPECT_GT(stats.spilled_bytes, 0u);
    EXPECT_EQ(stats.rows_in, 10000u);
  }
}

// The form follows the build rows' keys and what is asked of them.
TEST(Join, Forms) {
  auto form = [](PenumbraJoinKind kind, const Table& build, int key_count = 1) -> std::string {
    const Table probe = Numbers(5000, 2);
    PlanBuilder plan(kNumbers);
    const PenumbraOperator build_scan = plan.Scan();
    std::vector<PenumbraJoinKey> keys;
    for (int k = 0; k < key_count; ++k) {
      keys.push_back({plan.ColumnOf(plan.scan(), k), plan.ColumnOf(build_scan, k), false});
    }
    plan.Join(plan.scan(), build_scan, kind, keys);
    const Output output = test::Run(plan, {{}, {&probe}, {{build_scan, {}, {&build}}}});
    EXPECT_EQ(output.status.code, PENUMBRA_OK);
    return output.operators[2].join_table;
  };
  const Table dense = Numbers(100, 1), far_apart = Numbers(100, 1, 2000000011), empty = Numbers(0, 1);
  EXPECT_EQ(form(PENUMBRA_JOIN_SEMI, dense), "bitmap");
  EXPECT_EQ(form(PENUMBRA_JOIN_ANTI, dense), "bitmap");
  EXPECT_EQ(form(PENUMBRA_JOIN_MARK, dense), "bitmap");
  EXPECT_EQ(form(PENUMBRA_JOIN_INNER, dense), "direct array");
  EXPECT_EQ(form(PENUMBRA_JOIN_RIGHT_SEMI, dense), "direct array");
  EXPECT_EQ(form(PENUMBRA_JOIN_INNER, far_apart), "hash table");
  EXPECT_EQ(form(PENUMBRA_JOIN_SEMI, far_apart), "hash table");
  EXPECT_EQ(form(PENUMBRA_JOIN_INNER, dense, 2), "hash table");
  EXPECT_EQ(form(PENUMBRA_JOIN_INNER, empty), "hash table");
  EXPECT_EQ(form(PENUMBRA_JOIN_INNER, dense, 0), "nested loop");
}

// A condition that can fail sees only pairs that the keys and the conditions before it let through.
TEST(Join, ConditionsSeeOnlyWhatPassedBefore) {
  for (bool is_guarded : {true, false}) {
    // The second columns of build rows are 0 and 1.
    const Table probe = Numbers(40, 1), build = Numbers(40, 2);
    PlanBuilder plan(kNumbers);
    const PenumbraOperator build_scan = plan.Scan();
    const PenumbraExpr zero = plan.Constant(PENUMBRA_INT4, "0"), divisor = plan.PairColumn(plan.scan(), build_scan, 3);
    const PenumbraExpr guard = plan.Call(PENUMBRA_FN_NE, PENUMBRA_BOOL, {divisor, zero});
    const PenumbraExpr seven = plan.Constant(PENUMBRA_INT4, "7");
    const PenumbraExpr division = plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {seven, divisor});
    const PenumbraExpr fails = plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {division, zero});
    plan.Join(plan.scan(), build_scan, PENUMBRA_JOIN_INNER,
              {{plan.ColumnOf(plan.scan(), 0), plan.ColumnOf(build_scan, 0), false}},
              is_guarded ? std::vector<PenumbraExpr>{guard, fails} : std::vector<PenumbraExpr>{fails, guard});
    const Output output = test::Run(plan, {{}, {&probe}, {{build_scan, {}, {&build}}}});
    EXPECT_EQ(output.status.code, is_guarded ? PENUMBRA_OK : PENUMBRA_DIVISION_BY_ZERO);
    EXPECT_EQ(output.rows.size(), is_guarded ? 20u : 0u);
  }
}

TEST(Join, WrongOnesAreRefused) {
  PlanBuilder plan(kNumbers);
  const PenumbraOperator probe = plan.scan(), build = plan.Scan();
  const PenumbraExpr number = plan.ColumnOf(probe, 0), rest = plan.ColumnOf(build, 1), other = plan.ColumnOf(build, 0);
  auto refusal = [&](const PenumbraJoin& join, PenumbraOperator left, PenumbraOperator right) -> std::string {
    return penumbra_plan_add_join(plan.plan(), left, right, &join) < 0 ? plan.reason() : "";
  };
  const PenumbraJoinKey mixed = {number, rest, false}, key = {number, other, false};
  const PenumbraJoinKey equal_nulls = {number, other, true};
  EXPECT_EQ(refusal({PENUMBRA_JOIN_INNER, false, &mixed, 1}, probe, build), "a join key of two types");
  EXPECT_EQ(refusal({PENUMBRA_JOIN_INNER, false, &key, 1}, probe, probe), "an input that another operator has");
  EXPECT_EQ(refusal({PENUMBRA_JOIN_INNER, false, &key, 1}, probe, 9), "an input that does not exist");
  EXPECT_EQ(refusal({static_cast<PenumbraJoinKind>(12), false, &key, 1}, probe, build), "a join of an unknown kind");
  EXPECT_EQ(refusal({PENUMBRA_JOIN_SEMI, true, &key, 1}, probe, build),
            "a null-aware join that is not of one key alone");
  EXPECT_EQ(refusal({PENUMBRA_JOIN_ANTI, true, &equal_nulls, 1}, probe, build),
            "a null-aware join that is not of one key alone");
  EXPECT_EQ(refusal({PENUMBRA_JOIN_INNER, false, &key, 1, &number, 1}, probe, build),
            "a join's condition that is not boolean");
  const PenumbraExpr pair[] = {plan.PairColumn(probe, build, 0), plan.PairColumn(probe, build, 2)};
  const PenumbraExpr equal = plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {pair[0], pair[1]});
  const PenumbraExpr less = plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL, {pair[0], pair[1]});
  for (const PenumbraJoin& join :
       {PenumbraJoin{PENUMBRA_JOIN_INNER, false, &key, 1, &equal, 1, 0, PENUMBRA_JOIN_LEAST},
        PenumbraJoin{PENUMBRA_JOIN_FULL, false, &key, 1, &less, 1, 0, PENUMBRA_JOIN_LEAST},
        PenumbraJoin{PENUMBRA_JOIN_INNER, false, &key, 1, nullptr, 0, 0, PENUMBRA_JOIN_GREATEST}}) {
    EXPECT_EQ(refusal(join, probe, build), "a join that chooses rows without an order");
  }
  EXPECT_LT(penumbra_plan_pair_column(plan.plan(), probe, build, 4), 0);
  plan.Join(probe, build, PENUMBRA_JOIN_MARK, {key}, {}, true);
  EXPECT_EQ(penumbra_plan_output_count(plan.Finish()), 3);
  EXPECT_EQ(penumbra_plan_output_type(plan.plan(), 2), PENUMBRA_BOOL);
}

// A build column that only keys read is not kept, one that nobody reads is not decoded.
TEST(Join, ReadsOnlyWhatIsNeeded) {
  PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_INT4, PENUMBRA_TEXT});
  const PenumbraOperator probe = plan.scan(), build = plan.Scan();
  plan.Join(probe, build, PENUMBRA_JOIN_INNER, {{plan.ColumnOf(probe, 1), plan.ColumnOf(build, 0), false}});
  plan.Project({plan.Column(0), plan.Column(4)});
  plan.Finish();
  const Operators& operators = plan.plan()->operators();
  EXPECT_EQ(operators[probe].needed, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(operators[build].needed, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(operators[2].join.BuildColumnsKept(), (std::vector<int>{1}));
}

}  // namespace
}  // namespace penumbra::test
