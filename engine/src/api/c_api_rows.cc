// The C functions of rows, segments and values: penumbra_rows_*, penumbra_segment_*, penumbra_numeric_text.
#include <new>

#include "api/status.h"
#include "numeric/numeric.h"
#include "segment/rows.h"
#include "segment/segment.h"
#include "segment/segment_format.h"
#include "segment/tuples.h"

namespace {

template <typename Body>
PenumbraStatus Guard(Body body) noexcept {
  try {
    body();
    return {PENUMBRA_OK, {}};
  } catch (...) {
    return penumbra::CurrentStatus();
  }
}

}  // namespace

extern "C" {

PenumbraRows* penumbra_rows_create(const PenumbraType* types, int column_count) {
  try {
    return new PenumbraRows(types, column_count);
  } catch (const std::exception&) {
    return nullptr;
  }
}

PenumbraStatus penumbra_rows_append(PenumbraRows* rows, const PenumbraColumnInput* columns, uint32_t row_count) {
  return Guard([&] { rows->Append(columns, row_count); });
}

PenumbraStatus penumbra_rows_append_segments(PenumbraRows* rows, const void* const* segments, uint32_t begin,
                                             uint32_t end) {
  return Guard([&] { rows->AppendSegments(segments, begin, end); });
}

uint32_t penumbra_rows_count(const PenumbraRows* rows) { return rows->row_count(); }
size_t penumbra_rows_bytes(const PenumbraRows* rows) { return rows->byte_count(); }
void penumbra_rows_clear(PenumbraRows* rows) { rows->Clear(); }
void penumbra_rows_destroy(PenumbraRows* rows) { delete rows; }

PenumbraTuples* penumbra_tuples_create(const PenumbraTupleLayout* layout, const PenumbraType* types, int column_count) {
  try {
    return new PenumbraTuples(std::make_shared<penumbra::TupleLayout>(*layout, types, column_count));
  } catch (const std::exception&) {
    return nullptr;
  }
}

PenumbraStatus penumbra_tuples_append(PenumbraTuples* tuples, const void* bytes, size_t byte_count,
                                      const uint32_t* offsets, uint32_t count) {
  return Guard([&] { tuples->Append(bytes, byte_count, offsets, count); });
}

uint32_t penumbra_tuples_count(const PenumbraTuples* tuples) { return tuples->row_count(); }
size_t penumbra_tuples_bytes(const PenumbraTuples* tuples) { return tuples->byte_count(); }
void penumbra_tuples_clear(PenumbraTuples* tuples) { tuples->Clear(); }
void penumbra_tuples_destroy(PenumbraTuples* tuples) { delete tuples; }

PenumbraStatus penumbra_segment_encode(const PenumbraRows* rows, int column, void** segment, size_t* segment_bytes) {
  *segment = nullptr;
  *segment_bytes = 0;
  return Guard([&] { *segment = penumbra::EncodeSegment(*rows, column, segment_bytes); });
}

PenumbraStatus penumbra_segment_check(const void* segment, size_t segment_bytes) {
  return Guard([&] { penumbra::CheckSegment(segment, segment_bytes); });
}

void penumbra_segment_describe(const void* segment, PenumbraSegmentInfo* info) {
  const penumbra::SegmentHeader& header = penumbra::SegmentView(segment).header();
  info->type = static_cast<PenumbraType>(header.type);
  info->rows = header.rows;
  info->nulls = header.null_count;
  info->encoding = penumbra::EncodingName(segment);
  info->encoded_bytes = header.segment_bytes;
  info->plain_bytes = header.plain_bytes;
}

void penumbra_segment_get_zone_map(const void* segment, PenumbraZoneMap* zone_map) {
  *zone_map = penumbra::SegmentReader(segment).zone_map();
}

int64_t penumbra_segment_compare(const void* segment, uint32_t segment_begin, const PenumbraRows* rows, int column) {
  try {
    return penumbra::CompareSegment(segment, segment_begin, *rows, column);
  } catch (const std::exception&) {  // a block that does not decompress: no row of it is equal
    return 0;
  }
}

uint32_t penumbra_numeric_text(const void* payload, uint32_t length, char* text, uint32_t room) {
  return penumbra::WritePayloadText({static_cast<const char*>(payload), length}, text, room);
}

}  // extern "C"
