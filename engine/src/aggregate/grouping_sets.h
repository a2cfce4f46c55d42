// Of GROUPING SETS: which sets' groups are made of the rows, and of which others those of another set are the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penumbra {

class GroupingSets {
 public:
  explicit GroupingSets(const std::vector<uint64_t>& sets);

  // The sets that are part of no other. Those of several equal ones are the first.
  const std::vector<size_t>& finest() const { return finest_; }
  // Whether there are others, and finest ones have keys.
  bool has_coarser() const { return finest_.size() < sources_.size(); }
  bool IsFinest(size_t set) const { return sources_[set] == set; }
  // A finest set that has all keys of this one, with as few others as can be.
  size_t source(size_t set) const { return sources_[set]; }

 private:
  std::vector<size_t> finest_;
  std::vector<size_t> sources_;
};

}  // namespace penumbra
