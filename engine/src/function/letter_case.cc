#include "function/letter_case.h"

#include <ctype.h>
#include <wctype.h>

#include "vector/error.h"
#include "vector/utf8.h"

namespace penumbra {
namespace {

// PostgreSQL needs four bytes for each and one more in an allocation below 1 GB.
constexpr uint32_t kTextBytesMax = (uint32_t{1} << 28) - 2;

uint32_t LowerAscii(uint32_t c) { return c - 'A' < 26 ? c + 32 : c; }
uint32_t UpperAscii(uint32_t c) { return c - 'a' < 26 ? c - 32 : c; }
bool IsAlphanumericAscii(uint32_t c) { return c - '0' < 10 || (c | 32) - 'a' < 26; }

void LowerAsciiBytes(const char* bytes, uint32_t length, char* out) {
  for (uint32_t i = 0; i < length; ++i) {
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    out[i] = static_cast<char>(byte + (static_cast<uint8_t>(byte - 'A') < 26 ? 32 : 0));
  }
}
void UpperAsciiBytes(const char* bytes, uint32_t length, char* out) {
  for (uint32_t i = 0; i < length; ++i) {
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    out[i] = static_cast<char>(byte - (static_cast<uint8_t>(byte - 'a') < 26 ? 32 : 0));
  }
}
void TitleAsciiBytes(const char* bytes, uint32_t length, char* out) {
  bool is_inside = false;
  for (uint32_t i = 0; i < length; ++i) {
    const uint32_t byte = static_cast<uint8_t>(bytes[i]);
    const uint32_t changed = is_inside ? LowerAscii(byte) : UpperAscii(byte);
    is_inside = IsAlphanumericAscii(changed);
    out[i] = static_cast<char>(changed);
  }
}

void ChangeAsciiBytes(CaseChange change, const char* bytes, uint32_t length, char* out) {
  switch (change) {
    case CaseChange::kLower: return LowerAsciiBytes(bytes, length, out);
    case CaseChange::kUpper: return UpperAsciiBytes(bytes, length, out);
    case CaseChange::kTitle: return TitleAsciiBytes(bytes, length, out);
  }
}

bool IsAscii(const char* bytes, uint32_t length) {
  uint64_t seen = 0;
  uint32_t i = 0;
  for (; i + 8 <= length; i += 8) seen |= LoadEightBytes(bytes + i);
  for (; i < length; ++i) seen |= static_cast<uint8_t>(bytes[i]);
  return (seen & kHighBits) == 0;
}

// The character at `position`, which is moved past it.
uint32_t ReadCharacter(const char** position, const char* end) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(*position);
  const uint32_t length = CharacterBytes(**position);
  if (bytes[0] < 0x80) {
    ++*position;
    return bytes[0];
  }
  static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t character = length == 2 ? bytes[0] & 0x1f : length == 3 ? bytes[0] & 0x0f : bytes[0] & 0x07;
  bool is_valid = length > 1 && length <= static_cast<uint32_t>(end - *position);
  for (uint32_t i = 1; is_valid && i < length; ++i) {
    is_valid = (bytes[i] & 0xc0) == 0x80;
    character = character << 6 | (bytes[i] & 0x3f);
  }
  if (!is_valid || character < kLeast[length] || character > 0x10ffff || (character & ~0x7ffu) == 0xd800) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "text that is not valid in the encoding");
  }
  *position += length;
  return character;
}

char* WriteCharacter(uint32_t character, char* out) {
  if (character < 0x80) {
    *out++ = static_cast<char>(character);
    return out;
  }
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  static constexpr uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  *out++ = static_cast<char>(kFirst[more] | character >> (6 * more));
  for (int i = more - 1; i >= 0; --i) *out++ = static_cast<char>(0x80 | ((character >> (6 * i)) & 0x3f));
  return out;
}

}  // namespace

const LetterCase& LetterCase::OfC() {
  static const LetterCase kOfC(PENUMBRA_CASE_C, nullptr, true);
  return kOfC;
}

// The locale is asked once per character. In single-byte encodings PostgreSQL's rule for the default locale folds ASCII
// letters as in C.
LetterCase::LetterCase(PenumbraCaseRule rule, locale_t locale, bool is_utf8)
    : rule_(rule), locale_(locale), is_utf8_(is_utf8) {
  if (rule == PENUMBRA_CASE_C || rule == PENUMBRA_CASE_ASCII_ONLY) return;
  const uint32_t characters = is_utf8 ? kTableCharacters : 256;
  for (uint32_t c = 0; c < characters; ++c) {
    const int byte = static_cast<int>(c);
    if (is_utf8) {
      lower_[c] = towlower_l(c, locale);
      upper_[c] = towupper_l(c, locale);
      is_alphanumeric_[c] = iswalnum_l(c, locale) != 0;
      continue;
    }
    lower_[c] = static_cast<uint8_t>(tolower_l(byte, locale));
    upper_[c] = static_cast<uint8_t>(toupper_l(byte, locale));
    is_alphanumeric_[c] = isalnum_l(byte, locale) != 0;
    if (rule != PENUMBRA_CASE_LIBC_DEFAULT) continue;
    if (c < 128 || isupper_l(byte, locale) == 0) lower_[c] = LowerAscii(c);
    if (c < 128 || islower_l(byte, locale) == 0) upper_[c] = UpperAscii(c);
  }
  if (is_utf8) growth_ = 4;
  for (uint32_t c = 0; c < 128; ++c) {
    is_ascii_plain_ &=
        lower_[c] == LowerAscii(c) && upper_[c] == UpperAscii(c) && is_alphanumeric_[c] == IsAlphanumericAscii(c);
  }
}

uint32_t LetterCase::Lower(uint32_t character) const {
  return character < kTableCharacters ? lower_[character] : towlower_l(character, locale_);
}
uint32_t LetterCase::Upper(uint32_t character) const {
  return character < kTableCharacters ? upper_[character] : towupper_l(character, locale_);
}
bool LetterCase::IsAlphanumeric(uint32_t character) const {
  return character < kTableCharacters ? is_alphanumeric_[character] : iswalnum_l(character, locale_) != 0;
}

bool LetterCase::KeepsWildcards() const {
  if (rule_ == PENUMBRA_CASE_C || rule_ == PENUMBRA_CASE_ASCII_ONLY) return true;
  for (uint32_t c = 0; c < (is_utf8_ ? kTableCharacters : 256); ++c) {
    const auto is_wildcard = [](uint32_t x) { return x == '%' || x == '_' || x == '\\'; };
    if ((is_wildcard(c) || is_wildcard(lower_[c])) && lower_[c] != c) return false;
  }
  return true;
}

bool LetterCase::KeepsLengths(const char* bytes, uint32_t length) const {
  return rule_ == PENUMBRA_CASE_C ||
         (length <= kTextBytesMax && (!is_utf8_ || (is_ascii_plain_ && IsAscii(bytes, length))));
}

uint32_t LetterCase::ChangeUtf8(CaseChange change, const char* bytes, uint32_t length, char* out) const {
  const char *position = bytes, *end = bytes + length;
  char* to = out;
  bool is_inside = false;
  while (position < end) {
    uint32_t character = ReadCharacter(&position, end);
    const bool is_lower = change == CaseChange::kLower || is_inside;
    character = is_lower ? Lower(character) : Upper(character);
    if (change == CaseChange::kTitle) is_inside = IsAlphanumeric(character);
    to = WriteCharacter(character, to);
  }
  return static_cast<uint32_t>(to - out);
}

uint32_t LetterCase::ChangeBytes(CaseChange change, const char* bytes, uint32_t length, char* out) const {
  bool is_inside = false;
  for (uint32_t i = 0; i < length; ++i) {
    const bool is_lower = change == CaseChange::kLower || is_inside;
    const uint32_t changed = (is_lower ? lower_ : upper_)[static_cast<uint8_t>(bytes[i])];
    if (change == CaseChange::kTitle) is_inside = is_alphanumeric_[changed];
    out[i] = static_cast<char>(changed);
  }
  return length;
}

uint32_t LetterCase::Change(CaseChange change, const char* bytes, uint32_t length, char* out) const {
  if (rule_ != PENUMBRA_CASE_C) {
    if (length > kTextBytesMax) throw EngineError(PENUMBRA_UNSUPPORTED, "letter case of text this long");
    const bool is_plain = is_ascii_plain_ && IsAscii(bytes, length);
    if (rule_ == PENUMBRA_CASE_ASCII_ONLY) {
      if (!is_plain) throw EngineError(PENUMBRA_UNSUPPORTED, "letter case beyond ASCII with this collation");
    } else if (!is_plain) {
      return is_utf8_ ? ChangeUtf8(change, bytes, length, out) : ChangeBytes(change, bytes, length, out);
    }
  }
  ChangeAsciiBytes(change, bytes, length, out);
  return length;
}

}  // namespace penumbra
