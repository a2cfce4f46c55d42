// IN and NOT IN over constants.
#pragma once

#include "function/registry.h"

namespace penumbra {

Binding BindInList(const CallSite& call);

}  // namespace penumbra
