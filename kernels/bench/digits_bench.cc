// Long numbers. Thresholds between algorithms are where their times cross: README.md tells how to
// measure them.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "divide.h"
#include "multiplication.h"

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
    k::MultiplyBy(method, a.data(), limbs, b.data(), limbs, 0, product.data(), scratch.data());
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

// Twice as many limbs by so many.
void Quotient(benchmark::State& state, k::Division method) {
  const auto limbs = static_cast<size_t>(state.range(0));
  const Limbs a = Number(2 * limbs, 1);
  Limbs b = Number(limbs, 2);
  b.back() |= PENUMBRA_DIVISOR_TOP_MIN;
  Limbs quotient(limbs + 1);
  Limbs scratch(k::DivisionScratchBytes(method, limbs) / sizeof(uint64_t));
  for (auto _ : state) {
    k::QuotientBy(method, a.data(), 2 * limbs, b.data(), limbs, quotient.data(), scratch.data());
    benchmark::DoNotOptimize(quotient.data());
  }
}
BENCHMARK_CAPTURE(Quotient, schoolbook, k::Division::kSchoolbook)->Arg(4)->Arg(13)->Arg(26)->DenseRange(50, 700, 50);
BENCHMARK_CAPTURE(Quotient, newton, k::Division::kNewton)->DenseRange(150, 700, 50)->Arg(3125);

void Divide(benchmark::State& state) {
  const auto limbs = static_cast<size_t>(state.range(0));
  const Limbs a = Number(2 * limbs, 1);
  Limbs b = Number(limbs, 2);
  b.back() |= PENUMBRA_DIVISOR_TOP_MIN;
  Limbs quotient(limbs + 1);
  Limbs remainder(limbs);
  Limbs scratch(penumbra_limbs_divide_scratch_bytes(2 * limbs, limbs) / sizeof(uint64_t));
  for (auto _ : state) {
    penumbra_limbs_divide(a.data(), 2 * limbs, b.data(), limbs, quotient.data(), remainder.data(), scratch.data());
    benchmark::DoNotOptimize(quotient.data());
  }
}
BENCHMARK(Divide)->Arg(4)->Arg(13)->Arg(26)->Arg(100)->Arg(300);

void Root(benchmark::State& state) {
  const auto limbs = static_cast<size_t>(state.range(0));
  const Limbs a = Number(2 * limbs, 1);
  Limbs root(limbs);
  Limbs scratch(penumbra_limbs_root_scratch_bytes(limbs) / sizeof(uint64_t));
  for (auto _ : state) {
    penumbra_limbs_root(a.data(), limbs, root.data(), scratch.data());
    benchmark::DoNotOptimize(root.data());
  }
}
BENCHMARK(Root)->Arg(4)->Arg(16)->Arg(65)->Arg(300);

}  // namespace
