// Collations: the order of text, and its letter case.
#pragma once

#include <locale.h>

#include <string>

#include "function/letter_case.h"
#include "vector/value_order.h"

namespace penumbra {

// One for each description in a process, never freed: its address stands for it. A null pointer to a
// collation means C, bytewise and ASCII. Immutable.
class Collation {
 public:
  // Null: refused, *reason says why. C itself is null without a reason.
  static const Collation* Find(const PenumbraCollation& description, bool is_utf8, std::string* reason);

  Collation(std::string description, locale_t order, PenumbraCaseRule rule, locale_t case_locale,
            bool compares_lower_case, bool is_utf8)
      : description_(std::move(description)),
        order_(order),
        compares_lower_case_(compares_lower_case),
        letter_case_(rule, case_locale, is_utf8) {}
  Collation(const Collation&) = delete;

  // What it was made of: the same in every process for the same collation, and never empty.
  const std::string& description() const { return description_; }
  bool is_bytewise() const { return order_ == nullptr && !compares_lower_case_; }
  // Bytes that by strxfrm's promise, which is not to be trusted, order texts as Compare() does as far as they
  // differ: zero bytes follow what is shorter. Long texts are weighed by their beginning.
  void WriteWeights(const char* text, uint32_t length, char* weights, uint32_t weights_bytes) const;
  const LetterCase& letter_case() const { return letter_case_; }

  // <0, 0, >0. As PostgreSQL does it: strcoll's order, and bytewise what strcoll finds equal; so only
  // equal bytes are equal, unless texts are compared in lower case.
  int Compare(const char* a, uint32_t a_length, const char* b, uint32_t b_length) const {
    if (compares_lower_case_) return CompareInLowerCase(a, a_length, b, b_length);
    return CompareAsGiven(a, a_length, b, b_length);
  }

 private:
  int CompareAsGiven(const char* a, uint32_t a_length, const char* b, uint32_t b_length) const {
    if (order_ == nullptr || (a_length == b_length && std::memcmp(a, b, a_length) == 0)) {
      return CompareBytes(a, a_length, b, b_length);
    }
    return CompareByLocale(a, a_length, b, b_length);
  }
  int CompareInLowerCase(const char* a, uint32_t a_length, const char* b, uint32_t b_length) const;
  int CompareByLocale(const char* a, uint32_t a_length, const char* b, uint32_t b_length) const;

  const std::string description_;
  const locale_t order_;  // null: bytewise
  const bool compares_lower_case_;
  const LetterCase letter_case_;
};

// Of text, or of char(n) with is_padded; collation null: C.
inline int CompareCollated(const Collation* collation, bool is_padded, const StringRef& a, const StringRef& b) {
  if (collation == nullptr) return is_padded ? CompareBpchar(a, b) : CompareText(a, b);
  const char *a_bytes = a.data(), *b_bytes = b.data();
  if (!is_padded) return collation->Compare(a_bytes, a.length, b_bytes, b.length);
  return collation->Compare(a_bytes, TrimmedLength(a_bytes, a.length), b_bytes, TrimmedLength(b_bytes, b.length));
}

inline const LetterCase& LetterCaseOf(const Collation* collation) {
  return collation == nullptr ? LetterCase::OfC() : collation->letter_case();
}

}  // namespace penumbra
