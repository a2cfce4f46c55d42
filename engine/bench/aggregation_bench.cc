// Aggregation, sort and top-N on one thread, on vectors that are already there: items are rows.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "aggregate/hash_aggregation.h"
#include "operator/execution_environment.h"
#include "sort/sort.h"

namespace penumbra {
namespace {

constexpr uint32_t kRows = 6000000 / kVectorRows * kVectorRows;

Expr Column(int column, PenumbraType type) {
  Expr expr;
  expr.kind = Expr::Kind::kColumn;
  expr.type = type;
  expr.column = column;
  return expr;
}

Vector Slice(PenumbraType type, const void* data, uint32_t width, uint32_t begin) {
  Vector v;
  v.type = type;
  v.data = static_cast<const char*>(data) + size_t{begin} * width;
  return v;
}

// Runs the sink over `rows` rows; make(begin, columns) sets the columns of a batch.
template <typename Make>
uint64_t Run(Sink& sink, const Session& session, uint32_t rows, uint32_t column_count, Make&& make) {
  std::unique_ptr<Sink::Local> local = sink.CreateLocal();
  Arena arena;
  EvalContext context{arena, session};
  std::vector<Vector> columns(column_count);
  for (uint32_t begin = 0; begin < rows; begin += kVectorRows) {
    arena.Reset();
    make(begin, columns.data());
    sink.Consume(*local, {kVectorRows, column_count, columns.data()}, context);
  }
  sink.Combine(*local);
  while (int tasks = sink.PrepareFinish()) {
    for (int task = 0; task < tasks; ++task) sink.RunFinishTask(task);
  }
  uint64_t result_rows = 0;
  const int partitions = sink.Seal();
  for (int p = 0; p < partitions; ++p) {
    std::unique_ptr<Sink::Reader> reader = sink.OpenPartition(p);
    Batch batch;
    while (reader->Next(&batch)) result_rows += batch.rows;
  }
  return result_rows;
}

std::vector<int64_t> RandomValues(int64_t low, int64_t high) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int64_t> distribution(low, high);
  std::vector<int64_t> values(kRows);
  for (int64_t& value : values) value = distribution(random);
  return values;
}

// TPC-H Q1's shape: two dictionary keys with four groups, sums and averages of numerics, a count.
void BM_Q1(benchmark::State& state) {
  std::mt19937 random(1);
  std::vector<uint8_t> flags(kRows), status(kRows);
  for (uint32_t i = 0; i < kRows; ++i) {
    const uint32_t r = random() % 4;
    flags[i] = static_cast<uint8_t>(r == 3 ? 2 : r);
    status[i] = r == 3;
  }
  std::vector<std::vector<int64_t>> values;
  const int64_t highs[] = {5000, 10494950, 1000000000, 110000000000, 10};
  for (int64_t high : highs) values.push_back(RandomValues(1, high));
  const StringRef flag_entries[] = {StringRef("A", 1), StringRef("R", 1), StringRef("N", 1)};
  const StringRef status_entries[] = {StringRef("F", 1), StringRef("O", 1)};
  Vector flag_dictionary, status_dictionary;
  flag_dictionary.type = status_dictionary.type = PENUMBRA_BPCHAR;
  flag_dictionary.data = flag_entries;
  status_dictionary.data = status_entries;
  Session session;
  std::vector<Expr> exprs;
  for (int c = 0; c < 7; ++c) exprs.push_back(Column(c, c < 2 ? PENUMBRA_BPCHAR : PENUMBRA_NUMERIC));
  AggregationSpec spec;
  spec.keys = {&exprs[0], &exprs[1]};
  for (int c : {2, 3, 4, 5}) spec.aggregates.push_back({PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, {&exprs[c]}});
  for (int c : {2, 3, 6}) spec.aggregates.push_back({PENUMBRA_AGG_AVG, PENUMBRA_NUMERIC, {&exprs[c]}});
  spec.aggregates.push_back({PENUMBRA_AGG_COUNT_STAR, PENUMBRA_INT8});
  for (auto _ : state) {
    ExecutionEnvironment environment(size_t{4} << 30, session);
    std::unique_ptr<Sink> sink = CreateAggregation(spec, environment);
    uint64_t groups = Run(*sink, session, kRows, 7, [&](uint32_t begin, Vector* columns) {
      for (int k = 0; k < 2; ++k) {
        columns[k] = Slice(PENUMBRA_BPCHAR, k == 0 ? flags.data() : status.data(), 1, begin);
        columns[k].form = VectorForm::kDictionary;
        columns[k].code_bytes = 1;
        columns[k].dictionary = k == 0 ? &flag_dictionary : &status_dictionary;
        columns[k].dictionary_size = k == 0 ? 3 : 2;
      }
      for (int c = 0; c < 5; ++c) {
        columns[2 + c] = Slice(PENUMBRA_NUMERIC, values[c].data(), 8, begin);
        columns[2 + c].scale = 2;
        columns[2 + c].lower = 1;
        columns[2 + c].upper = highs[c];
      }
    });
    if (groups != 4) state.SkipWithError("wrong groups");
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_Q1)->Unit(benchmark::kMillisecond);

// One int8 key of so many values, so far apart, count(*) and sum.
void BM_ManyGroups(benchmark::State& state) {
  std::vector<int64_t> keys = RandomValues(0, state.range(0) - 1);
  for (int64_t& key : keys) key = key * state.range(1);
  Session session;
  Expr key = Column(0, PENUMBRA_INT8);
  AggregationSpec spec;
  spec.keys = {&key};
  spec.aggregates = {{PENUMBRA_AGG_COUNT_STAR, PENUMBRA_INT8}, {PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, {&key}}};
  for (auto _ : state) {
    ExecutionEnvironment environment(size_t{4} << 30, session);
    std::unique_ptr<Sink> sink = CreateAggregation(spec, environment);
    benchmark::DoNotOptimize(Run(*sink, session, kRows, 1, [&](uint32_t begin, Vector* columns) {
      columns[0] = Slice(PENUMBRA_INT8, keys.data(), 8, begin);
    }));
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_ManyGroups)
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{1000, 100000, 200000, 400000, 1500000, int64_t{1} << 40}, {1, 1000003}});

void BM_ManyGroupsUnorderedMap(benchmark::State& state) {
  std::vector<int64_t> keys = RandomValues(0, state.range(0) - 1);
  for (auto _ : state) {
    std::unordered_map<int64_t, std::pair<int64_t, int128>> groups;
    for (int64_t key : keys) {
      auto& group = groups[key];
      ++group.first;
      group.second += key;
    }
    benchmark::DoNotOptimize(groups.size());
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_ManyGroupsUnorderedMap)->Unit(benchmark::kMillisecond)->Arg(1500000);

// count(distinct) of an int8, without keys.
void BM_CountDistinct(benchmark::State& state) {
  std::vector<int64_t> values = RandomValues(0, state.range(0) - 1);
  Session session;
  Expr argument = Column(0, PENUMBRA_INT8);
  AggregationSpec spec;
  spec.aggregates = {{PENUMBRA_AGG_COUNT, PENUMBRA_INT8, {&argument}, nullptr, true}};
  for (auto _ : state) {
    ExecutionEnvironment environment(size_t{4} << 30, session);
    std::unique_ptr<Sink> sink = CreateAggregation(spec, environment);
    benchmark::DoNotOptimize(Run(*sink, session, kRows, 1, [&](uint32_t begin, Vector* columns) {
      columns[0] = Slice(PENUMBRA_INT8, values.data(), 8, begin);
    }));
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_CountDistinct)->Unit(benchmark::kMillisecond)->Arg(100)->Arg(200000)->Arg(1500000)->Arg(int64_t{1} << 40);

// By the first of five int8 columns, of so many bytes; limit -1 sorts all.
void BM_Sort(benchmark::State& state) {
  const bool is_narrow = state.range(0) == 4;
  std::vector<int64_t> values = RandomValues(INT32_MIN, INT32_MAX);
  std::vector<int32_t> narrow(values.begin(), values.end());
  Session session;
  const PenumbraType key_type = is_narrow ? PENUMBRA_INT4 : PENUMBRA_INT8;
  Expr key = Column(0, key_type);
  SortSpec spec;
  spec.keys = {{&key, false, false}};
  spec.column_types = {key_type, PENUMBRA_INT8, PENUMBRA_INT8, PENUMBRA_INT8, PENUMBRA_INT8};
  spec.limit = state.range(1);
  for (auto _ : state) {
    ExecutionEnvironment environment(static_cast<size_t>(state.range(2)) << 20, session);
    std::unique_ptr<Sink> sink = CreateSort(spec, environment);
    benchmark::DoNotOptimize(Run(*sink, session, kRows, 5, [&](uint32_t begin, Vector* columns) {
      columns[0] = is_narrow ? Slice(key_type, narrow.data(), 4, begin) : Slice(key_type, values.data(), 8, begin);
      for (int c = 1; c < 5; ++c) columns[c] = Slice(PENUMBRA_INT8, values.data(), 8, begin);
    }));
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_Sort)
    ->Unit(benchmark::kMillisecond)
    ->ArgNames({"key_bytes", "limit", "budget_mb"})
    ->Args({4, -1, 4096})
    ->Args({8, -1, 4096})
    ->Args({8, -1, 8})
    ->Args({4, 10, 4096})
    ->Args({8, 10, 4096})
    ->Args({8, 50000, 4096});

}  // namespace
}  // namespace penumbra
