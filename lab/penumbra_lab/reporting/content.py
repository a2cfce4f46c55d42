"""What a report says, before it becomes a page or Markdown."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from penumbra_lab.analysis.comparison import Comparison, SeriesComparison
from penumbra_lab.analysis.document import Run
from penumbra_lab.analysis.environment import environment_differences, headline
from penumbra_lab.analysis.verdict import Outcome
from penumbra_lab.reporting.charts import Chart, curve_charts, frontier_charts, row_charts
from penumbra_lab.reporting.tables import (
    Table,
    comparison_tables,
    condition_table,
    difference_table,
    level_tables,
    reading_notes,
    warning_table,
)
from penumbra_lab.reporting.wording import factor, is_speed, number


@dataclass(frozen=True)
class Details:
    """Long text that the reader opens."""

    summary: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """In the order in which it is read."""

    heading: str
    charts: tuple[Chart, ...] = ()
    lead: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    details: tuple[Details, ...] = ()


class Fact(NamedTuple):
    value: str  # short
    what: str
    detail: str = ""


def fact_text(fact: Fact) -> str:
    return f"{fact.what} ({fact.detail})" if fact.detail else fact.what


@dataclass(frozen=True)
class Content:
    title: str
    subtitle: str
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]


def report_content(comparison: Comparison) -> Content:
    documents = [run.document for run in comparison.runs]
    titles = dict.fromkeys(document["title"] for document in documents)
    return Content(
        " and ".join(titles),
        " ".join(filter(None, (_when(comparison), *_descriptions(documents)))),
        tuple(_facts(comparison)),
        tuple(_sections(comparison)),
    )


def _when(comparison: Comparison) -> str:
    parts = [f"{run.name}: {run.document['started_at'][:16].replace('T', ' ')} UTC"
             + ("" if run.document["status"] == "complete" else f" ({run.document['status']})")
             for run in comparison.runs]  # fmt: skip
    return "; ".join(parts) + "."


def _descriptions(documents: list[dict]) -> Iterator[str]:
    for text in dict.fromkeys(document.get("description", "") for document in documents):
        yield text if not text or text.endswith(".") else f"{text}."


def _facts(comparison: Comparison) -> Iterator[Fact]:
    groups = _flat_groups(comparison)
    metrics = {entries[0].series.metric for entries in groups if is_speed(entries[0].series.unit)}
    for entries in groups:
        first = entries[0]
        ratios = [entry.verdict.ratio for entry in entries if entry.verdict.ratio > 0]
        if len(ratios) > 1 and is_speed(first.series.unit):
            mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
            metric = first.series.metric if len(metrics) > 1 else "speed"
            yield Fact(
                factor(mean),
                f"{first.other.label} against {first.base.label}",
                f"{metric}, geometric mean of {len(ratios)}:"
                f" {factor(min(ratios))} to {factor(max(ratios))}",
            )
    for run in comparison.runs:
        queries = _queries(run)
        if queries:
            same = sum(not query.get("differences") for query in queries.values())
            engine = sum(not query.get("refusal") for query in queries.values())
            yield Fact(f"{same} of {len(queries)}", "queries have the same answer everywhere")
            yield Fact(f"{engine} of {len(queries)}", "queries ran in the vector engine")
    if comparison.series:
        outcomes = Counter(entry.verdict.outcome for entry in comparison.series)
        yield Fact(
            f"{outcomes[Outcome.BETTER]} of {len(comparison.series)}",
            "comparisons are better",
            f"{outcomes[Outcome.WORSE]} worse, {outcomes[Outcome.SAME]} without a difference,"
            f" {outcomes[Outcome.UNCLEAR]} too noisy to tell",
        )


def _queries(run: Run) -> dict[str, dict]:
    """What a workload of queries says of each: its statement, its plan, answers that differ."""
    queries = run.document.get("sections", {}).get("queries")
    if isinstance(queries, dict) and all(isinstance(entry, dict) for entry in queries.values()):
        return queries
    return {}


def _query_details(name: str, query: dict) -> Details:
    marks = []
    if query.get("differences"):
        marks.append(f"the answers differ: {query['differences']}")
    if query.get("refusal"):
        marks.append(f"not run by the vector engine: {query['refusal']}")
    heading = f"{name}: {query['title']}" if query.get("title") else name
    summary = "; ".join([heading, *(mark.splitlines()[0] for mark in marks)])
    texts = (query.get("sql"), query.get("plan"))
    return Details(summary, (*marks, *(str(text) for text in texts if text)))


def _flat_groups(comparison: Comparison) -> list[list[SeriesComparison]]:
    groups: dict[tuple, list[SeriesComparison]] = {}
    for entry in comparison.series:
        if entry.series.x_name is None:
            key = entry.base, entry.other, entry.series.metric, entry.series.unit
            groups.setdefault(key, []).append(entry)
    return list(groups.values())


def _sections(comparison: Comparison) -> Iterator[Section]:
    if len(comparison.runs) > 1:
        yield _difference_section(comparison)
    tables = comparison_tables(comparison) or level_tables(
        comparison.sides[0], comparison.confidence
    )
    charts = (
        *frontier_charts(comparison),
        *row_charts(comparison),
        *curve_charts(comparison),
    )
    yield Section("Charts", charts=charts)
    notes = reading_notes(comparison) if comparison.series else []
    yield Section("Every number", lead=tuple(notes), tables=tuple(tables),
                  notes=tuple(comparison.unmatched))  # fmt: skip
    warnings = warning_table(comparison)
    if warnings:
        yield Section("Warnings", tables=(warnings,))
    yield from _own_sections(comparison)
    yield _condition_section(comparison)


def _difference_section(comparison: Comparison) -> Section:
    differences = environment_differences(comparison.runs)
    tables = (difference_table(differences, comparison),) if differences else ()
    return Section(
        "What differs in the conditions",
        lead=(headline(differences, len(comparison.runs)),), tables=tables,
    )  # fmt: skip


def _own_sections(comparison: Comparison) -> Iterator[Section]:
    """What one kind of benchmark adds: text by name, lists of rows, lists of text."""
    for run in comparison.runs:
        queries = _queries(run)
        if queries:
            details = tuple(_query_details(name, query) for name, query in queries.items())
            yield Section("Statements and plans", details=details)
        for heading, value in run.document.get("sections", {}).items():
            if not value or (heading == "queries" and _queries(run)):
                continue
            name = heading.replace("_", " ").capitalize()
            title = name if len(comparison.runs) == 1 else f"{name}: {run.name}"
            yield _own_section(title, value)


def _own_section(title: str, value: object) -> Section:
    """A mapping to long texts or to mappings is opened entry by entry; all else is a table."""
    if isinstance(value, dict) and any(_is_long(entry) for entry in value.values()):
        details = tuple(Details(name, _texts(entry)) for name, entry in value.items())
        return Section(title, details=details)
    if isinstance(value, dict):
        rows = tuple((name.replace("_", " "), _scalar(entry)) for name, entry in value.items())
        return Section(title, tables=(Table(title, ("name", "value"), rows),))
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        names = tuple(dict.fromkeys(name for entry in value for name in entry))
        rows = tuple(tuple(_scalar(entry.get(name, "")) for name in names) for entry in value)
        columns = tuple(name.replace("_", " ") for name in names)
        return Section(title, tables=(Table(title, columns, rows),))
    return Section(title, notes=_texts(value))


def _is_long(value: object) -> bool:
    return isinstance(value, dict | list) or (isinstance(value, str) and "\n" in value)


def _scalar(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return number(value) if isinstance(value, float) else f"{value:,}"


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, dict):
        return tuple(f"{name}:\n{entry}" for name, entry in value.items() if entry)
    if isinstance(value, list):
        return tuple(map(str, value))
    return (str(value),)


def _condition_section(comparison: Comparison) -> Section:
    commands = tuple(f"{run.name}: {' '.join(run.document['command'])}" for run in comparison.runs)
    return Section("How it was measured", lead=commands, tables=(condition_table(comparison),))
