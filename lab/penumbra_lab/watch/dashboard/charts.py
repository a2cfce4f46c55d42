"""The charts of the last hours, as numbers for an SVG of fixed size that the page stretches.

Lines keep their width then, and no text is in what is stretched: it has one size on a phone and on
a desk.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from penumbra_lab.watch.sampler import Point
from penumbra_lab.watch.wording import count, size

WIDTH, HEIGHT = 600, 160
POINTS_MAX = 300
# Where samples are missing for longer than so many usual distances, the line is broken.
GAP = 4
SHORTEST_SECONDS = 120


@dataclass(frozen=True)
class Curve:
    label: str
    colour: str  # of the theme
    path: str
    area: str  # the same closed below; empty: not filled
    now: str
    most: str


@dataclass(frozen=True)
class Chart:
    key: str
    title: str
    meaning: str
    curves: tuple[Curve, ...]
    top: str  # what the upper edge stands for
    ticks: tuple[tuple[float, str], ...]  # share of the width, time
    is_empty: bool


@dataclass(frozen=True)
class Plot:
    key: str
    title: str
    meaning: str
    lines: tuple[tuple[str, str, str], ...]  # label, name of the value, colour
    write: Callable[[float | None], str]
    is_binary: bool = False  # the scale is in powers of 1,024
    is_filled: bool = True  # the first line is


PLOTS = (
    Plot(
        "memory",
        "Memory",
        "Cached columns, and what they may take.",
        (("used", "used_bytes", "side2"), ("allowed", "budget_bytes", "side3")),
        size,
        True,
    ),
    Plot(
        "pages",
        "Pages read per second",
        "From the cache, and from the table in place of cached ones.",
        (
            ("from the cache", "pages_from_cache", "side5"),
            ("from the table", "pages_from_heap", "side1"),
        ),
        count,
    ),
    Plot(
        "calls",
        "Calls per second",
        "Of statements that could gain.",
        (
            ("in vectors", "calls_in_vectors", "side5"),
            ("in part", "calls_partly", "side6"),
            ("by PostgreSQL alone", "calls_not", "side1"),
        ),
        count,
    ),
    Plot(
        "bytes",
        "Bytes loaded per second",
        "Read from tables to cache them, and from the disk cache.",
        (("from tables", "bytes_loaded", "side4"), ("from disk", "disk_bytes_read", "side6")),
        size,
        True,
    ),
)


def make_charts(points: Sequence[Point], since: float, until: float, seconds: float) -> list[Chart]:
    """From the first point on, if that is later."""
    if points:
        since = max(since, min(points[0].at, until - SHORTEST_SECONDS))
    return [_chart(plot, points, since, until, seconds) for plot in PLOTS]


def _chart(
    plot: Plot, points: Sequence[Point], since: float, until: float, seconds: float
) -> Chart:
    series = [
        thinned([(point.at, point.values[name]) for point in points if name in point.values])
        for _, name, _ in plot.lines
    ]
    highest = max((value for line in series for _, value in line), default=0)
    top = scale_top(highest, plot.is_binary)
    usual = max(seconds, (until - since) / POINTS_MAX)

    def place(at: float, value: float) -> str:
        x = WIDTH * (at - since) / (until - since)
        return f"{x:.1f} {HEIGHT * (1 - value / top):.1f}"

    curves = []
    for number, ((label, _, colour), line) in enumerate(zip(plot.lines, series, strict=True)):
        parts = [[place(*point) for point in part] for part in unbroken(line, GAP * usual)]
        is_filled = number == 0 and plot.is_filled
        curves.append(
            Curve(
                label,
                colour,
                path=" ".join(
                    f"M{' L'.join(part)}" + ("h.1" if len(part) == 1 else "") for part in parts
                ),
                area=" ".join(
                    f"M{' L'.join(part)} V{HEIGHT} H{part[0].split()[0]} Z" for part in parts
                )
                if is_filled
                else "",
                now=plot.write(line[-1][1] if line else None),
                most=plot.write(max((value for _, value in line), default=None)),
            )
        )
    return Chart(
        plot.key,
        plot.title,
        plot.meaning,
        tuple(curves),
        plot.write(top),
        tuple(time_ticks(since, until)),
        not any(series),
    )


def thinned(line: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most POINTS_MAX: of neighbours the highest, so that no peak is lost."""
    step = math.ceil(len(line) / POINTS_MAX)
    if step <= 1:
        return list(line)
    groups = (line[start : start + step] for start in range(0, len(line), step))
    return [(group[-1][0], max(value for _, value in group)) for group in groups]


def unbroken(line: Sequence[tuple[float, float]], gap: float) -> Iterator[list]:
    part: list = []
    for point in line:
        if part and point[0] - part[-1][0] > gap:
            yield part
            part = []
        part.append(point)
    if part:
        yield part


def scale_top(highest: float, is_binary: bool) -> float:
    """The next round number: a power of two, or 1, 2 or 5 times a power of ten."""
    if highest <= 0:
        return 1
    if is_binary:
        return 2.0 ** math.ceil(math.log2(highest))
    power = 10.0 ** math.floor(math.log10(highest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= highest)


def time_ticks(since: float, until: float) -> Iterator[tuple[float, str]]:
    """Round times of the clock, four to six of them."""
    lengths = (60, 120, 300, 600, 900, 1800, 3600, 7200)
    length = next((one for one in lengths if (until - since) / one <= 6), lengths[-1])
    first = math.ceil(since / length) * length
    while first <= until:
        yield (first - since) / (until - since), datetime.fromtimestamp(first).strftime("%H:%M")
        first += length
