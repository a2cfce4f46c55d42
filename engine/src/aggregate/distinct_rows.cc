#include "aggregate/distinct_rows.h"

#include <algorithm>
#include <utility>

namespace penumbra {
namespace {

std::vector<PenumbraType> TypesOf(std::vector<PenumbraType> types, const AggregateCalls& calls,
                                  const std::vector<int>& arguments, const std::vector<CodedColumn>& coded) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    types.push_back(coded[i].CodeType(calls.argument(arguments[i]).type));
  }
  return types;
}

}  // namespace

DistinctRows::DistinctRows(int number, const std::vector<PenumbraType>& key_types, const AggregateCalls& calls,
                           AggregateCalls::Inputs inputs, std::vector<CodedColumn> coded, bool keeps_nulls,
                           ExecutionEnvironment& environment)
    : number_(number),
      key_count_(key_types.size()),
      inputs_(std::move(inputs)),
      coded_(std::move(coded)),
      keeps_nulls_(keeps_nulls),
      environment_(environment),
      groups_(TypesOf(key_types, calls, inputs_.arguments, coded_), environment) {}

void DistinctRows::Consume(GroupAggregation::Local& local, const Vector* keys, uint32_t rows,
                           const AggregateCalls::Values& values, EvalContext& context) {
  const RowSelection filtered = values.SelectionOf(inputs_.filter, rows);
  if (filtered.count == 0) return;
  const size_t argument_count = inputs_.arguments.size();
  const size_t key_count = key_count_ + argument_count;
  auto* all_keys = context.arena.AllocateArray<Vector>(key_count);
  std::copy_n(keys, key_count_, all_keys);
  Vector* arguments = all_keys + key_count_;
  for (size_t i = 0; i < argument_count; ++i) {
    arguments[i] = coded_[i].Encode(values.arguments[inputs_.arguments[i]], rows, context.arena);
    if (arguments[i].is_null_constant() && !keeps_nulls_) return;
  }
  const std::vector<StateUpdate> no_updates;
  Vector nulls;  // of any argument
  if (!keeps_nulls_) nulls.validity = CommonValidity(arguments, argument_count, rows, context.arena);
  if (filtered.rows == nullptr && nulls.validity == nullptr) {
    groups_.Consume(local, all_keys, rows, no_updates, context.arena);
    return;
  }
  uint16_t* selected = context.arena.AllocateArray<uint16_t>(kVectorRows);
  uint32_t count = 0;
  VisitValid(nulls, filtered, [&](uint32_t row) { selected[count++] = static_cast<uint16_t>(row); });
  if (count == 0) return;
  for (size_t k = 0; k < key_count; ++k) all_keys[k] = Gather(all_keys[k], selected, count, context.arena);
  groups_.Consume(local, all_keys, count, no_updates, context.arena);
}

}  // namespace penumbra
