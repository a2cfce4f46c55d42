// A list as PenumbraList describes it, read in place: nothing of it is aligned.
#pragma once

#include <cstdint>
#include <cstring>

#include "penumbra/types.h"
#include "vector/error.h"
#include "vector/string_load.h"
#include "vector/vector.h"

namespace penumbra {

// How elements of the type are held in vectors: a NUMERIC in PostgreSQL's format.
constexpr NumericForm kElementForm = NumericForm::kPayload;

class ListImage {
 public:
  ListImage() = default;
  // The image is not trusted: what it says of lengths is checked.
  ListImage(PenumbraType element, std::string_view image) : has_strings_(IsStringForm(element, kElementForm)) {
    const uint32_t head = HeadOf(image);
    count_ = head >> PENUMBRA_LIST_COUNT_SHIFT;
    end_bytes_ = 1U << (head >> 1 & 3);
    const char* next = image.data() + sizeof(head);
    if ((head & PENUMBRA_LIST_HAS_NULLS) != 0) {
      valid_ = next;
      next += (count_ + 7) / 8;
    }
    ends_ = next;
    width_ = has_strings_ ? end_bytes_ : FlatWidth(element, kElementForm);
    values_ = next + size_t{count_} * width_;
    if (values_ > image.data() + image.size() || end_bytes_ > 4) throw EngineError(PENUMBRA_CORRUPT, "a short list");
    string_bytes_ = image.data() + image.size() - values_;
  }

  // The count alone.
  static uint32_t CountOf(std::string_view image) { return HeadOf(image) >> PENUMBRA_LIST_COUNT_SHIFT; }

  uint32_t count() const { return count_; }
  bool has_nulls() const { return valid_ != nullptr; }
  bool IsValid(uint32_t i) const { return valid_ == nullptr || ((valid_[i / 8] >> (i % 8)) & 1) != 0; }
  // Of values that are no strings, those from `begin` on.
  const char* fixed(uint32_t begin) const { return ends_ + size_t{begin} * width_; }
  uint32_t width() const { return width_; }
  // The strings [begin, begin + count) into `out`.
  void ReadStrings(uint32_t begin, uint32_t count, StringRef* out) const {
    if (count == 0) return;
    switch (end_bytes_) {
      case 1: return ReadStringsOf<uint8_t>(begin, count, out);
      case 2: return ReadStringsOf<uint16_t>(begin, count, out);
      default: return ReadStringsOf<uint32_t>(begin, count, out);
    }
  }

 private:
  template <typename T>
  static T Load(const char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }
  static uint32_t HeadOf(std::string_view image) {
    if (image.size() < sizeof(uint32_t)) throw EngineError(PENUMBRA_CORRUPT, "a list without a head");
    const auto head = Load<uint32_t>(image.data());
    if (head == PENUMBRA_LIST_REFUSED) throw EngineError(PENUMBRA_INVALID_ARGUMENT, "a value that has no list");
    return head;
  }
  template <typename End>
  void ReadStringsOf(uint32_t begin, uint32_t count, StringRef* out) const {
    const char* ends = ends_ + size_t{begin} * sizeof(End);
    uint32_t from = begin == 0 ? 0 : Load<End>(ends - sizeof(End));
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t to = Load<End>(ends + i * sizeof(End));
      if (to < from || to > string_bytes_) throw EngineError(PENUMBRA_CORRUPT, "a list's string beyond its end");
      // Bytes behind the image are not read.
      const bool has_room = size_t{from} + StringRef::kInlineBytes <= string_bytes_;
      out[i] = has_room ? LoadStringRef(values_ + from, to - from) : StringRef(values_ + from, to - from);
      from = to;
    }
  }

  bool has_strings_ = false;
  uint32_t count_ = 0;
  uint32_t end_bytes_ = 1;
  uint32_t width_ = 0;
  const char* valid_ = nullptr;  // a bit for each element; null: all are
  const char* ends_ = nullptr;   // of strings, else the values
  const char* values_ = nullptr;
  size_t string_bytes_ = 0;
};

}  // namespace penumbra
