#include "join/join_dictionary.h"

#include <algorithm>
#include <unordered_set>

#include "vector/value_order.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// With their references they stay in a core's own cache; rows that are read through more would wait twice.
constexpr size_t kEntriesMax = 16 * 1024;
constexpr size_t kStringBytesMax = size_t{1} << 20;
// A look-up of a string costs as much as copying a few, so what repeats little is not worth it: a thread that has met
// so many must meet each twice, and a segment's dictionary may have so many entries.
constexpr size_t kSampledEntries = 256;
constexpr uint32_t kSegmentEntriesMax = 2048;

}  // namespace

const uint16_t* JoinDictionary::Encoder::Encode(const Vector& strings, uint32_t rows, Arena& arena) {
  if (dictionary_.is_given_up_.load(std::memory_order_relaxed)) return nullptr;
  const bool has_entries = strings.form == VectorForm::kDictionary && strings.dictionary_id != 0;
  if (has_entries && strings.dictionary_size > kSegmentEntriesMax) {
    dictionary_.GiveUp();
    return nullptr;
  }
  uint16_t* codes = arena.AllocateArray<uint16_t>(rows);
  if (strings.is_constant() || strings.validity != nullptr) std::fill_n(codes, rows, uint16_t{0});
  if (strings.is_null_constant()) return codes;
  has_entries ? EncodeEntries(strings, rows, codes) : EncodeStrings(strings, rows, arena, codes);
  return dictionary_.is_given_up_.load(std::memory_order_relaxed) ? nullptr : codes;
}

// An entry is looked up once while the dictionary stays the same. Add() returns null when the join's dictionary is
// full; Encode() then gives up all codes.
void JoinDictionary::Encoder::EncodeEntries(const Vector& strings, uint32_t rows, uint16_t* codes) {
  if (entries_id_ != strings.dictionary_id) {
    entries_.assign(strings.dictionary_size, kUnknown);
    entries_id_ = strings.dictionary_id;
  }
  const StringRef* entries = strings.dictionary->values<StringRef>();
  const auto encode = [&](const auto* entry_of) {
    ForEachValid(strings.validity, rows, [&](uint32_t i) {
      uint16_t& code = entries_[entry_of[i]];
      if (code == kUnknown) {
        const auto* added = dictionary_.Add(entries[entry_of[i]].view());
        if (added == nullptr) return;
        code = added->second;
      }
      codes[i] = code;
    });
  };
  switch (strings.code_bytes) {
    case 1: encode(strings.values<uint8_t>()); break;
    case 2: encode(strings.values<uint16_t>()); break;
    default: encode(strings.values<uint32_t>());
  }
}

void JoinDictionary::Encoder::EncodeStrings(const Vector& strings, uint32_t rows, Arena& arena, uint16_t* codes) {
  const Vector flat = Flatten(strings, rows, arena);
  ForEachValid(flat.validity, rows, [&](uint32_t i) {
    const std::string_view string = flat.values<StringRef>()[i].view();
    auto known = known_.find(string);
    if (known == known_.end()) {
      if (known_.size() >= kSampledEntries && known_.size() > (rows_ + i) / 2) dictionary_.GiveUp();
      const auto* added = dictionary_.Add(string);
      if (added == nullptr) return;
      known = known_.insert(*added).first;
    }
    codes[i] = known->second;
  });
  rows_ += rows;
}

const JoinDictionary::Codes::value_type* JoinDictionary::Add(std::string_view string) {
  if (is_given_up_.load(std::memory_order_relaxed)) return nullptr;
  std::lock_guard lock(mutex_);
  const auto found = codes_.find(string);
  if (found != codes_.end()) return &*found;
  string_bytes_ += string.size();
  if (refs_.size() == kEntriesMax || string_bytes_ > kStringBytesMax) {
    GiveUp();
    return nullptr;
  }
  const std::string_view copy(strings_.CopyBytes(string.data(), string.size()), string.size());
  refs_.emplace_back(copy);
  return &*codes_.emplace(copy, static_cast<uint16_t>(refs_.size() - 1)).first;
}

void JoinDictionary::Seal() {
  codes_ = {};
  if (is_given_up_.load(std::memory_order_relaxed)) {
    refs_ = {};
    strings_.Reset();
  }
  if (refs_.empty()) return;
  entries_ = FlatVector(type_, refs_.data(), nullptr);
  column_ = FlatVector(type_, nullptr, nullptr);
  column_.form = VectorForm::kDictionary;
  column_.code_bytes = sizeof(uint16_t);
  column_.dictionary = &entries_;
  column_.dictionary_size = static_cast<uint32_t>(refs_.size());
  column_.dictionary_id = NextDictionaryId();
}

bool JoinDictionary::HasDistinctEntries() const {
  if (type_ != PENUMBRA_BPCHAR) return true;
  std::unordered_set<std::string_view> trimmed;
  for (const StringRef& ref : refs_) trimmed.insert(ref.view().substr(0, TrimmedLength(ref.data(), ref.length)));
  return trimmed.size() == refs_.size();
}

}  // namespace penumbra
