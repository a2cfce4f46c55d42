#include "expression/code_domain.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/kernels.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// Results with more different values are handed on flat: nobody groups on that many codes.
constexpr uint32_t kEntriesMax = 1024;

// The bytes that tell entry i from others.
std::string_view EntryBytes(const Vector& entries, uint32_t i) {
  if (IsStringForm(entries)) return entries.values<StringRef>()[i].view();
  const uint32_t width = FlatWidth(entries);
  return {entries.values<char>() + size_t{i} * width, width};
}

bool IsDear(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_ADD:
    case PENUMBRA_FN_SUB:
    case PENUMBRA_FN_MUL:
    case PENUMBRA_FN_NEG:
    case PENUMBRA_FN_ABS:
    case PENUMBRA_FN_SIGN:
    case PENUMBRA_FN_CAST:
    case PENUMBRA_FN_COMPARED_AS: return false;
    default: return true;
  }
}

bool HasDearCall(const Expr& expr) {
  if (expr.kind != Expr::Kind::kCall) return false;
  return IsDear(expr.function) ||
         std::any_of(expr.args.begin(), expr.args.end(), [](const Expr* arg) { return HasDearCall(*arg); });
}

bool IsStrictTree(const Expr& expr) {
  if (expr.kind != Expr::Kind::kCall) return true;
  return expr.is_strict &&
         std::all_of(expr.args.begin(), expr.args.end(), [](const Expr* arg) { return IsStrictTree(*arg); });
}

const Expr* FindColumn(const Expr& expr) {
  if (expr.kind == Expr::Kind::kColumn) return &expr;
  for (const Expr* arg : expr.args) {
    if (const Expr* column = FindColumn(*arg); column != nullptr) return column;
  }
  return nullptr;
}

bool HasFrames(PenumbraType type) { return type != PENUMBRA_BOOL && IsIntegerType(type, NumericForm::kInt64); }

template <typename T>
void FillValues(int64_t base, uint64_t step, uint32_t first, uint32_t count, void* out) {
  T* values = static_cast<T*>(out);
  for (uint32_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(static_cast<uint64_t>(base) + uint64_t{first + i} * step);
  }
}

}  // namespace

void FillCodeValues(uint32_t width, int64_t base, uint64_t step, uint32_t first, uint32_t count, void* values) {
  switch (width) {
    case 2: return FillValues<int16_t>(base, step, first, count, values);
    case 4: return FillValues<int32_t>(base, step, first, count, values);
    default: return FillValues<int64_t>(base, step, first, count, values);
  }
}

CodedCall FindCodedCall(const Expr& call) {
  CodedCall coded;
  if (call.type == PENUMBRA_BOOL || call.calls_host || !HasDearCall(call)) return coded;
  std::vector<int> columns;
  CollectColumns(call, &columns);
  if (columns.size() != 1 || !HasFrames(FindColumn(call)->type)) return coded;
  coded.column = columns[0];
  coded.keeps_nulls = IsStrictTree(call);
  return coded;
}

CodeDomain::Table* CodeDomain::FindTable(const Expr& expr) {
  for (Table* table = tables_; table != nullptr; table = table->next) {
    if (table->expr == &expr) return table;
  }
  return tables_ = new (arena_->Allocate(sizeof(Table))) Table{&expr, tables_};
}

// All codes are evaluated at once, but only after as many rows have been seen as there are codes: before, it does not
// pay.
bool CodeDomain::Evaluate(const Expr& expr, const Vector& column, uint32_t rows, EvalContext& context, Vector* result) {
  Table* table = FindTable(expr);
  if (!table->is_built) {
    table->rows_seen += rows;
    if (table->rows_seen < codes_) return false;
    Build(context, table);
  }
  if (!table->is_usable) return false;
  uint16_t* codes = context.arena.AllocateArray<uint16_t>(rows);
  if (column.code_bytes == 1) {
    kernels::LookupValues(static_cast<const uint8_t*>(column.codes), table->entry_of_code, rows, codes);
  } else {
    kernels::LookupValues(static_cast<const uint16_t*>(column.codes), table->entry_of_code, rows, codes);
  }
  *result = table->entries;
  result->form = VectorForm::kDictionary;
  result->data = codes;
  result->code_bytes = sizeof(uint16_t);
  result->dictionary_size = table->entry_count;
  result->dictionary = &table->entries;
  result->validity = column.validity;
  if (table->entry_count > kEntriesMax) *result = Flatten(*result, rows, context.arena);
  return true;
}

void CodeDomain::Build(const EvalContext& context, Table* table) const {
  table->is_built = true;
  try {
    table->is_usable = EvaluateEntries(context, table);
  } catch (const EngineError&) {  // of a value that perhaps no row has: the rows decide
  }
  if (table->is_usable) MergeEqualEntries(table);
}

// In parts of a vector's size, which functions count on.
bool CodeDomain::EvaluateEntries(const EvalContext& rows_context, Table* table) const {
  const Expr& expr = *table->expr;
  std::vector<Vector> columns(static_cast<size_t>(expr.coded.column) + 1);
  EvalContext context = rows_context.In(*arena_);
  const uint32_t width = FlatWidth(values_);
  char* entries = nullptr;
  for (uint32_t first = 0; first < codes_; first += kVectorRows) {
    const uint32_t count = std::min(kVectorRows, codes_ - first);
    void* values = arena_->Allocate(size_t{count} * width);
    FillCodeValues(width, base_, step_, first, count, values);
    Vector& column = columns.back();
    column = values_;
    column.data = values;
    const Batch batch = {count, static_cast<uint32_t>(columns.size()), columns.data()};
    const Vector part = Flatten(penumbra::Evaluate(expr, batch, context), count, *arena_);
    if (part.validity != nullptr) return false;
    if (first == 0) {
      table->entries = part;
      entries = static_cast<char*>(arena_->Allocate(size_t{codes_} * FlatWidth(part)));
      table->entries.data = entries;
    } else if (part.numeric_form != table->entries.numeric_form || part.scale != table->entries.scale) {
      return false;
    }
    table->entries.lower = std::min(table->entries.lower, part.lower);
    table->entries.upper = std::max(table->entries.upper, part.upper);
    const uint32_t entry_width = FlatWidth(part);
    std::memcpy(entries + size_t{first} * entry_width, part.data, size_t{count} * entry_width);
  }
  table->entries.codes = nullptr;
  table->entries.domain = nullptr;
  table->entry_count = codes_;
  return entries != nullptr;
}

// Gives equal entries one code. The table has an entry for every code of its width, since null rows
// have any.
void CodeDomain::MergeEqualEntries(Table* table) const {
  constexpr uint32_t kCodes = 1 << 16;
  uint16_t* entry_of_code = arena_->AllocateArray<uint16_t>(kCodes);
  std::fill_n(entry_of_code, kCodes, uint16_t{0});
  table->entry_of_code = entry_of_code;
  const Vector& entries = table->entries;
  std::unordered_map<std::string_view, uint16_t> seen;
  std::vector<uint32_t> firsts;  // of each different entry
  for (uint32_t code = 0; code < codes_ && firsts.size() <= kEntriesMax; ++code) {
    const std::string_view bytes = EntryBytes(entries, code);
    if (code > 0 && bytes == EntryBytes(entries, code - 1)) {
      entry_of_code[code] = entry_of_code[code - 1];
      continue;
    }
    const auto [found, is_first] = seen.emplace(bytes, static_cast<uint16_t>(firsts.size()));
    if (is_first) firsts.push_back(code);
    entry_of_code[code] = found->second;
  }
  if (firsts.size() > kEntriesMax) {
    for (uint32_t code = 0; code < codes_; ++code) entry_of_code[code] = static_cast<uint16_t>(code);
    return;
  }
  const uint32_t width = FlatWidth(entries);
  char* distinct = static_cast<char*>(arena_->Allocate(firsts.size() * width));
  for (size_t i = 0; i < firsts.size(); ++i) {
    std::memcpy(distinct + i * width, entries.values<char>() + size_t{firsts[i]} * width, width);
  }
  table->entries.data = distinct;
  table->entry_count = static_cast<uint32_t>(firsts.size());
}

}  // namespace penumbra
