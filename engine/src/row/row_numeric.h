// A NUMERIC of a row: a slot of 8 bytes. Nearly all values of a column are integers of one scale, so the slot holds
// such an integer, and the column's scale, which is that of its first integers, stands in the layout. Integers of 63
// bits and more, of another scale, and packed numbers stand elsewhere: whoever keeps the row owns them, as its strings.
// The two highest bits of a slot tell: they differ (01) where the rest is an address.
#pragma once

#include <atomic>
#include <cstring>
#include <vector>

#include "numeric/numeric.h"
#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

struct RowNumeric {
  char value[16];  // int64, int128 or StringRef by form
  int16_t scale;
  NumericForm form;

  bool ToInteger(int128* integer) const;  // false: kPayload
  StringRef payload() const;
  Decimal ToDecimal() const;
};

// Set once, by the first thread that writes integers; -1 before.
class CommonScale {
 public:
  CommonScale() = default;
  CommonScale(const CommonScale& other) : scale_(other.Get()) {}
  int Get() const { return scale_.load(std::memory_order_relaxed); }
  // Whether it is `scale`, which it becomes if it was none.
  bool IsOrBecomes(int16_t scale) const {
    int16_t found = -1;
    return scale_.compare_exchange_strong(found, scale, std::memory_order_relaxed) || found == scale;
  }

 private:
  mutable std::atomic<int16_t> scale_{-1};
};

constexpr int64_t kSlotIntegerLimit = int64_t{1} << 62;  // slots hold integers of less magnitude

inline bool FitsSlot(int128 value) { return value > -kSlotIntegerLimit && value < kSlotIntegerLimit; }
inline bool IsElsewhere(int64_t slot) { return slot >= kSlotIntegerLimit; }

inline int64_t SlotAt(const char* slot) {
  int64_t value;
  std::memcpy(&value, slot, sizeof(value));
  return value;
}

// A value of a vector that is not null.
RowNumeric NumericOf(const Vector& v, uint32_t row);
// Of a slot that is not null.
RowNumeric NumericAt(const char* slot, int common_scale);
// Puts the value elsewhere, into the arena.
void OwnNumeric(char* slot, const RowNumeric& value, Arena& arena);

// For slots that point elsewhere: what row_strings.h's functions do for strings.
void CopyNumeric(char* slot, Arena& arena);
void SaveNumeric(const char* slot, std::vector<char>* bytes);
const char* LoadNumeric(char* slot, const char* bytes, Arena* arena);
// Of a packed number, else 0.
uint32_t PayloadBytes(const char* slot);

}  // namespace penumbra
