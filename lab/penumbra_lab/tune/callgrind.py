"""Deterministic costs: what callgrind counts of a program, with caches of a fixed size.

The caches are a model of one core of a current server, the same on every machine, so that counts of
two machines can be laid side by side. They tell builds apart, not machines.
"""

import re
import shutil
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.tune.execute import Infeasible

CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=2097152,16,64")
# Cycles that one of each costs beside an instruction, about.
L1_MISS_CYCLES, LL_MISS_CYCLES, MISPREDICTION_CYCLES = 10, 100, 10

Counts = dict[str, float]
COST = "estimated cycles"
METRICS = (
    COST, "instructions", "I1 misses", "D1 misses", "LL misses", "branches", "mispredictions",
    "calls",  # the fewer, the more was inlined
)  # fmt: skip


def valgrind() -> str:
    found = shutil.which("valgrind")
    if not found:
        raise LabError("valgrind is missing: install the package valgrind")
    return found


def command(output: Path, *program: str, follow: bool = False) -> list[str]:
    """Counts go to `output`/PID; `follow`: also those of programs that the program runs."""
    return [
        valgrind(), "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes", *CACHES, "-q",
        f"--trace-children={'yes' if follow else 'no'}",
        f"--callgrind-out-file={output}/%p", *program,
    ]  # fmt: skip


def read_counts(path: Path) -> Counts:
    text = path.read_text(errors="replace")
    events = re.search(r"^events: (.*)$", text, re.M)
    totals = re.search(r"^totals: (.*)$", text, re.M)
    calls = sum(map(int, re.findall(r"^calls=(\d+) ", text, re.M)))
    if not events or not totals:
        raise Infeasible(f"{path.name} has no totals: the program did not end in order")
    raw = dict(zip(events[1].split(), map(int, totals[1].split()), strict=False))
    return with_cost({
        "instructions": raw["Ir"],
        "I1 misses": raw.get("I1mr", 0),
        "D1 misses": raw.get("D1mr", 0) + raw.get("D1mw", 0),
        "LL misses": sum(raw.get(name, 0) for name in ("ILmr", "DLmr", "DLmw")),
        "branches": raw.get("Bc", 0) + raw.get("Bi", 0),
        "mispredictions": raw.get("Bcm", 0) + raw.get("Bim", 0),
        "calls": calls,
    })  # fmt: skip


def with_cost(counts: Counts) -> Counts:
    cost = (
        counts["instructions"]
        + L1_MISS_CYCLES * (counts["I1 misses"] + counts["D1 misses"])
        + LL_MISS_CYCLES * counts["LL misses"]
        + MISPREDICTION_CYCLES * counts["mispredictions"]
    )
    return {COST: cost, **{name: value for name, value in counts.items() if name != COST}}


def sum_counts(directory: Path) -> Counts:
    """Of all programs that wrote there."""
    found = [read_counts(path) for path in sorted(directory.iterdir())]
    if not found:
        raise Infeasible("callgrind counted nothing")
    return {name: sum(counts[name] for counts in found) for name in found[0]}


def per_unit(few: Counts, many: Counts, units: int) -> Counts:
    """What each of the `units` costs by which the second run did more: its start is left out."""
    return with_cost({name: (many[name] - few[name]) / units for name in few})
