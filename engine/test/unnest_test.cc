// Unnesting against what it says of each row, and lists that are none.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>

#include "support/query.h"

namespace penumbra::test {
namespace {

using List = std::vector<Cell>;

template <typename T>
void Append(std::string* bytes, T value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// As PenumbraListHead says.
std::string ImageOf(PenumbraType type, const List& list) {
  std::string valid((list.size() + 7) / 8, '\0'), ends, values;
  bool has_nulls = false;
  size_t string_bytes = 0, end = 0;
  for (const Cell& cell : list) string_bytes += cell ? cell->size() : 0;
  const size_t end_bytes = string_bytes < 256 ? 1 : string_bytes < 65536 ? 2 : 4;
  for (size_t i = 0; i < list.size(); ++i) {
    has_nulls |= !list[i].has_value();
    if (list[i]) valid[i / 8] = static_cast<char>(valid[i / 8] | 1 << (i % 8));
    if (type == PENUMBRA_INT4) {
      Append(&values, list[i] ? std::stoi(*list[i]) : 0);
      continue;
    }
    if (list[i]) values += *list[i];
    end += list[i] ? list[i]->size() : 0;
    ends.append(reinterpret_cast<const char*>(&end), end_bytes);
  }
  uint32_t head = static_cast<uint32_t>(list.size()) << PENUMBRA_LIST_COUNT_SHIFT;
  if (has_nulls) head |= PENUMBRA_LIST_HAS_NULLS;
  if (type != PENUMBRA_INT4 && end_bytes == 2) head |= PENUMBRA_LIST_ENDS_OF_2_BYTES;
  if (type != PENUMBRA_INT4 && end_bytes == 4) head |= PENUMBRA_LIST_ENDS_OF_4_BYTES;
  std::string image;
  Append(&image, head);
  return image + (has_nulls ? valid : "") + ends + values;
}

struct Lists {
  Cell id;
  std::optional<List> integers, strings;
};

class RandomLists {
 public:
  explicit RandomLists(uint32_t seed) : random_(seed) {
    const uint32_t rows = 1 + Below(3000);
    distinct_ = std::vector<uint32_t>{3, 500, 1000000}[Below(3)];
    for (uint32_t i = 0; i < rows; ++i) rows_.push_back({std::to_string(i), MakeList(true), MakeList(false)});
  }
  Table Rows(uint32_t begin, uint32_t end) const {
    return Table({PENUMBRA_INT4, PENUMBRA_TEXT, PENUMBRA_TEXT}, end - begin, [&](uint32_t row, int column) -> Cell {
      const Lists& lists = rows_[begin + row];
      if (column == 0) return lists.id;
      const auto& list = column == 1 ? lists.integers : lists.strings;
      return list ? Cell(ImageOf(column == 1 ? PENUMBRA_INT4 : PENUMBRA_TEXT, *list)) : std::nullopt;
    });
  }
  std::vector<Row> Expected(bool keeps_empty) const {
    std::vector<Row> rows;
    for (const Lists& lists : rows_) {
      const List integers = lists.integers.value_or(List()), strings = lists.strings.value_or(List());
      const size_t count = std::max(integers.size(), strings.size());
      const auto shown = [](const List& list, size_t i) { return i < list.size() ? list[i].value_or("NULL") : "NULL"; };
      for (size_t i = 0; i < count; ++i) {
        rows.push_back({*lists.id, shown(integers, i), shown(strings, i), std::to_string(i + 1)});
      }
      if (count == 0 && keeps_empty) rows.push_back({*lists.id, "NULL", "NULL", "NULL"});
    }
    return rows;
  }
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }

 private:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }
  std::optional<List> MakeList(bool are_integers) {
    if (Below(9) == 0) return std::nullopt;
    List list(Below(300) == 0 ? Below(5000) : Below(6));
    const bool has_nulls = Below(2) == 0;
    for (Cell& cell : list) {
      if (has_nulls && Below(4) == 0) continue;
      const std::string value = std::to_string(Below(distinct_));
      cell = are_integers ? value : std::string(Below(20), 'x') + value;
    }
    return list;
  }

  std::mt19937 random_;
  uint32_t distinct_ = 1;
  std::vector<Lists> rows_;
};

const std::vector<PenumbraUnnestList> kBoth = {{1, PENUMBRA_INT4, false}, {2, PENUMBRA_TEXT, false}};

TEST(Unnest, RowsAreThoseOfEachList) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const RandomLists lists(seed);
    const uint32_t half = lists.size() / 2;
    const Table first = lists.Rows(0, half), second = lists.Rows(half, lists.size());
    const Chunk chunk(first);
    for (bool keeps_empty : {false, true}) {
      const std::vector<Row> expected = lists.Expected(keeps_empty);
      PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_TEXT, PENUMBRA_TEXT});
      plan.Unnest(kBoth, keeps_empty, true);
      plan.Project({plan.Column(0), plan.Column(3), plan.Column(4), plan.Column(5)});
      const Output output = test::Run(plan, {{&chunk}, {&second}, {}, static_cast<int>(seed % 3)});
      ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
      ASSERT_EQ(Sorted(output.rows), Sorted(expected)) << seed;

      // Of the string alone, which may have a code.
      PlanBuilder groups({PENUMBRA_INT4, PENUMBRA_TEXT, PENUMBRA_TEXT});
      groups.Unnest(kBoth, keeps_empty, false);
      groups.Aggregate({groups.Column(4)}, {CountStar()});
      const Output grouped = test::Run(groups, {{&chunk}, {&second}, {}, static_cast<int>(seed % 3)});
      std::map<std::string, int> counts;
      for (const Row& row : expected) ++counts[row[2]];
      std::vector<Row> rows;
      for (const auto& [string, count] : counts) rows.push_back({string, std::to_string(count)});
      ASSERT_EQ(Sorted(grouped.rows), Sorted(rows)) << seed;
    }
  }
}

// The sum counts the elements whose number is not the row's, modulo 3.
TEST(ListAggregation, RowsHaveTheAggregatesOfTheirElements) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const RandomLists lists(seed);
    const uint32_t half = lists.size() / 2;
    const Table first = lists.Rows(0, half), second = lists.Rows(half, lists.size());
    const Chunk chunk(first);
    struct Group {
      int64_t rows = 0, sum = 0, summed = 0;
      std::set<std::string> distinct;
      std::string last = "NULL";
      std::string greatest = "NULL";
    };
    std::map<std::string, Group> groups;
    for (uint32_t id = 0; id < lists.size(); ++id) groups[std::to_string(id)];
    for (const Row& row : lists.Expected(false)) {
      Group& group = groups[row[0]];
      ++group.rows;
      group.last = row[2];
      if (row[1] != "NULL" && std::stoll(row[3]) % 3 != std::stoll(row[0]) % 3) {
        group.sum += std::stoll(row[1]);
        ++group.summed;
      }
      if (row[2] != "NULL") group.distinct.insert(row[2]);
      if (row[2] != "NULL" && (group.greatest == "NULL" || row[2] > group.greatest)) group.greatest = row[2];
    }
    std::vector<Row> expected;
    for (const auto& [id, group] : groups) {
      expected.push_back({id, std::to_string(group.rows), group.summed > 0 ? std::to_string(group.sum) : "NULL",
                          group.greatest, std::to_string(group.distinct.size()), group.last});
    }
    PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_TEXT, PENUMBRA_TEXT});
    plan.Unnest(kBoth, false, true);
    const PenumbraExpr id = plan.Call(PENUMBRA_FN_CAST, PENUMBRA_INT8, {plan.Column(0)});
    const PenumbraExpr three = plan.Constant(PENUMBRA_INT8, "3");
    PenumbraAggregateCall sum = Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, plan.Column(3));
    sum.filter = plan.Call(PENUMBRA_FN_NE, PENUMBRA_BOOL,
                           {plan.Call(PENUMBRA_FN_MOD, PENUMBRA_INT8, {id, three}),
                            plan.Call(PENUMBRA_FN_MOD, PENUMBRA_INT8, {plan.Column(5), three})});
    PenumbraAggregateCall distinct = Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, plan.Column(4));
    distinct.distinct = true;
    const PenumbraSortKey backwards = {.expr = plan.Column(5), .descending = true};
    PenumbraAggregateCall last = Aggregate(PENUMBRA_AGG_FIRST, PENUMBRA_TEXT, plan.Column(4));
    last.order = &backwards;
    last.order_count = 1;
    plan.AggregateLists({CountStar(), sum, Aggregate(PENUMBRA_AGG_MAX, PENUMBRA_TEXT, plan.Column(4)), distinct, last});
    plan.Project({plan.Column(0), plan.Column(3), plan.Column(4), plan.Column(5), plan.Column(6), plan.Column(7)});
    const Output output = test::Run(plan, {{&chunk}, {&second}, {}, static_cast<int>(seed % 3)});
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    ASSERT_EQ(Sorted(output.rows), Sorted(expected)) << seed;
  }
}

TEST(ListAggregation, SecondElements) {
  for (const List& list : {List{}, List{"1"}, List{"1", "2"}}) {
    const Table table({PENUMBRA_TEXT}, 1, [&](uint32_t, int) -> Cell { return ImageOf(PENUMBRA_INT4, list); });
    PlanBuilder plan({PENUMBRA_TEXT});
    plan.Unnest({{0, PENUMBRA_INT4, false}}, false, false);
    plan.AggregateLists({CountStar()}, 0);
    EXPECT_EQ(test::Run(plan, {{}, {&table}}).status.code,
              list.size() > 1 ? PENUMBRA_CARDINALITY_VIOLATION : PENUMBRA_OK);
  }
}

TEST(ListAggregation, PlansThatAreRefused) {
  PlanBuilder plan({PENUMBRA_TEXT});
  const PenumbraAggregateCall count = CountStar();
  const auto aggregate = [&](const PenumbraAggregateCall& call, int single) {
    return penumbra_plan_aggregate_lists(plan.plan(), plan.current(), &call, 1, single);
  };
  EXPECT_FALSE(aggregate(count, -1)) << "no unnesting";
  plan.Unnest({{0, PENUMBRA_INT4, false}}, false, false);
  EXPECT_FALSE(aggregate(Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, plan.Column(1)), 0)) << "no count of rows";
  EXPECT_FALSE(aggregate(count, 1)) << "no such call";
  EXPECT_TRUE(aggregate(count, 0));
  EXPECT_FALSE(aggregate(count, 0)) << "twice";
}

TEST(Unnest, RowsComeAsOftenAsAColumnSays) {
  const std::vector<Cell> times = {"1", "0", std::nullopt, "-3", "2", "5000", "1", "2047", "3"};
  const Table table({PENUMBRA_INT8, PENUMBRA_INT4, PENUMBRA_TEXT}, 9000, [&](uint32_t row, int column) -> Cell {
    if (column == 0) return times[row % 2000 == 1999 ? 5 + row / 2000 % 4 : row % 5];
    return column == 1 ? Cell(std::to_string(row)) : row % 7 == 0 ? std::nullopt : Cell("t" + std::to_string(row % 3));
  });
  std::vector<Row> expected;
  for (uint32_t row = 0; row < 9000; ++row) {
    const Cell& count = times[row % 2000 == 1999 ? 5 + row / 2000 % 4 : row % 5];
    for (int i = 0; count && i < std::stoi(*count); ++i) {
      expected.push_back({std::to_string(row), row % 7 == 0 ? "NULL" : "t" + std::to_string(row % 3)});
    }
  }
  const Chunk chunk(table);
  for (int threads : {0, 2}) {
    PlanBuilder plan({PENUMBRA_INT8, PENUMBRA_INT4, PENUMBRA_TEXT});
    plan.Repeat(0);
    plan.Project({plan.Column(1), plan.Column(2)});
    const Output output = test::Run(plan, {{&chunk}, {}, {}, threads});
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    EXPECT_EQ(Sorted(output.rows), Sorted(expected));
  }
}

PenumbraCode CodeOfList(const std::string& image, PenumbraType element) {
  const Table table({PENUMBRA_TEXT}, 1, [&](uint32_t, int) -> Cell { return image; });
  PlanBuilder plan({PENUMBRA_TEXT});
  plan.Unnest({{0, element, true}}, false, false);
  const Output output = test::Run(plan, {{}, {&table}});
  return output.status.code;
}

TEST(Unnest, ListsThatAreNone) {
  std::string refused;
  Append(&refused, PENUMBRA_LIST_REFUSED);
  EXPECT_EQ(CodeOfList(refused, PENUMBRA_INT4), PENUMBRA_INVALID_ARGUMENT);
  EXPECT_EQ(CodeOfList("", PENUMBRA_INT4), PENUMBRA_CORRUPT);
  for (PenumbraType type : {PENUMBRA_INT4, PENUMBRA_TEXT}) {
    const std::string image = ImageOf(type, {"12", std::nullopt, "34567"});
    EXPECT_EQ(CodeOfList(image, type), PENUMBRA_OK);
    for (size_t bytes = 0; bytes < image.size(); ++bytes) {
      EXPECT_EQ(CodeOfList(image.substr(0, bytes), type), PENUMBRA_CORRUPT) << bytes;
    }
  }
}

TEST(Unnest, PlansOfWhatAreNoLists) {
  PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_TEXT});
  for (PenumbraUnnestList list : {PenumbraUnnestList{0, PENUMBRA_INT4, false},
                                  {2, PENUMBRA_INT4, false},
                                  {-1, PENUMBRA_INT4, false},
                                  {1, PENUMBRA_ARRAY, false}}) {
    const PenumbraUnnest unnest = {.lists = &list, .list_count = 1};
    EXPECT_LT(penumbra_plan_add_unnest(plan.plan(), plan.current(), &unnest), 0);
  }
  for (int times : {-1, 0, 2}) {
    const PenumbraUnnest nothing = {.times = times};
    EXPECT_LT(penumbra_plan_add_unnest(plan.plan(), plan.current(), &nothing), 0);
  }
  // Rows that a refused list may end have to be kept back.
  for (bool may_be_refused : {false, true}) {
    PlanBuilder streaming({PENUMBRA_TEXT});
    streaming.Unnest({{0, PENUMBRA_INT4, may_be_refused}}, false, false);
    ASSERT_TRUE(penumbra_plan_finish(streaming.plan(), streaming.current()));
    EXPECT_EQ(penumbra_plan_can_be_unsupported_late(streaming.plan()), may_be_refused);
  }
}

}  // namespace
}  // namespace penumbra::test
