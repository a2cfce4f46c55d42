"""Which series of which runs are held against each other, and what comes out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from penumbra_lab.analysis.document import Point, Run, Series
from penumbra_lab.analysis.estimate import (
    Estimate,
    estimate_level,
    estimate_paired,
    estimate_unpaired,
)
from penumbra_lab.analysis.verdict import (
    CONFIDENCE,
    MARGIN,
    Outcome,
    Verdict,
    exp_or_infinity,
    family_confidence,
    judge,
)
from penumbra_lab.errors import LabError


@dataclass(frozen=True)
class Side:
    """One variant of one run."""

    run: Run
    variant: str
    label: str


@dataclass(frozen=True)
class Level:
    """What one side measured at one point: geometric mean and its interval."""

    x: float | None
    value: float
    low: float
    high: float
    samples: int
    noisy: int


@dataclass(frozen=True)
class PointComparison:
    x: float | None
    base: Level
    other: Level
    verdict: Verdict
    superiority: float  # how often a sample of the other side beats one of the base


@dataclass(frozen=True)
class SeriesComparison:
    base: Side
    other: Side
    series: Series  # the base's
    is_paired: bool
    points: tuple[PointComparison, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Comparison:
    runs: tuple[Run, ...]
    sides: tuple[Side, ...]
    series: tuple[SeriesComparison, ...]
    unmatched: tuple[str, ...]
    confidence: float
    margin: float

    def has(self, outcome: Outcome) -> bool:
        return any(
            verdict.outcome is outcome
            for entry in self.series
            for verdict in (entry.verdict, *(point.verdict for point in entry.points))
        )


def compare_runs(
    runs: Sequence[Run],
    baseline: str | None = None,
    confidence: float = CONFIDENCE,
    margin: float = MARGIN,
) -> Comparison:
    """Within one run: its variants, paired by block. Of several runs: each against the first."""
    pairs = _pairs_within(runs[0], baseline) if len(runs) == 1 else _pairs_across(runs, baseline)
    matched, unmatched = [], []
    for base, other in pairs:
        left, right = (side.run.by_variant[side.variant] for side in (base, other))
        matched += [(base, other, left[key], right[key]) for key in left if key in right]
        unmatched += [
            f"{workload}, {metric}: only in {side.label}"
            for side, mine, theirs in ((base, left, right), (other, right, left))
            for workload, metric in mine
            if (workload, metric) not in theirs
        ]
    for base, other, left, right in matched:
        if (left.unit, left.better) != (right.unit, right.better):
            raise LabError(f"{left.workload}: {base.label} measures {left.unit}, {other.label}"
                           f" {right.unit}: they cannot be compared")  # fmt: skip
    if pairs and not matched:
        raise LabError("the results have no series in common")
    each = family_confidence(confidence, len(matched))
    compared = [_compare_series(*entry, each, margin, confidence) for entry in matched]
    sides = dict.fromkeys(side for pair in pairs for side in pair)
    if len(runs) == 1:
        sides = [Side(runs[0], name, label) for name, label in runs[0].variants.items()]
    return Comparison(
        tuple(runs), tuple(sides), tuple(entry for entry in compared if entry),
        tuple(dict.fromkeys(unmatched)), confidence, margin,
    )  # fmt: skip


def _pairs_within(run: Run, baseline: str | None) -> list[tuple[Side, Side]]:
    """All against the base; or, in a run about one variant, this one against each other."""
    names = list(run.variants)
    sides = {name: Side(run, name, label) for name, label in run.variants.items()}
    subject = run.document["design"].get("subject")
    if subject in names and baseline is None:
        return [(sides[name], sides[subject]) for name in names if name != subject]
    base = _checked(baseline, run) if baseline else names[0]
    return [(sides[base], sides[name]) for name in names if name != base]


def _pairs_across(runs: Sequence[Run], baseline: str | None) -> list[tuple[Side, Side]]:
    """The same variant of each run; or, of runs with one variant each, these."""
    first = runs[0]
    wanted = [_checked(baseline, first)] if baseline else list(first.variants)
    pairs = []
    for run in runs[1:]:
        common = [name for name in wanted if name in run.variants]
        if not common and len(wanted) == len(run.variants) == 1:
            common = wanted
        for name in common:
            theirs = name if name in run.variants else next(iter(run.variants))
            pairs.append((_named_side(first, name), _named_side(run, theirs)))
    if not pairs:
        raise LabError(f"no variant in common: {first.name} has {', '.join(first.variants)}")
    return pairs


def _named_side(run: Run, variant: str) -> Side:
    label = run.variants[variant]
    return Side(run, variant, run.name if len(run.variants) == 1 else f"{run.name}, {label}")


def _checked(variant: str, run: Run) -> str:
    if variant not in run.variants:
        raise LabError(f"{run.name} has no variant {variant!r}, but {', '.join(run.variants)}")
    return variant


def _compare_series(
    base: Side, other: Side, left: Series, right: Series,
    confidence: float, margin: float, level_confidence: float,
) -> SeriesComparison | None:  # fmt: skip
    by_x = {point.x: point for point in right.points}
    common = [(point, by_x[point.x]) for point in left.points if point.x in by_x]
    if not common:
        return None
    estimate = _estimate(base, other, common)
    each = family_confidence(confidence, len(common))
    points = tuple(
        PointComparison(
            mine.x, level_of(mine, level_confidence), level_of(theirs, level_confidence),
            judge(_estimate(base, other, [(mine, theirs)]), left.better, each, margin),
            _superiority(mine, theirs, left.better),
        )
        for mine, theirs in common
    )  # fmt: skip
    verdict = judge(estimate, left.better, confidence, margin)
    return SeriesComparison(base, other, left, base.run is other.run, points, verdict)


def _estimate(base: Side, other: Side, pairs: Sequence[tuple[Point, Point]]) -> Estimate | None:
    left = [pair[0].samples for pair in pairs]
    right = [pair[1].samples for pair in pairs]
    if base.run is other.run:
        return estimate_paired(left, right, base.run.shares_server)
    return estimate_unpaired(left, right)


def level_of(point: Point, confidence: float) -> Level:
    estimate = estimate_level([point.samples])
    half_width = estimate.half_width(confidence)
    high = exp_or_infinity(estimate.mean + half_width)
    is_known = math.isfinite(high)
    return Level(
        point.x, math.exp(estimate.mean),
        math.exp(estimate.mean - half_width) if is_known else math.nan,
        high if is_known else math.nan,
        len(point.samples), sum(bool(sample.noise) for sample in point.samples),
    )  # fmt: skip


def _superiority(base: Point, other: Point, better: str) -> float:
    """Vargha and Delaney's A: 0.5 where neither beats the other, 1 where the other always does."""
    sign = 1 if better == "higher" else -1
    wins = sum(
        0.5 if right.value == left.value else sign * (right.value - left.value) > 0
        for left in base.samples
        for right in other.samples
    )
    return wins / (len(base.samples) * len(other.samples))
