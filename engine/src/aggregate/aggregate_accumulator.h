// Accumulators: the running states of aggregates, and their finals.
//
// A state is `state_bytes` plain bytes inside a group's row (8-byte aligned); all zero is the empty
// state, so new groups are cleared and never constructed. What does not fit in the bytes (long
// strings of min and max, sums beyond 128 bits) lives in a StateStore and is pointed to.
// Several aggregates may share one accumulator: sum(x), avg(x) and count(x) all read one state.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/aggregation_spec.h"
#include "kernels/kernels.h"
#include "numeric/numeric.h"
#include "operator/execution_environment.h"
#include "segment/segment.h"
#include "vector/arena.h"
#include "vector/block_cache.h"
#include "vector/result_vector.h"
#include "vector/vector.h"

namespace penumbra {

// Sums that outgrew 128 bits.
struct BigSums {
  Decimal sum;
  Decimal sum_of_squares;
};

// Owns what states point to. Used by one thread at a time; states may point into several stores.
class StateStore {
 public:
  explicit StateStore(MemoryBudget* budget)
      : budget_(budget),
        arena_(budget, kFirstBlockBytes, std::min(kHugePageBytes, budget->budget_bytes() / kBlocksOfBudget)) {}
  ~StateStore() { budget_->Subtract(sums_bytes_); }
  Arena& arena() { return arena_; }
  BigSums* AddSums() {
    budget_->Add(kSumsBytes);
    sums_bytes_ += kSumsBytes;
    return &sums_.emplace_back();
  }
  size_t bytes() const { return arena_.bytes() + sums_bytes_; }

 private:
  static constexpr size_t kFirstBlockBytes = size_t{16} << 10;
  static constexpr size_t kBlocksOfBudget = 32;
  static constexpr size_t kSumsBytes = sizeof(BigSums) + 64;  // with the digits, roughly
  MemoryBudget* budget_;
  Arena arena_;
  std::deque<BigSums> sums_;
  size_t sums_bytes_ = 0;
};

// What Finalize() is asked for.
struct AggregateResult {
  PenumbraAggregate function;
  PenumbraType type;
  bool descending = false;                         // of ordered-set aggregates
  const std::vector<double>* fractions = nullptr;  // of percentiles; none: NULL
  const Expr* delimiter = nullptr;                 // of string_agg, a constant; null: an argument
  uint32_t label = 0;                              // of arrays and of rows of a group
  int shown_arguments = 0;                         // of AggregateNeeds::kRows: those in the result
  ExecutionEnvironment* environment = nullptr;
};
inline AggregateResult ResultOf(const AggregateSpec& spec, ExecutionEnvironment& environment) {
  return {spec.function,  spec.result, spec.descending,      &spec.fractions,
          spec.delimiter, spec.label,  spec.shown_arguments, &environment};
}

// One for all states of an execution, whatever groups they belong to; several threads use it at a time.
class Accumulator {
 public:
  Accumulator(uint32_t state_bytes, bool has_variable_part)
      : state_bytes_(state_bytes), has_variable_part_(has_variable_part) {}
  virtual ~Accumulator() = default;
  uint32_t state_bytes() const { return state_bytes_; }
  // Whether of rows without nulls AddRun() needs their number alone, whichever they are.
  virtual bool only_counts() const { return false; }

  // Adds rows of the arguments, which are flat and stand side by side, to one state. Rows that are null in the first
  // are passed over; with several arguments these are null in all of them, but for AggregateNeeds::kRows. count(*) gets
  // one vector without nulls.
  virtual void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const = 0;
  // Adds row i to the state at groups[i] + offset.
  virtual void AddScattered(char* const* groups, uint32_t offset, const Vector* arguments, RowSelection selection,
                            StateStore& store) const = 0;
  // Adds the states from[i] + offset to into[i] + offset, in order. What `from` points to may be
  // taken over.
  virtual void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count,
                       StateStore& store) const = 0;
  // The aggregate's results for the groups.
  virtual Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                          Arena& arena) const = 0;

  // Bytes that the result of a group takes beside its place in the vector, roughly.
  virtual size_t ResultBytes(const char* /*state*/) const { return 0; }

  // Whether the state can point to something; then Save appends it to *bytes, and Load restores it
  // in a bytewise copy of the state and returns where it stopped reading.
  bool has_variable_part() const { return has_variable_part_; }
  virtual void Save(const char* /*state*/, std::vector<char>* /*bytes*/) const {}
  virtual const char* Load(char* /*state*/, const char* bytes, StateStore& /*store*/) const { return bytes; }

 private:
  const uint32_t state_bytes_;
  const bool has_variable_part_;
};

// ---------------------------------------------------------------- the table

// What an aggregate needs of its rows: how many are not null, the bounds of the values, the values themselves, or the
// rows, also those whose arguments are null. The first three metadata may know (CanSummarize), and for the bounds
// DISTINCT does not matter.
enum class AggregateNeeds : uint8_t { kCount, kLeast, kGreatest, kValues, kRows };

// Makes the state.
using AccumulatorFactory = std::unique_ptr<Accumulator> (*)(const AggregateSpec& spec);
// Of the first argument; any for count(*).
inline PenumbraType ArgumentType(const AggregateSpec& spec) {
  return spec.arguments.empty() ? PENUMBRA_INT8 : spec.arguments[0]->type;
}

// Every state that PENUMBRA_AGGREGATE_LIST names. Those of several types choose among the topic files' in
// aggregate_accumulator.cc.
#define PENUMBRA_AGGREGATE_FACTORY(id, name, types, state, needs) \
  std::unique_ptr<Accumulator> Create##state##Accumulator(const AggregateSpec& spec);
PENUMBRA_AGGREGATE_LIST(PENUMBRA_AGGREGATE_FACTORY)
#undef PENUMBRA_AGGREGATE_FACTORY

// A row of PENUMBRA_AGGREGATE_LIST.
struct AggregateInfo {
  const char* name;
  // The result type; none: there is no such aggregate of these.
  std::optional<PenumbraType> (*find_result)(const std::vector<PenumbraType>& arguments);
  AccumulatorFactory create;
  AggregateNeeds needs;
};
const AggregateInfo& InfoOf(PenumbraAggregate function);

// The factory that serves the aggregate. Aggregates on equal arguments with equal filters and the same factory share a
// state: avg and sum where one state gives both.
AccumulatorFactory ChooseAccumulator(const AggregateSpec& spec);

// One per topic file.
std::unique_ptr<Accumulator> CreateIntegerAccumulator(PenumbraType type);        // aggregate_integer.cc
std::unique_ptr<Accumulator> CreateNumericSumAccumulator();                      // aggregate_numeric.cc
std::unique_ptr<Accumulator> CreateNumericSpreadAccumulator(PenumbraType type);  // aggregate_numeric.cc
std::unique_ptr<Accumulator> CreateFloatSumAccumulator(PenumbraType type);       // aggregate_float.cc
std::unique_ptr<Accumulator> CreateFloatSpreadAccumulator(PenumbraType type);    // aggregate_float.cc
std::unique_ptr<Accumulator> CreateIntervalAccumulator();                        // aggregate_interval.cc
std::unique_ptr<Accumulator> CreateExtremeAccumulator(PenumbraType type,
                                                      bool greatest);         // aggregate_extreme.cc
std::unique_ptr<Accumulator> CreateNumericExtremeAccumulator(bool greatest);  // aggregate_extreme_numeric.cc
std::unique_ptr<Accumulator> CreateCollatedExtremeAccumulator(PenumbraType type, bool greatest,
                                                              const Collation* collation);  // aggregate_extreme.cc

// Of the variance family: divided by n - 1, and a square root.
inline bool IsOfSample(PenumbraAggregate function) {
  return function == PENUMBRA_AGG_VAR_SAMP || function == PENUMBRA_AGG_STDDEV_SAMP;
}
inline bool IsDeviation(PenumbraAggregate function) {
  return function == PENUMBRA_AGG_STDDEV_POP || function == PENUMBRA_AGG_STDDEV_SAMP;
}

// Calls visit(row) for the selected rows that are valid.
template <typename Visit>
inline void VisitValid(const Vector& argument, RowSelection selection, Visit&& visit) {
  const uint64_t* validity = argument.validity;
  const uint16_t* rows = selection.rows;
  const uint32_t count = selection.count;
  if (validity == nullptr) {
    if (rows == nullptr) {
      for (uint32_t i = 0; i < count; ++i) visit(i);
    } else {
      for (uint32_t i = 0; i < count; ++i) visit(uint32_t{rows[i]});
    }
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t row = rows == nullptr ? i : rows[i];
      if ((validity[row / 64] >> (row % 64)) & 1) visit(row);
    }
  }
}

// How many selected rows are valid.
inline int64_t CountValid(const Vector& argument, RowSelection selection) {
  if (argument.validity == nullptr) return selection.count;
  if (selection.rows == nullptr) return static_cast<int64_t>(kernels::CountBits(argument.validity, selection.count));
  int64_t count = 0;
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint32_t row = selection.rows[i];
    count += (argument.validity[row / 64] >> (row % 64)) & 1;
  }
  return count;
}

// Of a text of `bytes` to which `more` are appended, as PostgreSQL's StringInfo.
inline void CheckTextSize(size_t bytes, size_t more) {
  constexpr size_t kBytesMax = (size_t{1} << 30) - 2;
  if (bytes + more > kBytesMax) {
    throw EngineError(PENUMBRA_VALUE_TOO_LARGE, "Cannot enlarge string buffer containing " + std::to_string(bytes) +
                                                    " bytes by " + std::to_string(more) + " more bytes.");
  }
}

// Whether states of parts of the rows, combined in order, are that of all rows to the last digit.
bool IsExactInParts(const AggregateSpec& spec);

// Whether it is count(*) of the distinct rows of its arguments, also of those that are null.
bool CountsDistinctRows(const AggregateSpec& spec);

// Whether the function takes the argument types to the result type; false fills *reason.
bool CheckAggregate(const AggregateSpec& spec, std::string* reason);

}  // namespace penumbra
