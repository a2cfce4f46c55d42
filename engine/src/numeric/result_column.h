// Vectors in the adapter's form.
#pragma once

#include "penumbra/engine.h"
#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

// Values of fixed width are flattened; strings and numerics become a pointer and a length per row. Pointers and lengths
// of null rows are zero, since a vector may hold anything there. Nothing but what `arena` gets is copied.
PenumbraResultColumn MakeResultColumn(const Vector& vector, uint32_t rows, Arena& arena);

}  // namespace penumbra
