#include "window/window_rows.h"

#include <algorithm>

namespace penumbra {
namespace {

constexpr uint64_t kPrefetchRows = 16;

std::vector<int> ColumnsOf(const std::vector<SortKeySpec>& keys) {
  std::vector<int> columns;
  for (const SortKeySpec& key : keys) columns.push_back(key.expr->column);
  return columns;
}

std::vector<SortKeySpec> Part(const std::vector<SortKeySpec>& keys, size_t begin, size_t end) {
  return {keys.begin() + static_cast<ptrdiff_t>(begin), keys.begin() + static_cast<ptrdiff_t>(end)};
}

}  // namespace

WindowKeys::WindowKeys(const WindowInput& input, const RowLayout& layout, WindowOrder order)
    : WindowKeys(Part(input.sort().keys, 0, input.partition_key_count() + order.earlier_keys),
                 Part(input.sort().keys, input.partition_key_count() + order.earlier_keys,
                      input.sort().keys.size() - order.later_keys),
                 layout) {}

WindowKeys::WindowKeys(const std::vector<SortKeySpec>& partition, const std::vector<SortKeySpec>& order,
                       const RowLayout& layout)
    : partition_(partition, ColumnsOf(partition), layout, false), order_(order, ColumnsOf(order), layout, false) {}

WindowRows::WindowRows(char* const* rows, uint64_t count)
    : rows_(rows), count_(count), partitions_((count + 63) / 64), peers_((count + 63) / 64) {}

void WindowRows::FindBounds(uint64_t task, const WindowKeys& keys, const ExecutionEnvironment& environment) {
  const uint64_t begin = task * kTaskRows, end = std::min(begin + kTaskRows, count_);
  environment.CheckCancelled();
  for (uint64_t i = begin; i < end; ++i) {
    if (i + kPrefetchRows < count_) __builtin_prefetch(rows_[i + kPrefetchRows]);
    const uint64_t bit = uint64_t{1} << (i % 64);
    if (i == 0 || keys.IsOtherPartition(rows_[i - 1], rows_[i])) {
      partitions_[i / 64] |= bit;
      peers_[i / 64] |= bit;
    } else if (keys.IsOtherPeer(rows_[i - 1], rows_[i])) {
      peers_[i / 64] |= bit;
    }
  }
}

uint64_t WindowRows::Next(const std::vector<uint64_t>& bits, uint64_t row) const {
  if (row >= count_) return count_;
  uint64_t word = row / 64, left = bits[word] >> (row % 64) << (row % 64);
  while (left == 0) {
    if (++word == bits.size()) return count_;
    left = bits[word];
  }
  return word * 64 + static_cast<uint64_t>(__builtin_ctzll(left));
}

uint64_t WindowRows::Last(const std::vector<uint64_t>& bits, uint64_t row) const {
  uint64_t word = row / 64, left = bits[word] << (63 - row % 64) >> (63 - row % 64);
  while (left == 0) left = bits[--word];
  return word * 64 + 63 - static_cast<uint64_t>(__builtin_clzll(left));
}

uint64_t WindowRows::CountPeers(uint64_t begin, uint64_t end) const {
  uint64_t count = 0;
  for (uint64_t word = begin / 64; word * 64 < end; ++word) {
    uint64_t bits = peers_[word];
    if (word == begin / 64) bits = bits >> (begin % 64) << (begin % 64);
    if (word == end / 64) bits &= (uint64_t{1} << (end % 64)) - 1;
    count += static_cast<uint64_t>(__builtin_popcountll(bits));
  }
  return count;
}

}  // namespace penumbra
