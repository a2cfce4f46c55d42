// Joins of two generated tables, end to end through the C interface. How to count instructions: tpch_bench.cc.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "penumbra/engine.h"

namespace penumbra::bench {
namespace {

constexpr uint32_t kProbeRows = 240'000;
constexpr uint32_t kBuildRows = 20'000;
constexpr PenumbraType kTypes[] = {PENUMBRA_INT8, PENUMBRA_INT4};

// Random keys of a range, far apart when the step is large; a number.
class Keys {
 public:
  Keys(uint32_t rows, uint32_t range, int64_t step, bool is_unique) : rows_(rows) {
    std::mt19937 random(rows);
    PenumbraRows* rows_in = penumbra_rows_create(kTypes, 2);
    std::vector<uint64_t> keys(rows), numbers(rows);
    for (uint32_t i = 0; i < rows; ++i) {
      keys[i] = static_cast<uint64_t>(static_cast<int64_t>(is_unique ? i * (range / rows) : random() % range) * step);
      numbers[i] = i;
    }
    const PenumbraColumnInput columns[] = {{keys.data(), nullptr, nullptr}, {numbers.data(), nullptr, nullptr}};
    penumbra_rows_append(rows_in, columns, rows);
    for (int c = 0; c < 2; ++c) {
      size_t bytes;
      penumbra_segment_encode(rows_in, c, &segments_[c], &bytes);
    }
    penumbra_rows_destroy(rows_in);
  }
  PenumbraChunk chunk() const { return {rows_, segments_, &all_, 1}; }

 private:
  uint32_t rows_;
  PenumbraRowRange all_{0, rows_};
  void* segments_[2];
};

// `is_probed`: count(*) and sum(build number) above the join; else of the probe alone, to subtract.
void RunJoin(benchmark::State& state, PenumbraJoinKind kind, int64_t step, bool is_probed) {
  // Every second probe row has no match, but for what a runtime filter drops.
  const Keys probe(kProbeRows, 2 * kBuildRows, step, false), build(kBuildRows, 2 * kBuildRows, step, true);
  const PenumbraPlanOptions plan_options{true, nullptr};
  PenumbraPlan* plan = penumbra_plan_create(&plan_options);
  const PenumbraScanColumn columns[] = {{PENUMBRA_INT8, -1}, {PENUMBRA_INT4, -1}};
  const PenumbraOperator probe_scan = penumbra_plan_add_scan(plan, columns, 2);
  PenumbraOperator top = probe_scan;
  const PenumbraOperator build_scan = is_probed ? penumbra_plan_add_scan(plan, columns, 2) : -1;
  if (is_probed) {
    const PenumbraJoinKey key = {penumbra_plan_column(plan, probe_scan, 0), penumbra_plan_column(plan, build_scan, 0)};
    const PenumbraJoin join = {kind, false, &key, 1, nullptr, 0};
    top = penumbra_plan_add_join(plan, probe_scan, build_scan, &join);
  }
  const bool has_build_columns = penumbra_plan_column(plan, top, 3) >= 0;
  const PenumbraAggregateCall sum = {
      PENUMBRA_AGG_SUM, PENUMBRA_INT8, {penumbra_plan_column(plan, top, has_build_columns ? 3 : 1)}, 1, -1, false};
  top = penumbra_plan_add_aggregation(plan, top, nullptr, 0, &sum, 1);
  if (!penumbra_plan_finish(plan, top)) std::abort();
  for (auto _ : state) {
    PenumbraExecOptions options{size_t{512} << 20, 0, "/tmp"};
    PenumbraExec* exec = penumbra_exec_create(plan, &options);
    const PenumbraChunk chunks[] = {probe.chunk(), build.chunk()};
    penumbra_exec_add_chunk(exec, probe_scan, &chunks[0]);
    if (is_probed) penumbra_exec_add_chunk(exec, build_scan, &chunks[1]);
    penumbra_exec_start(exec);
    penumbra_exec_end_rows(exec, probe_scan);
    if (is_probed) penumbra_exec_end_rows(exec, build_scan);
    PenumbraResult result;
    PenumbraStatus status;
    PenumbraFetch fetch;
    while ((fetch = penumbra_exec_fetch(exec, &result, &status)) != PENUMBRA_FETCH_DONE) {
      if (fetch == PENUMBRA_FETCH_ERROR) std::abort();
    }
    penumbra_exec_destroy(exec);
  }
  penumbra_plan_destroy(plan);
}

constexpr int64_t kDense = 1, kFarApart = 1'000'000'000'007;

BENCHMARK_CAPTURE(RunJoin, NoJoin, PENUMBRA_JOIN_INNER, kDense, false);
BENCHMARK_CAPTURE(RunJoin, NoJoinFarApart, PENUMBRA_JOIN_INNER, kFarApart, false);
BENCHMARK_CAPTURE(RunJoin, SemiDense, PENUMBRA_JOIN_SEMI, kDense, true);
BENCHMARK_CAPTURE(RunJoin, AntiDense, PENUMBRA_JOIN_ANTI, kDense, true);
BENCHMARK_CAPTURE(RunJoin, InnerDense, PENUMBRA_JOIN_INNER, kDense, true);
BENCHMARK_CAPTURE(RunJoin, LeftDense, PENUMBRA_JOIN_LEFT, kDense, true);
BENCHMARK_CAPTURE(RunJoin, InnerFarApart, PENUMBRA_JOIN_INNER, kFarApart, true);
BENCHMARK_CAPTURE(RunJoin, LeftFarApart, PENUMBRA_JOIN_LEFT, kFarApart, true);

}  // namespace
}  // namespace penumbra::bench
