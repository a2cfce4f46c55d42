"""Programs that build and measure: each with a log, a time limit, and ended whatever happens."""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from penumbra_lab.errors import LabError

POLL_MILLISECONDS = 100
LOG_TAIL_LINES = 5


class Infeasible(Exception):
    """This build cannot be had or does not work; the search goes on without it."""


class Cancelled(Exception):
    """Another thread was told to stop."""


class Executor:
    """Runs programs in sessions of their own, so that Ctrl-C reaches only us."""

    def __init__(self, build_seconds: float, measure_seconds: float):
        self.build_seconds = build_seconds
        self.measure_seconds = measure_seconds
        self.cancelled = threading.Event()

    def run(
        self, command: Sequence[str], log: Path, seconds: float, cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """What the program prints goes to the end of `log`; a failure is Infeasible."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            output.write(f"\n$ {' '.join(command)}\n".encode())
            output.flush()
            try:
                process = subprocess.Popen(
                    command, cwd=cwd, env={**os.environ, **(environment or {})},
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    start_new_session=True,
                )  # fmt: skip
            except FileNotFoundError:
                raise LabError(f"the program {command[0]} is missing") from None
            status = self._wait(process, command, seconds)
        if status != 0:
            what = f"ended by signal {-status}" if status < 0 else "failed"
            raise Infeasible(f"{_short(command)} {what}: {_tail(log)}")

    def _wait(self, process: subprocess.Popen, command: Sequence[str], seconds: float) -> int:
        """Returns at once when the program ends, since programs are timed by it."""
        deadline = time.monotonic() + seconds
        handle = os.pidfd_open(process.pid)
        try:
            ended = select.poll()
            ended.register(handle, select.POLLIN)
            while not ended.poll(POLL_MILLISECONDS):
                if self.cancelled.is_set():
                    raise Cancelled
                if time.monotonic() > deadline:
                    raise Infeasible(f"{_short(command)} did not end within {seconds:.0f} seconds")
        finally:
            os.close(handle)
            # Children of a program that has ended may still be there.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return process.returncode


def _short(command: Sequence[str]) -> str:
    return " ".join(command)[:100]


def _tail(log: Path) -> str:
    """The lines that say why: those with "error", or the last."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    since = next((n for n in range(len(lines) - 1, -1, -1) if lines[n].startswith("$ ")), 0)
    lines = lines[since + 1 :]
    errors = [line for line in lines if "error" in line.lower()]
    return " | ".join((errors or lines)[-LOG_TAIL_LINES:])[:500] or "it printed nothing"
