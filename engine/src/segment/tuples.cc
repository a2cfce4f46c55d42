#include "segment/tuples.h"

#include <algorithm>
#include <cstring>

namespace penumbra {
namespace {

// Deformed at a time: their columns stay in the first-level cache.
constexpr uint32_t kBlockRows = 128;
// Of a vector's rows of 150 bytes.
constexpr size_t kFirstBytes = size_t{1} << 19;
constexpr size_t kKeepBytes = size_t{1} << 20;
constexpr size_t kBytesMax = UINT32_MAX;

template <typename T>
T Load(const char* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

// A value with a length header of PostgreSQL's: one byte (odd; not 1), or four (a multiple of 4), both with the
// header's own bytes. All other headers are of values that are compressed or stored elsewhere.
struct VariableValue {
  const char* payload;
  uint32_t length;
  uint32_t size;
  bool is_plain;
};

[[gnu::always_inline]] inline VariableValue ReadVariable(const char* data) {
  const auto first = static_cast<uint8_t>(*data);
  if ((first & 1) != 0 && first != 1) [[likely]]
    return {data + 1, first / 2u - 1, first / 2u, true};
  if (first == 1) {  // a pointer to where it is stored: tag 18, of 16 bytes, is the only one in tables
    const auto tag = static_cast<uint8_t>(data[1]);
    if (tag != 18) throw EngineError(PENUMBRA_INTERNAL, "a tuple with an unknown pointer");
    return {nullptr, 0, 2 + 16, false};
  }
  const uint32_t size = Load<uint32_t>(data) >> 2;
  return {data + 4, size - 4, size, (first & 2) == 0};
}

}  // namespace

// Values of a block of rows, by column, as Rows::Append() takes them.
struct TupleLayout::Block {
  explicit Block(size_t columns)
      : values(columns), lengths(columns), nulls(columns), has_nulls(columns), inputs(columns) {
    for (size_t c = 0; c < columns; ++c) {
      values[c].resize(kBlockRows);
      lengths[c].resize(kBlockRows);
      nulls[c].resize(kBlockRows);
    }
  }
  void SetNull(int column, uint32_t row) {
    nulls[column][row] = 1;
    has_nulls[column] = 1;
  }
  void AppendTo(Rows* rows, uint32_t count) {
    for (size_t c = 0; c < inputs.size(); ++c)
      inputs[c] = {values[c].data(), lengths[c].data(), has_nulls[c] != 0 ? nulls[c].data() : nullptr};
    rows->Append(inputs.data(), count);
    for (size_t c = 0; c < inputs.size(); ++c) {
      if (has_nulls[c] != 0) std::fill(nulls[c].begin(), nulls[c].end(), 0);
      has_nulls[c] = 0;
    }
  }

  std::vector<std::vector<uint64_t>> values;
  std::vector<std::vector<uint32_t>> lengths;
  std::vector<std::vector<uint8_t>> nulls;
  std::vector<uint8_t> has_nulls;
  std::vector<PenumbraColumnInput> inputs;
};

// Attributes before the first one of varying length have fixed offsets; from that one on a tuple is walked. Missing
// values are copied, since the caller may free its own.
TupleLayout::TupleLayout(const PenumbraTupleLayout& layout, const PenumbraType* types, int column_count)
    : header_(layout), types_(types, types + column_count) {
  header_.attributes = nullptr;
  header_.missing = nullptr;
  int offset = 0;
  walk_start_ = static_cast<size_t>(layout.attribute_count);
  for (int i = 0; i < layout.attribute_count; ++i) {
    const PenumbraTupleAttribute& attribute = layout.attributes[i];
    Step& step = steps_.emplace_back();
    step = {attribute.length, static_cast<uint8_t>(attribute.alignment - 1), attribute.column, -1};
    if (offset < 0) continue;
    if (step.length <= 0) {
      walk_start_ = static_cast<size_t>(i);
      walk_offset_ = static_cast<uint32_t>(offset);
      offset = -1;
      continue;
    }
    step.offset = (offset + step.align_mask) & ~static_cast<int>(step.align_mask);
    offset = step.offset + step.length;
    if (step.column >= 0) direct_.push_back(static_cast<size_t>(i));
  }
  missing_bytes_.resize(types_.size());
  for (size_t c = 0; c < types_.size(); ++c) {
    const PenumbraTupleMissing& value = layout.missing[c];
    Missing& missing = missing_.emplace_back(Missing{value.is_null, value.value, value.length});
    if (value.is_null || value.bytes == nullptr) continue;
    missing_bytes_[c].assign(static_cast<const char*>(value.bytes),
                             static_cast<const char*>(value.bytes) + value.length);
    missing.value = reinterpret_cast<uint64_t>(missing_bytes_[c].data());
  }
}

inline void TupleLayout::Fetch(const Step& step, const char* data, uint32_t row, Block* block) {
  uint64_t* value = &block->values[step.column][row];
  switch (step.length) {
    case 1: *value = static_cast<uint64_t>(int64_t{Load<int8_t>(data)}); return;
    case 2: *value = static_cast<uint64_t>(int64_t{Load<int16_t>(data)}); return;
    case 4: *value = static_cast<uint64_t>(int64_t{Load<int32_t>(data)}); return;
    case 8: *value = Load<uint64_t>(data); return;
    case -1: {
      const VariableValue variable = ReadVariable(data);
      if (!variable.is_plain) throw EngineError(PENUMBRA_INTERNAL, "a tuple's value is not stored in it as it is");
      *value = reinterpret_cast<uint64_t>(variable.payload);
      block->lengths[step.column][row] = variable.length;
      return;
    }
    default: *value = reinterpret_cast<uint64_t>(data); return;
  }
}

void TupleLayout::AddMissing(size_t first_step, uint32_t row, Block* block) const {
  for (size_t i = first_step; i < steps_.size(); ++i) {
    const int column = steps_[i].column;
    if (column < 0) continue;
    const Missing& missing = missing_[column];
    if (missing.is_null) {
      block->SetNull(column, row);
    } else {
      block->values[column][row] = missing.value;
      block->lengths[column][row] = missing.length;
    }
  }
}

void TupleLayout::DeformTuple(const char* tuple, uint32_t row, Block* block) const {
  const char* data = tuple + static_cast<uint8_t>(tuple[header_.data_offset_at]);
  const bool has_nulls = (Load<uint16_t>(tuple + header_.flags_at) & header_.has_nulls_flag) != 0;
  const auto* null_bits = reinterpret_cast<const uint8_t*>(tuple + header_.null_bits_at);
  const size_t stored = Load<uint16_t>(tuple + header_.attribute_count_at) & header_.attribute_count_mask;
  const size_t count = std::min(stored, steps_.size());
  size_t i = 0;
  uint32_t offset = 0;
  if (!has_nulls && count >= walk_start_) {
    for (const size_t d : direct_) Fetch(steps_[d], data + steps_[d].offset, row, block);
    i = walk_start_;
    offset = walk_offset_;
  }
  for (; i < count; ++i) {
    const Step& step = steps_[i];
    if (has_nulls && (null_bits[i / 8] & (1 << (i % 8))) == 0) {
      if (step.column >= 0) block->SetNull(step.column, row);
      continue;
    }
    // a byte that is not zero where a variable value may start is a header of one byte, which is not aligned
    if (step.length != -1 || data[offset] == 0) offset = (offset + step.align_mask) & ~uint32_t{step.align_mask};
    if (step.column >= 0) Fetch(step, data + offset, row, block);
    if (step.length > 0) {
      offset += static_cast<uint32_t>(step.length);
    } else if (step.length == -1) {
      offset += ReadVariable(data + offset).size;
    } else {
      offset += static_cast<uint32_t>(std::strlen(data + offset)) + 1;
    }
  }
  if (count < steps_.size()) AddMissing(count, row, block);
}

void TupleLayout::Deform(const char* bytes, const uint32_t* positions, uint32_t count, Rows* rows) const {
  Block block(types_.size());
  for (uint32_t begin = 0; begin < count; begin += kBlockRows) {
    const uint32_t n = std::min(kBlockRows, count - begin);
    for (uint32_t i = 0; i < n; ++i) DeformTuple(bytes + positions[begin + i], i, &block);
    block.AppendTo(rows, n);
  }
}

void Tuples::Append(const void* bytes, size_t byte_count, const uint32_t* offsets, uint32_t count) {
  const size_t begin = (used_ + 7) / 8 * 8;
  if (begin + byte_count > kBytesMax) throw EngineError(PENUMBRA_UNSUPPORTED, "more than 4 GB of tuples");
  if (begin + byte_count > capacity_) {
    const size_t capacity = std::max({2 * capacity_, begin + byte_count, kFirstBytes});
    std::unique_ptr<char[]> grown(new char[capacity]);
    if (used_ > 0) std::memcpy(grown.get(), bytes_.get(), used_);
    bytes_ = std::move(grown);
    capacity_ = capacity;
  }
  std::memcpy(bytes_.get() + begin, bytes, byte_count);
  for (uint32_t i = 0; i < count; ++i) positions_.push_back(static_cast<uint32_t>(begin) + offsets[i]);
  used_ = begin + byte_count;
}

void Tuples::Clear() {
  positions_.clear();
  used_ = 0;
  if (capacity_ <= kKeepBytes) return;
  bytes_.reset();
  capacity_ = 0;
}

void Tuples::Swap(Tuples* other) {
  std::swap(bytes_, other->bytes_);
  std::swap(capacity_, other->capacity_);
  std::swap(used_, other->used_);
  positions_.swap(other->positions_);
}

std::unique_ptr<Rows> Tuples::ToRows() const {
  auto rows = std::make_unique<Rows>(layout_->types().data(), static_cast<int>(layout_->types().size()));
  layout_->Deform(bytes_.get(), positions_.data(), row_count(), rows.get());
  return rows;
}

}  // namespace penumbra
