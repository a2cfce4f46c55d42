// NUMERIC values of one display scale as int64, in the order of the values and equal where these are: the value times
// 10^scale. NaN and the infinities are codes at the ends, beyond all values of kMaxInt64Digits digits.
#pragma once

#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

// Of a vector in any form whose finite values have the scale; int8. Raises PENUMBRA_UNSUPPORTED where they have not.
Vector ToIntegerCodes(const Vector& v, uint32_t rows, int scale, Arena& arena);
// Of flat codes, or a null constant.
Vector FromIntegerCodes(const Vector& codes, uint32_t rows, int scale, Arena& arena);

}  // namespace penumbra
