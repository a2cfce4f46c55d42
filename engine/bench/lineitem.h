// A table like TPC-H's lineitem, generated in memory and encoded in chunks.
#pragma once

#include <cstdint>
#include <vector>

#include "penumbra/engine.h"

namespace penumbra::bench {

enum LineitemColumn : int {
  kOrderkey,
  kPartkey,
  kSuppkey,
  kLinenumber,
  kQuantity,
  kExtendedprice,
  kDiscount,
  kTax,
  kReturnflag,
  kLinestatus,
  kShipdate,
  kCommitdate,
  kReceiptdate,
  kShipinstruct,
  kShipmode,
  kComment,
  kLineitemColumns
};

extern const PenumbraType kLineitemTypes[kLineitemColumns];

class Lineitem {
 public:
  // Distributions roughly those of dbgen at scale factor rows / 6,000,000.
  explicit Lineitem(uint32_t rows, uint32_t chunk_rows = 120'000);
  ~Lineitem();
  Lineitem(const Lineitem&) = delete;

  uint32_t rows() const { return rows_; }
  const std::vector<PenumbraChunk>& chunks() const { return chunks_; }
  uint64_t encoded_bytes(int column) const { return encoded_bytes_[column]; }
  const char* encoding(int column) const;

 private:
  void AddChunk(uint32_t first_row, uint32_t rows);

  const uint32_t rows_;
  std::vector<PenumbraChunk> chunks_;
  std::vector<std::vector<const void*>> segments_;
  std::vector<PenumbraRowRange> ranges_;
  uint64_t encoded_bytes_[kLineitemColumns] = {};
};

}  // namespace penumbra::bench
