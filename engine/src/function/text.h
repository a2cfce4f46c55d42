// What files with functions on text share.
#pragma once

#include <algorithm>
#include <cstring>

#include "function/registry.h"
#include "vector/utf8.h"
#include "vector/vector_build.h"

namespace penumbra {

constexpr uint64_t kMaxTextBytes = (uint64_t{1} << 30) - 5;  // a varlena's limit

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

// The place of the character among those of the set; -1: it is none of them.
inline int64_t PlaceInSet(const char* character, size_t bytes, const StringRef& set, bool is_utf8) {
  const char *position = set.data(), *end = position + set.length;
  for (int64_t place = 0; position < end; ++place) {
    const char* next = NextCharacter(position, end, is_utf8);
    if (static_cast<size_t>(next - position) == bytes && std::memcmp(position, character, bytes) == 0) return place;
    position = next;
  }
  return -1;
}

Binding BindTextComposition(const CallSite& call);  // text_composition.cc
Binding BindBytes(const CallSite& call);            // bytes.cc
Binding BindNumberFormat(const CallSite& call);     // number_format.cc

}  // namespace penumbra
