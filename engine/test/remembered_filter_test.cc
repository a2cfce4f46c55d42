// What a scan learns of patterns: a later execution that is told of it gives the rows that it gives without, whatever
// the earlier one evaluated; and it evaluates nothing twice.
#include "scan/remembered_filter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "scan/remembered_rows.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

constexpr uint32_t kRows = 9000;  // four vectors and a part of one
enum TestedColumn { kNumber, kPlain, kCoded, kBlank, kColumns };
const std::vector<PenumbraType> kTypes = {PENUMBRA_INT4, PENUMBRA_TEXT, PENUMBRA_TEXT, PENUMBRA_BPCHAR};

uint32_t Scrambled(uint32_t row) { return row * 2654435761u >> 8; }

Cell CellOf(uint32_t row, int column) {
  const uint32_t scrambled = Scrambled(row);
  switch (column) {
    case kNumber: return std::to_string(row);
    case kPlain: return row % 11 == 0 ? Cell() : Cell("Https://host" + std::to_string(scrambled) + "/path");
    case kCoded: return row % 7 == 0 ? Cell() : Cell("word " + std::to_string(scrambled % 1300));
    default: return std::string(row % 3, 'x') + std::to_string(scrambled % 2000) + "  ";
  }
}

Table MakeTable() { return Table(kTypes, kRows, CellOf); }

using Condition = std::function<PenumbraExpr(PlanBuilder*)>;

PenumbraExpr Pattern(PlanBuilder* plan, PenumbraFunction function, int column, const char* pattern) {
  return plan->Call(function, PENUMBRA_BOOL, {plan->Column(column), plan->Constant(PENUMBRA_TEXT, pattern)});
}

PenumbraExpr Compare(PlanBuilder* plan, PenumbraFunction function, PenumbraExpr left, PenumbraType type,
                     const char* right) {
  return plan->Call(function, PENUMBRA_BOOL, {left, plan->Constant(type, right)});
}

PenumbraExpr LengthOf(PlanBuilder* plan, int column) {
  return plan->Call(PENUMBRA_FN_LENGTH, PENUMBRA_INT4, {plan->Column(column)});
}

const std::vector<Condition> kRemembered = {
    [](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_LIKE, kPlain, "%77%"); },
    [](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_LIKE, kPlain, "%nothing%"); },
    [](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_LIKE, kPlain, "Https%"); },
    [](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_NOT_LIKE, kPlain, "%5%"); },
    [](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_NOT_LIKE, kPlain, "%123%"); },
    [](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_ILIKE, kPlain, "https://HOST1%"); },
    [](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_LIKE, kCoded, "%9"); },
    [](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_LIKE, kBlank, "x_7%"); },
    [](PlanBuilder* plan) { return Compare(plan, PENUMBRA_FN_GT, LengthOf(plan, kPlain), PENUMBRA_INT4, "23"); },
    [](PlanBuilder* plan) {
      return plan->Call(
          PENUMBRA_FN_OR, PENUMBRA_BOOL,
          {Pattern(plan, PENUMBRA_FN_LIKE, kPlain, "%77%"), Pattern(plan, PENUMBRA_FN_LIKE, kPlain, "%4/%"),
           plan->Call(PENUMBRA_FN_IS_NULL, PENUMBRA_BOOL, {plan->Column(kPlain)})});
    },
};

std::string KeyOf(const PlanBuilder& plan, int number = 0) {
  PenumbraRememberedFilter filter;
  if (!penumbra_plan_remembered_filter(plan.Finish(), plan.scan(), number, &filter)) return {};
  return {static_cast<const char*>(filter.key), filter.key_bytes};
}

std::string KeyOf(const Condition& condition) {
  PlanBuilder plan(kTypes);
  plan.Filter({condition(&plan)});
  return KeyOf(plan);
}

TEST(RememberedFilter, KeysTellConditionsApart) {
  std::vector<Condition> conditions = kRemembered;
  conditions.push_back([](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_LIKE, kPlain, "%78%"); });
  conditions.push_back([](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_NOT_LIKE, kPlain, "%77%"); });
  conditions.push_back([](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_ILIKE, kPlain, "%77%"); });
  conditions.push_back(
      [](PlanBuilder* plan) { return Compare(plan, PENUMBRA_FN_GE, LengthOf(plan, kPlain), PENUMBRA_INT4, "23"); });
  conditions.push_back([](PlanBuilder* plan) {
    const PenumbraCollation collation{nullptr, PENUMBRA_CASE_LIBC, "C.UTF-8"};
    return plan->Call(PENUMBRA_FN_ILIKE, PENUMBRA_BOOL, {plan->Column(kPlain), plan->Constant(PENUMBRA_TEXT, "%77%")},
                      &collation);
  });
  std::map<std::string, size_t> keys;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const std::string key = KeyOf(conditions[i]);
    EXPECT_FALSE(key.empty()) << i;
    EXPECT_EQ(key, KeyOf(conditions[i])) << i;
    EXPECT_TRUE(keys.emplace(key, i).second) << i << " as " << keys[key];
  }
}

TEST(RememberedFilter, TheColumnIsNoPartOfTheKey) {
  const auto like = [](int column) {
    return KeyOf([column](PlanBuilder* plan) { return Pattern(plan, PENUMBRA_FN_LIKE, column, "%7%"); });
  };
  EXPECT_EQ(like(kPlain), like(kCoded));
  EXPECT_NE(like(kPlain), like(kBlank));  // of another type
}

TEST(RememberedFilter, WhatIsCheapOrMayFailIsNot) {
  const std::vector<Condition> conditions = {
      [](PlanBuilder* plan) { return Compare(plan, PENUMBRA_FN_EQ, plan->Column(kPlain), PENUMBRA_TEXT, "a"); },
      [](PlanBuilder* plan) { return Compare(plan, PENUMBRA_FN_GT, plan->Column(kNumber), PENUMBRA_INT4, "5"); },
      [](PlanBuilder* plan) {
        PenumbraExpr less =
            plan->Call(PENUMBRA_FN_SUB, PENUMBRA_INT4, {LengthOf(plan, kPlain), plan->Constant(PENUMBRA_INT4, "5")});
        return Compare(plan, PENUMBRA_FN_EQ, less, PENUMBRA_INT4, "5");
      },
      [](PlanBuilder* plan) {  // two columns
        return plan->Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {LengthOf(plan, kPlain), LengthOf(plan, kCoded)});
      },
      [](PlanBuilder* plan) {
        PenumbraExpr column = plan->Column(kPlain);
        return penumbra_plan_host_call(plan->plan(), 0, PENUMBRA_BOOL, &column, 1);
      },
  };
  for (const Condition& condition : conditions) EXPECT_EQ(KeyOf(condition), "");
}

// The condition, alone or behind one that drops rows of each vector first.
void AddFilter(const Condition& condition, bool has_other, PlanBuilder* plan) {
  PenumbraExpr tested = condition(plan);
  if (has_other) {
    PenumbraExpr other = Compare(plan, PENUMBRA_FN_LT, plan->Column(kNumber), PENUMBRA_INT4, "5000");
    plan->Filter({other, tested});
  } else {
    plan->Filter({tested});
  }
}

TEST(RememberedFilter, ARepeatEvaluatesNothing) {
  const Table table = MakeTable();
  const Chunk chunk(table);
  for (size_t i = 0; i < kRemembered.size(); ++i) {
    for (int threads : {0, 3}) {
      PlanBuilder plan(kTypes);
      AddFilter(kRemembered[i], false, &plan);
      Memory memory;
      Input input{{&chunk}};
      input.threads = threads;
      const std::vector<Row> expected = Sorted(test::Run(plan, input).rows);
      input.memory = &memory;
      const Output first = test::Run(plan, input);
      EXPECT_EQ(Sorted(first.rows), expected) << i;
      EXPECT_EQ(first.recalled_rows, 0u);
      ASSERT_EQ(memory[&chunk].size(), 1u);
      const std::vector<char> image = memory[&chunk][0];
      EXPECT_FALSE(image.empty()) << i;
      const Output second = test::Run(plan, input);
      EXPECT_EQ(Sorted(second.rows), expected) << i;
      EXPECT_EQ(second.recalled_rows, kRows) << i;
      EXPECT_EQ(second.recalled_vectors, expected.empty() ? 5u : 0u) << i;
      EXPECT_EQ(memory[&chunk][0], image) << "nothing was learned";
    }
  }
}

// What is known is believed: the answer is that of the image.
TEST(RememberedFilter, TheImageDecides) {
  const Table table = MakeTable();
  const Chunk chunk(table);
  PlanBuilder one(kTypes), other(kTypes);
  AddFilter(kRemembered[0], false, &one);
  AddFilter(kRemembered[3], false, &other);
  Memory memory;
  Input input{{&chunk}};
  input.memory = &memory;
  const std::vector<Row> rows = Sorted(test::Run(one, input).rows);
  EXPECT_FALSE(rows.empty());
  EXPECT_EQ(Sorted(test::Run(other, input).rows), rows);
}

// Rows that were not valid, or that another condition dropped, are not known.
TEST(RememberedFilter, OnlyEvaluatedRowsAreKnown) {
  const Table table = MakeTable();
  std::mt19937 random(7);
  const auto ranges = [&random] {
    std::vector<PenumbraRowRange> made;
    for (uint32_t row = random() % 3000; row < kRows; row += random() % 500) {
      const uint32_t end = std::min<uint32_t>(kRows, row + random() % 3000 + 1);
      made.push_back({row, end});
      row = end;
    }
    return made;
  };
  for (size_t i = 0; i < kRemembered.size(); ++i) {
    Memory memory;
    std::vector<std::vector<char>> learned;
    for (int round = 0; round < 12; ++round) {
      const Chunk chunk(table, ranges(), round % 3 == 0);
      PlanBuilder plan(kTypes);
      AddFilter(kRemembered[i], round % 2 == 1, &plan);
      Input input{{&chunk}};
      input.threads = round % 4;
      const std::vector<Row> expected = Sorted(test::Run(plan, input).rows);
      memory.clear();
      memory[&chunk] = learned;  // a chunk of the same rows
      input.memory = &memory;
      input.stops_early = round % 5 == 2;
      const std::vector<Row> rows = Sorted(test::Run(plan, input).rows);
      if (!input.stops_early) {
        EXPECT_EQ(rows, expected) << i << " in round " << round;
      }
      learned = memory[&chunk];
    }
    // What is known by now is right of all rows.
    const Chunk chunk(table);
    PlanBuilder plan(kTypes);
    AddFilter(kRemembered[i], false, &plan);
    Input input{{&chunk}};
    const std::vector<Row> expected = Sorted(test::Run(plan, input).rows);
    memory.clear();
    memory[&chunk] = learned;
    input.memory = &memory;
    const Output output = test::Run(plan, input);
    EXPECT_EQ(Sorted(output.rows), expected) << i;
    EXPECT_GT(output.recalled_rows, 0u);
  }
}

TEST(RememberedFilter, NothingIsLearnedOfASmallDictionary) {
  const Table table({PENUMBRA_TEXT, PENUMBRA_TEXT}, kRows, [](uint32_t row, int column) {
    return Cell(column == 0 ? "word " + std::to_string(row % 300) : std::string("one word"));
  });
  const Chunk chunk(table);
  for (int column : {0, 1}) {
    PlanBuilder plan(table.types());
    plan.Filter({Pattern(&plan, PENUMBRA_FN_LIKE, column, "%or%")});
    Memory memory;
    Input input{{&chunk}};
    input.memory = &memory;
    for (int round = 0; round < 2; ++round) {
      const Output output = test::Run(plan, input);
      EXPECT_EQ(output.rows.size(), kRows);
      EXPECT_EQ(output.recalled_rows, 0u);
    }
    EXPECT_TRUE(memory[&chunk].at(0).empty());
  }
}

TEST(RememberedFilter, EachConditionHasItsOwnMemory) {
  const Table table = MakeTable();
  const Chunk chunk(table);
  PlanBuilder plan(kTypes);
  plan.Filter({kRemembered[3](&plan), kRemembered[6](&plan), kRemembered[8](&plan)});
  EXPECT_NE(KeyOf(plan, 0), KeyOf(plan, 1));
  EXPECT_EQ(KeyOf(plan, 3), "");
  Memory memory;
  Input input{{&chunk}};
  const std::vector<Row> expected = Sorted(test::Run(plan, input).rows);
  EXPECT_FALSE(expected.empty());
  input.memory = &memory;
  for (int round = 0; round < 3; ++round) EXPECT_EQ(Sorted(test::Run(plan, input).rows), expected);
  EXPECT_EQ(memory[&chunk].size(), 3u);
}

TEST(RememberedFilter, AnImageOfOtherRowsSaysNothing) {
  const Table table = MakeTable();
  const Table fewer(kTypes, kRows - 1, CellOf);
  const Chunk chunk(table), other(fewer);
  PlanBuilder plan(kTypes);
  AddFilter(kRemembered[1], false, &plan);
  Memory memory;
  Input input{{&chunk}};
  input.memory = &memory;
  test::Run(plan, input);
  memory[&other] = memory[&chunk];
  input.chunks = {&other};
  EXPECT_EQ(test::Run(plan, input).recalled_rows, 0u);
}

TEST(RememberedRows, SetsAreWhatTheyWere) {
  std::mt19937 random(3);
  for (uint32_t count : {1u, 15u, 16u, 63u, 64u, 65u, 1000u, 2047u, 2048u}) {
    for (uint32_t of_thousand : {0u, 1u, 40u, 500u, 960u, 999u, 1000u}) {
      uint64_t bits[kValidityWords] = {}, decoded[kValidityWords];
      for (uint32_t i = 0; i < count; ++i) {
        if (random() % 1000 < of_thousand) bits[i / 64] |= uint64_t{1} << (i % 64);
      }
      std::vector<uint16_t> units = {1, 2, 3};
      const RowSetForm form = EncodeRowSet(bits, count, &units);
      EXPECT_LE(units.size() - 3, (count + 15) / 16);
      DecodeRowSet(form, units.data() + 3, count, decoded);
      for (uint32_t w = 0; w < (count + 63) / 64; ++w) EXPECT_EQ(bits[w], decoded[w]) << count << " " << of_thousand;
    }
  }
}

}  // namespace
}  // namespace penumbra::test
