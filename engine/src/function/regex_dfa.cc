#include "function/regex_dfa.h"

#include <new>

namespace penumbra {
namespace {

constexpr size_t kTableBytes = size_t{1} << 20;
constexpr size_t kSetBytes = size_t{4} << 20;
constexpr size_t kRowsMax = size_t{1} << 14;
constexpr uint8_t kRejects = 1, kAcceptsThere = 2;

size_t RowsMax(uint32_t stride) { return std::min(kRowsMax, kTableBytes / sizeof(RegexDfa::State) / stride); }

// Zeroed by the system when it is touched: most tables stay small.
template <typename T>
std::atomic<T>* NewCells(size_t count) {
  static_assert(sizeof(std::atomic<T>) == sizeof(T));
  void* cells = std::calloc(count, sizeof(T));
  if (cells == nullptr) throw std::bad_alloc();
  return static_cast<std::atomic<T>*>(cells);
}

}  // namespace

size_t RegexDfa::HashSet::operator()(const Set& set) const {
  uint64_t hash = set.node;
  for (const uint32_t member : set.members) {
    hash = (hash ^ member) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  }
  return hash;
}

RegexDfa::RegexDfa(const RegexAutomaton& automaton, const RegexAlphabet& alphabet, bool ends_at_accept)
    : automaton_(automaton),
      alphabet_(alphabet),
      ends_at_accept_(ends_at_accept),
      stride_(alphabet.class_count()),
      rows_max_(static_cast<uint32_t>(RowsMax(stride_))),
      table_(NewCells<State>(size_t{rows_max_} * stride_)),
      at_end_(NewCells<uint8_t>(rows_max_)),
      starts_(NewCells<State>(alphabet.color_count() + 1)),
      sets_(1, nullptr) {}

uint32_t RegexDfa::state_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(sets_.size()) - 1;
}

void RegexDfa::Advance(const Set& from, uint32_t color, Set* to) const {
  to->node = 0;
  to->members.clear();
  const bool is_character = color < PENUMBRA_REGEX_END;
  for (const uint32_t member : from.members) {
    for (const RegexAutomaton::Arc& arc : automaton_.arcs_of(member)) {
      if (arc.color == color || (is_character && arc.color == PENUMBRA_REGEX_ANY)) to->members.push_back(arc.to);
    }
  }
  std::sort(to->members.begin(), to->members.end());
  to->members.erase(std::unique(to->members.begin(), to->members.end()), to->members.end());
}

void RegexDfa::AdvanceByte(const Set& from, uint32_t byte_class, Set* to) const {
  const RegexAlphabet::Step step = alphabet_.Next(from.node, byte_class);
  if (step.is_character) return Advance(from, step.value, to);
  to->node = step.value;
  to->members = from.members;
}

bool RegexDfa::HasFinal(const Set& set) const {
  return set.node == 0 && std::binary_search(set.members.begin(), set.members.end(), automaton_.final);
}

bool RegexDfa::AcceptsAnything(const Set& set) const {
  return set.node == 0 && std::any_of(set.members.begin(), set.members.end(), [&](uint32_t member) {
           return member == automaton_.final || automaton_.accepts_anything[member] != 0;
         });
}

RegexDfa::State RegexDfa::FlagsOf(const Set& set) const {
  const bool is_fresh = set.node == 0 && std::all_of(set.members.begin(), set.members.end(), [&](uint32_t member) {
                          return automaton_.makes_no_progress[member] != 0;
                        });
  return (HasFinal(set) ? kHasAccepted : 0) | (is_fresh ? kNoProgress : 0);
}

RegexDfa::State RegexDfa::PlaceOfLocked(Set&& set) const {
  if (set.members.empty()) return kDead;
  if (ends_at_accept_ && AcceptsAnything(set)) return kAccepts;
  if (const auto known = places_.find(set); known != places_.end()) return known->second;
  const size_t bytes = sizeof(Set) + set.members.size() * sizeof(uint32_t);
  if (sets_.size() >= rows_max_ || set_bytes_ + bytes > kSetBytes) return kFull;
  set_bytes_ += bytes;
  const State place = static_cast<State>(sets_.size()) * stride_ | (ends_at_accept_ ? 0 : FlagsOf(set));
  const auto added = places_.emplace(std::move(set), place).first;
  sets_.push_back(&added->first);
  return place;
}

RegexDfa::State RegexDfa::Start(uint32_t color) const {
  const bool is_begin = color == PENUMBRA_REGEX_BEGIN;
  std::atomic<State>& known = starts_[is_begin ? alphabet_.color_count() : color];
  State state = known.load(std::memory_order_relaxed);
  if (state != kUnknown) return state;
  const std::lock_guard lock(mutex_);
  Set to;
  Advance({0, {automaton_.initial}}, color, &to);
  state = PlaceOfLocked(std::move(to));
  known.store(state, std::memory_order_relaxed);
  return state;
}

RegexDfa::State RegexDfa::Next(State from, uint32_t byte_class) const {
  std::atomic<State>& known = table_[(from & kPlace) + byte_class];
  State state = known.load(std::memory_order_relaxed);
  if (state != kUnknown) return state;
  const std::lock_guard lock(mutex_);
  Set to;
  AdvanceByte(SetOfLocked(from), byte_class, &to);
  state = PlaceOfLocked(std::move(to));
  known.store(state, std::memory_order_relaxed);
  return state;
}

bool RegexDfa::AcceptsAtEnd(State state) const {
  std::atomic<uint8_t>& known = at_end_[(state & kPlace) / stride_];
  uint8_t answer = known.load(std::memory_order_relaxed);
  if (answer == 0) {
    const std::lock_guard lock(mutex_);
    Set to;
    Advance(SetOfLocked(state), PENUMBRA_REGEX_END, &to);
    answer = HasFinal(to) ? kAcceptsThere : kRejects;
    known.store(answer, std::memory_order_relaxed);
  }
  return answer == kAcceptsThere;
}

bool RegexDfa::AcceptsSlowly(State from, const char* position, const char* end, const EvalContext& context) const {
  constexpr size_t kPiece = 1 << 12;
  SetRun run(*this, from);
  for (size_t steps = 1; position < end; ++position, ++steps) {
    if (!run.Step(alphabet_.ClassOf(*position))) return false;
    if (run.accepts_anything()) return true;
    if (steps % kPiece == 0) context.CheckCancelled();
  }
  return run.AcceptsAtEnd();
}

SetRun::SetRun(const RegexDfa& dfa, RegexDfa::State from) : dfa_(dfa) {
  const std::lock_guard lock(dfa.mutex_);
  set_ = dfa.SetOfLocked(from);
}

SetRun SetRun::AtStart(const RegexDfa& dfa, uint32_t color) {
  SetRun run(dfa);
  dfa.Advance({0, {dfa.automaton_.initial}}, color, &run.set_);
  return run;
}

bool SetRun::Step(uint32_t byte_class) {
  dfa_.AdvanceByte(set_, byte_class, &next_);
  std::swap(set_, next_);
  return !set_.members.empty();
}

void RegexWalk::GoOn(SetRun run) {
  state_ = run.flags();
  run_.emplace(std::move(run));
}

void RegexWalk::StepSlowly(uint32_t byte_class) {
  if (!run_) {
    const RegexDfa::State from = state_;
    state_ = dfa_.Next(from, byte_class);
    if (state_ != RegexDfa::kFull) return;
    run_.emplace(dfa_, from);
  }
  state_ = run_->Step(byte_class) ? run_->flags() : RegexDfa::kDead;
}

bool SetRun::AcceptsAtEnd() const {
  RegexDfa::Set to;
  dfa_.Advance(set_, PENUMBRA_REGEX_END, &to);
  return dfa_.HasFinal(to);
}

}  // namespace penumbra
