// A string of a row: a slot of 16 bytes with a StringRef. One that the slot does not hold itself is pointed to, and
// whoever keeps the row owns it: in an arena, or behind the row in an extent (spilled_rows.h). A tail of a BPCHAR is so
// many bytes behind the string, which are kept with it.
#pragma once

#include <vector>

#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

inline StringRef StringAt(const char* slot) {
  StringRef ref;
  std::memcpy(static_cast<void*>(&ref), slot, sizeof(ref));
  return ref;
}

inline void OwnString(char* slot, Arena& arena, uint32_t tail = 0) {
  StringRef ref = StringAt(slot);
  if (ref.is_inline()) return;
  ref.pointer = arena.CopyBytes(ref.pointer, size_t{ref.length} + tail);
  std::memcpy(slot, &ref, sizeof(ref));
}

// Appends what is pointed to.
inline void SaveString(const char* slot, std::vector<char>* bytes, uint32_t tail = 0) {
  const StringRef ref = StringAt(slot);
  if (!ref.is_inline()) bytes->insert(bytes->end(), ref.pointer, ref.pointer + ref.length + tail);
}

// Makes the slot point to what SaveString() appended: a copy in the arena or, if that is null, where it is. Returns
// where it ends.
inline const char* LoadString(char* slot, const char* bytes, Arena* arena, uint32_t tail = 0) {
  StringRef ref = StringAt(slot);
  if (ref.is_inline()) return bytes;
  const size_t length = size_t{ref.length} + tail;
  ref.pointer = arena == nullptr ? bytes : arena->CopyBytes(bytes, length);
  std::memcpy(slot, &ref, sizeof(ref));
  return bytes + length;
}

}  // namespace penumbra
