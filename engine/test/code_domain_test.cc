// Expressions evaluated once per code of a frame against the same over rows that are not encoded.
#include <gtest/gtest.h>

#include <functional>

#include "support/query.h"

namespace penumbra::test {
namespace {

constexpr uint32_t kRows = 40000;
const std::vector<PenumbraType> kTypes = {PENUMBRA_DATE, PENUMBRA_INT4, PENUMBRA_INT2, PENUMBRA_NUMERIC,
                                          PENUMBRA_TIMESTAMP};

// A date of some 2,500; int4 below 5,000; int2 below 100, sometimes null; cents below 300, sometimes
// null; whole hours.
Table Events() {
  return Table(kTypes, kRows, [](uint32_t row, int column) -> Cell {
    const uint64_t hash = (uint64_t{row} * 8 + static_cast<uint32_t>(column) + 1) * 0x9e3779b97f4a7c15u >> 20;
    switch (column) {
      case 0: return std::to_string(static_cast<int64_t>(hash % 2500) - 1000);
      case 1: return std::to_string(hash % 5000);
      case 2: return hash % 10 == 0 ? Cell() : std::to_string(hash % 100);
      case 3: return hash % 10 == 0 ? Cell() : "1." + std::to_string(10 + hash % 90);
      default: return std::to_string(static_cast<int64_t>(hash % 9000) * 3600000000);
    }
  });
}

using Make = std::function<PenumbraExpr(PlanBuilder&)>;

std::vector<Row> GroupBy(const Make& key, const Input& input, const Make& filter) {
  PlanBuilder plan(kTypes);
  if (filter) plan.Filter({filter(plan)});
  plan.Aggregate({key(plan)}, {CountStar(), Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, plan.Column(1))});
  Output output = Run(plan, input);
  EXPECT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  return Sorted(std::move(output.rows));
}

// Over a chunk, chunks with threads, and rows; returns the number of groups.
size_t Check(const Make& key, const Make& filter = {}) {
  static const Table* const table = new Table(Events());
  static const Chunk* const chunk = new Chunk(*table);
  const std::vector<Row> expected = GroupBy(key, {.pushed = {table}}, filter);
  EXPECT_EQ(GroupBy(key, {.chunks = {chunk}}, filter), expected);
  std::vector<Row> twice = GroupBy(key, {.chunks = {chunk}, .pushed = {table}}, filter);
  EXPECT_EQ(GroupBy(key, {.chunks = {chunk, chunk}, .threads = 2}, filter), twice);
  return expected.size();
}

Make DatePart(PenumbraFunction function, PenumbraType result, const char* field, int column) {
  return [=](PlanBuilder& plan) {
    PenumbraExpr value = plan.Column(column);
    if (column == 0) value = plan.Call(PENUMBRA_FN_CAST, PENUMBRA_TIMESTAMP, {value});
    return plan.Call(function, result, {plan.Constant(PENUMBRA_TEXT, field), value});
  };
}

Make WithConstant(PenumbraFunction function, PenumbraType type, int column, const char* constant) {
  return [=](PlanBuilder& plan) {
    return plan.Call(function, type, {plan.Column(column), plan.Constant(type, constant)});
  };
}

TEST(CodeDomainTest, Dates) {
  EXPECT_EQ(Check(DatePart(PENUMBRA_FN_DATE_TRUNC, PENUMBRA_TIMESTAMP, "month", 0)), 83u);
  EXPECT_EQ(Check(DatePart(PENUMBRA_FN_DATE_TRUNC, PENUMBRA_TIMESTAMP, "day", 4)), 375u);
  EXPECT_EQ(Check(DatePart(PENUMBRA_FN_EXTRACT, PENUMBRA_NUMERIC, "month", 0)), 12u);
  EXPECT_EQ(Check(DatePart(PENUMBRA_FN_DATE_PART, PENUMBRA_FLOAT8, "dow", 0)), 7u);
}

TEST(CodeDomainTest, MoreResultsThanCodesOfAGroup) {
  EXPECT_EQ(Check(WithConstant(PENUMBRA_FN_MOD, PENUMBRA_INT4, 1, "3000")), 3000u);
  EXPECT_EQ(Check(WithConstant(PENUMBRA_FN_MOD, PENUMBRA_INT4, 1, "10")), 10u);
}

TEST(CodeDomainTest, Nulls) {
  EXPECT_EQ(Check(WithConstant(PENUMBRA_FN_DIV, PENUMBRA_INT2, 2, "7")), 16u);
  EXPECT_EQ(Check(WithConstant(PENUMBRA_FN_COALESCE, PENUMBRA_INT2, 2, "7")), 90u);
  EXPECT_GT(Check(WithConstant(PENUMBRA_FN_NULLIF, PENUMBRA_INT2, 2, "7")), 80u);
}

// Nulls in the chunk's first vectors only: from then on COALESCE is evaluated per code.
TEST(CodeDomainTest, NullsOfOtherVectors) {
  const Table table({PENUMBRA_INT2}, kRows, [](uint32_t row, int) -> Cell {
    return row < 3000 && row % 3 == 0 ? Cell() : std::to_string(row % 100);
  });
  const Chunk chunk(table);
  PlanBuilder plan({PENUMBRA_INT2});
  plan.Aggregate({WithConstant(PENUMBRA_FN_COALESCE, PENUMBRA_INT2, 0, "7")(plan),
                  WithConstant(PENUMBRA_FN_DIV, PENUMBRA_INT2, 0, "5")(plan)},
                 {CountStar()});
  const std::vector<Row> expected = Sorted(test::Run(plan, {.pushed = {&table}}).rows);
  EXPECT_EQ(expected.size(), 101u);
  EXPECT_EQ(Sorted(test::Run(plan, {.chunks = {&chunk}}).rows), expected);
}

TEST(CodeDomainTest, NumericScalesThatDiffer) {
  EXPECT_GT(Check(WithConstant(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, 3, "3")), 80u);
  EXPECT_GT(Check(WithConstant(PENUMBRA_FN_MOD, PENUMBRA_NUMERIC, 3, "0.7")), 20u);
}

TEST(CodeDomainTest, Texts) {
  const size_t groups = Check([](PlanBuilder& plan) {
    const auto is_below = [&](const char* limit) {
      return plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL, {plan.Column(1), plan.Constant(PENUMBRA_INT4, limit)});
    };
    return plan.Call(
        PENUMBRA_FN_CASE, PENUMBRA_TEXT,
        {is_below("100"), plan.Constant(PENUMBRA_TEXT, "few"), is_below("2000"),
         plan.Constant(PENUMBRA_TEXT, "a text of more than twelve bytes"), plan.Constant(PENUMBRA_TEXT, "many")});
  });
  EXPECT_EQ(groups, 3u);
}

// 100 / (x - 51) of the rows where x is not 51.
TEST(CodeDomainTest, EntriesThatFailDoNotMatterWhereNoRowHasThem) {
  const Make quotient = [](PlanBuilder& plan) {
    const PenumbraExpr difference =
        plan.Call(PENUMBRA_FN_SUB, PENUMBRA_INT2, {plan.Column(2), plan.Constant(PENUMBRA_INT2, "51")});
    return plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT2, {plan.Constant(PENUMBRA_INT2, "100"), difference});
  };
  const Make is_not_51 = [](PlanBuilder& plan) {
    return plan.Call(PENUMBRA_FN_NE, PENUMBRA_BOOL, {plan.Column(2), plan.Constant(PENUMBRA_INT2, "51")});
  };
  EXPECT_GT(Check(quotient, is_not_51), 20u);
  PlanBuilder plan(kTypes);
  plan.Aggregate({quotient(plan)}, {CountStar()});
  const Table table = Events();
  const Chunk chunk(table);
  EXPECT_EQ(test::Run(plan, {.chunks = {&chunk}}).status.code, PENUMBRA_DIVISION_BY_ZERO);
}

// Results that leave the engine do not point into what belongs to a chunk.
TEST(CodeDomainTest, Projection) {
  PlanBuilder plan(kTypes);
  plan.Project({DatePart(PENUMBRA_FN_DATE_TRUNC, PENUMBRA_TIMESTAMP, "year", 0)(plan)});
  const Table table = Events();
  const Chunk chunk(table);
  EXPECT_EQ(Sorted(test::Run(plan, {.chunks = {&chunk, &chunk}}).rows),
            Sorted(test::Run(plan, {.pushed = {&table, &table}}).rows));
}

}  // namespace
}  // namespace penumbra::test
