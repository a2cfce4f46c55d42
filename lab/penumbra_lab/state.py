"""Where things are: the source tree and .penumbra/ for what is made at run time, with its lock."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from penumbra_lab.errors import LabError

TREE = Path(__file__).resolve().parents[2]


def state_directory() -> Path:
    """$PENUMBRA_STATE, .penumbra in a source tree, or one of the user; links are resolved."""
    if "PENUMBRA_STATE" in os.environ:
        chosen = Path(os.environ["PENUMBRA_STATE"])
    elif (TREE / "lab/pyproject.toml").exists():
        chosen = TREE / ".penumbra"
    elif os.geteuid() == 0:
        chosen = Path("/var/tmp/penumbra")  # user postgres cannot reach root's home directory
    else:
        chosen = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "penumbra"
    chosen.mkdir(parents=True, exist_ok=True)
    return chosen.resolve()


def report_path() -> Path:
    return state_directory() / "report.html"


def results_directory() -> Path:
    directory = state_directory() / "results"
    directory.mkdir(exist_ok=True)
    return directory


@contextlib.contextmanager
def only_bench() -> Iterator[None]:
    """Two at a time would measure each other, and share a kept server."""
    with (state_directory() / "bench.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError(
                "another `penumbra bench` is running: two would measure each other"
            ) from None
        yield
