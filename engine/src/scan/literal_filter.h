// Which of many strings contain a literal.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/kernels.h"
#include "segment/segment_strings.h"

namespace penumbra {

// Strings of a segment lie back to back, so the literal is searched for in all of them at once, and a place that is
// found is mapped to its row. A prefix or suffix is one comparison of words a row, of eight bytes at most, a literal in
// between about half an instruction a byte.
class LiteralFilter {
 public:
  enum class Place : uint8_t { kNone, kPrefix, kSuffix, kContained };

  LiteralFilter() = default;
  LiteralFilter(Place place, std::string literal);
  LiteralFilter(const LiteralFilter&) = delete;  // the needle points into it

  // What is found contains the literal at its place: all of it was compared.
  bool is_exact() const { return is_exact_; }
  // Worth it for so many of the run's rows: few are better looked at by themselves.
  bool IsWorth(const StringRun& run, const uint64_t* wanted) const {
    return place_ != Place::kNone && kernels::CountBits(wanted, run.rows) * 8 >= run.rows;
  }
  // Sets bit i of `found` for row i.
  void Find(const StringRun& run, uint64_t* found) const;

 private:
  void FindPrefix(const StringRun& run, uint64_t* found) const;
  void FindSuffix(const StringRun& run, uint64_t* found) const;
  void FindContained(const StringRun& run, uint64_t* found) const;

  Place place_ = Place::kNone;
  bool is_exact_ = false;
  std::string literal_;
  kernels::Needle needle_{};   // kContained: of literal_
  uint64_t anchor_ = 0;        // kPrefix, kSuffix: the first bytes of the prefix, the last of the suffix
  uint64_t anchor_mask_ = 0;   // of these bytes
  uint32_t anchor_bytes_ = 0;  // how many they are
};

}  // namespace penumbra
