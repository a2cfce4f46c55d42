// Numeric: what loading does per row, and functions over one vector.
#include <benchmark/benchmark.h>

#include <random>

#include "function/registry.h"
#include "numeric/numeric.h"

namespace penumbra {
namespace {

// Prices as TPC-H has them, packed.
std::vector<std::string> PackedPrices(int64_t limit, int scale) {
  std::mt19937_64 random(1);
  std::vector<std::string> prices;
  for (uint32_t i = 0; i < kVectorRows; ++i) {
    char bytes[kIntegerPayloadBytes];
    prices.emplace_back(bytes, IntegerToPayload(static_cast<int64_t>(random() % limit), scale, bytes));
  }
  return prices;
}

void BM_PayloadToInt64(benchmark::State& state) {
  const std::vector<std::string> prices = PackedPrices(state.range(0), 2);
  for (auto _ : state) {
    int64_t sum = 0;
    for (const std::string& price : prices) {
      int64_t value;
      int scale;
      if (PayloadToInt64(price.data(), static_cast<uint32_t>(price.size()), &value, &scale)) sum += value;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kVectorRows);
}
BENCHMARK(BM_PayloadToInt64)->Arg(100)->Arg(10000000)->Arg(100000000000000);

void BM_IntegerToPayload(benchmark::State& state) {
  char bytes[kIntegerPayloadBytes];
  for (auto _ : state) {
    for (int64_t i = 0; i < kVectorRows; ++i) {
      benchmark::DoNotOptimize(IntegerToPayload(state.range(0) + i, 2, bytes));
    }
  }
  state.SetItemsProcessed(state.iterations() * kVectorRows);
}
BENCHMARK(BM_IntegerToPayload)->Arg(100)->Arg(10000000)->Arg(100000000000000);

struct Column {
  std::vector<int64_t> values;
  Vector vector;
};

Column MakeColumn(int64_t limit, int scale) {
  std::mt19937_64 random(limit);
  Column column;
  for (uint32_t i = 0; i < kVectorRows; ++i) column.values.push_back(static_cast<int64_t>(random() % limit) + 1);
  Vector& v = column.vector;
  v.type = PENUMBRA_NUMERIC;
  v.scale = static_cast<int16_t>(scale);
  v.data = column.values.data();
  v.lower = 1;
  v.upper = limit;
  return column;
}

// A tree of calls, owned.
class Calls {
 public:
  const Expr* Column(int i) { return Keep(BuildColumn(i, PENUMBRA_NUMERIC)); }
  const Expr* Integer(int64_t value) {
    char bytes[kIntegerPayloadBytes];
    PenumbraValue constant = {};
    constant.bytes = bytes;
    constant.bytes_length = IntegerToPayload(value, 0, bytes);
    return Keep(BuildConstant(PENUMBRA_NUMERIC, constant));
  }
  const Expr* Call(PenumbraFunction function, PenumbraType result, const std::vector<const Expr*>& args) {
    std::string reason;
    return Keep(BuildCall(function, result, args, session, &reason));
  }
  Session session;

 private:
  const Expr* Keep(std::unique_ptr<Expr> expr) {
    exprs_.push_back(std::move(expr));
    return exprs_.back().get();
  }
  std::vector<std::unique_ptr<Expr>> exprs_;
};

void Run(benchmark::State& state, Calls& calls, const Expr& expr, const std::vector<Vector>& columns) {
  Arena arena;
  EvalContext context{arena, calls.session};
  const Batch batch{kVectorRows, static_cast<uint32_t>(columns.size()), columns.data()};
  for (auto _ : state) {
    arena.Reset();
    benchmark::DoNotOptimize(Evaluate(expr, batch, context));
  }
  state.SetItemsProcessed(state.iterations() * kVectorRows);
}

// l_extendedprice * (1 - l_discount) * (1 + l_tax)
void BM_Charge(benchmark::State& state) {
  Calls calls;
  const auto price = MakeColumn(10000000, 2), discount = MakeColumn(10, 2), tax = MakeColumn(8, 2);
  const Expr* one = calls.Integer(1);
  const Expr* kept = calls.Call(PENUMBRA_FN_SUB, PENUMBRA_NUMERIC, {one, calls.Column(1)});
  const Expr* taxed = calls.Call(PENUMBRA_FN_ADD, PENUMBRA_NUMERIC, {one, calls.Column(2)});
  const Expr* paid = calls.Call(PENUMBRA_FN_MUL, PENUMBRA_NUMERIC, {calls.Column(0), kept});
  const Expr* charge = calls.Call(PENUMBRA_FN_MUL, PENUMBRA_NUMERIC, {paid, taxed});
  Run(state, calls, *charge, {price.vector, discount.vector, tax.vector});
}
BENCHMARK(BM_Charge);

void RunBinary(benchmark::State& state, PenumbraFunction function, PenumbraType result, int64_t limit_a,
               int64_t limit_b) {
  Calls calls;
  const auto a = MakeColumn(limit_a, 2), b = MakeColumn(limit_b, 2);
  Run(state, calls, *calls.Call(function, result, {calls.Column(0), calls.Column(1)}), {a.vector, b.vector});
}
constexpr int64_t kPrice = 10000000;
constexpr int64_t kLong = 100000000000000000;
void BM_MultiplyInt128(benchmark::State& state) { RunBinary(state, PENUMBRA_FN_MUL, PENUMBRA_NUMERIC, kLong, kLong); }
void BM_Divide(benchmark::State& state) { RunBinary(state, PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, kPrice, 5000); }
void BM_Modulo(benchmark::State& state) { RunBinary(state, PENUMBRA_FN_MOD, PENUMBRA_NUMERIC, kPrice, 5000); }
void BM_CompareColumns(benchmark::State& state) { RunBinary(state, PENUMBRA_FN_LT, PENUMBRA_BOOL, kPrice, kPrice); }
BENCHMARK(BM_MultiplyInt128);
BENCHMARK(BM_Divide);
BENCHMARK(BM_Modulo);
BENCHMARK(BM_CompareColumns);

void RunUnary(benchmark::State& state, PenumbraFunction function, PenumbraType result) {
  Calls calls;
  const auto a = MakeColumn(kPrice, 2);
  Run(state, calls, *calls.Call(function, result, {calls.Column(0)}), {a.vector});
}
void BM_Round(benchmark::State& state) { RunUnary(state, PENUMBRA_FN_ROUND, PENUMBRA_NUMERIC); }
void BM_SquareRoot(benchmark::State& state) { RunUnary(state, PENUMBRA_FN_SQRT, PENUMBRA_NUMERIC); }
void BM_ToFloat8(benchmark::State& state) { RunUnary(state, PENUMBRA_FN_CAST, PENUMBRA_FLOAT8); }
void BM_ToInt4(benchmark::State& state) { RunUnary(state, PENUMBRA_FN_CAST, PENUMBRA_INT4); }
void BM_ToText(benchmark::State& state) { RunUnary(state, PENUMBRA_FN_CAST, PENUMBRA_TEXT); }
BENCHMARK(BM_Round);
BENCHMARK(BM_SquareRoot);
BENCHMARK(BM_ToFloat8);
BENCHMARK(BM_ToInt4);
BENCHMARK(BM_ToText);

void BM_DivideByConstant(benchmark::State& state) {
  Calls calls;
  const auto a = MakeColumn(kPrice, 2);
  Run(state, calls, *calls.Call(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, {calls.Column(0), calls.Integer(7)}), {a.vector});
}
BENCHMARK(BM_DivideByConstant);

void BM_Square(benchmark::State& state) {
  Calls calls;
  calls.session.power_scale_by_result = state.range(0) != 0;
  const auto a = MakeColumn(kPrice, 2);
  const auto column = BuildColumn(0, PENUMBRA_NUMERIC);
  column->numeric = {2, 2, 10};
  Run(state, calls, *calls.Call(PENUMBRA_FN_POWER, PENUMBRA_NUMERIC, {column.get(), calls.Integer(2)}), {a.vector});
}
BENCHMARK(BM_Square)->Arg(0)->Arg(1);

void BM_RoundedQuotient(benchmark::State& state) {
  Calls calls;
  const auto a = MakeColumn(kPrice, 2), b = MakeColumn(5000, 2);
  const Expr* divisor = state.range(0) != 0 ? calls.Integer(state.range(0)) : calls.Column(1);
  const Expr* quotient = calls.Call(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, {calls.Column(0), divisor});
  Run(state, calls, *calls.Call(PENUMBRA_FN_ROUND, PENUMBRA_NUMERIC, {quotient}), {a.vector, b.vector});
}
BENCHMARK(BM_RoundedQuotient)->Arg(0)->Arg(7);

}  // namespace
}  // namespace penumbra
