// Rows of one size in pages of an arena, each page twice the one before up to a limit. A row is zero when it is added,
// never moves, and lives as long as the arena: who owns that frees the rows of all its pages at once.
#pragma once

#include <utility>
#include <vector>

#include "operator/execution_environment.h"
#include "vector/arena.h"

namespace penumbra {

class RowPages {
 public:
  // A place in rows to which none are added meanwhile.
  class Cursor {
   public:
    // The next row; null at the end.
    char* Next(const RowPages& rows) {
      for (; left_ == 0; ++page_) {
        if (page_ == rows.page_count()) return nullptr;
        row_ = rows.page(page_);
        left_ = rows.page_rows(page_);
      }
      --left_;
      return std::exchange(row_, row_ + rows.row_bytes());
    }

   private:
    size_t page_ = 0;    // the next one
    uint32_t left_ = 0;  // of the page before
    char* row_ = nullptr;
  };

  RowPages(Arena* arena, uint32_t row_bytes) : arena_(arena), row_bytes_(row_bytes) {}

  char* Add() {
    if (cursor_ == end_) AddPage();
    char* row = cursor_;
    cursor_ += row_bytes_;
    ++row_count_;
    return row;
  }
  void Clear();  // the memory stays the arena's

  uint64_t row_count() const { return row_count_; }
  size_t bytes() const { return row_count_ * row_bytes_; }
  uint32_t row_bytes() const { return row_bytes_; }
  size_t page_count() const { return pages_.size(); }
  // The rows of a page are contiguous.
  char* page(size_t i) const { return pages_[i].memory; }
  uint32_t page_rows(size_t i) const {
    const char* end = i + 1 == pages_.size() ? cursor_ : pages_[i].memory + pages_[i].bytes;
    return static_cast<uint32_t>((end - pages_[i].memory) / row_bytes_);
  }
  // Calls visit(row) for each; polls for cancellation once per page.
  template <typename Visit>
  void ForEach(const ExecutionEnvironment& environment, const Visit& visit) const {
    for (size_t p = 0; p < pages_.size(); ++p) {
      environment.CheckCancelled();
      char* row = page(p);
      for (uint32_t left = page_rows(p); left > 0; --left, row += row_bytes_) visit(row);
    }
  }

 private:
  struct Page {
    char* memory;
    size_t bytes;  // a multiple of row_bytes
  };
  void AddPage();

  Arena* arena_;
  uint32_t row_bytes_;
  std::vector<Page> pages_;
  uint64_t row_count_ = 0;
  char* cursor_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace penumbra
