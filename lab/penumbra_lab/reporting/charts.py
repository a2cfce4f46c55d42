"""Charts as Vega-Lite specifications, drawn without a browser: SVG for the page, PNG for files.

Colours are those of the theme; in the SVG they become CSS variables, so that one drawing serves
light and dark. Sides differ by shape as well as by colour.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from penumbra_lab.analysis.comparison import Comparison, SeriesComparison, Side, level_of
from penumbra_lab.analysis.document import Series
from penumbra_lab.analysis.verdict import Verdict
from penumbra_lab.reporting.tables import axis_title
from penumbra_lab.reporting.theme import GRID, LIGHT, QUIET, SIDES, TEXT

# On a phone of 360 pixels a chart with its axis is shown at full size; a wide screen shows two.
CURVE_WIDTH_PX, CURVE_HEIGHT_PX = 235, 180
ROWS_WIDTH_PX, ROW_HEIGHT_PX, ROW_LABEL_PX = 170, 17, 130
# Texts are measured with the first, and some browsers have only wider ones.
FONT = "Arial, Liberation Sans, sans-serif"
PADDING_PX = {"left": 16, "right": 8, "top": 4, "bottom": 4}
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
# 50k, but 0.5 and not 500m.
NUMBERS = {"labelExpr": "format(datum.value, abs(datum.value) < 1000 ? '~g' : '~s')"}
PNG_SCALE = 2.0
# Ratios beyond these are drawn as factors on a logarithmic axis, the others in percent.
PERCENT_MIN, PERCENT_MAX = 0.5, 2.0
# What is measured is drawn on a logarithmic axis when it spans more.
LINEAR_SPAN_MAX = 20.0
# An interval may reach out of the picture; what it surrounds may not.
OVERHANG = 3.0
INNER_ROLES = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
# Longer labels of a legend stand below each other, up to the width of the chart.
LEGEND_LABEL_LENGTH, LEGEND_LABEL_PX = 16, 160


@dataclass(frozen=True, eq=False)
class Chart:
    title: str
    specification: dict

    def svg(self) -> str:
        """With the colours as CSS variables, to be inlined in the page."""
        import vl_convert  # by whoever draws: Debian has no package of it

        drawn = vl_convert.vegalite_to_svg(self.specification | {"config": _config()})
        # To a screen reader it is one picture; the numbers are in the tables.
        drawn = INNER_ROLES.sub("", drawn)
        for name, colour in LIGHT.items():
            drawn = drawn.replace(f'"{colour}"', f'"var(--{name})"')
        return drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(self.title)}" ', 1)


def png(charts: Sequence[Chart]) -> bytes:
    """All of them in one picture, below each other, on white."""
    import vl_convert

    parts = [chart.specification | {"title": chart.title} for chart in charts]
    config = _config() | {"background": LIGHT["page"], "padding": 12}
    stacked = {"vconcat": parts, "config": config,
               "resolve": {"scale": {"color": "independent", "shape": "independent"}}}  # fmt: skip
    return vl_convert.vegalite_to_png(stacked, scale=PNG_SCALE)


def curve_charts(comparison: Comparison) -> list[Chart]:
    """For each workload with a curve: what was measured, and how the others relate to the base."""
    charts = []
    for key, mine in _by_key(comparison, has_axis=True).items():
        title = ": ".join(key)
        rows = [row for side, series in mine for row in _level_rows(side, series, comparison)]
        looks = _looks(comparison, [side for side, _ in mine])
        charts.append(Chart(title, _curve_chart(mine[0][1], rows, looks)))
        entries = [entry for entry in comparison.series if entry.series.key == key]
        charts += _ratio_charts(comparison, entries, title, along="x")
    return charts


def row_charts(comparison: Comparison) -> list[Chart]:
    """For all workloads without a curve that share metric and unit: a row for each."""
    charts = []
    groups: dict[tuple[str, str], list[tuple[Side, Series]]] = {}
    for mine in _by_key(comparison, has_axis=False).values():
        for side, series in mine:
            groups.setdefault((series.metric, series.unit), []).append((side, series))
    for (metric, unit), mine in groups.items():
        rows = [row for side, series in mine for row in _level_rows(side, series, comparison)]
        looks = _looks(comparison, [side for side, _ in mine])
        charts.append(Chart(metric, _rows_chart(f"{metric}, {unit}", rows, looks)))
        entries = [
            e
            for e in comparison.series
            if e.series.x_name is None and (e.series.metric, e.series.unit) == (metric, unit)
        ]
        charts += _ratio_charts(comparison, entries, metric, along="row")
    return charts


def frontier_charts(comparison: Comparison) -> list[Chart]:
    """Of runs with writers and analysts: what a side can do of both at once, all in one chart."""
    rows, sides = [], []
    for side in comparison.sides:
        points = [
            (point["transactions"], point["queries"])
            for point in side.run.document.get("sections", {}).get("frontier", [])
            if point["variant"] == side.variant
        ]
        best = not_dominated(points)
        rows += [{"side": side.label, "x": point[0], "y": point[1], "best": point in best}
                 for point in sorted(points)]  # fmt: skip
        sides += [side] if points else []
    if not rows:
        return []
    return [Chart("frontier", _frontier_chart(rows, _looks(comparison, sides)))]


def not_dominated(points: Sequence[tuple[float, float]]) -> set[tuple[float, float]]:
    """Those to which no other is better in one way and as good in the other."""
    return {
        (x, y)
        for x, y in points
        if not any(a >= x and b >= y and (a, b) != (x, y) for a, b in points)
    }


def _frontier_chart(rows: list[dict], looks: dict) -> dict:
    x = {"field": "x", "type": "quantitative", "axis": NUMBERS | {"title": "transactions, 1/s"}}
    y = {"field": "y", "type": "quantitative",
         "axis": NUMBERS | {"title": "analytic queries, 1/s"}}  # fmt: skip
    marks = [
        {"mark": {"type": "line", "strokeWidth": 1.5}, "transform": [{"filter": "datum.best"}]},
        {"mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
         "encoding": {"shape": looks["shape"]}},
    ]  # fmt: skip
    return {
        "width": CURVE_WIDTH_PX, "height": CURVE_HEIGHT_PX, "data": {"values": rows},
        "encoding": {"x": x, "y": y, "color": looks["color"]}, "layer": marks,
    }  # fmt: skip


def _ratio_charts(
    comparison: Comparison, entries: Sequence[SeriesComparison], title: str, along: str
) -> list[Chart]:
    """One for each base."""
    charts = []
    for base in dict.fromkeys(entry.base for entry in entries):
        mine = [entry for entry in entries if entry.base == base]
        rows = [
            _ratio_row(entry.other, point.verdict) | {"x": point.x, "row": entry.series.workload}
            for entry in mine
            for point in entry.points
            if math.isfinite(point.verdict.ratio)
        ]
        if rows:
            looks = _looks(comparison, [entry.other for entry in mine])
            specification = _ratio_chart(mine[0].series, rows, looks, along)
            charts.append(Chart(f"{title}, against {base.label}", specification))
    return charts


def _by_key(
    comparison: Comparison, has_axis: bool
) -> dict[tuple[str, str], list[tuple[Side, Series]]]:
    found: dict[tuple[str, str], list[tuple[Side, Series]]] = {}
    for side in comparison.sides:
        for key, series in side.run.by_variant[side.variant].items():
            if (series.x_name is not None) == has_axis:
                found.setdefault(key, []).append((side, series))
    return found


def _level_rows(side: Side, series: Series, comparison: Comparison) -> Iterable[dict]:
    for point in series.points:
        level = level_of(point, comparison.confidence)
        is_known = math.isfinite(level.low)
        yield {
            "side": side.label, "row": series.workload, "x": point.x, "value": level.value,
            "low": level.low if is_known else level.value,
            "high": level.high if is_known else level.value,
        }  # fmt: skip


def _curve_chart(series: Series, rows: list[dict], looks: dict) -> dict:
    y = {"type": "quantitative", "axis": NUMBERS | {"title": series.unit},
         "scale": _value_scale(rows)}  # fmt: skip
    marks = [
        {"mark": {"type": "area", "opacity": 0.25, "clip": True},
         "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}}},
        {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": {"y": {**y, "field": "value"}}},
        {"mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
         "encoding": {"y": {**y, "field": "value"}, "shape": looks["shape"]}},
    ]  # fmt: skip
    xs = sorted({row["x"] for row in rows})
    scale = {"type": "log", "base": 2} if xs[0] > 0 and xs[-1] / xs[0] > LINEAR_SPAN_MAX else {}
    x = {"field": "x", "type": "quantitative", "scale": {"zero": False, "padding": 8} | scale,
         "axis": {"title": axis_title(series), "values": xs, "grid": False,
                  "labelOverlap": "greedy", "format": "~s"}}  # fmt: skip
    return {
        "width": CURVE_WIDTH_PX, "height": CURVE_HEIGHT_PX, "data": {"values": rows},
        "encoding": {"x": x, "color": looks["color"]}, "layer": marks,
    }  # fmt: skip


def _value_scale(rows: list[dict]) -> dict:
    """Linear from zero; the picture ends a little above what was measured."""
    top = max(row["value"] for row in rows) * 1.1
    return {"domain": [0, max(top, min(max(row["high"] for row in rows), top * 1.3))]}


def _rows_chart(title: str, rows: list[dict], looks: dict) -> dict:
    values = [row["value"] for row in rows]
    if max(values) / min(values) > LINEAR_SPAN_MAX:
        x = _logarithmic(values) | {"title": title}
    else:
        x = {"type": "quantitative", "scale": _value_scale(rows), "title": title,
             "axis": NUMBERS}  # fmt: skip
    marks = [
        {"mark": {"type": "rule", "color": GRID},
         "encoding": {"x": {**x, "aggregate": "min", "field": "value"},
                      "x2": {"aggregate": "max", "field": "value"}}},
        {"mark": {"type": "rule", "strokeWidth": 2, "clip": True},
         "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"},
                      "color": looks["color"]}},
        {"mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
         "encoding": {"x": {**x, "field": "value"}, "color": looks["color"],
                      "shape": looks["shape"]}},
    ]  # fmt: skip
    return _rows_frame(rows) | {"layer": marks}


def _rows_frame(rows: list[dict]) -> dict:
    y = {"field": "row", "type": "nominal", "sort": list(dict.fromkeys(row["row"] for row in rows)),
         "axis": {"title": None, "domain": False, "labelLimit": ROW_LABEL_PX}}  # fmt: skip
    return {"width": ROWS_WIDTH_PX, "height": {"step": ROW_HEIGHT_PX},
            "data": {"values": rows}, "encoding": {"y": y}}  # fmt: skip


def _ratio_chart(series: Series, rows: list[dict], looks: dict, along: str) -> dict:
    """How the other sides relate to the base, with intervals; `along` points or workloads."""
    labels = looks["color"]["scale"]["domain"]
    axis, equal = _ratio_axis(rows)
    value, offset = ("y", "xOffset") if along == "x" else ("x", "yOffset")
    beside = {offset: {"field": "side", "sort": labels}}
    marks = [
        {"mark": {"type": "rule", "color": QUIET}, "encoding": {value: {"datum": equal, **axis}}},
        {"mark": {"type": "rule", "strokeWidth": 2, "clip": True},
         "encoding": {value: {"field": "low", **axis}, f"{value}2": {"field": "high"},
                      "color": looks["color"], **beside}},
        {"mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
         "encoding": {value: {"field": "value", **axis}, **looks, **beside}},
    ]  # fmt: skip
    if along == "row":
        marks = [layer | {"encoding": layer["encoding"] | _rows_frame(rows)["encoding"]}
                 if number else layer for number, layer in enumerate(marks)]  # fmt: skip
        step = ROW_HEIGHT_PX * max(1, 0.6 * len(labels))
        frame = {"width": ROWS_WIDTH_PX, "height": {"step": step, "for": "position"}}
    else:
        x = {
            "field": "x",
            "type": "ordinal",
            "axis": {"title": axis_title(series), "labelAngle": 0, "format": "~s"},
        }
        marks = [layer | {"encoding": layer["encoding"] | {"x": x}} if number else layer
                 for number, layer in enumerate(marks)]  # fmt: skip
        frame = {"width": CURVE_WIDTH_PX, "height": CURVE_HEIGHT_PX}
    return frame | {"data": {"values": rows}, "layer": marks}


def _ratio_row(side: Side, verdict: Verdict) -> dict:
    is_known = math.isfinite(verdict.high) and verdict.low > 0
    return {"side": side.label, "value": verdict.ratio,
            "low": verdict.low if is_known else verdict.ratio,
            "high": verdict.high if is_known else verdict.ratio}  # fmt: skip


def _ratio_axis(rows: list[dict]) -> tuple[dict, float]:
    """The axis and where on it is no difference; turns the rows into percent where that fits."""
    ratios = [row["value"] for row in rows] or [1.0]
    if min(ratios) < PERCENT_MIN or max(ratios) > PERCENT_MAX:
        return _logarithmic([*ratios, 1.0]) | {"title": "times as good"}, 1.0
    for row in rows:
        row |= {name: 100 * (row[name] - 1) for name in ("value", "low", "high")}
    reach = max(5.0, *(abs(row["value"]) for row in rows)) * OVERHANG
    bounds = [row[name] for row in rows for name in ("low", "high") if abs(row[name]) <= reach]
    low, high = min([-5.0, *bounds]), max([5.0, *bounds])
    axis = {"format": "+~r", "title": "difference, %"}
    return {"type": "quantitative", "scale": {"domain": [low, high], "nice": True},
            "axis": axis}, 0.0  # fmt: skip


def _logarithmic(values: list[float]) -> dict:
    powers = [10.0**exponent for exponent in range(-9, 13)]
    domain = [min(values) * 0.8, max(values) * 1.25]
    inside = [power for power in powers if domain[0] <= power <= domain[1]]
    if len(inside) < 2:
        inside = [step * power for power in powers for step in (1, 2, 5)]
    return {
        "type": "quantitative", "scale": {"type": "log", "domain": domain, "nice": False},
        "axis": NUMBERS | {"values": inside, "labelOverlap": "greedy"},
    }  # fmt: skip


def _looks(comparison: Comparison, sides: Sequence[Side]) -> dict:
    """Colour and shape of each side, the same in every chart, in one legend."""
    numbers = [number for number, side in enumerate(comparison.sides) if side in sides]
    labels = [comparison.sides[number].label for number in numbers]
    columns = 2 if max(map(len, labels)) <= LEGEND_LABEL_LENGTH else 1
    legend = {"title": None, "orient": "top", "columns": columns, "labelLimit": LEGEND_LABEL_PX,
              "offset": 4, "symbolOpacity": 1}  # fmt: skip
    return {
        channel: {
            "field": "side", "type": "nominal", "legend": legend,
            "scale": {"domain": labels,
                      "range": [choices[number % len(choices)] for number in numbers]},
        }
        for channel, choices in (("color", SIDES), ("shape", SHAPES))
    }  # fmt: skip


def _config() -> dict:
    axis = {"labelColor": TEXT, "titleColor": TEXT, "gridColor": GRID, "tickColor": GRID,
            "domainColor": GRID, "titleFontWeight": "normal", "labelFontSize": 11}  # fmt: skip
    return {
        "font": FONT, "background": None, "padding": PADDING_PX,
        "view": {"stroke": None}, "axis": axis,
        "legend": {"labelColor": TEXT}, "title": {"color": TEXT, "fontSize": 12},
    }  # fmt: skip
