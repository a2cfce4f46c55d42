"""Where things are: the source tree and .penumbra/ for what is made at run time."""

import os
from pathlib import Path

from penumbra_lab.errors import LabError

TREE = Path(__file__).resolve().parents[2]


def state_directory() -> Path:
    """The directory .penumbra (or $PENUMBRA_STATE), with links resolved."""
    chosen = Path(os.environ.get("PENUMBRA_STATE", TREE / ".penumbra"))
    chosen.mkdir(parents=True, exist_ok=True)
    return chosen.resolve()


def report_path() -> Path:
    return state_directory() / "report.html"


def results_directory() -> Path:
    directory = state_directory() / "results"
    directory.mkdir(exist_ok=True)
    return directory


def workloads_directory() -> Path:
    directory = TREE / "workloads"
    if not directory.is_dir():
        raise LabError(f"no workloads in {directory}: run from an installed source tree")
    return directory
