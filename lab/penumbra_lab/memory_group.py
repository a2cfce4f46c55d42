"""Processes that together get little memory, the system's cache of their files included."""

import os
from pathlib import Path

from penumbra_lab.run.environment import CGROUP


class MemoryGroup:
    """A control group with a limit."""

    def __init__(self, path: Path, is_unified: bool) -> None:
        self.path = path
        self.is_unified = is_unified

    @staticmethod
    def create(bytes_: int) -> "MemoryGroup | None":
        """None where this process may not make one."""
        name = f"penumbra-{os.getpid()}"
        for parent, limit in ((CGROUP / "memory", "memory.limit_in_bytes"), (CGROUP, "memory.max")):
            path = parent / name
            try:
                path.mkdir()
                (path / limit).write_text(str(bytes_))
            except OSError:
                if path.exists():
                    path.rmdir()
                continue
            return MemoryGroup(path, parent == CGROUP)
        return None

    def add(self, pid: int) -> None:
        """The process, its children and theirs; what they have touched so far is not counted."""
        (self.path / "cgroup.procs").write_text(str(pid))
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            self.add(int(child))

    def remove(self) -> None:
        """When its processes have ended."""
        if not self.is_unified:
            (self.path / "memory.force_empty").write_text("1")
        self.path.rmdir()


def forget_file_pages(directory: Path) -> None:
    """Writes what is dirty, then has the system drop its copies of the files below."""
    for path in directory.rglob("*"):
        if not path.is_file() or path.is_symlink():
            continue
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)
