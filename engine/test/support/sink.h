// Runs a sink by itself: batches made by hand in any vector form, several threads, results as text.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "vector/vector.h"

namespace penumbra::test {

// Values as text: integers and numerics in decimal, floats as printf writes them, an interval as
// "months/days/microseconds", a uuid as its 16 bytes.
using SinkCell = std::optional<std::string>;

struct SinkColumn {
  PenumbraType type;
  std::vector<SinkCell> cells;
};

// How a batch holds a column; what a column cannot be is made flat.
enum class SinkForm { kFlat, kDictionary, kConstant, kInt128, kPayload };

// cells[begin .. begin + count) as a vector.
Vector MakeSinkVector(const SinkColumn& column, uint32_t begin, uint32_t count, SinkForm form, Arena& arena);
std::string FormatSinkValue(const Vector& v, uint32_t row);  // "NULL" for null

std::unique_ptr<Expr> ColumnExpr(int column, PenumbraType type);
PenumbraAggregate AggregateOf(const char* name);

// The form of a column in the batch that starts at `begin`.
using SinkFormChooser = std::function<SinkForm(int column, uint32_t begin)>;

struct SinkRun {
  std::vector<std::vector<std::string>> rows;
  SinkStats stats;
  std::vector<uint32_t> partition_rows;
};

// Feeds the table, batch_rows at a time, from `threads` threads, and reads the result.
SinkRun RunSink(Sink& sink, ExecutionEnvironment& environment, const std::vector<SinkColumn>& table,
                uint32_t batch_rows, int threads, const SinkFormChooser& form);

}  // namespace penumbra::test
