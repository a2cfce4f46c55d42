#include "row/row_numeric.h"

#include <cstdint>

namespace penumbra {
namespace {

// What stands elsewhere, followed by the integer or the packed number. It has no pointers, so it is saved as it is.
struct Elsewhere {
  uint32_t bytes;  // that follow
  int16_t scale;
  NumericForm form;
};

const char* AddressIn(const char* slot) {
  return reinterpret_cast<const char*>(static_cast<uintptr_t>(SlotAt(slot) - kSlotIntegerLimit));
}

void PointTo(const char* elsewhere, char* slot) {
  const int64_t value = static_cast<int64_t>(reinterpret_cast<uintptr_t>(elsewhere)) + kSlotIntegerLimit;
  std::memcpy(slot, &value, sizeof(value));
}

Elsewhere HeaderAt(const char* address) {
  Elsewhere header;
  std::memcpy(&header, address, sizeof(header));
  return header;
}

}  // namespace

bool RowNumeric::ToInteger(int128* integer) const {
  if (form == NumericForm::kPayload) return false;
  if (form == NumericForm::kInt64) {
    *integer = SlotAt(value);
  } else {
    std::memcpy(integer, value, 16);
  }
  return true;
}

StringRef RowNumeric::payload() const {
  StringRef ref;
  std::memcpy(static_cast<void*>(&ref), value, 16);
  return ref;
}

Decimal RowNumeric::ToDecimal() const {
  int128 integer;
  return ToInteger(&integer) ? Decimal::FromInteger(integer, scale) : Decimal::FromPayload(payload().view());
}

RowNumeric NumericOf(const Vector& v, uint32_t row) {
  RowNumeric number{{}, v.scale, v.numeric_form};
  const uint32_t width = FlatWidth(v);
  std::memcpy(number.value, static_cast<const char*>(v.data) + size_t{row} * width, width);
  return number;
}

RowNumeric NumericAt(const char* slot, int common_scale) {
  RowNumeric number{{}, static_cast<int16_t>(common_scale), NumericForm::kInt64};
  if (!IsElsewhere(SlotAt(slot))) {
    std::memcpy(number.value, slot, 8);
    return number;
  }
  const char* from = AddressIn(slot);
  const Elsewhere header = HeaderAt(from);
  from += sizeof(header);
  number.scale = header.scale;
  number.form = header.form;
  if (header.form == NumericForm::kPayload) {
    const StringRef ref(from, header.bytes);
    std::memcpy(number.value, &ref, sizeof(ref));
  } else {
    std::memcpy(number.value, from, header.bytes);
  }
  return number;
}

void OwnNumeric(char* slot, const RowNumeric& value, Arena& arena) {
  const bool is_payload = value.form == NumericForm::kPayload;
  const StringRef packed = is_payload ? value.payload() : StringRef();
  const Elsewhere header{is_payload                          ? packed.length
                         : value.form == NumericForm::kInt64 ? 8
                                                             : 16,
                         value.scale, value.form};
  char* elsewhere = static_cast<char*>(arena.Allocate(sizeof(header) + header.bytes));
  std::memcpy(elsewhere, &header, sizeof(header));
  std::memcpy(elsewhere + sizeof(header), is_payload ? packed.data() : value.value, header.bytes);
  PointTo(elsewhere, slot);
}

void CopyNumeric(char* slot, Arena& arena) {
  const char* from = AddressIn(slot);
  PointTo(arena.CopyBytes(from, sizeof(Elsewhere) + HeaderAt(from).bytes), slot);
}

void SaveNumeric(const char* slot, std::vector<char>* bytes) {
  const char* from = AddressIn(slot);
  bytes->insert(bytes->end(), from, from + sizeof(Elsewhere) + HeaderAt(from).bytes);
}

const char* LoadNumeric(char* slot, const char* bytes, Arena* arena) {
  const char* end = bytes + sizeof(Elsewhere) + HeaderAt(bytes).bytes;
  PointTo(bytes, slot);
  if (arena != nullptr) CopyNumeric(slot, *arena);
  return end;
}

uint32_t PayloadBytes(const char* slot) {
  const Elsewhere header = HeaderAt(AddressIn(slot));
  return header.form == NumericForm::kPayload ? header.bytes : 0;
}

}  // namespace penumbra
