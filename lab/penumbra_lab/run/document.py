"""Documents of schema/run.schema.json: built while a run goes on, checked when written and read."""

import datetime
import functools
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path

import jsonschema

from penumbra_lab.errors import LabError
from penumbra_lab.state import TREE

SCHEMA_NAME = "penumbra-run/1"


def schema() -> dict:
    return json.loads(
        resources.files("penumbra_lab").joinpath("schema/run.schema.json").read_text()
    )


@functools.cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


def utc_now() -> str:
    now = datetime.datetime.now(datetime.UTC)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    better: str  # "higher" or "lower"


@dataclass(frozen=True)
class Axis:
    name: str
    unit: str


@dataclass(frozen=True)
class Variant:
    name: str
    label: str
    settings: dict[str, str]


class RunDocument:
    """Grows sample by sample, so that a run that is cut short keeps what it has."""

    def __init__(self, kind: str, title: str, environment: dict, design: dict,
                 variants: list[Variant], description: str = ""):  # fmt: skip
        now = utc_now()
        self.content: dict = {
            "schema": SCHEMA_NAME,
            "kind": kind,
            "title": title,
            "description": description,
            "started_at": now,
            "finished_at": now,
            "status": "interrupted",
            "command": command_without_secrets(sys.argv),
            "penumbra_version": f"{metadata.version('penumbra-lab')} ({_commit()})",
            "environment": environment,
            "design": design,
            "variants": [vars(variant) for variant in variants],
            "series": [],
            "noise": {"limits": {}, "measurements": []},
            "warnings": [],
        }
        self._series: dict[tuple, dict] = {}
        self._points: dict[tuple, dict] = {}
        self._orders = 0

    def next_order(self) -> int:
        """The number of a measurement, in the order in which they were made."""
        self._orders += 1
        return self._orders - 1

    def add_sample(self, workload: str, variant: str, metric: Metric, value: float, *, block: int,
                   order: int, started_at: str, axis: Axis | None = None, x: float | None = None,
                   server_start: int | None = None, noise: list[str] = ()) -> None:  # fmt: skip
        key = (workload, variant, metric.name)
        if key not in self._series:
            self._series[key] = {
                "workload": workload, "variant": variant, "metric": metric.name,
                "unit": metric.unit, "better": metric.better,
                "x": vars(axis) if axis else None, "points": [],
            }  # fmt: skip
            self.content["series"].append(self._series[key])
        if (*key, x) not in self._points:
            point = self._points[*key, x] = {"x": x, "samples": []}
            self._series[key]["points"].append(point)
            self._series[key]["points"].sort(key=lambda entry: entry["x"] or 0)
        sample = {"value": value, "block": block, "order": order, "started_at": started_at,
                  "noise": list(noise)}  # fmt: skip
        if server_start is not None:
            sample["server_start"] = server_start
        self._points[*key, x]["samples"].append(sample)

    def flag(self, order: int, noise: list[str]) -> None:
        """Marks the samples of a measurement, once it is known what disturbed it."""
        for series in self.content["series"]:
            for point in series["points"]:
                for sample in point["samples"]:
                    if sample["order"] == order:
                        sample["noise"] += noise

    def warn(self, code: str, message: str, advice: str) -> None:
        self.content["warnings"].append({"code": code, "message": message, "advice": advice})

    def finish(self, status: str, failure: str | None = None) -> dict:
        self.content["finished_at"] = utc_now()
        self.content["status"] = status
        if failure:
            self.content["failure"] = failure
        return self.content


def _commit() -> str:
    done = subprocess.run(
        ["git", "-c", f"safe.directory={TREE}", "-C", str(TREE), "describe", "--always", "--dirty"],
        capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip() or "unknown"


def medians(document: dict) -> dict[tuple, dict[str, float]]:
    """The median of each variant, by (workload, metric, x), in the document's order."""
    found: dict[tuple, dict[str, float]] = {}
    for series in document["series"]:
        for point in series["points"]:
            row = found.setdefault((series["workload"], series["metric"], point["x"]), {})
            row[series["variant"]] = statistics.median(s["value"] for s in point["samples"])
    return found


def median_ratio(document: dict, workload: str, variant: str, base: str) -> float:
    """The median over blocks of what a variant measured, divided by the base's of the same."""
    by_block: dict[str, dict[int, float]] = {}
    for series in document["series"]:
        if series["workload"] == workload:
            by_block[series["variant"]] = {
                sample["block"]: sample["value"] for sample in series["points"][0]["samples"]
            }
    ours, theirs = by_block[variant], by_block[base]
    return statistics.median(ours[block] / theirs[block] for block in ours if block in theirs)


def command_without_secrets(arguments: list[str]) -> list[str]:
    """As it was typed, but for passwords in connection strings."""
    shown = [Path(arguments[0]).name]
    for argument in arguments[1:]:
        if "password" in argument:
            words = [w for w in shlex.split(argument) if not w.startswith("password=")]
            argument = " ".join(words)
        if "://" in argument and "@" in argument:
            scheme, _, rest = argument.partition("://")
            login, _, host = rest.rpartition("@")
            argument = f"{scheme}://{login.partition(':')[0]}@{host}"
        shown.append(argument)
    return shown


def validate_run(document: object, source: str) -> dict:
    if not isinstance(document, dict) or document.get("schema") != SCHEMA_NAME:
        found = document.get("schema") if isinstance(document, dict) else None
        written = f" but of {found!r}" if found else ""
        raise LabError(f"{source} is not a document of schema {SCHEMA_NAME}{written}")
    error = jsonschema.exceptions.best_match(_validator().iter_errors(document))
    if error:
        raise LabError(f"{source}: {error.json_path}: {error.message[:200]}")
    return document


def read_run(path: Path) -> dict:
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise LabError(f"{path}: {error}") from None
    return validate_run(document, str(path))


def compact_text(document: dict) -> str:
    """A line for each key of the document: small, and a diff says which part differs."""
    lines = (f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}"
             for key, value in document.items())  # fmt: skip
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_run(document: dict, path: Path) -> Path:
    """All of it or nothing: a reader never meets half a document."""
    validate_run(document, str(path))
    text = compact_text(document)
    if path.exists() and not path.is_file():
        path.write_text(text)  # a pipe or /dev/null is written to; replacing it would remove it
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.chmod(unfinished, 0o644)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
    return path
