#include "vector.h"

#include "arena.h"

namespace penumbra {

Vector Flatten(const Vector&, uint32_t, Arena&) { throw EngineError(PENUMBRA_UNSUPPORTED, "flatten"); }

Vector Gather(const Vector&, const uint16_t*, uint32_t, Arena&) {
  throw EngineError(PENUMBRA_UNSUPPORTED, "gather");
}

}  // namespace penumbra
