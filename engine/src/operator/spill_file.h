// An append-only temporary file that is unlinked as soon as it is open, so that nothing stays
// behind whatever happens. Appending is one thread's; reading may be any thread's, at any time
// after.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "penumbra/engine.h"

namespace penumbra {

// The spill files of one execution: where they are, what they may take, how long each has become.
class SpillSpace {
 public:
  using FileBytes = std::atomic<uint64_t>;

  // `shared` may be null: no limit.
  SpillSpace(std::string prefix, PenumbraTemporarySpace* shared) : prefix_(std::move(prefix)), shared_(shared) {}

  const std::string& prefix() const { return prefix_; }
  FileBytes* AddFile();
  void Take(uint64_t bytes);  // throws TEMPORARY_SPACE_LIMIT
  void GiveBack(uint64_t bytes);
  std::vector<uint64_t> file_bytes() const;

 private:
  const std::string prefix_;
  PenumbraTemporarySpace* const shared_;
  mutable std::mutex mutex_;
  std::deque<FileBytes> files_;
};

class SpillFile {
 public:
  // Throws IO_ERROR or DISK_FULL, with the system's reason.
  explicit SpillFile(SpillSpace& space);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  uint64_t Append(const void* bytes, size_t length);  // returns where
  void Read(uint64_t at, void* bytes, size_t length) const;
  uint64_t bytes() const { return bytes_->load(std::memory_order_relaxed); }

 private:
  SpillSpace& space_;
  int descriptor_ = -1;
  SpillSpace::FileBytes* bytes_ = nullptr;
};

}  // namespace penumbra
