// The arguments of an aggregate's rows in a window, read in blocks.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "aggregate/aggregate_accumulator.h"
#include "window/window_function.h"

namespace penumbra {

// The arguments of rows that follow each other.
class ArgumentBlock {
 public:
  ArgumentBlock(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout)
      : layout_(layout), takes_rows_(InfoOf(spec.aggregate.function).needs == AggregateNeeds::kRows) {
    for (const Expr* argument : spec.aggregate.arguments) columns_.push_back(input.ColumnOf(*argument));
    if (spec.aggregate.filter != nullptr) filter_column_ = input.ColumnOf(*spec.aggregate.filter);
    std::iota(std::begin(all_rows_), std::end(all_rows_), 0);
  }

  // Makes [begin, end), or as much of it as a block takes, part of the block; returns where that ends.
  uint64_t Load(const WindowRows& rows, uint64_t begin, uint64_t end) {
    if (begin < begin_ || begin >= end_ || (end > end_ && begin > begin_)) Read(rows, begin);
    return std::min(end, end_);
  }
  // Calls add(arguments, selection, first) for the rows of the block that pass the filter; row 0 of the arguments is
  // the row begin + first.
  template <typename Add>
  void Visit(uint64_t begin, uint64_t end, const Add& add) {
    const uint32_t first = static_cast<uint32_t>(begin - begin_), last = static_cast<uint32_t>(end - begin_);
    if (filter_column_ >= 0) {
      const uint32_t before = passed_before_[first];
      add(vectors_.data(), RowSelection{passed_ + before, passed_before_[last] - before}, -int64_t{first});
    } else if (has_nulls_) {
      add(vectors_.data(), RowSelection{all_rows_ + first, last - first}, -int64_t{first});
    } else {
      // As vectors of their own, whose loops need no numbers of rows.
      shifted_ = vectors_;
      for (Vector& vector : shifted_) {
        if (vector.data == nullptr) continue;
        vector.data = static_cast<const char*>(vector.data) + size_t{first} * FlatWidth(vector);
      }
      add(shifted_.data(), RowSelection{nullptr, last - first}, int64_t{0});
    }
  }

 private:
  void Read(const WindowRows& rows, uint64_t begin) {
    const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(kVectorRows, rows.count() - begin));
    begin_ = begin;
    end_ = begin + count;
    arena_.Reset();
    vectors_.clear();
    has_nulls_ = false;
    for (int column : columns_) {
      vectors_.push_back(layout_.Read(column, rows.at(begin), count, arena_));
      has_nulls_ |= vectors_.back().validity != nullptr;
    }
    if (columns_.size() > 1 && has_nulls_ && !takes_rows_) NullTogether(count);
    // What count(*) counts.
    if (columns_.empty()) vectors_.emplace_back();
    if (filter_column_ < 0) return;
    const Vector filter = layout_.Read(filter_column_, rows.at(begin), count, arena_);
    uint16_t passed = 0;
    for (uint32_t i = 0; i < count; ++i) {
      passed_before_[i] = passed;
      passed_[passed] = static_cast<uint16_t>(i);
      passed = static_cast<uint16_t>(passed + (filter.IsValid(i) && filter.values<uint8_t>()[i] != 0));
    }
    passed_before_[count] = passed;
  }
  // As accumulators of several arguments want them.
  void NullTogether(uint32_t count) {
    uint64_t* validity = arena_.AllocateArray<uint64_t>(kValidityWords);
    for (uint32_t word = 0; word < (count + 63) / 64; ++word) {
      validity[word] = ~uint64_t{0};
      for (const Vector& vector : vectors_) {
        if (vector.validity != nullptr) validity[word] &= vector.validity[word];
      }
    }
    for (Vector& vector : vectors_) vector.validity = validity;
  }

  const RowLayout& layout_;
  const bool takes_rows_;  // also those whose arguments are null
  std::vector<int> columns_;
  int filter_column_ = -1;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  Arena arena_;
  std::vector<Vector> vectors_;
  std::vector<Vector> shifted_;
  bool has_nulls_ = false;
  uint16_t all_rows_[kVectorRows];
  uint16_t passed_[kVectorRows + 1];
  uint16_t passed_before_[kVectorRows + 1];  // by row: of those before it
};

// Calls visit(begin, end) for parts of [begin, end) that are in the block then.
template <typename Visit>
inline void ForEachPart(ArgumentBlock& block, const WindowRows& rows, const ExecutionEnvironment& environment,
                        uint64_t begin, uint64_t end, const Visit& visit) {
  constexpr uint64_t kPollParts = 128;
  for (uint64_t part = 1; begin < end; ++part) {
    const uint64_t loaded = block.Load(rows, begin, end);
    visit(begin, loaded);
    begin = loaded;
    if (part % kPollParts == 0) environment.CheckCancelled();
  }
}

}  // namespace penumbra
