// Files on disk by path and build-id.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "raw_stack.h"

namespace penumbra::symbolize {

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor = -1) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return descriptor_; }
  bool valid() const { return descriptor_ >= 0; }
  int Release();

 private:
  int descriptor_;
};

// Opens regular files only: a path from a stack must not open a device or wait for a pipe's writer.
// Where it is another kind of file, errno is EINVAL.
FileDescriptor OpenRegularFile(const std::string& path);

// Empty where the file is no ELF file or has none.
std::string ReadBuildId(int descriptor);

// The build-id in the notes of an ELF image's segment, which begins at notes.
std::string FindBuildIdNote(const char* notes, size_t bytes);

struct FoundFile {
  FileDescriptor file;
  std::string path;
  // Why there is none, where that is worth saying.
  std::string problem;
};

// Looks under each of the directories (as a root directory, as a folder of files, as
// /usr/lib/debug), at the module's path, and at last for a debug file under /usr/lib/debug.
FoundFile FindModuleFile(const ModuleRange& module, const std::vector<std::string>& directories);

// The kernel's own page of code, which no file holds: of this process, which is the same for all.
bool IsVdso(const std::string& path);

}  // namespace penumbra::symbolize
