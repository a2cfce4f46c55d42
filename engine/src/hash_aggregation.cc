// The aggregation sink.
#include "operator.h"

namespace penumbra {

std::unique_ptr<Sink> CreateAggregation(const AggregationSpec&, ExecutionEnvironment&) {
  throw EngineError(PENUMBRA_UNSUPPORTED);
}

bool CheckAggregate(const AggregateSpec&, std::string* reason) {
  *reason = "aggregation";
  return false;
}

}  // namespace penumbra
