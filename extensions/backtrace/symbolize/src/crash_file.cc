#include "crash_file.h"

#include <signal.h>

#include <cstdlib>
#include <cstring>

namespace penumbra::symbolize {
namespace {

constexpr char kFirstLine[] = "penumbra crash 1";
constexpr size_t kMaxPairs = 200;

void AddPair(const std::string& line, const char* separator, CrashFile::Pairs* pairs) {
  const size_t at = line.find(separator);
  if (at == std::string::npos || pairs->size() >= kMaxPairs) return;
  pairs->emplace_back(PrintableAscii(line.substr(0, at)), PrintableAscii(line.substr(at + strlen(separator))));
}

std::string Underline(const std::string& title) { return "\n" + title + "\n" + std::string(title.size(), '-') + "\n"; }

// "11" or "11 (SIGSEGV)" to "signal 11 (SIGSEGV: Segmentation fault)".
std::string SignalName(const std::string& signal) {
  const int number = atoi(signal.c_str());
  const char* abbreviation = sigabbrev_np(number);
  if (abbreviation == nullptr) return "signal " + signal;
  return "signal " + std::to_string(number) + " (SIG" + abbreviation + ": " + sigdescr_np(number) + ")";
}

std::string Headline(const CrashFile& crash) {
  std::string type = crash.Fact("process_type");
  if (type.empty()) type = "server process";
  std::string line =
      "PostgreSQL " + type + " " + crash.Fact("pid") + " was ended by " + SignalName(crash.Fact("signal"));
  // Of an abort(), the field holds who called, not where.
  const int number = atoi(crash.Fact("signal").c_str());
  if (!crash.Fact("fault_address").empty() && number != SIGABRT) {
    line += " at address " + crash.Fact("fault_address");
  }
  return line + "\n";
}

}  // namespace

std::string CrashFile::Fact(const std::string& key) const {
  for (const auto& [name, value] : facts) {
    if (name == key) return value;
  }
  return "";
}

std::optional<CrashFile> ReadCrashFile(int descriptor) {
  LineReader reader(descriptor);
  std::string line;
  if (!reader.Next(&line) || line != kFirstLine) return std::nullopt;
  CrashFile crash;
  std::string section;
  while (reader.Next(&line)) {
    if (line.size() > 2 && line.front() == '[' && line.back() == ']') {
      section = line;
    } else if (section.empty()) {
      AddPair(line, ": ", &crash.facts);
    } else if (section == "[registers]") {
      AddPair(line, " ", &crash.registers);
    } else if (section == "[stack]") {
      ParseRawStackLine(line, &crash.stack);
    }
  }
  return crash;
}

std::string FormatReport(const CrashFile& crash, const std::string& stack_text) {
  std::string report = Headline(crash) + "\n";
  for (const auto& [key, value] : crash.facts) {
    report += key + ":" + std::string(key.size() < 15 ? 15 - key.size() : 1, ' ') + value + "\n";
  }
  report += Underline("Stack, innermost first");
  report += crash.stack.frames.empty() ? "none was captured\n" : stack_text.substr(0, stack_text.size() - 1);
  report += Underline("Modules: build-id, mapping, file");
  for (const ModuleRange& module : crash.stack.modules) {
    report += (module.build_id.empty() ? "-" : module.build_id) + " " + HexAddress(module.start) + "-" +
              HexAddress(module.end) + " " + PrintableAscii(module.path) + "\n";
  }
  report += Underline("Registers");
  for (const auto& [name, value] : crash.registers) report += name + " " + value + "\n";
  return report;
}

}  // namespace penumbra::symbolize
