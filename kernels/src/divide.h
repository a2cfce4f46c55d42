// The ways to divide, for measuring them by themselves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penumbra::kernels {

enum class Division { kSchoolbook, kNewton };
size_t DivisionScratchBytes(Division method, size_t b_limbs);
// b_limbs > 1; see penumbra_limbs_quotient
double QuotientBy(Division method, const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs,
                  uint64_t* quotient, void* memory);

}  // namespace penumbra::kernels
