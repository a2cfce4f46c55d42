#include "segment.h"

namespace penumbra {

std::unique_ptr<ScanPredicate> ScanPredicate::Compile(const Expr&) { return nullptr; }

}  // namespace penumbra
