// Runtime filters on encoded data: bounds against zone maps, then once per entry of a dictionary or per code of a
// narrow frame. What is neither is decoded by the bound predicate, for the vector in hand.
#include <algorithm>

#include "expression/code_domain.h"
#include "kernels/kernels.h"
#include "scan/scan_predicate.h"
#include "scan/scan_predicate_bound.h"

namespace penumbra {
namespace {

// The truth of `count` flat values without nulls.
std::vector<uint8_t> FindTruth(const KeyFilter& keys, const Vector& values, uint32_t count) {
  Arena arena;
  std::vector<uint8_t> truth(count);
  const uint32_t width = FlatWidth(values);
  for (uint32_t begin = 0; begin < count; begin += kVectorRows) {
    const uint32_t rows = std::min(kVectorRows, count - begin);
    Vector part = values;
    part.data = values.values<char>() + size_t{begin} * width;
    uint64_t bits[kValidityWords];
    kernels::SetBits(bits, rows);
    keys.Apply(part, rows, arena, bits);
    kernels::BitsToBytes(bits, rows, truth.data() + begin);
    arena.Reset();
  }
  return truth;
}

class DecodingBound final : public ScanPredicate::Bound {
 public:
  DecodingBound(const KeyFilter& keys, const SegmentReader& reader) : keys_(keys), reader_(reader) {
    const SegmentView segment(reader.segment());
    const SegmentHeader& header = segment.header();
    if (segment.encoding() != Encoding::kFrame || !segment.is_integer() || header.code_bytes != 2) return;
    if (header.step != 1 || header.null_count != 0) return;
    codes_ = segment.part<uint16_t>(kCodes);
    base_ = header.base;
  }

  Verdict Check(uint32_t begin, uint32_t count) const override {
    const SegmentView segment(reader_.segment());
    const auto* zones = segment.part<SegmentZone>(kZones);
    if (!segment.is_integer() || zones == nullptr || count == 0) return Verdict::kSome;
    const SegmentZone& zone = zones[begin / kVectorRows];
    if (zone.least > zone.greatest) return Verdict::kNone;
    const Verdict verdict = keys_.CheckBounds(zone.least, zone.greatest);
    return verdict == Verdict::kAll && segment.header().null_count > 0 ? Verdict::kSome : verdict;
  }
  void Apply(uint32_t begin, uint32_t count, uint64_t* bits, EvalContext& context) override {
    if (codes_ != nullptr && keys_.ApplyCodes(codes_ + begin, base_, count, bits)) return;
    keys_.Apply(reader_.Decode(begin, count, context.arena), count, context.arena, bits);
  }

 private:
  const KeyFilter& keys_;
  const SegmentReader& reader_;
  const uint16_t* codes_ = nullptr;  // of a frame without nulls whose codes need no decoding
  int64_t base_ = 0;
};

class KeyPredicate final : public ScanPredicate {
 public:
  KeyPredicate(const KeyFilter& keys, int column) : keys_(keys), column_(column) {}

  int column() const override { return column_; }
  Verdict Check(const PenumbraZoneMap& zone_map) const override {
    if (zone_map.rows > 0 && zone_map.null_count == zone_map.rows) return Verdict::kNone;
    const bool is_integer =
        IsIntegerType(static_cast<PenumbraType>(zone_map.type), static_cast<NumericForm>(zone_map.numeric_form));
    if (!is_integer || (zone_map.flags & kHasBounds) == 0) return Verdict::kSome;
    const Verdict verdict = keys_.CheckBounds(zone_map.least, zone_map.greatest);
    return verdict == Verdict::kAll && zone_map.null_count > 0 ? Verdict::kSome : verdict;
  }
  BoundPredicate Bind(const SegmentReader& reader, EvalContext& context) const override {
    const SegmentView segment(reader.segment());
    const SegmentHeader& header = segment.header();
    if (segment.encoding() == Encoding::kDictionary) {
      return BindTable(segment, FindTruth(keys_, *reader.Dictionary(context.arena), header.dictionary_size), false);
    }
    // Else the table costs more than the decoding that it saves.
    if (segment.encoding() == Encoding::kFrame && segment.is_integer() && header.code_bytes <= 2 &&
        FrameCodeCount(header) <= header.rows / 8) {
      return BindCodes(segment, FrameCodeCount(header));
    }
    // Strings are hashed for the rows that are left only.
    if (segment.is_string_form()) return nullptr;
    return std::make_unique<DecodingBound>(keys_, reader);
  }

 private:
  BoundPredicate BindCodes(const SegmentView& segment, uint32_t codes) const {
    const SegmentHeader& header = segment.header();
    std::vector<uint64_t> memory(codes);
    Vector values;
    values.type = segment.type();
    values.scale = header.scale;
    values.lower = header.least;
    values.upper = header.greatest;
    values.data = memory.data();
    FillCodeValues(segment.value_width(), header.base, header.step, 0, codes, memory.data());
    return BindTable(segment, FindTruth(keys_, values, codes), false);
  }

  const KeyFilter& keys_;
  const int column_;
};

}  // namespace

std::unique_ptr<ScanPredicate> ScanPredicate::OfKeys(const KeyFilter& keys, int column) {
  return std::make_unique<KeyPredicate>(keys, column);
}

}  // namespace penumbra
