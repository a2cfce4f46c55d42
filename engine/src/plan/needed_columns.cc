// From the output down, which columns of an operator somebody reads. The others are never decoded or computed;
// they travel as null constants, so that column numbers stay.
//
// The result is the same because nobody looks at them. A projection's expression that can fail is an exception:
// its error must be raised whether or not somebody reads the value.
#include "plan/passes.h"

namespace penumbra {
namespace {

// The columns of its input that the operator reads.
std::vector<int> ColumnsRead(const Operator& reader, size_t input, size_t width) {
  std::vector<int> columns;
  auto collect = [&columns](const Expr* expr) {
    if (expr != nullptr) CollectColumns(*expr, &columns);
  };
  switch (reader.kind) {
    case Operator::Kind::kProjection:
      for (size_t i = 0; i < reader.exprs.size(); ++i) {
        if (reader.needed[i] || reader.exprs[i]->can_fail) collect(reader.exprs[i]);
      }
      return columns;
    case Operator::Kind::kAggregation:
      for (const Expr* key : reader.aggregation.keys) collect(key);
      for (const AggregateSpec& aggregate : reader.aggregation.aggregates) {
        for (const Expr* argument : aggregate.arguments) collect(argument);
        collect(aggregate.filter);
      }
      return columns;
    case Operator::Kind::kJoin: return input == 0 ? reader.join.ProbeColumnsRead() : reader.join.BuildColumnsRead();
    case Operator::Kind::kScan:
    case Operator::Kind::kFilter:
    case Operator::Kind::kUnion:
    case Operator::Kind::kSort: break;
  }
  for (size_t c = 0; c < width; ++c) {
    if (reader.needed[c]) columns.push_back(static_cast<int>(c));
  }
  for (const Expr* conjunct : reader.exprs) collect(conjunct);
  for (const SortKeySpec& key : reader.sort.keys) collect(key.expr);
  return columns;
}

}  // namespace

void FindNeededColumns(std::vector<Operator>* operators, const std::vector<PenumbraOperator>& order) {
  Operator& output = (*operators)[order.back()];
  output.needed.assign(output.output.size(), true);
  // Whoever reads an operator comes after it.
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    Operator& reader = (*operators)[*id];
    if (reader.kind == Operator::Kind::kScan && reader.scan.needed.empty()) reader.scan.needed = reader.needed;
    if (reader.kind == Operator::Kind::kJoin) reader.join.needed = reader.needed;
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      Operator& input = (*operators)[reader.inputs[i]];
      input.needed.assign(input.output.size(), false);
      for (int column : ColumnsRead(reader, i, input.output.size())) input.needed[column] = true;
      // A scan that runs the filter decodes for its rows what comes after it.
      if (reader.runs_in_scan) input.scan.needed = reader.needed;
    }
  }
}

}  // namespace penumbra
