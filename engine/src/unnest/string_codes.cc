#include "unnest/string_codes.h"

namespace penumbra {

bool StringCodes::Add(const StringRef& string, uint16_t* slot) {
  if (strings_.size() == kStringsMax) return false;
  StringRef kept = string;
  if (!string.is_inline()) {
    char* bytes = long_strings_.AllocateArray<char>(string.length);
    std::memcpy(bytes, string.pointer, string.length);
    kept.pointer = bytes;
  }
  strings_.push_back(kept);
  *slot = static_cast<uint16_t>(strings_.size());
  return true;
}

void StringCodes::Encode(PenumbraType type, const StringRef* strings, const uint64_t* validity, uint32_t rows,
                         Arena& arena, Vector* encoded) {
  if (!is_open_) return;
  slots_.resize(kSlots);
  strings_.reserve(kStringsMax);
  const size_t known = strings_.size();
  auto* codes = arena.AllocateArray<uint16_t>(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    uint32_t slot = static_cast<uint32_t>(Hash(strings[i])) % kSlots;
    while (slots_[slot] != 0 && !(strings_[slots_[slot] - 1] == strings[i])) slot = (slot + 1) % kSlots;
    if (slots_[slot] == 0 && !Add(strings[i], &slots_[slot])) {
      is_open_ = false;
      return;
    }
    codes[i] = static_cast<uint16_t>(slots_[slot] - 1);
  }
  if (strings_.size() > known) dictionary_id_ = NextDictionaryId();
  auto* dictionary = arena.AllocateArray<Vector>(1);
  *dictionary = {};
  dictionary->type = type;
  dictionary->data = strings_.data();
  *encoded = {};
  encoded->type = type;
  encoded->form = VectorForm::kDictionary;
  encoded->code_bytes = sizeof(*codes);
  encoded->dictionary_size = static_cast<uint32_t>(strings_.size());
  encoded->dictionary = dictionary;
  encoded->dictionary_id = dictionary_id_;
  encoded->data = codes;
  encoded->validity = validity;
}

}  // namespace penumbra
