// Random access by row number or code. One scalar load per row: hardware gathers are no faster for
// rows in cache, on any target measured, and are worse where they are emulated.
#include "kernels/kernels.h"

namespace penumbra::kernels {
namespace {

template <typename Index, typename T>
void LoadEach(const T* __restrict values, const Index* __restrict indexes, size_t count,
              T* __restrict out) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    T a = values[indexes[i]];
    T b = values[indexes[i + 1]];
    T c = values[indexes[i + 2]];
    T d = values[indexes[i + 3]];
    out[i] = a;
    out[i + 1] = b;
    out[i + 2] = c;
    out[i + 3] = d;
  }
  for (; i < count; ++i) out[i] = values[indexes[i]];
}

}  // namespace

template <typename T>
void GatherValues(const T* values, const uint16_t* selected, size_t count, T* out) {
  LoadEach(values, selected, count, out);
}
template void GatherValues(const uint8_t*, const uint16_t*, size_t, uint8_t*);
template void GatherValues(const uint16_t*, const uint16_t*, size_t, uint16_t*);
template void GatherValues(const uint32_t*, const uint16_t*, size_t, uint32_t*);
template void GatherValues(const uint64_t*, const uint16_t*, size_t, uint64_t*);
template void GatherValues(const Bytes16*, const uint16_t*, size_t, Bytes16*);

template <typename Code, typename T>
void LookupValues(const Code* codes, const T* table, size_t rows, T* out) {
  LoadEach(table, codes, rows, out);
}
#define PENUMBRA_INSTANTIATE_LOOKUP(T)                               \
  template void LookupValues(const uint8_t*, const T*, size_t, T*);  \
  template void LookupValues(const uint16_t*, const T*, size_t, T*); \
  template void LookupValues(const uint32_t*, const T*, size_t, T*);
PENUMBRA_INSTANTIATE_LOOKUP(uint8_t)
PENUMBRA_INSTANTIATE_LOOKUP(uint16_t)
PENUMBRA_INSTANTIATE_LOOKUP(uint32_t)
PENUMBRA_INSTANTIATE_LOOKUP(uint64_t)
PENUMBRA_INSTANTIATE_LOOKUP(Bytes16)
#undef PENUMBRA_INSTANTIATE_LOOKUP

}  // namespace penumbra::kernels
