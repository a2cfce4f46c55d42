"""`penumbra compress advise` on a table of a private server."""

import pytest
from click.testing import CliRunner, Result

from penumbra_lab.cli import commands
from penumbra_lab.commands.compress import advise
from penumbra_lab.errors import LabError
from penumbra_lab.show import console


@pytest.fixture(scope="module")
def dsn(stock_server):
    database = "advice"
    with stock_server.connect() as connection:
        connection.execute(f"CREATE DATABASE {database}")
    with stock_server.connect(database) as connection:
        connection.execute("CREATE EXTENSION penumbra_compress")
        connection.execute("CREATE TABLE documents (id integer, body jsonb, empty text)")
        connection.execute(
            "INSERT INTO documents SELECT i, jsonb_build_object('identifier', md5(i::text),"
            " 'kind', (ARRAY['invoice', 'reminder'])[i % 2 + 1], 'customer', 'number ' || i % 9)"
            " FROM generate_series(1, 1000) i"
        )
    return stock_server.conninfo(database)


def _advise(dsn: str, *arguments: str) -> Result:
    return CliRunner().invoke(commands, ["compress", "advise", "--dsn", dsn, *arguments])


def test_table_has_methods_levels_and_dictionaries(dsn):
    with console.capture() as capture:
        advise.callback(table="documents", column="body", dsn=dsn, rows=800, ddl=False)
    cells = [line.split("│") for line in capture.get().splitlines() if "│" in line]
    rows = [[cell.strip() for cell in row[1:]] for row in cells]
    assert {"none", "pglz", "lz4", "zlib", "zstd", "snappy", "brotli"} == {row[0] for row in rows}
    ratios = [float(row[3]) for row in rows]
    assert ratios == sorted(ratios, reverse=True) and ratios[0] > 1.5
    assert rows[0][2] != "", "short documents gain most with a dictionary"


def test_statements_run(dsn, stock_server):
    result = _advise(dsn, "documents", "body", "--ddl")
    first = result.output.splitlines()[0]
    assert result.exit_code == 0 and "train_dictionary" in first
    with stock_server.connect("advice") as connection:
        connection.execute(first)
        (used,) = connection.execute(
            "SELECT count((compression_info(body)).dictionary) FROM documents"
        ).fetchone()
    assert used == 1000


def test_what_is_refused(dsn, stock_server):
    assert isinstance(_advise(dsn, "documents", "empty").exception, LabError)
    assert isinstance(_advise(stock_server.conninfo(), "pg_class", "relname").exception, LabError)
