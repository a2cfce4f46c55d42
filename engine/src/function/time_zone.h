// Time zones: instants to local time and back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "expression/expr.h"
#include "vector/vector_build.h"

namespace penumbra {

// Keeps the span of the table that the last look-up hit: rows of one batch are mostly close in time.
class TimeZone {
 public:
  explicit TimeZone(const ZoneTable& table) : table_(table) {}
  explicit TimeZone(const Session& session) : table_(session.zone) {}

  // Throws PENUMBRA_UNSUPPORTED outside of the table.
  int64_t OffsetUs(int64_t utc_us);
  // utc_us is finite; the result may lie outside of the range of timestamps.
  int64_t ToLocal(int64_t utc_us) { return utc_us + OffsetUs(utc_us); }
  // As DetermineTimeZoneOffset: of a local time that a shift skips or repeats, the one that the offset
  // before (skipped) or after (repeated) the shift gives.
  int64_t ToUtc(int64_t local_us);

 private:
  size_t FindSpan(int64_t utc_us) const;

  const ZoneTable& table_;
  int64_t span_begin_us_ = 0;  // [begin, end) has offset_us_; empty at first
  int64_t span_end_us_ = 0;
  int64_t offset_us_ = 0;
};

inline bool HasTimeZone(const Session& session) { return !session.zone.from_us.empty(); }
// Whether the table ends before the last instant, as of zones with rules for ever.
inline bool TimeZoneEnds(const ZoneTable& table) { return table.valid_until_us != INT64_MAX; }
inline bool TimeZoneEnds(const Session& session) { return TimeZoneEnds(session.zone); }

// The zones of a batch's rows: one that is known when the plan is built, or a column of PenumbraZoneHeader.
class ZoneArgument {
 public:
  ZoneArgument(const ZoneTable* known, const Vector& column, uint32_t rows, Arena& arena);

  TimeZone& Of(uint32_t row) {
    if (!column_.has_value()) return zone_;
    const StringRef& bytes = (*column_)[row];
    return !bytes.is_inline() && bytes.pointer == found_ ? *found_zone_ : Find(bytes);
  }

 private:
  struct Known {
    explicit Known(ZoneTable read) : table(std::move(read)) {}
    const ZoneTable table;
    TimeZone zone{table};
  };
  static inline const ZoneTable kNoTable;

  TimeZone& Find(const StringRef& bytes);

  TimeZone zone_;
  std::optional<View<StringRef>> column_;
  std::unordered_map<const char*, std::unique_ptr<Known>> known_;  // by where its bytes are; null: a short one
  const char* found_ = nullptr;
  TimeZone* found_zone_ = nullptr;
};

// Of PenumbraZoneHeader. An empty table: of a zone that nobody knows.
ZoneTable ReadZoneTable(std::string_view bytes);

}  // namespace penumbra
