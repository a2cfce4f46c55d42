// Expressions over a column in a narrow frame, evaluated once per possible value instead of once per
// row.
#pragma once

#include <cstdint>

#include "expression/expr.h"
#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

// What the codes of one segment stand for, and the results of expressions on them, which are built
// when as many rows have asked for them as there are codes. Owned by the arena of a thread's chunk.
class CodeDomain {
 public:
  // `column` gives type, scale and bounds; its rows do not matter. Code c is base + c * step.
  CodeDomain(const Vector& column, int64_t base, uint64_t step, uint32_t codes, Arena* arena)
      : values_(column), base_(base), step_(step), codes_(codes), arena_(arena) {
    values_.data = nullptr;
    values_.validity = nullptr;
  }

  // `expr` on the column's rows: a dictionary vector. False: to be evaluated on the rows, because they
  // are few, or an entry failed or is null.
  bool Evaluate(const Expr& expr, const Vector& column, uint32_t rows, EvalContext& context, Vector* result);

 private:
  // Of one expression.
  struct Table {
    const Expr* expr;
    Table* next;
    uint64_t rows_seen = 0;
    bool is_built = false;
    bool is_usable = false;
    Vector entries{};  // flat
    uint32_t entry_count = 0;
    const uint16_t* entry_of_code = nullptr;
  };

  Table* FindTable(const Expr& expr);
  void Build(const EvalContext& context, Table* table) const;
  bool EvaluateEntries(const EvalContext& rows_context, Table* table) const;
  void MergeEqualEntries(Table* table) const;

  Vector values_;  // all but the values
  const int64_t base_;
  const uint64_t step_;
  const uint32_t codes_;
  Arena* const arena_;
  Table* tables_ = nullptr;
};

// Finds out whether evaluating a call once per value can pay: it reads one column, whose values a frame
// can hold, and costs clearly more than a look-up.
CodedCall FindCodedCall(const Expr& call);

// values[i] = base + (first + i) * step, as integers of `width` bytes.
void FillCodeValues(uint32_t width, int64_t base, uint64_t step, uint32_t first, uint32_t count, void* values);

}  // namespace penumbra
