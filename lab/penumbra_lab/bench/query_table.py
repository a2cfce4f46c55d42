"""The table of a workload's queries, on the terminal."""

import itertools
import statistics

from rich.table import Table

from penumbra_lab.run.document import medians
from penumbra_lab.show import milliseconds, ratio

COLUMNS = {"stock": "PostgreSQL", "penumbra": "Penumbra", "required": "require", "DuckDB": "DuckDB"}
# Why a system did not run a query.
MISSING = {"required": "refused", "DuckDB": "lacks it"}


def query_table(document: dict) -> Table:
    """Of a workload's run: every query's medians and how much faster Penumbra's are."""
    queries, found = document["sections"]["queries"], medians(document)
    shown = {name: label for name, label in COLUMNS.items()
             if any(name in row for row in found.values())}  # fmt: skip
    rivals = [name for name in ("stock", "DuckDB") if name in shown]
    title = f"{document['title']}: median milliseconds, and the others' time / Penumbra's"
    table = Table(title=title, title_justify="left", caption=_target_text(document),
                  caption_justify="left")  # fmt: skip
    table.add_column("query", no_wrap=True)
    for label in [*shown.values(), *(f"vs {shown[name]}" for name in rivals)]:
        table.add_column(label, justify="right")
    table.add_column("same answer")

    def add_mean(label: str, rows: list[str]) -> None:
        same = sum(not queries[name]["differences"] for name in rows)
        speedups = [[times[name][rival] / times[name]["penumbra"] for name in rows
                     if rival in times[name]] for rival in rivals]  # fmt: skip
        means = [ratio(statistics.geometric_mean(each)) if each else "" for each in speedups]
        table.add_row(label, *[""] * len(shown), *means, f"{same} of {len(rows)}")

    times = {workload: row for (workload, _, _), row in found.items()}
    groups = [list(names) for _, names in itertools.groupby(times, key=lambda name: name[0])]
    for names in groups:
        for name in names:
            query, row = queries[name], times[name]
            table.add_row(
                name,
                *(milliseconds(row[system] / 1000) if system in row else MISSING[system]
                  for system in shown),
                *(ratio(row[rival] / row["penumbra"]) if rival in row else "" for rival in rivals),
                "NO" if query["differences"] else "yes" if not query["refusal"]
                else "yes (not used)",
            )  # fmt: skip
        table.add_section()
        if len(groups) > 1:
            add_mean(f"geometric mean, {names[0][0]}", names)
            table.add_section()
    add_mean("geometric mean", list(times))
    return table


def _target_text(document: dict) -> str | None:
    """What the workload asks of Penumbra's time as a share of DuckDB's, and what it was."""
    target = document["sections"].get("target")
    if not target:
        return None
    rows = medians(document).items()
    shares = {workload: row["penumbra"] / row["DuckDB"]
              for (workload, _, _), row in rows if "DuckDB" in row}  # fmt: skip
    slowest = max(shares, key=shares.get)
    mean = statistics.geometric_mean(shares.values())
    return (
        f"Penumbra's time / DuckDB's: {mean:.2f} in the geometric mean"
        f" ({_met(mean, target['mean'])}), at most {shares[slowest]:.2f}, {slowest}"
        f" ({_met(shares[slowest], target['each'])})"
    )


def _met(value: float, most: float) -> str:
    return f"target {most:g}: {'met' if value <= most else 'missed'}"
