"""Verdicts and numbers as text, the same on the terminal, in Markdown and on the page."""

import math

from penumbra_lab.analysis.comparison import Level
from penumbra_lab.analysis.verdict import Outcome, Verdict

TIME_UNITS = {"s", "ms", "us", "µs", "ns", "seconds", "milliseconds", "microseconds", "nanoseconds"}
# From here on a factor says more than a percentage.
FACTOR_MIN = 2.0
# A share that says nothing any more.
PERCENT_MAX = 100.0


def is_speed(unit: str) -> bool:
    return unit in TIME_UNITS or unit.endswith("/s") or unit == "tps"


def verdict_text(verdict: Verdict, unit: str, better: str) -> str:
    match verdict.outcome:
        case Outcome.SAME:
            return f"no difference (within ± {percent(verdict.within)})"
        case Outcome.UNCLEAR if not math.isfinite(verdict.high):
            return "too few samples to tell: at least 2, better 5 repetitions"
        case Outcome.UNCLEAR:
            return f"too noisy to tell: {_more(verdict)}"
    return _difference_text(verdict, unit, better)


def _difference_text(verdict: Verdict, unit: str, better: str) -> str:
    words = ("faster", "slower") if is_speed(unit) else ("larger", "smaller")
    ratio, low, high = verdict.ratio, verdict.low, verdict.high
    if not is_speed(unit) and better == "lower":
        # A time is the inverse of a speed; bytes are the inverse of nothing.
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    if ratio >= FACTOR_MIN:
        what = "as fast" if is_speed(unit) else "as much"
        return f"{number(ratio)} times {what} ({number(low)} … {number(high)})"
    least, most = sorted(100 * abs(bound - 1) for bound in (low, high))
    word = words[0] if ratio > 1 else words[1]
    return f"{word} by {100 * abs(ratio - 1):.1f} % ({least:.1f} … {most:.1f})"


def _more(verdict: Verdict) -> str:
    if verdict.more_units > 1000:
        return f"more than 1,000 more {verdict.unit}"
    unit = verdict.unit.removesuffix("s") if verdict.more_units == 1 else verdict.unit
    return f"about {verdict.more_units} more {unit}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < PERCENT_MAX else "any"


def factor(value: float) -> str:
    if not math.isfinite(value):
        return "any"
    return f"{number(value)} x"


def number(value: float) -> str:
    """Three digits, without powers of ten."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    digits = 2 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(0, min(digits, 9))}f}"


def level_text(level: Level) -> str:
    if not math.isfinite(level.low):
        return number(level.value)
    return f"{number(level.value)} ± {percent(level.high / level.value - 1)}"
