#include "function/regex_literal.h"

#include <algorithm>
#include <optional>

namespace penumbra {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// Arcs that may be looked at to find out which states every text passes.
constexpr size_t kWorkMax = 1 << 20;

class LiteralFinder {
 public:
  LiteralFinder(const RegexAutomaton& automaton, const RegexAlphabet& alphabet)
      : automaton_(automaton), alphabet_(alphabet), from_(automaton.state_count), is_reached_(automaton.state_count) {
    FindReached(kNone);
    for (uint32_t state = 0; state < automaton.state_count; ++state) {
      if (!is_reached_[state]) continue;
      for (const RegexAutomaton::Arc& arc : automaton.arcs_of(state)) from_[arc.to].push_back({arc.color, state});
    }
  }

  RegexLiteral Find() {
    RegexLiteral best;
    for (const uint32_t state : PassedStates()) {
      RegexLiteral literal = LiteralBefore(state);
      if (std::pair(literal.is_prefix, literal.bytes.size()) > std::pair(best.is_prefix, best.bytes.size())) {
        best = std::move(literal);
      }
    }
    return best;
  }

 private:
  // Without a state. False: the final one is not reached.
  bool FindReached(uint32_t without) {
    std::fill(is_reached_.begin(), is_reached_.end(), false);
    if (automaton_.initial == without) return false;
    std::vector<uint32_t> open = {automaton_.initial};
    is_reached_[automaton_.initial] = true;
    while (!open.empty()) {
      const uint32_t state = open.back();
      open.pop_back();
      for (const RegexAutomaton::Arc& arc : automaton_.arcs_of(state)) {
        if (is_reached_[arc.to] || arc.to == without) continue;
        is_reached_[arc.to] = true;
        open.push_back(arc.to);
      }
    }
    return is_reached_[automaton_.final];
  }

  // Those that each way to the final state goes through.
  std::vector<uint32_t> PassedStates() {
    std::vector<uint32_t> passed;
    if (size_t{automaton_.state_count} * automaton_.arcs.size() > kWorkMax || !FindReached(kNone)) return passed;
    for (uint32_t state = 0; state < automaton_.state_count; ++state) {
      if (state != automaton_.initial && !FindReached(state)) passed.push_back(state);
    }
    return passed;
  }

  // Back from a state as long as there is one way only.
  RegexLiteral LiteralBefore(uint32_t state) const {
    RegexLiteral literal;
    const bool ends_match = automaton_.accepts_anything[state] != 0;
    for (uint32_t characters = 0; characters < automaton_.state_count; ++characters) {
      const std::vector<RegexAutomaton::Arc>& arcs = from_[state];
      if (arcs.empty()) return literal;
      const uint32_t color = arcs.front().color;
      for (const RegexAutomaton::Arc& arc : arcs) {
        if (arc.color != color) return WithStart(std::move(literal), state, ends_match);
      }
      const bool is_single = arcs.size() == 1;
      if (color == PENUMBRA_REGEX_BEGIN && is_single && arcs.front().to == automaton_.initial) {
        literal.is_prefix = !literal.bytes.empty();
        literal.is_all = literal.is_prefix && ends_match;
        return literal;
      }
      const std::string_view character = alphabet_.OnlyCharacter(color);
      if (character.empty()) return WithStart(std::move(literal), state, ends_match);
      literal.bytes.insert(0, character);
      if (!is_single) return literal;
      state = arcs.front().to;
    }
    return literal;
  }

  // The literal follows on the state.
  RegexLiteral WithStart(RegexLiteral literal, uint32_t state, bool ends_match) const {
    const bool begins = HasArc(automaton_.initial, PENUMBRA_REGEX_BEGIN, state);
    literal.is_all = ends_match && begins && HasArc(state, PENUMBRA_REGEX_ANY, state);
    return literal;
  }
  bool HasArc(uint32_t from, uint32_t color, uint32_t to) const {
    const auto arcs = automaton_.arcs_of(from);
    return std::any_of(arcs.begin(), arcs.end(),
                       [&](const RegexAutomaton::Arc& arc) { return arc.color == color && arc.to == to; });
  }

  const RegexAutomaton& automaton_;
  const RegexAlphabet& alphabet_;
  std::vector<std::vector<RegexAutomaton::Arc>> from_;  // by state: the arcs to it, `to` being where they come from
  std::vector<bool> is_reached_;
};

}  // namespace

RegexLiteral FindLiteral(const RegexAutomaton& search, const RegexAlphabet& alphabet) {
  return LiteralFinder(search, alphabet).Find();
}

}  // namespace penumbra
