"""Every table once, as text; the terminal, Markdown and the page only draw them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from penumbra_lab.analysis.comparison import (
    Comparison,
    PointComparison,
    SeriesComparison,
    Side,
    level_of,
)
from penumbra_lab.analysis.document import Series
from penumbra_lab.analysis.environment import Difference, environment_facts
from penumbra_lab.analysis.verdict import Outcome, Verdict
from penumbra_lab.reporting.wording import (
    factor,
    level_text,
    number,
    percent,
    verdict_text,
)


@dataclass(frozen=True)
class Table:
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[int] = frozenset()  # columns of prose: flush left, may wrap
    extras: frozenset[int] = frozenset()  # columns that a terminal has no room for
    outcomes: tuple[Outcome, ...] = ()  # of each row, where rows end with a verdict


VERDICT_COLUMN, EXTRA_COLUMN = frozenset({1}), frozenset({5})


def comparison_tables(comparison: Comparison) -> list[Table]:
    """A table per curve; the series without a curve share one for each pair of sides."""
    tables, flat = [], {}
    for entry in comparison.series:
        if entry.series.x_name is None:
            series = entry.series
            key = (entry.base.label, entry.other.label, series.metric, series.unit, series.better)
            flat.setdefault(key, []).append(entry)
        else:
            tables.append(_curve_table(entry))
    return [_flat_table(entries) for entries in flat.values()] + tables


def series_title(series: Series) -> str:
    direction = "more is better" if series.better == "higher" else "less is better"
    return f"{series.workload}: {series.metric}, {series.unit} ({direction})"


def axis_title(series: Series) -> str:
    unit = series.x_unit
    return f"{series.x_name}, {unit}" if unit and unit != series.x_name else str(series.x_name)


def _curve_table(entry: SeriesComparison) -> Table:
    series = entry.series
    rows = [(f"{point.x:g}", *_point_cells(point, series)) for point in entry.points]
    if len(rows) > 1:
        text = verdict_text(entry.verdict, series.unit, series.better)
        findable = percent(entry.verdict.detectable)
        rows.append(("all together", text, _ratio_text(entry.verdict), "", "", "", findable))
    outcomes = (*(point.verdict.outcome for point in entry.points), entry.verdict.outcome)
    return Table(
        f"{series_title(series)}: {entry.other.label} against {entry.base.label}",
        (axis_title(series), *_point_columns(entry)),
        tuple(rows), VERDICT_COLUMN, EXTRA_COLUMN, outcomes[: len(rows)],
    )  # fmt: skip


def _flat_table(entries: Sequence[SeriesComparison]) -> Table:
    first = entries[0]
    rows = [(entry.series.workload, *_point_cells(entry.points[0], entry.series))
            for entry in entries]  # fmt: skip
    direction = "more is better" if first.series.better == "higher" else "less is better"
    caption = f"{first.series.metric}, {first.series.unit} ({direction})"
    return Table(
        f"{caption}: {first.other.label} against {first.base.label}",
        ("workload", *_point_columns(first)), tuple(rows), VERDICT_COLUMN, EXTRA_COLUMN,
        tuple(entry.verdict.outcome for entry in entries),
    )  # fmt: skip


def _point_columns(entry: SeriesComparison) -> tuple[str, ...]:
    return ("verdict", "ratio", entry.base.label, entry.other.label, "wins", "findable")


def _point_cells(point: PointComparison, series: Series) -> tuple[str, ...]:
    return (
        verdict_text(point.verdict, series.unit, series.better),
        _ratio_text(point.verdict),
        level_text(point.base),
        level_text(point.other),
        f"{100 * point.superiority:.0f} %",
        percent(point.verdict.detectable),
    )


def _ratio_text(verdict: Verdict) -> str:
    if not math.isfinite(verdict.high):
        return factor(verdict.ratio)
    return f"{factor(verdict.ratio)} ({number(verdict.low)} … {number(verdict.high)})"


def level_tables(side: Side, confidence: float) -> list[Table]:
    """What one side measured, where there is nothing to compare it with."""
    tables, flat = [], []
    for series in side.run.by_variant[side.variant].values():
        levels = [level_of(point, confidence) for point in series.points]
        if series.x_name is None:
            flat.append((series.workload, series.metric, level_text(levels[0]), series.unit,
                         f"{levels[0].samples}", f"{levels[0].noisy}"))  # fmt: skip
            continue
        rows = tuple((f"{level.x:g}", level_text(level), f"{level.samples}", f"{level.noisy}")
                     for level in levels)  # fmt: skip
        columns = (axis_title(series), series.unit, "samples", "noisy")
        tables.append(Table(f"{series_title(series)}: {side.label}", columns, rows))
    if flat:
        columns = ("workload", "metric", "value", "unit", "samples", "noisy")
        tables.insert(0, Table(side.label, columns, tuple(flat), frozenset({1, 3})))
    return tables


def difference_table(differences: Sequence[Difference], comparison: Comparison) -> Table:
    return Table(
        "What differs in the conditions",
        ("condition", *(run.name for run in comparison.runs)),
        tuple((entry.name, *entry.values) for entry in differences),
        frozenset(range(1, len(comparison.runs) + 1)),
    )


def condition_table(comparison: Comparison) -> Table:
    facts = [environment_facts(run) for run in comparison.runs]
    names = dict.fromkeys(name for entry in facts for name in entry)
    return Table(
        "All recorded conditions",
        ("condition", *(run.name for run in comparison.runs)),
        tuple((name, *(entry.get(name, "–") for entry in facts)) for name in names),
        frozenset(range(1, len(facts) + 1)),
    )


def warning_table(comparison: Comparison) -> Table | None:
    rows = tuple(
        (run.name, warning["message"], warning["advice"])
        for run in comparison.runs
        for warning in run.document["warnings"]
    )
    return Table("Warnings", ("run", "seen", "advice"), rows, frozenset({1, 2})) if rows else None


def reading_notes(comparison: Comparison) -> list[str]:
    """What the columns mean; said once, below the tables."""
    notes = [
        f"Values are geometric means with intervals. All verdicts of this comparison hold together"
        f" with {percent(comparison.confidence)} confidence: the more series and points, the wider"
        f" the intervals. No difference: the interval excludes more than"
        f" {percent(comparison.margin)}.",
        "ratio: how many times as good. wins: how often a measurement of the second beats one of"
        " the first; 50 % means neither. findable: the smallest true difference that four of five"
        " such runs would find.",
    ]
    if any(entry.is_paired for entry in comparison.series):
        notes.append("Variants of one run are compared block by block, next to each other in time.")
    if any(not entry.is_paired for entry in comparison.series):
        notes.append("Different runs share no time and no server: what server starts of"
                     " equal settings differ by widens the intervals.")  # fmt: skip
    return notes
