#include "registry.h"

namespace penumbra {

Binding BindArithmetic(const CallSite&) { return {}; }

}  // namespace penumbra
