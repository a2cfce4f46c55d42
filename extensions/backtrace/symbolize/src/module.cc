#include "module.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <filesystem>

#include "demangle.h"
#include "elf_file.h"

namespace penumbra::symbolize {
namespace {

// Nesting of scopes in debug information that is not hostile stays far below.
constexpr int kMaxScopeDepth = 200;

constexpr uint64_t kPageBytes = 4096;

bool HoldsCode(int tag) { return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine; }

// Scopes whose own range says nothing about the functions in them.
bool HoldsDeclarations(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_module;
}

bool HoldsBlock(int tag) { return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block; }

// Appends the functions around address, the outermost first, as they are nested in the code.
// dwarf_getscopes() follows an inlined function to where it was declared instead.
bool FindFunctions(Dwarf_Die* scope, Dwarf_Addr address, int depth, std::vector<Dwarf_Die>* functions) {
  Dwarf_Die child;
  if (depth > kMaxScopeDepth || dwarf_child(scope, &child) != 0) return false;
  do {
    const int tag = dwarf_tag(&child);
    if (HoldsCode(tag) || HoldsBlock(tag)) {
      if (dwarf_haspc(&child, address) <= 0) continue;
      if (HoldsCode(tag)) functions->push_back(child);
      FindFunctions(&child, address, depth + 1, functions);
      return true;
    }
    if (HoldsDeclarations(tag) && FindFunctions(&child, address, depth + 1, functions)) return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

std::string FunctionName(Dwarf_Die* function, bool* mangled) {
  Dwarf_Attribute attribute;
  const char* name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
  *mangled = name != nullptr;
  if (name != nullptr) return Demangle(name);
  name = dwarf_diename(function);
  return name == nullptr ? "" : name;
}

// A path that begins at the root, or where the compiler was told to cut it, without detours.
std::string SourcePath(Dwarf_Die* unit, const char* file) {
  if (file == nullptr) return "";
  std::filesystem::path path = file;
  if (path.is_relative()) {
    Dwarf_Attribute attribute;
    const char* directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    if (directory != nullptr) path = directory / path;
  }
  return path.lexically_normal();
}

bool ReadUnsigned(Dwarf_Die* die, unsigned name, Dwarf_Word* value) {
  Dwarf_Attribute attribute;
  return dwarf_formudata(dwarf_attr(die, name, &attribute), value) == 0;
}

void SetCallSite(Dwarf_Die* unit, Dwarf_Die* inlined, LogicalFrame* frame) {
  Dwarf_Word file, line;
  Dwarf_Files* files;
  size_t count;
  frame->file.clear();
  if (!ReadUnsigned(inlined, DW_AT_call_file, &file)) return;
  if (!ReadUnsigned(inlined, DW_AT_call_line, &line)) return;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count) return;
  frame->file = SourcePath(unit, dwarf_filesrc(files, file, nullptr, nullptr));
  frame->line = static_cast<int>(std::min<Dwarf_Word>(line, INT_MAX));
}

}  // namespace

Module::Module(const ModuleRange& range, const std::vector<std::string>& directories) : session_(nullptr, dwfl_end) {
  for (const std::string& directory : directories) {
    debuginfo_path_ += directory + "/usr/lib/debug:" + directory + ":";
  }
  debuginfo_path_ += ":.debug:/usr/lib/debug";
  debuginfo_path_pointer_ = debuginfo_path_.data();
  callbacks_ = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, &debuginfo_path_pointer_};
  FoundFile found = FindModuleFile(range, directories);
  problem_ = found.problem;
  if (!found.file.valid()) return;
  session_.reset(dwfl_begin(&callbacks_));
  if (session_ == nullptr) return;
  // The name is unique in its session, the file stands at its own addresses.
  module_ = dwfl_report_elf(session_.get(), "module", found.path.c_str(), found.file.get(), 0, true);
  if (module_ != nullptr) found.file.Release();
  if (dwfl_report_end(session_.get(), nullptr, nullptr) != 0) module_ = nullptr;
}

bool Module::ToElfAddress(const ModuleRange& range, uint64_t pc, Dwarf_Addr* address) const {
  GElf_Addr bias;
  Elf* elf = dwfl_module_getelf(module_, &bias);
  size_t count;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return false;
  const uint64_t in_file = range.offset + (pc - range.start);
  GElf_Phdr code = {};
  int code_segments = 0;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return false;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (in_file >= segment.p_offset && in_file - segment.p_offset < segment.p_filesz) {
      *address = in_file - segment.p_offset + segment.p_vaddr + bias;
      return true;
    }
    code = segment;
    ++code_segments;
  }
  // A file of debug information only keeps addresses, not offsets. If it has one segment of code,
  // that is what was mapped, from the page in which it begins.
  if (code_segments != 1) return false;
  const uint64_t at = code.p_vaddr / kPageBytes * kPageBytes + (pc - range.start);
  *address = at + bias;
  return at >= code.p_vaddr && at - code.p_vaddr < code.p_memsz;
}

bool Module::FindCompilationUnit(Dwarf_Addr address, Dwarf_Die* unit, Dwarf_Addr* bias) {
  Dwarf_Die* found = dwfl_module_addrdie(module_, address, bias);
  if (found == nullptr) {
    // Only the index .debug_aranges has been looked at, which clang and rustc do not write.
    do {
      found = dwfl_module_nextcu(module_, found, bias);
    } while (found != nullptr && dwarf_haspc(found, address - *bias) <= 0);
    if (found == nullptr) return false;
  }
  *unit = *found;
  return true;
}

std::string Module::SymbolName(Dwarf_Addr address) {
  GElf_Off offset;
  GElf_Sym symbol;
  const char* name = dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr) return "";
  const std::string plain(name, strcspn(name, "@"));  // without the symbol's version
  return Demangle(plain.c_str());
}

std::vector<LogicalFrame> Module::Lookup(const ModuleRange& range, uint64_t pc) {
  Dwarf_Addr address, bias;
  if (module_ == nullptr || !ToElfAddress(range, pc, &address)) return {};
  Dwarf_Die unit;
  std::vector<Dwarf_Die> functions;
  LogicalFrame at;
  const bool has_unit = FindCompilationUnit(address, &unit, &bias);
  if (has_unit) {
    FindFunctions(&unit, address - bias, 0, &functions);
    int line;
    Dwarf_Line* row = dwarf_getsrc_die(&unit, address - bias);
    if (row != nullptr && dwarf_lineno(row, &line) == 0) {
      at.file = SourcePath(&unit, dwarf_linesrc(row, nullptr, nullptr));
      at.line = std::max(line, 0);
      has_lines_ = true;
    }
  }
  std::vector<LogicalFrame> frames;
  for (size_t i = functions.size(); i-- > 0;) {
    bool mangled;
    at.function = FunctionName(&functions[i], &mangled);
    at.inlined = i > 0;
    // The linker's name says in which namespace a function is.
    if (i == 0 && !mangled) {
      const std::string symbol = SymbolName(address);
      if (symbol.find("::" + at.function) != std::string::npos) at.function = symbol;
    }
    frames.push_back(at);
    if (i > 0) SetCallSite(&unit, &functions[i], &at);
  }
  if (frames.empty()) {
    at.function = SymbolName(address);
    if (!at.function.empty() || !at.file.empty()) frames.push_back(at);
  }
  return frames;
}

}  // namespace penumbra::symbolize
