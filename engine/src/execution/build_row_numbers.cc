#include "execution/build_row_numbers.h"

#include <algorithm>

#include "aggregate/build_row_keys.h"
#include "aggregate/hash_aggregation.h"
#include "plan/operator_kinds.h"

namespace penumbra {
namespace {

// Where the values of a key come from.
struct Origin {
  enum class Kind : uint8_t { kOther, kBuild, kNulls };
  Kind kind = Kind::kOther;
  PenumbraOperator join = -1;  // kBuild
  int column = -1;             // of its output
};

bool Reads(const Expr* expr, int column) {
  std::vector<int> columns;
  if (expr != nullptr) CollectColumns(*expr, &columns);
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

bool AnyReads(const std::vector<const Expr*>& exprs, int column) {
  return std::any_of(exprs.begin(), exprs.end(), [column](const Expr* expr) { return Reads(expr, column); });
}

// Whether the aggregation reads the column as this key alone.
bool IsKeyAlone(const AggregationSpec& spec, size_t key, int column) {
  for (size_t k = 0; k < spec.keys.size(); ++k) {
    if (k != key && Reads(spec.keys[k], column)) return false;
  }
  return std::none_of(spec.aggregates.begin(), spec.aggregates.end(), [column](const AggregateSpec& aggregate) {
    return Reads(aggregate.filter, column) || AnyReads(aggregate.arguments, column);
  });
}

// Of a projection: the column that it passes on as `column` and reads for nothing else; -1: there is none.
int PassedOn(const Operator& projection, int column) {
  const Expr& expr = *projection.exprs[column];
  if (expr.kind != Expr::Kind::kColumn) return -1;
  for (size_t i = 0; i < projection.exprs.size(); ++i) {
    const bool is_read = projection.needed[i] || projection.exprs[i]->can_fail;
    if (i != static_cast<size_t>(column) && is_read && Reads(projection.exprs[i], expr.column)) return -1;
  }
  return expr.column;
}

bool JoinReads(const JoinSpec& join, int column) {
  return AnyReads(join.conditions, column) ||
         std::any_of(join.keys.begin(), join.keys.end(),
                     [column](const JoinKeySpec& key) { return Reads(key.probe, column); });
}

// From the pipeline's end to the join whose build side the column comes from. What is spilled is written by its type,
// so no join in between may have spilled.
Origin FindOrigin(const Plan& plan, const PipelineSpec& pipeline, const std::vector<std::unique_ptr<Sink>>& sinks,
                  int column) {
  for (auto id = pipeline.steps.rbegin(); id != pipeline.steps.rend(); ++id) {
    const Operator& step = plan.op(*id);
    if (step.kind == Operator::Kind::kFilter) {
      if (AnyReads(step.exprs, column)) return {};
      continue;
    }
    if (step.kind == Operator::Kind::kProjection) {
      column = PassedOn(step, column);
      if (column < 0) return {};
      continue;
    }
    if (step.kind == Operator::Kind::kUnnest) {
      if (!step.unnest.Passes(column)) return {};
      continue;
    }
    const bool is_probe_column = static_cast<size_t>(column) < step.join.probe_types.size();
    if (!step.join.has_probe_columns() || static_cast<const JoinSink&>(*sinks[*id]).is_spilled()) return {};
    if (is_probe_column && JoinReads(step.join, column)) return {};
    if (is_probe_column) continue;
    // Of MARK there is one more column than those of the sides.
    return step.join.has_build_columns() ? Origin{Origin::Kind::kBuild, *id, column} : Origin{};
  }
  // A join's own rows have nulls for the probe side.
  const Operator& source = plan.op(pipeline.source);
  if (KindOf(source).role != PipelineRole::kProbe ||
      static_cast<const JoinSink&>(*sinks[pipeline.source]).is_spilled()) {
    return {};
  }
  const bool has_no_rows = !source.join.gives_build_rows();
  const bool is_probe_column =
      source.join.has_probe_columns() && static_cast<size_t>(column) < source.join.probe_types.size();
  return has_no_rows || is_probe_column ? Origin{Origin::Kind::kNulls} : Origin{};
}

// The one origin of a key in all pipelines that end in the aggregation.
Origin FindOrigin(const Plan& plan, const std::vector<PipelineSpec>& pipelines, PenumbraOperator aggregation,
                  const std::vector<std::unique_ptr<Sink>>& sinks, int column) {
  Origin found{Origin::Kind::kNulls};
  for (const PipelineSpec& pipeline : pipelines) {
    if (pipeline.sink != aggregation) continue;
    const Origin origin = FindOrigin(plan, pipeline, sinks, column);
    if (origin.kind == Origin::Kind::kOther) return origin;
    if (origin.kind == Origin::Kind::kNulls) continue;
    if (found.kind == Origin::Kind::kBuild && (found.join != origin.join || found.column != origin.column)) return {};
    found = origin;
  }
  return found;
}

}  // namespace

// Collects the keys by the join that they come from. NumberRows() changes what a join's batches hold and cannot be
// undone. So it comes last, for the keys that are worth it.
std::vector<BuildRowKeys> NumberBuildRows(const Plan& plan, const std::vector<PipelineSpec>& pipelines,
                                          PenumbraOperator aggregation, const std::vector<std::unique_ptr<Sink>>& sinks,
                                          ExecutionEnvironment& environment) {
  const AggregationSpec& spec = plan.op(aggregation).aggregation;
  std::vector<BuildRowKeys> by_join;
  if (!CanGroupByBuildRows(spec)) return by_join;
  for (size_t k = 0; k < spec.keys.size(); ++k) {
    const Expr& key = *spec.keys[k];
    if (key.kind != Expr::Kind::kColumn || !IsKeyAlone(spec, k, key.column)) continue;
    const Origin origin = FindOrigin(plan, pipelines, aggregation, sinks, key.column);
    if (origin.kind != Origin::Kind::kBuild) continue;
    auto* join = static_cast<JoinSink*>(sinks[origin.join].get());
    auto keys = std::find_if(by_join.begin(), by_join.end(), [join](const auto& known) { return known.join == join; });
    if (keys == by_join.end()) keys = by_join.insert(keys, {join, {}, {}, {}});
    keys->keys.push_back(static_cast<int>(k));
    keys->columns.push_back(origin.column);
    keys->types.push_back(key.type);
  }
  std::erase_if(by_join, [&](const BuildRowKeys& keys) { return !IsWorthGroupingByRows(keys, environment); });
  for (const BuildRowKeys& keys : by_join) keys.join->NumberRows(keys.columns);
  return by_join;
}

}  // namespace penumbra
