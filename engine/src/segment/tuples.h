// Rows as a row store keeps them: copies of its pages, and where in them tuples begin. Whoever runs them through a
// pipeline deforms them first, so that this is the engine's threads' work and not the adapter's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "penumbra/engine.h"
#include "segment/rows.h"

namespace penumbra {

// How to read a tuple; immutable.
class TupleLayout {
 public:
  TupleLayout(const PenumbraTupleLayout& layout, const PenumbraType* types, int column_count);

  // Appends tuples; throws where a wanted value is not stored as it is.
  void Deform(const char* bytes, const uint32_t* positions, uint32_t count, Rows* rows) const;
  const std::vector<PenumbraType>& types() const { return types_; }

 private:
  struct Step {
    int16_t length;
    uint8_t align_mask;
    int column;  // -1: skipped
    int offset;  // when the same in each tuple without nulls, else -1
  };
  struct Missing {
    bool is_null;
    uint64_t value;
    uint32_t length;
  };
  struct Block;

  void DeformTuple(const char* tuple, uint32_t row, Block* block) const;
  void AddMissing(size_t first_step, uint32_t row, Block* block) const;
  static void Fetch(const Step& step, const char* data, uint32_t row, Block* block);

  PenumbraTupleLayout header_;  // of the tuples; without the arrays
  std::vector<PenumbraType> types_;
  std::vector<Step> steps_;
  std::vector<size_t> direct_;  // wanted steps with an offset
  size_t walk_start_;           // the first step without
  uint32_t walk_offset_ = 0;    // where it starts, unaligned
  std::vector<Missing> missing_;
  std::vector<std::vector<char>> missing_bytes_;
};

// A batch of them.
class Tuples {
 public:
  explicit Tuples(std::shared_ptr<const TupleLayout> layout) : layout_(std::move(layout)) {}

  // Copies memory of which tuples begin at the offsets; their alignment is kept up to 8 bytes.
  void Append(const void* bytes, size_t byte_count, const uint32_t* offsets, uint32_t count);
  void Clear();
  uint32_t row_count() const { return static_cast<uint32_t>(positions_.size()); }
  size_t byte_count() const { return used_ + positions_.size() * sizeof(uint32_t); }
  // Takes the rows out of `other`, of the same layout, which gets this one's memory.
  void Swap(Tuples* other);
  std::unique_ptr<Rows> ToRows() const;
  const std::shared_ptr<const TupleLayout>& layout() const { return layout_; }

 private:
  std::shared_ptr<const TupleLayout> layout_;
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t used_ = 0;
  std::vector<uint32_t> positions_;
};

}  // namespace penumbra

struct PenumbraTuples : penumbra::Tuples {
  using penumbra::Tuples::Tuples;
};
