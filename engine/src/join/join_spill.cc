#include "join/join_spill.h"

namespace penumbra {
namespace {
// Of each partition; there are 65 of them per thread.
constexpr size_t kExtentBytes = size_t{16} << 10;
}  // namespace

JoinSpiller::JoinSpiller(const RowFormat& format, int partitions, ExecutionEnvironment& environment)
    : format_(format),
      environment_(environment),
      accounted_bytes_(partitions * kExtentBytes),
      partitions_(partitions,
                  SpilledRowWriter(std::make_shared<SpillFile>(environment.spill_space), kExtentBytes, environment)) {
  environment_.budget.Add(accounted_bytes_);
}

JoinSpiller::~JoinSpiller() { environment_.budget.Subtract(accounted_bytes_); }

void JoinSpiller::Add(uint32_t partition, const char* row) {
  SpilledRowWriter& rows = partitions_[partition];
  format_.Save(row, rows.buffer());
  rows.EndRow();
}

uint64_t JoinSpiller::Flush(std::vector<SpilledRows>* into) {
  uint64_t bytes = 0;
  for (size_t p = 0; p < partitions_.size(); ++p) {
    SpilledRows rows = partitions_[p].Finish();
    bytes += rows.bytes;
    (*into)[p].Take(std::move(rows));
  }
  return bytes;
}

}  // namespace penumbra
