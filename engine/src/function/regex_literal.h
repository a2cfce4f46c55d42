// What every text that a regular expression accepts contains.
#pragma once

#include <string>

#include "function/regex_automaton.h"

namespace penumbra {

struct RegexLiteral {
  std::string bytes;  // empty: nothing is known
  bool is_prefix = false;
  bool is_all = false;  // each text that contains it, or begins with it, is accepted
};

// The longest that is found, of the automaton of a search; a prefix rather than another one.
RegexLiteral FindLiteral(const RegexAutomaton& search, const RegexAlphabet& alphabet);

}  // namespace penumbra
