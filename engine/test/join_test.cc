// Joins of random tables through the C interface, against a nested loop over their cells.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>

#include "plan/plan.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

// A cell, how a result shows it, and what it is equal to: cells of one class are equal.
struct Value {
  Cell cell;
  std::string shown = "NULL";
  std::string equality_class;

  bool is_null() const { return !cell.has_value(); }
};

struct Relation {
  std::vector<PenumbraType> types;
  std::vector<std::vector<Value>> rows;
};

std::string IntervalBytes(int32_t month, int32_t day, int64_t time_us) {
  const PenumbraInterval interval = {time_us, day, month};
  return {reinterpret_cast<const char*>(&interval), sizeof(interval)};
}

// Values of the type that a key may have: several ways to write one and the same.
Value KeyValue(PenumbraType type, uint32_t n) {
  const std::string number = std::to_string(n);
  const uint32_t way = n % 3;
  const std::string which = std::to_string(n / 3);
  switch (type) {
    case PENUMBRA_BOOL: {
      const bool is_true = n % 2 != 0;
      return {is_true ? "1" : "0", is_true ? "t" : "f", is_true ? "1" : "0"};
    }
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: {
      std::string text = number + ".5";
      if (n % 5 == 0) text = way == 0 ? "-0" : "0";
      if (n % 5 == 1) text = way == 0 ? "nan" : "-nan";
      const std::string shown = std::to_string(std::strtod(text.c_str(), nullptr));
      return {text, shown, n % 5 == 0 ? "zero" : n % 5 == 1 ? "nan" : shown};
    }
    case PENUMBRA_NUMERIC: {
      const char* endings[] = {"", ".0", ".000"};
      if (n % 7 == 0) return {"NaN", "NaN", "NaN"};
      // Some do not fit in 64 bits, some not in 128.
      const std::string digits = which + (n % 4 == 0 ? std::string(n % 8 == 0 ? 60 : 25, '7') : "");
      return {digits + endings[way], digits + endings[way], digits};
    }
    case PENUMBRA_INTERVAL: {
      const auto days = static_cast<int32_t>(n / 3);
      const std::string bytes = way == 0   ? IntervalBytes(0, days, 0)
                                : way == 1 ? IntervalBytes(0, 0, int64_t{days} * 86400 * 1000000)
                                           : IntervalBytes(days / 30, days % 30, 0);
      return {bytes, bytes, which};
    }
    case PENUMBRA_TEXT: {
      const std::string text = (n % 2 == 0 ? "a key longer than twelve bytes " : "") + number;
      return {text, text, text};
    }
    case PENUMBRA_BPCHAR: {
      const std::string text = (n % 6 < 3 ? "char of more than twelve bytes " : "c") + which;
      const std::string padded = text + std::string(way, ' ');
      return {padded, padded, text};
    }
    case PENUMBRA_UUID: {
      std::string bytes(16, 'u');
      std::memcpy(bytes.data() + 5, &n, 4);
      return {bytes, bytes, bytes};
    }
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMPTZ: {
      // Some ranges are narrow, some as wide as can be.
      const int64_t value = n % 50 == 49 ? INT64_MIN + n : n % 50 == 48 ? INT64_MAX - n : static_cast<int64_t>(n) - 100;
      return {std::to_string(value), std::to_string(value), std::to_string(value)};
    }
    default: return {number, number, number};
  }
}

constexpr PenumbraType kKeyTypes[] = {PENUMBRA_INT4,   PENUMBRA_INT8,      PENUMBRA_NUMERIC,     PENUMBRA_TEXT,
                                      PENUMBRA_BPCHAR, PENUMBRA_FLOAT8,    PENUMBRA_FLOAT4,      PENUMBRA_INTERVAL,
                                      PENUMBRA_DATE,   PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMPTZ, PENUMBRA_UUID,
                                      PENUMBRA_INT2,   PENUMBRA_BOOL};

// Two keys, then a number of one digit, which may be null, and a text that names the row.
Relation RandomRelation(std::mt19937& random, PenumbraType first_key, PenumbraType second_key, uint32_t rows,
                        uint32_t distinct, uint32_t null_percent) {
  Relation relation{{first_key, second_key, PENUMBRA_INT4, PENUMBRA_TEXT}, {}};
  for (uint32_t i = 0; i < rows; ++i) {
    std::vector<Value> row;
    for (int k = 0; k < 2; ++k) {
      const bool is_null = random() % 100 < null_percent;
      row.push_back(is_null ? Value() : KeyValue(relation.types[k], random() % distinct));
    }
    const std::string digit = std::to_string(random() % 10);
    row.push_back(random() % 20 == 0 ? Value() : Value{digit, digit, digit});
    const std::string name = "row " + std::to_string(i) + (i % 2 == 0 ? " of a long name" : "");
    row.push_back({name, name, name});
    relation.rows.push_back(std::move(row));
  }
  return relation;
}

Table MakeTable(const Relation& relation, size_t begin, size_t end) {
  return Table(relation.types, static_cast<uint32_t>(end - begin),
               [&](uint32_t row, int column) { return relation.rows[begin + row][column].cell; });
}

// A relation as chunks, pushed rows, or both.
class Loaded {
 public:
  Loaded(const Relation& relation, bool has_chunks, bool has_pushed) {
    const size_t rows = relation.rows.size();
    const size_t split = has_chunks && has_pushed ? rows / 2 : has_chunks ? rows : 0;
    for (size_t begin = 0; begin < split; begin += kChunkRows) {
      tables_.push_back(MakeTable(relation, begin, std::min(begin + kChunkRows, split)));
      chunks_.emplace_back(tables_.back());
    }
    if (has_pushed) pushed_.push_back(MakeTable(relation, split, rows));
  }
  ScanInput Input(PenumbraOperator scan) const {
    ScanInput input{scan, {}, {}};
    for (const Chunk& chunk : chunks_) input.chunks.push_back(&chunk);
    for (const Table& table : pushed_) input.pushed.push_back(&table);
    return input;
  }

 private:
  static constexpr size_t kChunkRows = 20000;
  std::vector<Table> tables_;
  std::vector<Chunk> chunks_;
  std::vector<Table> pushed_;
};

struct Key {
  int probe;
  int build;
  bool nulls_are_equal = false;
};
struct NaiveJoin {
  PenumbraJoinKind kind = PENUMBRA_JOIN_INNER;
  bool is_null_aware = false;
  std::vector<Key> keys;
  std::vector<std::pair<int, int>> less;  // conditions: a column of the pair is less than another, both of one digit

  bool IsMatch(const std::vector<Value>& probe, const std::vector<Value>& build) const {
    for (const Key& key : keys) {
      const Value &a = probe[key.probe], &b = build[key.build];
      if (a.is_null() || b.is_null() ? !(a.is_null() && b.is_null() && key.nulls_are_equal)
                                     : a.equality_class != b.equality_class) {
        return false;
      }
    }
    for (auto [left, right] : less) {
      auto at = [&](int c) { return c < static_cast<int>(probe.size()) ? probe[c] : build[c - probe.size()]; };
      if (at(left).is_null() || at(right).is_null() || at(left).shown >= at(right).shown) return false;
    }
    return true;
  }
  // False: an error.
  bool Run(const Relation& probe, const Relation& build, Relation* output) const;
};

std::vector<Value> Pair(std::vector<Value> left, const std::vector<Value>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

bool NaiveJoin::Run(const Relation& probe, const Relation& build, Relation* output) const {
  const std::vector<Value> no_probe(probe.types.size()), no_build(build.types.size());
  const bool has_pairs = kind == PENUMBRA_JOIN_INNER || kind == PENUMBRA_JOIN_LEFT || kind == PENUMBRA_JOIN_SINGLE ||
                         kind == PENUMBRA_JOIN_RIGHT || kind == PENUMBRA_JOIN_FULL;
  const bool is_right = kind == PENUMBRA_JOIN_RIGHT_SEMI || kind == PENUMBRA_JOIN_RIGHT_ANTI;
  output->types = is_right ? build.types : probe.types;
  if (has_pairs) output->types.insert(output->types.end(), build.types.begin(), build.types.end());
  if (kind == PENUMBRA_JOIN_MARK) output->types.push_back(PENUMBRA_BOOL);
  std::vector<bool> is_build_matched(build.rows.size());
  bool has_null_key = false;
  for (const auto& row : build.rows) has_null_key |= is_null_aware && row[keys[0].build].is_null();
  for (const auto& row : probe.rows) {
    int matches = 0;
    for (size_t b = 0; b < build.rows.size(); ++b) {
      if (!IsMatch(row, build.rows[b])) continue;
      ++matches;
      is_build_matched[b] = true;
      if (has_pairs) output->rows.push_back(Pair(row, build.rows[b]));
    }
    const bool is_unknown =
        is_null_aware && matches == 0 && !build.rows.empty() && (has_null_key || row[keys[0].probe].is_null());
    if (kind == PENUMBRA_JOIN_SINGLE && matches > 1) return false;
    const bool is_kept = kind == PENUMBRA_JOIN_LEFT || kind == PENUMBRA_JOIN_SINGLE || kind == PENUMBRA_JOIN_FULL;
    if (is_kept && matches == 0) output->rows.push_back(Pair(row, no_build));
    if (kind == PENUMBRA_JOIN_SEMI && matches > 0) output->rows.push_back(row);
    if (kind == PENUMBRA_JOIN_ANTI && matches == 0 && !is_unknown) output->rows.push_back(row);
    if (kind == PENUMBRA_JOIN_MARK) {
      output->rows.push_back(Pair(row, {is_unknown ? Value() : Value{"", matches > 0 ? "t" : "f", ""}}));
    }
  }
  for (size_t b = 0; b < build.rows.size(); ++b) {
    const bool is_rest = kind == PENUMBRA_JOIN_RIGHT || kind == PENUMBRA_JOIN_FULL;
    if (is_rest && !is_build_matched[b]) output->rows.push_back(Pair(no_probe, build.rows[b]));
    if (is_right && is_build_matched[b] == (kind == PENUMBRA_JOIN_RIGHT_SEMI)) output->rows.push_back(build.rows[b]);
  }
  return true;
}

std::vector<Row> Shown(const Relation& relation) {
  std::vector<Row> rows;
  for (const auto& values : relation.rows) {
    Row& row = rows.emplace_back();
    for (const Value& value : values) row.push_back(value.shown);
  }
  return Sorted(std::move(rows));
}

// Adds the join to the plan.
PenumbraOperator AddJoin(PlanBuilder& plan, PenumbraOperator probe, PenumbraOperator build, const NaiveJoin& join) {
  std::vector<PenumbraJoinKey> keys;
  for (const Key& key : join.keys) {
    keys.push_back({plan.ColumnOf(probe, key.probe), plan.ColumnOf(build, key.build), key.nulls_are_equal});
  }
  std::vector<PenumbraExpr> conditions;
  for (auto [left, right] : join.less) {
    conditions.push_back(plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL,
                                   {plan.PairColumn(probe, build, left), plan.PairColumn(probe, build, right)}));
  }
  return plan.Join(probe, build, join.kind, keys, conditions, join.is_null_aware);
}

constexpr PenumbraJoinKind kKinds[] = {
    PENUMBRA_JOIN_INNER,  PENUMBRA_JOIN_LEFT,  PENUMBRA_JOIN_SEMI, PENUMBRA_JOIN_ANTI,       PENUMBRA_JOIN_MARK,
    PENUMBRA_JOIN_SINGLE, PENUMBRA_JOIN_RIGHT, PENUMBRA_JOIN_FULL, PENUMBRA_JOIN_RIGHT_SEMI, PENUMBRA_JOIN_RIGHT_ANTI};

constexpr size_t kEnoughMemory = size_t{256} << 20;
constexpr size_t kNoMemory = 1000;  // everything is spilled

class JoinTest : public ::testing::TestWithParam<PenumbraJoinKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, JoinTest, ::testing::ValuesIn(kKinds));

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
    if (random() % 3 == 0) join.less.push_back({2, 6});
    if (random() % 6 == 0) join.less.push_back({6, 2});
    const bool can_be_null_aware = join.kind == PENUMBRA_JOIN_ANTI || join.kind == PENUMBRA_JOIN_MARK;
    if (can_be_null_aware && key_count == 1 && random() % 2 == 0) {
      join.is_null_aware = true;
      join.keys[0].nulls_are_equal = false;
      join.less.clear();
    }
    SCOPED_TRACE("round " + std::to_string(round));
    CheckJoin(probe, build, join, random);
  }
}

// Without a probe row nothing is built, but for the kinds that give build rows; with one the build is complete.
TEST_P(JoinTest, BuildsNothingWithoutAProbeRow) {
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
TEST(Join, SeveralWithEmptySides) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const NaiveJoin lower{kKinds[random() % std::size(kKinds)], false, {{0, 0}}};
    const NaiveJoin upper{kKinds[random() % std::size(kKinds)], false, {{0, 0}}};
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
TEST(Join, ThreadsSearchTheProbeSide) {
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

TEST(Join, SeveralInARow) {
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PenumbraJoinKind kinds[] = {kKinds[random() % std::size(kKinds)], kKinds[random() % std::size(kKinds)]};
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
    if (round % 7 == 0) upper.less = {{6, 10}};      // reads a key
    const bool filters = round % 4 == 1;             // so does this, between the joins,
    const int greatest_of = round % 4 == 2 ? 6 : 2;  // and this aggregate
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
  EXPECT_GT(stats.memory_peak_bytes, 0u);
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
  const std::vector<Operator>& operators = plan.plan()->operators();
  EXPECT_EQ(operators[probe].needed, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(operators[build].needed, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(operators[2].join.BuildColumnsKept(), (std::vector<int>{1}));
}

}  // namespace
}  // namespace penumbra::test
