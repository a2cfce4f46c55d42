// SIMD functions on pointers and counts. Each is compiled for every SIMD target of the build and
// dispatched at run time by Highway; all targets give the same result. No function allocates, fails
// or keeps anything. Inputs need only the alignment of their element type; outputs may not overlap inputs
// unless said. Bitmaps are little endian words of 64 rows; bits past the last row of the last word are
// written as zero.
//
// This header is the whole interface: add a function here, its body in one *-inl.h by topic, and a case
// in test/ that compares every target with a scalar loop.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penumbra::kernels {

enum class Compare : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

}  // namespace penumbra::kernels
