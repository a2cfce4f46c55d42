#include "symbolizer.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <exception>

namespace penumbra::symbolize {
namespace {

constexpr size_t kMaxCachedModules = 64;
// A module without line information is looked for again: its debug symbols may have been installed.
constexpr int64_t kRetryNs = int64_t{60} * 1000000000;

// A stack takes milliseconds, the first one in a big program up to a second.
constexpr int64_t kStackNs = int64_t{10} * 1000000000;
constexpr int64_t kFrameNs = int64_t{2} * 1000000000;
constexpr int kMaxFailedFrames = 3;
// Files are mapped, so that this is far above what any of them needs.
constexpr rlim_t kMaxAddressSpaceBytes = rlim_t{16} << 30;

std::string Describe(const RawFrame& frame, const LogicalFrame& logical, const std::string& position) {
  const std::string& function = logical.function;
  std::string line = HexAddress(frame.pc) + " " + (function.empty() ? "??" : function);
  if (logical.file.empty()) {
    line += position;
  } else {
    line += " at " + logical.file + ":" + std::to_string(logical.line);
  }
  if (logical.inlined) line += " (inlined)";
  return PrintableAscii(line);
}

// Offsets are those in the file: they can be told from a stack alone.
std::string Position(const ModuleRange* module, uint64_t pc) {
  char offset[32];
  snprintf(offset, sizeof(offset), "+0x%" PRIx64, module == nullptr ? pc : pc - module->start + module->offset);
  if (module == nullptr) return std::string(" in [unknown]") + offset + " [-]";
  return " in " + (module->path.empty() ? "[unknown]" : module->path) + offset + " [" +
         (module->build_id.empty() ? "-" : module->build_id) + "]";
}

}  // namespace

std::string UnknownFrame(const RawStack& stack, const RawFrame& frame) {
  return Describe(frame, LogicalFrame(), Position(stack.FindModule(frame.pc), frame.pc));
}

Module* Symbolizer::FindModule(const ModuleRange& range) {
  for (auto entry = modules_.begin(); entry != modules_.end(); ++entry) {
    if (entry->build_id != range.build_id || entry->path != range.path) continue;
    if (!entry->module.has_lines() && MonotonicNs() - entry->opened_ns > kRetryNs) {
      modules_.erase(entry);
      break;
    }
    modules_.splice(modules_.begin(), modules_, entry);
    return &entry->module;
  }
  if (modules_.size() >= kMaxCachedModules) modules_.pop_back();
  modules_.emplace_front(range, directories_);
  return &modules_.front().module;
}

std::vector<std::string> Symbolizer::Symbolize(const RawStack& stack, const RawFrame& frame) {
  // The call stands before the address it returns to, which may be another line or function.
  const uint64_t pc = frame.exact || frame.pc == 0 ? frame.pc : frame.pc - 1;
  const ModuleRange* range = stack.FindModule(pc);
  if (range == nullptr) return {UnknownFrame(stack, frame)};
  Module* module = FindModule(*range);
  std::string position = Position(range, frame.pc);
  if (!module->problem().empty()) {
    position += " (" + module->problem() + ")";
  }
  std::vector<std::string> lines;
  for (const LogicalFrame& logical : module->Lookup(*range, pc)) {
    lines.push_back(Describe(frame, logical, position));
  }
  if (lines.empty()) lines.push_back(Describe(frame, LogicalFrame(), position));
  return lines;
}

bool IsolatedSymbolizer::Start() {
  if (child_ > 0) return true;
  int requests[2], replies[2];
  if (pipe(requests) != 0) return false;
  if (pipe(replies) != 0) {
    close(requests[0]);
    close(requests[1]);
    return false;
  }
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ == 0) {
    close(requests[1]);
    close(replies[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    RunChild(requests[0], replies[1]);
  }
  close(requests[0]);
  close(replies[1]);
  requests_ = requests[1];
  replies_ = replies[0];
  if (child_ < 0) Stop();
  return child_ > 0;
}

void IsolatedSymbolizer::Stop() {
  if (requests_ >= 0) close(requests_);
  if (replies_ >= 0) close(replies_);
  requests_ = replies_ = -1;
  if (child_ > 0) {
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  child_ = -1;
}

void IsolatedSymbolizer::RunChild(int requests, int replies) {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__  // which reserves terabytes
  const rlimit memory = {kMaxAddressSpaceBytes, kMaxAddressSpaceBytes};
  setrlimit(RLIMIT_AS, &memory);
#endif
  try {
    Symbolizer symbolizer(directories_);
    LineReader reader(requests);
    while (const std::optional<RawStack> stack = ReadRawStack(&reader)) {
      std::string reply;
      for (const RawFrame& frame : stack->frames) {
        for (const std::string& line : symbolizer.Symbolize(*stack, frame)) reply += line + "\n";
      }
      if (!WriteAll(replies, reply + "\n")) break;
    }
    _exit(0);
  } catch (const std::exception&) {
    _exit(1);
  }
}

bool IsolatedSymbolizer::Ask(const RawStack& stack, int64_t deadline_ns, std::vector<std::string>* lines) {
  lines->clear();
  if (!Start()) return false;
  if (WriteAll(requests_, FormatRawStack(stack))) {
    LineReader reader(replies_);
    std::string line;
    while (reader.Next(&line, deadline_ns)) {
      if (line.empty()) return true;
      lines->push_back(line);
    }
  }
  Stop();
  return false;
}

std::string IsolatedSymbolizer::Symbolize(const RawStack& stack) {
  std::vector<std::string> lines;
  if (!Ask(stack, MonotonicNs() + kStackNs, &lines)) {
    lines.clear();
    int failed = 0;
    for (const RawFrame& frame : stack.frames) {
      std::vector<std::string> some;
      const RawStack one = {stack.modules, {frame}};
      if (failed >= kMaxFailedFrames || !Ask(one, MonotonicNs() + kFrameNs, &some)) {
        ++failed;
        some = {UnknownFrame(stack, frame)};
      }
      lines.insert(lines.end(), some.begin(), some.end());
    }
  }
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    text += "#" + std::to_string(i) + " " + lines[i] + "\n";
  }
  return text + "\n";
}

}  // namespace penumbra::symbolize
