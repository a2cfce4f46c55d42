"""Tables on the terminal."""

import math
import statistics
import sys

from rich.console import Console
from rich.table import Table

from penumbra_lab.run.document import medians

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
    """Of a workload's run: every query's medians and how much faster Penumbra's are."""
    queries, found = document["sections"]["queries"], medians(document)
    has_duck = any("DuckDB" in row for row in found.values())
    rivals = {"stock": "PostgreSQL", **({"DuckDB": "DuckDB"} if has_duck else {})}
    title = f"{document['title']}: median milliseconds, and the others' time / Penumbra's"
    table = Table(title=title, title_justify="left")
    table.add_column("query", no_wrap=True)
    for name in ["PostgreSQL", "Penumbra", *(["DuckDB"] if has_duck else [])]:
        table.add_column(name, justify="right")
    for name in rivals.values():
        table.add_column(f"vs {name}", justify="right")
    table.add_column("same answer")
    speedups: dict[str, list[float]] = {name: [] for name in rivals}
    for (workload, _, _), row in found.items():
        for name, values in speedups.items():
            values.append(row[name] / row["penumbra"])
        query = queries[workload]
        table.add_row(
            workload,
            *(milliseconds(row[name] / 1000)
              for name in ("stock", "penumbra", "DuckDB") if name in row),
            *(ratio(values[-1]) for values in speedups.values()),
            "NO" if query["differences"] else "yes" if not query["refusal"] else "yes (not used)",
        )  # fmt: skip
    table.add_section()
    same = sum(not queries[workload]["differences"] for workload, _, _ in found)
    table.add_row(
        "geometric mean", *[""] * (len(rivals) + 1),
        *(ratio(statistics.geometric_mean(values)) for values in speedups.values()),
        f"{same} of {len(found)}",
    )  # fmt: skip
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
