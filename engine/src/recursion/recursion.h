// A recursion: a sink that takes the rows of the non-recursive term, and computes the others while it is read.
//
// The recursive term is a pipeline of steps over the working table: each of its rows becomes rows by itself, whatever
// the others are. So rows go through it in the order in which they came, a batch at a time, and what comes out is
// appended behind them. Rows are given to the reader before they go through the term: who stops reading stops the
// recursion, and an error in the term comes after all rows that were there before it.
#pragma once

#include <memory>

#include "operator/execution_environment.h"
#include "operator/multiplying_step.h"
#include "operator/sink.h"
#include "recursion/recursion_spec.h"

namespace penumbra {

class RecursionSink : public Sink {
 public:
  // Before the sink is read; it is gone after the sink.
  virtual void SetTerm(MultiplyingStep* term) = 0;
};

std::unique_ptr<RecursionSink> CreateRecursion(const RecursionSpec& spec, ExecutionEnvironment& environment);

}  // namespace penumbra
