"""Numbers, times and foreign texts as people read them, in the terminal and on the page."""

import unicodedata
from datetime import datetime, timedelta

NONE = "–"
SIZE_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
LINE_CATEGORIES = {"Cc", "Zl", "Zp"}


def size(count: float | None) -> str:
    """In PostgreSQL's units: 1 kB has 1,024 bytes."""
    if not count:
        return NONE if count is None else "0"
    unit = 0
    while abs(count) >= 1000 and unit < len(SIZE_UNITS) - 1:
        count /= 1024
        unit += 1
    return (
        f"{count:,.0f} {SIZE_UNITS[unit]}"
        if unit == 0 or count >= 10
        else f"{count:.1f} {SIZE_UNITS[unit]}"
    )


def count(value: float | None) -> str:
    if value is None:
        return NONE
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(value) >= limit:
            return f"{value / limit:.3g} {unit}"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def counted(number: float, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def percent(value: float | None) -> str:
    """Never rounded to 100 or to 0, which say that all or nothing is meant."""
    if value is None:
        return NONE
    if 0 < value < 0.1:
        return "< 0.1 %"
    return f"{value:.0f} %" if value in (0, 100) else f"{min(value, 99.9):.1f} %"


def milliseconds(value: float | None) -> str:
    if value is None:
        return NONE
    if value >= 60_000:
        return duration(timedelta(milliseconds=value))
    if value >= 10_000:
        return f"{value / 1000:.1f} s"
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"


def duration(value: timedelta | None) -> str:
    if value is None:
        return NONE
    seconds = max(0, round(value.total_seconds()))
    for length, unit, below in ((86400, "d", "h"), (3600, "h", "min"), (60, "min", "s")):
        if seconds >= length:
            rest = seconds % length // {"h": 3600, "min": 60, "s": 1}[below]
            return f"{seconds // length} {unit}" + (f" {rest} {below}" if rest else "")
    return f"{seconds} s"


def ago(moment: datetime | None, now: datetime) -> str:
    return NONE if moment is None else f"{duration(now - moment)} ago"


def line(text: str | None) -> str:
    """Of a name, a query or a message: on one line, without what a terminal would obey and what
    would turn the direction of the text after it."""
    if text is None:
        return NONE
    return " ".join("".join(map(_harmless, text)).split())


def block(text: str) -> str:
    """The same of a text that keeps its lines."""
    return "".join(letter if letter == "\n" else _harmless(letter) for letter in text)


def is_harmless(text: str) -> bool:
    return block(text) == text


def _harmless(letter: str) -> str:
    category = unicodedata.category(letter)
    if category == "Cf" and letter not in "\u200c\u200d":
        return ""
    return " " if category in LINE_CATEGORIES else letter


def name(*parts: str | None) -> str:
    """Of a relation, its schema left out where that is public."""
    return (
        ".".join(
            line(part) for part in parts if part is not None and (part, len(parts)) != ("public", 2)
        )
        or NONE
    )


def shortened(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"
