"""CPU lists, and how server and client share the machine's CPUs."""

import os
import time
from pathlib import Path

from penumbra_lab.errors import LabError

# Below it the two would get one CPU each, and neither could show how it scales.
CPUS_MIN_TO_SPLIT = 4


def _expand(text: str) -> set[int]:
    """0-3,8 as the kernel writes it and people do."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        cpus.update(range(int(first), int(last if dash else first) + 1))
    return cpus


def parse_cpus(text: str) -> list[int]:
    try:
        cpus = _expand(text)
    except ValueError:
        raise LabError(f"{text!r} is no list of CPUs: write it as 0-3,8") from None
    missing = cpus - os.sched_getaffinity(0)
    if missing or not cpus:
        raise LabError(f"CPUs {format_cpus(missing) or text!r} are not there to be used")
    return sorted(cpus)


def format_cpus(cpus) -> str:
    return ",".join(str(cpu) for cpu in sorted(cpus))


def _siblings(cpu: int) -> set[int]:
    """The CPUs of one core, which must not be split between server and client."""
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return _expand(path.read_text().strip())
    except OSError:
        return {cpu}


def idlest_cpu(seconds: float = 0.5) -> int:
    """Of the CPUs that we may use the one that others used least just now: with a low priority
    nothing moves on a CPU that somebody else fills, if it may not leave it."""
    before = _busy_ticks()
    time.sleep(seconds)
    after = _busy_ticks()
    return min(os.sched_getaffinity(0), key=lambda cpu: (after[cpu] - before[cpu], cpu))


def _busy_ticks() -> dict[int, int]:
    """User and system time of each CPU; that of programs with a low priority is left out."""
    lines = Path("/proc/stat").read_text().splitlines()
    rows = [line.split() for line in lines if line.startswith("cpu") and line[3].isdigit()]
    return {int(row[0][3:]): int(row[1]) + int(row[3]) for row in rows}


def split_cpus() -> tuple[str | None, str | None]:
    """CPUs for the server and for the client, whole cores, half of them each; None: anywhere."""
    available = os.sched_getaffinity(0)
    cores = sorted({tuple(sorted(_siblings(cpu) & available)) for cpu in available})
    if len(available) < CPUS_MIN_TO_SPLIT or len(cores) < 2:
        return None, None
    half = len(cores) // 2
    server = [cpu for core in cores[:half] for cpu in core]
    client = [cpu for core in cores[half:] for cpu in core]
    return format_cpus(server), format_cpus(client)
