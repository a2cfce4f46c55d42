// An aggregation right above a scan that asks only for counts and bounds of plain columns takes what metadata
// says of whole ranges of rows in place of the rows.
//
// Segments know counts of nulls exactly and prove their bounds (segment_format.h); the scan gives a summary
// only of rows that are all valid and pass every conjunct.
#include "aggregate/hash_aggregation.h"
#include "plan/passes.h"

namespace penumbra {

void AnswerFromMetadata(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) {
    const Operator& aggregation = (*operators)[id];
    if (aggregation.kind != Operator::Kind::kAggregation) continue;
    PenumbraOperator input = aggregation.inputs[0];
    if ((*operators)[input].runs_in_scan) input = (*operators)[input].inputs[0];
    if ((*operators)[input].kind != Operator::Kind::kScan) continue;
    ScanSpec& scan = (*operators)[input].scan;
    scan.takes_summaries = CanSummarize(aggregation.aggregation, &scan.summary_columns);
  }
}

}  // namespace penumbra
