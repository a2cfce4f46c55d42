// Long numbers. Thresholds between algorithms are where their times cross: README.md tells how to
// measure them.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "multiply.h"

namespace k = penumbra::kernels;

namespace {

using Limbs = std::vector<uint64_t>;

Limbs Number(size_t limbs, uint64_t seed) {
  std::mt19937_64 random(seed);
  Limbs number(limbs);
  for (uint64_t& limb : number) limb = random() % k::kLimbBase;
  return number;
}

void Multiply(benchmark::State& state, k::Multiplication method) {
  const auto limbs = static_cast<size_t>(state.range(0));
  const Limbs a = Number(limbs, 1);
  const Limbs b = Number(limbs, 2);
  Limbs product(2 * limbs);
  Limbs scratch(k::MultiplicationScratchBytes(method, limbs, limbs) / sizeof(uint64_t));
  for (auto _ : state) {
    k::MultiplyBy(method, a.data(), limbs, b.data(), limbs, product.data(), scratch.data());
    benchmark::DoNotOptimize(product.data());
  }
}
BENCHMARK_CAPTURE(Multiply, scalar, k::Multiplication::kScalar)->DenseRange(2, 10, 1)->Arg(25);
BENCHMARK_CAPTURE(Multiply, columns, k::Multiplication::kColumns)
    ->DenseRange(2, 10, 1)
    ->Arg(12)
    ->Arg(25)
    ->Arg(38)
    ->Arg(63)
    ->DenseRange(100, 800, 50);
BENCHMARK_CAPTURE(Multiply, transforms, k::Multiplication::kTransforms)
    ->Arg(63)
    ->DenseRange(100, 800, 50)
    ->Arg(1563)
    ->Arg(3125)
    ->Arg(6250);

}  // namespace
