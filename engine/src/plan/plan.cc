#include "plan/plan.h"

#include <algorithm>

#include "expression/host_calls.h"
#include "function/collation.h"
#include "function/numeric_traits.h"
#include "function/registry.h"
#include "plan/operator_kinds.h"
#include "plan/passes.h"

namespace penumbra {
namespace {

bool IsKnownType(PenumbraType type) { return type >= PENUMBRA_BOOL && type <= PENUMBRA_UUID; }

// Whether the columns that the expression reads are there, of its types.
bool ReadsColumnsOf(const Expr& expr, const std::vector<OutputColumn>& columns) {
  if (expr.kind == Expr::Kind::kColumn) {
    return static_cast<size_t>(expr.column) < columns.size() && columns[expr.column].type == expr.type;
  }
  return std::all_of(expr.args.begin(), expr.args.end(),
                     [&](const Expr* arg) { return ReadsColumnsOf(*arg, columns); });
}

template <typename T>
void AppendRaw(const T& value, std::string* key) {
  key->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Constants with equal keys are one node. Floats are compared by their bits: 0 and -0 are two constants, and so are
// different NaNs.
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

std::string ListKey(const Expr& list) {
  const Vector& v = list.constant;
  std::string key = "l";
  AppendRaw(list.type, &key);
  AppendRaw(list.list_count, &key);
  AppendRaw(v.validity != nullptr, &key);
  if (v.validity != nullptr) {
    key.append(reinterpret_cast<const char*>(v.validity), BitWords(list.list_count) * sizeof(*v.validity));
  }
  if (!IsStringForm(v)) return key.append(v.values<char>(), size_t{list.list_count} * FlatWidth(v));
  for (uint32_t i = 0; i < list.list_count; ++i) {
    AppendRaw(v.values<StringRef>()[i].length, &key);
    key.append(v.values<StringRef>()[i].view());
  }
  return key;
}

}  // namespace

Plan::Plan(const PenumbraPlanOptions& options) {
  session_.encoding_is_utf8 = options.encoding_is_utf8;
  session_.power_scale_by_result = options.power_scale_by_result;
  session_.width_bucket_divides_first = options.width_bucket_divides_first;
  if (const PenumbraTimeZone* zone = options.time_zone; zone != nullptr && zone->count > 0) {
    session_.zone.from_us.assign(zone->utc_from_us, zone->utc_from_us + zone->count);
    session_.zone.offset_seconds.assign(zone->offset_seconds, zone->offset_seconds + zone->count);
    session_.zone.valid_until_us = zone->valid_until_us;
  }
}

PenumbraOperator Plan::AddScan(const PenumbraScanColumn* columns, int count) {
  Operator scan{Operator::Kind::kScan};
  for (int i = 0; i < count; ++i) {
    if (!IsKnownType(columns[i].type)) {
      reason_ = "a scan column of an unknown type";
      return -1;
    }
    scan.output.push_back({columns[i].type});
    if (columns[i].numeric_scale >= 0) {
      scan.output.back().numeric = TraitsOfDeclared(columns[i].numeric_precision, columns[i].numeric_scale);
    }
    scan.scan.types.push_back(columns[i].type);
  }
  if (is_finished()) {
    reason_ = "an operator after the plan was finished";
    return -1;
  }
  operators_.push_back(std::move(scan));
  return static_cast<PenumbraOperator>(operators_.size()) - 1;
}

bool Plan::CheckInput(PenumbraOperator input) {
  if (is_finished()) {
    reason_ = "an operator after the plan was finished";
  } else if (!IsOperator(input)) {
    reason_ = "an input that does not exist";
  } else if (operators_[input].users > 0 && !CanBeReadAgain(input)) {
    reason_ = "an input that another operator has";
  } else {
    return true;
  }
  return false;
}

bool Plan::CanBeReadAgain(PenumbraOperator id) const {
  const PipelineRole role = KindOf(operators_[id]).role;
  return IsBreaker(role) || (role == PipelineRole::kStep && CanBeReadAgain(operators_[id].inputs[0]));
}

// A second user reads again what the breaker below has.
void Plan::TakeInput(PenumbraOperator input) {
  if (operators_[input].users++ == 0) return;
  for (PenumbraOperator id = input;; id = operators_[id].inputs[0]) {
    operators_[id].is_read_again = true;
    if (!IsBreaker(KindOf(operators_[id]).role)) continue;
    // Of other kinds nobody looks at them.
    operators_[id].aggregation.is_read_again = operators_[id].recursion.is_read_again = true;
    return;
  }
}

bool Plan::CheckColumns(PenumbraOperator input, const PenumbraExpr* exprs, int count) {
  if (!CheckColumns(operators_[input].output, exprs, count)) return false;
  if (std::none_of(exprs, exprs + count, [&](PenumbraExpr id) { return exprs_[id]->type == PENUMBRA_ARRAY; }))
    return true;
  reason_ = "arrays that are not only shown";
  return false;
}

bool Plan::CheckColumns(const std::vector<OutputColumn>& columns, const PenumbraExpr* exprs, int count) {
  if (std::all_of(exprs, exprs + count, [&](PenumbraExpr id) { return ReadsColumnsOf(*exprs_[id], columns); })) {
    return true;
  }
  reason_ = "an expression over columns that the input does not have";
  return false;
}

// An operator over one input whose columns it passes on.
PenumbraOperator Plan::Append(Operator::Kind kind, PenumbraOperator input) {
  Operator added{kind};
  added.inputs = {input};
  added.output = operators_[input].output;
  TakeInput(input);
  operators_.push_back(std::move(added));
  return static_cast<PenumbraOperator>(operators_.size()) - 1;
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

PenumbraExpr Plan::Column(PenumbraOperator input, int column) {
  if (!IsOperator(input) || column < 0 || static_cast<size_t>(column) >= operators_[input].output.size()) {
    reason_ = "a column that does not exist";
    return -1;
  }
  return ColumnOf(operators_[input].output[column], column);
}

PenumbraExpr Plan::ColumnOf(const OutputColumn& output, int column) {
  std::string key = "c";
  AppendRaw(output.type, &key);
  AppendRaw(column, &key);
  AppendRaw(output.numeric, &key);
  if (PenumbraExpr id = Find(key); id >= 0) return id;
  std::unique_ptr<Expr> expr = BuildColumn(column, output.type);
  expr->numeric = output.numeric;
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

PenumbraExpr Plan::List(PenumbraType type, const PenumbraColumnInput& values, uint32_t count) {
  if (!IsKnownType(type)) {
    reason_ = "a list of an unknown type";
    return -1;
  }
  std::unique_ptr<Expr> list = BuildList(type, values, count);
  std::string key = ListKey(*list);
  if (PenumbraExpr id = Find(key); id >= 0) return id;
  return Keep(std::move(key), std::move(list));
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

// Arguments whose scale nobody sees are relaxed before the call is looked up, so calls that differ only in such a scale
// are one node. Only a new call counts as a use of its arguments.
PenumbraExpr Plan::CallAs(PenumbraFunction function, PenumbraType result, const PenumbraExpr* given, int count,
                          const PenumbraCollation* collation_description, bool hides_scale) {
  if (function < 0 || function >= PENUMBRA_FN_COUNT_OF || !IsKnownType(result)) {
    reason_ = "an unknown function";
    return -1;
  }
  if (!CheckExprs(given, count)) return -1;
  std::vector<PenumbraExpr> args(given, given + count);
  std::vector<const Expr*> arg_exprs;
  for (PenumbraExpr arg : args) {
    arg_exprs.push_back(exprs_[arg].get());
    if (arg_exprs.back()->type != PENUMBRA_ARRAY) continue;
    reason_ = "arrays that are not only shown";
    return -1;
  }
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

PenumbraExpr Plan::HostCall(int function, PenumbraType result, const PenumbraExpr* args, int count) {
  if (function < 0 || !IsKnownType(result)) {
    reason_ = "an unknown function of the host";
    return -1;
  }
  if (!CheckExprs(args, count)) return -1;
  std::string key = "c";
  AppendRaw(function, &key);
  std::vector<const Expr*> arg_exprs;
  int depth = 0;
  for (int i = 0; i < count; ++i) {
    AppendRaw(args[i], &key);
    arg_exprs.push_back(exprs_[args[i]].get());
    depth = std::max(depth, arg_exprs.back()->depth);
    if (arg_exprs.back()->kind != Expr::Kind::kList && arg_exprs.back()->type != PENUMBRA_ARRAY) continue;
    reason_ = "a list or an array for a function of the host";
    return -1;
  }
  if (depth >= kExprDepthMax) {
    reason_ = "expression too deep";
    return -1;
  }
  if (PenumbraExpr id = Find(key); id >= 0) return id;
  for (int i = 0; i < count; ++i) Use(args[i]);
  return Keep(std::move(key), BuildHostCall(function, result, arg_exprs));
}

PenumbraOperator Plan::AddFilter(PenumbraOperator input, const PenumbraExpr* conjuncts, int count) {
  if (!CheckInput(input) || !CheckExprs(conjuncts, count) || !CheckColumns(input, conjuncts, count)) return -1;
  for (int i = 0; i < count; ++i) {
    if (exprs_[conjuncts[i]]->type != PENUMBRA_BOOL) {
      reason_ = "a filter that is not boolean";
      return -1;
    }
  }
  const PenumbraOperator id = Append(Operator::Kind::kFilter, input);
  for (int i = 0; i < count; ++i) operators_[id].exprs.push_back(Use(conjuncts[i]));
  return id;
}

PenumbraOperator Plan::AddProjection(PenumbraOperator input, const PenumbraExpr* exprs, int count) {
  if (!CheckInput(input) || !CheckExprs(exprs, count) || !CheckColumns(operators_[input].output, exprs, count))
    return -1;
  const PenumbraOperator id = Append(Operator::Kind::kProjection, input);
  Operator& projection = operators_[id];
  projection.output.clear();
  for (int i = 0; i < count; ++i) {
    projection.exprs.push_back(Use(exprs[i]));
    projection.output.push_back({projection.exprs.back()->type, projection.exprs.back()->numeric});
  }
  return id;
}

// All inputs are checked before the first is taken, so a refused union leaves the plan as it was.
PenumbraOperator Plan::AddUnion(const PenumbraOperator* inputs, int count) {
  if (count < 1) {
    reason_ = "a union of nothing";
    return -1;
  }
  for (int i = 0; i < count; ++i) {
    if (!CheckInput(inputs[i])) return -1;
    if (operators_[inputs[i]].output_types() != operators_[inputs[0]].output_types()) {
      reason_ = "a union of inputs with other columns";
      return -1;
    }
    if (std::find(inputs, inputs + i, inputs[i]) != inputs + i) {
      reason_ = "an input that another operator has";
      return -1;
    }
  }
  const PenumbraOperator id = Append(Operator::Kind::kUnion, inputs[0]);
  Operator& all = operators_[id];
  all.inputs.assign(inputs, inputs + count);
  for (int i = 1; i < count; ++i) {
    for (size_t c = 0; c < all.output.size(); ++c) {
      all.output[c].numeric = TraitsOfEither(all.output[c].numeric, operators_[inputs[i]].output[c].numeric);
    }
  }
  for (int i = 1; i < count; ++i) TakeInput(inputs[i]);
  return id;
}

bool Plan::Finish(PenumbraOperator output) {
  if (!CheckInput(output)) return false;
  if (operators_[output].users > 0) {
    reason_ = "an output that another operator has";
    return false;
  }
  output_ = output;
  order_ = OrderOperators(operators_, output);
  RunPasses(&operators_, order_);
  order_ = OrderOperators(operators_, output);
  return true;
}

bool Plan::IsScan(PenumbraOperator id) const {
  return IsOperator(id) && KindOf(operators_[id]).role == PipelineRole::kSource;
}

bool Plan::CanBeUnsupportedLate() const {
  std::vector<PenumbraOperator> streaming = {output_};
  while (!streaming.empty()) {
    const Operator& current = operators_[streaming.back()];
    streaming.pop_back();
    const PipelineRole role = KindOf(current).role;
    if (role == PipelineRole::kBreaker) continue;
    if (role == PipelineRole::kRecursion) {
      streaming.push_back(current.inputs[1]);
      continue;
    }
    if (current.unnest.CanBeUnsupported()) return true;
    if (std::any_of(current.exprs.begin(), current.exprs.end(),
                    [](const Expr* expr) { return expr->can_be_unsupported; })) {
      return true;
    }
    if (role == PipelineRole::kProbe) {
      // Builds are complete before any row is out.
      if (current.join.CanBeUnsupported()) return true;
      streaming.push_back(current.inputs[0]);
      continue;
    }
    streaming.insert(streaming.end(), current.inputs.begin(), current.inputs.end());
  }
  return false;
}

const char* Plan::OperatorName(int place) const {
  if (place < 0 || static_cast<size_t>(place) >= order_.size()) return nullptr;
  const Operator& named = operators_[order_[place]];
  return KindOf(named).name(named);
}

}  // namespace penumbra
