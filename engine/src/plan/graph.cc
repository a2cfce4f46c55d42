#include "plan/graph.h"

namespace penumbra {

std::vector<PenumbraType> Operator::output_types() const {
  std::vector<PenumbraType> types;
  for (const OutputColumn& column : output) types.push_back(column.type);
  return types;
}

}  // namespace penumbra
