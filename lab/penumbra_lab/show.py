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


def plain_table(title: str, columns: list[str], rows: list[list[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    return table


def number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.1f}"
