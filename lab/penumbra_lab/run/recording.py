"""Runs a benchmark's work and concludes its document, however the work ends."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
from rich.table import Table

from penumbra_lab.errors import LabError
from penumbra_lab.run import watch
from penumbra_lab.run.document import RunDocument, write_run
from penumbra_lab.show import console
from penumbra_lab.state import results_directory


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


def _cost(began: float, used: resource.struct_rusage) -> dict:
    """What this program used itself, without its children."""
    now = resource.getrusage(resource.RUSAGE_SELF)
    cpu_seconds = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    elapsed = time.monotonic() - began
    return {"cpu_seconds": round(cpu_seconds, 3), "elapsed_seconds": round(elapsed, 3),
            "share_of_a_cpu": round(cpu_seconds / elapsed, 5)}  # fmt: skip


def conclude(
    outcome: Outcome, table: Callable[[dict], Table | None], output: Path | None = None
) -> None:
    """Writes whatever was finished, shows it, says where it is, and ends as the run ended."""
    document = outcome.document
    if document["series"]:
        path = write_run(document, output or _default_output(document))
        if shown := table(document):
            console.print(shown)
        for warning in document["warnings"]:
            console.print(f"{warning['message']}: {warning['advice']}", style="yellow")
        console.print(f"Result ({document['status']}): {path}", soft_wrap=True)
    if outcome.raised:
        raise outcome.raised


def _default_output(document: dict) -> Path:
    stamp = document["started_at"].replace(":", "").replace("-", "")[:15]
    return results_directory() / f"{document['kind']}-{stamp}.json"
