"""Result documents as objects; what is not one is refused with one line."""

import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from penumbra_lab.errors import LabError

SCHEMA = "penumbra-run/1"


@dataclass(frozen=True)
class Sample:
    value: float
    block: int
    server_start: int
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


@dataclass(frozen=True)
class Run:
    name: str  # how the reader tells it from the others
    document: dict
    series: tuple[Series, ...]

    @cached_property
    def variants(self) -> dict[str, str]:
        """Labels by name, in the document's order."""
        return {v["name"]: v.get("label") or v["name"] for v in self.document["variants"]}

    @cached_property
    def by_variant(self) -> dict[str, dict[tuple[str, str], Series]]:
        found: dict[str, dict[tuple[str, str], Series]] = {name: {} for name in self.variants}
        for series in self.series:
            found[series.variant][series.key] = series
        return found


def read_run(path: Path) -> Run:
    return make_run(read_json(path), path.stem, str(path))


def read_json(path: Path) -> dict:
    def refuse(constant: str):
        raise ValueError(f"{constant} is not a number that JSON knows")

    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise LabError(f"{path} is not JSON: {error}") from None


def make_run(document: object, name: str, source: str) -> Run:
    """The document of `source`, which error messages name, as an object."""
    if not isinstance(document, dict) or "schema" not in document:
        raise LabError(f"{source} is not a result of penumbra bench: no \"schema\" in it")
    if document["schema"] != SCHEMA:
        raise LabError(f"{source} has schema {document['schema']!r}, this program reads {SCHEMA!r}")
    check_schema(document, source)
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
    x = entry.get("x") or {}
    points = []
    for point in entry["points"]:
        samples = tuple(
            Sample(_positive(sample["value"], source), sample["block"], sample["server_start"],
                   tuple(sample.get("noise", ())))
            for sample in point["samples"]
        )  # fmt: skip
        if samples:  # an interrupted run has points without
            points.append(Point(point.get("x"), samples))
    if len({point.x for point in points}) < len(points):
        raise LabError(f"{source} has two points at the same x")
    return Series(entry["workload"], entry["variant"], entry["metric"], entry["unit"],
                  entry["better"], x.get("name"), x.get("unit"), tuple(points))  # fmt: skip


def _positive(value: float, source: str) -> float:
    if not (math.isfinite(value) and value > 0):
        raise LabError(f"{source} has a sample of {value:g}: only positive numbers can be compared")
    return value
