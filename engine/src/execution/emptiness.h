// Which operators of a plan give no row, as far as is known while it runs: of scans that were looked at, and of sinks
// that are sealed. A join may need no rows of an input then, and nobody needs what is below that.
//
// An inner join of which one side is empty gives nothing; nor does any join that starts from probe rows without one.
// RIGHT, FULL and RIGHT_ANTI give the rows of their build side whatever the probe side has. An aggregation without keys
// gives a row of nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace penumbra {

class Emptiness {
 public:
  explicit Emptiness(const Plan& plan);

  // Before all else, of a scan: how many rows it has at most, as far as is known.
  void SetRows(PenumbraOperator scan, uint64_t rows) { rows_[scan] = rows; }
  // `is_empty` false: it may have rows, and nobody will know better.
  void Set(PenumbraOperator id, bool is_empty);
  // Whether the result needs no row of it: something between them is known to give none.
  bool IsUnneeded(PenumbraOperator id) const;

  // A scan that may be the reason why a build needs no rows, and how many are read for that build.
  struct Peek {
    PenumbraOperator scan = -1;
    uint64_t build_rows = 0;
  };
  // Of the builds that need the rows of `id`, the topmost that may need none. Small ones are not worth it.
  Peek FindPeek(PenumbraOperator id) const;

 private:
  enum class Answer : uint8_t { kUnknown, kEmpty, kMayHaveRows };
  struct State {
    Answer answer = Answer::kUnknown;
    PenumbraOperator scan = -1;  // kUnknown: to look at next

    bool operator==(const State&) const = default;
  };

  State Find(PenumbraOperator id) const;
  void Update(PenumbraOperator id);
  static State AnyOf(const State& a, const State& b);
  static State AllOf(const State& a, const State& b);
  bool StartsFromProbeRows(PenumbraOperator id) const;
  uint64_t RowsBelow(PenumbraOperator id) const;

  const Plan& plan_;
  std::vector<std::vector<PenumbraOperator>> users_;               // by operator; none: the output
  std::vector<Answer> known_;                                      // by operator: set
  std::vector<State> states_;                                      // by operator: what follows
  std::vector<std::vector<std::vector<size_t>>> emptying_inputs_;  // by operator: as its kind has it
  std::vector<uint64_t> rows_;                                     // by operator
};

}  // namespace penumbra
