// A stack as it is captured: program counters, and the mapped files that they fall into. The text
// form (README.md) comes from processes that may be dying, so the reader trusts nothing and bounds
// everything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penumbra::symbolize {

// An executable mapping of a file.
struct ModuleRange {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t offset = 0;   // in the file, of start
  std::string build_id;  // lower-case hexadecimal; empty where not known
  std::string path;
};

struct RawFrame {
  uint64_t pc = 0;
  // Where the process was, not where a call returns to: the instruction itself is looked up.
  bool exact = false;
};

struct RawStack {
  std::vector<ModuleRange> modules;
  std::vector<RawFrame> frames;  // innermost first

  const ModuleRange* FindModule(uint64_t pc) const;
};

// Reads lines from a file descriptor. A longer line loses its tail.
class LineReader {
 public:
  static constexpr size_t kMaxLineBytes = 131072;

  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  // False at the end of the file, on an error, or when deadline_ns (CLOCK_MONOTONIC; 0 is none) has
  // passed. The line is without its newline.
  bool Next(std::string* line, int64_t deadline_ns = 0);

 private:
  bool Fill(int64_t deadline_ns);

  const int descriptor_;
  std::string buffer_;
  size_t at_ = 0;
};

int64_t MonotonicNs();

// Adds what one line says to the stack; false for a line that is not of the format or one too many.
bool ParseRawStackLine(std::string_view line, RawStack* stack);

// The next stack, up to its empty line or the end of input; nothing at the end. Lines that are not
// of the format are left out.
std::optional<RawStack> ReadRawStack(LineReader* reader);

std::string FormatRawStack(const RawStack& stack);  // with the empty line

std::string HexAddress(uint64_t address);

// What cannot be shown on a line of ASCII becomes \xNN.
std::string PrintableAscii(std::string_view text);

bool WriteAll(int descriptor, std::string_view text);

}  // namespace penumbra::symbolize
