// Values that are grouped by codes, which tell them apart for less:
//   entries   of a column whose rows, of all batches, have one dictionary: two bytes that nobody needs to copy
//   integers  of a NUMERIC whose values have one display scale (numeric/integer_codes.h)
#pragma once

#include <numeric>
#include <vector>

#include "numeric/integer_codes.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {

class CodedColumn {
 public:
  // `dictionary`: see Sink::dictionary_of(); null: none. `integer_scale`: of IntegerScale(). Otherwise values are their
  // own codes.
  CodedColumn(const Vector* dictionary, int integer_scale) : integer_scale_(integer_scale) {
    if (dictionary == nullptr) return;
    column_ = *dictionary;
    codes_.resize(column_.dictionary_size);
    std::iota(codes_.begin(), codes_.end(), int16_t{0});
  }

  PenumbraType CodeType(PenumbraType type) const {
    return has_entries() ? PENUMBRA_INT2 : integer_scale_ >= 0 ? PENUMBRA_INT8 : type;
  }
  // What every batch decoded from codes has; null: they are not entries.
  const Vector* dictionary() const { return has_entries() ? &column_ : nullptr; }

  // The codes of entries are a dictionary vector, too: of numbers.
  Vector Encode(const Vector& v, uint32_t rows, Arena& arena) const {
    if (!has_entries()) return integer_scale_ >= 0 ? ToIntegerCodes(v, rows, integer_scale_, arena) : v;
    if (v.is_null_constant()) return NullConstant(PENUMBRA_INT2);
    if (v.dictionary_id != column_.dictionary_id) throw EngineError(PENUMBRA_INTERNAL, "a key of another dictionary");
    auto* numbers = new (arena.Allocate(sizeof(Vector))) Vector(FlatVector(PENUMBRA_INT2, codes_.data(), nullptr));
    Vector codes = v;
    codes.type = PENUMBRA_INT2;
    codes.dictionary = numbers;
    return codes;
  }
  // Of flat codes.
  Vector Decode(const Vector& codes, uint32_t rows, Arena& arena) const {
    if (has_entries()) return WithCodes(column_, codes);
    return integer_scale_ >= 0 ? FromIntegerCodes(codes, rows, integer_scale_, arena) : codes;
  }

 private:
  bool has_entries() const { return column_.dictionary != nullptr; }

  Vector column_;
  std::vector<int16_t> codes_;
  int integer_scale_;  // -1: no integers
};

}  // namespace penumbra
