"""What a disk may have after the power went: the journal of journal_writes.c, and part of what was not synced.

A change counts as done on disk when the file, or for names the directory, was synced after it. Of the others each block
and each name is lost or not, independently: disks keep no order. Two things file systems promise beyond POSIX, and
PostgreSQL needs of them, are promised here, too: a rename is whole, and who syncs a file syncs its name; the latter not
below the directories of `strict`.
"""

import dataclasses
import enum
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

BLOCK_BYTES = 4096
RECORD = struct.Struct("=QIIQQQ")
END = struct.pack("=Q", 0x4C414E52554F4A50)


class Kind(enum.IntEnum):
    """As in journal_writes.c."""

    WRITE = 0
    TRUNCATE = 1
    ALLOCATE = 2
    SYNC = 3
    SYNC_DIRECTORY = 4
    CREATE = 5
    RENAME = 6
    UNLINK = 7
    MAKE_DIRECTORY = 8
    REMOVE_DIRECTORY = 9


@dataclasses.dataclass(frozen=True)
class Change:
    kind: Kind
    inode: int
    offset: int
    name: str
    other: str
    data: memoryview


def read_journal(path: Path) -> list[Change]:
    """The whole records; those that a killed process has left cut are passed over."""
    changes = []
    journal = path.read_bytes()
    data = memoryview(journal)  # whose parts are no copies: a journal has some hundred MB
    at = 0
    while (at := journal.find(END, at)) >= 0 and at + RECORD.size <= len(journal):
        _, kind, name_bytes, inode, offset, data_bytes = RECORD.unpack_from(journal, at)
        begin = at + RECORD.size + name_bytes
        end = begin + data_bytes
        if kind >= len(Kind) or journal[end : end + len(END)] != END:
            at += 1
            continue
        name, other, _ = journal[at + RECORD.size : begin].decode().split("\0")
        changes.append(
            Change(Kind(kind), inode, offset, plain(name), plain(other), data[begin:end])
        )
        at = end + len(END)
    return changes


def plain(name: str) -> str:
    return os.path.normpath(name) if name else ""


def parent(name: str) -> str:
    above = str(PurePosixPath(name).parent)
    return "" if above == "." else above


class File:
    """A file's contents: those that are safe, and what was done since the last sync."""

    def __init__(self, origin: Path | None):
        self.origin = origin
        self.content: bytearray | None = None if origin else bytearray()
        self.pending: list[Change] = []

    def _apply(self, change: Change, offset: int, data: bytes) -> None:
        if self.content is None:
            self.content = bytearray(self.origin.read_bytes())
        if change.kind == Kind.TRUNCATE:
            del self.content[change.offset :]
        end = change.offset if change.kind != Kind.WRITE else offset + len(data)
        if len(self.content) < end:
            self.content.extend(bytes(end - len(self.content)))
        if change.kind == Kind.WRITE:
            self.content[offset:end] = data

    def settle(self, share_lost: float = 0, pick: random.Random | None = None) -> int:
        """Makes safe what is pending, but for what is lost; how many bytes are."""
        lost_bytes = 0
        for change in self.pending:
            if share_lost == 0:
                self._apply(change, change.offset, change.data)
            elif change.kind != Kind.WRITE:
                if pick.random() >= share_lost:
                    self._apply(change, 0, b"")
            else:
                lost_bytes += self._apply_part(change, share_lost, pick)
        self.pending = []
        return lost_bytes

    def _apply_part(self, change: Change, share_lost: float, pick: random.Random) -> int:
        lost_bytes = 0
        begin = 0
        while begin < len(change.data):
            end = begin + BLOCK_BYTES - (change.offset + begin) % BLOCK_BYTES
            data = change.data[begin:end]
            if pick.random() < share_lost:
                lost_bytes += len(data)
            else:
                self._apply(change, change.offset + begin, data)
            begin = end
        return lost_bytes


@dataclasses.dataclass
class NameChange:
    kind: Kind
    file: File
    name: str
    other: str
    is_safe: bool = False


class Disk:
    """The files below a directory, from a copy of it that nobody changes."""

    def __init__(self, base: Path, inodes: dict[str, int], strict: Sequence[str] = ()):
        self.base = base
        self.strict = tuple(f"{name}/" for name in strict)
        self.names = {name: File(base / name) for name in inodes}
        self.files = {inode: self.names[name] for name, inode in inodes.items()}
        self.current = dict(inodes)  # the inode of each name, as processes see it
        self.name_changes: list[NameChange] = []
        self.directories: list[Change] = []
        self.lost_bytes = 0
        self.lost_names = 0

    def replay(
        self, changes: Sequence[Change], ignores_sync: Callable[[str], bool] = lambda name: False
    ) -> None:
        for change in changes:
            if change.kind in (Kind.SYNC, Kind.SYNC_DIRECTORY) and ignores_sync(change.name):
                continue
            if change.kind <= Kind.SYNC:
                self._change_contents(change)
            elif change.kind == Kind.SYNC_DIRECTORY:
                for done in self.name_changes:
                    done.is_safe |= change.name in (
                        parent(done.name),
                        parent(done.other or done.name),
                    )
            elif change.kind in (Kind.MAKE_DIRECTORY, Kind.REMOVE_DIRECTORY):
                self.directories.append(change)
            else:
                self._change_names(change)

    def _change_contents(self, change: Change) -> None:
        file = self.files.get(change.inode)
        if file is None:
            return  # stdio made it
        if change.kind != Kind.SYNC:
            file.pending.append(change)
            return
        file.settle()
        if not change.name.startswith(self.strict):
            for done in self.name_changes:
                done.is_safe |= done.file is file and done.kind != Kind.UNLINK

    def _change_names(self, change: Change) -> None:
        if change.kind == Kind.CREATE and change.inode not in self.current.values():
            self.files[change.inode] = File(None)
        file = self.files.get(change.inode)
        replaced = self.current.pop(change.other or change.name, None)
        if change.kind == Kind.UNLINK:
            if change.offset == 1:
                self.files.pop(change.inode, None)
        else:
            if replaced not in (None, change.inode):
                self.files.pop(replaced, None)  # its number may be used again
            self.current.pop(change.name, None)
            self.current[change.other or change.name] = change.inode
        if file is not None:
            self.name_changes.append(NameChange(change.kind, file, change.name, change.other))

    def lose(self, share_lost: Callable[[str], float], pick: random.Random) -> None:
        """Ends the changes: of what is not safe these shares, by name, are gone."""
        for change in self.name_changes:
            target = change.other or change.name
            if not change.is_safe and pick.random() < share_lost(target):
                self.lost_names += 1
                continue
            if self.names.get(change.name) is change.file:
                del self.names[change.name]
            if change.kind != Kind.UNLINK:
                self.names[target] = change.file
        settled = set()
        for name, file in self.names.items():
            if id(file) not in settled:
                settled.add(id(file))
                self.lost_bytes += file.settle(share_lost(name), pick)

    def write_to(self, directory: Path) -> None:
        owner = directory.stat()
        shutil.rmtree(directory)
        copy_tree(self.base, directory)
        for change in self.directories:
            path = directory / change.name
            if change.kind == Kind.MAKE_DIRECTORY and path.parent.is_dir():
                path.mkdir(mode=0o700, exist_ok=True)
                os.chown(path, owner.st_uid, owner.st_gid)
        for path in files_below(directory):
            if path not in self.names:
                (directory / path).unlink()
        for name, file in self.names.items():
            path = directory / name
            if file.content is None and file.origin == self.base / name or not path.parent.is_dir():
                continue
            path.write_bytes(file.origin.read_bytes() if file.content is None else file.content)
            path.chmod(0o600)
            os.chown(path, owner.st_uid, owner.st_gid)
        for change in self.directories:
            if change.kind == Kind.REMOVE_DIRECTORY:
                shutil.rmtree(directory / change.name, ignore_errors=True)


def copy_tree(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", source, target], check=True)


def files_below(directory: Path) -> dict[str, int]:
    """The inode of each file, by its name below the directory."""
    return {
        str(path.relative_to(directory)): path.lstat().st_ino
        for path in directory.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
