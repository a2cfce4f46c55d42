#include "elf_file.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <libelf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace penumbra::symbolize {
namespace {

// The kernel's mark in /proc/PID/maps.
constexpr std::string_view kDeleted = " (deleted)";

constexpr char kHexDigits[] = "0123456789abcdef";

std::string ToHex(const unsigned char* bytes, size_t length) {
  std::string digits;
  for (size_t i = 0; i < length; ++i) {
    digits.push_back(kHexDigits[bytes[i] >> 4]);
    digits.push_back(kHexDigits[bytes[i] & 15]);
  }
  return digits;
}

FileDescriptor CopyVdso() {
  const char* image = reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR));
  if (image == nullptr) return FileDescriptor();
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image);
  // The section headers are the last thing in it.
  const size_t bytes = header->e_shoff + size_t{header->e_shnum} * header->e_shentsize;
  FileDescriptor copy(memfd_create("vdso", MFD_CLOEXEC));
  if (!copy.valid() || !WriteAll(copy.get(), std::string_view(image, bytes))) {
    return FileDescriptor();
  }
  return copy;
}

std::vector<std::string> Candidates(const std::string& path, const std::string& id,
                                    const std::vector<std::string>& directories) {
  std::vector<std::string> paths;
  const std::string by_id = id.size() > 2 ? "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) : "";
  for (const std::string& directory : directories) {
    paths.push_back(directory + "/" + path);
    paths.push_back(directory + "/" + path.substr(path.rfind('/') + 1));
    if (by_id.empty()) continue;
    for (const char* root : {"", "/usr/lib/debug"}) {
      paths.push_back(directory + root + by_id);
      paths.push_back(directory + root + by_id + ".debug");
    }
  }
  paths.push_back(path);
  if (!by_id.empty()) paths.push_back("/usr/lib/debug" + by_id + ".debug");
  return paths;
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) close(descriptor_);
}

int FileDescriptor::Release() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  return descriptor;
}

FileDescriptor OpenRegularFile(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status;
  if (file.valid() && (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) {
    file = FileDescriptor();
    errno = EINVAL;
  }
  return file;
}

std::string ReadBuildId(int descriptor) {
  elf_version(EV_CURRENT);
  std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(descriptor, ELF_C_READ_MMAP, nullptr), elf_end);
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return "";
  const void* bytes = nullptr;
  const ssize_t length = dwelf_elf_gnu_build_id(elf.get(), &bytes);
  if (length <= 0) return "";
  return ToHex(static_cast<const unsigned char*>(bytes), static_cast<size_t>(length));
}

std::string FindBuildIdNote(const char* notes, size_t bytes) {
  const auto align = [](uint64_t length) { return (length + 3) & ~uint64_t{3}; };
  uint64_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= bytes) {
    Elf64_Nhdr note;
    memcpy(&note, notes + at, sizeof(note));
    const uint64_t name = at + sizeof(note);
    const uint64_t value = name + align(note.n_namesz);
    const uint64_t next = value + align(note.n_descsz);
    if (next > bytes) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
      return ToHex(reinterpret_cast<const unsigned char*>(notes + value), note.n_descsz);
    }
    at = next;
  }
  return "";
}

bool IsVdso(const std::string& path) {
  return path == "[vdso]" || path == "linux-vdso.so.1" || path == "linux-gate.so.1";
}

FoundFile FindModuleFile(const ModuleRange& module, const std::vector<std::string>& directories) {
  FoundFile found;
  std::string original = module.path;
  const bool deleted = original.ends_with(kDeleted);
  if (deleted) original.resize(original.size() - kDeleted.size());
  const auto take = [&](FileDescriptor file, const std::string& path) {
    if (!file.valid()) return false;
    const std::string build_id = ReadBuildId(file.get());
    if (build_id == module.build_id || (module.build_id.empty() && !deleted)) {
      found.file = std::move(file);
      found.path = path;
      found.problem.clear();
      return true;
    }
    if (path == original) {
      found.problem = "the file is another now: build-id " + (build_id.empty() ? "-" : build_id);
    }
    return false;
  };
  if (IsVdso(original)) {
    take(CopyVdso(), original);
    return found;
  }
  if (original.empty()) return found;
  for (const std::string& path : Candidates(original, module.build_id, directories)) {
    if (take(OpenRegularFile(path), path)) break;
  }
  return found;
}

}  // namespace penumbra::symbolize
