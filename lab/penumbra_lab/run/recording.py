"""Runs a benchmark's work and concludes its document, however the work ends."""

import contextlib
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from rich.table import Table

from penumbra_lab.errors import LabError
from penumbra_lab.run import watch
from penumbra_lab.run.document import Metric, RunDocument, utc_now, write_run
from penumbra_lab.show import console
from penumbra_lab.state import results_directory

# Fewer give no interval that anybody should believe.
REPETITIONS_MIN = 5
MILLISECONDS = Metric("time", "ms", "lower")


@dataclass(frozen=True)
class Outcome:
    document: dict
    raised: BaseException | None  # what ended it, if it is not complete


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def record(
    run: RunDocument,
    work: Callable[[], None],
    explain: Callable[[Exception], str] = one_line,
) -> Outcome:
    """The document of the work, or what was finished of it: `explain` says why it failed."""
    run.content["noise"]["limits"] = dict(watch.LIMITS)
    _warn_of_conditions(run)
    began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    status, failure, raised = "complete", None, None
    try:
        work()
    except KeyboardInterrupt as interrupt:
        status, raised = "interrupted", interrupt
    except (LabError, psycopg.Error) as error:
        status, failure = "failed", explain(error)
        raised = LabError(failure)
    run.content.setdefault("sections", {})["tool"] = [_cost(began, used)]
    watch.flag_frequency_losses(run)
    watch.warn_of_noise(run)
    return Outcome(run.finish(status, failure), raised)


def _warn_of_conditions(run: RunDocument) -> None:
    repetitions = run.content["design"]["repetitions"]
    if repetitions < REPETITIONS_MIN:
        run.warn("few_repetitions", f"{repetitions} repetitions",
                 f"take at least {REPETITIONS_MIN}: fewer give no interval to believe")  # fmt: skip
    described = run.content["environment"]
    here = described["client_machine"] or described["machine"]
    if here["load_average"] > here["cpu"]["cpus"] / 2:
        run.warn("busy_at_start", f"the load average was {here['load_average']:.1f} at the start",
                 "wait until the machine has nothing else to do")  # fmt: skip
    if here["cpu"]["governor"] not in (None, "performance"):
        run.warn("governor", f"the frequency governor is {here['cpu']['governor']}",
                 "set it to performance while measuring")  # fmt: skip


def _cost(began: float, used: resource.struct_rusage) -> dict:
    """What this program used itself, without its children."""
    now = resource.getrusage(resource.RUSAGE_SELF)
    cpu_seconds = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    elapsed = time.monotonic() - began
    return {"cpu_seconds": round(cpu_seconds, 3), "elapsed_seconds": round(elapsed, 3),
            "share_of_a_cpu": round(cpu_seconds / elapsed, 5)}  # fmt: skip


def alternating(repetitions: int, **size: float) -> dict:
    """The design of runs in which one server does everything in turn."""
    return {"order": "in turn", "repetitions": repetitions, "server_starts": 1, "size": size}


@dataclass(frozen=True)
class Samples:
    """Takes the samples of one measurement, which share what the watcher saw."""

    run: RunDocument
    order: int
    started_at: str

    def add(self, workload: str, variant: str, metric: Metric, value: float, block: int) -> None:
        self.run.add_sample(
            workload, variant, metric, value, block=block, order=self.order,
            started_at=self.started_at, server_start=0,
        )  # fmt: skip


@contextlib.contextmanager
def measurement(run: RunDocument, connection: psycopg.Connection | None) -> Iterator[Samples]:
    """What is done inside is one measurement: too short, one by one, for what the kernel counts."""
    watcher = watch.Watcher(connection, None)
    samples = Samples(run, run.next_order(), utc_now())
    watcher.start()
    yield samples
    seen = watcher.finish()
    run.content["noise"]["measurements"].append({"order": samples.order, **seen})
    run.flag(samples.order, watch.flags(seen))


def conclude(outcome: Outcome, table: Callable[[dict], Table], output: Path | None = None) -> None:
    """Writes whatever was finished, shows it, says where it is, and ends as the run ended."""
    document = outcome.document
    if document["series"]:
        path = write_run(document, output or _default_output(document))
        console.print(table(document))
        for warning in document["warnings"]:
            shown = f"{warning['message']}: {warning['advice']}"
            console.print(shown, style="yellow", markup=False, highlight=False, soft_wrap=True)
        shown = f"Result ({document['status']}): {path}"
        console.print(shown, markup=False, highlight=False, soft_wrap=True)
    if outcome.raised:
        raise outcome.raised


def _default_output(document: dict) -> Path:
    stamp = document["started_at"].replace(":", "").replace("-", "")[:15]
    return results_directory() / f"{document['kind']}-{stamp}.json"


def latest_result() -> Path:
    found = sorted(results_directory().glob("*.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise LabError("no results yet: run `penumbra demo` or `penumbra bench pgbench`")
    return found[-1]
