// Keys of an aggregation that come from a join's build side and are read by nobody else need not be read for each pair
// of the join: its batches have the number of the build row in their place, which tells groups apart as well. The
// keys are read once per group, after the aggregation.
#pragma once

#include <memory>
#include <vector>

#include "aggregate/build_row_keys.h"
#include "execution/pipeline.h"
#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "plan/plan.h"

namespace penumbra {

// For an aggregation about to be created, when all that its pipelines read is sealed: has joins give numbers where that
// is worth it. `sinks`: by operator.
std::vector<BuildRowKeys> NumberBuildRows(const Plan& plan, const std::vector<PipelineSpec>& pipelines,
                                          PenumbraOperator aggregation, const std::vector<std::unique_ptr<Sink>>& sinks,
                                          ExecutionEnvironment& environment);

}  // namespace penumbra
