// What the adapter hands in of a regular expression (penumbra/regex.h), checked and in a form to work with.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "penumbra/regex.h"

namespace penumbra {

// Finite, not deterministic.
struct RegexAutomaton {
  struct Arc {
    uint32_t color;  // or PENUMBRA_REGEX_ANY and the like
    uint32_t to;
  };

  uint32_t state_count = 0;
  uint32_t initial = 0;
  uint32_t final = 0;
  std::vector<uint8_t> makes_no_progress;  // by state
  std::vector<uint8_t> accepts_anything;   // by state: any character and the end lead to the final state
  std::vector<uint32_t> first_arc;         // by state, and one more
  std::vector<Arc> arcs;

  std::span<const Arc> arcs_of(uint32_t state) const {
    return {arcs.data() + first_arc[state], arcs.data() + first_arc[state + 1]};
  }
};

// Which color the character has that some bytes are. Bytes that no character tells apart are one class. Inside of a
// character the bytes read so far are a node; node 0 is between characters. Bytes that are no character of the
// encoding have any color.
class RegexAlphabet {
 public:
  struct Range {
    uint32_t first;  // character
    uint32_t color;
  };

  RegexAlphabet() = default;
  RegexAlphabet(std::span<const Range> ranges, bool is_utf8);

  uint32_t class_count() const { return class_count_; }
  const uint8_t* classes() const { return class_of_; }
  uint32_t ClassOf(char byte) const { return class_of_[static_cast<uint8_t>(byte)]; }
  bool is_utf8() const { return is_utf8_; }
  uint32_t color_count() const { return static_cast<uint32_t>(only_.size()); }

  // What a byte of the class leads to.
  struct Step {
    bool is_character;  // it ends one
    uint32_t value;     // its color, or else a node
  };
  Step Next(uint32_t node, uint32_t byte_class) const {
    const int32_t next = next_[node * class_count_ + byte_class];
    return next < 0 ? Step{true, static_cast<uint32_t>(-(next + 1))} : Step{false, static_cast<uint32_t>(next)};
  }
  // Of the character that ends at `end`, of a text that begins at `begin`, before it.
  uint32_t ColorBefore(const char* begin, const char* end) const;
  // The only character of a color, as bytes; empty: there are several, or none.
  std::string_view OnlyCharacter(uint32_t color) const;

 private:
  bool is_utf8_ = false;
  uint32_t class_count_ = 0;
  uint8_t class_of_[256] = {};
  std::vector<int32_t> next_;  // by node and class: a node, or -1 - color
  struct Only {
    uint32_t characters = 0;  // two stand for more
    uint8_t length = 0;
    char bytes[4] = {};
  };
  std::vector<Only> only_;  // by color
};

struct Regex {
  RegexAlphabet alphabet;
  std::vector<RegexAutomaton> automata;
  bool is_shortest = false;
  uint32_t group = 0;
  std::vector<PenumbraRegexPart> parts;
};

// Throws PENUMBRA_INTERNAL if they are not what they should be.
Regex ParseRegex(std::string_view bytes);

}  // namespace penumbra
