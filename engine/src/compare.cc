#include "registry.h"

namespace penumbra {

Binding BindCompare(const CallSite&) { return {}; }

}  // namespace penumbra
