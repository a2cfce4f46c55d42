"""How often a comparison is right: runs simulated from recorded noise, judged like real ones.

A recording is a run of two variants that are the same configuration: whatever differs between them
is noise. Simulated runs take whole server starts of it, and in them blocks that follow each other,
so that drift, outliers and what server starts differ by stay as they were. A true difference
multiplies one side.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penumbra_lab.analysis.document import Run, Sample
from penumbra_lab.analysis.estimate import estimate_paired, estimate_unpaired
from penumbra_lab.analysis.verdict import Outcome, Verdict, family_confidence, judge

# The samples of each point of a curve.
Curve = list[list[Sample]]


@dataclass(frozen=True)
class Design:
    """Of a simulated run."""

    starts: int
    blocks: int  # per start and point
    points: int = 1


class Noise:
    """Recorded pairs of one workload: an array (server starts, blocks, 2) of values."""

    def __init__(self, run: Run, workload: str):
        sides = [series.points[0].samples for series in run.series if series.workload == workload]
        starts = sorted({sample.server_start for sample in sides[0]})
        self.values = np.array([
            [self._of_start(samples, start) for samples in sides] for start in starts
        ]).transpose(0, 2, 1)  # fmt: skip

    @staticmethod
    def _of_start(samples: Sequence[Sample], start: int | None) -> list[float]:
        mine = [sample for sample in samples if sample.server_start == start]
        return [sample.value for sample in sorted(mine, key=lambda sample: sample.block)]

    def run(self, design: Design, starts: np.ndarray, sides: Sequence[int],
            random: np.random.Generator) -> list[Curve]:  # fmt: skip
        """One simulated run on the recorded `starts`: a curve for each of `sides`."""
        curves: list[Curve] = [[[] for _ in range(design.points)] for _ in sides]
        for number, start in enumerate(starts):
            for point in range(design.points):
                first = random.integers(self.values.shape[1] - design.blocks + 1)
                for offset in range(design.blocks):
                    values = self.values[start, first + offset]
                    block = number * design.blocks + offset
                    for curve, side in zip(curves, sides, strict=True):
                        curve[point].append(Sample(values[side], block, number))
        return curves


def simulate(
    noises: Sequence[Noise], design: Design, ratio: float, pairs: int, seed: int,
    confidence: float, margin: float, paired: bool = True,
) -> Counter[Outcome]:  # fmt: skip
    """The outcomes of so many comparisons of two variants, the second better by `ratio`.

    A comparison of a curve counts once: as different when the curve or any of its points is.
    """
    random = np.random.default_rng(seed)
    found: Counter[Outcome] = Counter()
    for number in range(pairs):
        noise = noises[number % len(noises)]
        base, other = _two_curves(noise, design, random, paired)
        other = [[Sample(s.value * ratio, s.block, s.server_start) for s in point]
                 for point in other]  # fmt: skip
        found[_outcome(base, other, confidence, margin, paired)] += 1
    return found


def _two_curves(
    noise: Noise, design: Design, random: np.random.Generator, paired: bool
) -> tuple[Curve, Curve]:
    order = random.permutation(len(noise.values))
    if paired:
        base, other = noise.run(design, order[: design.starts], random.permutation(2), random)
        return base, other
    # Two runs never share a server start.
    halves = order[: design.starts], order[design.starts : 2 * design.starts]
    base, other = (noise.run(design, half, [random.integers(2)], random)[0] for half in halves)
    return base, other


def _outcome(base: Curve, other: Curve, confidence: float, margin: float, paired: bool) -> Outcome:
    def verdict(left: Curve, right: Curve, level: float) -> Verdict:
        estimate = (
            estimate_paired(left, right, same_server=False)
            if paired
            else estimate_unpaired(left, right)
        )
        return judge(estimate, "higher", level, margin)

    whole = verdict(base, other, confidence)
    if whole.outcome is not Outcome.SAME or len(base) == 1:
        return whole.outcome
    each = family_confidence(confidence, len(base))
    for left, right in zip(base, other, strict=True):
        point = verdict([left], [right], each)
        if point.outcome in (Outcome.BETTER, Outcome.WORSE):
            return point.outcome
    return whole.outcome
