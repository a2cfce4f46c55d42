"""Tables on the terminal."""

import math
import sys

from rich.console import Console
from rich.table import Table

# Output to a file or a pipe is not squeezed into 80 columns.
console = Console(width=None if sys.stdout.isatty() else 120)


def milliseconds(seconds: float) -> str:
    value = seconds * 1000
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def ratio(value: float) -> str:
    return f"{value:.2f} x" if value < 10 else f"{value:.1f} x" if value < 100 else f"{value:.0f} x"


def megabytes(count: float) -> str:
    return f"{count / 1e6:,.1f} MB"


def query_table(document: dict) -> Table:
    has_duck = any("DuckDB" in query["systems"] for query in document["queries"])
    title = f"{document['title']}: median milliseconds, and the others' time / Penumbra's"
    table = Table(title=title, title_justify="left")
    table.add_column("query", no_wrap=True)
    for name in ["PostgreSQL", "Penumbra", *(["DuckDB"] if has_duck else [])]:
        table.add_column(name, justify="right")
    for name in ["PostgreSQL", *(["DuckDB"] if has_duck else [])]:
        table.add_column(f"vs {name}", justify="right")
    table.add_column("same answer")
    for query in document["queries"]:
        medians = {name: times["median"] for name, times in query["systems"].items()}
        row = [query["name"], milliseconds(medians["stock"]), milliseconds(medians["penumbra"])]
        if has_duck:
            row.append(milliseconds(medians["DuckDB"]))
        row.append(ratio(medians["stock"] / medians["penumbra"]))
        if has_duck:
            row.append(ratio(medians["DuckDB"] / medians["penumbra"]))
        row.append(
            "NO" if query["differences"] else "yes" if not query["refusal"] else "yes (not used)"
        )
        table.add_row(*row)
    summary = document["summary"]
    table.add_section()
    row = ["geometric mean", "", ""] + ([""] if has_duck else [])
    row.append(ratio(summary["speedup_geometric_mean"]))
    if has_duck:
        row.append(ratio(summary["to_duckdb_geometric_mean"]))
    row.append(f"{summary['same_answers']} of {len(document['queries'])}")
    table.add_row(*row)
    return table


def plain_table(title: str, columns: list[str], rows: list[list[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    return table


def number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.1f}"
