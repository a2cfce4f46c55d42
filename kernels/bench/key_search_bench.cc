// Search within a page of packed keys, beside the alternatives: one page that stays in the nearest cache, and
// pages in turn out of more memory than any cache holds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "penumbra/key_search.h"

namespace {

constexpr size_t kPageBytes = 8192;

using Search = size_t (*)(const char* keys, int width, size_t count, uint64_t key);

uint64_t KeyAt(const char* keys, int width, size_t i) {
  uint64_t key;
  std::memcpy(&key, keys + i * static_cast<size_t>(width), sizeof(key));
  return key & (~uint64_t{0} >> (64 - 8 * width));
}

size_t Branching(const char* keys, int width, size_t count, uint64_t key) {
  size_t begin = 0;
  while (count > 0) {
    const size_t half = count / 2;
    if (KeyAt(keys, width, begin + half) < key) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

size_t BranchFree(const char* keys, int width, size_t count, uint64_t key) {
  size_t begin = 0;
  while (count > 1) {
    const size_t half = count / 2;
    begin += KeyAt(keys, width, begin + half - 1) < key ? half : 0;
    count -= half;
  }
  return begin + (count == 1 && KeyAt(keys, width, begin) < key);
}

// Guesses the place from the first and the last key; a guess that is off by more than a window leaves one
// side to be searched.
size_t Interpolated(const char* keys, int width, size_t count, uint64_t key) {
  constexpr size_t kWindow = 32;
  const uint64_t first = KeyAt(keys, width, 0);
  const uint64_t last = KeyAt(keys, width, count - 1);
  if (key <= first) return 0;
  if (key > last) return count;
  const double share = static_cast<double>(key - first) / static_cast<double>(last - first);
  const auto guess = std::min(static_cast<size_t>(share * static_cast<double>(count)), count - 1);
  const size_t begin = std::min(guess < kWindow / 2 ? 0 : guess - kWindow / 2, count - kWindow);
  if (begin > 0 && KeyAt(keys, width, begin - 1) >= key) return BranchFree(keys, width, begin, key);
  const size_t end = begin + kWindow;
  const size_t searched = end < count && KeyAt(keys, width, end) < key ? count - begin : kWindow;
  return begin + BranchFree(keys + begin * static_cast<size_t>(width), width, searched, key);
}

void SearchPages(benchmark::State& state, Search search, bool is_skewed) {
  const int width = static_cast<int>(state.range(0));
  const auto keys = static_cast<size_t>(state.range(1));
  const auto pages = static_cast<size_t>(state.range(2));
  std::mt19937_64 random(1);
  std::vector<char> memory(pages * kPageBytes);
  std::vector<uint64_t> sorted(keys);
  for (uint64_t& key : sorted) {
    key = random() >> (64 - 8 * width);
    if (is_skewed && random() % 8 != 0) key >>= 5 * width;
  }
  std::sort(sorted.begin(), sorted.end());
  for (size_t page = 0; page < pages; ++page) {
    for (size_t i = 0; i < keys; ++i) {
      std::memcpy(&memory[page * kPageBytes + i * static_cast<size_t>(width)], &sorted[i], static_cast<size_t>(width));
    }
  }
  std::vector<std::pair<const char*, uint64_t>> searches(1 << 16);
  for (auto& [page, key] : searches) {
    page = &memory[random() % pages * kPageBytes];
    key = KeyAt(page, width, random() % keys);
  }
  size_t i = 0;
  uint64_t found = 0;
  for (auto _ : state) {
    // What follows a search in an index is too long for the processor to run two searches at once.
    asm volatile("lfence" : "+r"(found) : : "memory");
    const auto& [page, key] = searches[i++ % searches.size()];
    benchmark::DoNotOptimize(found = search(page, width, keys, key));
  }
}

// (width, keys of a page, pages): a page that is always near, and 1 GB of them
void Pages(benchmark::internal::Benchmark* bench) {
  for (int64_t width : {2, 3, 7, 8}) {
    for (int64_t keys : {100, 400}) bench->Args({width, keys, 1});
    bench->Args({width, 400, 1 << 17});
  }
}

BENCHMARK_CAPTURE(SearchPages, branching, Branching, false)->Apply(Pages);
BENCHMARK_CAPTURE(SearchPages, branch_free, BranchFree, false)->Apply(Pages);
BENCHMARK_CAPTURE(SearchPages, interpolated, Interpolated, false)->Apply(Pages);
BENCHMARK_CAPTURE(SearchPages, interpolated_skewed, Interpolated, true)->Apply(Pages);
BENCHMARK_CAPTURE(SearchPages, penumbra, penumbra_lower_bound_packed, false)->Apply(Pages);

}  // namespace
