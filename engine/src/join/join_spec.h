// What a join is asked to do.
#pragma once

#include <cstdint>
#include <vector>

#include "expression/expr.h"
#include "penumbra/engine.h"

namespace penumbra {

struct JoinKeySpec {
  const Expr* probe;
  const Expr* build;
  bool nulls_are_equal;
  bool is_filter = false;  // a scan of the probe side asks for its KeyFilter
};

struct JoinSpec {
  PenumbraJoinKind kind = PENUMBRA_JOIN_INNER;
  PenumbraJoinChoice choice = PENUMBRA_JOIN_ALL;
  bool is_null_aware = false;
  uint64_t build_rows_max = 0;  // see PenumbraJoin
  std::vector<JoinKeySpec> keys;
  std::vector<const Expr*> conditions;  // over the probe's columns, then the build's
  std::vector<PenumbraType> probe_types;
  std::vector<PenumbraType> build_types;
  std::vector<bool> needed;  // which columns of the output somebody reads

  bool has_probe_columns() const { return kind != PENUMBRA_JOIN_RIGHT_SEMI && kind != PENUMBRA_JOIN_RIGHT_ANTI; }
  bool has_build_columns() const {
    return kind != PENUMBRA_JOIN_SEMI && kind != PENUMBRA_JOIN_ANTI && kind != PENUMBRA_JOIN_MARK;
  }
  // Whether build rows that match nothing are rows of the output, or those that match are without their matches.
  bool gives_build_rows() const {
    return kind == PENUMBRA_JOIN_RIGHT || kind == PENUMBRA_JOIN_FULL || !has_probe_columns();
  }
  // Columns of the probe input (or the build input, numbered from 0) that the join or its readers read.
  std::vector<int> ProbeColumnsRead() const;
  std::vector<int> BuildColumnsRead() const;
  // Those of the build input that its rows keep: without what only keys read.
  std::vector<int> BuildColumnsKept() const;
  bool CanBeUnsupported() const;
  // Whether probe rows without a match are no rows of the output, nor counted in any.
  bool DropsProbeRows() const;
  // Whether the output without a probe row is the output less the rows that it makes.
  bool CanLoseProbeRows() const;
};

}  // namespace penumbra
