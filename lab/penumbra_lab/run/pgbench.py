"""pgbench as a child: how a database is made, how a run is started and what it prints."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penumbra_lab.errors import LabError

# Of one unit of scale: 100,000 accounts with their index, measured; and what WAL and the files of
# a running server take besides.
BYTES_PER_SCALE = 16 << 20
BYTES_BESIDES = 1 << 30


@dataclass(frozen=True)
class Workload:
    name: str
    builtin: str | None = None
    script: Path | None = None

    def options_at(self, scale: int) -> list[str]:
        if self.builtin:
            return ["-b", self.builtin]
        return ["-f", str(self.script.resolve()), "-s", str(scale)]


WORKLOADS = {
    "select-only": Workload("select-only", "select-only"),
    "simple-update": Workload("simple-update", "simple-update"),
    "tpcb": Workload("TPC-B", "tpcb-like"),
    "aggregates": Workload("aggregates", script=Path(__file__).with_name("aggregates.sql")),
}


def find_pgbench(bin_directory: Path | None) -> str:
    """The one beside the server's programs, else the one in the PATH."""
    beside = bin_directory / "pgbench" if bin_directory else None
    found = str(beside) if beside and beside.exists() else shutil.which("pgbench")
    if not found:
        raise LabError("pgbench is missing: install the package postgresql-contrib, or set PG_BIN")
    return found


def check_disk(directory: Path, scale: int, copies: int) -> None:
    while not directory.exists():
        directory = directory.parent
    needed = copies * (scale * BYTES_PER_SCALE + BYTES_BESIDES)
    free = shutil.disk_usage(directory).free
    if needed > free:
        of = f" for {copies} servers" if copies > 1 else ""
        raise LabError(f"scale {scale} needs about {needed / 1e9:,.1f} GB{of}, and {directory} has"
                       f" {free / 1e9:,.1f} GB free: choose a smaller --scale")  # fmt: skip


def jobs_for(clients: int, cpus: int) -> int:
    """pgbench's threads: as many as there are CPUs, each with as many clients."""
    return max(n for n in range(1, min(clients, cpus) + 1) if clients % n == 0)


@contextlib.contextmanager
def child(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen]:
    """A program in a session of its own: Ctrl-C reaches only us, and we end it in any case."""
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def run_pgbench(
    program: str, arguments: list[str], environment: dict[str, str], cpus: str | None = None
) -> str:
    pinned = ["taskset", "-c", cpus] if cpus else []
    with child([*pinned, program, *arguments], environment) as process:
        output, errors = process.communicate()
    if process.returncode != 0:
        raise LabError(f"pgbench failed: {last_error(errors)}")
    return output


def last_error(errors: str) -> str:
    lines = [line for line in errors.splitlines() if re.search(r"error|fatal|FATAL|ERROR", line)]
    return (lines or errors.strip().splitlines() or ["no message"])[0].removeprefix("pgbench: ")


def throughput(output: str) -> float:
    """Transactions per second without the time for connecting."""
    found = re.search(r"^tps = ([0-9.]+)", output, re.M)
    if not found or float(found.group(1)) <= 0:
        raise LabError("pgbench finished no transaction: measure longer, with --seconds")
    return float(found.group(1))
