#include "execution/thread_tickets.h"

#include <algorithm>
#include <climits>

#include "vector/usage.h"

namespace penumbra {
namespace {

using Clock = std::chrono::steady_clock;

// An execution that has worked longer, over all of its threads, comes after those that have not.
constexpr int64_t kLevelEndNs[PENUMBRA_WORK_LEVELS - 1] = {50'000'000, 1'000'000'000};

}  // namespace

ThreadTickets::Call::Call(ThreadTickets& tickets)
    : tickets_(tickets), begun_(tickets.all_ == nullptr ? Clock::time_point() : Clock::now()) {
  if (tickets_.all_ == nullptr) return;
  tickets_.waited_ = {};
  tickets_.is_caller_in_.store(true, std::memory_order_relaxed);
  tickets_.is_in_call_ = true;
  AddUsage(&tickets_.all_->callers, &tickets_.own_->callers, 1U);
}

// Nobody starts or wakes a thread while the caller is not here.
ThreadTickets::Call::~Call() {
  if (tickets_.all_ == nullptr) return;
  tickets_.SetWaiting(false);
  AddUsage(&tickets_.all_->callers, &tickets_.own_->callers, ~0U);
  tickets_.is_in_call_ = false;
  tickets_.is_caller_in_.store(false, std::memory_order_relaxed);
  tickets_.AddWork(Clock::now() - begun_ - tickets_.waited_);
}

int ThreadTickets::level() const {
  const int64_t work = work_ns_.load(std::memory_order_relaxed);
  int level = 0;
  while (level < PENUMBRA_WORK_LEVELS - 1 && work >= kLevelEndNs[level]) ++level;
  return level;
}

uint32_t ThreadTickets::running() const {
  return threads_.load(std::memory_order_relaxed) + (is_caller_in_.load(std::memory_order_relaxed) ? 1 : 0);
}

bool ThreadTickets::HasWaiting(int level) const {
  const uint32_t own = waiting_level_.load(std::memory_order_relaxed) == level ? 1 : 0;
  return LoadUsage(all_->waiting[level]) > own;
}

bool ThreadTickets::IsAllTaken() const { return LoadUsage(all_->callers) + LoadUsage(all_->tickets) >= max_threads_; }

bool ThreadTickets::IsBelowShare(uint64_t threads) const { return threads * LoadUsage(all_->callers) < max_threads_; }

bool ThreadTickets::MayTake() const {
  if (all_ == nullptr) return true;
  if (running() == 0) return true;  // in the place of a caller that waits
  if (running() >= own_max_ || IsAllTaken()) return false;
  const int level = this->level();
  for (int i = 0; i < level; ++i) {
    if (HasWaiting(i)) return false;
  }
  return !HasWaiting(level) || IsBelowShare(running());
}

bool ThreadTickets::IsNeededElsewhere() const {
  if (all_ == nullptr) return false;
  if (running() > own_max_) return true;
  if (!IsAllTaken()) return false;
  const int level = this->level();
  for (int i = 0; i < level; ++i) {
    if (HasWaiting(i)) return true;
  }
  if (HasWaiting(level) && !IsBelowShare(running() - 1)) return true;
  return LoadUsage(all_->callers) + LoadUsage(all_->tickets) > max_threads_ && !IsBelowShare(running());
}

// One thread needs no ticket while the caller waits for it.
void ThreadTickets::Balance() {
  const uint32_t threads = threads_.load(std::memory_order_relaxed);
  const uint32_t needed = threads - (caller_waits_ && threads > 0 ? 1 : 0);
  if (needed == held_) return;
  AddUsage(&all_->tickets, &own_->tickets, needed - held_);
  held_ = needed;
}

bool ThreadTickets::TryTake() {
  if (all_ == nullptr) return true;
  if (caller_waits_ && threads_.load(std::memory_order_relaxed) == 0) {
    threads_.store(1, std::memory_order_relaxed);
    return true;
  }
  if (!MayTake()) return false;
  std::atomic_ref tickets(all_->tickets);
  uint32_t taken = tickets.load(std::memory_order_relaxed);
  do {
    if (LoadUsage(all_->callers) + taken >= max_threads_) return false;
  } while (!tickets.compare_exchange_weak(taken, taken + 1, std::memory_order_relaxed));
  std::atomic_ref(own_->tickets).fetch_add(1, std::memory_order_relaxed);
  ++held_;
  threads_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void ThreadTickets::Give() {
  if (all_ == nullptr) return;
  threads_.fetch_sub(1, std::memory_order_relaxed);
  Balance();
}

bool ThreadTickets::TryGive() {
  if (running() <= 1 || held_ == 0 || !IsNeededElsewhere()) return false;
  const bool are_too_many = running() > own_max_;
  std::atomic_ref tickets(all_->tickets);
  uint32_t taken = tickets.load(std::memory_order_relaxed);
  do {
    if (!are_too_many && LoadUsage(all_->callers) + taken < max_threads_) return false;  // somebody else gave one
  } while (!tickets.compare_exchange_weak(taken, taken - 1, std::memory_order_relaxed));
  std::atomic_ref(own_->tickets).fetch_sub(1, std::memory_order_relaxed);
  --held_;
  threads_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void ThreadTickets::BeginWait() {
  if (!is_in_call_) return;
  wait_begun_ = Clock::now();
  caller_waits_ = true;
  is_caller_in_.store(false, std::memory_order_relaxed);
  Balance();
}

void ThreadTickets::EndWait() {
  if (!is_in_call_) return;
  waited_ += Clock::now() - wait_begun_;
  caller_waits_ = false;
  is_caller_in_.store(true, std::memory_order_relaxed);
  Balance();
}

void ThreadTickets::SetWaiting(bool is_waiting) {
  if (all_ == nullptr) return;
  const int before = waiting_level_.load(std::memory_order_relaxed);
  const int now = is_waiting ? level() : -1;
  if (now == before) return;
  if (before >= 0) AddUsage(&all_->waiting[before], &own_->waiting[before], ~0U);
  waiting_level_.store(now, std::memory_order_relaxed);
  if (now >= 0) AddUsage(&all_->waiting[now], &own_->waiting[now], 1U);
}

int ThreadTickets::free_tickets() const {
  if (all_ == nullptr) return INT_MAX;
  if (!MayTake()) return 0;
  const int64_t left = std::min<int64_t>(int64_t{max_threads_} - LoadUsage(all_->callers) - LoadUsage(all_->tickets),
                                         int64_t{own_max_} - running());
  return static_cast<int>(std::clamp<int64_t>(left, running() == 0 ? 1 : 0, INT_MAX));
}

}  // namespace penumbra
