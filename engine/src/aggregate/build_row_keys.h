// Keys of an aggregation that are columns of a build side: how many build rows have the same ones.
#pragma once

#include <cstdint>
#include <vector>

#include "operator/execution_environment.h"
#include "operator/join_sink.h"
#include "penumbra/engine.h"

namespace penumbra {

// Keys of an aggregation that are columns of one build side: batches have the numbers of their rows in place of them.
struct BuildRowKeys {
  JoinSink* join;
  std::vector<int> keys;     // in AggregationSpec::keys, all of them columns of the input
  std::vector<int> columns;  // what they are in the join's output
  std::vector<PenumbraType> types;
};

// Whether grouping by build rows costs less than by their keys, and makes not many more groups.
bool IsWorthGroupingByRows(const BuildRowKeys& keys, ExecutionEnvironment& environment);
// Whether HaveDistinctKeys() has the memory, and costs less than it can save: grouping so many groups by their keys.
bool IsWorthChecking(const BuildRowKeys& keys, uint64_t groups, const ExecutionEnvironment& environment);
// Whether no two build rows have the same keys; false may be said of some that differ.
bool HaveDistinctKeys(const BuildRowKeys& keys, ExecutionEnvironment& environment);

}  // namespace penumbra
