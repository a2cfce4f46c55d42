#include "window/partition_numbers.h"

#include <algorithm>

#include "function/merge.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

constexpr uint64_t kNumbersMin = 16;
constexpr uint64_t kNumbersMax = uint64_t{64} << 10;  // the tables fit into caches
constexpr uint64_t kNumberBytes = 1024;               // of the budget, for one: of all threads, and long keys
constexpr uint64_t kFirstNumbers = 1024;

}  // namespace

PartitionNumbers::PartitionNumbers(const WindowInput& input, ExecutionEnvironment& environment)
    : input_(input),
      environment_(environment),
      layout_(input.partition_types()),
      max_numbers_(std::clamp<uint64_t>(environment.budget.budget_bytes() / kNumberBytes, kNumbersMin, kNumbersMax)),
      memory_(&environment.budget),
      directory_(&environment.budget) {
  layout_.row_bytes += sizeof(int64_t);
  directory_.Reset(kFirstNumbers);
}

int32_t PartitionNumbers::NumberNew(const char* image) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (char* known = directory_.Find(layout_.keys, image)) return NumberOf(known);
  if (is_full()) return kNone;
  char* row = static_cast<char*>(memory_.Allocate(layout_.row_bytes));
  std::memcpy(row, image, layout_.keys.image_bytes());
  layout_.keys.OwnStrings(row, memory_);
  NumberOf(row) = static_cast<int32_t>(directory_.row_count()) + 1;
  if (directory_.row_count() >= directory_.capacity_rows()) directory_.Grow();
  directory_.FindOrInsert(layout_.keys, row, [row] { return row; });
  if (directory_.row_count() == max_numbers_) is_full_.store(true, std::memory_order_release);
  return NumberOf(row);
}

PartitionNumbers::Local::Local(PartitionNumbers& of)
    : of_(of), groups_(std::make_unique<LocalGroups>(of.layout_, of.environment_)) {}

bool PartitionNumbers::Local::Number(const std::vector<Vector>& keys, uint32_t rows, Arena& arena, int32_t* numbers) {
  bool have_all = true;
  if (!of_.is_full()) {
    char* groups[kVectorRows];
    groups_->FindOrInsertByTable(keys.data(), rows, arena, groups);
    for (uint32_t i = 0; i < rows; ++i) {
      int32_t& number = of_.NumberOf(groups[i]);
      if (number == 0) number = of_.NumberNew(groups[i]);
      numbers[i] = std::max(number, 0);
      have_all &= number != kNone;
    }
    return have_all;
  }
  groups_ = nullptr;
  const KeyLayout& layout = of_.layout_.keys;
  images_.resize(size_t{kVectorRows} * layout.image_bytes());
  layout.BuildImages(keys.data(), {nullptr, rows}, arena, images_.data());
  for (uint32_t i = 0; i < rows; ++i) {
    char* known = of_.directory_.Find(layout, images_.data() + size_t{i} * layout.image_bytes());
    numbers[i] = known == nullptr ? 0 : of_.NumberOf(known);
    have_all &= known != nullptr;
  }
  return have_all;
}

void PartitionNumbers::Local::Extend(uint32_t rows, EvalContext& context, std::vector<Vector>* columns) {
  Arena& arena = context.arena;
  const WindowInput& input = of_.input_;
  std::vector<Vector> keys;
  for (const Expr* key : input.spec().partition_keys) {
    keys.push_back(Flatten((*columns)[static_cast<size_t>(input.ColumnOf(*key))], rows, arena));
  }
  int32_t* numbers = arena.AllocateArray<int32_t>(rows);
  const bool have_all = Number(keys, rows, arena, numbers);
  for (int column : input.columns_numbered()) {
    Vector& replaced = (*columns)[static_cast<size_t>(column)];
    replaced = NullConstant(replaced.type);
  }
  columns->push_back(FlatVector(PENUMBRA_INT4, numbers, nullptr));
  uint16_t* others = arena.AllocateArray<uint16_t>(rows);
  uint32_t count = 0;
  for (uint32_t i = 0; i < rows && !have_all; ++i) {
    others[count] = static_cast<uint16_t>(i);
    count += numbers[i] == 0;
  }
  for (const Vector& key : keys) {
    columns->push_back(have_all ? NullConstant(key.type)
                                : MergePieces(key.type, {{key, others, count, true}}, rows, false, arena));
  }
}

}  // namespace penumbra
