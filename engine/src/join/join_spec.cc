#include "join/join_spec.h"

#include <algorithm>

namespace penumbra {
namespace {

void AddColumn(int column, std::vector<int>* columns) {
  if (std::find(columns->begin(), columns->end(), column) == columns->end()) columns->push_back(column);
}

// Of [begin, begin + width) of the pairs' columns those that conditions read or, where the output has them from
// `output_begin` on, that somebody above does; numbered from 0.
std::vector<int> PairColumnsRead(const JoinSpec& spec, size_t begin, size_t width, bool is_output,
                                 size_t output_begin) {
  std::vector<int> columns, read;
  for (size_t c = 0; c < width && is_output; ++c) {
    if (spec.needed[output_begin + c]) columns.push_back(static_cast<int>(c));
  }
  for (const Expr* condition : spec.conditions) CollectColumns(*condition, &read);
  for (int column : read) {
    const size_t place = static_cast<size_t>(column) - begin;
    if (place < width) AddColumn(static_cast<int>(place), &columns);
  }
  return columns;
}

}  // namespace

std::vector<int> JoinSpec::ProbeColumnsRead() const {
  std::vector<int> columns = PairColumnsRead(*this, 0, probe_types.size(), has_probe_columns(), 0);
  for (const JoinKeySpec& key : keys) CollectColumns(*key.probe, &columns);
  return columns;
}

std::vector<int> JoinSpec::BuildColumnsKept() const {
  return PairColumnsRead(*this, probe_types.size(), build_types.size(), has_build_columns(),
                         has_probe_columns() ? probe_types.size() : 0);
}

std::vector<int> JoinSpec::BuildColumnsRead() const {
  std::vector<int> columns = BuildColumnsKept();
  for (const JoinKeySpec& key : keys) CollectColumns(*key.build, &columns);
  return columns;
}

bool JoinSpec::DropsProbeRows() const {
  return kind == PENUMBRA_JOIN_INNER || kind == PENUMBRA_JOIN_SEMI || kind == PENUMBRA_JOIN_RIGHT ||
         kind == PENUMBRA_JOIN_RIGHT_SEMI;
}

bool JoinSpec::CanLoseProbeRows() const {
  switch (kind) {
    case PENUMBRA_JOIN_INNER:
    case PENUMBRA_JOIN_LEFT:
    case PENUMBRA_JOIN_SEMI:
    case PENUMBRA_JOIN_ANTI:
    case PENUMBRA_JOIN_MARK:
    case PENUMBRA_JOIN_SINGLE: return true;
    case PENUMBRA_JOIN_RIGHT:
    case PENUMBRA_JOIN_FULL:
    case PENUMBRA_JOIN_RIGHT_SEMI:
    case PENUMBRA_JOIN_RIGHT_ANTI: return false;
  }
  return false;
}

bool JoinSpec::CanBeUnsupported() const {
  return choice != PENUMBRA_JOIN_ALL ||
         std::any_of(keys.begin(), keys.end(), [](const JoinKeySpec& key) { return key.probe->can_be_unsupported; }) ||
         std::any_of(conditions.begin(), conditions.end(),
                     [](const Expr* condition) { return condition->can_be_unsupported; });
}

}  // namespace penumbra
