"""Verdicts and numbers as text, the same on the terminal, in Markdown and on the page."""

import math
from collections.abc import Callable

from penumbra_lab.analysis.comparison import Comparison, Level, SeriesComparison
from penumbra_lab.analysis.verdict import Outcome, Verdict

TIME_UNITS = {"s", "ms", "us", "µs", "ns", "seconds", "milliseconds", "microseconds", "nanoseconds"}
# From here on a factor says more than a percentage.
FACTOR_MIN = 2.0


def is_speed(unit: str) -> bool:
    return unit in TIME_UNITS or unit.endswith("/s") or unit == "tps"


def verdict_text(verdict: Verdict, unit: str, better: str) -> str:
    match verdict.outcome:
        case Outcome.SAME:
            return f"no difference (within ± {percent(verdict.within)})"
        case Outcome.UNCLEAR if not math.isfinite(verdict.high):
            return "too few samples to tell: at least 2, better 5 repetitions"
        case Outcome.UNCLEAR:
            bounds = f"{_signed(verdict.low - 1)} … {_signed(verdict.high - 1)} %"
            return f"too noisy to tell ({bounds}): {_more(verdict)}"
    return _difference_text(verdict, unit, better)


def _difference_text(verdict: Verdict, unit: str, better: str) -> str:
    words = ("faster", "slower")
    ratio, low, high = verdict.ratio, verdict.low, verdict.high
    if not is_speed(unit):
        words = ("more", "less")
        if better == "lower":
            ratio, low, high = 1 / ratio, 1 / high, 1 / low
    if ratio >= 1:
        word, convert = words[0], _identity
    else:
        word, convert, low, high = words[1], _inverse, high, low
    # Half the speed is "2 times slower" to many and "50 % slower" to others: the percentage is plain.
    if ratio >= FACTOR_MIN:
        text = f"{factor(ratio)} ({factor(low)} … {factor(high)})"
        return f"{text} as fast" if is_speed(unit) else f"{text} as much"
    bounds = sorted((100 * abs(convert(low)), 100 * abs(convert(high))))
    return (f"{word} by {100 * abs(convert(ratio)):.1f} %"
            f" ({bounds[0]:.1f} … {bounds[1]:.1f})")  # fmt: skip


def _identity(ratio: float) -> float:
    return ratio - 1


def _inverse(ratio: float) -> float:
    return 1 - ratio


def _more(verdict: Verdict) -> str:
    if verdict.more_units > 1000:
        return f"more than 1,000 more {verdict.unit}"
    unit = verdict.unit.removesuffix("s") if verdict.more_units == 1 else verdict.unit
    return f"about {verdict.more_units} more {unit}"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if math.isfinite(share) else "any"


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
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, min(digits, 6))}f}"


def level_text(level: Level) -> str:
    if not math.isfinite(level.low):
        return number(level.value)
    return f"{number(level.value)} ({number(level.low)} … {number(level.high)})"
