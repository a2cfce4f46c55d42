#include "rows.h"

namespace penumbra {

Rows::Rows(const PenumbraType* types, int column_count) {
  for (int i = 0; i < column_count; ++i) columns_.push_back({types[i]});
}
void Rows::Append(const PenumbraColumnInput*, uint32_t) { throw EngineError(PENUMBRA_UNSUPPORTED, "rows"); }
void Rows::Clear() { row_count_ = 0; }
size_t Rows::byte_count() const { return 0; }
Vector Rows::Slice(int, uint32_t, uint32_t, Arena&) const { throw EngineError(PENUMBRA_UNSUPPORTED, "rows"); }

}  // namespace penumbra
