"""Samples a server again and again: the latest snapshot, rates since the one before, a history."""

import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from penumbra_lab.watch.reader import Reader
from penumbra_lab.watch.snapshot import Snapshot

HISTORY_HOURS = 6
HANGING_SECONDS = 10  # for a view that takes long, which its timeout ends
# What grows: name, section, field. Of a section with sums all rows count, of the others the first.
COUNTERS = (
    ("pages_from_cache", "tables", "pages_from_cache"),
    ("pages_from_heap", "tables", "pages_from_heap"),
    ("calls_in_vectors", "statements", "calls_in_vectors"),
    ("calls_partly", "statements", "calls_partly"),
    ("calls_not", "statements", "calls_not"),
    ("bytes_loaded", "activity", "heap_bytes"),
    ("disk_bytes_read", "disk", "bytes_read"),
    ("evictions", "memory", "evictions"),
)


@dataclass(frozen=True)
class Point:
    """Of the history: levels at a time, and rates per second since the point before."""

    at: float  # seconds since 1970
    values: Mapping[str, float]


@dataclass(frozen=True)
class State:
    """What a sampler knows now."""

    snapshot: Snapshot | None = None
    before: Snapshot | None = None  # the one before it
    error: str = ""  # why there is no newer one
    read_at: float = 0  # seconds since 1970


class Sampler:
    """Reads in a thread of its own, since a server that hangs must not hold up whoever shows it."""

    def __init__(self, reader: Reader, seconds: float):
        self.seconds = seconds
        self.state = State()
        self.history: deque[Point] = deque(maxlen=max(2, int(HISTORY_HOURS * 3600 / seconds)))
        self._reader = reader
        self._stopped = threading.Event()
        self._sampled = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """A thread that waits for a server that hangs ends with the program."""
        self._stopped.set()
        self._thread.join(timeout=1)

    def wait(self, seconds: float) -> bool:
        """For the next sample, or the next failure."""
        came = self._sampled.wait(seconds)
        self._sampled.clear()
        return came

    def look(self) -> State:
        """The state; that of a server that hangs has an error, too."""
        state = self.state
        age = time.time() - state.read_at
        if state.snapshot is None or state.error or age < 2 * self.seconds + HANGING_SECONDS:
            return state
        return replace(state, error=f"nothing has come for {age:.0f} s")

    def points(self, since: float) -> list[Point]:
        return [point for point in list(self.history) if point.at >= since]

    def sample(self) -> None:
        last = self.state
        try:
            snapshot = self._reader.read()
        except Exception as error:  # whatever it was, the next sample may be right
            self.state = State(last.snapshot, last.before, str(error).strip(), last.read_at)
            return
        self.state = State(snapshot, last.snapshot, "", time.time())
        self.history.append(Point(self.state.read_at, point_values(snapshot, last.snapshot)))

    def _run(self) -> None:
        while not self._stopped.is_set():
            started = time.monotonic()
            self.sample()
            self._sampled.set()
            # A server that answers slowly is not asked all the time.
            taken = time.monotonic() - started
            self._stopped.wait(max(self.seconds - taken, min(taken, self.seconds)))
        self._reader.close()


def point_values(snapshot: Snapshot, before: Snapshot | None) -> dict[str, float]:
    memory = snapshot.whole_memory
    levels = (
        {"used_bytes": memory.used_bytes, "budget_bytes": memory.budget_bytes} if memory else {}
    )
    return levels | (rates(snapshot, before) if before else {})


def rates(snapshot: Snapshot, before: Snapshot) -> dict[str, float]:
    """Per second. Where a count went back, by a reset, a restart or an eviction, there is none."""
    seconds = (snapshot.server.read_at - before.server.read_at).total_seconds()
    found = {}
    for name, section, field in COUNTERS:
        new, old = _counter(snapshot, section, field), _counter(before, section, field)
        if new is not None and old is not None and new >= old and seconds > 0:
            found[name] = (new - old) / seconds
    return found


def _counter(snapshot: Snapshot, section: str, field: str) -> float | None:
    if section == "memory":
        return snapshot.whole_memory.evictions if snapshot.whole_memory else None
    found = getattr(snapshot, section)
    if found.sums:
        return found.sums.get(field)
    return getattr(found.rows[0], field) if found.rows else None
