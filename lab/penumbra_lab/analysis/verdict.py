"""What an estimate allows to say, in words that claim no more than the interval does."""

import enum
import math
from dataclasses import dataclass

from penumbra_lab.analysis.estimate import Estimate

# Of a whole comparison: that all its verdicts are right together.
CONFIDENCE = 0.98
# Whoever cannot rule out a larger difference than this may not call it none.
MARGIN = 0.10
EXPONENT_MAX = 700.0


class Outcome(enum.Enum):
    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Verdict:
    """Ratios are of goodness: above 1 the other side is better, whichever way its metric runs."""

    outcome: Outcome
    ratio: float
    low: float
    high: float
    detectable: float  # the smallest difference that this run could have found, 0.05 for 5 %
    more_units: int  # for UNCLEAR
    unit: str

    @property
    def within(self) -> float:
        """How far from equal the two may be, at most."""
        return max(self.high, 1 / self.low) - 1 if self.low > 0 else math.inf


def family_confidence(confidence: float, members: int) -> float:
    """What each of so many statements needs, for all to hold together (Sidak)."""
    return confidence ** (1 / max(members, 1))


def judge(estimate: Estimate | None, better: str, confidence: float, margin: float) -> Verdict:
    """`estimate` is of the logarithm of other / base; None where nothing can be said."""
    if estimate is None or not estimate.is_known:
        ratio = math.exp(_goodness(estimate.mean, better)) if estimate else math.nan
        return Verdict(Outcome.UNCLEAR, ratio, 0.0, math.inf, math.inf, 1, "repetitions")
    mean = _goodness(estimate.mean, better)
    half_width = estimate.half_width(confidence)
    low, high = exp_or_infinity(mean - half_width), exp_or_infinity(mean + half_width)
    if low > 1:
        outcome = Outcome.BETTER
    elif high < 1:
        outcome = Outcome.WORSE
    elif max(high, 1 / low if low else math.inf) <= 1 + margin:
        outcome = Outcome.SAME
    else:
        outcome = Outcome.UNCLEAR
    detectable = estimate.detectable(confidence)
    needed = estimate.units * (detectable / math.log1p(margin)) ** 2
    return Verdict(
        outcome, exp_or_infinity(mean), low, high, exp_or_infinity(detectable) - 1,
        max(1, math.ceil(needed) - estimate.units) if outcome is Outcome.UNCLEAR else 0,
        estimate.unit,
    )  # fmt: skip


def _goodness(log_ratio: float, better: str) -> float:
    return log_ratio if better == "higher" else -log_ratio


def exp_or_infinity(value: float) -> float:
    """Two samples give intervals of any width."""
    return math.exp(value) if value < EXPONENT_MAX else math.inf
