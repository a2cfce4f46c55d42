// An append-only temporary file that is unlinked as soon as it is open, so that nothing stays
// behind whatever happens. Appending is one thread's; reading may be any thread's, at any time
// after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace penumbra {

class SpillFile {
 public:
  // Throws IO_ERROR or DISK_FULL, with the system's reason.
  explicit SpillFile(const std::string& directory);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  uint64_t Append(const void* bytes, size_t length);  // returns where
  void Read(uint64_t at, void* bytes, size_t length) const;
  uint64_t bytes() const { return bytes_; }

 private:
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace penumbra
