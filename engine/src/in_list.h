// IN and NOT IN over constants.
#pragma once

#include "registry.h"

namespace penumbra {

Binding BindInList(const CallSite& call);

}  // namespace penumbra
