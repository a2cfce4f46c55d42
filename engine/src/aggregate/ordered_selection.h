// The k-th of collected values, and how often each comes.
#pragma once

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "aggregate/collected_values.h"
#include "operator/execution_environment.h"
#include "row/row_numeric.h"
#include "vector/value_set.h"

namespace penumbra {

// Compares for std algorithms that may take long; polls for cancellation, which leaves the range in any order.
template <typename Values>
class PollingLess {
 public:
  PollingLess(const Values& values, const ExecutionEnvironment& environment)
      : values_(&values), environment_(&environment) {}
  template <typename T>
  bool operator()(const T& a, const T& b) {
    if (++compared_ % kPollCompares == 0) environment_->CheckCancelled();
    return values_->IsLess(a, b);
  }

 private:
  static constexpr uint32_t kPollCompares = 1 << 14;
  const Values* values_;
  const ExecutionEnvironment* environment_;
  uint32_t compared_ = 0;
};

// Few values are copied and partitioned. Of many a sample gives two bounds, a little below and above the place wanted;
// one pass counts what is below, and only what is between is partitioned (Floyd and Rivest's SELECT).
template <typename Values>
class OrderedSelection {
 public:
  using Stored = typename Values::Stored;

  OrderedSelection(const Values& values, const CollectedValues<Stored>& collected, const HashSeed& seed,
                   const ExecutionEnvironment& environment, Arena& arena)
      : values_(values),
        collected_(collected),
        seed_(seed),
        environment_(environment),
        arena_(arena),
        count_(collected.count()) {}

  // For several places. Integers of 4 and 8 bytes are what a vectorised sort takes, which does not poll.
  void SortAll() {
    copy_ = arena_.AllocateArray<Stored>(count_);
    collected_.CopyTo(copy_);
    is_sorted_ = true;
    if constexpr (std::is_integral_v<Stored> && sizeof(Stored) >= 4) {
      if (count_ <= kUnpolledValues) {
        hwy::Sorter sorter;
        sorter(copy_, count_, hwy::SortAscending());
        if (!Values::kHasPointers || !IsElsewhere(copy_[count_ - 1])) return;
      }
    }
    std::sort(copy_, copy_ + count_, PollingLess<Values>(values_, environment_));
  }
  // From 0. Of two places next to each other the smaller first.
  Stored At(uint64_t place) {
    if (is_sorted_) return copy_[place];
    if (copy_ == nullptr && count_ > kCopiedValues) {
      if (!has_bounds_) FindBounds(place);
      Stored found;
      if (FindBetween(place, &found)) return found;
    }
    if (copy_ == nullptr) {
      copy_ = arena_.AllocateArray<Stored>(count_);
      collected_.CopyTo(copy_);
    }
    return Partition(copy_, count_, place, &partitioned_);
  }

 private:
  static constexpr uint64_t kCopiedValues = 8192;
  static constexpr uint64_t kSamples = 4096;
  static constexpr uint64_t kUnpolledValues = uint64_t{1} << 24;  // sorted in less than a second
  // In standard deviations of the sample's place: one in 15,000 groups is not within.
  static constexpr double kMargin = 4;

  // The values before `*done` are the least, and none is behind a greater one's place.
  Stored Partition(Stored* array, uint64_t count, uint64_t place, uint64_t* done) const {
    const auto less = [&](const Stored& a, const Stored& b) { return values_.IsLess(a, b); };
    Stored* from = array + (place >= *done ? *done : 0);
    if (count > kCopiedValues) {
      std::nth_element(from, array + place, array + count, PollingLess<Values>(values_, environment_));
    } else {
      std::nth_element(from, array + place, array + count, less);
    }
    *done = place + 1;
    return array[place];
  }

  // A sample has a value of each of kSamples equal parts, where in it is random.
  void FindBounds(uint64_t place) {
    has_bounds_ = true;
    Stored* sample = arena_.AllocateArray<Stored>(kSamples);
    uint64_t taken = 0, passed = 0;
    const uint64_t part = count_ / kSamples;
    const auto place_of = [&](uint64_t i) { return i * part + HashKey(static_cast<int64_t>(i), seed_) % part; };
    collected_.ForEachBlock([&](const Stored* values, uint32_t count) {
      for (; taken < kSamples && place_of(taken) < passed + count; ++taken) {
        sample[taken] = values[place_of(taken) - passed];
      }
      passed += count;
    });
    PollingLess<Values> less(values_, environment_);
    std::sort(sample, sample + kSamples, less);
    const double share = static_cast<double>(place) / static_cast<double>(count_);
    const double margin = kMargin * std::sqrt(static_cast<double>(kSamples) * share * (1 - share)) + 2;
    const double middle = share * static_cast<double>(kSamples);
    const bool has_low = middle - margin > 0, has_high = middle + margin < kSamples;
    low_ = sample[has_low ? static_cast<uint64_t>(middle - margin) : 0];
    high_ = sample[has_high ? static_cast<uint64_t>(middle + margin) : kSamples - 1];
    if (!has_low || !has_high) FindEnds(has_low, has_high);
    CollectBetween();
  }

  void FindEnds(bool has_low, bool has_high) {
    collected_.ForEachBlock([&](const Stored* values, uint32_t count) {
      environment_.CheckCancelled();
      for (uint32_t i = 0; i < count; ++i) {
        if (!has_low && values_.IsLess(values[i], low_)) low_ = values[i];
        if (!has_high && values_.IsLess(high_, values[i])) high_ = values[i];
      }
    });
  }

  void CollectBetween() {
    const uint64_t room = count_ / 4;
    between_ = arena_.AllocateArray<Stored>(room + 1);
    collected_.ForEachBlock([&](const Stored* values, uint32_t count) {
      environment_.CheckCancelled();
      for (uint32_t i = 0; i < count; ++i) {
        const Stored value = values[i];
        between_[std::min(between_count_, room)] = value;
        if constexpr (Values::kHasPointers) {
          CountByBranches(value);
        } else {
          CountByBits(value);
        }
      }
    });
    if (between_count_ > room) below_ = count_;  // nothing is found
  }

  // Fewer comparisons, or no branch that is mispredicted.
  void CountByBranches(const Stored& value) {
    if (values_.IsLess(value, low_)) {
      ++below_;
    } else if (values_.IsLess(high_, value)) {
      return;
    } else if (!values_.IsLess(low_, value)) {
      ++lows_;
    } else if (values_.IsLess(value, high_)) {
      ++between_count_;
    } else {
      ++highs_;
    }
  }
  void CountByBits(const Stored& value) {
    const bool is_below = values_.IsLess(value, low_), is_above = values_.IsLess(high_, value);
    const bool is_over_low = values_.IsLess(low_, value), is_under_high = values_.IsLess(value, high_);
    below_ += is_below;
    lows_ += !is_below & !is_over_low;
    highs_ += !is_above & !is_under_high & is_over_low;
    between_count_ += is_over_low & is_under_high;
  }

  bool FindBetween(uint64_t place, Stored* found) {
    if (place < below_) return false;
    place -= below_;
    if (place < lows_) {
      *found = low_;
      return true;
    }
    place -= lows_;
    if (place < between_count_) {
      *found = Partition(between_, between_count_, place, &between_partitioned_);
      return true;
    }
    *found = high_;
    return place - between_count_ < highs_;
  }

  const Values& values_;
  const CollectedValues<Stored>& collected_;
  const HashSeed& seed_;
  const ExecutionEnvironment& environment_;
  Arena& arena_;
  const uint64_t count_;
  Stored* copy_ = nullptr;
  bool is_sorted_ = false;
  uint64_t partitioned_ = 0;
  bool has_bounds_ = false;
  Stored low_, high_;
  uint64_t below_ = 0, lows_ = 0, highs_ = 0;
  Stored* between_ = nullptr;
  uint64_t between_count_ = 0;
  uint64_t between_partitioned_ = 0;
};

// How often each value comes: open addressing.
template <typename Values>
class DistinctCounts {
 public:
  using Stored = typename Values::Stored;
  struct Entry {
    Stored value;
    uint64_t count;
  };

  DistinctCounts(const Values& values, const HashSeed& seed, Arena& arena)
      : values_(values), seed_(seed), arena_(arena) {
    Grow();
  }
  // False: there are more than entries_max.
  bool Add(const CollectedValues<Stored>& collected, uint64_t entries_max, const ExecutionEnvironment& environment) {
    bool fits = true;
    collected.ForEachBlock([&](const Stored* values, uint32_t count) {
      environment.CheckCancelled();
      for (uint32_t i = 0; i < count && fits; ++i) {
        Count(values[i]);
        fits = count_ <= entries_max;
      }
    });
    return fits;
  }
  Entry* begin() { return entries_; }
  Entry* end() { return entries_ + count_; }
  uint64_t size() const { return count_; }

 private:
  static constexpr uint64_t kFirstSlots = 64;

  void Count(const Stored& value) {
    const uint64_t hash = values_.Hash(value, seed_);
    for (uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
      const uint32_t number = slots_[at];
      if (number == 0) {
        entries_[count_] = {value, 1};
        slots_[at] = static_cast<uint32_t>(++count_);
        if (2 * count_ > mask_) Grow();
        return;
      }
      if (!values_.IsEqual(entries_[number - 1].value, value)) continue;
      ++entries_[number - 1].count;
      return;
    }
  }
  void Grow() {
    const uint64_t slots = entries_ == nullptr ? kFirstSlots : 4 * (mask_ + 1);
    mask_ = slots - 1;
    Entry* entries = arena_.AllocateArray<Entry>(slots / 2 + 1);
    std::copy_n(entries_, count_, entries);
    entries_ = entries;
    slots_ = arena_.AllocateArray<uint32_t>(slots);
    std::fill_n(slots_, slots, 0);
    for (uint64_t i = 0; i < count_; ++i) {
      uint64_t at = values_.Hash(entries_[i].value, seed_) & mask_;
      while (slots_[at] != 0) at = (at + 1) & mask_;
      slots_[at] = static_cast<uint32_t>(i + 1);
    }
  }

  const Values& values_;
  const HashSeed& seed_;
  Arena& arena_;
  Entry* entries_ = nullptr;
  uint32_t* slots_ = nullptr;  // 1 + the entry, 0: none
  uint64_t mask_ = 0;
  uint64_t count_ = 0;
};

}  // namespace penumbra
