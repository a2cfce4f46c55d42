"""The machine and the versions that a result was measured with."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from penumbra_lab.server import Installation
from penumbra_lab.state import TREE


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def cpu_count() -> int:
    return len(os.sched_getaffinity(0))


def _first_value(path: str, key: str) -> str:
    for line in Path(path).read_text(errors="replace").splitlines():
        name, _, value = line.replace("=", ":", 1).partition(":")
        if name.strip() == key:
            return value.strip().strip('"')
    return "unknown"


def describe_machine() -> dict:
    return {
        "cpu": _first_value("/proc/cpuinfo", "model name"),
        "cpus": cpu_count(),
        "memory_bytes": memory_bytes(),
        "system": _first_value("/etc/os-release", "PRETTY_NAME"),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "load_average": os.getloadavg()[0],
    }


def describe_versions(installation: Installation) -> dict:
    return {
        "postgresql": installation.version(),
        "duckdb": metadata.version("duckdb"),
        "tpchgen-cli": metadata.version("tpchgen-cli"),
        "python": platform.python_version(),
        "commit": commit(),
    }


def commit() -> str:
    done = subprocess.run(
        ["git", "-c", f"safe.directory={TREE}", "-C", str(TREE), "describe", "--always", "--dirty"],
        capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip() or "unknown"
