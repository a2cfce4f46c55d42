// What planning and execution have to know of a kind of operator: a row of a table per kind. Whoever treats kinds
// differently reads the table, so that a new kind is a row and not a case in each of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "aggregate/build_row_keys.h"
#include "aggregate/hash_aggregation.h"
#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "plan/graph.h"

namespace penumbra {

// What an operator is to the pipelines of its plan.
enum class PipelineRole : uint8_t {
  kSource,        // rows from outside come in here: a scan
  kStep,          // makes one batch of one batch
  kMultiply,      // a step that makes any number of batches of one
  kUnion,         // nothing: the pipelines of all inputs go on above it
  kProbe,         // of a join: a step above input 0. The sink takes input 1, and may have rows when all probes are done
  kBreaker,       // the sink takes all rows of input 0, then has the rows of the next pipeline
  kRecursion,     // a breaker whose rows are computed while they are read, by the steps of input 1
  kWorkingTable,  // where these steps begin
};

inline bool IsBreaker(PipelineRole role) { return role == PipelineRole::kBreaker || role == PipelineRole::kRecursion; }

struct InputColumn {
  size_t input;
  int column;
};

// What a sink may ask when it is created. All that its pipelines read is sealed then.
struct SinkContext {
  ExecutionEnvironment& environment;
  DictionaryFinder find_dictionary;
  std::function<std::vector<BuildRowKeys>()> number_build_rows;  // for an aggregation
};

struct OperatorKind {
  PipelineRole role;
  // For EXPLAIN.
  const char* (*name)(const Operator& op);
  // The columns of an input that are read when the operator's `needed` ones are. Null: there are no inputs.
  std::vector<int> (*columns_read)(const Operator& op, size_t input);
  // The input columns that this column of the output is a copy of, where an input without the rows of one value gives
  // the output without the rows of that value (runtime_filters.cc). Null: none.
  std::vector<InputColumn> (*filtered_inputs)(const Operator& op, int column);
  // Sets of inputs: the output has no row if all inputs of one of them have none. Null: there are no inputs.
  std::vector<std::vector<size_t>> (*emptying_inputs)(const Operator& op);
  // Of kProbe and kBreaker.
  std::unique_ptr<Sink> (*create_sink)(const Operator& op, const SinkContext& context);
};

const OperatorKind& KindOf(const Operator& op);

}  // namespace penumbra
