// HAVING on tables that lie in the order of a key: groups that one batch has alone are dropped at once, and no others.
// Against a map of all groups, in tables that keep their order well, badly and not at all.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/query.h"

namespace penumbra::test {
namespace {

constexpr uint32_t kRows = 60000;

struct Shape {
  const char* name;
  PenumbraType key_type;
  int rows_per_group;
  int64_t step;            // from one key to the next
  int moved_percent;       // rows exchanged with one anywhere
  int near_moved_percent;  // with one of the next 50
  int null_percent;
  bool drops;  // whether groups must have been dropped at once
  bool has_even_groups = false;
  int last_moved = 0;  // of the last rows, which get keys of any others
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class OwnGroups : public ::testing::TestWithParam<Shape> {
 protected:
  static constexpr int kKey = 0, kFlag = 1, kValue = 2, kWide = 3, kText = 4;

  void SetUp() override {
    const Shape& shape = GetParam();
    std::mt19937 random(7);
    const auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    int64_t key = shape.key_type == PENUMBRA_INT2 ? -3000 : -5;
    for (uint32_t i = 0; i < kRows; ++i) {
      keys_.push_back(std::to_string(key));
      const bool is_last =
          shape.has_even_groups ? (i + 1) % shape.rows_per_group == 0 : below(shape.rows_per_group) == 0;
      if (is_last) key += shape.step;
    }
    for (uint32_t i = 0; i < kRows; ++i) {
      if (below(100) < static_cast<uint32_t>(shape.moved_percent)) std::swap(keys_[i], keys_[below(kRows)]);
      if (below(100) < static_cast<uint32_t>(shape.near_moved_percent))
        std::swap(keys_[i], keys_[std::min(kRows - 1, i + below(50))]);
      if (below(100) < static_cast<uint32_t>(shape.null_percent)) keys_[i] = std::nullopt;
    }
    for (int i = 1; i <= shape.last_moved; ++i) keys_[kRows - i] = keys_[below(kRows)];
    for (uint32_t i = 0; i < kRows; ++i) {
      flags_.push_back(below(3));
      values_.push_back(below(100));
    }
  }

  Cell CellOf(uint32_t row, int column) const {
    switch (column) {
      case kKey: return keys_[row];
      case kFlag: return "f" + std::to_string(flags_[row]);
      case kValue: return values_[row] == 0 ? Cell() : std::to_string(values_[row]);
      // Some do not fit into 128 bits.
      case kWide: return std::to_string(values_[row]) + (values_[row] % 10 == 1 ? std::string(40, '7') : "") + ".25";
      default: return "text of more than twelve bytes " + std::to_string(values_[row]);
    }
  }

  std::vector<PenumbraType> Types() const {
    return {GetParam().key_type, PENUMBRA_TEXT, PENUMBRA_INT4, PENUMBRA_NUMERIC, PENUMBRA_TEXT};
  }
  Table MakeTable(uint32_t begin, uint32_t end) const {
    return Table(Types(), end - begin, [this, begin](uint32_t row, int column) { return CellOf(begin + row, column); });
  }

  // Of the groups of the rows that are visible: the key's, or the key's and the flag's.
  std::vector<Row> Expected(bool by_flag, int count_above, const std::vector<bool>& is_visible) const {
    struct Group {
      int64_t rows = 0, sum = 0;
      bool has_sum = false;
      std::string greatest;
    };
    std::map<std::pair<std::string, std::string>, Group> groups;
    for (uint32_t i = 0; i < kRows; ++i) {
      if (!is_visible[i]) continue;
      Group& group = groups[{keys_[i].value_or("NULL"), by_flag ? *CellOf(i, kFlag) : ""}];
      ++group.rows;
      group.sum += values_[i];
      group.has_sum |= values_[i] != 0;
      group.greatest = std::max(group.greatest, *CellOf(i, kText));
    }
    std::vector<Row> rows;
    for (const auto& [key, group] : groups) {
      if (group.rows <= count_above) continue;
      Row& row = rows.emplace_back(Row{key.first});
      if (by_flag) row.push_back(key.second);
      row.push_back(std::to_string(group.rows));
      row.push_back(group.has_sum ? std::to_string(group.sum) : "NULL");
      row.push_back(group.greatest);
    }
    return Sorted(std::move(rows));
  }

  // SELECT key [, flag], count(*), sum(value), max(text) GROUP BY key [, flag] HAVING count(*) > count_above
  void Build(PlanBuilder* plan, bool by_flag, int count_above) const {
    const auto sum = Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, plan->Column(kValue));
    const auto greatest = Aggregate(PENUMBRA_AGG_MAX, PENUMBRA_TEXT, plan->Column(kText));
    if (by_flag) {
      plan->Aggregate({plan->Column(kKey), plan->Column(kFlag)}, {CountStar(), sum, greatest});
    } else {
      plan->Aggregate({plan->Column(kKey)}, {CountStar(), sum, greatest});
    }
    const PenumbraExpr limit = plan->Constant(PENUMBRA_INT8, std::to_string(count_above));
    const PenumbraExpr never = plan->Constant(PENUMBRA_INT8, "-1");
    const PenumbraExpr count = plan->Column(by_flag ? 2 : 1);
    plan->Filter({plan->Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {count, limit}),
                  plan->Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {count, never})});
  }

  static uint64_t DroppedGroups(const Output& output) {
    uint64_t dropped = 0;
    for (const PenumbraOperatorStats& stats : output.operators) {
      EXPECT_LE(stats.dropped_groups, stats.groups);
      dropped += stats.dropped_groups;
    }
    return dropped;
  }

  std::vector<Cell> keys_;
  std::vector<uint32_t> flags_, values_;
};

TEST_P(OwnGroups, OnlyThoseThatFailAreDropped) {
  std::vector<Table> tables;
  std::vector<Chunk> chunks;
  for (uint32_t begin = 0; begin < kRows; begin += 17000) {
    tables.push_back(MakeTable(begin, std::min(kRows, begin + 17000)));
    chunks.emplace_back(tables.back());
  }
  Input input;
  // Chunks need not come in the order of their keys.
  for (size_t c : {2, 0, 3, 1}) input.chunks.push_back(&chunks[c]);
  const std::vector<bool> all(kRows, true);
  for (bool by_flag : {false, true}) {
    for (int count_above : {0, 2, 8, 17000}) {
      const std::vector<Row> expected = Expected(by_flag, count_above, all);
      for (int threads : {0, 3}) {
        PlanBuilder plan(Types());
        Build(&plan, by_flag, count_above);
        input.threads = threads;
        const Output output = test::Run(plan, input);
        ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
        EXPECT_EQ(Sorted(output.rows), expected) << by_flag << count_above << threads;
        if (GetParam().drops && count_above == 8 && !by_flag) {
          EXPECT_GT(DroppedGroups(output), 0u);
        }
        if (count_above == 0) {
          EXPECT_EQ(DroppedGroups(output), 0u);
        }
      }
    }
  }
}

// Rows that are pushed may have any key: nothing is known of what a vector has alone.
TEST_P(OwnGroups, NoneWhereRowsMayCome) {
  const Table first = MakeTable(0, 40000), last = MakeTable(40000, kRows);
  const Chunk chunk(first);
  Input input;
  input.chunks = {&chunk};
  input.pushed = {&last};
  PlanBuilder plan(Types());
  Build(&plan, false, 3);
  const Output output = test::Run(plan, input);
  EXPECT_EQ(Sorted(output.rows), Expected(false, 3, std::vector<bool>(kRows, true)));
  EXPECT_EQ(DroppedGroups(output), 0u);
}

// But of those that are there before the start their keys are: their groups are not complete without them.
TEST_P(OwnGroups, BesideRowsThatComeFirst) {
  constexpr uint32_t kPushedRows = 500;
  const Table first = MakeTable(0, 30000), last = MakeTable(30000 + kPushedRows, kRows);
  const Table between = MakeTable(30000, 30000 + kPushedRows);
  const Chunk first_chunk(first), last_chunk(last);
  Input input;
  input.chunks = {&first_chunk, &last_chunk};
  input.pushed = {&between};
  input.pushes_first = true;
  for (int threads : {0, 3}) {
    PlanBuilder plan(Types());
    Build(&plan, false, 8);
    input.threads = threads;
    const Output output = test::Run(plan, input);
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(Sorted(output.rows), Expected(false, 8, std::vector<bool>(kRows, true)));
    if (GetParam().drops) {
      EXPECT_GT(DroppedGroups(output), 0u);
    }
  }
}

// Rows that are not visible, and rows that a filter drops.
TEST_P(OwnGroups, OfSomeRows) {
  const Table table = MakeTable(0, kRows);
  std::vector<PenumbraRowRange> ranges;
  std::vector<bool> is_visible(kRows);
  for (uint32_t begin = 0; begin < kRows; begin += 700) {
    ranges.push_back({begin, std::min(kRows, begin + 333)});
    std::fill(is_visible.begin() + begin, is_visible.begin() + ranges.back().end, true);
  }
  const Chunk chunk(table, ranges, true);
  Input input;
  input.chunks = {&chunk};
  PlanBuilder plan(Types());
  plan.Filter({plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL, {plan.Column(kValue), plan.Constant(PENUMBRA_INT4, "70")})});
  for (uint32_t i = 0; i < kRows; ++i) is_visible[i] = is_visible[i] && values_[i] > 0 && values_[i] < 70;
  Build(&plan, false, 2);
  EXPECT_EQ(Sorted(test::Run(plan, input).rows), Expected(false, 2, is_visible));
}

// Two codes of a dictionary may be one value to the key: these groups are not told apart by codes.
TEST_P(OwnGroups, OfKeysWithSeveralSpellings) {
  const std::vector<PenumbraType> types = {GetParam().key_type, PENUMBRA_TEXT, PENUMBRA_NUMERIC, PENUMBRA_BPCHAR};
  const auto cell = [this](uint32_t row, int column) -> Cell {
    const bool is_odd = values_[row] % 2 != 0;
    switch (column) {
      case 0: return keys_[row];
      case 1: return is_odd ? "TEXT" : "text";
      case 2: return is_odd ? "1.0" : "1.00";
      default: return is_odd ? "a" : "a  ";
    }
  };
  const Table table(types, kRows, cell);
  const Chunk chunk(table);
  Input input;
  input.chunks = {&chunk};
  std::map<std::string, int> groups;
  for (const Cell& key : keys_) ++groups[key.value_or("NULL")];
  std::vector<Row> expected;
  for (const auto& [key, rows] : groups) {
    if (rows > 3) expected.push_back({key, std::to_string(rows)});
  }
  for (int second : {1, 2, 3}) {
    PlanBuilder plan(types);
    const PenumbraExpr key =
        second == 1 ? plan.Call(PENUMBRA_FN_LOWER, PENUMBRA_TEXT, {plan.Column(1)}) : plan.Column(second);
    plan.Aggregate({plan.Column(0), key}, {CountStar()});
    plan.Filter({plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {plan.Column(2), plan.Constant(PENUMBRA_INT8, "3")})});
    plan.Project({plan.Column(0), plan.Column(2)});
    EXPECT_EQ(Sorted(test::Run(plan, input).rows), expected) << second;
  }
}

// States that point elsewhere, in groups that are dropped and in groups that stay; and on disk.
TEST_P(OwnGroups, WithWideSums) {
  const Table table = MakeTable(0, kRows);
  const Chunk chunk(table);
  Input input;
  input.chunks = {&chunk};
  const auto run = [&](bool has_projection, size_t memory_bytes) {
    PlanBuilder plan(Types());
    // With a step in between nothing is known of the batches.
    if (has_projection) plan.Project({plan.Column(0), plan.Column(1), plan.Column(2), plan.Column(3), plan.Column(4)});
    plan.Aggregate({plan.Column(kKey)}, {CountStar(), Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, plan.Column(kWide)),
                                         Aggregate(PENUMBRA_AGG_MIN, PENUMBRA_TEXT, plan.Column(kText))});
    plan.Filter({plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {plan.Column(1), plan.Constant(PENUMBRA_INT8, "3")})});
    input.memory_bytes = memory_bytes;
    const Output output = test::Run(plan, input);
    EXPECT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    if (has_projection) {
      EXPECT_EQ(DroppedGroups(output), 0u);
    }
    return Sorted(output.rows);
  };
  const std::vector<Row> expected = run(true, size_t{256} << 20);
  EXPECT_EQ(run(false, size_t{256} << 20), expected);
  EXPECT_EQ(run(false, size_t{1} << 20), expected);
}

INSTANTIATE_TEST_SUITE_P(
    , OwnGroups,
    ::testing::Values(Shape{"Sorted", PENUMBRA_INT8, 4, 4, 0, 0, 0, true},
                      Shape{"LongGroups", PENUMBRA_INT4, 3000, 1, 0, 0, 0, false},
                      Shape{"RowsOfTheirOwn", PENUMBRA_INT8, 1, 1, 0, 0, 0, true},
                      Shape{"FarApart", PENUMBRA_TIMESTAMP, 4, 86400000000, 0, 0, 0, true},
                      Shape{"Dates", PENUMBRA_DATE, 20, 1, 0, 0, 0, true},
                      Shape{"Narrow", PENUMBRA_INT2, 9, 1, 0, 0, 0, true},
                      Shape{"NearlySorted", PENUMBRA_INT8, 4, 2, 0, 5, 0, true},
                      Shape{"NearlySortedAndFarApart", PENUMBRA_INT8, 4, 100000, 0, 5, 0, false},
                      Shape{"FewAtTheEnd", PENUMBRA_INT8, 4, 1, 0, 0, 0, true, false, 40},
                      // The first chunk has one key, which the second has in its first vector only.
                      Shape{"OfWholeChunks", PENUMBRA_INT4, 17500, 1, 0, 0, 0, false, true},
                      Shape{"Disordered", PENUMBRA_INT4, 4, 1, 1, 0, 0, false},
                      Shape{"WithNulls", PENUMBRA_INT8, 4, 1, 0, 0, 3, true},
                      Shape{"OneKey", PENUMBRA_INT8, 1000000, 1, 0, 0, 0, false}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace penumbra::test
