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

}  // namespace
}  // namespace penumbra::test
