// The session's time zone: instants to local time and back.
#pragma once

#include <cstdint>

#include "expression/expr.h"

namespace penumbra {

// Keeps the span of the table that the last look-up hit: rows of one batch are mostly close in time.
class TimeZone {
 public:
  explicit TimeZone(const Session& session) : session_(session) {}

  // Throws PENUMBRA_UNSUPPORTED outside of the table.
  int64_t OffsetUs(int64_t utc_us);
  // utc_us is finite; the result may lie outside of the range of timestamps.
  int64_t ToLocal(int64_t utc_us) { return utc_us + OffsetUs(utc_us); }
  // As DetermineTimeZoneOffset: of a local time that a shift skips or repeats, the one that the offset
  // before (skipped) or after (repeated) the shift gives.
  int64_t ToUtc(int64_t local_us);

 private:
  size_t FindSpan(int64_t utc_us) const;

  const Session& session_;
  int64_t span_begin_us_ = 0;  // [begin, end) has offset_us_; empty at first
  int64_t span_end_us_ = 0;
  int64_t offset_us_ = 0;
};

inline bool HasTimeZone(const Session& session) { return !session.zone_from_us.empty(); }
// Whether the table ends before the last instant, as of zones with rules for ever.
inline bool TimeZoneEnds(const Session& session) { return session.zone_valid_until_us != INT64_MAX; }

}  // namespace penumbra
