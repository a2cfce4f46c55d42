#include "segment.h"

namespace penumbra {

SegmentReader::SegmentReader(const void* segment) : segment_(segment) {}
PenumbraType SegmentReader::type() const { return PENUMBRA_BOOL; }
uint32_t SegmentReader::rows() const { return 0; }
uint32_t SegmentReader::null_count() const { return 0; }
Vector SegmentReader::Decode(uint32_t, uint32_t, Arena&) const {
  throw EngineError(PENUMBRA_UNSUPPORTED, "segment");
}
Vector SegmentReader::DecodeSelected(uint32_t, uint32_t, const uint16_t*, uint32_t, Arena&) const {
  throw EngineError(PENUMBRA_UNSUPPORTED, "segment");
}

}  // namespace penumbra
