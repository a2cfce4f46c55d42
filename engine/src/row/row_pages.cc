#include "row/row_pages.h"

#include <algorithm>

namespace penumbra {
namespace {
constexpr size_t kFirstPageBytes = 512;
constexpr size_t kMaxPageBytes = size_t{64} << 10;
}  // namespace

void RowPages::AddPage() {
  const size_t wanted = pages_.empty() ? kFirstPageBytes : std::min(2 * pages_.back().bytes, kMaxPageBytes);
  const size_t bytes = std::max<size_t>(wanted / row_bytes_, 1) * row_bytes_;
  char* memory = static_cast<char*>(arena_->Allocate(bytes));
  std::memset(memory, 0, bytes);
  pages_.push_back({memory, bytes});
  cursor_ = memory;
  end_ = memory + bytes;
}

void RowPages::Clear() {
  pages_.clear();
  row_count_ = 0;
  cursor_ = end_ = nullptr;
}

}  // namespace penumbra
