// Casts from text.
#pragma once

#include "function/registry.h"

namespace penumbra {

// To numbers, booleans, uuids, dates and instants. Only the plain form of each is read, the one that all versions and
// settings of PostgreSQL read alike. Any other text, garbage too, is unsupported: PostgreSQL's own plan reads it, or
// raises its error.
Binding ChooseCastFromText(PenumbraType from, PenumbraType to);

}  // namespace penumbra
