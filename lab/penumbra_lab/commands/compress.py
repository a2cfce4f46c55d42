"""`penumbra compress advise`: what each compression method would do to a column."""

import click
import psycopg
from psycopg import sql
from rich.table import Table

from penumbra_lab.errors import LabError
from penumbra_lab.show import console

BAR_CHARACTERS = 24


@click.group()
def compress() -> None:
    """Columns that penumbra_compress compresses."""


@compress.command("advise")
@click.argument("table")
@click.argument("column")
@click.option("--dsn", default="", help="Connection string; without it, libpq's environment.")
@click.option("--rows", type=click.IntRange(min=1), default=2000, show_default=True,
              help="Values in the sample.")  # fmt: skip
@click.option("--ddl", is_flag=True, help="Print the statements, best ratio first.")
def advise(table: str, column: str, dsn: str, rows: int, ddl: bool) -> None:
    """Tries methods, levels and dictionaries on a sample of COLUMN of TABLE, on the server."""
    with psycopg.connect(dsn) as connection:
        advice = read_advice(connection, table, column, rows)
    if not advice:
        raise LabError(f"column {column} of {table} has no values")
    if ddl:
        for row in advice:
            click.echo(row["ddl"])
    else:
        console.print(advice_table(f"{table}.{column}", advice))


def read_advice(connection: psycopg.Connection, table: str, column: str, rows: int) -> list[dict]:
    found = connection.execute(
        "SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
        " WHERE extname = 'penumbra_compress'"
    ).fetchone()
    if found is None:
        raise LabError("extension penumbra_compress is not installed in this database")
    function = sql.Identifier(found[0], "compression_advice")
    query = sql.SQL("SELECT * FROM {}(%s::regclass, %s, %s) ORDER BY ratio DESC").format(function)
    with connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute(query, (table, column, rows)).fetchall()


def advice_table(title: str, advice: list[dict]) -> Table:
    """A bar for the ratio; both times are of one value."""
    table = Table(title=title, title_justify="left")
    table.add_column("method")
    for name in ("level", "dictionary", "ratio"):
        table.add_column(name, justify="right")
    table.add_column("")
    for name in ("compress, us", "decompress, us"):
        table.add_column(name, justify="right")
    best = advice[0]["ratio"]
    for row in advice:
        table.add_row(
            row["method"],
            *("" if row[key] is None else f"{row[key]:,}" for key in ("level", "dictionary_bytes")),
            f"{row['ratio']:.2f}",
            "█" * round(BAR_CHARACTERS * row["ratio"] / best),
            f"{row['compress_us']:.1f}",
            f"{row['decompress_us']:.1f}",
        )
    return table
