// The roots of unity, computed by the compiler: constants in read-only memory that all processes
// share, and the same bits on every machine.
#include "multiplication.h"

namespace penumbra::kernels {
namespace {

constexpr long double kPi = 3.141592653589793238462643383279502884L;

constexpr FourierRoots MakeRoots() {
  FourierRoots roots{};
  // Angles as fractions of pi: a block of level l that is X^2m - exp(2 i angle) splits by exp(i
  // angle). Those of level l are odd multiples of 1 / 2^(l + 2), exact in a double.
  double angles[kFourierRoots]{};
  angles[1] = 0.25;
  for (size_t i = 1; i < kFourierRoots; ++i) {
    if (i > 1) angles[i] = angles[i / 2] / 2 + (i % 2 == 0 ? 0 : 0.5);
    roots.real[i] = static_cast<double>(__builtin_cosl(kPi * static_cast<long double>(angles[i])));
    roots.imaginary[i] = static_cast<double>(__builtin_sinl(kPi * static_cast<long double>(angles[i])));
  }
  return roots;
}

}  // namespace

constexpr FourierRoots kRoots = MakeRoots();

}  // namespace penumbra::kernels
