#include "operator/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "vector/error.h"

namespace penumbra {
namespace {

[[noreturn]] void ThrowSystemError(const char* action, int error) {
  const PenumbraCode code =
      error == ENOSPC || error == EDQUOT ? PENUMBRA_DISK_FULL : PENUMBRA_IO_ERROR;
  throw EngineError(
      code, std::string("could not ") + action + " temporary file: " + std::strerror(error));
}

}  // namespace

SpillFile::SpillFile(const std::string& directory) {
  std::string name =
      (directory.empty() ? std::string("/tmp") : directory) + "/penumbra_spill.XXXXXX";
  std::vector<char> path(name.begin(), name.end());
  path.push_back('\0');
  descriptor_ = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor_ < 0) ThrowSystemError("create", errno);
  if (unlink(path.data()) != 0) {
    int error = errno;
    close(descriptor_);
    ThrowSystemError("unlink", error);
  }
}

SpillFile::~SpillFile() { close(descriptor_); }

uint64_t SpillFile::Append(const void* bytes, size_t length) {
  const uint64_t begin = bytes_;
  const char* from = static_cast<const char*>(bytes);
  while (length > 0) {
    ssize_t written = pwrite(descriptor_, from, length, static_cast<off_t>(bytes_));
    if (written < 0) {
      if (errno == EINTR) continue;
      ThrowSystemError("write", errno);
    }
    from += written;
    length -= static_cast<size_t>(written);
    bytes_ += static_cast<uint64_t>(written);
  }
  return begin;
}

void SpillFile::Read(uint64_t at, void* bytes, size_t length) const {
  char* into = static_cast<char*>(bytes);
  while (length > 0) {
    ssize_t count = pread(descriptor_, into, length, static_cast<off_t>(at));
    if (count < 0) {
      if (errno == EINTR) continue;
      ThrowSystemError("read", errno);
    }
    if (count == 0) ThrowSystemError("read", EIO);
    into += count;
    at += static_cast<uint64_t>(count);
    length -= static_cast<size_t>(count);
  }
}

}  // namespace penumbra
