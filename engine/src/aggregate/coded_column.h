// A column that is grouped by its dictionary's codes: of all of its rows, and of all batches, the dictionary is one.
// Codes are two bytes that nobody needs to copy, and tell values apart without reading them.
#pragma once

#include <numeric>
#include <vector>

#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {

class CodedColumn {
 public:
  // See Sink::dictionary_of(); null: values are their own codes.
  explicit CodedColumn(const Vector* dictionary) {
    if (dictionary == nullptr) return;
    column_ = *dictionary;
    codes_.resize(column_.dictionary_size);
    std::iota(codes_.begin(), codes_.end(), int16_t{0});
  }

  PenumbraType CodeType(PenumbraType type) const { return is_coded() ? PENUMBRA_INT2 : type; }
  // What every batch decoded from codes has; null: they are not codes.
  const Vector* dictionary() const { return is_coded() ? &column_ : nullptr; }

  // The codes are a dictionary vector, too: of numbers.
  Vector Encode(const Vector& v, Arena& arena) const {
    if (!is_coded()) return v;
    if (v.is_null_constant()) return NullConstant(PENUMBRA_INT2);
    if (v.dictionary_id != column_.dictionary_id) throw EngineError(PENUMBRA_INTERNAL, "a key of another dictionary");
    auto* numbers = new (arena.Allocate(sizeof(Vector))) Vector(FlatVector(PENUMBRA_INT2, codes_.data(), nullptr));
    Vector codes = v;
    codes.type = PENUMBRA_INT2;
    codes.dictionary = numbers;
    return codes;
  }
  // Of flat codes.
  Vector Decode(const Vector& codes) const { return is_coded() ? WithCodes(column_, codes) : codes; }

 private:
  bool is_coded() const { return column_.dictionary != nullptr; }

  Vector column_;
  std::vector<int16_t> codes_;
};

}  // namespace penumbra
