#include "aggregate/build_row_keys.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "row/key_layout.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

constexpr uint64_t kSampledRows = 4096;
// CountRepeated() takes up to 32 bytes a row.
constexpr uint64_t kBudgetBytesPerCheckedRow = 128;

// Of every step-th build row: how many have the same hash of these of the keys (by place) as one before, or as no row
// has, whose keys are null.
uint64_t CountRepeated(const BuildRowKeys& keys, const std::vector<size_t>& places, uint64_t step,
                       ExecutionEnvironment& environment) {
  std::vector<PenumbraType> types;
  for (size_t place : places) types.push_back(keys.types[place]);
  const KeyLayout layout(types);
  const uint64_t rows = keys.join->NumberedRows() / step;
  Arena memory(&environment.budget);
  const uint64_t slots = std::bit_ceil(2 * rows + 2);
  auto* hashes = memory.AllocateArray<uint64_t>(slots);  // 0: none
  std::fill_n(hashes, slots, 0);
  Arena arena(&environment.budget);
  std::vector<char> images(size_t{kVectorRows} * layout.image_bytes());
  std::vector<Vector> columns(places.size());
  uint64_t repeated = 0;
  const auto add = [&](const Vector& row_numbers, uint32_t count) {
    for (size_t i = 0; i < places.size(); ++i) {
      columns[i] = keys.join->ReadColumn(keys.columns[places[i]], row_numbers, count, arena);
    }
    layout.BuildImages(columns.data(), {nullptr, count}, arena, images.data());
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t hash = KeyLayout::Hash(images.data() + size_t{i} * layout.image_bytes());
      uint64_t slot = hash >> 8 & (slots - 1);
      while (hashes[slot] != 0 && hashes[slot] != hash) slot = (slot + 1) & (slots - 1);
      repeated += hashes[slot] == hash;
      hashes[slot] = hash;
    }
  };
  add(NullConstant(PENUMBRA_INT4), 1);
  for (uint64_t begin = 0; begin < rows; begin += kVectorRows) {
    environment.CheckCancelled();
    arena.Reset();
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(kVectorRows, rows - begin));
    auto* numbers = arena.AllocateArray<int32_t>(count);
    for (uint32_t i = 0; i < count; ++i) numbers[i] = static_cast<int32_t>((begin + i) * step);
    add(FlatVector(PENUMBRA_INT4, numbers, nullptr), count);
  }
  return repeated;
}

std::vector<size_t> AllPlaces(const BuildRowKeys& keys) {
  std::vector<size_t> places(keys.columns.size());
  std::iota(places.begin(), places.end(), size_t{0});
  return places;
}

// A key that takes as many bytes as it has, and time to hash; the number of keys: there is none.
size_t FindWideKey(const BuildRowKeys& keys) {
  size_t i = 0;
  while (i < keys.columns.size() && (IsIntegerType(keys.types[i], NumericForm::kPayload) ||
                                     keys.join->dictionary_of(keys.columns[i]) != nullptr)) {
    ++i;
  }
  return i;
}

}  // namespace

// Integers and codes are as quickly grouped themselves. Of n rows of N with D different keys about n^2 / 2D repeat one
// before; D shall be N / 2 or more.
bool IsWorthGroupingByRows(const BuildRowKeys& keys, ExecutionEnvironment& environment) {
  const uint64_t rows = keys.join->NumberedRows();
  if (rows == 0 || FindWideKey(keys) == keys.columns.size()) return false;
  const uint64_t step = std::max<uint64_t>(1, rows / kSampledRows), sampled = rows / step;
  const uint64_t repeated = CountRepeated(keys, AllPlaces(keys), step, environment);
  return repeated <= sampled / 2 && repeated * rows <= sampled * sampled;
}

bool IsWorthChecking(const BuildRowKeys& keys, uint64_t groups, const ExecutionEnvironment& environment) {
  const uint64_t rows = keys.join->NumberedRows();
  return rows <= 2 * groups && rows <= environment.budget.budget_bytes() / kBudgetBytesPerCheckedRow;
}

// One key alone often says it, and is read faster than all.
bool HaveDistinctKeys(const BuildRowKeys& keys, ExecutionEnvironment& environment) {
  return CountRepeated(keys, {FindWideKey(keys)}, 1, environment) == 0 ||
         (keys.columns.size() > 1 && CountRepeated(keys, AllPlaces(keys), 1, environment) == 0);
}

}  // namespace penumbra
