#include "function/time_zone.h"

#include <algorithm>
#include <cstring>

#include "function/calendar.h"
#include "vector/error.h"

namespace penumbra {

size_t TimeZone::FindSpan(int64_t utc_us) const {
  const std::vector<int64_t>& from = table_.from_us;
  if (from.empty() || utc_us < from[0] || utc_us >= table_.valid_until_us) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "instant outside of the time zone table");
  }
  return static_cast<size_t>(std::upper_bound(from.begin(), from.end(), utc_us) - from.begin()) - 1;
}

int64_t TimeZone::OffsetUs(int64_t utc_us) {
  if (utc_us >= span_begin_us_ && utc_us < span_end_us_) return offset_us_;
  const size_t span = FindSpan(utc_us);
  const std::vector<int64_t>& from = table_.from_us;
  span_begin_us_ = from[span];
  span_end_us_ = span + 1 < from.size() ? std::min(from[span + 1], table_.valid_until_us) : table_.valid_until_us;
  offset_us_ = int64_t{table_.offset_seconds[span]} * kSecondUs;
  return offset_us_;
}

int64_t TimeZone::ToUtc(int64_t local_us) {
  // Offsets are less than a day, so the shift that may concern local_us is the first one later than a
  // day before; the next one is at least two days from it.
  const int64_t fraction_us = FloorModulo(local_us, kSecondUs);
  const int64_t second_us = local_us - fraction_us;
  const size_t span = FindSpan(second_us - kDayUs);
  FindSpan(second_us + kDayUs);
  const std::vector<int64_t>& from = table_.from_us;
  const int64_t before_us = second_us - int64_t{table_.offset_seconds[span]} * kSecondUs;
  if (span + 1 >= from.size()) return before_us + fraction_us;
  const int64_t boundary_us = from[span + 1];
  const int64_t after_us = second_us - int64_t{table_.offset_seconds[span + 1]} * kSecondUs;
  bool is_before;
  if (before_us < boundary_us && after_us < boundary_us) {
    is_before = true;
  } else if (before_us > boundary_us && after_us >= boundary_us) {
    is_before = false;
  } else {
    is_before = before_us > after_us;
  }
  return (is_before ? before_us : after_us) + fraction_us;
}

ZoneArgument::ZoneArgument(const ZoneTable* known, const Vector& column, uint32_t rows, Arena& arena)
    : zone_(known == nullptr ? kNoTable : *known) {
  if (known == nullptr) column_ = ViewOf<StringRef>(column, rows, arena);
}

TimeZone& ZoneArgument::Find(const StringRef& bytes) {
  found_ = bytes.is_inline() ? nullptr : bytes.pointer;
  std::unique_ptr<Known>& known = known_[found_];
  if (known == nullptr) known = std::make_unique<Known>(ReadZoneTable(bytes.view()));
  return *(found_zone_ = &known->zone);
}

ZoneTable ReadZoneTable(std::string_view bytes) {
  ZoneTable table;
  PenumbraZoneHeader header;
  if (bytes.size() < sizeof(header)) return table;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const size_t count = header.count;
  const size_t from_bytes = count * sizeof(int64_t);
  if (bytes.size() != sizeof(header) + from_bytes + count * sizeof(int32_t)) {
    throw EngineError(PENUMBRA_INTERNAL, "time zone of another size");
  }
  table.from_us.resize(count);
  table.offset_seconds.resize(count);
  std::memcpy(table.from_us.data(), bytes.data() + sizeof(header), from_bytes);
  std::memcpy(table.offset_seconds.data(), bytes.data() + sizeof(header) + from_bytes, count * sizeof(int32_t));
  table.valid_until_us = header.valid_until_us;
  return table;
}

}  // namespace penumbra
