// One file of code and its debug information: from an address to functions and lines.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "raw_stack.h"

namespace penumbra::symbolize {

// A function that the source shows as called; several share a program counter where some are
// inlined.
struct LogicalFrame {
  std::string function;  // empty where nothing names it
  std::string file;      // empty where there is no line information
  int line = 0;
  bool inlined = false;  // into the next frame
};

class Module {
 public:
  // Finds the file of the module's build-id (FindModuleFile). Never fails: where there is none,
  // nothing is found in it, and problem() says whether the path leads to something else.
  Module(const ModuleRange& range, const std::vector<std::string>& directories);
  Module(const Module&) = delete;  // libdwfl keeps pointers into it
  Module& operator=(const Module&) = delete;

  // At the byte of code at pc in range, which is one of this file's mappings. Innermost first;
  // empty where nothing is known.
  std::vector<LogicalFrame> Lookup(const ModuleRange& range, uint64_t pc);

  const std::string& problem() const { return problem_; }
  bool has_lines() const { return has_lines_; }

 private:
  bool ToElfAddress(const ModuleRange& range, uint64_t pc, Dwarf_Addr* address) const;
  bool FindCompilationUnit(Dwarf_Addr address, Dwarf_Die* unit, Dwarf_Addr* bias);
  std::string SymbolName(Dwarf_Addr address);

  std::string debuginfo_path_;
  char* debuginfo_path_pointer_ = nullptr;
  Dwfl_Callbacks callbacks_;
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> session_;
  Dwfl_Module* module_ = nullptr;
  std::string problem_;
  bool has_lines_ = false;
};

}  // namespace penumbra::symbolize
