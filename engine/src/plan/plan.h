// A query over one relation: scan columns, then stages. Built through the C functions of
// penumbra/engine.h; nothing of it changes once an execution exists. Any number of executions may
// share a plan, one after the other or at once.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "expression/expr.h"
#include "operator/operator.h"
#include "penumbra/engine.h"
#include "scan/scan_predicate.h"
#include "segment/segment.h"

namespace penumbra {

struct ScanColumn {
  PenumbraType type;
  int numeric_scale;  // declared; -1: none
};

// A conjunct that the scan evaluates itself.
struct ScanFilter {
  const Expr* expr = nullptr;
  std::unique_ptr<ScanPredicate> predicate;  // null: decode and evaluate
  std::vector<int> columns;                  // that it reads, each once
};

struct Stage {
  enum class Kind : uint8_t { kFilter, kProjection, kAggregation, kSort, kLimit };

  Kind kind;
  std::vector<const Expr*> exprs;  // kFilter: conjuncts; kProjection: the columns
  AggregationSpec aggregation;
  SortSpec sort;
  int64_t limit = -1;  // kLimit; -1: none
  int64_t offset = 0;
  std::vector<PenumbraType> output_types;
};

class Plan {
 public:
  explicit Plan(const PenumbraPlanOptions& options);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  int AddScanColumn(PenumbraType type, int numeric_scale);

  // The builders return null or false to refuse, with the reason set.
  PenumbraExpr Column(int column);
  PenumbraExpr Constant(PenumbraType type, const PenumbraValue& value);
  PenumbraExpr Call(PenumbraFunction function, PenumbraType result, const PenumbraExpr* args, int count,
                    const PenumbraCollation* collation = nullptr);
  bool AddFilter(const PenumbraExpr* conjuncts, int count);
  bool AddProjection(const PenumbraExpr* exprs, int count);
  bool AddAggregation(const PenumbraExpr* keys, int key_count, const PenumbraAggregateCall* calls, int call_count);
  bool AddSort(const PenumbraSortKey* keys, int count, int64_t limit, int64_t offset);
  bool AddLimit(int64_t limit, int64_t offset);

  const Expr* expr(PenumbraExpr id) const { return exprs_[id].get(); }
  const std::string& reason() const { return reason_; }
  void set_reason(std::string reason) { reason_ = std::move(reason); }
  const Session& session() const { return session_; }
  const std::vector<ScanColumn>& scan_columns() const { return scan_columns_; }
  const std::vector<PenumbraType>& scan_types() const { return scan_types_; }
  const std::vector<Stage>& stages() const { return stages_; }
  // The conjuncts of the first stage when it is a filter: those that cannot fail first.
  const std::vector<ScanFilter>& scan_filters() const { return scan_filters_; }
  const std::vector<PenumbraType>& output_types() const {
    return stages_.empty() ? scan_types_ : stages_.back().output_types;
  }
  int memo_slots() const { return memo_slots_; }
  // needed[s][c]: whether stage s needs column c of its input; needed[stages] is the output, all true.
  std::vector<std::vector<bool>> NeededColumns() const;
  // Whether PENUMBRA_UNSUPPORTED can come after rows did: from a stage above the last one that waits for
  // all input.
  bool CanBeUnsupportedLate() const;
  // Null past the end. Operator 0 is the scan, operator i + 1 is stage i.
  const char* OperatorName(int index) const;

 private:
  bool IsExpr(PenumbraExpr id) const { return id >= 0 && static_cast<size_t>(id) < exprs_.size(); }
  bool CheckExprs(const PenumbraExpr* exprs, int count);
  // Null in *collation: C. False: refused.
  bool FindCollation(const PenumbraCollation* description, const Collation** collation);
  PenumbraExpr Find(const std::string& key) const;
  PenumbraExpr Keep(std::string key, std::unique_ptr<Expr> expr);
  const Expr* Use(PenumbraExpr id);
  // Call(), for CASE and COALESCE also with hidden scale.
  PenumbraExpr CallAs(PenumbraFunction function, PenumbraType result, const PenumbraExpr* args, int count,
                      const PenumbraCollation* collation, bool hides_scale);
  void CompileScanFilters();
  PenumbraExpr IdOf(const Expr* expr) const;
  // plan_sum_of_case.cc
  bool SplitCaseOfZero(const Expr& argument, PenumbraExpr* others, PenumbraExpr* is_zero, PenumbraExpr* zero);
  PenumbraExpr FinishCaseOfZero(PenumbraExpr others, PenumbraExpr zeros, PenumbraExpr zero);
  // plan_numeric_scale.cc
  bool IsScaleHidden(PenumbraFunction function, PenumbraType result, const std::vector<const Expr*>& args,
                     size_t i) const;
  PenumbraExpr Relax(PenumbraExpr id);  // of the same values; itself where nothing is gained
  PenumbraExpr Int4(int value);
  PenumbraExpr ScaleOf(PenumbraExpr id);  // int4: the display scale of a row's value; -1: not known
  PenumbraExpr ScaleOfValue(PenumbraExpr id, PenumbraExpr relaxed);
  bool SplitVaryingScale(const PenumbraAggregateCall& call, PenumbraExpr* relaxed, PenumbraExpr* scale);
  PenumbraExpr FinishVaryingScale(PenumbraAggregate function, PenumbraExpr sum, PenumbraExpr scale,
                                  PenumbraExpr count);
  bool AddAggregationStage(const PenumbraExpr* keys, int key_count, const PenumbraAggregateCall* calls,
                           int call_count);
  void HoistProjection(size_t sort_index);
  Stage& AppendStage(Stage::Kind kind);

  Session session_;
  std::vector<ScanColumn> scan_columns_;
  std::vector<PenumbraType> scan_types_;
  std::vector<std::unique_ptr<Expr>> exprs_;
  std::unordered_map<std::string, PenumbraExpr> ids_;  // by structure: equal expressions are one node
  std::vector<int> uses_;
  int memo_slots_ = 0;
  std::vector<Stage> stages_;
  std::vector<ScanFilter> scan_filters_;
  std::string reason_;
};

}  // namespace penumbra

struct PenumbraPlan : penumbra::Plan {
  using penumbra::Plan::Plan;
};
