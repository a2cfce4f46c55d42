"""Result documents as objects: series of points of samples."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.run.document import read_run

# The order of a run in which one server does everything.
IN_TURN = "in turn"


@dataclass(frozen=True)
class Sample:
    value: float
    block: int
    server_start: int | None  # None: on a server that was found running
    noise: tuple[str, ...] = ()


@dataclass(frozen=True)
class Point:
    x: float | None
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Series:
    workload: str
    variant: str
    metric: str
    unit: str
    better: str  # "higher" or "lower"
    x_name: str | None
    x_unit: str | None
    points: tuple[Point, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What is compared with the same key of another variant or run."""
        return self.workload, self.metric


@dataclass(frozen=True, eq=False)
class Run:
    name: str  # how the reader tells it from the others
    document: dict
    series: tuple[Series, ...]

    @cached_property
    def variants(self) -> dict[str, str]:
        """Labels by name, in the document's order; no two are the same."""
        labels = Counter(variant["label"] for variant in self.document["variants"])
        return {
            v["name"]: v["label"] if labels[v["label"]] == 1 else f"{v['label']} ({v['name']})"
            for v in self.document["variants"]
        }

    @cached_property
    def shares_server(self) -> bool:
        """Whether all variants ran on one server, so that no server start lies between them."""
        design = self.document["design"]
        return design["order"] == IN_TURN or design["server_starts"] == 0

    @cached_property
    def by_variant(self) -> dict[str, dict[tuple[str, str], Series]]:
        found: dict[str, dict[tuple[str, str], Series]] = {name: {} for name in self.variants}
        for series in self.series:
            found[series.variant][series.key] = series
        return found


def load_runs(paths: Sequence[Path]) -> list[Run]:
    """Named by their files, with as much of the path as tells them apart."""
    stems, seen, runs = Counter(path.stem for path in paths), Counter(), []
    for path in paths:
        name = path.stem if stems[path.stem] == 1 else str(path)
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name} ({seen[name]})"
        runs.append(make_run(read_run(path), name, str(path)))
    return runs


def make_run(document: dict, name: str, source: str) -> Run:
    """A valid document as an object; error messages name its `source`."""
    variants = [variant["name"] for variant in document["variants"]]
    if len(set(variants)) < len(variants):
        raise LabError(f"{source}: two variants have the same name")
    series = tuple(
        _make_series(entry, f"{source}: series {number}")
        for number, entry in enumerate(document["series"])
    )
    seen = set()
    for entry in series:
        if entry.variant not in variants:
            raise LabError(f"{source}: a series of {entry.variant!r}, which is no variant")
        if (entry.variant, entry.key) in seen:
            raise LabError(f"{source}: two series of {entry.workload!r} and {entry.variant!r}")
        seen.add((entry.variant, entry.key))
    return Run(name, document, tuple(entry for entry in series if entry.points))


def _make_series(entry: dict, source: str) -> Series:
    x = entry["x"] or {}
    points = []
    for point in entry["points"]:
        samples = tuple(
            Sample(_positive(sample["value"], source), sample["block"], sample.get("server_start"),
                   tuple(sample["noise"]))
            for sample in point["samples"]
        )  # fmt: skip
        if samples:  # an interrupted run has points without
            points.append(Point(point["x"], samples))
    if len({point.x for point in points}) < len(points):
        raise LabError(f"{source} has two points at the same x")
    return Series(entry["workload"], entry["variant"], entry["metric"], entry["unit"],
                  entry["better"], x.get("name"), x.get("unit"), tuple(points))  # fmt: skip


def _positive(value: float, source: str) -> float:
    if not (math.isfinite(value) and value > 0):
        raise LabError(f"{source} has a sample of {value:g}: only positive numbers can be compared")
    return value
