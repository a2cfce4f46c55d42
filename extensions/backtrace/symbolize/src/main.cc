// penumbra-symbolize: see kHelp, and README.md for the formats.
#include <getopt.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "crash_file.h"
#include "elf_file.h"
#include "process_stack.h"
#include "symbolizer.h"

namespace penumbra::symbolize {
namespace {

constexpr char kHelp[] =
    R"(penumbra-symbolize turns program counters into functions, files and lines.

Usage:
  penumbra-symbolize [OPTION]...                  raw stacks on standard input, until its end
  penumbra-symbolize [OPTION]... --process PID    the stack of a running process
  penumbra-symbolize [OPTION]... FILE             the report of a crash file

Options:
  --debug-dir DIR   look here first for programs, libraries and their debug files: a directory of
                    such files, an unpacked package or a copy of /usr/lib/debug; may be repeated
  --debuginfod      ask the servers of $DEBUGINFOD_URLS, too
  --verbose         with --process: say how long the process was stopped
  --help            this text

A file counts only if it has the build-id of the code that ran. Exit status: 0, 1 when it could not
be done, 2 for a wrong command line.
)";

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

int Fail(const std::string& subject, const std::string& reason, const std::string& hint = "") {
  fprintf(stderr, "penumbra-symbolize: %s: %s\n", subject.c_str(), reason.c_str());
  if (!hint.empty()) fprintf(stderr, "hint: %s\n", hint.c_str());
  return kExitFailed;
}

int Filter(IsolatedSymbolizer* symbolizer) {
  LineReader reader(STDIN_FILENO);
  while (const std::optional<RawStack> stack = ReadRawStack(&reader)) {
    if (!WriteAll(STDOUT_FILENO, symbolizer->Symbolize(*stack))) return kExitFailed;
  }
  return 0;
}

int CaptureAndShow(pid_t pid, bool verbose, IsolatedSymbolizer* symbolizer) {
  const ProcessStack process = CaptureProcess(pid);
  const std::string subject = "process " + std::to_string(pid);
  if (!process.error.empty()) return Fail(subject, process.error, process.hint);
  if (verbose) {
    fprintf(stderr, "%s was stopped for %.3f ms\n", subject.c_str(), static_cast<double>(process.stopped_ns) / 1e6);
  }
  return WriteAll(STDOUT_FILENO, symbolizer->Symbolize(process.stack)) ? 0 : kExitFailed;
}

int ShowProcess(const char* word, bool verbose, IsolatedSymbolizer* symbolizer) {
  pid_t pid = 0;
  const char* end = word + strlen(word);
  const auto [stopped, error] = std::from_chars(word, end, pid);
  if (error != std::errc() || stopped != end || pid <= 0) return Fail(word, "not a process id");
  // In a child, because the unwinder reads the tables of whatever the process has mapped.
  const pid_t child = fork();
  if (child < 0) return Fail("could not fork", strerror(errno));
  if (child == 0) _exit(CaptureAndShow(pid, verbose, symbolizer));
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return Fail(std::string("process ") + word, "its stack could not be unwound");
}

int ShowCrash(const char* path, IsolatedSymbolizer* symbolizer) {
  const FileDescriptor file = OpenRegularFile(path);
  if (!file.valid()) return Fail(path, errno == EINVAL ? "not a regular file" : strerror(errno));
  const std::optional<CrashFile> crash = ReadCrashFile(file.get());
  if (!crash) return Fail(path, "not a crash file of Penumbra");
  const std::string report = FormatReport(*crash, symbolizer->Symbolize(crash->stack));
  return WriteAll(STDOUT_FILENO, report) ? 0 : kExitFailed;
}

int Main(int argc, char** argv) {
  static const option kOptions[] = {
      {"process", required_argument, nullptr, 'p'}, {"debug-dir", required_argument, nullptr, 'd'},
      {"debuginfod", no_argument, nullptr, 'u'},    {"verbose", no_argument, nullptr, 'v'},
      {"help", no_argument, nullptr, 'h'},          {}};
  std::vector<std::string> directories;
  const char* process = nullptr;
  bool verbose = false;
  bool debuginfod = false;
  for (int letter; (letter = getopt_long(argc, argv, "h", kOptions, nullptr)) != -1;) {
    switch (letter) {
      case 'p': process = optarg; break;
      case 'd': directories.push_back(optarg); break;
      case 'u': debuginfod = true; break;
      case 'v': verbose = true; break;
      case 'h': return WriteAll(STDOUT_FILENO, kHelp) ? 0 : kExitFailed;
      default: fprintf(stderr, "Try penumbra-symbolize --help.\n"); return kExitUsage;
    }
  }
  if (argc - optind > (process == nullptr ? 1 : 0)) {
    fprintf(stderr, "penumbra-symbolize: one thing at a time. Try penumbra-symbolize --help.\n");
    return kExitUsage;
  }
  // libdwfl would go to the network otherwise, and a server that reports its crash must not wait
  // for it.
  if (!debuginfod) unsetenv("DEBUGINFOD_URLS");
  signal(SIGPIPE, SIG_IGN);
  IsolatedSymbolizer symbolizer(directories);
  if (process != nullptr) return ShowProcess(process, verbose, &symbolizer);
  if (optind < argc) return ShowCrash(argv[optind], &symbolizer);
  return Filter(&symbolizer);
}

}  // namespace
}  // namespace penumbra::symbolize

int main(int argc, char** argv) {
  try {
    return penumbra::symbolize::Main(argc, argv);
  } catch (const std::exception& error) {
    fprintf(stderr, "penumbra-symbolize: %s\n", error.what());
    return 1;
  }
}
