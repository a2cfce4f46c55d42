#include "row/spilled_rows.h"

#include <iterator>

namespace penumbra {

void SpilledRows::Append(const std::shared_ptr<SpillFile>& file, const std::vector<char>& rows) {
  extents.push_back({file, file->Append(rows.data(), rows.size()), rows.size()});
  bytes += rows.size();
  longest_extent = std::max<uint64_t>(longest_extent, rows.size());
}

void SpilledRows::Take(SpilledRows&& other) {
  extents.insert(extents.end(), std::make_move_iterator(other.extents.begin()),
                 std::make_move_iterator(other.extents.end()));
  row_count += std::exchange(other.row_count, 0);
  bytes += std::exchange(other.bytes, 0);
  longest_extent = std::max(longest_extent, std::exchange(other.longest_extent, 0));
  other.extents.clear();
}

void SpilledRowWriter::Write() {
  if (buffer_.empty()) return;
  environment_->CheckCancelled();
  rows_.Append(file_, buffer_);
  buffer_.clear();
  // One large row does not leave its size behind.
  if (buffer_.capacity() > 4 * extent_bytes_) buffer_.shrink_to_fit();
}

void SpilledRowReader::ReadExtent() {
  environment_->CheckCancelled();
  const SpilledRows::Extent& extent = rows_->extents[extent_++];
  // A large row's buffer is not kept for others.
  if (buffer_ == nullptr || buffer_->bytes() < extent.bytes || buffer_->bytes() > 4 * extent.bytes) {
    buffer_.reset();
    buffer_ = std::make_unique<Arena>(&environment_->budget, extent.bytes);
  } else {
    buffer_->Reset();
  }
  bytes_ = buffer_->AllocateArray<char>(extent.bytes);
  extent.file->Read(extent.at, bytes_, extent.bytes);
  at_ = 0;
  size_ = extent.bytes;
}

}  // namespace penumbra
