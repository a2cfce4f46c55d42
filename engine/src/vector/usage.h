// Numbers that executions of several processes share: see PenumbraUsage.
#pragma once

#include <atomic>

#include "penumbra/engine.h"

namespace penumbra {

template <typename T>
T LoadUsage(const T& number) {
  return std::atomic_ref(const_cast<T&>(number)).load(std::memory_order_relaxed);
}

// Adds to the sum and to the process's part of it; what is negative wraps round.
template <typename T>
void AddUsage(T* all, T* own, T n) {
  std::atomic_ref(*own).fetch_add(n, std::memory_order_relaxed);
  std::atomic_ref(*all).fetch_add(n, std::memory_order_relaxed);
}

}  // namespace penumbra
