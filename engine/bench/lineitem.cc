#include "lineitem.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "numeric/numeric.h"
#include "vector/arena.h"

namespace penumbra::bench {
namespace {

constexpr int kStartDate = -2922;    // 1992-01-01
constexpr int kCurrentDate = -1659;  // 1995-06-17
const char* const kInstructions[] = {"DELIVER IN PERSON        ", "COLLECT COD              ",
                                     "NONE                     ", "TAKE BACK RETURN         "};
const char* const kModes[] = {"REG AIR   ", "AIR       ", "RAIL      ", "SHIP      ",
                              "TRUCK     ", "MAIL      ", "FOB       "};
const char* const kWords[] = {"furiously",   "quickly",      "carefully", "blithely",    "even",     "special",
                              "regular",     "final",        "express",   "pending",     "ironic",   "bold",
                              "silent",      "unusual",      "deposits",  "packages",    "accounts", "requests",
                              "theodolites", "instructions", "foxes",     "pinto beans", "sleep",    "haggle",
                              "nag",         "wake",         "cajole",    "among the",   "above",    "across"};

// A small generator with good bits (splitmix64), the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int Uniform(int low, int high) { return low + static_cast<int>(Next() % static_cast<uint64_t>(high - low + 1)); }

 private:
  uint64_t state_;
};

// One batch of rows in the adapter's form.
class BatchBuilder {
 public:
  explicit BatchBuilder(uint32_t rows) : rows_(rows) {
    for (int c = 0; c < kLineitemColumns; ++c) {
      values_[c].resize(rows);
      lengths_[c].resize(rows);
    }
  }
  void SetInteger(int column, uint32_t row, int64_t value) { values_[column][row] = static_cast<uint64_t>(value); }
  void SetBytes(int column, uint32_t row, const char* bytes, size_t length) {
    values_[column][row] = reinterpret_cast<uint64_t>(arena_.CopyBytes(bytes, length));
    lengths_[column][row] = static_cast<uint32_t>(length);
  }
  void SetHundredths(int column, uint32_t row, int64_t value) {
    char payload[kIntegerPayloadBytes];
    SetBytes(column, row, payload, IntegerToPayload(value, 2, payload));
  }
  void AppendTo(PenumbraRows* rows) const {
    PenumbraColumnInput inputs[kLineitemColumns];
    for (int c = 0; c < kLineitemColumns; ++c) inputs[c] = {values_[c].data(), lengths_[c].data(), nullptr};
    PenumbraStatus status = penumbra_rows_append(rows, inputs, rows_);
    if (status.code != PENUMBRA_OK) std::abort();
  }

 private:
  const uint32_t rows_;
  Arena arena_;
  std::vector<uint64_t> values_[kLineitemColumns];
  std::vector<uint32_t> lengths_[kLineitemColumns];
};

std::string MakeComment(Random& random) {
  std::string comment;
  auto length = static_cast<size_t>(random.Uniform(10, 43));
  while (comment.size() < length) {
    if (!comment.empty()) comment += ' ';
    comment += kWords[random.Next() % std::size(kWords)];
  }
  comment.resize(length);
  return comment;
}

void FillRow(uint32_t row, uint32_t table_rows, uint64_t number, Random& random, BatchBuilder* batch) {
  uint64_t order = number / 4;
  // The date belongs to the order, so that it is the same for the rows of one order.
  Random order_random(order);
  int order_date = kStartDate + order_random.Uniform(0, 2405);
  int parts = static_cast<int>(std::max<uint32_t>(table_rows / 30, 1));
  int part = random.Uniform(1, parts);
  int quantity = random.Uniform(1, 50);
  int64_t price = 90000 + (part / 10) % 20001 + 100 * (part % 1000);
  int ship = order_date + random.Uniform(1, 121);
  int receipt = ship + random.Uniform(1, 30);
  batch->SetInteger(kOrderkey, row, static_cast<int64_t>(order / 8 * 32 + order % 8 + 1));
  batch->SetInteger(kPartkey, row, part);
  batch->SetInteger(kSuppkey, row, random.Uniform(1, std::max(parts / 20, 1)));
  batch->SetInteger(kLinenumber, row, static_cast<int64_t>(number % 4 + 1));
  batch->SetHundredths(kQuantity, row, 100 * quantity);
  batch->SetHundredths(kExtendedprice, row, quantity * price);
  batch->SetHundredths(kDiscount, row, random.Uniform(0, 10));
  batch->SetHundredths(kTax, row, random.Uniform(0, 8));
  const char* flag = receipt > kCurrentDate ? "N" : (random.Uniform(0, 1) != 0 ? "R" : "A");
  batch->SetBytes(kReturnflag, row, flag, 1);
  batch->SetBytes(kLinestatus, row, ship > kCurrentDate ? "O" : "F", 1);
  batch->SetInteger(kShipdate, row, ship);
  batch->SetInteger(kCommitdate, row, order_date + random.Uniform(30, 90));
  batch->SetInteger(kReceiptdate, row, receipt);
  batch->SetBytes(kShipinstruct, row, kInstructions[random.Next() % std::size(kInstructions)], 25);
  batch->SetBytes(kShipmode, row, kModes[random.Next() % std::size(kModes)], 10);
  std::string comment = MakeComment(random);
  batch->SetBytes(kComment, row, comment.data(), comment.size());
}

}  // namespace

const PenumbraType kLineitemTypes[kLineitemColumns] = {
    PENUMBRA_INT8,    PENUMBRA_INT4,    PENUMBRA_INT4,   PENUMBRA_INT4,   PENUMBRA_NUMERIC, PENUMBRA_NUMERIC,
    PENUMBRA_NUMERIC, PENUMBRA_NUMERIC, PENUMBRA_BPCHAR, PENUMBRA_BPCHAR, PENUMBRA_DATE,    PENUMBRA_DATE,
    PENUMBRA_DATE,    PENUMBRA_BPCHAR,  PENUMBRA_BPCHAR, PENUMBRA_TEXT};

Lineitem::Lineitem(uint32_t rows, uint32_t chunk_rows) : rows_(rows) {
  size_t count = (rows + chunk_rows - 1) / chunk_rows;
  segments_.reserve(count);
  ranges_.reserve(count);
  for (uint32_t first = 0; first < rows; first += chunk_rows) AddChunk(first, std::min(chunk_rows, rows - first));
}

Lineitem::~Lineitem() {
  for (const auto& segments : segments_) {
    for (const void* segment : segments) std::free(const_cast<void*>(segment));
  }
}

void Lineitem::AddChunk(uint32_t first_row, uint32_t rows) {
  constexpr uint32_t kBatchRows = 4096;
  Random random(first_row + 1);
  PenumbraRows* buffer = penumbra_rows_create(kLineitemTypes, kLineitemColumns);
  for (uint32_t begin = 0; begin < rows; begin += kBatchRows) {
    uint32_t count = std::min(kBatchRows, rows - begin);
    BatchBuilder batch(count);
    for (uint32_t i = 0; i < count; ++i) FillRow(i, rows_, uint64_t{first_row} + begin + i, random, &batch);
    batch.AppendTo(buffer);
  }
  std::vector<const void*>& segments = segments_.emplace_back();
  for (int c = 0; c < kLineitemColumns; ++c) {
    void* segment = nullptr;
    size_t bytes = 0;
    PenumbraStatus status = penumbra_segment_encode(buffer, c, &segment, &bytes);
    if (status.code != PENUMBRA_OK) {
      std::fprintf(stderr, "encoding column %d failed: %s\n", c, status.message);
      std::abort();
    }
    void* aligned = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    std::memcpy(aligned, segment, bytes);
    std::free(segment);
    segments.push_back(aligned);
    encoded_bytes_[c] += bytes;
  }
  penumbra_rows_destroy(buffer);
  ranges_.push_back({0, rows});
  chunks_.push_back({rows, segments.data(), &ranges_.back(), 1});
}

const char* Lineitem::encoding(int column) const {
  PenumbraSegmentInfo info;
  penumbra_segment_describe(segments_[0][column], &info);
  return info.encoding;
}

}  // namespace penumbra::bench
