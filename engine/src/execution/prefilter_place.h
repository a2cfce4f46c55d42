// Where in a pipeline a sink can be asked which rows matter (Sink::Prefilter): the earlier, the fewer columns are read
// and the fewer rows joined in vain. A top-N by a column of the probe side drops rows in the scan.
#pragma once

#include <vector>

#include "operator/sink.h"
#include "plan/plan.h"

namespace penumbra {

struct PrefilterPlace {
  enum class Kind : uint8_t { kNone, kScan, kJoin };
  Kind kind = Kind::kNone;
  size_t step = 0;           // kJoin: whose pairs it sees
  std::vector<int> columns;  // that are there what the sink needs, in its order
  bool all_come = true;      // no step above drops a row
};

// The first place from which on the columns pass unchanged, and where dropping a row changes nothing else: neither what
// a join says of its build rows, nor which rows raise an error.
PrefilterPlace FindPrefilterPlace(const std::vector<const Operator*>& steps, bool has_scan,
                                  const Sink::PrefilterNeeds& needs);

}  // namespace penumbra
