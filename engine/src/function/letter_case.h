// Letter case, as PostgreSQL's lower, upper, initcap and ILIKE change it: character by character with the
// C library's functions, or ASCII letters only.
#pragma once

#include <locale.h>

#include <array>
#include <cstdint>
#include <vector>

#include "penumbra/engine.h"
#include "vector/vector.h"

namespace penumbra {

enum class CaseChange : uint8_t { kLower, kUpper, kTitle };

// Immutable. Text that is not valid in the encoding, that PostgreSQL would not convert either, and other
// than ASCII text under PENUMBRA_CASE_ASCII_ONLY end with PENUMBRA_UNSUPPORTED.
class LetterCase {
 public:
  // The C collation's: ASCII letters, other bytes stay.
  static const LetterCase& OfC();
  // `locale` is needed for the rules of the C library, and kept.
  LetterCase(PenumbraCaseRule rule, locale_t locale, bool is_utf8);

  // Whether text that an intact database holds can end with PENUMBRA_UNSUPPORTED.
  bool can_fail() const { return rule_ == PENUMBRA_CASE_ASCII_ONLY; }
  bool has_titles() const { return rule_ != PENUMBRA_CASE_ASCII_ONLY; }
  // Whether the special characters of LIKE, and only they, become these characters.
  bool KeepsWildcards() const;

  // Whether each of these bytes stays where it is.
  bool KeepsLengths(const char* bytes, uint32_t length) const;
  // How many bytes Change() may write.
  size_t ChangedBytesMax(uint32_t length) const { return size_t{length} * growth_; }
  // Returns the length of the result. `out` may be `bytes` where growth is 1 (the C collation).
  uint32_t Change(CaseChange change, const char* bytes, uint32_t length, char* out) const;

 private:
  // UTF-8 of two bytes; beyond it the C library is asked each time.
  static constexpr uint32_t kTableCharacters = 0x800;

  uint32_t Lower(uint32_t character) const;
  uint32_t Upper(uint32_t character) const;
  bool IsAlphanumeric(uint32_t character) const;
  uint32_t ChangeUtf8(CaseChange change, const char* bytes, uint32_t length, char* out) const;
  uint32_t ChangeBytes(CaseChange change, const char* bytes, uint32_t length, char* out) const;

  const PenumbraCaseRule rule_;
  const locale_t locale_;
  const bool is_utf8_;
  uint32_t growth_ = 1;
  bool is_ascii_plain_ = true;  // ASCII text changes as in C
  std::array<uint32_t, kTableCharacters> lower_{};
  std::array<uint32_t, kTableCharacters> upper_{};
  std::array<bool, kTableCharacters> is_alphanumeric_{};
};

// Changes one text after the other, in memory that grows.
class CaseBuffer {
 public:
  CaseBuffer(const LetterCase& letter_case, CaseChange change) : letter_case_(letter_case), change_(change) {}
  // Valid until the next call.
  StringRef Change(const StringRef& text) {
    const size_t bytes_max = letter_case_.ChangedBytesMax(text.length);
    if (buffer_.size() < bytes_max) buffer_.resize(bytes_max);
    const uint32_t length = letter_case_.Change(change_, text.data(), text.length, buffer_.data());
    return StringRef(buffer_.data(), length);
  }

 private:
  const LetterCase& letter_case_;
  const CaseChange change_;
  std::vector<char> buffer_;
};

}  // namespace penumbra
