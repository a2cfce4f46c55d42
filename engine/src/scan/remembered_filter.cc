#include "scan/remembered_filter.h"

#include <algorithm>

#include "function/collation.h"

namespace penumbra {
namespace {

// Longer ones are not remembered: each chunk's copy would take more than the rows.
constexpr size_t kKeyBytesMax = size_t{64} << 10;

template <typename T>
void Append(const T& value, std::string* key) {
  key->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void AppendBytes(std::string_view bytes, std::string* key) {
  Append(static_cast<uint64_t>(bytes.size()), key);
  key->append(bytes);
}

bool IsText(PenumbraType type) { return type == PENUMBRA_TEXT || type == PENUMBRA_BPCHAR; }

bool IsPlainType(PenumbraType type) {
  return type == PENUMBRA_BOOL || type == PENUMBRA_INT2 || type == PENUMBRA_INT4 || type == PENUMBRA_INT8;
}

// Comparisons, logic and choices among values: a scan does them about as fast as it reads what it remembers.
bool IsCheap(PenumbraFunction function) { return function <= PENUMBRA_FN_LEAST; }
static_assert(PENUMBRA_FN_EQ == 0 && PENUMBRA_FN_LEAST + 1 == PENUMBRA_FN_ADD, "the cheap functions come first");

bool AppendConstants(const Expr& expr, std::string* key) {
  const Vector& values = expr.constant;
  Append(expr.constant_count(), key);
  Append(values.is_null_constant(), key);
  if (values.is_null_constant()) return true;
  for (uint32_t i = 0; i < expr.constant_count(); ++i) {
    if (key->size() > kKeyBytesMax) return false;
    const bool is_valid = values.IsValid(i);
    Append(is_valid, key);
    if (!is_valid) continue;
    if (IsText(expr.type)) {
      AppendBytes(values.values<StringRef>()[i].view(), key);
    } else if (IsPlainType(expr.type)) {
      const uint32_t width = FlatWidth(values);
      key->append(values.values<char>() + size_t{i} * width, width);
    } else {
      return false;
    }
  }
  return true;
}

// False: something in it has no name. *is_costly: whether a call of it is.
bool AppendExpr(const Expr& expr, std::string* key, bool* is_costly) {
  Append(expr.kind, key);
  Append(expr.type, key);
  switch (expr.kind) {
    case Expr::Kind::kColumn: return IsText(expr.type);
    case Expr::Kind::kConstant:
    case Expr::Kind::kList: return AppendConstants(expr, key);
    case Expr::Kind::kCall: break;
  }
  *is_costly |= !IsCheap(expr.function);
  Append(expr.function, key);
  AppendBytes(expr.collation == nullptr ? std::string_view() : expr.collation->description(), key);
  Append(static_cast<uint32_t>(expr.args.size()), key);
  return key->size() <= kKeyBytesMax && std::all_of(expr.args.begin(), expr.args.end(),
                                                    [&](const Expr* arg) { return AppendExpr(*arg, key, is_costly); });
}

}  // namespace

std::string RememberedKey(const Expr& expr) {
  if (expr.can_fail || expr.can_be_unsupported || expr.calls_host || expr.type != PENUMBRA_BOOL) return {};
  std::vector<int> columns;
  CollectColumns(expr, &columns);
  std::string key;
  bool is_costly = false;
  if (columns.size() != 1 || !AppendExpr(expr, &key, &is_costly) || !is_costly || key.size() > kKeyBytesMax) return {};
  return key;
}

}  // namespace penumbra
