#include "join/join_table.h"

#include <gtest/gtest.h>

#include "expression/expr.h"
#include "function/registry.h"
#include "vector/error.h"

namespace penumbra::test {
namespace {

// What a table clears can be a large part of the budget.
TEST(JoinTableTest, LooksForCancellationWhileItIsCleared) {
  const std::unique_ptr<Expr> key = BuildColumn(0, PENUMBRA_INT8);
  JoinSpec spec;
  spec.keys.push_back({key.get(), key.get()});
  spec.build_types = {PENUMBRA_INT8};
  spec.probe_types = {PENUMBRA_INT8};
  spec.needed = {true, true};
  const Session session;
  ExecutionEnvironment environment(size_t{1} << 30, session);
  const JoinLayout layout(spec);
  JoinTable table(layout, &environment.budget, 0);
  const std::vector<uint64_t> partition_rows(JoinTable::kPartitions, 1000);
  table.Reserve(JoinForm::kHash, {}, partition_rows, environment);
  table.Reserve(JoinForm::kArray, {0, 1 << 20}, partition_rows, environment);
  environment.is_cancelled = true;
  EXPECT_THROW(table.Reserve(JoinForm::kHash, {}, partition_rows, environment), EngineError);
  EXPECT_THROW(table.Reserve(JoinForm::kArray, {0, 1 << 20}, partition_rows, environment), EngineError);
}

TEST(JoinTableTest, RowsHaveNumbers) {
  const std::unique_ptr<Expr> key = BuildColumn(0, PENUMBRA_INT8);
  const Session session;
  for (uint32_t width = 1; width < 40; ++width) {
    JoinSpec spec;
    spec.keys.push_back({key.get(), key.get()});
    spec.build_types.assign(width, width % 2 == 0 ? PENUMBRA_INT8 : PENUMBRA_TEXT);
    spec.needed.assign(width, true);
    ExecutionEnvironment environment(size_t{1} << 30, session);
    const JoinLayout layout(spec);
    JoinTable table(layout, &environment.budget, 0);
    const std::vector<uint64_t> partition_rows(JoinTable::kPartitions, 50);
    for (JoinForm form : {JoinForm::kHash, JoinForm::kArray}) {
      table.Reserve(form, {0, 5000}, partition_rows, environment);
      for (uint32_t i : {0u, 1u, 2u, 63u, 1000u, 3199u}) EXPECT_EQ(table.NumberOf(table.payload(i)), i) << width;
    }
  }
}

}  // namespace
}  // namespace penumbra::test
