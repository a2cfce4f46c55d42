// A query as a graph of operators. Built through the C functions of penumbra/engine.h from the scans up,
// finished once; nothing of it changes after that. Any number of executions may share a plan, one after
// the other or at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "expression/expr.h"
#include "penumbra/engine.h"
#include "plan/graph.h"

namespace penumbra {

// The value of a call that an aggregation computes as others, from the columns of all calls.
using FinishCall = std::function<PenumbraExpr(const std::vector<PenumbraExpr>& values)>;

class Plan {
 public:
  explicit Plan(const PenumbraPlanOptions& options);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // The builders return a negative number to refuse, with the reason set.
  PenumbraOperator AddScan(const PenumbraScanColumn* columns, int count);
  PenumbraExpr Column(PenumbraOperator input, int column);
  PenumbraExpr Constant(PenumbraType type, const PenumbraValue& value);
  PenumbraExpr List(PenumbraType type, const PenumbraColumnInput& values, uint32_t count);
  PenumbraExpr Call(PenumbraFunction function, PenumbraType result, const PenumbraExpr* args, int count,
                    const PenumbraCollation* collation = nullptr);
  PenumbraExpr HostCall(int function, PenumbraType result, const PenumbraExpr* args, int count);
  PenumbraOperator AddFilter(PenumbraOperator input, const PenumbraExpr* conjuncts, int count);
  PenumbraOperator AddProjection(PenumbraOperator input, const PenumbraExpr* exprs, int count);
  PenumbraOperator AddUnion(const PenumbraOperator* inputs, int count);
  // plan_aggregation.cc
  PenumbraOperator AddAggregation(PenumbraOperator input, const PenumbraExpr* keys, int key_count,
                                  const PenumbraAggregateCall* calls, int call_count,
                                  const std::vector<uint64_t>& sets = {});
  PenumbraOperator AddGroupingSets(PenumbraOperator input, const PenumbraExpr* keys, int key_count,
                                   const std::vector<uint64_t>& sets, const PenumbraAggregateCall* calls,
                                   int call_count);
  // plan_sort.cc
  PenumbraOperator AddSort(PenumbraOperator input, const PenumbraSortKey* keys, int count, int64_t limit,
                           int64_t offset);
  // plan_window.cc
  bool TakesWindowCall(PenumbraOperator input, const PenumbraWindowCall& call, int order_key_count);
  PenumbraOperator AddWindow(PenumbraOperator input, const PenumbraExpr* partition_keys, int partition_key_count,
                             const PenumbraSortKey* order_keys, int order_key_count, const PenumbraWindowCall* calls,
                             int call_count, bool any_partition_order);
  // plan_unnest.cc
  PenumbraOperator AddUnnest(PenumbraOperator input, const PenumbraUnnest& unnest);
  bool AggregateLists(PenumbraOperator unnest, const PenumbraAggregateCall* calls, int call_count, int single);
  // plan_recursion.cc
  PenumbraOperator AddWorkingTable(const PenumbraType* types, int count);
  PenumbraOperator AddRecursion(PenumbraOperator first, PenumbraOperator term, bool is_distinct, bool gives_late);
  // plan_join.cc
  PenumbraExpr PairColumn(PenumbraOperator probe, PenumbraOperator build, int column);
  PenumbraOperator AddJoin(PenumbraOperator probe, PenumbraOperator build, const PenumbraJoin& join);
  // The operator whose rows are the result. Checks the graph and runs the passes of passes.h. False: refused.
  bool Finish(PenumbraOperator output);

  const Expr* expr(PenumbraExpr id) const { return exprs_[id].get(); }
  const std::string& reason() const { return reason_; }
  void set_reason(std::string reason) { reason_ = std::move(reason); }
  const Session& session() const { return session_; }
  int memo_slots() const { return memo_slots_; }

  // Of a finished plan.
  bool is_finished() const { return output_ >= 0; }
  const Operators& operators() const { return operators_; }
  const Operator& op(PenumbraOperator id) const { return operators_[id]; }
  PenumbraOperator output() const { return output_; }
  // Those that the output depends on, inputs first.
  const std::vector<PenumbraOperator>& order() const { return order_; }
  bool IsScan(PenumbraOperator id) const;
  // Whether PENUMBRA_UNSUPPORTED can come after rows did: from an operator above the last ones that wait for
  // all input.
  bool CanBeUnsupportedLate() const;
  // Null past the end; by place in order().
  const char* OperatorName(int place) const;

 private:
  bool IsExpr(PenumbraExpr id) const { return id >= 0 && static_cast<size_t>(id) < exprs_.size(); }
  bool IsOperator(PenumbraOperator id) const { return id >= 0 && static_cast<size_t>(id) < operators_.size(); }
  bool CheckExprs(const PenumbraExpr* exprs, int count);
  // What every new operator over `input` needs: the plan is not finished, the input exists, and feeds no other or can
  // be read again.
  bool CheckInput(PenumbraOperator input);
  // Whether its rows are there as often as they are asked for: a breaker's are, and those of steps above one.
  bool CanBeReadAgain(PenumbraOperator id) const;
  void TakeInput(PenumbraOperator input);
  // Whether it is made of steps that work on their rows one by one, above a working table of such columns.
  bool IsRecursiveTerm(PenumbraOperator id, const std::vector<PenumbraType>& types);
  // Whether the expressions read only columns that the input has, of their types; of an input, also whether none is an
  // array, which only projections pass on.
  bool CheckColumns(PenumbraOperator input, const PenumbraExpr* exprs, int count);
  bool CheckColumns(const std::vector<OutputColumn>& columns, const PenumbraExpr* exprs, int count);
  bool CheckJoin(const PenumbraJoin& join);
  // plan_sort.cc: the keys without their Exprs, which are set when nothing can be refused any more.
  bool CheckSortKeys(PenumbraOperator input, const PenumbraSortKey* keys, int count, std::vector<SortKeySpec>* specs);
  // plan_aggregation.cc
  // of_window: its rows come in an order.
  bool CheckAggregateCall(PenumbraOperator input, const PenumbraAggregateCall& call, bool of_window,
                          AggregateSpec* aggregate);
  bool CheckCollectingCall(PenumbraOperator input, const PenumbraAggregateCall& call, bool of_window,
                           AggregateSpec* aggregate);
  void UseAggregateCall(const PenumbraAggregateCall& call);
  // plan_window.cc
  bool CheckWindowCall(PenumbraOperator input, const PenumbraWindowCall& call, int order_key_count,
                       WindowFunctionSpec* function);
  bool CheckFrameEdges(PenumbraOperator input, const PenumbraWindowCall& call, WindowFunctionSpec* function);
  PenumbraExpr ColumnOf(const OutputColumn& from, int column);
  PenumbraOperator Append(Operator::Kind kind, PenumbraOperator input);
  // Null in *collation: C. False: refused.
  bool FindCollation(const PenumbraCollation* description, const Collation** collation);
  PenumbraExpr Find(const std::string& key) const;
  PenumbraExpr Keep(std::string key, std::unique_ptr<Expr> expr);
  const Expr* Use(PenumbraExpr id);
  // Call(), for CASE and COALESCE also with hidden scale.
  PenumbraExpr CallAs(PenumbraFunction function, PenumbraType result, const PenumbraExpr* args, int count,
                      const PenumbraCollation* collation, bool hides_scale);
  PenumbraExpr IdOf(const Expr* expr) const;
  // plan_sum_of_case.cc
  bool SplitCaseOfZero(const Expr& argument, PenumbraExpr* others, PenumbraExpr* is_zero, PenumbraExpr* zero);
  PenumbraExpr FinishCaseOfZero(PenumbraExpr others, PenumbraExpr zeros, PenumbraExpr zero);
  FinishCall RewriteSumOfCase(size_t place, std::vector<PenumbraAggregateCall>* calls);
  // plan_numeric_scale.cc
  bool IsScaleHidden(PenumbraFunction function, PenumbraType result, const std::vector<const Expr*>& args,
                     size_t i) const;
  PenumbraExpr Relax(PenumbraExpr id);  // of the same values; itself where nothing is gained
  PenumbraExpr Int4(int value);
  PenumbraExpr ScaleOf(PenumbraExpr id);  // int4: the display scale of a row's value; -1: not known
  PenumbraExpr ScaleOfValue(PenumbraExpr id, PenumbraExpr relaxed);
  PenumbraExpr FinishVaryingScale(PenumbraAggregate function, PenumbraExpr sum, PenumbraExpr scale, PenumbraExpr count);
  FinishCall RewriteVaryingScale(size_t place, std::vector<PenumbraAggregateCall>* calls);
  // plan_sum_of_shifts.cc
  void RewriteSumsOfShifts(std::vector<PenumbraAggregateCall>* calls, std::vector<FinishCall>* finishes);
  PenumbraExpr FinishShift(const Expr& shift, PenumbraExpr sum, const PenumbraExpr* count_and_bounds);
  // plan_aggregation.cc
  PenumbraOperator AddAggregationOperator(PenumbraOperator input, const std::vector<PenumbraExpr>& keys,
                                          const std::vector<PenumbraAggregateCall>& calls,
                                          const std::vector<uint64_t>& sets);
  // plan_following_keys.cc
  std::vector<PenumbraExpr> LeadingKeys(PenumbraOperator input, const std::vector<PenumbraExpr>& keys) const;
  PenumbraOperator AddFollowingKeys(PenumbraOperator groups, PenumbraOperator input,
                                    const std::vector<PenumbraExpr>& leading, const PenumbraExpr* keys, int key_count);

  Session session_;
  std::vector<std::unique_ptr<Expr>> exprs_;
  std::unordered_map<std::string, PenumbraExpr> ids_;  // by structure: equal expressions are one node
  std::vector<int> uses_;
  int memo_slots_ = 0;
  Operators operators_;
  std::vector<PenumbraOperator> order_;
  PenumbraOperator output_ = -1;
  std::string reason_;
};

}  // namespace penumbra

struct PenumbraPlan : penumbra::Plan {
  using penumbra::Plan::Plan;
};
