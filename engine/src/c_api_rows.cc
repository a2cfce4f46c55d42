// The C functions of rows and segments: penumbra_rows_*, penumbra_segment_*.
#include <cstdio>
#include <new>

#include "rows.h"
#include "segment.h"

using penumbra::EngineError;

namespace {

PenumbraStatus MakeStatus(PenumbraCode code, const char* message) {
  PenumbraStatus status = {code, {}};
  std::snprintf(status.message, sizeof(status.message), "%s", message);
  return status;
}

template <typename Body>
PenumbraStatus Guard(Body body) noexcept {
  try {
    body();
    return {PENUMBRA_OK, {}};
  } catch (const EngineError& error) {
    return MakeStatus(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return MakeStatus(PENUMBRA_OUT_OF_MEMORY, "");
  } catch (const std::exception& error) {
    return MakeStatus(PENUMBRA_INTERNAL, error.what());
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

PenumbraStatus penumbra_rows_append(PenumbraRows* rows, const PenumbraColumnInput* columns,
                                    uint32_t row_count) {
  return Guard([&] { rows->Append(columns, row_count); });
}

uint32_t penumbra_rows_count(const PenumbraRows* rows) { return rows->row_count(); }
size_t penumbra_rows_bytes(const PenumbraRows* rows) { return rows->byte_count(); }
void penumbra_rows_clear(PenumbraRows* rows) { rows->Clear(); }
void penumbra_rows_destroy(PenumbraRows* rows) { delete rows; }

PenumbraStatus penumbra_segment_encode(const PenumbraRows*, int, void**, size_t*) {
  return MakeStatus(PENUMBRA_UNSUPPORTED, "segment");
}

PenumbraStatus penumbra_segment_check(const void*, size_t) {
  return MakeStatus(PENUMBRA_UNSUPPORTED, "segment");
}

void penumbra_segment_describe(const void*, PenumbraSegmentInfo* info) { *info = {}; }

int64_t penumbra_segment_compare(const void*, uint32_t, const PenumbraRows*, int) { return 0; }

}  // extern "C"
