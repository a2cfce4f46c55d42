#include "join/join_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace penumbra {
namespace {

std::vector<PenumbraType> KeyTypes(const JoinSpec& spec) {
  std::vector<PenumbraType> types;
  for (const JoinKeySpec& key : spec.keys) types.push_back(key.build->type);
  return types;
}

std::vector<PenumbraType> TypesOf(const JoinSpec& spec, const std::vector<int>& columns) {
  std::vector<PenumbraType> types;
  for (int column : columns) types.push_back(spec.build_types[column]);
  return types;
}

}  // namespace

JoinLayout::JoinLayout(const JoinSpec& spec)
    : keys(KeyTypes(spec)), columns(spec.BuildColumnsKept()), payload(TypesOf(spec, columns)) {
  payload_offset = keys.compared_bytes();
  row_bytes = payload_offset + (columns.empty() ? 0 : payload.row_bytes());
  matched_offset = spec.gives_build_rows() ? row_bytes : 0;
  if (spec.gives_build_rows()) row_bytes += 8;
}

// The 1,820 words with four bits set, the first of them again up to a power of two.
const std::array<uint16_t, 2048> JoinTable::kTags = [] {
  std::array<uint16_t, 2048> tags{};
  uint16_t word = 0;
  for (uint16_t& tag : tags) {
    do {
      ++word;
    } while (std::popcount(word) != 4);
    tag = word;
  }
  return tags;
}();

void JoinTable::Reserve(const std::vector<uint64_t>& partition_rows) {
  partition_begins_.assign(partition_rows.size(), 0);
  std::exclusive_scan(partition_rows.begin(), partition_rows.end(), partition_begins_.begin(), uint64_t{0});
  row_count_ = std::accumulate(partition_rows.begin(), partition_rows.end(), uint64_t{0});
  const int bits = std::max(kPartitionBits, static_cast<int>(std::bit_width(row_count_)));
  shift_ = 64 - bits;
  const size_t slots = (size_t{1} << bits) + 1;
  memory_ = std::make_unique<Arena>(budget_);
  directory_ = memory_->AllocateArray<uint64_t>(slots);
  std::memset(directory_, 0, slots * sizeof(uint64_t));
  rows_ = memory_->AllocateArray<char>(std::max<size_t>(row_count_ * row_bytes_, 8));
  directory_[0] = reinterpret_cast<uint64_t>(rows_) << 16;
}

void JoinTable::EnterPartition(uint32_t partition, const std::vector<const GroupRows*>& rows,
                               const ExecutionEnvironment& environment) {
  auto for_each = [&](auto&& visit) {
    for (const GroupRows* some : rows) {
      for (size_t p = 0; p < some->page_count(); ++p) {
        environment.CheckCancelled();
        const char* row = some->page(p);
        for (uint32_t i = 0; i < some->page_rows(p); ++i, row += row_bytes_) visit(row);
      }
    }
  };
  const size_t slots = size_t{1} << (64 - shift_ - kPartitionBits);
  uint64_t* slot = directory_ + 1 + partition * slots;
  // How many bytes each prefix takes, then where they begin; entering a row moves that to where they end.
  for_each([&](const char* row) {
    const uint64_t hash = GroupKeys::Hash(row);
    uint64_t& counted = directory_[1 + (hash >> shift_)];
    counted = (counted + (uint64_t{row_bytes_} << 16)) | TagOf(hash);
  });
  uint64_t begin = reinterpret_cast<uint64_t>(row(partition_begins_[partition]));
  for (size_t i = 0; i < slots; ++i) {
    const uint64_t bytes = slot[i] >> 16;
    slot[i] = (begin << 16) | (slot[i] & 0xffff);
    begin += bytes;
  }
  for_each([&](const char* row) {
    uint64_t& end = directory_[1 + (GroupKeys::Hash(row) >> shift_)];
    std::memcpy(RowOf(end), row, row_bytes_);
    end += uint64_t{row_bytes_} << 16;
  });
}

}  // namespace penumbra
