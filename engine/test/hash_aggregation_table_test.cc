// When the table of groups takes keys, and what it remembers.
#include "aggregate/hash_aggregation_table.h"

#include <gtest/gtest.h>

#include <functional>

namespace penumbra {
namespace {

class GroupTableTest : public ::testing::Test {
 protected:
  // Gives the table a batch of values; the number of rows that it calls new, -1 if it takes none.
  int Feed(GroupTable& table, const std::function<int64_t(uint32_t row)>& value) {
    for (uint32_t i = 0; i < kVectorRows; ++i) values_[i] = value(i);
    Vector key;
    key.type = PENUMBRA_INT8;
    key.data = values_;
    if (!table.Encode(&key, 1, kVectorRows)) return -1;
    std::vector<uint16_t> new_rows;
    table.FindNew(kVectorRows, &new_rows);
    std::vector<char*> groups;
    for (uint16_t row : new_rows) groups.push_back(GroupOf(values_[row]));
    table.Enter(new_rows, groups.data());
    return static_cast<int>(new_rows.size());
  }
  // Whether the table gives the batch's rows the groups that they were entered with.
  bool KnowsAll(const GroupTable& table) const {
    std::vector<char*> groups(kVectorRows);
    table.Lookup(kVectorRows, groups.data());
    for (uint32_t i = 0; i < kVectorRows; ++i) {
      if (groups[i] != GroupOf(values_[i])) return false;
    }
    return true;
  }
  static char* GroupOf(int64_t value) { return reinterpret_cast<char*>((value + (int64_t{1} << 40)) * 8); }

  Session session_;
  ExecutionEnvironment environment_{size_t{64} << 20, session_};
  int64_t values_[kVectorRows];
};

TEST_F(GroupTableTest, RemembersGroupsAndGrowsWithTheRange) {
  GroupTable table(true, environment_);
  EXPECT_EQ(Feed(table, [](uint32_t row) { return row % 500; }), 500);
  EXPECT_TRUE(KnowsAll(table));
  EXPECT_EQ(Feed(table, [](uint32_t row) { return row % 500; }), 0);
  EXPECT_TRUE(KnowsAll(table));
  // A wider range is another table; what it knew is asked for again.
  EXPECT_EQ(Feed(table, [](uint32_t row) { return row % 2000; }), 2000);
  EXPECT_EQ(Feed(table, [](uint32_t row) { return -int64_t{row % 2000}; }), 2000);
  EXPECT_TRUE(KnowsAll(table));
  EXPECT_EQ(Feed(table, [](uint32_t row) { return -int64_t{row % 2000}; }), 0);
  table.Forget();
  EXPECT_EQ(Feed(table, [](uint32_t row) { return row % 7; }), 7);
}

TEST_F(GroupTableTest, RangesThatAreTooWideAreRefusedUntilEnoughRowsCame) {
  GroupTable table(false, environment_);
  const auto wide = [](uint32_t row) { return int64_t{row} * 1000; };
  EXPECT_EQ(Feed(table, wide), -1);
  for (int batch = 0; batch < 100; ++batch) Feed(table, wide);
  EXPECT_EQ(Feed(table, wide), 0);
  EXPECT_EQ(Feed(table, [](uint32_t row) { return row % 2 == 0 ? INT64_MIN : INT64_MAX; }), -1);
  EXPECT_EQ(Feed(table, wide), 0);
}

TEST_F(GroupTableTest, RestsWhenRowsDoNotRepeat) {
  GroupTable table(false, environment_);
  int64_t next = 0;
  int taken = 0;
  for (int batch = 0; batch < 300; ++batch) {
    taken += Feed(table, [&](uint32_t) { return next++; }) >= 0;
  }
  EXPECT_EQ(taken, 64);
}

TEST_F(GroupTableTest, StaysWithinItsShareOfTheBudget) {
  ExecutionEnvironment small(size_t{1} << 20, session_);
  GroupTable table(true, small);
  for (int batch = 0; batch < 200; ++batch) Feed(table, [](uint32_t row) { return row * 100; });
  EXPECT_LE(small.budget.peak_bytes(), size_t{128} << 10);
  EXPECT_GT(Feed(table, [](uint32_t row) { return row; }), 0);
  EXPECT_GT(small.budget.used_bytes(), 0u);
}

}  // namespace
}  // namespace penumbra
