"""Six numbers that say how a server does."""

from dataclasses import dataclass

from penumbra_lab.watch.sheets import loaded_table
from penumbra_lab.watch.snapshot import Section, Snapshot
from penumbra_lab.watch.wording import NONE, count, counted, line, percent, shortened, size

NAME_CHARACTERS = 40


@dataclass(frozen=True)
class Fact:
    label: str
    value: str
    meaning: str
    share: float | None = None  # of a whole, in percent


def find_facts(snapshot: Snapshot) -> list[Fact]:
    return [
        _memory(snapshot),
        _disk(snapshot),
        _pages(snapshot),
        _calls(snapshot),
        _loading(snapshot),
        _stale(snapshot),
    ]


def _unknown(label: str, section: Section) -> Fact:
    return Fact(label, NONE, section.problem)


def _share(part: float | None, whole: float | None) -> float | None:
    return 100 * part / whole if whole and part is not None else None


def _memory(snapshot: Snapshot) -> Fact:
    memory = snapshot.whole_memory
    if memory is None:
        return _unknown("Memory", snapshot.memory)
    evictions = counted(memory.evictions or 0, "eviction")
    meaning = f"of {size(memory.budget_bytes)} for cached columns, {evictions}"
    return Fact(
        "Memory", size(memory.used_bytes), meaning, _share(memory.used_bytes, memory.budget_bytes)
    )


def _disk(snapshot: Snapshot) -> Fact:
    if not snapshot.disk.rows:
        return _unknown("Disk", snapshot.disk)
    disk = snapshot.disk.rows[0]
    if disk.state == "off":
        return Fact("Disk", "off", "penumbra.disk_cache_size is 0")
    return Fact(
        "Disk",
        size(disk.file_bytes),
        f"of {size(disk.budget_bytes)}, {line(disk.state)}",
        _share(disk.file_bytes, disk.budget_bytes),
    )


def _pages(snapshot: Snapshot) -> Fact:
    if snapshot.tables.problem:
        return _unknown("From cache", snapshot.tables)
    cached, heap = (
        snapshot.tables.sums.get(f"pages_from_{place}", 0) for place in ("cache", "heap")
    )
    share = _share(cached, cached + heap)
    return Fact(
        "From cache", percent(share), f"of {count(cached + heap)} pages that scans read", share
    )


def _calls(snapshot: Snapshot) -> Fact:
    sums = snapshot.statements.sums
    if snapshot.statements.problem:
        return _unknown("In vectors", snapshot.statements)
    calls, in_vectors, partly = (
        sums.get(key, 0) for key in ("calls", "calls_in_vectors", "calls_partly")
    )
    share = _share(in_vectors, calls)
    meaning = f"of {count(calls)} calls that could gain, {percent(_share(partly, calls))} in part"
    return Fact("In vectors", percent(share), meaning, share)


def _loading(snapshot: Snapshot) -> Fact:
    if snapshot.progress.problem:
        return _unknown("Loading", snapshot.progress)
    wanted = next((row.wanted_columns for row in snapshot.activity.rows), None)
    meaning = f"{counted(wanted, 'column')} wanted" if wanted else "no column is wanted"
    if not snapshot.progress.rows:
        return Fact("Loading", "nothing", meaning)
    first = snapshot.progress.rows[0]
    more = f" and {snapshot.progress.count - 1} more" if snapshot.progress.count > 1 else ""
    return Fact(
        "Loading",
        percent(first.percent),
        f"of {shortened(loaded_table(first), NAME_CHARACTERS)}{more}; {meaning}",
        first.percent,
    )


def _stale(snapshot: Snapshot) -> Fact:
    stale = snapshot.staleness
    if stale.problem:
        return _unknown("Stale", stale)
    if not stale.count:
        return Fact("Stale", "nothing", "all that is cached is served")
    pages = counted(stale.sums.get("heap_pages", 0), "page")
    return Fact("Stale", counted(stale.count, "table"), f"{pages} read from the heap")
