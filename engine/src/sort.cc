// The sort sink.
#include "operator.h"

namespace penumbra {

std::unique_ptr<Sink> CreateSort(const SortSpec&, ExecutionEnvironment&) {
  throw EngineError(PENUMBRA_UNSUPPORTED);
}

}  // namespace penumbra
