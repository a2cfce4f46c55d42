"""Queries that sqlsmith makes up, over everything that is loaded; the long form only."""

import shutil
import subprocess

import pytest
from conftest import SLOWNESS, connect

QUERIES = 20_000
SEEDS = (1, 2, 3)


@pytest.mark.timeout(7200 * SLOWNESS)
@pytest.mark.parametrize("seed", SEEDS)
def test_made_up_queries(server, database, seed, is_long):
    """The server survives them, and no error is an internal one (the fixture of every test looks)."""
    if not is_long:
        pytest.skip("in the long form")
    sqlsmith = shutil.which("sqlsmith") or shutil.which("sqlsmith", path="/usr/games")
    assert sqlsmith, "sqlsmith is missing: section check-all of packages.txt"
    with connect(server, database) as connection:
        connection.execute(f"ALTER DATABASE {database} SET statement_timeout = '1s'")
        connection.execute(f"ALTER DATABASE {database} SET penumbra.mode = {('auto', 'prefer', 'prefer')[seed % 3]}")
        connection.execute(f"ALTER DATABASE {database} SET penumbra_numeric.rewrite = {('off', 'on')[seed % 2]}")
        for number, columns in enumerate((
            "g AS i, g % 7 AS s, (g / 3.0)::numeric(12, 4) AS n, g / 7.0::float8 AS f, 'text ' || g % 100 AS t",
            "g::bigint AS b, g % 2 = 0 AS p, '2020-01-01'::date + g % 900 AS d, '2020-01-01'::timestamptz + g * interval '1 minute' AS z",
            "g AS i, repeat('words ', g % 50)::compressed_text AS c, ARRAY[g, g % 5] AS a, gen_random_uuid() AS u, nullif(g % 3, 0) AS o",
        )):  # fmt: skip
            connection.execute(f"CREATE TABLE t{number} AS SELECT {columns} FROM generate_series(1, 3000) AS g")
            connection.execute(f"VACUUM ANALYZE t{number}")
            connection.execute(f"SELECT penumbra.load('t{number}')")
        connection.execute("CREATE INDEX ON t0 USING keytree (i)")
    done = subprocess.run(
        [sqlsmith, f"--target={server.conninfo(database)}", f"--seed={seed}", f"--max-queries={QUERIES}", "--exclude-catalog"],
        capture_output=True, text=True, timeout=7000 * SLOWNESS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-1000:]
    with connect(server, database) as connection:
        assert connection.execute("SELECT count(*) FROM t0").fetchone() is not None
