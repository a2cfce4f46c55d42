// The deterministic automaton of a regular expression, over bytes, made while texts are read.
//
// A state is a set of the states of a RegexAutomaton and the node of the alphabet. A row of the table has the next
// state for each class of bytes. All threads read the table without a lock; who meets a transition that nobody has
// taken yet finds it under the lock. Table and sets are never larger than a bound: what does not fit is computed for
// each byte (SetRun), slower but in time linear in the text.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "expression/expr.h"
#include "function/regex_automaton.h"

namespace penumbra {

class RegexDfa {
 public:
  // A place in the table, with flags; or one of the special values.
  using State = uint32_t;
  static constexpr State kUnknown = 0;
  static constexpr State kDead = 0x80000001;     // nothing is accepted from here on
  static constexpr State kAccepts = 0x80000002;  // of a DFA that ends there: the text is accepted
  static constexpr State kFull = 0x80000003;     // only SetRun goes on
  // What the set has just come to, of a DFA that does not end there.
  static constexpr State kHasAccepted = 0x40000000;
  static constexpr State kNoProgress = 0x20000000;
  static constexpr State kPlace = 0x1fffffff;
  static bool IsSpecial(State state) { return static_cast<int32_t>(state - 1) < 0; }

  // `ends_at_accept`: it is of interest whether a text is accepted, not where. Both outlive this.
  RegexDfa(const RegexAutomaton& automaton, const RegexAlphabet& alphabet, bool ends_at_accept);

  // After the character before the text, or PENUMBRA_REGEX_BEGIN.
  State Start(uint32_t color) const;
  // The state after a byte of the class; never kUnknown.
  State Next(State from, uint32_t byte_class) const;
  // Whether the text is accepted that ends in this state.
  bool AcceptsAtEnd(State state) const;
  // Whether a text is, from the state that its rest [position, end) is read in.
  bool AcceptsSlowly(State from, const char* position, const char* end, const EvalContext& context) const;

  const std::atomic<State>* table() const { return table_.get(); }
  const RegexAlphabet& alphabet() const { return alphabet_; }
  uint32_t state_count() const;

 private:
  friend class SetRun;
  struct Set {
    uint32_t node = 0;
    std::vector<uint32_t> members;  // ascending
    bool operator==(const Set&) const = default;
  };
  struct HashSet {
    size_t operator()(const Set& set) const;
  };
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  template <typename T>
  using Cells = std::unique_ptr<std::atomic<T>[], Free>;

  // The set after a character of the color, perhaps an empty one; `to` is another one.
  void Advance(const Set& from, uint32_t color, Set* to) const;
  void AdvanceByte(const Set& from, uint32_t byte_class, Set* to) const;
  bool HasFinal(const Set& set) const;
  bool AcceptsAnything(const Set& set) const;
  State FlagsOf(const Set& set) const;
  State PlaceOfLocked(Set&& set) const;
  const Set& SetOfLocked(State state) const { return *sets_[(state & kPlace) / stride_]; }

  const RegexAutomaton& automaton_;
  const RegexAlphabet& alphabet_;
  const bool ends_at_accept_;
  const uint32_t stride_;  // classes
  const uint32_t rows_max_;
  Cells<State> table_;     // the first row is nobody's
  Cells<uint8_t> at_end_;  // by row: 0 not known, 1 does not accept, 2 does
  Cells<State> starts_;    // by color, the last is of the beginning

  mutable std::mutex mutex_;  // taken alone
  mutable std::unordered_map<Set, State, HashSet> places_;
  mutable std::vector<const Set*> sets_;  // by row, in places_
  mutable size_t set_bytes_ = 0;
};

// One text, byte by byte, where a DFA has no room for more.
class SetRun {
 public:
  SetRun(const RegexDfa& dfa, RegexDfa::State from);  // from a place of the DFA on
  static SetRun AtStart(const RegexDfa& dfa, uint32_t color);
  // False: nothing is accepted from here on.
  bool Step(uint32_t byte_class);
  bool has_accepted() const { return dfa_.HasFinal(set_); }
  bool accepts_anything() const { return dfa_.AcceptsAnything(set_); }
  bool AcceptsAtEnd() const;
  RegexDfa::State flags() const { return dfa_.FlagsOf(set_); }

 private:
  explicit SetRun(const RegexDfa& dfa) : dfa_(dfa) {}

  const RegexDfa& dfa_;
  RegexDfa::Set set_, next_;
};

// One text, byte by byte, through a DFA that does not end at accept.
class RegexWalk {
 public:
  // After the character before the text, or PENUMBRA_REGEX_BEGIN.
  RegexWalk(const RegexDfa& dfa, uint32_t color) : dfa_(dfa), state_(dfa.Start(color)) {
    if (state_ == RegexDfa::kFull) GoOn(SetRun::AtStart(dfa, color));
  }
  // Nothing is accepted from here on.
  bool is_dead() const { return state_ == RegexDfa::kDead; }
  bool has_accepted() const { return (state_ & RegexDfa::kHasAccepted) != 0; }
  bool makes_no_progress() const { return (state_ & RegexDfa::kNoProgress) != 0; }
  bool AcceptsAtEnd() const { return run_ ? run_->AcceptsAtEnd() : dfa_.AcceptsAtEnd(state_); }

  void Step(char byte) {
    const uint32_t byte_class = dfa_.alphabet().ClassOf(byte);
    const RegexDfa::State next =
        run_ ? RegexDfa::kUnknown
             : dfa_.table()[(state_ & RegexDfa::kPlace) + byte_class].load(std::memory_order_relaxed);
    if (RegexDfa::IsSpecial(next)) return StepSlowly(byte_class);
    state_ = next;
  }

 private:
  void StepSlowly(uint32_t byte_class);
  void GoOn(SetRun run);

  const RegexDfa& dfa_;
  RegexDfa::State state_;  // of a SetRun the flags
  std::optional<SetRun> run_;
};

struct RegexText {
  const char* begin;
  const char* end;
  uint32_t row;
};

// Matches texts side by side, so that the next byte of one need not wait for that of another. next(&text) gives them
// one after the other, and false when there are no more; found(row) is called for each one that is accepted. The DFA
// ends at accept.
template <typename NextText, typename Found>
void MatchTexts(const RegexDfa& dfa, const EvalContext& context, NextText next, Found found) {
  using State = RegexDfa::State;
  constexpr int kLanes = 4;
  constexpr ptrdiff_t kPiece = 1 << 16;  // between looks at a cancel
  const std::atomic<State>* const table = dfa.table();
  const uint8_t* const classes = dfa.alphabet().classes();
  const State start = dfa.Start(PENUMBRA_REGEX_BEGIN);
  const auto class_of = [&](const char* byte) { return classes[static_cast<uint8_t>(*byte)]; };

  struct Lane {
    const char* position;
    const char* end;
    State state;
    uint32_t row;
  };
  Lane lanes[kLanes];
  int live = 0;
  // A text to read, or none: those that need no reading are decided.
  const auto fill = [&](Lane& lane) {
    RegexText text;
    while (next(&text)) {
      if (start == RegexDfa::kAccepts ||
          (text.begin == text.end && start != RegexDfa::kDead && dfa.AcceptsAtEnd(start))) {
        found(text.row);
      } else if (text.begin != text.end && start != RegexDfa::kDead) {
        lane = {text.begin, text.end, start, text.row};
        return true;
      }
    }
    return false;
  };
  while (live < kLanes && fill(lanes[live])) ++live;

  while (live > 0) {
    ptrdiff_t steps = kPiece;
    for (int l = 0; l < live; ++l) steps = std::min(steps, lanes[l].end - lanes[l].position);
    ptrdiff_t step = 0;
    if (live == kLanes) {
      State s0 = lanes[0].state, s1 = lanes[1].state, s2 = lanes[2].state, s3 = lanes[3].state;
      const char *p0 = lanes[0].position, *p1 = lanes[1].position, *p2 = lanes[2].position, *p3 = lanes[3].position;
      for (; step < steps; ++step) {
        const State n0 = table[s0 + class_of(p0 + step)].load(std::memory_order_relaxed);
        const State n1 = table[s1 + class_of(p1 + step)].load(std::memory_order_relaxed);
        const State n2 = table[s2 + class_of(p2 + step)].load(std::memory_order_relaxed);
        const State n3 = table[s3 + class_of(p3 + step)].load(std::memory_order_relaxed);
        if (static_cast<int32_t>((n0 - 1) | (n1 - 1) | (n2 - 1) | (n3 - 1)) < 0) break;
        s0 = n0, s1 = n1, s2 = n2, s3 = n3;
      }
      lanes[0].state = s0, lanes[1].state = s1, lanes[2].state = s2, lanes[3].state = s3;
    } else {
      // Few are left: the rest of each by itself.
      steps = std::min(kPiece, lanes[0].end - lanes[0].position);
      State state = lanes[0].state;
      for (; step < steps; ++step) {
        const State after = table[state + class_of(lanes[0].position + step)].load(std::memory_order_relaxed);
        if (RegexDfa::IsSpecial(after)) break;
        state = after;
      }
      lanes[0].state = state;
    }
    if (steps == kPiece) context.CheckCancelled();
    const bool is_stopped = step < steps;
    const int moved = live == kLanes ? kLanes : 1;
    for (int l = moved - 1; l >= 0; --l) {
      Lane& lane = lanes[l];
      lane.position += step;
      bool is_over = false, is_accepted = false;
      if (is_stopped) {  // one of them at least goes on by a step that takes more
        const State from = lane.state;
        lane.state = dfa.Next(from, class_of(lane.position++));
        if (RegexDfa::IsSpecial(lane.state)) {
          is_over = true;
          is_accepted =
              lane.state == RegexDfa::kAccepts ||
              (lane.state == RegexDfa::kFull && dfa.AcceptsSlowly(from, lane.position - 1, lane.end, context));
        }
      }
      if (!is_over && lane.position == lane.end) {
        is_over = true;
        is_accepted = dfa.AcceptsAtEnd(lane.state);
      }
      if (!is_over) continue;
      if (is_accepted) found(lane.row);
      if (!fill(lane)) lanes[l] = lanes[--live];
    }
  }
}

}  // namespace penumbra
