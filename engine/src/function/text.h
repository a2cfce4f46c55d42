// What files with functions on text share.
#pragma once

#include <algorithm>

#include "function/registry.h"
#include "vector/vector_build.h"

namespace penumbra {

inline StringRef* NewStrings(const uint64_t* validity, uint32_t rows, Arena& arena) {
  StringRef* out = arena.AllocateArray<StringRef>(rows);
  if (validity != nullptr) std::fill_n(out, rows, StringRef());
  return out;
}

// f(text, row) -> StringRef for each valid row of the first argument.
template <typename F>
Vector MapText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, F f) {
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  StringRef* out = NewStrings(validity, rows, context.arena);
  ForEachValid(validity, rows, [&](uint32_t i) { out[i] = f(texts[i], i); });
  return FlatVector(expr.type, out, validity);
}

Binding BindTextComposition(const CallSite& call);  // text_composition.cc

}  // namespace penumbra
