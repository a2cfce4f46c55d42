#include "raw_stack.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <ctime>

namespace penumbra::symbolize {
namespace {

// A stack overflow has hundreds of thousands of frames; who captures it cuts it, and so does this.
constexpr size_t kMaxFrames = 4096;
constexpr size_t kMaxModules = 1024;
constexpr size_t kMaxBuildIdDigits = 128;

// The text up to the next space, which is removed too.
std::string_view TakeWord(std::string_view* rest) {
  const size_t length = std::min(rest->find(' '), rest->size());
  std::string_view word = rest->substr(0, length);
  rest->remove_prefix(std::min(length + 1, rest->size()));
  return word;
}

bool ParseHex(std::string_view digits, uint64_t* value) {
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, *value, 16);
  return error == std::errc() && stopped == end;
}

bool ParseBuildId(std::string_view word, std::string* build_id) {
  if (word == "-") return true;
  if (word.empty() || word.size() > kMaxBuildIdDigits || word.size() % 2 != 0) return false;
  for (const char c : word) {
    const bool upper = c >= 'A' && c <= 'F';
    if (!upper && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return false;
    build_id->push_back(upper ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return true;
}

bool ParseModule(std::string_view rest, ModuleRange* module) {
  std::string_view range = TakeWord(&rest);
  const size_t dash = range.find('-');
  if (dash == std::string_view::npos || !ParseHex(range.substr(0, dash), &module->start) ||
      !ParseHex(range.substr(dash + 1), &module->end) || module->start >= module->end) {
    return false;
  }
  if (!ParseHex(TakeWord(&rest), &module->offset)) return false;
  if (!ParseBuildId(TakeWord(&rest), &module->build_id)) return false;
  module->path = rest;
  return rest.size() <= PATH_MAX && rest.find('\0') == std::string_view::npos;
}

}  // namespace

const ModuleRange* RawStack::FindModule(uint64_t pc) const {
  for (const ModuleRange& module : modules) {
    if (pc >= module.start && pc < module.end) return &module;
  }
  return nullptr;
}

int64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

bool LineReader::Fill(int64_t deadline_ns) {
  for (;;) {
    if (deadline_ns != 0) {
      const int64_t left_ns = deadline_ns - MonotonicNs();
      if (left_ns <= 0) return false;
      pollfd wanted = {descriptor_, POLLIN, 0};
      const int ready = poll(&wanted, 1, static_cast<int>(left_ns / 1000000) + 1);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    }
    char bytes[4096];
    const ssize_t length = read(descriptor_, bytes, sizeof(bytes));
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(length));
    return true;
  }
}

bool LineReader::Next(std::string* line, int64_t deadline_ns) {
  line->clear();
  for (;;) {
    const size_t newline = buffer_.find('\n', at_);
    const size_t end = std::min(newline, buffer_.size());
    line->append(buffer_, at_, std::min(end - at_, kMaxLineBytes - line->size()));
    if (newline != std::string::npos) {
      at_ = newline + 1;
      return true;
    }
    buffer_.clear();
    at_ = 0;
    if (!Fill(deadline_ns)) return !line->empty() && deadline_ns == 0;
  }
}

bool ParseRawStackLine(std::string_view line, RawStack* stack) {
  const std::string_view keyword = TakeWord(&line);
  if (keyword == "module") {
    ModuleRange module;
    if (stack->modules.size() >= kMaxModules || !ParseModule(line, &module)) return false;
    stack->modules.push_back(std::move(module));
    return true;
  }
  if (keyword == "frame") {
    RawFrame frame;
    if (stack->frames.size() >= kMaxFrames || !ParseHex(TakeWord(&line), &frame.pc)) return false;
    if (line != "exact" && line != "return") return false;
    frame.exact = line == "exact";
    stack->frames.push_back(frame);
    return true;
  }
  return false;
}

std::optional<RawStack> ReadRawStack(LineReader* reader) {
  RawStack stack;
  std::string line;
  bool any = false;
  while (reader->Next(&line)) {
    if (line.empty()) return stack;
    any = true;
    ParseRawStackLine(line, &stack);
  }
  if (any) return stack;
  return std::nullopt;
}

std::string FormatRawStack(const RawStack& stack) {
  std::string text;
  char words[128];
  for (const ModuleRange& module : stack.modules) {
    snprintf(words, sizeof(words), "module %" PRIx64 "-%" PRIx64 " %" PRIx64 " ", module.start, module.end,
             module.offset);
    text += words + (module.build_id.empty() ? "-" : module.build_id) + " " + module.path + "\n";
  }
  for (const RawFrame& frame : stack.frames) {
    snprintf(words, sizeof(words), "frame %" PRIx64 " %s\n", frame.pc, frame.exact ? "exact" : "return");
    text += words;
  }
  return text + "\n";
}

std::string HexAddress(uint64_t address) {
  char text[32];
  snprintf(text, sizeof(text), "0x%016" PRIx64, address);
  return text;
}

std::string PrintableAscii(std::string_view text) {
  std::string printable;
  for (const char c : text) {
    if (c >= 0x20 && c < 0x7f) {
      printable.push_back(c);
    } else {
      char escape[8];
      snprintf(escape, sizeof(escape), "\\x%02x", static_cast<unsigned char>(c));
      printable += escape;
    }
  }
  return printable;
}

bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace penumbra::symbolize
