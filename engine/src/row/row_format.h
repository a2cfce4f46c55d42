// A row of keys and columns, either of which may be missing: what is at which place, and how it is saved.
#pragma once

#include <vector>

#include "row/key_layout.h"
#include "row/row_layout.h"

namespace penumbra {

struct RowFormat {
  const KeyLayout* keys = nullptr;     // at the begin of the row; null: none
  const RowLayout* columns = nullptr;  // null: none
  uint32_t columns_offset = 0;
  uint32_t row_bytes = 0;

  // Appends the row's bytes, then its long strings.
  void Save(const char* row, std::vector<char>* bytes) const {
    bytes->insert(bytes->end(), row, row + row_bytes);
    if (keys != nullptr) keys->SaveStrings(row, bytes);
    if (columns != nullptr) columns->SaveStrings(row + columns_offset, bytes);
  }
  // What Save() appended into row_bytes at `row`, strings into the arena. Returns where it ends.
  const char* Load(char* row, const char* bytes, Arena& arena) const {
    std::memcpy(row, bytes, row_bytes);
    return LoadStrings(row, bytes + row_bytes, &arena);
  }
  // The same for a row whose bytes stay where they are; its strings do if the arena is null.
  const char* LoadStrings(char* row, const char* bytes, Arena* arena) const {
    if (keys != nullptr) bytes = keys->LoadStrings(row, bytes, arena);
    return columns == nullptr ? bytes : columns->LoadStrings(row + columns_offset, bytes, arena);
  }
};

}  // namespace penumbra
