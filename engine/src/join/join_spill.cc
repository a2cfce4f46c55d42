#include "join/join_spill.h"

#include <utility>

namespace penumbra {
namespace {
// Of each partition; there are 65 of them per thread.
constexpr size_t kExtentBytes = size_t{16} << 10;
}  // namespace

JoinSpiller::JoinSpiller(const SpilledJoinLayout& layout, int partitions, ExecutionEnvironment& environment)
    : layout_(layout),
      environment_(environment),
      accounted_bytes_(partitions * kExtentBytes),
      file_(std::make_shared<SpillFile>(environment.spill_space)),
      partitions_(partitions) {
  environment_.budget.Add(accounted_bytes_);
}

JoinSpiller::~JoinSpiller() { environment_.budget.Subtract(accounted_bytes_); }

void JoinSpiller::Add(uint32_t number, const char* row) {
  Partition& partition = partitions_[number];
  partition.buffer.insert(partition.buffer.end(), row, row + layout_.row_bytes);
  if (layout_.keys != nullptr) layout_.keys->SaveStrings(row, &partition.buffer);
  if (layout_.columns != nullptr) layout_.columns->SaveStrings(row + layout_.columns_offset, &partition.buffer);
  ++partition.rows.row_count;
  if (partition.buffer.size() >= kExtentBytes) Write(&partition);
}

void JoinSpiller::Write(Partition* partition) {
  if (partition->buffer.empty()) return;
  environment_.CheckCancelled();
  partition->rows.Append(file_, partition->buffer);
  new_bytes_ += partition->buffer.size();
  partition->buffer.clear();
  // One large row does not leave its size behind.
  if (partition->buffer.capacity() > 4 * kExtentBytes) partition->buffer.shrink_to_fit();
}

void JoinSpiller::Flush(std::vector<SpilledRows>* into) {
  for (size_t p = 0; p < partitions_.size(); ++p) {
    Write(&partitions_[p]);
    (*into)[p].Take(std::move(partitions_[p].rows));
  }
}

size_t SpilledJoinReader::Read(char* row, Arena& arena) {
  if (at_ == buffer_.size()) {
    environment_.CheckCancelled();
    const SpilledRows::Extent& extent = rows_.extents[extent_++];
    buffer_.resize(extent.bytes);
    extent.file->Read(extent.at, buffer_.data(), extent.bytes);
    at_ = 0;
  }
  const char* from = buffer_.data() + at_;
  std::memcpy(row, from, layout_.row_bytes);
  from += layout_.row_bytes;
  if (layout_.keys != nullptr) from = layout_.keys->LoadStrings(row, from, arena);
  if (layout_.columns != nullptr) from = layout_.columns->LoadStrings(row + layout_.columns_offset, from, arena);
  const size_t begin = std::exchange(at_, static_cast<size_t>(from - buffer_.data()));
  return at_ - begin;
}

}  // namespace penumbra
