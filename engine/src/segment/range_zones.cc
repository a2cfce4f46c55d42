#include "segment/range_zones.h"

#include <algorithm>

#include "vector/range_image.h"

namespace penumbra {
namespace {

RangeZone EmptyZone(uint8_t form, uint8_t flags) {
  return {.begin_least = INT64_MAX,
          .begin_greatest = INT64_MIN,
          .end_least = INT64_MAX,
          .end_greatest = INT64_MIN,
          .empty_count = 0,
          .form = form,
          .flags = flags,
          .zero = {}};
}

template <typename Bound>
bool IsSound(const Interval<Bound>& range) {
  return range.begin < range.end && Bound::IsSound(range.begin) && Bound::IsSound(range.end);
}

template <typename Bound>
void AddRange(const Interval<Bound>& hull, RangeZone* zone) {
  const int64_t begin = Bound::KeyOf(hull.begin), end = Bound::KeyOf(hull.end);
  zone->begin_least = std::min(zone->begin_least, begin);
  zone->begin_greatest = std::max(zone->begin_greatest, begin);
  zone->end_least = std::min(zone->end_least, end);
  zone->end_greatest = std::max(zone->end_greatest, end);
}

// False: it is no image.
template <typename Bound>
bool AddValue(const StringRef& image, RangeZone* zone) {
  Interval<Bound> hull;
  if (ReadSingle(image, &hull)) {
    const bool is_finite = kHasValues<Bound> && image.length == Bound::kFiniteRangeBytes &&
                           Bound::IsFinite(hull.begin) && Bound::IsFinite(hull.end);
    if (!is_finite) zone->flags &= ~(kAllFinite | kAllBefore);
    if (Bound::IsBehind(hull.begin) || Bound::IsBehind(hull.end)) zone->flags &= ~kAllBefore;
    AddRange<Bound>(hull, zone);
    return IsSound(hull);
  }
  zone->flags &= ~(kAllFinite | kAllBefore);
  if (image.length < Bound::kHeadBytes) return false;
  Cursor<Bound> cursor(image);
  if (!cursor.Next(&hull)) {
    ++zone->empty_count;
    return cursor.is_sound();
  }
  zone->flags &= ~kAllSingle;
  bool is_sound = IsSound(hull);
  for (Interval<Bound> next; cursor.Next(&next);) {
    is_sound &= IsSound(next);
    hull.end = next.end;
  }
  AddRange<Bound>(hull, zone);
  return is_sound && cursor.is_sound();
}

template <typename Bound>
bool FindZone(const Vector& ranges, uint32_t rows, RangeZone* zone) {
  for (uint32_t i = 0; i < rows; ++i) {
    if (ranges.IsValid(i) && !AddValue<Bound>(ranges.values<StringRef>()[i], zone)) return false;
  }
  return true;
}

std::vector<RangeZone> FindZonesOfForm(uint8_t form, const RowsColumn& column, uint32_t rows) {
  std::vector<RangeZone> zones(VectorCount(rows));
  std::vector<StringRef> values(std::min(rows, kVectorRows));
  Vector ranges;
  ranges.type = column.type;
  ranges.data = values.data();
  for (uint32_t v = 0; v < zones.size(); ++v) {
    const uint32_t begin = v * kVectorRows, count = std::min(kVectorRows, rows - begin);
    for (uint32_t i = 0; i < count; ++i) values[i] = StringRef(column.View(begin + i));
    if (!column.validity.empty()) ranges.validity = column.validity.data() + begin / 64;
    if (!FindRangeZone(form, ranges, count, &zones[v])) return {};
    if (zones[0].begin_least > zones[0].begin_greatest) return {};
  }
  return zones;
}

}  // namespace

bool FindRangeZone(uint8_t form, const Vector& ranges, uint32_t rows, RangeZone* zone) {
  *zone = EmptyZone(form, kIsRangeZone | kAllSingle | kAllFinite | kAllBefore);
  switch (form) {
    case PENUMBRA_RANGE_OF_INT4: return FindZone<IntegerBound<4>>(ranges, rows, zone);
    case PENUMBRA_RANGE_OF_INT8: return FindZone<IntegerBound<8>>(ranges, rows, zone);
    case PENUMBRA_RANGE_OF_NUMERIC: return FindZone<NumericBound>(ranges, rows, zone);
    default: return false;
  }
}

// What other strings are mostly shows the first one.
std::vector<RangeZone> FindRangeZones(const RowsColumn& column, uint32_t rows) {
  if (column.type == PENUMBRA_BPCHAR) return FindZonesOfForm(PENUMBRA_RANGE_OF_NUMERIC, column, rows);
  if (column.type != PENUMBRA_TEXT) return {};
  std::vector<RangeZone> zones = FindZonesOfForm(PENUMBRA_RANGE_OF_INT8, column, rows);
  return zones.empty() ? FindZonesOfForm(PENUMBRA_RANGE_OF_INT4, column, rows) : zones;
}

RangeZone UniteRangeZones(const SegmentView& segment) {
  const auto* zones = segment.part<RangeZone>(kZones);
  if (zones == nullptr || !segment.is_string_form()) return {};
  RangeZone all = EmptyZone(zones[0].form, zones[0].flags);
  for (uint32_t v = 0; v < VectorCount(segment.header().rows); ++v) {
    const RangeZone& zone = zones[v];
    all.begin_least = std::min(all.begin_least, zone.begin_least);
    all.begin_greatest = std::max(all.begin_greatest, zone.begin_greatest);
    all.end_least = std::min(all.end_least, zone.end_least);
    all.end_greatest = std::max(all.end_greatest, zone.end_greatest);
    all.empty_count += zone.empty_count;
    all.flags &= zone.flags;
  }
  return all;
}

}  // namespace penumbra
