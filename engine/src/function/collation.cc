#include "function/collation.h"

#include <langinfo.h>
#include <string.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace penumbra {
namespace {

// A copy that ends with a zero byte, as strcoll wants it.
class TerminatedCopy {
 public:
  TerminatedCopy(const char* bytes, uint32_t length) {
    char* copy = short_;
    if (length >= sizeof(short_)) {
      long_.resize(size_t{length} + 1);
      copy = long_.data();
    }
    if (length > 0) std::memcpy(copy, bytes, length);
    copy[length] = '\0';
    text_ = copy;
  }
  TerminatedCopy(const TerminatedCopy&) = delete;
  const char* text() const { return text_; }

 private:
  char short_[512];
  std::vector<char> long_;
  const char* text_;
};

// Null: the C library does not have it, or its characters are others than the encoding's.
locale_t OpenLocale(int mask, const char* name, bool is_utf8, std::string* reason) {
  const locale_t locale = newlocale(mask | LC_CTYPE_MASK, name, nullptr);
  if (locale == nullptr) {
    *reason = std::string("locale ") + name + " cannot be opened";
    return nullptr;
  }
  if (is_utf8 && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") != 0) {
    freelocale(locale);
    *reason = std::string("locale ") + name + " is not one of UTF-8";
    return nullptr;
  }
  return locale;
}

const char* NameOrEmpty(const char* name) { return name == nullptr ? "" : name; }

}  // namespace

// Collations are never freed: expressions hold pointers to them, and there are few. Null without a reason means that
// bytes decide.
const Collation* Collation::Find(const PenumbraCollation& description, bool is_utf8, std::string* reason) {
  const bool needs_case_locale =
      description.case_rule == PENUMBRA_CASE_LIBC || description.case_rule == PENUMBRA_CASE_LIBC_DEFAULT;
  if (description.order_locale == nullptr && description.case_rule == PENUMBRA_CASE_C &&
      !description.compares_lower_case) {
    return nullptr;
  }
  std::string key = is_utf8 ? "u" : "b";
  if (description.compares_lower_case) key += "l";
  key += static_cast<char>('0' + description.case_rule);
  key.append(needs_case_locale ? NameOrEmpty(description.case_locale) : "").push_back('\0');
  key += description.order_locale == nullptr ? "" : std::string("o") + description.order_locale;

  static std::mutex mutex;
  static auto* const known = new std::map<std::string, std::unique_ptr<Collation>>;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = known->find(key); found != known->end()) return found->second.get();
  locale_t order = nullptr, letters = nullptr;
  if (description.order_locale != nullptr) {
    order = OpenLocale(LC_COLLATE_MASK, description.order_locale, is_utf8, reason);
    if (order == nullptr) return nullptr;
  }
  if (needs_case_locale) {
    letters = OpenLocale(LC_CTYPE_MASK, NameOrEmpty(description.case_locale), is_utf8, reason);
    if (letters == nullptr) return nullptr;
  }
  auto made =
      std::make_unique<Collation>(key, order, description.case_rule, letters, description.compares_lower_case, is_utf8);
  return known->emplace(std::move(key), std::move(made)).first->second.get();
}

void Collation::WriteWeights(const char* text, uint32_t length, char* weights, uint32_t weights_bytes) const {
  // Enough for the first weights unless a text begins with characters that have none.
  constexpr uint32_t kWeighedBytesMax = 96;
  constexpr size_t kUsualWeightsBytes = 1024;
  if (length > kWeighedBytesMax) {
    length = kWeighedBytesMax;
    while (length > 0 && (static_cast<uint8_t>(text[length]) & 0xc0) == 0x80) --length;
  }
  const TerminatedCopy copy(text, length);
  char usual[kUsualWeightsBytes];
  const char* all = usual;
  const size_t written = strxfrm_l(usual, copy.text(), sizeof(usual), order_);
  std::vector<char> more;
  if (written >= sizeof(usual)) {  // what does not fit leaves undefined bytes behind
    more.resize(written + 1);
    strxfrm_l(more.data(), copy.text(), more.size(), order_);
    all = more.data();
  }
  size_t used = std::min<size_t>(written, weights_bytes);
  // A byte 1 ends the first level. Past it glibc's strxfrm and strcoll really do disagree, on accents and case.
  if (const void* end = std::memchr(all, 1, used)) used = static_cast<size_t>(static_cast<const char*>(end) - all);
  std::memcpy(weights, all, used);
  std::memset(weights + used, 0, weights_bytes - used);
}

int Collation::CompareInLowerCase(const char* a, uint32_t a_length, const char* b, uint32_t b_length) const {
  if (a_length == b_length && std::memcmp(a, b, a_length) == 0) return 0;
  CaseBuffer a_buffer(letter_case_, CaseChange::kLower), b_buffer(letter_case_, CaseChange::kLower);
  const StringRef a_lower = a_buffer.Change(StringRef(a, a_length)), b_lower = b_buffer.Change(StringRef(b, b_length));
  return CompareAsGiven(a_lower.data(), a_lower.length, b_lower.data(), b_lower.length);
}

int Collation::CompareByLocale(const char* a, uint32_t a_length, const char* b, uint32_t b_length) const {
  const TerminatedCopy a_copy(a, a_length), b_copy(b, b_length);
  const int order = strcoll_l(a_copy.text(), b_copy.text(), order_);
  return order != 0 ? order : CompareBytes(a, a_length, b, b_length);
}

}  // namespace penumbra
