#include "aggregate/grouping_sets.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace penumbra {

GroupingSets::GroupingSets(const std::vector<uint64_t>& sets) : sources_(sets.size()) {
  std::iota(sources_.begin(), sources_.end(), size_t{0});
  const auto is_part = [&](size_t set, size_t other) {
    return (sets[set] & ~sets[other]) == 0 && (sets[set] != sets[other] || other < set);
  };
  // A set without keys has a group even without rows, which is not one that rows make.
  const bool has_keys = std::any_of(sets.begin(), sets.end(), [](uint64_t set) { return set != 0; });
  for (size_t set = 0; set < sets.size(); ++set) {
    const auto is_part_of = [&](size_t other) { return is_part(set, other); };
    if (!has_keys || std::none_of(sources_.begin(), sources_.end(), is_part_of)) finest_.push_back(set);
  }
  for (size_t set = 0; set < sets.size(); ++set) {
    if (std::find(finest_.begin(), finest_.end(), set) != finest_.end()) continue;
    int fewest = 65;
    for (size_t other : finest_) {
      if (!is_part(set, other) || std::popcount(sets[other]) >= fewest) continue;
      fewest = std::popcount(sets[other]);
      sources_[set] = other;
    }
  }
}

}  // namespace penumbra
