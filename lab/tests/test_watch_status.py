"""`penumbra status` and what it reads: servers with and without Penumbra, by any role."""

import json
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from click.testing import CliRunner

from penumbra_lab.cli import commands
from penumbra_lab.show import console
from penumbra_lab.watch import reader as reader_module
from penumbra_lab.watch.findings import find
from penumbra_lab.watch.reader import Reader
from penumbra_lab.watch.snapshot import VIEWS
from penumbra_lab.watch.status import status_view
from penumbra_lab.watch.wording import line, percent, size

HOSTILE = '<b>"x"</b>\x1b[31m\u202e größe 日本'


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="module")
def dsn(watched_server):
    with watched_server.connect() as connection:
        connection.execute("CREATE DATABASE shop")
        connection.execute("CREATE ROLE watcher LOGIN IN ROLE pg_monitor")
        connection.execute("CREATE ROLE nobody_in_particular LOGIN")
    with watched_server.connect("shop") as connection:
        for statement in (
            "CREATE EXTENSION penumbra",
            "CREATE EXTENSION pg_stat_statements",
            "CREATE SCHEMA sales",
            "CREATE TABLE sales.orders AS SELECT i AS id, i % 7 AS kind, '{}'::jsonb AS doc"
            " FROM generate_series(1, 50000) i",
            f"CREATE TABLE {quoted(HOSTILE)} AS SELECT i AS {quoted(HOSTILE)}"
            " FROM generate_series(1, 2000) i",
            "VACUUM ANALYZE",
            "SELECT penumbra.load('sales.orders', ARRAY['id', 'kind'])",
            f"SELECT penumbra.load($x${quoted(HOSTILE)}$x$)",
            "SELECT kind, sum(id) FROM sales.orders GROUP BY kind",
            "SELECT count(doc) /* \x1b[2J */ FROM sales.orders",
        ):
            connection.execute(statement)
    return watched_server.conninfo("shop")


def read(dsn: str, **options):
    with Reader(dsn, "test", **options) as reader:
        return reader.read()


def shop_statements(snapshot) -> list:
    """Other tests share the server."""
    return [statement for statement in snapshot.statements.rows if statement.datname == "shop"]


def texts(snapshot) -> str:
    return " | ".join(f"{finding.text} -> {finding.remedy}" for finding in find(snapshot))


def test_a_snapshot_is_what_the_views_say(dsn, watched_server):
    snapshot = read(dsn)
    with watched_server.connect("shop") as connection:
        expected = connection.execute(
            "SELECT relname, cached_pages, memory_bytes, hits FROM penumbra.tables"
            " ORDER BY memory_bytes DESC"
        ).fetchall()
    tables = [(t.relname, t.cached_pages, t.memory_bytes, t.hits) for t in snapshot.tables.rows]
    assert tables == expected and len(tables) == 2
    assert snapshot.tables.sums["memory_bytes"] == sum(row[2] for row in expected)
    assert snapshot.tables.rows[0].coverage_percent == 100.0
    assert {c.column_name for c in snapshot.columns.rows} == {"id", "kind", HOSTILE}
    assert 0 < snapshot.whole_memory.used_bytes <= snapshot.whole_memory.budget_bytes
    assert "shop" in {database.datname for database in snapshot.databases.rows}
    assert "column of type jsonb" in {refusal.reason for refusal in snapshot.refusals.rows}
    by_reason = {statement.reason: statement for statement in shop_statements(snapshot)}
    assert "count(doc)" in by_reason["column of type jsonb: orders.doc"].query
    assert by_reason[None].calls_in_vectors == 1
    assert not any(getattr(snapshot, name).problem for name in VIEWS)


def test_every_field_is_a_column_of_its_view(dsn, watched_server):
    """One that is missing would be read as nothing, as of another version."""
    added = {"statements": {"rolname", "datname", "query"}}
    with watched_server.connect("shop") as connection:
        for name, view in VIEWS.items():
            described = connection.execute(f"SELECT * FROM penumbra.{name} LIMIT 0").description
            there = {column.name for column in described} | added.get(name, set())
            assert set(view.columns()) <= there and {*view.order, *view.sums} <= there


def test_what_is_watched_by_itself_is_not_shown(dsn):
    with Reader(dsn, "test") as reader:
        before = reader.read()
        for _ in range(3):
            after = reader.read()
    assert len(shop_statements(before)) == len(shop_statements(after)) == 2


def test_the_screen(dsn):
    with console.capture() as capture:
        console.print(status_view(read(dsn), 8))
    shown = capture.get()
    assert "sales.orders" in shown and "column of type jsonb" in shown and "64 MB" in shown
    assert "größe 日本" in shown
    # Nothing of a name reaches the terminal as a command.
    assert "\x1b[31m<" not in shown and "\u202e" not in shown


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_the_command_ends_with_its_status(dsn, stock_server, arguments):
    well = CliRunner().invoke(commands, ["status", "--dsn", dsn, *arguments])
    assert well.exit_code == 0
    ill = CliRunner().invoke(commands, ["status", "--dsn", stock_server.conninfo(), *arguments])
    assert ill.exit_code == 3
    if arguments:
        document = json.loads(well.output)
        assert document["is_well"] and document["tables"]["count"] == 2
        assert document["tables"]["rows"][1]["relname"] == HOSTILE
    gone = CliRunner().invoke(commands, ["status", "--dsn", "host=/nowhere", *arguments])
    assert isinstance(gone.exception, psycopg.OperationalError)


def test_a_server_without_penumbra_is_told_what_to_do(stock_server):
    snapshot = read(stock_server.conninfo())
    assert "shared_preload_libraries" in texts(snapshot)
    assert "CREATE EXTENSION penumbra" in texts(snapshot)
    assert snapshot.tables.problem == "the extension penumbra is not in this database"


def test_the_extension_without_its_library(stock_server):
    with stock_server.connect() as connection:
        connection.execute("CREATE DATABASE idle")
    with stock_server.connect("idle") as connection:
        connection.execute("CREATE EXTENSION penumbra")
    snapshot = read(stock_server.conninfo("idle"))
    assert "shared_preload_libraries" in texts(snapshot) and "CREATE" not in texts(snapshot)
    assert "not loaded at server start" in snapshot.memory.problem


def test_pg_monitor_is_enough_and_others_are_told(dsn):
    as_watcher = read(dsn.replace("user=postgres", "user=watcher"))
    assert not any(getattr(as_watcher, name).problem for name in VIEWS)
    assert as_watcher.tables.count == 2 and len(shop_statements(as_watcher)) == 2
    assert "GRANT" not in texts(as_watcher)
    other = read(dsn.replace("user=postgres", "user=nobody_in_particular"))
    assert other.memory.problem == "needs the rights of pg_monitor"
    assert other.tables.count == 0 and not other.tables.problem
    assert 'GRANT pg_monitor TO "nobody_in_particular"' in texts(other)


def test_a_hostile_database_is_not_obeyed(watched_server):
    with watched_server.connect() as connection:
        connection.execute("CREATE DATABASE trapped")
    with watched_server.connect("trapped") as connection:
        connection.execute("CREATE EXTENSION penumbra")
        connection.execute("CREATE TABLE called (what text)")
        for function in (
            "pg_is_in_recovery()",
            "pg_postmaster_start_time()",
            "current_setting(text)",
        ):
            connection.execute(
                f"CREATE FUNCTION public.{function} RETURNS text LANGUAGE sql AS"
                f" $$INSERT INTO called VALUES ('{function}') RETURNING what$$"
            )
        connection.execute("ALTER DATABASE trapped SET search_path = public, pg_catalog")
    assert read(watched_server.conninfo("trapped")).server.is_in_recovery is False
    with watched_server.connect("trapped") as connection:
        assert connection.execute("SELECT count(*) FROM called").fetchone() == (0,)


def _changed_database(server, name: str, *statements: str) -> str:
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {name}")
    with server.connect(name) as connection:
        connection.execute("CREATE EXTENSION penumbra")
        # advice() reads the views that the statements replace
        connection.execute("ALTER EXTENSION penumbra DROP FUNCTION penumbra.advice()")
        connection.execute("DROP FUNCTION penumbra.advice()")
        for statement in statements:
            connection.execute(statement)
    return server.conninfo(name)


def test_other_versions_are_read_as_far_as_they_go(watched_server):
    dsn = _changed_database(
        watched_server, "older",
        "ALTER EXTENSION penumbra DROP VIEW penumbra.statements",
        "DROP VIEW penumbra.statements",
        "ALTER EXTENSION penumbra DROP VIEW penumbra.refusals",
        "DROP VIEW penumbra.refusals",
        "CREATE VIEW penumbra.refusals AS SELECT 'a reason'::text AS reason, 5 AS other",
        "ALTER EXTENSION penumbra ADD VIEW penumbra.refusals",
        "UPDATE pg_extension SET extversion = '0.0.9' WHERE extname = 'penumbra'",
    )  # fmt: skip
    snapshot = read(dsn)
    assert snapshot.statements.problem == "penumbra 0.0.9 of this database has no view statements"
    assert [(r.reason, r.count) for r in snapshot.refusals.rows] == [("a reason", None)]
    assert "ALTER EXTENSION penumbra UPDATE" in texts(snapshot)
    for number in (140005, 200000):
        unknown = replace(snapshot, server=replace(snapshot.server, version_number=number))
        assert "is not supported" in texts(unknown)


def test_rows_are_bounded_and_sums_are_not(watched_server):
    columns = ", ".join(
        f"NULL::{kind} AS {name}"
        for name, kind in (("chunks", "bigint"), ("table_pages", "bigint"))
    )
    dsn = _changed_database(
        watched_server, "large",
        "ALTER EXTENSION penumbra DROP VIEW penumbra.tables",
        "DROP VIEW penumbra.tables",
        f"CREATE VIEW penumbra.tables AS SELECT i::oid AS relid, 's'::name AS schemaname,"
        f" ('t' || i)::name AS relname, {columns}, i::bigint AS memory_bytes"
        f" FROM generate_series(1, 100000) i",
        "ALTER EXTENSION penumbra ADD VIEW penumbra.tables",
        "ALTER EXTENSION penumbra DROP VIEW penumbra.columns",
        "DROP VIEW penumbra.columns",
        "CREATE VIEW penumbra.columns AS SELECT 1::oid AS relid, 's' AS schemaname, 't' AS relname,"
        " 'c' AS column_name FROM pg_sleep(20)",
        "ALTER EXTENSION penumbra ADD VIEW penumbra.columns",
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader_module, "VIEW_SECONDS_MAX", 2)
        snapshot = read(dsn, rows_max=20)
    assert [t.relname for t in snapshot.tables.rows[:2]] == ["t100000", "t99999"]
    assert (len(snapshot.tables.rows), snapshot.tables.count) == (20, 100_000)
    assert snapshot.tables.sums["memory_bytes"] == 100_000 * 100_001 // 2
    assert snapshot.columns.problem == "took longer than 2 s"
    assert not snapshot.memory.problem


def test_a_server_that_goes_away_and_returns(dsn, watched_server):
    with Reader(dsn, "test") as reader:
        reader.read()
        watched_server.stop()
        for _ in range(2):
            with pytest.raises(psycopg.OperationalError):
                reader.read()
        watched_server.start()
        assert reader.read().server.database == "shop"


def test_stale_tables_say_why_and_since_when(watched_server):
    dsn = _changed_database(
        watched_server, "stale",
        "CREATE TABLE t AS SELECT i, i % 5 AS k FROM generate_series(1, 50000) i",
        "VACUUM t", "SELECT penumbra.load('t')",
        "UPDATE t SET k = k + 1 WHERE i % 3 = 0",
        "SELECT sum(k) FROM t",
    )  # fmt: skip
    snapshot = read(dsn)
    [row] = snapshot.staleness.rows
    assert row.heap_percent > 5 and row.reason == "penumbra.auto_load is off"
    [finding] = [f for f in find(snapshot) if row.reason in f.text]
    assert not finding.is_problem and "penumbra.refresh" in finding.remedy
    old = replace(row, stale_at=snapshot.server.read_at - timedelta(hours=2))
    later = replace(snapshot, staleness=replace(snapshot.staleness, rows=(old,)))
    [finding] = [f for f in find(later) if row.reason in f.text]
    assert finding.is_problem and "for 2 h" in finding.text


def test_wording():
    assert [size(n) for n in (None, 0, 999, 1024, 15 * 1024**2)] == [
        "–",
        "0",
        "999 bytes",
        "1.0 kB",
        "15 MB",
    ]
    assert [percent(p) for p in (0, 0.01, 50, 99.99, 100)] == [
        "0 %",
        "< 0.1 %",
        "50.0 %",
        "99.9 %",
        "100 %",
    ]
    assert line("a\n\tb\x00\x1b[1m\u202ec\u2028d") == "a b [1mc d"
