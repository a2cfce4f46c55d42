#include "function/merge.h"

#include <algorithm>

#include "function/numeric_functions.h"
#include "numeric/numeric.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

struct CommonNumeric {
  NumericForm form = NumericForm::kInt64;
  int16_t scale = 0;
  int128 lower = 0, upper = 0;
};

// The narrowest form that holds all pieces as they are, or with `hides_scale` by their values.
CommonNumeric ChooseNumericForm(const std::vector<Piece>& pieces, bool hides_scale) {
  CommonNumeric common;
  bool has_one_scale = true;
  bool is_first = true;
  for (const Piece& piece : pieces) {
    const Vector& v = piece.value;
    if (v.is_null_constant()) continue;
    if (v.numeric_form == NumericForm::kPayload) {
      common.form = NumericForm::kPayload;
      return common;
    }
    if (v.numeric_form == NumericForm::kInt128) common.form = NumericForm::kInt128;
    has_one_scale &= is_first || v.scale == common.scale;
    common.scale = is_first ? v.scale : std::max(common.scale, v.scale);
    is_first = false;
  }
  if (!has_one_scale && !hides_scale) {
    common.form = NumericForm::kPayload;
    return common;
  }
  is_first = true;
  for (const Piece& piece : pieces) {
    const Vector& v = piece.value;
    if (v.is_null_constant()) continue;
    int128 lower = v.lower, upper = v.upper;
    const int exponent = common.scale - v.scale;
    if (exponent > kMaxInt128Digits || !ScaleUpInLimit(&lower, exponent) || !ScaleUpInLimit(&upper, exponent)) {
      common.form = NumericForm::kPayload;
      return common;
    }
    common.lower = is_first ? lower : std::min(common.lower, lower);
    common.upper = is_first ? upper : std::max(common.upper, upper);
    is_first = false;
  }
  if (common.form == NumericForm::kInt64 && !FitsInt64(common.lower, common.upper)) {
    common.form = NumericForm::kInt128;
  }
  return common;
}

int128 NumericIntegerAt(const Vector& v, uint32_t row) {
  return v.numeric_form == NumericForm::kInt64 ? v.values<int64_t>()[row] : v.values<int128>()[row];
}

StringRef PayloadOf(int128 value, int scale, Arena& arena) {
  char* bytes = static_cast<char*>(arena.Allocate(kIntegerPayloadBytes));
  return StringRef(bytes, IntegerToPayload(value, scale, bytes));
}

// Brings a flat or constant vector of `count` values to the common form.
Vector ConvertNumeric(const Vector& v, const CommonNumeric& common, uint32_t count, Arena& arena) {
  if (v.is_null_constant()) return v;
  if (v.is_constant()) count = 1;
  Vector result = v;
  result.numeric_form = common.form;
  if (common.form == NumericForm::kPayload) {
    if (v.numeric_form == NumericForm::kPayload) return v;
    StringRef* values = arena.AllocateArray<StringRef>(count);
    for (uint32_t i = 0; i < count; ++i) {
      values[i] = v.IsValid(i) ? PayloadOf(NumericIntegerAt(v, i), v.scale, arena) : StringRef();
    }
    result.data = values;
    return result;
  }
  const int exponent = common.scale - v.scale;
  if (common.form == NumericForm::kInt64) {
    result.data = ScaledInt64({v}, exponent, count, arena);
  } else if (v.numeric_form == NumericForm::kInt64 || exponent != 0) {
    const uint128 factor = static_cast<uint128>(kPowersOfTen[exponent]);
    uint128* values = arena.AllocateArray<uint128>(count);  // null rows may wrap
    for (uint32_t i = 0; i < count; ++i) values[i] = static_cast<uint128>(NumericIntegerAt(v, i)) * factor;
    result.data = values;
  }
  return result;
}

template <typename T>
void CopyPiece(const Piece& piece, T* out) {
  const T* values = piece.value.values<T>();
  if (values == nullptr) return;
  if (piece.value.is_constant()) {
    for (uint32_t j = 0; j < piece.count; ++j) out[piece.selected[j]] = *values;
  } else if (piece.is_dense) {
    for (uint32_t j = 0; j < piece.count; ++j) out[piece.selected[j]] = values[piece.selected[j]];
  } else {
    for (uint32_t j = 0; j < piece.count; ++j) out[piece.selected[j]] = values[j];
  }
}

// The piece with the most rows among those that can fill all rows, so that its rows are copied in one go.
size_t ChooseBase(const std::vector<Piece>& pieces) {
  size_t base = pieces.size();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (piece.value.data == nullptr || !(piece.is_dense || piece.value.is_constant())) continue;
    if (base == pieces.size() || piece.count > pieces[base].count) base = i;
  }
  return base;
}

template <typename T>
void* CopyPieces(const std::vector<Piece>& pieces, uint32_t rows, Arena& arena) {
  T* out = arena.AllocateArray<T>(rows);
  const size_t base = ChooseBase(pieces);
  if (base == pieces.size()) {
    std::fill_n(out, rows, T{});
  } else if (pieces[base].value.is_constant()) {
    std::fill_n(out, rows, *pieces[base].value.values<T>());
  } else {
    std::copy_n(pieces[base].value.values<T>(), rows, out);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i != base) CopyPiece(pieces[i], out);
  }
  return out;
}

// Returns null if no row is null. Rows that no piece covers are null.
const uint64_t* MergeValidity(const std::vector<Piece>& pieces, uint32_t rows, Arena& arena) {
  uint32_t covered = 0;
  bool has_nulls = false;
  for (const Piece& piece : pieces) {
    covered += piece.count;
    has_nulls |= piece.value.is_null_constant() || piece.value.validity != nullptr;
  }
  if (covered == rows && !has_nulls) return nullptr;
  uint64_t* validity = arena.AllocateArray<uint64_t>(BitWords(rows));
  std::fill_n(validity, BitWords(rows), 0);
  for (const Piece& piece : pieces) {
    if (piece.value.is_null_constant()) continue;
    for (uint32_t j = 0; j < piece.count; ++j) {
      const uint32_t row = piece.selected[j];
      const bool is_valid = piece.value.IsValid(piece.is_dense ? row : j);
      validity[row / 64] |= uint64_t{is_valid} << (row % 64);
    }
  }
  return validity;
}

}  // namespace

// The branches of a CASE and the like, each for its rows, as one vector; numerics get the narrowest form that has all.
// hides_scale: nobody sees how many zeros a result shows.
Vector MergePieces(PenumbraType type, const std::vector<Piece>& given, uint32_t rows, bool hides_scale, Arena& arena) {
  std::vector<Piece> pieces;
  for (const Piece& piece : given) {
    if (piece.count == 0) continue;
    pieces.push_back(piece);
    if (piece.value.form != VectorForm::kDictionary) continue;
    pieces.back().value = Flatten(piece.value, piece.is_dense ? rows : piece.count, arena);
  }
  if (pieces.empty()) return NullConstant(type);
  if (pieces.size() == 1 && pieces[0].count == rows) return pieces[0].value;
  Vector result = FlatVector(type, nullptr, MergeValidity(pieces, rows, arena));
  if (type == PENUMBRA_NUMERIC) {
    const CommonNumeric common = ChooseNumericForm(pieces, hides_scale);
    for (Piece& piece : pieces) {
      piece.value = ConvertNumeric(piece.value, common, piece.is_dense ? rows : piece.count, arena);
    }
    result.numeric_form = common.form;
    result.scale = common.scale;
    result.lower = common.lower;
    result.upper = common.upper;
  }
  switch (FlatWidth(result)) {
    case 1: result.data = CopyPieces<uint8_t>(pieces, rows, arena); break;
    case 2: result.data = CopyPieces<uint16_t>(pieces, rows, arena); break;
    case 4: result.data = CopyPieces<uint32_t>(pieces, rows, arena); break;
    case 8: result.data = CopyPieces<uint64_t>(pieces, rows, arena); break;
    default: result.data = CopyPieces<int128>(pieces, rows, arena); break;
  }
  return result;
}

}  // namespace penumbra
