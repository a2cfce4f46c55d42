#include "vector/vector.h"

#include <atomic>
#include <cassert>

#include "kernels/kernels.h"
#include "vector/arena.h"

namespace penumbra {
namespace {

using kernels::Bytes16;

template <typename T>
void Broadcast(const void* value, uint32_t rows, void* out) {
  T copy;
  std::memcpy(&copy, value, sizeof(T));
  T* values = static_cast<T*>(out);
  for (uint32_t i = 0; i < rows; ++i) values[i] = copy;
}

void BroadcastWidth(uint32_t width, const void* value, uint32_t rows, void* out) {
  switch (width) {
    case 1: return Broadcast<uint8_t>(value, rows, out);
    case 2: return Broadcast<uint16_t>(value, rows, out);
    case 4: return Broadcast<uint32_t>(value, rows, out);
    case 8: return Broadcast<uint64_t>(value, rows, out);
    default: return Broadcast<Bytes16>(value, rows, out);
  }
}

Vector FlattenConstant(const Vector& v, uint32_t rows, Arena& arena) {
  Vector flat = v;
  flat.form = VectorForm::kFlat;
  const uint32_t width = FlatWidth(v);
  char* values = arena.AllocateArray<char>(size_t{rows} * width);
  flat.data = values;
  if (v.data != nullptr) {
    BroadcastWidth(width, v.data, rows, values);
    return flat;
  }
  std::memset(values, 0, size_t{rows} * width);
  uint64_t* validity = arena.AllocateArray<uint64_t>(kernels::BitmapWords(rows));
  std::memset(validity, 0, kernels::BitmapWords(rows) * sizeof(uint64_t));
  flat.validity = validity;
  return flat;
}

template <typename T>
void Lookup(const Vector& v, uint32_t rows, void* out) {
  const T* entries = v.dictionary->values<T>();
  T* values = static_cast<T*>(out);
  switch (v.code_bytes) {
    case 1: return kernels::LookupValues(v.values<uint8_t>(), entries, rows, values);
    case 2: return kernels::LookupValues(v.values<uint16_t>(), entries, rows, values);
    default: return kernels::LookupValues(v.values<uint32_t>(), entries, rows, values);
  }
}

void GatherWidth(uint32_t width, const void* values, const uint16_t* selected, uint32_t count, void* out) {
  switch (width) {
    case 1:
      return kernels::GatherValues(static_cast<const uint8_t*>(values), selected, count, static_cast<uint8_t*>(out));
    case 2:
      return kernels::GatherValues(static_cast<const uint16_t*>(values), selected, count, static_cast<uint16_t*>(out));
    case 4:
      return kernels::GatherValues(static_cast<const uint32_t*>(values), selected, count, static_cast<uint32_t*>(out));
    case 8:
      return kernels::GatherValues(static_cast<const uint64_t*>(values), selected, count, static_cast<uint64_t*>(out));
    default:
      return kernels::GatherValues(static_cast<const Bytes16*>(values), selected, count, static_cast<Bytes16*>(out));
  }
}

}  // namespace

uint64_t NextDictionaryId() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Validity, scale and bounds belong to the rows, not to the dictionary's entries, so the vector keeps its own.
Vector Flatten(const Vector& v, uint32_t rows, Arena& arena) {
  if (v.form == VectorForm::kFlat) return v;
  if (v.form == VectorForm::kConstant) return FlattenConstant(v, rows, arena);
  assert(v.dictionary != nullptr && v.dictionary->form == VectorForm::kFlat);
  Vector flat = v;
  flat.form = VectorForm::kFlat;
  flat.numeric_form = v.dictionary->numeric_form;
  flat.dictionary = nullptr;
  flat.dictionary_id = 0;
  flat.dictionary_size = 0;
  flat.code_bytes = 0;
  const uint32_t width = FlatWidth(flat);
  void* values = arena.Allocate(size_t{rows} * width);
  flat.data = values;
  switch (width) {
    case 1: Lookup<uint8_t>(v, rows, values); break;
    case 2: Lookup<uint16_t>(v, rows, values); break;
    case 4: Lookup<uint32_t>(v, rows, values); break;
    case 8: Lookup<uint64_t>(v, rows, values); break;
    default: Lookup<Bytes16>(v, rows, values); break;
  }
  return flat;
}

Vector Gather(const Vector& v, const uint16_t* selected, uint32_t count, Arena& arena) {
  if (v.form == VectorForm::kConstant) return v;
  Vector gathered = v;
  const uint32_t width = v.form == VectorForm::kDictionary ? v.code_bytes : FlatWidth(v);
  void* values = arena.Allocate(size_t{count} * width);
  GatherWidth(width, v.data, selected, count, values);
  gathered.data = values;
  gathered.codes = nullptr;
  gathered.domain = nullptr;
  if (v.validity != nullptr) {
    uint64_t* validity = arena.AllocateArray<uint64_t>(kernels::BitmapWords(count));
    kernels::GatherBits(v.validity, selected, count, validity);
    gathered.validity = kernels::CountBits(validity, count) == count ? nullptr : validity;
  }
  return gathered;
}

}  // namespace penumbra
