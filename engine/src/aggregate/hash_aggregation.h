// The aggregation as a sink, and what can be known of it before there is one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "aggregate/aggregation_spec.h"
#include "aggregate/build_row_keys.h"
#include "operator/sink.h"
#include "segment/segment.h"

namespace penumbra {

// Says of a column of a sink's input what Sink::dictionary_of() does; empty: of none.
using DictionaryFinder = std::function<const Vector*(int column)>;

std::unique_ptr<Sink> CreateAggregation(const AggregationSpec& spec, ExecutionEnvironment& environment,
                                        const DictionaryFinder& find_dictionary = {},
                                        std::vector<BuildRowKeys> build_row_keys = {});

// Whether the aggregation needs no more of its rows than how many there are, how many of them are valid
// in some columns of its input, and the bounds there. Then *columns are those, each once.
bool CanSummarize(const AggregationSpec& spec, std::vector<SummaryColumn>* columns);

// The key by whose values an aggregation knows complete groups (Sink::own_values_column()); -1: none.
int OwnValuesKey(const AggregationSpec& spec);

// Whether equal values of the type are written alike. Not so 0 and -0, 1 and 1.0, 'a' and 'a ', 1 day and 24 hours.
bool IsOfOneSpelling(PenumbraType type);

// Whether the aggregation takes numbers of build rows for keys.
bool CanGroupByBuildRows(const AggregationSpec& spec);

}  // namespace penumbra
