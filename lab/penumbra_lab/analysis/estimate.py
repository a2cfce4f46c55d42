"""Means of logarithms with honest intervals from few samples of few server starts.

Everything is estimated on logarithms: noise is relative, and a ratio becomes a difference. A server
start is a random effect: two servers of the same settings differ for as long as they live, and no
number of repetitions on them averages that away. README.md has the model, and what else was tried.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from penumbra_lab.analysis.document import Sample


@dataclass(frozen=True)
class StartNoise:
    """How much the means of server starts of the same settings differ, beyond what repetitions do.

    As a standard deviation of the logarithm: at least `floor`, and `share` of the deviation of one
    sample, because a machine that jumps from second to second drifts from minute to minute too.
    """

    floor: float
    share: float

    def variance(self, sample_variance: float) -> float:
        return self.floor**2 + self.share**2 * sample_variance


# Measured in the recordings of lab/noise: next to each other in time (of ratios, so of two starts),
# and each at a time of its own. They count like START_DEGREES degrees of freedom beside what the
# starts of a run say themselves.
PAIRED_STARTS = StartNoise(floor=0.012, share=0.3)
LONE_STARTS = StartNoise(floor=0.03, share=0.8)
SAME_SERVER = StartNoise(floor=0.0, share=0.0)
START_DEGREES = 6.0
POWER = 0.8


@dataclass(frozen=True)
class Estimate:
    """A mean of logarithms; `units` independent `unit`s stand behind it."""

    mean: float
    standard_error: float
    degrees: float
    units: int
    unit: str  # "repetitions" or "server starts"

    def half_width(self, confidence: float) -> float:
        if not self.is_known:
            return math.inf
        return self.standard_error * _quantile((1 + confidence) / 2, self.degrees)

    def detectable(self, confidence: float) -> float:
        """The true difference that would be told from none in four runs of five."""
        if not self.is_known:
            return math.inf
        return self.half_width(confidence) + self.standard_error * _quantile(POWER, self.degrees)

    @property
    def is_known(self) -> bool:
        """Whether there is anything to judge the error by: one sample has no spread."""
        return self.degrees > 0


def _quantile(probability: float, degrees: float) -> float:
    return float(stats.t.ppf(probability, degrees))


# Logarithms of the samples of one point, grouped by server start (or pair of server starts).
Cells = dict[Hashable, np.ndarray]


def estimate_mean(points: Sequence[Cells], start_noise: StartNoise) -> Estimate:
    """The mean over points, each server start counting the same."""
    is_one_server = start_noise is SAME_SERVER
    if is_one_server:
        points = [{0: np.concatenate(list(cells.values()))} for cells in points]
    point_means = [np.mean([cell.mean() for cell in cells.values()]) for cells in points]
    starts = list(dict.fromkeys(start for cells in points for start in cells))
    effects = [
        np.mean([cells[start].mean() - mean
                 for cells, mean in zip(points, point_means, strict=True) if start in cells])
        for start in starts
    ]  # fmt: skip
    variance, degrees = _start_mean_variance(points, np.array(effects), start_noise)
    return Estimate(
        mean=float(np.mean(point_means)),
        standard_error=math.sqrt(variance / len(starts)),
        degrees=degrees,
        units=min(len(cells[0]) for cells in points) if is_one_server else len(starts),
        unit="repetitions" if is_one_server else "server starts",
    )


def _start_mean_variance(
    points: Sequence[Cells], effects: np.ndarray, start_noise: StartNoise
) -> tuple[float, float]:
    """The variance of one server start's mean, and its degrees of freedom.

    What the spread within starts predicts, with what is known of starts, is one witness, the spread
    of the starts' means another; both count by their degrees of freedom (a moderated t).
    """
    within, within_degrees, sample_variance = _within_variance(points)
    between_degrees = len(effects) - 1
    between = float((effects**2).sum()) / between_degrees if between_degrees else 0.0
    if within_degrees == 0:
        return between, between_degrees
    known = start_noise.variance(sample_variance)
    predicted = within + known
    if predicted == 0:
        return 0.0, within_degrees
    predicted_degrees = predicted**2 / (within**2 / within_degrees + known**2 / START_DEGREES)
    degrees = predicted_degrees + between_degrees
    return (predicted_degrees * predicted + between_degrees * between) / degrees, degrees


def _within_variance(points: Sequence[Cells]) -> tuple[float, float, float]:
    """Of one start's mean, as far as more repetitions would shrink it, with its degrees of freedom
    (Satterthwaite); and of one sample."""
    parts, squares, variances, all_degrees = 0.0, 0.0, 0.0, 0
    for cells in points:
        degrees = sum(len(cell) - 1 for cell in cells.values())
        if degrees == 0:
            return 0.0, 0.0, 0.0
        variance = (
            sum(float(((cell - cell.mean()) ** 2).sum()) for cell in cells.values()) / degrees
        )
        part = variance * np.mean([1 / len(cell) for cell in cells.values()]) / len(points) ** 2
        parts += float(part)
        squares += float(part) ** 2 / degrees
        variances += variance / len(points)
        all_degrees += degrees
    return parts, parts**2 / squares if squares else float(all_degrees), variances


def estimate_level(points: Sequence[Sequence[Sample]]) -> Estimate:
    """Of one configuration: the mean logarithm."""
    return estimate_mean([_by_start(samples) for samples in points], LONE_STARTS)


def estimate_unpaired(
    base: Sequence[Sequence[Sample]], other: Sequence[Sequence[Sample]]
) -> Estimate:
    """The logarithm of other / base for two runs that shared nothing (Welch)."""
    left, right = estimate_level(base), estimate_level(other)
    variances = [side.standard_error**2 for side in (left, right)]
    degrees = 0.0
    if left.is_known and right.is_known:
        total = sum(variances)
        squares = variances[0] ** 2 / left.degrees + variances[1] ** 2 / right.degrees
        degrees = total**2 / squares if squares else min(left.degrees, right.degrees)
    return Estimate(
        mean=right.mean - left.mean,
        standard_error=math.sqrt(sum(variances)),
        degrees=degrees,
        units=min(left.units, right.units),
        unit=left.unit,
    )


def estimate_paired(
    base: Sequence[Sequence[Sample]], other: Sequence[Sequence[Sample]], same_server: bool
) -> Estimate | None:
    """The same where both ran side by side in blocks; None where they share no block."""
    points = [_block_ratios(*pair) for pair in zip(base, other, strict=True)]
    if not all(points):
        return None
    return estimate_mean(points, SAME_SERVER if same_server else PAIRED_STARTS)


def _by_start(samples: Sequence[Sample]) -> Cells:
    groups: dict[Hashable, list[float]] = {}
    for sample in samples:
        groups.setdefault(sample.server_start, []).append(math.log(sample.value))
    return {start: np.array(values) for start, values in groups.items()}


def _block_ratios(base: Sequence[Sample], other: Sequence[Sample]) -> Cells:
    """One log ratio per block that both took part in, by the servers that they ran on."""
    left, right = _block_means(base), _block_means(other)
    groups: dict[Hashable, list[float]] = {}
    for block in sorted(left.keys() & right.keys()):
        (left_start, left_mean), (right_start, right_mean) = left[block], right[block]
        groups.setdefault((left_start, right_start), []).append(right_mean - left_mean)
    return {pair: np.array(values) for pair, values in groups.items()}


def _block_means(samples: Sequence[Sample]) -> dict[int, tuple[int | None, float]]:
    blocks: dict[int, list[Sample]] = {}
    for sample in samples:
        blocks.setdefault(sample.block, []).append(sample)
    return {
        block: (found[0].server_start, float(np.mean([math.log(s.value) for s in found])))
        for block, found in blocks.items()
    }
