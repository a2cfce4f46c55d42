// Raw stacks to lines of text, in this process or, as whoever reads other people's files should, in
// a child that may crash or hang on them.
#pragma once

#include <sys/types.h>

#include <list>
#include <string>
#include <vector>

#include "module.h"
#include "raw_stack.h"

namespace penumbra::symbolize {

class Symbolizer {
 public:
  explicit Symbolizer(std::vector<std::string> directories)
      : directories_(std::move(directories)) {}

  // The lines of one frame without its number, innermost first, at least one.
  std::vector<std::string> Symbolize(const RawStack& stack, const RawFrame& frame);

 private:
  struct CachedModule {
    CachedModule(const ModuleRange& range, const std::vector<std::string>& directories)
        : build_id(range.build_id),
          path(range.path),
          opened_ns(MonotonicNs()),
          module(range, directories) {}

    const std::string build_id;
    const std::string path;
    const int64_t opened_ns;
    Module module;
  };

  Module* FindModule(const ModuleRange& range);

  const std::vector<std::string> directories_;
  std::list<CachedModule> modules_;  // the last used first
};

// What can be said of a frame of which nothing is found out.
std::string UnknownFrame(const RawStack& stack, const RawFrame& frame);

// Symbolizer behind a pipe. When the child dies of a stack or exceeds its time, the frames are
// asked for one by one, and those that it cannot do come back as UnknownFrame.
class IsolatedSymbolizer {
 public:
  explicit IsolatedSymbolizer(std::vector<std::string> directories)
      : directories_(std::move(directories)) {}
  ~IsolatedSymbolizer() { Stop(); }
  IsolatedSymbolizer(const IsolatedSymbolizer&) = delete;
  IsolatedSymbolizer& operator=(const IsolatedSymbolizer&) = delete;

  // Numbered lines, and the empty line.
  std::string Symbolize(const RawStack& stack);

 private:
  bool Start();
  void Stop();
  [[noreturn]] void RunChild(int requests, int replies);
  // False when the child has not done all of the stack; it is stopped then.
  bool Ask(const RawStack& stack, int64_t deadline_ns, std::vector<std::string>* lines);

  const std::vector<std::string> directories_;
  pid_t child_ = -1;
  int requests_ = -1;
  int replies_ = -1;
};

}  // namespace penumbra::symbolize
