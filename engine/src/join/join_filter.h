// The runtime filters of scans of a join's probe side.
#pragma once

#include "join/join_integers.h"
#include "join/join_table.h"
#include "operator/key_filter.h"

namespace penumbra {

class JoinKeyFilter final : public KeyFilter {
 public:
  // Of an integer key; `bitmap` may be null.
  JoinKeyFilter(const KeyRange& range, const KeyBitmap* bitmap);
  // Of the only key of a hash table's rows: by the tags of its directory. The range is everything for other types.
  JoinKeyFilter(const KeyRange& range, const KeyLayout& keys, const JoinTable& table)
      : range_(range), keys_(&keys), table_(&table) {}

  Verdict CheckBounds(int64_t least, int64_t greatest) const override;
  void Apply(const Vector& v, uint32_t rows, Arena& arena, uint64_t* bits) const override;
  bool ApplyCodes(const uint16_t* codes, int64_t base, uint32_t rows, uint64_t* bits) const override {
    return bitmap_ != nullptr && bitmap_->ClearOthers(codes, base, rows, bits);
  }

 private:
  void ApplyTags(const Vector& v, uint32_t rows, Arena& arena, uint64_t* bits) const;

  KeyRange range_;
  const KeyBitmap* bitmap_ = nullptr;
  bool is_dense_ = false;  // every value of the range is there
  const KeyLayout* keys_ = nullptr;
  const JoinTable* table_ = nullptr;
};

}  // namespace penumbra
