// Keys of an aggregation that are columns of a build side (BuildRowKeys): how many build rows have the same ones.
#pragma once

#include <cstdint>

#include "operator/operator.h"

namespace penumbra {

// Whether grouping by build rows costs less than by their keys, and makes not many more groups.
bool IsWorthGroupingByRows(const BuildRowKeys& keys, ExecutionEnvironment& environment);
// Whether HaveDistinctKeys() has the memory, and costs less than it can save: grouping so many groups by their keys.
bool IsWorthChecking(const BuildRowKeys& keys, uint64_t groups, const ExecutionEnvironment& environment);
// Whether no two build rows have the same keys; false may be said of some that differ.
bool HaveDistinctKeys(const BuildRowKeys& keys, ExecutionEnvironment& environment);

}  // namespace penumbra
