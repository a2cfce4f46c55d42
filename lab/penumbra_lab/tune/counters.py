"""What the processor itself counts, where it has counters that we may read: `perf stat`.

Virtual machines often have none; then nothing is counted, and the gate says so.
"""

import functools
import shutil
import subprocess
from pathlib import Path

from penumbra_lab.tune.callgrind import Counts
from penumbra_lab.tune.execute import Infeasible

# What perf calls it: what we do. Of user space, as callgrind counts.
EVENTS = {
    "cycles:u": "cycles", "instructions:u": "instructions",
    "L1-icache-load-misses:u": "I1 misses", "L1-dcache-load-misses:u": "D1 misses",
    "cache-misses:u": "LL misses", "branch-misses:u": "mispredictions",
}  # fmt: skip


def command(output: Path, *rest: str) -> list[str]:
    """Counts of the program that follows and of its children go to `output`; after `-p PID` those
    of that process and of the children that it gets, while the program that follows runs."""
    return ["perf", "stat", "-x", ";", "-o", str(output), "-e", ",".join(EVENTS), *rest]


def read_counts(path: Path) -> Counts:
    """Events that this processor cannot count are left out."""
    found = {}
    for line in path.read_text().splitlines():
        fields = line.split(";")
        if len(fields) > 2 and fields[2] in EVENTS and fields[0].isdigit():
            found[EVENTS[fields[2]]] = float(fields[0])
    if "cycles" not in found:
        raise Infeasible("perf counted no cycles")
    return found


@functools.cache
def are_there() -> bool:
    if not shutil.which("perf"):
        return False
    done = subprocess.run(["perf", "stat", "-x", ";", "-e", "cycles:u", "--", "true"],
                          capture_output=True, text=True)  # fmt: skip
    return done.returncode == 0 and done.stderr.partition(";")[0].strip().isdigit()
