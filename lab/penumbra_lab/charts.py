"""Charts as static SVG: no script, a few kilobytes, colours from the page's CSS variables.

Vega-Lite draws them when the report is made. Their width fits a phone at full size; a wide screen
shows two side by side.
"""

import vl_convert

CHART_WIDTH_PX = 200
ROW_HEIGHT_PX = 15
# Colours that Vega accepts, replaced by variables that follow light and dark.
TEXT, GRID = "#010101", "#020202"
SYSTEM_COLOURS = {"stock": "#030303", "penumbra": "#040404", "DuckDB": "#050505"}
VARIABLES = {
    TEXT: "var(--text)",
    GRID: "var(--grid)",
    "#030303": "var(--stock)",
    "#040404": "var(--penumbra)",
    "#050505": "var(--duckdb)",
}
SYSTEM_LABELS = {"stock": "PostgreSQL", "penumbra": "Penumbra", "DuckDB": "DuckDB"}


def times_chart(document: dict) -> str:
    """Median time of each query on each system, logarithmic: one dot per system."""
    values = [
        {"query": query["name"], "system": SYSTEM_LABELS[name], "ms": times["median"] * 1000}
        for query in document["queries"]
        for name, times in query["systems"].items()
    ]
    names = [name for name in SYSTEM_LABELS if name in document["queries"][0]["systems"]]
    colour = {
        "field": "system",
        "type": "nominal",
        "scale": {
            "domain": [SYSTEM_LABELS[name] for name in names],
            "range": [SYSTEM_COLOURS[name] for name in names],
        },
        "legend": {"title": None, "orient": "top"},
    }
    span = {
        "mark": {"type": "rule", "color": GRID, "strokeWidth": 1},
        "encoding": {
            "x": {"aggregate": "min", "field": "ms", "type": "quantitative"},
            "x2": {"aggregate": "max", "field": "ms"},
        },
    }
    dots = {
        "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
        "encoding": {"x": _logarithmic("ms", "median time, ms"), "color": colour},
    }
    chart = _frame(document, values) | {"layer": [span, dots]}
    return _svg(chart, "Median time of each query on each system, logarithmic")


def speedup_chart(document: dict, system: str) -> str:
    """How many times faster than `system` Penumbra was; left of 1 it was slower."""
    values = [
        {
            "query": query["name"],
            "ratio": query["systems"][system]["median"] / query["systems"]["penumbra"]["median"],
            "one": 1,
        }
        for query in document["queries"]
    ]
    x = _logarithmic("ratio", f"{SYSTEM_LABELS[system]}'s time / Penumbra's")
    colour = SYSTEM_COLOURS["penumbra"]
    bars = {
        "mark": {"type": "rule", "color": colour, "strokeWidth": 3},
        "encoding": {"x": x, "x2": {"field": "one"}},
    }
    dots = {
        "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1, "color": colour},
        "encoding": {"x": x},
    }
    chart = _frame(document, values) | {"layer": [bars, dots]}
    return _svg(chart, f"Speed of Penumbra against {SYSTEM_LABELS[system]} for each query")


def _logarithmic(field: str, title: str) -> dict:
    powers_of_ten = [10.0**exponent for exponent in range(-3, 7)]
    axis = {"title": title, "values": powers_of_ten, "format": "~g", "labelOverlap": "greedy"}
    scale = {"type": "log", "nice": True}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def _frame(document: dict, values: list[dict]) -> dict:
    axis_colours = {
        "labelColor": TEXT,
        "titleColor": TEXT,
        "gridColor": GRID,
        "tickColor": GRID,
        "domainColor": GRID,
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": CHART_WIDTH_PX,
        "height": {"step": ROW_HEIGHT_PX},
        "background": None,
        "data": {"values": values},
        "encoding": {
            "y": {
                "field": "query",
                "type": "nominal",
                "sort": [query["name"] for query in document["queries"]],
                "axis": {"title": None, "ticks": False, "domain": False, "grid": True},
            }
        },
        "config": {
            "font": "sans-serif",
            "view": {"stroke": None},
            "axis": {**axis_colours, "labelLimit": 170, "titleFontWeight": "normal"},
            "legend": {"labelColor": TEXT},
        },
    }


def _svg(chart: dict, label: str) -> str:
    svg = vl_convert.vegalite_to_svg(chart)
    for placeholder, variable in VARIABLES.items():
        svg = svg.replace(placeholder, variable)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
