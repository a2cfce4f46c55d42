"""What a run has found, kept so that it can be interrupted anywhere and goes on where it was.

A line of JSON for each evaluation, written before anybody acts on it. A run that begins again asks
the same questions in the same order (searchers depend on their seed and on the answers alone), and
the journal answers until it is used up.
"""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.tune.space import Recipe


class OutOfBudget(Exception):
    """No time left for another build; what was found so far stands."""


@dataclass(frozen=True)
class Entry:
    key: str
    recipe: dict
    phase: str
    counts: dict[str, float] | None  # None: infeasible
    reason: str
    seconds: float


class Journal:
    """Use as a context manager: one run at a time."""

    def __init__(self, path: Path):
        self.path = path
        self.entries: dict[str, Entry] = {}

    def __enter__(self) -> "Journal":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.path.open("a+")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.file.close()
            raise LabError(f"another run writes {self.path}") from None
        self._read()
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def _read(self) -> None:
        """A line that was cut short when the machine or the program died goes."""
        self.file.seek(0)
        whole = 0
        for line in self.file.read().splitlines(keepends=True):
            try:
                entry = Entry(**json.loads(line))
            except (ValueError, TypeError):
                break
            if not line.endswith("\n"):
                break
            whole += len(line.encode())
            self.entries[entry.key] = entry
        self.file.truncate(whole)

    def add(self, key: str, recipe: Recipe, phase: str, counts: dict[str, float] | None,
            reason: str, seconds: float) -> Entry:  # fmt: skip
        entry = Entry(key, asdict(recipe), phase, counts, reason, seconds)
        self.file.write(json.dumps(asdict(entry)) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.entries[key] = entry
        return entry

    @property
    def seconds(self) -> float:
        """Spent in all runs together."""
        return sum(entry.seconds for entry in self.entries.values())


@dataclass(frozen=True)
class Budget:
    """Of all runs that share a journal."""

    seconds: float
    disk_bytes: int

    # Gate and wall clock need the rest.
    SEARCH_SHARE = 0.7

    def check_time(self, journal: Journal) -> None:
        """Before another build: it will take as long as the others did."""
        builds = [e.seconds for e in journal.entries.values() if e.counts is not None]
        usual = sum(builds) / len(builds) if builds else 0.0
        if journal.seconds + usual > self.seconds * self.SEARCH_SHARE:
            raise OutOfBudget

    def make_room(self, builds: Path, keep: set[str]) -> None:
        """Removes the builds that were used longest ago, until what is kept is within bounds."""
        sizes = {path: _size(path) for path in builds.iterdir() if path.is_dir()}
        by_age = sorted(sizes, key=lambda path: path.stat().st_mtime)
        total = sum(sizes.values())
        for path in by_age:
            if total <= self.disk_bytes:
                return
            if path.name not in keep:
                shutil.rmtree(path)
                total -= sizes[path]


def _size(directory: Path) -> int:
    total = 0
    for root, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(root, name)).st_size
    return total


def entries_of(path: Path) -> Iterator[Entry]:
    """For reading only, whether or not a run goes on."""
    with contextlib.suppress(OSError):
        for line in path.read_text().splitlines():
            with contextlib.suppress(ValueError, TypeError):
                yield Entry(**json.loads(line))
