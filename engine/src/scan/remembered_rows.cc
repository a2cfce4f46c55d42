#include "scan/remembered_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/kernels.h"

namespace penumbra {
namespace {

using kernels::BitmapWords;

// A set's place: its form, and the unit that it begins at.
constexpr uint32_t kFormBits = 3;

uint32_t PlaceOf(RowSetForm form, size_t unit) {
  return static_cast<uint32_t>(unit) << kFormBits | static_cast<uint32_t>(form);
}
RowSetForm FormOf(uint32_t place) { return static_cast<RowSetForm>(place & ((1u << kFormBits) - 1)); }

uint32_t RowsOfVector(uint32_t rows, uint32_t vector) { return std::min(kVectorRows, rows - vector * kVectorRows); }

constexpr uint32_t kUnitBits = 16;

}  // namespace

RowSetForm EncodeRowSet(const uint64_t* bits, uint32_t count, std::vector<uint16_t>* units) {
  const auto n = static_cast<uint32_t>(kernels::CountBits(bits, count));
  if (n == 0) return RowSetForm::kNone;
  if (n == count) return RowSetForm::kAll;
  const uint32_t bitmap_units = (count + kUnitBits - 1) / kUnitBits;
  const uint32_t listed = std::min(n, count - n);
  const size_t first = units->size();
  if (listed + 1 >= bitmap_units) {
    units->resize(first + bitmap_units);
    std::memcpy(units->data() + first, bits, bitmap_units * sizeof(uint16_t));
    return RowSetForm::kBitmap;
  }
  uint64_t list[kValidityWords];
  std::copy_n(bits, BitmapWords(count), list);
  if (n > listed) kernels::NotBits(list, count);
  units->push_back(static_cast<uint16_t>(listed));
  for (size_t w = 0; w < BitmapWords(count); ++w) {
    for (uint64_t left = list[w]; left != 0; left &= left - 1)
      units->push_back(static_cast<uint16_t>(w * 64 + static_cast<size_t>(std::countr_zero(left))));
  }
  return n > listed ? RowSetForm::kGaps : RowSetForm::kRows;
}

void DecodeRowSet(RowSetForm form, const uint16_t* units, uint32_t count, uint64_t* bits) {
  std::fill_n(bits, BitmapWords(count), 0);
  switch (form) {
    case RowSetForm::kNone: return;
    case RowSetForm::kAll: kernels::SetBits(bits, count); return;
    case RowSetForm::kBitmap: std::memcpy(bits, units, (count + kUnitBits - 1) / kUnitBits * sizeof(uint16_t)); return;
    case RowSetForm::kRows:
    case RowSetForm::kGaps: break;
  }
  for (uint32_t i = 1; i <= units[0]; ++i) bits[units[i] / 64] |= uint64_t{1} << (units[i] % 64);
  if (form == RowSetForm::kGaps) kernels::NotBits(bits, count);
}

RememberedRows::RememberedRows(const void* image, uint32_t rows)
    : image_(image != nullptr && static_cast<const RememberedHeader*>(image)->rows == rows ? image : nullptr) {}

void RememberedRows::Find(uint32_t place, uint32_t vector, uint64_t* bits) const {
  const auto* units = reinterpret_cast<const uint16_t*>(places() + size_t{2} * vectors());
  DecodeRowSet(FormOf(place), units + (place >> kFormBits), RowsOfVector(header().rows, vector), bits);
}

bool RememberedRows::FindKnown(uint32_t vector, uint64_t* bits) const {
  if (image_ == nullptr || FormOf(places()[vector]) == RowSetForm::kNone) return false;
  Find(places()[vector], vector, bits);
  return true;
}

void RememberedRows::FindMatches(uint32_t vector, uint64_t* bits) const {
  Find(places()[vectors() + vector], vector, bits);
}

LearnedRows::LearnedRows(uint32_t rows) : rows_(rows), vectors_((rows + kVectorRows - 1) / kVectorRows) {}

size_t LearnedRows::Learn(uint32_t vector, const uint64_t* known, const uint64_t* matches) {
  thread_local std::vector<uint16_t> units;
  const uint32_t count = RowsOfVector(rows_, vector);
  units.clear();
  const RowSetForm known_form = EncodeRowSet(known, count, &units);
  const auto known_units = static_cast<uint16_t>(units.size());
  const RowSetForm matches_form = EncodeRowSet(matches, count, &units);
  Units& learned = vectors_[vector];
  learned = std::make_unique_for_overwrite<uint16_t[]>(3 + units.size());
  learned[0] = static_cast<uint16_t>(known_form);
  learned[1] = static_cast<uint16_t>(matches_form);
  learned[2] = known_units;
  std::copy(units.begin(), units.end(), learned.get() + 3);
  return (3 + units.size()) * sizeof(uint16_t);
}

bool LearnedRows::is_empty() const {
  return std::none_of(vectors_.begin(), vectors_.end(), [](const Units& learned) { return learned != nullptr; });
}

std::vector<char> LearnedRows::ToImage(const RememberedRows& before) const {
  const auto vectors = static_cast<uint32_t>(vectors_.size());
  RememberedHeader header = {rows_, 1};
  std::vector<uint32_t> places(size_t{2} * vectors);
  std::vector<uint16_t> units;
  for (uint32_t v = 0; v < vectors; ++v) {
    const uint32_t count = RowsOfVector(rows_, v);
    uint64_t known[kValidityWords] = {}, matches[kValidityWords] = {};
    if (before.FindKnown(v, known)) before.FindMatches(v, matches);
    if (const uint16_t* learned = vectors_[v].get()) {
      uint64_t more[kValidityWords];
      DecodeRowSet(static_cast<RowSetForm>(learned[0]), learned + 3, count, more);
      kernels::OrBits(known, more, count);
      DecodeRowSet(static_cast<RowSetForm>(learned[1]), learned + 3 + learned[2], count, more);
      kernels::OrBits(matches, more, count);
    }
    const size_t known_at = units.size();
    places[v] = PlaceOf(EncodeRowSet(known, count, &units), known_at);
    const size_t matches_at = units.size();
    places[vectors + v] = PlaceOf(EncodeRowSet(matches, count, &units), matches_at);
    if (FormOf(places[v]) != RowSetForm::kAll || FormOf(places[vectors + v]) != RowSetForm::kNone)
      header.none_matches = 0;
  }
  const size_t places_bytes = places.size() * sizeof(uint32_t), units_bytes = units.size() * sizeof(uint16_t);
  std::vector<char> image(sizeof(header) + places_bytes + units_bytes);
  std::memcpy(image.data(), &header, sizeof(header));
  std::memcpy(image.data() + sizeof(header), places.data(), places_bytes);
  if (units_bytes > 0) std::memcpy(image.data() + sizeof(header) + places_bytes, units.data(), units_bytes);
  return image;
}

}  // namespace penumbra
