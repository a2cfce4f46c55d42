// Names of C++ and Rust as their sources write them.
#pragma once

#include <string>

namespace penumbra::symbolize {

// The name itself where it is of neither language. Bounded in size and, as the output drives it, in
// time: a mangled name of a hundred bytes can describe gigabytes.
std::string Demangle(const char* name);

}  // namespace penumbra::symbolize
