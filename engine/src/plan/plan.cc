#include "plan/plan.h"

#include <algorithm>

#include "function/collation.h"
#include "function/numeric_traits.h"
#include "function/registry.h"

namespace penumbra {
namespace {

bool IsKnownType(PenumbraType type) { return type >= PENUMBRA_BOOL && type <= PENUMBRA_UUID; }

template <typename T>
void AppendRaw(const T& value, std::string* key) {
  key->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string ConstantKey(PenumbraType type, const PenumbraValue& value) {
  std::string key = "k";
  AppendRaw(type, &key);
  AppendRaw(value.is_null, &key);
  if (value.is_null) return key;
  switch (type) {
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: AppendRaw(value.real, &key); break;
    case PENUMBRA_INTERVAL:
      AppendRaw(value.interval.time_us, &key);
      AppendRaw(value.interval.day, &key);
      AppendRaw(value.interval.month, &key);
      break;
    case PENUMBRA_NUMERIC:
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR:
    case PENUMBRA_UUID: key.append(static_cast<const char*>(value.bytes), value.bytes_length); break;
    default: AppendRaw(value.integer, &key);
  }
  return key;
}

}  // namespace

Plan::Plan(const PenumbraPlanOptions& options) {
  session_.encoding_is_utf8 = options.encoding_is_utf8;
  if (const PenumbraTimeZone* zone = options.time_zone; zone != nullptr && zone->count > 0) {
    session_.zone_from_us.assign(zone->utc_from_us, zone->utc_from_us + zone->count);
    session_.zone_offset_seconds.assign(zone->offset_seconds, zone->offset_seconds + zone->count);
    session_.zone_valid_until_us = zone->valid_until_us;
  }
}

int Plan::AddScanColumn(PenumbraType type, int numeric_scale) {
  if (!IsKnownType(type) || !stages_.empty()) {
    reason_ = "a scan column of an unknown type or after a stage";
    return -1;
  }
  scan_columns_.push_back({type, numeric_scale});
  scan_types_.push_back(type);
  return static_cast<int>(scan_columns_.size()) - 1;
}

PenumbraExpr Plan::Find(const std::string& key) const {
  auto found = ids_.find(key);
  return found == ids_.end() ? -1 : found->second;
}

PenumbraExpr Plan::Keep(std::string key, std::unique_ptr<Expr> expr) {
  auto id = static_cast<PenumbraExpr>(exprs_.size());
  exprs_.push_back(std::move(expr));
  uses_.push_back(0);
  ids_.emplace(std::move(key), id);
  return id;
}

// Notes a place that evaluates the expression. From the second on its value is worth remembering.
const Expr* Plan::Use(PenumbraExpr id) {
  Expr* expr = exprs_[id].get();
  if (++uses_[id] == 2 && expr->kind == Expr::Kind::kCall) expr->memo_slot = memo_slots_++;
  return expr;
}

bool Plan::CheckExprs(const PenumbraExpr* exprs, int count) {
  for (int i = 0; i < count; ++i) {
    if (!IsExpr(exprs[i])) {
      if (reason_.empty()) reason_ = "an expression that is not supported";
      return false;
    }
  }
  reason_.clear();
  return true;
}

PenumbraExpr Plan::Column(int column) {
  const std::vector<PenumbraType>& types = output_types();
  if (column < 0 || static_cast<size_t>(column) >= types.size()) {
    reason_ = "a column that does not exist";
    return -1;
  }
  // Only columns of the scan have a declared scale, also when filters stand between.
  const bool is_scanned = std::all_of(stages_.begin(), stages_.end(), [](const Stage& stage) {
    return stage.kind != Stage::Kind::kProjection && stage.kind != Stage::Kind::kAggregation;
  });
  const bool has_scale = is_scanned && scan_columns_[column].numeric_scale >= 0;
  std::string key = has_scale ? "d" : "c";
  AppendRaw(types[column], &key);
  AppendRaw(column, &key);
  if (PenumbraExpr id = Find(key); id >= 0) return id;
  std::unique_ptr<Expr> expr = BuildColumn(column, types[column]);
  if (has_scale) expr->numeric = TraitsOfDeclared(scan_columns_[column].numeric_scale);
  return Keep(std::move(key), std::move(expr));
}

PenumbraExpr Plan::Constant(PenumbraType type, const PenumbraValue& value) {
  if (!IsKnownType(type)) {
    reason_ = "a constant of an unknown type";
    return -1;
  }
  std::string key = ConstantKey(type, value);
  if (PenumbraExpr id = Find(key); id >= 0) return id;
  return Keep(std::move(key), BuildConstant(type, value));
}

bool Plan::FindCollation(const PenumbraCollation* description, const Collation** collation) {
  *collation = nullptr;
  if (description == nullptr) return true;
  reason_.clear();
  *collation = Collation::Find(*description, session_.encoding_is_utf8, &reason_);
  return reason_.empty();
}

PenumbraExpr Plan::Call(PenumbraFunction function, PenumbraType result, const PenumbraExpr* args, int count,
                        const PenumbraCollation* collation) {
  return CallAs(function, result, args, count, collation, false);
}

PenumbraExpr Plan::CallAs(PenumbraFunction function, PenumbraType result, const PenumbraExpr* given, int count,
                          const PenumbraCollation* collation_description, bool hides_scale) {
  if (function < 0 || function >= PENUMBRA_FN_COUNT_OF || !IsKnownType(result)) {
    reason_ = "an unknown function";
    return -1;
  }
  if (!CheckExprs(given, count)) return -1;
  std::vector<PenumbraExpr> args(given, given + count);
  std::vector<const Expr*> arg_exprs;
  for (PenumbraExpr arg : args) arg_exprs.push_back(exprs_[arg].get());
  for (int i = 0; i < count; ++i) {
    if (!IsScaleHidden(function, result, arg_exprs, i)) continue;
    args[i] = Relax(args[i]);
    arg_exprs[i] = exprs_[args[i]].get();
  }
  const Collation* collation;
  if (!FindCollation(collation_description, &collation)) return -1;
  std::string key = hides_scale ? "h" : "f";
  AppendRaw(function, &key);
  AppendRaw(result, &key);
  AppendRaw(collation, &key);
  for (int i = 0; i < count; ++i) AppendRaw(args[i], &key);
  if (PenumbraExpr id = Find(key); id >= 0) return id;

  std::unique_ptr<Expr> call = BuildCall(function, result, arg_exprs, session_, &reason_, collation);
  if (call == nullptr) return -1;
  call->hides_scale = hides_scale;
  for (int i = 0; i < count; ++i) Use(args[i]);
  return Keep(std::move(key), std::move(call));
}

Stage& Plan::AppendStage(Stage::Kind kind) {
  std::vector<PenumbraType> types = output_types();
  stages_.emplace_back();
  stages_.back().kind = kind;
  stages_.back().output_types = std::move(types);
  return stages_.back();
}

bool Plan::AddFilter(const PenumbraExpr* conjuncts, int count) {
  if (!CheckExprs(conjuncts, count)) return false;
  for (int i = 0; i < count; ++i) {
    if (exprs_[conjuncts[i]]->type != PENUMBRA_BOOL) {
      reason_ = "a filter that is not boolean";
      return false;
    }
  }
  bool is_first = stages_.empty();
  // A filter on a filter is one filter.
  bool is_merged = !is_first && stages_.back().kind == Stage::Kind::kFilter;
  Stage& stage = is_merged ? stages_.back() : AppendStage(Stage::Kind::kFilter);
  for (int i = 0; i < count; ++i) stage.exprs.push_back(Use(conjuncts[i]));
  if (stages_.size() == 1) CompileScanFilters();
  return true;
}

void Plan::CompileScanFilters() {
  scan_filters_.clear();
  for (const Expr* conjunct : stages_[0].exprs) {
    ScanFilter filter;
    filter.expr = conjunct;
    CollectColumns(*conjunct, &filter.columns);
    // What can fail must see only the rows that the conjuncts before it let through, so it cannot run
    // on a dictionary, whose entries may belong to other rows.
    if (filter.columns.size() == 1 && !conjunct->can_fail) filter.predicate = ScanPredicate::Compile(*conjunct);
    scan_filters_.push_back(std::move(filter));
  }
  std::stable_partition(scan_filters_.begin(), scan_filters_.end(),
                        [](const ScanFilter& filter) { return !filter.expr->can_fail; });
}

bool Plan::AddProjection(const PenumbraExpr* exprs, int count) {
  if (!CheckExprs(exprs, count)) return false;
  Stage& stage = AppendStage(Stage::Kind::kProjection);
  stage.output_types.clear();
  for (int i = 0; i < count; ++i) {
    stage.exprs.push_back(Use(exprs[i]));
    stage.output_types.push_back(stage.exprs.back()->type);
  }
  return true;
}

bool Plan::AddAggregationStage(const PenumbraExpr* keys, int key_count, const PenumbraAggregateCall* calls,
                               int call_count) {
  if (!CheckExprs(keys, key_count)) return false;
  AggregationSpec spec;
  for (int i = 0; i < key_count; ++i) spec.keys.push_back(exprs_[keys[i]].get());
  for (int i = 0; i < call_count; ++i) {
    const PenumbraAggregateCall& call = calls[i];
    if (call.argument >= 0 && !CheckExprs(&call.argument, 1)) return false;
    if (call.filter >= 0 && !CheckExprs(&call.filter, 1)) return false;
    AggregateSpec aggregate;
    aggregate.function = call.function;
    aggregate.result = call.result;
    aggregate.argument = call.argument >= 0 ? exprs_[call.argument].get() : nullptr;
    aggregate.filter = call.filter >= 0 ? exprs_[call.filter].get() : nullptr;
    aggregate.distinct = call.distinct;
    if (!FindCollation(call.collation, &aggregate.collation)) return false;
    if (aggregate.filter != nullptr && aggregate.filter->type != PENUMBRA_BOOL) {
      reason_ = "an aggregate's filter that is not boolean";
      return false;
    }
    if ((aggregate.argument == nullptr) != (call.function == PENUMBRA_AGG_COUNT_STAR)) {
      reason_ = "an aggregate with another number of arguments";
      return false;
    }
    if (!CheckAggregate(aggregate, &reason_)) return false;
    spec.aggregates.push_back(aggregate);
  }
  for (int i = 0; i < key_count; ++i) Use(keys[i]);
  for (int i = 0; i < call_count; ++i) {
    if (calls[i].argument >= 0) Use(calls[i].argument);
    if (calls[i].filter >= 0) Use(calls[i].filter);
  }
  Stage& stage = AppendStage(Stage::Kind::kAggregation);
  stage.output_types.clear();
  for (const Expr* key : spec.keys) stage.output_types.push_back(key->type);
  for (const AggregateSpec& aggregate : spec.aggregates) stage.output_types.push_back(aggregate.result);
  stage.aggregation = std::move(spec);
  return true;
}

bool Plan::AddSort(const PenumbraSortKey* keys, int count, int64_t limit, int64_t offset) {
  SortSpec spec;
  for (int i = 0; i < count; ++i) {
    const Collation* collation;
    if (!CheckExprs(&keys[i].expr, 1) || !FindCollation(keys[i].collation, &collation)) return false;
    spec.keys.push_back({nullptr, keys[i].descending, keys[i].nulls_first, collation});
  }
  for (int i = 0; i < count; ++i) spec.keys[i].expr = Use(keys[i].expr);
  spec.column_types = output_types();
  spec.limit = std::max<int64_t>(limit, -1);
  spec.offset = std::max<int64_t>(offset, 0);
  AppendStage(Stage::Kind::kSort).sort = std::move(spec);
  HoistProjection(stages_.size() - 1);
  return true;
}

// A top-N above a projection becomes a projection above a top-N: only the rows that are left are
// projected, and a top-N right above the scan can tell it which rows to decode. An expression that can
// fail has to be evaluated for all rows.
void Plan::HoistProjection(size_t sort_index) {
  if (sort_index == 0 || stages_[sort_index].sort.limit < 0) return;
  Stage& sort = stages_[sort_index];
  Stage& projection = stages_[sort_index - 1];
  if (projection.kind != Stage::Kind::kProjection) return;
  for (const Expr* expr : projection.exprs) {
    if (expr->can_fail) return;
  }
  for (const SortKeySpec& key : sort.sort.keys) {
    if (key.expr->kind == Expr::Kind::kCall) return;
  }
  for (SortKeySpec& key : sort.sort.keys) {
    if (key.expr->kind == Expr::Kind::kColumn) key.expr = projection.exprs[key.expr->column];
  }
  sort.sort.column_types = sort_index > 1 ? stages_[sort_index - 2].output_types : scan_types_;
  sort.output_types = sort.sort.column_types;
  std::swap(sort, projection);
}

bool Plan::AddLimit(int64_t limit, int64_t offset) {
  limit = std::max<int64_t>(limit, -1);
  offset = std::max<int64_t>(offset, 0);
  // A limit above a sort makes it a top-N; projections keep rows and order.
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    if (stage->kind == Stage::Kind::kSort && stage->sort.limit < 0 && stage->sort.offset == 0) {
      stage->sort.limit = limit;
      stage->sort.offset = offset;
      HoistProjection(static_cast<size_t>(stages_.rend() - stage) - 1);
      return true;
    }
    if (stage->kind != Stage::Kind::kProjection) break;
  }
  Stage& stage = AppendStage(Stage::Kind::kLimit);
  stage.limit = limit;
  stage.offset = offset;
  return true;
}

std::vector<std::vector<bool>> Plan::NeededColumns() const {
  std::vector<std::vector<bool>> needed(stages_.size() + 1);
  needed.back().assign(output_types().size(), true);
  for (size_t s = stages_.size(); s-- > 0;) {
    const Stage& stage = stages_[s];
    const std::vector<bool>& above = needed[s + 1];
    size_t width = s == 0 ? scan_types_.size() : stages_[s - 1].output_types.size();
    std::vector<int> columns;
    auto collect = [&columns](const Expr* expr) {
      if (expr != nullptr) CollectColumns(*expr, &columns);
    };
    switch (stage.kind) {
      case Stage::Kind::kProjection:
        for (size_t i = 0; i < stage.exprs.size(); ++i) {
          // An error must be raised whether or not somebody reads the value.
          if (above[i] || stage.exprs[i]->can_fail) collect(stage.exprs[i]);
        }
        break;
      case Stage::Kind::kAggregation:
        for (const Expr* key : stage.aggregation.keys) collect(key);
        for (const AggregateSpec& aggregate : stage.aggregation.aggregates) {
          collect(aggregate.argument);
          collect(aggregate.filter);
        }
        break;
      default:
        for (size_t c = 0; c < width; ++c) {
          if (above[c]) columns.push_back(static_cast<int>(c));
        }
        for (const Expr* conjunct : stage.exprs) collect(conjunct);
        for (const SortKeySpec& key : stage.sort.keys) collect(key.expr);
    }
    needed[s].assign(width, false);
    for (int column : columns) needed[s][column] = true;
  }
  return needed;
}

bool Plan::CanBeUnsupportedLate() const {
  bool can_be = false;
  for (const Stage& stage : stages_) {
    if (stage.kind == Stage::Kind::kAggregation || stage.kind == Stage::Kind::kSort) can_be = false;
    can_be = can_be || std::any_of(stage.exprs.begin(), stage.exprs.end(),
                                   [](const Expr* expr) { return expr->can_be_unsupported; });
  }
  return can_be;
}

const char* Plan::OperatorName(int index) const {
  if (index == 0) return "Vector Scan";
  if (index < 0 || static_cast<size_t>(index) > stages_.size()) return nullptr;
  const Stage& stage = stages_[index - 1];
  switch (stage.kind) {
    case Stage::Kind::kFilter: return "Vector Filter";
    case Stage::Kind::kProjection: return "Vector Projection";
    case Stage::Kind::kAggregation:
      return stage.aggregation.keys.empty() ? "Vector Aggregate" : "Vector Hash Aggregate";
    case Stage::Kind::kSort: return stage.sort.limit >= 0 ? "Vector Top-N" : "Vector Sort";
    case Stage::Kind::kLimit: return "Vector Limit";
  }
  return nullptr;
}

}  // namespace penumbra
