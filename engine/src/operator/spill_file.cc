#include "operator/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "vector/error.h"

namespace penumbra {
namespace {

[[noreturn]] void ThrowSystemError(const char* action, int error) {
  const PenumbraCode code = error == ENOSPC || error == EDQUOT ? PENUMBRA_DISK_FULL : PENUMBRA_IO_ERROR;
  throw EngineError(code, std::string("could not ") + action + " temporary file: " + std::strerror(error));
}

}  // namespace

SpillSpace::FileBytes* SpillSpace::AddFile() {
  std::lock_guard lock(mutex_);
  return &files_.emplace_back(0);
}

void SpillSpace::Take(uint64_t bytes) {
  if (shared_ == nullptr) return;
  std::atomic_ref<uint64_t> used(shared_->used_bytes);
  if (used.fetch_add(bytes, std::memory_order_relaxed) + bytes <= shared_->limit_bytes) return;
  GiveBack(bytes);
  throw EngineError(PENUMBRA_TEMPORARY_SPACE_LIMIT);
}

void SpillSpace::GiveBack(uint64_t bytes) {
  if (shared_ == nullptr) return;
  std::atomic_ref<uint64_t>(shared_->used_bytes).fetch_sub(bytes, std::memory_order_relaxed);
}

std::vector<uint64_t> SpillSpace::file_bytes() const {
  std::lock_guard lock(mutex_);
  return {files_.begin(), files_.end()};
}

SpillFile::SpillFile(SpillSpace& space) : space_(space) {
  std::string path = space.prefix() + ".XXXXXX";
  descriptor_ = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor_ < 0) ThrowSystemError("create", errno);
  if (unlink(path.c_str()) != 0) {
    int error = errno;
    close(descriptor_);
    ThrowSystemError("unlink", error);
  }
  bytes_ = space.AddFile();
}

SpillFile::~SpillFile() {
  close(descriptor_);
  space_.GiveBack(bytes());
}

uint64_t SpillFile::Append(const void* bytes, size_t length) {
  const uint64_t begin = this->bytes();
  space_.Take(length);
  uint64_t end = begin;
  const char* from = static_cast<const char*>(bytes);
  while (end < begin + length) {
    ssize_t written = pwrite(descriptor_, from, begin + length - end, static_cast<off_t>(end));
    if (written < 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      space_.GiveBack(length);
      ThrowSystemError("write", error);
    }
    from += written;
    end += static_cast<uint64_t>(written);
  }
  bytes_->store(end, std::memory_order_relaxed);
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
