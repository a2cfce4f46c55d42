// The deepest expressions that a plan takes, and the stack that evaluating them needs.
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstring>
#include <functional>
#include <memory>

#include "expression/expr.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStackLimit = 7 * kEvaluationStackBytes;  // of the threads' 8
#else
constexpr size_t kStackLimit = kEvaluationStackBytes;
#endif
constexpr uint32_t kRows = 2048;
const std::vector<PenumbraType> kTypes = {PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_TEXT, PENUMBRA_NUMERIC};

Table MakeTable(uint32_t rows) {
  return Table(kTypes, rows, [](uint32_t row, int column) -> Cell {
    if (row % 11 == 3) return std::nullopt;
    return column == 2 ? "s" + std::to_string(row % 5) : std::to_string(row % 100);
  });
}

// One more level over `below`.
using Grow = std::function<PenumbraExpr(PlanBuilder& plan, PenumbraExpr below)>;

struct Shape {
  const char* name;
  int column;  // at the bottom
  int levels;  // that one step adds
  Grow grow;
};

PenumbraExpr IsOdd(PlanBuilder& plan) {
  const PenumbraExpr two = plan.Constant(PENUMBRA_INT4, "2");
  return plan.Call(
      PENUMBRA_FN_EQ, PENUMBRA_BOOL,
      {plan.Call(PENUMBRA_FN_MOD, PENUMBRA_INT4, {plan.Column(0), two}), plan.Constant(PENUMBRA_INT4, "1")});
}

const Shape kShapes[] = {
    {"integer", 0, 1,
     [](PlanBuilder& plan, PenumbraExpr below) {
       return plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {below, plan.Constant(PENUMBRA_INT4, "1")});
     }},
    {"numeric", 3, 1,
     [](PlanBuilder& plan, PenumbraExpr below) {
       return plan.Call(PENUMBRA_FN_ADD, PENUMBRA_NUMERIC, {below, plan.Constant(PENUMBRA_NUMERIC, "1.5")});
     }},
    {"text", 2, 1,
     [](PlanBuilder& plan, PenumbraExpr below) {
       return plan.Call(PENUMBRA_FN_CONCAT, PENUMBRA_TEXT, {below, plan.Constant(PENUMBRA_TEXT, "x")});
     }},
    {"case, in its result", 0, 2,
     [](PlanBuilder& plan, PenumbraExpr below) {
       const PenumbraExpr one = plan.Constant(PENUMBRA_INT4, "1");
       return plan.Call(PENUMBRA_FN_CASE, PENUMBRA_INT4,
                        {IsOdd(plan), plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {below, one}), one});
     }},
    {"case, in its condition", 0, 2,
     [](PlanBuilder& plan, PenumbraExpr below) {
       const PenumbraExpr one = plan.Constant(PENUMBRA_INT4, "1");
       return plan.Call(PENUMBRA_FN_CASE, PENUMBRA_INT4,
                        {plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {below, one}), plan.Column(0), one});
     }},
    {"coalesce", 0, 1,
     [](PlanBuilder& plan, PenumbraExpr below) {
       return plan.Call(PENUMBRA_FN_COALESCE, PENUMBRA_INT4, {below, plan.Constant(PENUMBRA_INT4, "7")});
     }},
    {"nullif", 0, 1,
     [](PlanBuilder& plan, PenumbraExpr below) {
       return plan.Call(PENUMBRA_FN_NULLIF, PENUMBRA_INT4, {below, plan.Constant(PENUMBRA_INT4, "7")});
     }},
    {"greatest", 0, 1,
     [](PlanBuilder& plan, PenumbraExpr below) {
       return plan.Call(PENUMBRA_FN_GREATEST, PENUMBRA_INT4, {below, plan.Column(0)});
     }},
    {"and, or, in a case", 0, 4,
     [](PlanBuilder& plan, PenumbraExpr below) {
       // Each level sees a part of the rows only, since division can fail.
       const PenumbraExpr one = plan.Constant(PENUMBRA_INT4, "1");
       const PenumbraExpr quotient =
           plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {plan.Constant(PENUMBRA_INT4, "100"), below});
       const PenumbraExpr both = plan.Call(PENUMBRA_FN_AND, PENUMBRA_BOOL,
                                           {IsOdd(plan), plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {quotient, one})});
       return plan.Call(PENUMBRA_FN_CASE, PENUMBRA_INT4, {both, plan.Column(0), one});
     }},
};

// As deep as the engine takes it.
PenumbraExpr Deepest(PlanBuilder& plan, const Shape& shape) {
  PenumbraExpr expr = plan.Column(shape.column);
  for (int depth = 0; depth + shape.levels <= kExprDepthMax - 1; depth += shape.levels) {
    expr = shape.grow(plan, expr);
  }
  return expr;
}

// And a boolean alternation as deep.
PenumbraExpr DeepestLogic(PlanBuilder& plan) {
  PenumbraExpr expr = IsOdd(plan);
  const PenumbraExpr other =
      plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL,
                {plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {plan.Constant(PENUMBRA_INT4, "100"), plan.Column(0)}),
                 plan.Constant(PENUMBRA_INT4, "3")});
  for (int depth = 4; depth + 3 <= kExprDepthMax; depth += 3) {
    expr = plan.Call(PENUMBRA_FN_AND, PENUMBRA_BOOL, {IsOdd(plan), expr, other});
    expr = plan.Call(PENUMBRA_FN_NOT, PENUMBRA_BOOL, {expr});
    expr = plan.Call(PENUMBRA_FN_OR, PENUMBRA_BOOL, {IsOdd(plan), expr, other});
  }
  return expr;
}

// Runs `work` on a thread and returns how many bytes of its stack it wrote.
size_t MeasureStack(std::function<void()> work) {
  constexpr size_t kBytes = size_t{16} << 20;
  constexpr size_t kAlignment = 4096;
  constexpr unsigned char kPaint = 0xA5;
  auto* stack = static_cast<unsigned char*>(std::aligned_alloc(kAlignment, kBytes));
  std::memset(stack, kPaint, kBytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, kBytes);
  pthread_t thread;
  auto run = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  size_t untouched = 0;
  while (untouched < kBytes && stack[untouched] == kPaint) ++untouched;
  std::free(stack);
  return kBytes - untouched;
}

size_t StackOf(const PlanBuilder& plan, const Chunk& chunk, const Table& pushed) {
  PenumbraCode code = PENUMBRA_INTERNAL;
  const size_t bytes = MeasureStack([&] {
    Input input;
    input.chunks = {&chunk};
    input.pushed = {&pushed};
    code = test::Run(plan, input).status.code;
  });
  EXPECT_TRUE(code == PENUMBRA_OK || code == PENUMBRA_DIVISION_BY_ZERO) << code;
  return bytes;
}

TEST(DepthTest, TheDeepestFitTheStack) {
  const Table table = MakeTable(kRows);
  const Chunk chunk(table);
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(shape.name);
    PlanBuilder projected(kTypes);
    projected.Project({Deepest(projected, shape)});
    const size_t bytes = StackOf(projected, chunk, table);
    RecordProperty(shape.name, static_cast<int>(bytes));
    std::printf("%-24s %zu bytes of stack\n", shape.name, bytes);
    EXPECT_LT(bytes, kStackLimit);
  }
  PlanBuilder filtered(kTypes);
  filtered.Filter({DeepestLogic(filtered)});
  const size_t bytes = StackOf(filtered, chunk, table);
  std::printf("%-24s %zu bytes of stack\n", "logic", bytes);
  EXPECT_LT(bytes, kStackLimit);
}

TEST(DepthTest, DeeperOnesAreRefused) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(shape.name);
    PlanBuilder plan(kTypes);
    PenumbraExpr expr = Deepest(plan, shape);
    PenumbraPlan* raw = const_cast<PenumbraPlan*>(plan.plan());
    const PenumbraType type = penumbra_plan_expr_type(raw, expr);
    const PenumbraExpr args[] = {expr, expr};
    for (int i = 0; expr >= 0 && i < 2 * shape.levels; ++i) {
      const PenumbraExpr again[] = {expr, args[1]};
      expr = penumbra_plan_call(raw, PENUMBRA_FN_COALESCE, type, again, 2);
    }
    EXPECT_LT(expr, 0);
    EXPECT_STREQ(plan.reason(), "expression too deep");
  }
}

// Only depth is bounded.
TEST(DepthTest, WideOnesAreTaken) {
  constexpr int kWidth = 20000;
  const Table table = MakeTable(kRows);
  const Chunk chunk(table);
  PlanBuilder plan(kTypes);
  std::vector<PenumbraExpr> args;
  for (int i = 0; i < kWidth; ++i) {
    args.push_back(plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL,
                             {plan.Column(0), plan.Constant(PENUMBRA_INT4, std::to_string(i * 3))}));
  }
  PenumbraPlan* raw = const_cast<PenumbraPlan*>(plan.plan());
  const PenumbraExpr any = penumbra_plan_call(raw, PENUMBRA_FN_OR, PENUMBRA_BOOL, args.data(), kWidth);
  ASSERT_GE(any, 0) << plan.reason();
  plan.Filter({any});
  Input input;
  input.chunks = {&chunk};
  input.pushed = {&table};
  const Output output = test::Run(plan, input);
  EXPECT_EQ(output.status.code, PENUMBRA_OK);
  EXPECT_FALSE(output.rows.empty());
}

}  // namespace
}  // namespace penumbra::test
