// Joins of random tables through the C interface, against a nested loop over their cells.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "support/nested_loop.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

constexpr PenumbraType kKeyTypes[] = {PENUMBRA_INT4,   PENUMBRA_INT8,      PENUMBRA_NUMERIC,     PENUMBRA_TEXT,
                                      PENUMBRA_BPCHAR, PENUMBRA_FLOAT8,    PENUMBRA_FLOAT4,      PENUMBRA_INTERVAL,
                                      PENUMBRA_DATE,   PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMPTZ, PENUMBRA_UUID,
                                      PENUMBRA_INT2,   PENUMBRA_BOOL};

class JoinTest : public ::testing::TestWithParam<PenumbraJoinKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, JoinTest, ::testing::ValuesIn(kJoinKinds));

// Runs one join of two relations and compares.
void CheckJoin(const Relation& probe, const Relation& build, const NaiveJoin& join, std::mt19937& random) {
  const bool probe_is_pushed = random() % 2 == 0, build_is_pushed = random() % 2 == 0;
  const Loaded probe_rows(probe, !probe_is_pushed || random() % 2 == 0, probe_is_pushed);
  const Loaded build_rows(build, !build_is_pushed || random() % 2 == 0, build_is_pushed);
  PlanBuilder plan(probe.types);
  const PenumbraOperator build_scan = plan.Scan(build.types);
  AddJoin(plan, plan.scan(), build_scan, join);
  const ScanInput first = probe_rows.Input(plan.scan());
  Relation expected;
  const bool is_ok = join.Run(probe, build, &expected);
  const std::vector<Row> expected_rows = Shown(expected);
  for (size_t memory_bytes : {kEnoughMemory, kNoMemory}) {
    Input input{first.chunks, first.pushed, {build_rows.Input(build_scan)}, 0, memory_bytes};
    input.pushes_chunks = build_is_pushed == (memory_bytes == kEnoughMemory);
    const Output output = test::Run(plan, input);
    ASSERT_EQ(output.status.code, is_ok ? PENUMBRA_OK : PENUMBRA_CARDINALITY_VIOLATION) << output.status.message;
    EXPECT_EQ(is_ok ? Sorted(output.rows) : expected_rows, expected_rows);
    EXPECT_EQ(output.operators[2].spilled_bytes > 0, memory_bytes == kNoMemory && output.operators[2].build_rows > 0);
    if (!probe.rows.empty()) {
      EXPECT_EQ(output.operators[2].build_rows, build.rows.size());
    }
  }
}

TEST_P(JoinTest, AgreesWithANestedLoop) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()) + 1);
  for (int round = 0; round < 45; ++round) {
    const PenumbraType types[] = {kKeyTypes[round % std::size(kKeyTypes)], kKeyTypes[random() % std::size(kKeyTypes)]};
    const uint32_t sizes[] = {0, 1, 30, 300, 2500};
    const uint32_t distinct = round % 4 == 0 ? 7 : 400;
    const uint32_t null_percent = round % 3 == 0 ? 0 : 8;
    const uint32_t probe_rows = sizes[random() % 5];
    // Not too many pairs.
    const uint32_t build_rows = sizes[random() % (probe_rows > 300 ? 4 : 5)];
    const Relation probe = RandomRelation(random, types[0], types[1], probe_rows, distinct, null_percent);
    const Relation build = RandomRelation(random, types[0], types[1], build_rows, distinct, null_percent);
    NaiveJoin join{GetParam()};
    const size_t key_count = round % 5 == 4 ? 2 : round % 10 == 3 && probe_rows * build_rows < 100000 ? 0 : 1;
    for (int k = 0; k < static_cast<int>(key_count); ++k) join.keys.push_back({k, k, random() % 4 == 0});
    if (random() % 3 == 0) join.conditions.push_back({2, 6});
    if (random() % 6 == 0) join.conditions.push_back({6, 2});
    const bool can_be_null_aware = join.kind == PENUMBRA_JOIN_ANTI || join.kind == PENUMBRA_JOIN_MARK;
    if (can_be_null_aware && key_count == 1 && random() % 2 == 0) {
      join.is_null_aware = true;
      join.keys[0].nulls_are_equal = false;
      join.conditions.clear();
    }
    SCOPED_TRACE("round " + std::to_string(round));
    CheckJoin(probe, build, join, random);
  }
}
// Of two columns of a type, with the least and the greatest values that it has. Classes are a letter each.
Relation RandomPeriods(std::mt19937& random, PenumbraType type, uint32_t rows, uint32_t distinct) {
  Relation relation{{type, type, PENUMBRA_TEXT}, {}};
  const bool is_float = type == PENUMBRA_FLOAT4 || type == PENUMBRA_FLOAT8;
  const auto value = [&]() -> Value {
    const uint32_t n = random() % (distinct + 3);
    if (n == distinct) return {};
    if (n == distinct + 1 && is_float) return {"nan", std::to_string(std::strtod("nan", nullptr)), "~"};
    if (n == distinct + 1 && type == PENUMBRA_INT8) return {std::to_string(INT64_MAX), std::to_string(INT64_MAX), "~"};
    if (n == distinct + 2 && type == PENUMBRA_INT8) return {std::to_string(INT64_MIN), std::to_string(INT64_MIN), " "};
    const int number = static_cast<int>(n % distinct) - 3;
    const std::string text = std::to_string(number);
    return {text, is_float ? std::to_string(static_cast<double>(number)) : text,
            std::string(1, static_cast<char>('$' + n % distinct))};
  };
  for (uint32_t i = 0; i < rows; ++i) {
    const std::string name = "row " + std::to_string(i) + (i % 2 == 0 ? " of a long name" : "");
    relation.rows.push_back({value(), value(), {name, name, name}});
  }
  return relation;
}

TEST_P(JoinTest, OfRangesAgreesWithANestedLoop) {
  constexpr PenumbraType kTypes[] = {PENUMBRA_INT4, PENUMBRA_INT8,      PENUMBRA_FLOAT8, PENUMBRA_FLOAT4,
                                     PENUMBRA_DATE, PENUMBRA_TIMESTAMP, PENUMBRA_INT2,   PENUMBRA_NUMERIC};
  constexpr PenumbraFunction kFunctions[] = {PENUMBRA_FN_LT, PENUMBRA_FN_LE, PENUMBRA_FN_GT, PENUMBRA_FN_GE};
  std::mt19937 random(static_cast<uint32_t>(GetParam()) + 101);
  for (int round = 0; round < 60; ++round) {
    const PenumbraType type = kTypes[round % std::size(kTypes)];
    const uint32_t sizes[] = {0, 7, 40, 300, 900}, probe_rows = sizes[random() % 5], distinct = round % 3 == 0 ? 6 : 80;
    const Relation probe = RandomPeriods(random, type, probe_rows, distinct);
    const Relation build = RandomPeriods(random, type, sizes[random() % (probe_rows > 300 ? 4 : 5)], distinct);
    NaiveJoin join{GetParam()};
    for (uint32_t conditions = 1 + random() % 4; conditions > 0; --conditions) {
      int left = static_cast<int>(random() % 2), right = 3 + static_cast<int>(random() % 2);
      if (random() % 2 == 0) std::swap(left, right);
      join.conditions.push_back({left, right, kFunctions[random() % 4]});
    }
    SCOPED_TRACE("round " + std::to_string(round));
    CheckJoin(probe, build, join, random);
  }
}

// Few keys, so that each has many rows for the range; and many.
TEST_P(JoinTest, OfKeysAndRangesAgreesWithANestedLoop) {
  constexpr PenumbraType kTypes[] = {PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_FLOAT8, PENUMBRA_TIMESTAMP,
                                     PENUMBRA_NUMERIC};
  constexpr PenumbraFunction kFunctions[] = {PENUMBRA_FN_LT, PENUMBRA_FN_LE, PENUMBRA_FN_GT, PENUMBRA_FN_GE};
  constexpr int kColumns = 4, kKey = 3;
  std::mt19937 random(static_cast<uint32_t>(GetParam()) + 201);
  for (int round = 0; round < 60; ++round) {
    const PenumbraType type = kTypes[round % std::size(kTypes)];
    const uint32_t sizes[] = {0, 30, 300, 900}, distinct = round % 3 == 0 ? 6 : 80, keys = round % 4 == 0 ? 200 : 4;
    const uint32_t probe_rows = sizes[random() % 4], build_rows = sizes[random() % 4];
    const auto with_keys = [&](uint32_t rows) {
      Relation relation = RandomPeriods(random, type, rows, distinct);
      const Relation of_keys = RandomPeriods(random, round % 5 < 3 ? PENUMBRA_INT4 : PENUMBRA_NUMERIC, rows, keys);
      relation.types.push_back(of_keys.types[0]);
      for (uint32_t i = 0; i < rows; ++i) relation.rows[i].push_back(of_keys.rows[i][0]);
      return relation;
    };
    const Relation probe = with_keys(probe_rows), build = with_keys(build_rows);
    NaiveJoin join{GetParam()};
    join.keys.push_back({kKey, kKey, random() % 4 == 0});
    for (uint32_t conditions = 2 + random() % 3; conditions > 0; --conditions) {
      int left = static_cast<int>(random() % 2), right = kColumns + static_cast<int>(random() % 2);
      if (random() % 2 == 0) std::swap(left, right);
      join.conditions.push_back({left, right, kFunctions[random() % 4]});
    }
    SCOPED_TRACE("round " + std::to_string(round));
    CheckJoin(probe, build, join, random);
  }
}

// Without two rows of a key and a value, of which any could be chosen.
TEST(Join, ThatChoosesARowAgreesWithANestedLoop) {
  constexpr PenumbraType kTypes[] = {PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_FLOAT8, PENUMBRA_DATE, PENUMBRA_TIMESTAMP};
  constexpr PenumbraFunction kFunctions[] = {PENUMBRA_FN_LT, PENUMBRA_FN_LE, PENUMBRA_FN_GT, PENUMBRA_FN_GE};
  std::mt19937 random(77);
  for (int round = 0; round < 80; ++round) {
    const PenumbraType type = kTypes[round % std::size(kTypes)];
    const uint32_t distinct = round % 3 == 0 ? 6 : 80;
    const Relation probe = RandomPeriods(random, type, round % 2 == 0 ? 500 : 20, distinct);
    Relation build{RandomPeriods(random, type, 1, distinct).types, {}};
    NaiveJoin join{round % 2 == 0 ? PENUMBRA_JOIN_INNER : PENUMBRA_JOIN_LEFT};
    const uint32_t key_count = random() % 3;
    if (key_count > 0) join.keys.push_back({0, 0, random() % 4 == 0});
    if (key_count > 1) join.keys.push_back({2, 2});
    std::set<std::string> seen;
    for (std::vector<Value>& row : RandomPeriods(random, type, round % 7 == 0 ? 3 : 900, distinct).rows) {
      const std::string key = key_count == 0 ? "" : row[0].is_null() ? "null" : row[0].equality_class;
      if (seen.insert(key + "/" + row[1].equality_class).second) build.rows.push_back(row);
    }
    join.conditions = {{1, 4, kFunctions[random() % 4]}};
    if (random() % 2 == 0) std::swap(join.conditions[0].left, join.conditions[0].right);
    join.choice = random() % 2 == 0 ? PENUMBRA_JOIN_LEAST : PENUMBRA_JOIN_GREATEST;
    SCOPED_TRACE("round " + std::to_string(round));
    const Loaded probe_rows(probe, true, true), build_rows(build, false, true);
    PlanBuilder plan(probe.types);
    const PenumbraOperator build_scan = plan.Scan(build.types);
    AddJoin(plan, plan.scan(), build_scan, join);
    const ScanInput first = probe_rows.Input(plan.scan());
    Relation expected;
    join.Run(probe, build, &expected);
    // Enough for a partition, and too little for some.
    for (size_t memory_bytes : {kEnoughMemory, size_t{64} << 10, kNoMemory}) {
      const Output output =
          test::Run(plan, {first.chunks, first.pushed, {build_rows.Input(build_scan)}, 0, memory_bytes});
      if (memory_bytes == kNoMemory && output.status.code == PENUMBRA_UNSUPPORTED) continue;
      ASSERT_EQ(output.status.code, PENUMBRA_OK);
      EXPECT_EQ(Sorted(output.rows), Shown(expected));
    }
  }
}

TEST(Join, SeveralInARow) {
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PenumbraJoinKind kinds[] = {kJoinKinds[random() % std::size(kJoinKinds)],
                                      kJoinKinds[random() % std::size(kJoinKinds)]};
    auto relation = [&] { return RandomRelation(random, PENUMBRA_INT4, PENUMBRA_TEXT, 150 + random() % 250, 150, 5); };
    const Relation a = relation(), b = relation(), c = relation();
    const Loaded a_rows(a, round % 2 == 0, true), b_rows(b, true, round % 3 == 0), c_rows(c, true, false);
    PlanBuilder plan(a.types);
    const PenumbraOperator b_scan = plan.Scan(b.types), c_scan = plan.Scan(c.types);
    const NaiveJoin lower{kinds[0], false, {{0, 0}}}, upper{kinds[1], false, {{1, 1}}};
    Relation joined, expected;
    // The lower join is on either side.
    const bool is_left_deep = round % 4 < 2;
    if (is_left_deep) {
      AddJoin(plan, AddJoin(plan, plan.scan(), b_scan, lower), c_scan, upper);
    } else {
      AddJoin(plan, c_scan, AddJoin(plan, plan.scan(), b_scan, lower), upper);
    }
    bool is_ok = lower.Run(a, b, &joined);
    is_ok = is_ok && (is_left_deep ? upper.Run(joined, c, &expected) : upper.Run(c, joined, &expected));
    const ScanInput first = a_rows.Input(plan.scan());
    const size_t memory_bytes = round % 3 == 0 ? kNoMemory : kEnoughMemory;
    const Output output =
        test::Run(plan, {first.chunks, first.pushed, {b_rows.Input(b_scan), c_rows.Input(c_scan)}, 0, memory_bytes});
    if (!is_ok) {
      EXPECT_EQ(output.status.code, PENUMBRA_CARDINALITY_VIOLATION);
      continue;
    }
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(Sorted(output.rows), Shown(expected));
  }
}

// What strings of build sides are grouped by, with and without the dictionaries that builds make of them: keys that are
// equal but written differently, strings that do not repeat, rows without a match, one build or both on disk.
TEST(Join, GroupsByStringsOfBuildSides) {
  std::mt19937 random(8);
  const PenumbraJoinKind pair_kinds[] = {PENUMBRA_JOIN_INNER, PENUMBRA_JOIN_LEFT, PENUMBRA_JOIN_RIGHT,
                                         PENUMBRA_JOIN_FULL};
  bool spills_one = false;
  for (int round = 0; round < 36; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PenumbraType type = round % 2 == 0 ? PENUMBRA_TEXT : PENUMBRA_BPCHAR;
    enum { kFewStrings, kManyStrings, kLargeBuild } what = static_cast<decltype(what)>(round % 3);
    const uint32_t distinct = what == kFewStrings ? 12 : 5000;
    auto relation = [&](uint32_t rows) { return RandomRelation(random, PENUMBRA_INT4, type, rows, distinct, 5); };
    const Relation a = relation(500), b = relation(what == kManyStrings ? 6000 : 40);
    Relation c = relation(what == kLargeBuild ? 6000 : 30);
    for (auto& row : c.rows) row[1] = random() % 20 == 0 ? Value() : KeyValue(type, random() % 12);
    const Loaded a_rows(a, true, false), b_rows(b, round % 3 != 0, round % 3 != 1), c_rows(c, true, false);
    const NaiveJoin lower{pair_kinds[random() % 4], false, {{0, 0}}}, upper{pair_kinds[random() % 4], false, {{0, 0}}};
    Relation joined, pairs;
    ASSERT_TRUE(lower.Run(a, b, &joined) && upper.Run(joined, c, &pairs));
    // Columns 5 and 9 are the second keys of b and c. By the first of them: rows, and how many of the second.
    std::map<std::string, std::pair<uint64_t, std::set<std::string>>> groups;
    for (const auto& row : pairs.rows) {
      auto& [count, seconds] = groups[row[5].is_null() ? "NULL" : row[5].equality_class];
      ++count;
      if (!row[9].is_null()) seconds.insert(row[9].equality_class);
    }
    std::vector<Row> expected;
    for (const auto& [key, group] : groups) {
      expected.push_back({key, std::to_string(group.first), std::to_string(group.second.size())});
    }
    for (bool is_twice : {false, true}) {
      PlanBuilder plan(a.types);
      const PenumbraOperator b_scan = plan.Scan(b.types), c_scan = plan.Scan(c.types);
      AddJoin(plan, AddJoin(plan, plan.scan(), b_scan, lower), c_scan, upper);
      PenumbraAggregateCall seconds = Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, plan.Column(9));
      seconds.distinct = true;
      if (is_twice) {
        // By both, then the groups of one: their counts are what is counted of the second.
        plan.Aggregate({plan.Column(5), plan.Column(9)}, {CountStar()});
        plan.Aggregate({plan.Column(0)}, {Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, plan.Column(2)),
                                          Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, plan.Column(1))});
      } else {
        plan.Aggregate({plan.Column(5)}, {CountStar(), seconds});
      }
      for (size_t memory_bytes : {kEnoughMemory, size_t{200} << 10, kNoMemory}) {
        const ScanInput first = a_rows.Input(plan.scan());
        Output output = test::Run(
            plan, {first.chunks, first.pushed, {b_rows.Input(b_scan), c_rows.Input(c_scan)}, round % 5, memory_bytes});
        ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
        // Operators are scans of a and b, the lower join, the scan of c, the upper join.
        spills_one |= output.operators[2].spilled_bytes == 0 && output.operators[4].spilled_bytes > 0;
        for (Row& row : output.rows) row[0].erase(row[0].find_last_not_of(' ') + 1);
        EXPECT_EQ(Sorted(output.rows), Sorted(expected)) << is_twice << memory_bytes;
      }
    }
  }
  EXPECT_TRUE(spills_one);
}

// Keys that batches have by the numbers of their build rows: of one build or of two, null rows, a row's columns read
// by nobody else or also by a filter or an aggregate, passed on by projections, one build or both on disk.
TEST(Join, GroupsByRowsOfBuildSides) {
  std::mt19937 random(9);
  const PenumbraJoinKind pair_kinds[] = {PENUMBRA_JOIN_INNER, PENUMBRA_JOIN_LEFT, PENUMBRA_JOIN_RIGHT,
                                         PENUMBRA_JOIN_FULL};
  for (int round = 0; round < 48; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PenumbraType type = kKeyTypes[round % std::size(kKeyTypes)];
    // Of many rows of c a table of all combinations is too large, and the keys of all pairs are read.
    const uint32_t c_count = round % 5 == 0 ? 4000 : 40;
    auto relation = [&](uint32_t rows, uint32_t distinct) {
      return RandomRelation(random, PENUMBRA_INT4, type, rows, distinct, 5);
    };
    const Relation a = relation(4000, 60);
    Relation b = relation(60, 60), c = relation(c_count, c_count);
    // A row whose keys are null is in the group of what has no row.
    if (round % 3 == 1) b.rows[7][1] = b.rows[7][2] = b.rows[7][3] = Value();
    c.rows[1][3] = Value();
    const Loaded a_rows(a, true, round % 2 == 0), b_rows(b, true, false), c_rows(c, round % 3 == 0, round % 3 != 0);
    const NaiveJoin lower{pair_kinds[random() % 4], false, {{0, 0}}};
    const int upper_key = round % 2;
    NaiveJoin upper{pair_kinds[random() % 4], false, {{upper_key, upper_key}}};
    if (round % 7 == 0) upper.conditions = {{6, 10}};  // reads a key
    const bool filters = round % 4 == 1;               // so does this, between the joins,
    const int greatest_of = round % 4 == 2 ? 6 : 2;    // and this aggregate
    Relation joined, pairs;
    ASSERT_TRUE(lower.Run(a, b, &joined));
    if (filters) std::erase_if(joined.rows, [](const auto& row) { return row[6].is_null() || row[6].shown >= "5"; });
    ASSERT_TRUE(upper.Run(joined, c, &pairs));
    struct Group {
      uint64_t rows = 0;
      std::string greatest = "NULL";
    };
    // By the name of a row of b, its second key and its digit, and the name of a row of c.
    std::map<Row, Group> groups;
    for (const auto& row : pairs.rows) {
      const std::string second = row[5].shown == "-nan" ? "nan" : row[5].shown;
      Group& group = groups[{row[7].shown, second, row[6].shown, row[11].shown}];
      ++group.rows;
      const Value& value = row[greatest_of];
      if (!value.is_null() && (group.greatest == "NULL" || value.shown > group.greatest)) group.greatest = value.shown;
    }
    std::vector<Row> expected;
    for (const auto& [key, group] : groups) {
      expected.push_back(key);
      expected.back().insert(expected.back().end(), {std::to_string(group.rows), group.greatest});
    }
    PlanBuilder plan(a.types);
    const PenumbraOperator b_scan = plan.Scan(b.types), c_scan = plan.Scan(c.types);
    AddJoin(plan, plan.scan(), b_scan, lower);
    if (filters) {
      plan.Filter({plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL, {plan.Column(6), plan.Constant(PENUMBRA_INT4, "5")})});
    }
    AddJoin(plan, plan.current(), c_scan, upper);
    // The name of b twice: one of them is read by nobody, or both are.
    plan.Project(
        {plan.Column(7), plan.Column(11), plan.Column(greatest_of), plan.Column(6), plan.Column(5), plan.Column(7)});
    plan.Aggregate({plan.Column(0), plan.Column(4), plan.Column(3), plan.Column(1)},
                   {CountStar(), Aggregate(PENUMBRA_AGG_MAX, PENUMBRA_INT4, plan.Column(2)),
                    Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, plan.Column(round % 6 == 5 ? 5 : 2))});
    for (size_t memory_bytes : {kEnoughMemory, size_t{400} << 10, kNoMemory}) {
      const ScanInput first = a_rows.Input(plan.scan());
      Output output = test::Run(
          plan, {first.chunks, first.pushed, {b_rows.Input(b_scan), c_rows.Input(c_scan)}, round % 4, memory_bytes});
      ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
      for (Row& row : output.rows) {
        row.pop_back();
        if (row[1] == "-nan") row[1] = "nan";
      }
      EXPECT_TRUE(Sorted(output.rows) == Sorted(expected)) << memory_bytes;
    }
  }
}

// A top-N tells a scan or a join below which rows matter: joins and filters in between may drop those that it told.
TEST(Join, BelowATopN) {
  std::mt19937 random(10);
  const PenumbraJoinKind kinds[] = {PENUMBRA_JOIN_INNER, PENUMBRA_JOIN_LEFT, PENUMBRA_JOIN_RIGHT,
                                    PENUMBRA_JOIN_FULL,  PENUMBRA_JOIN_SEMI, PENUMBRA_JOIN_ANTI};
  for (int round = 0; round < 72; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PenumbraType type = kKeyTypes[round % std::size(kKeyTypes)];
    // Of many keys a build row may have its only match late.
    const uint32_t distinct = round % 4 < 2 ? 60 : 6000;
    const Relation a = RandomRelation(random, PENUMBRA_INT4, type, 9000, distinct, 5);
    const Relation b = RandomRelation(random, PENUMBRA_INT4, type, 80, distinct, 5);
    const Relation c = RandomRelation(random, PENUMBRA_INT4, type, 60, distinct, 5);
    const Loaded a_rows(a, true, round % 2 == 0), b_rows(b, true, false), c_rows(c, true, false);
    const NaiveJoin lower{kinds[random() % 6], false, {{0, 0}}};
    const NaiveJoin upper{kinds[random() % 6], false, {{1, 1}}};
    Relation joined, rows;
    ASSERT_TRUE(lower.Run(a, b, &joined));
    ASSERT_TRUE(upper.Run(joined, c, &rows));
    const int width = static_cast<int>(rows.types.size());
    const bool filters = random() % 2 == 0;
    if (filters) std::erase_if(rows.rows, [](const auto& row) { return row[2].is_null() || row[2].shown >= "3"; });
    // The name of a row of a, b or c.
    const int key = 3 + 4 * static_cast<int>(random() % (width / 4));
    const bool descending = random() % 2 == 0, nulls_first = random() % 2 == 0;
    std::vector<std::string> names, nulls;
    for (const auto& row : rows.rows) (row[key].is_null() ? nulls : names).push_back(row[key].shown);
    std::sort(names.begin(), names.end());
    if (descending) std::reverse(names.begin(), names.end());
    names.insert(nulls_first ? names.begin() : names.end(), nulls.begin(), nulls.end());
    const size_t wanted = random() % 2 == 0 ? 5 : 300;
    names.resize(std::min(names.size(), wanted));
    PlanBuilder plan(a.types);
    const PenumbraOperator b_scan = plan.Scan(b.types), c_scan = plan.Scan(c.types);
    AddJoin(plan, plan.scan(), b_scan, lower);
    AddJoin(plan, plan.current(), c_scan, upper);
    if (filters) {
      plan.Filter({plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL, {plan.Column(2), plan.Constant(PENUMBRA_INT4, "3")})});
    }
    plan.Project({plan.Column(0), plan.Column(key)});
    plan.Sort({{plan.Column(1), descending, nulls_first}}, static_cast<int64_t>(wanted));
    for (size_t memory_bytes : {kEnoughMemory, kNoMemory}) {
      const ScanInput first = a_rows.Input(plan.scan());
      const Output output = test::Run(
          plan, {first.chunks, first.pushed, {b_rows.Input(b_scan), c_rows.Input(c_scan)}, round % 4, memory_bytes});
      ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
      std::vector<std::string> given;
      for (const Row& row : output.rows) given.push_back(row[1]);
      EXPECT_EQ(given, names) << memory_bytes;
    }
  }
}

}  // namespace
}  // namespace penumbra::test
