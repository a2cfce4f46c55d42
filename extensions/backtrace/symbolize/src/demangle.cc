#include "demangle.h"

// libiberty's allocation-free interface, because libstdc++'s cannot be bounded and knows no Rust.
// Its header would declare basename() once more.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

namespace penumbra::symbolize {
namespace {

constexpr size_t kMaxMangledBytes = 4096;
constexpr size_t kMaxDemangledBytes = 1000;

struct Output {
  jmp_buf full;
  size_t length = 0;
  char text[kMaxDemangledBytes];
};

extern "C" void Append(const char* text, size_t length, void* opaque) {
  Output* output = static_cast<Output*>(opaque);
  const size_t taken = std::min(length, kMaxDemangledBytes - output->length);
  memcpy(output->text + output->length, text, taken);
  output->length += taken;
  // The demangler has no other way to be stopped; it holds nothing but stack when it calls.
  if (taken < length) longjmp(output->full, 1);
}

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

// No object with a destructor may live in here: longjmp passes over it.
bool Run(Demangler demangler, const char* name, Output* output) {
  output->length = 0;
  if (setjmp(output->full) != 0) {
    memcpy(output->text + kMaxDemangledBytes - 3, "...", 3);
    return true;
  }
  return demangler(name, DMGL_PARAMS | DMGL_ANSI, Append, output) != 0;
}

}  // namespace

std::string Demangle(const char* name) {
  const bool mangled = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
  if (!mangled || strnlen(name, kMaxMangledBytes + 1) > kMaxMangledBytes) return name;
  Output output;
  // Rust first: its older names are also names of C++.
  if (Run(rust_demangle_callback, name, &output) || Run(cplus_demangle_v3_callback, name, &output)) {
    const std::string demangled(output.text, output.length);
    // What GCC made of the function is GCC's affair.
    return demangled.substr(0, demangled.find(" [clone "));
  }
  return name;
}

}  // namespace penumbra::symbolize
