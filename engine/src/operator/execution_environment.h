// What all operators of one execution share: memory, disk, cancellation.
#pragma once

#include <cstddef>

#include "expression/expr.h"
#include "operator/spill_file.h"
#include "penumbra/engine.h"
#include "vector/arena.h"
#include "vector/cancellation.h"

namespace penumbra {

struct ExecutionEnvironment : Cancellation {
  MemoryBudget budget;
  SpillSpace spill_space;
  int thread_count = 1;  // that call Consume, the caller's included
  const Session& session;
  bool is_timed = false;
  HostCalls* host = nullptr;

  ExecutionEnvironment(size_t budget_bytes, const Session& s, const char* temporary_prefix = nullptr,
                       PenumbraTemporarySpace* temporary_space = nullptr, const SharedMemory& shared_memory = {})
      : budget(budget_bytes, shared_memory),
        spill_space(temporary_prefix != nullptr ? temporary_prefix : "/tmp/penumbra_spill", temporary_space),
        session(s) {}

  EvalContext MakeContext(Arena& arena, EvalMemo* memo = nullptr) const { return {arena, session, memo, this, host}; }
};

}  // namespace penumbra
