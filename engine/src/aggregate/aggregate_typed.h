// Accumulators from a description of one state: the loops are written once.
#pragma once

#include "aggregate/aggregate_accumulator.h"

namespace penumbra {

// Ops describes one kind of state:
//   struct State                                    trivially copyable, all zero is empty
//   using Value                                     of the flat argument vector
//   static void Add(State&, const Value&, StateStore&)
//   static void Combine(State& into, const State& from, StateStore&)
// and may hide AddRun() of this template with something faster.
template <typename Ops>
class TypedAccumulator : public Accumulator {
 public:
  using State = typename Ops::State;
  using Value = typename Ops::Value;
  static_assert(sizeof(State) % 8 == 0);

  explicit TypedAccumulator(bool has_variable_part = false) : Accumulator(sizeof(State), has_variable_part) {}

  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    const Value* values = arguments->values<Value>();
    State running = StateAt(state);
    VisitValid(*arguments, selection, [&](uint32_t row) { Ops::Add(running, values[row], store); });
    StateAt(state) = running;
  }
  void AddScattered(char* const* groups, uint32_t offset, const Vector* arguments, RowSelection selection,
                    StateStore& store) const override {
    const Value* values = arguments->values<Value>();
    VisitValid(*arguments, selection,
               [&](uint32_t row) { Ops::Add(StateAt(groups[row] + offset), values[row], store); });
  }
  void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count,
               StateStore& store) const override {
    for (uint32_t i = 0; i < count; ++i) {
      Ops::Combine(StateAt(into[i] + offset), StateAt(from[i] + offset), store);
    }
  }

 protected:
  // A result per group: read(state, &value) returns false where it is null.
  template <typename T, typename Read>
  static Vector FinalizeEach(PenumbraType type, const char* const* groups, uint32_t offset, uint32_t count,
                             Arena& arena, Read read) {
    T* values;
    ResultVector out = MakeResult(type, count, arena, &values);
    for (uint32_t i = 0; i < count; ++i) {
      if (!read(StateAt(groups[i] + offset), &values[i])) out.SetNull(i, arena);
    }
    return out.vector;
  }
  static State& StateAt(char* state) { return *reinterpret_cast<State*>(state); }
  static const State& StateAt(const char* state) { return *reinterpret_cast<const State*>(state); }
};

}  // namespace penumbra
