#include "function/registry.h"

#include <algorithm>

#include "expression/code_domain.h"
#include "function/numeric_traits.h"
#include "numeric/numeric.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

bool IsComplete(const Binding& binding) { return binding.evaluate != nullptr || binding.evaluate_lazily != nullptr; }

// Copies a constant's value out of a batch's arena.
Vector KeepConstant(const Vector& value, Arena& arena) {
  Vector kept = value;
  kept.form = VectorForm::kConstant;
  kept.validity = nullptr;
  if (value.data == nullptr) return kept;
  void* data = arena.Allocate(FlatWidth(value));
  if (IsStringForm(value)) {
    const StringRef& s = *value.values<StringRef>();
    *static_cast<StringRef*>(data) = s.is_inline() ? s : StringRef(arena.CopyBytes(s.data(), s.length), s.length);
  } else {
    std::memcpy(data, value.data, FlatWidth(value));
  }
  kept.data = data;
  return kept;
}

// Turns a call of constants into a constant, unless it fails: then it must fail only when it is reached.
void FoldConstants(Expr* expr, const Session& session) {
  for (const Expr* arg : expr->args) {
    if (!arg->is_constant()) return;
  }
  Arena scratch;
  EvalContext context{scratch, session};
  Batch one_row;
  one_row.rows = 1;
  try {
    Vector value = Evaluate(*expr, one_row, context);
    if (!value.is_constant()) {
      value = Flatten(value, 1, scratch);
      if (!value.IsValid(0)) value = NullConstant(expr->type);
    }
    auto storage = std::make_shared<Arena>(nullptr, 256);
    expr->constant = KeepConstant(value, *storage);
    expr->storage = std::move(storage);
  } catch (const EngineError&) {
    return;
  }
  expr->kind = Expr::Kind::kConstant;
  expr->args.clear();
  expr->depth = 0;
  expr->evaluate = nullptr;
  expr->evaluate_lazily = nullptr;
  expr->evaluate_truth = nullptr;
  expr->evaluate_lazy_truth = nullptr;
  expr->state = nullptr;
  expr->can_fail = expr->call_can_fail = expr->can_be_unsupported = false;
  if (expr->type == PENUMBRA_NUMERIC) expr->numeric = TraitsOfConstant(expr->constant);
}

// The constant has the narrowest form and exact bounds, by which calls choose their own form.
Vector NumericConstant(const char* payload, uint32_t length, Arena& arena) {
  Vector v;
  v.type = PENUMBRA_NUMERIC;
  v.form = VectorForm::kConstant;
  int64_t narrow;
  int128 wide;
  int scale;
  if (PayloadToInt64(payload, length, &narrow, &scale)) {
    int64_t* data = arena.AllocateArray<int64_t>(1);
    *data = narrow;
    v.data = data;
    v.scale = static_cast<int16_t>(scale);
    v.lower = v.upper = narrow;
  } else if (PayloadToInt128(payload, length, &wide, &scale)) {
    int128* data = arena.AllocateArray<int128>(1);
    *data = wide;
    v.data = data;
    v.numeric_form = NumericForm::kInt128;
    v.scale = static_cast<int16_t>(scale);
    v.lower = v.upper = wide;
  } else {
    StringRef* data = arena.AllocateArray<StringRef>(1);
    *data = StringRef(arena.CopyBytes(payload, length), length);
    v.data = data;
    v.numeric_form = NumericForm::kPayload;
  }
  return v;
}

template <typename T>
const void* KeepValue(T value, Arena& arena) {
  T* data = arena.AllocateArray<T>(1);
  *data = value;
  return data;
}

StringRef KeepString(const void* bytes, uint32_t length, Arena& arena) {
  const char* given = static_cast<const char*>(bytes);
  return StringRef(length <= StringRef::kInlineBytes ? given : arena.CopyBytes(given, length), length);
}

bool IsNullElement(const PenumbraColumnInput& input, uint32_t i) {
  return input.nulls != nullptr && input.nulls[i] != 0;
}

const uint64_t* KeepValidity(const PenumbraColumnInput& input, uint32_t count, Arena& arena) {
  if (input.nulls == nullptr) return nullptr;
  uint64_t* validity = arena.AllocateArray<uint64_t>(BitWords(count));
  std::fill_n(validity, BitWords(count), 0);
  for (uint32_t i = 0; i < count; ++i) validity[i / 64] |= uint64_t{!IsNullElement(input, i)} << (i % 64);
  return validity;
}

template <typename T>
const void* KeepFixed(const PenumbraColumnInput& input, uint32_t count, Arena& arena) {
  T* data = arena.AllocateArray<T>(count);
  for (uint32_t i = 0; i < count; ++i) data[i] = IsNullElement(input, i) ? T{0} : static_cast<T>(input.values[i]);
  return data;
}

const void* KeepWide(const PenumbraColumnInput& input, uint32_t count, Arena& arena) {
  constexpr size_t kBytes = 16;
  char* data = arena.AllocateArray<char>(count * kBytes);
  for (uint32_t i = 0; i < count; ++i) {
    if (IsNullElement(input, i)) {
      std::memset(data + i * kBytes, 0, kBytes);
    } else {
      std::memcpy(data + i * kBytes, reinterpret_cast<const void*>(input.values[i]), kBytes);
    }
  }
  return data;
}

const void* KeepStrings(const PenumbraColumnInput& input, uint32_t count, Arena& arena) {
  StringRef* data = arena.AllocateArray<StringRef>(count);
  for (uint32_t i = 0; i < count; ++i) {
    data[i] = IsNullElement(input, i)
                  ? StringRef(std::string_view())
                  : KeepString(reinterpret_cast<const void*>(input.values[i]), input.lengths[i], arena);
  }
  return data;
}

}  // namespace

const char* FunctionName(PenumbraFunction function) {
  static const char* const kNames[] = {
#define PENUMBRA_FUNCTION_NAME(id, name, collation, scale) name,
      PENUMBRA_FUNCTION_LIST(PENUMBRA_FUNCTION_NAME)
#undef PENUMBRA_FUNCTION_NAME
  };
  return function < PENUMBRA_FN_COUNT_OF ? kNames[function] : "?";
}

const char* TypeName(PenumbraType type) {
  switch (type) {
    case PENUMBRA_BOOL: return "boolean";
    case PENUMBRA_INT2: return "smallint";
    case PENUMBRA_INT4: return "integer";
    case PENUMBRA_INT8: return "bigint";
    case PENUMBRA_FLOAT4: return "real";
    case PENUMBRA_FLOAT8: return "double precision";
    case PENUMBRA_NUMERIC: return "numeric";
    case PENUMBRA_DATE: return "date";
    case PENUMBRA_TIMESTAMP: return "timestamp";
    case PENUMBRA_TIMESTAMPTZ: return "timestamptz";
    case PENUMBRA_INTERVAL: return "interval";
    case PENUMBRA_TEXT: return "text";
    case PENUMBRA_BPCHAR: return "character";
    case PENUMBRA_UUID: return "uuid";
    case PENUMBRA_ARRAY: return "array";
  }
  return "?";
}

std::string TypeList(const std::vector<PenumbraType>& types) {
  std::string list = "(";
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) list += ", ";
    list += TypeName(types[i]);
  }
  return list + ")";
}

Binding Bind(const CallSite& call) {
  using Topic = Binding (*)(const CallSite&);
  static constexpr Topic kTopics[] = {BindLogic,      BindConditional,   BindNumeric,  BindCompare,
                                      BindArithmetic, BindFloatFunction, BindCast,     BindText,
                                      BindDatetime,   BindWidthBucket,   BindOverlaps, BindRange};
  std::string reason;
  for (Topic topic : kTopics) {
    Binding binding = topic(call);
    if (IsComplete(binding)) return binding;
    if (reason.empty()) reason = std::move(binding.reason);
  }
  Binding refused;
  if (reason.empty()) {
    std::vector<PenumbraType> types;
    for (const Expr* arg : call.args) types.push_back(arg->type);
    reason = std::string(FunctionName(call.function)) + " on " + TypeList(types);
  }
  refused.reason = std::move(reason);
  return refused;
}

std::unique_ptr<Expr> BuildColumn(int column, PenumbraType type) {
  auto expr = std::make_unique<Expr>();
  expr->kind = Expr::Kind::kColumn;
  expr->type = type;
  expr->column = column;
  return expr;
}

// The expression owns a copy of the value: the caller may free its own.
std::unique_ptr<Expr> BuildConstant(PenumbraType type, const PenumbraValue& value) {
  auto expr = std::make_unique<Expr>();
  expr->type = type;
  expr->constant = NullConstant(type);
  if (value.is_null) return expr;
  auto storage = std::make_shared<Arena>(nullptr, 256);
  Arena& arena = *storage;
  const char* bytes = static_cast<const char*>(value.bytes);
  const void*& data = expr->constant.data;
  switch (type) {
    case PENUMBRA_BOOL: data = KeepValue<uint8_t>(value.integer != 0, arena); break;
    case PENUMBRA_INT2: data = KeepValue(static_cast<int16_t>(value.integer), arena); break;
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: data = KeepValue(static_cast<int32_t>(value.integer), arena); break;
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: data = KeepValue(value.integer, arena); break;
    case PENUMBRA_FLOAT4: data = KeepValue(static_cast<float>(value.real), arena); break;
    case PENUMBRA_FLOAT8: data = KeepValue(value.real, arena); break;
    case PENUMBRA_INTERVAL: data = KeepValue(value.interval, arena); break;
    case PENUMBRA_UUID: data = arena.CopyBytes(bytes, 16); break;
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR: data = KeepValue(KeepString(bytes, value.bytes_length, arena), arena); break;
    case PENUMBRA_NUMERIC:
      expr->constant = NumericConstant(bytes, value.bytes_length, arena);
      expr->numeric = TraitsOfConstant(expr->constant);
      break;
    case PENUMBRA_ARRAY: break;
  }
  expr->storage = std::move(storage);
  return expr;
}

// The values are copied, as a constant's are. Numerics stay payloads: they need not have one scale.
std::unique_ptr<Expr> BuildList(PenumbraType type, const PenumbraColumnInput& values, uint32_t count) {
  auto expr = std::make_unique<Expr>();
  expr->kind = Expr::Kind::kList;
  expr->type = type;
  expr->list_count = count;
  auto storage = std::make_shared<Arena>(nullptr, 256);
  Arena& arena = *storage;
  Vector& v = expr->constant;
  v = FlatVector(type, nullptr, KeepValidity(values, count, arena));
  if (type == PENUMBRA_NUMERIC) v.numeric_form = NumericForm::kPayload;
  if (IsStringForm(v)) {
    v.data = KeepStrings(values, count, arena);
  } else {
    switch (FlatWidth(v)) {
      case 1: v.data = KeepFixed<uint8_t>(values, count, arena); break;
      case 2: v.data = KeepFixed<uint16_t>(values, count, arena); break;
      case 4: v.data = KeepFixed<uint32_t>(values, count, arena); break;
      case 8: v.data = KeepFixed<uint64_t>(values, count, arena); break;
      default: v.data = KeepWide(values, count, arena); break;
    }
  }
  expr->storage = std::move(storage);
  return expr;
}

// Calls that cannot fail may be moved. So a numeric call that could overflow in general cannot fail if the digits of
// its arguments bound its result.
std::unique_ptr<Expr> BindCall(PenumbraFunction function, PenumbraType result, const std::vector<const Expr*>& args,
                               const Session& session, std::string* reason, const Collation* collation) {
  int depth = 1;
  for (const Expr* arg : args) depth = std::max(depth, arg->depth + 1);
  if (depth > kExprDepthMax) {
    *reason = "expression too deep";
    return nullptr;
  }
  const bool takes_lists = function == PENUMBRA_FN_IN_LIST || function == PENUMBRA_FN_NOT_IN_LIST;
  if (!takes_lists &&
      std::any_of(args.begin(), args.end(), [](const Expr* arg) { return arg->kind == Expr::Kind::kList; })) {
    *reason = std::string("function ") + FunctionName(function) + " on a list";
    return nullptr;
  }
  Binding binding = Bind({function, result, args, session, collation});
  if (!IsComplete(binding)) {
    *reason = std::move(binding.reason);
    return nullptr;
  }
  auto expr = std::make_unique<Expr>();
  expr->kind = Expr::Kind::kCall;
  expr->type = result;
  expr->function = function;
  expr->args = args;
  expr->depth = depth;
  expr->evaluate = binding.evaluate;
  expr->evaluate_lazily = binding.evaluate_lazily;
  expr->evaluate_truth = binding.evaluate_truth;
  expr->evaluate_lazy_truth = binding.evaluate_lazy_truth;
  expr->evaluated_args =
      binding.evaluated_args < 0 ? static_cast<uint32_t>(args.size()) : static_cast<uint32_t>(binding.evaluated_args);
  expr->numeric = binding.numeric.has_scale() ? binding.numeric : TraitsOfCall(*expr);
  expr->call_can_fail = binding.can_fail && !IsSafeNumericCall(*expr);
  expr->can_fail = expr->call_can_fail || CanFail(args);
  expr->can_be_unsupported = binding.can_be_unsupported || std::any_of(args.begin(), args.end(), [](const Expr* arg) {
                               return arg->can_be_unsupported;
                             });
  expr->calls_host = std::any_of(args.begin(), args.end(), [](const Expr* arg) { return arg->calls_host; });
  expr->is_strict = binding.is_strict;
  expr->collation = collation;
  expr->state = std::move(binding.state);
  expr->coded = FindCodedCall(*expr);
  return expr;
}

std::unique_ptr<Expr> BuildCall(PenumbraFunction function, PenumbraType result, const std::vector<const Expr*>& args,
                                const Session& session, std::string* reason, const Collation* collation) {
  std::unique_ptr<Expr> expr = BindCall(function, result, args, session, reason, collation);
  if (expr != nullptr) FoldConstants(expr.get(), session);
  return expr;
}

}  // namespace penumbra
