// What a server process wrote about its own end, and the report of it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raw_stack.h"

namespace penumbra::symbolize {

struct CrashFile {
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  Pairs facts;  // in the file's order
  Pairs registers;
  RawStack stack;

  std::string Fact(const std::string& key) const;  // empty where it is not there
};

// Nothing where the first line is not that of a crash file. A file that ends too early gives what
// it has.
std::optional<CrashFile> ReadCrashFile(int descriptor);

// stack_text: the symbolised stack.
std::string FormatReport(const CrashFile& crash, const std::string& stack_text);

}  // namespace penumbra::symbolize
