#include "process_stack.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "elf_file.h"

namespace penumbra::symbolize {
namespace {

constexpr int64_t kStopNs = int64_t{1000} * 1000000;
constexpr uint64_t kMaxStackBytes = uint64_t{16} << 20;
constexpr size_t kMaxFrames = 1024;

constexpr char kPermissionHint[] =
    "Run it as the server's operating system user or as root, and see "
    "/proc/sys/kernel/yama/ptrace_scope; a process under a debugger cannot be looked at.";

#if defined(__x86_64__)
using Registers = user_regs_struct;
uint64_t StackPointer(const Registers& registers) { return registers.rsp; }
#elif defined(__aarch64__)
using Registers = user_regs_struct;
uint64_t StackPointer(const Registers& registers) { return registers.sp; }
#else
#error "registers of this architecture are not known"
#endif

// What is copied of the process, and the unwinder's access to it.
struct Target {
  pid_t pid;
  Registers registers;
  uint64_t stack_start = 0;
  std::vector<char> stack;
  std::vector<RawFrame> frames;
};

struct Mapping {
  ModuleRange range;
  bool executable = false;
};

std::vector<Mapping> ReadMappings(pid_t pid) {
  std::vector<Mapping> mappings;
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    char permissions[5];
    int path = 0;
    if (sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping.range.start,
               &mapping.range.end, permissions, &mapping.range.offset, &path) < 4) {
      continue;
    }
    mapping.range.path = line.substr(std::min<size_t>(path, line.size()));
    mapping.executable = permissions[2] == 'x';
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

size_t ReadMemory(pid_t pid, uint64_t address, void* bytes, size_t length) {
  const iovec local = {bytes, length};
  const iovec remote = {reinterpret_cast<void*>(address), length};
  const ssize_t read = process_vm_readv(pid, &local, 1, &remote, 1, 0);
  return read < 0 ? 0 : static_cast<size_t>(read);
}

// Of what the process runs, which may not be what its path leads to by now.
std::string ReadBuildIdFromMemory(pid_t pid, uint64_t image) {
  Elf64_Ehdr header;
  if (ReadMemory(pid, image, &header, sizeof(header)) != sizeof(header) ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return "";
  }
  std::vector<Elf64_Phdr> segments(std::min<size_t>(header.e_phnum, 64));
  const size_t bytes = segments.size() * sizeof(Elf64_Phdr);
  if (ReadMemory(pid, image + header.e_phoff, segments.data(), bytes) != bytes) return "";
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_NOTE) continue;
    char notes[1024];
    const size_t length = ReadMemory(pid, image + segment.p_offset, notes, std::min(sizeof(notes), segment.p_filesz));
    const std::string build_id = FindBuildIdNote(notes, length);
    if (!build_id.empty()) return build_id;
  }
  return "";
}

// The modules that hold a frame.
std::vector<ModuleRange> UsedModules(pid_t pid, const std::vector<Mapping>& mappings,
                                     const std::vector<RawFrame>& frames) {
  std::vector<ModuleRange> used;
  for (const Mapping& mapping : mappings) {
    const ModuleRange& range = mapping.range;
    if (!mapping.executable || range.path.empty() ||
        std::none_of(frames.begin(), frames.end(),
                     [&](const RawFrame& frame) { return frame.pc >= range.start && frame.pc < range.end; })) {
      continue;
    }
    used.push_back(range);
    for (const Mapping& image : mappings) {
      if (image.range.path == range.path && image.range.offset == 0) {
        used.back().build_id = ReadBuildIdFromMemory(pid, image.range.start);
        break;
      }
    }
  }
  return used;
}

// The stack from the stack pointer on to the end of its mapping.
bool CopyStack(const std::vector<Mapping>& mappings, Target* target) {
  const uint64_t pointer = StackPointer(target->registers);
  for (const Mapping& mapping : mappings) {
    // The stack may have grown down since the mappings were read.
    if (mapping.range.end <= pointer) continue;
    if (mapping.range.start > pointer && mapping.range.path != "[stack]") return false;
    target->stack_start = pointer;
    target->stack.resize(std::min(mapping.range.end - pointer, kMaxStackBytes));
    target->stack.resize(ReadMemory(target->pid, pointer, target->stack.data(), target->stack.size()));
    return !target->stack.empty();
  }
  return false;
}

bool ReadWord(Dwfl* session, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
  (void)session;
  const Target* target = static_cast<Target*>(argument);
  const uint64_t at = address - target->stack_start;
  if (address >= target->stack_start && at + sizeof(*word) <= target->stack.size()) {
    memcpy(word, target->stack.data() + at, sizeof(*word));
    return true;
  }
  // Not its stack, or the ordinary one under a signal's: what it is by now.
  return ReadMemory(target->pid, address, word, sizeof(*word)) == sizeof(*word);
}

bool SetRegisters(Dwfl_Thread* thread, void* argument) {
  const Registers& r = static_cast<Target*>(argument)->registers;
#if defined(__x86_64__)
  // by the numbers that DWARF gives them
  const Dwarf_Word words[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                              r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  return dwfl_thread_state_registers(thread, 0, std::size(words), words);
#else
  Dwarf_Word words[32];
  std::copy(r.regs, r.regs + 31, words);
  words[31] = r.sp;
  dwfl_thread_state_register_pc(thread, r.pc);
  return dwfl_thread_state_registers(thread, 0, 32, words);
#endif
}

pid_t NextThread(Dwfl* session, void* argument, void** thread_argument) {
  (void)session;
  if (*thread_argument != nullptr) return 0;
  *thread_argument = argument;
  return static_cast<Target*>(argument)->pid;
}

bool GetThread(Dwfl* session, pid_t thread, void* argument, void** thread_argument) {
  (void)session;
  *thread_argument = argument;
  return thread == static_cast<Target*>(argument)->pid;
}

int AddFrame(Dwfl_Frame* state, void* argument) {
  Target* target = static_cast<Target*>(argument);
  RawFrame frame;
  if (!dwfl_frame_pc(state, &frame.pc, &frame.exact) || frame.pc == 0) return DWARF_CB_ABORT;
  target->frames.push_back(frame);
  return target->frames.size() < kMaxFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// Stops the process while copy() runs; false with the reason in result.
template <typename Copy>
bool WhileStopped(pid_t pid, ProcessStack* result, const Copy& copy) {
  if (ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) != 0) {
    result->error = std::string("could not attach to the process: ") + strerror(errno);
    if (errno == EPERM) {
      result->hint =
          "Run it as the server's operating system user or as root, and see "
          "/proc/sys/kernel/yama/ptrace_scope; a process under a debugger cannot be looked at.";
    }
    return false;
  }
  const int64_t begin_ns = MonotonicNs();
  int status = 0;
  pid_t stopped = 0;
  if (ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) == 0) {
    while ((stopped = waitpid(pid, &status, __WALL | WNOHANG)) == 0 && MonotonicNs() - begin_ns < kStopNs) {
      usleep(50);
    }
  }
  if (stopped != pid || !WIFSTOPPED(status)) {
    // It is let go when this process ends.
    result->error =
        stopped == 0 ? "the process did not stop within a second" : "the process ended before its stack was read";
    if (stopped == 0) result->hint = "It waits uninterruptibly in the kernel, mostly for storage.";
    return false;
  }
  const bool copied = copy();
  // A signal that was on its way arrives now.
  const int signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
  ptrace(PTRACE_DETACH, pid, nullptr, reinterpret_cast<void*>(static_cast<intptr_t>(signal)));
  result->stopped_ns = MonotonicNs() - begin_ns;
  if (!copied) result->error = "could not read the stack of the process";
  return copied;
}

}  // namespace

ProcessStack CaptureProcess(pid_t pid) {
  ProcessStack result;
  const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, nullptr};
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> session(dwfl_begin(&callbacks), dwfl_end);
  const int reported = session == nullptr ? ENOMEM : dwfl_linux_proc_report(session.get(), pid);
  if (reported != 0 || dwfl_report_end(session.get(), nullptr, nullptr) != 0) {
    result.error = reported == ENOENT ? "there is no such process"
                                      : std::string("could not read its mappings: ") +
                                            (reported > 0 ? strerror(reported) : dwfl_errmsg(-1));
    if (reported == EACCES) result.hint = kPermissionHint;
    return result;
  }
  const std::vector<Mapping> mappings = ReadMappings(pid);
  Target target = {pid, {}, 0, {}, {}};
  if (!WhileStopped(pid, &result, [&] {
        iovec registers = {&target.registers, sizeof(target.registers)};
        return ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &registers) == 0 && CopyStack(mappings, &target);
      })) {
    return result;
  }
  const Dwfl_Thread_Callbacks threads = {NextThread, GetThread, ReadWord, SetRegisters, nullptr, nullptr};
  if (!dwfl_attach_state(session.get(), nullptr, pid, &threads, &target)) {
    result.error = std::string("could not unwind the stack: ") + dwfl_errmsg(-1);
    return result;
  }
  dwfl_getthread_frames(session.get(), pid, AddFrame, &target);
  result.stack.frames = std::move(target.frames);
  result.stack.modules = UsedModules(pid, mappings, result.stack.frames);
  if (result.stack.frames.empty()) result.error = "the stack could not be unwound";
  return result;
}

}  // namespace penumbra::symbolize
