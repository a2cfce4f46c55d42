"""Queries of clause_queries.py in every mode: rows, errors and effects are PostgreSQL's own."""

from collections import Counter

import psycopg
import pytest
from clause_queries import CACHED, GUARDED, SETTINGS, TABLES, ClauseQuery, ClauseQueryGenerator
from harness import search

DATABASE = "clauses"
ENGINE_SHARE_MIN = 0.3


@pytest.fixture(scope="module")
def connection(server):
    with server.connect() as creator:
        creator.execute(f"CREATE DATABASE {DATABASE}")
    with server.connect(DATABASE) as connection:
        connection.execute("CREATE EXTENSION penumbra")
        connection.execute(TABLES)
        connection.execute("VACUUM (ANALYZE)")
        for table in CACHED:
            connection.execute("SELECT penumbra.load(%s::regclass)", (table,))
        for name, value in SETTINGS.items():
            connection.execute(f"SET {name} = '{value}'")
        connection.execute("SET plan_cache_mode = force_generic_plan")
        yield connection


def _answer(connection, query: ClauseQuery, mode: str) -> tuple:
    """Rows or an error, and what was drawn from the sequence."""
    connection.execute(f"SET penumbra.mode = {mode}")
    connection.execute("ALTER SEQUENCE sq RESTART")
    sql = query.sql
    try:
        if query.parameter is not None:
            connection.execute("DEALLOCATE ALL")
            connection.execute(f"PREPARE p (text) AS {sql}")
            sql = f"EXECUTE p ('{query.parameter}')"
        with psycopg.ClientCursor(connection) as cursor:
            rows = cursor.execute(sql).fetchall()
    except psycopg.Error as error:
        return "error", error.sqlstate, str(error).splitlines()[0]
    called = connection.execute("SELECT is_called, last_value FROM sq").fetchone()
    return "rows", rows if query.is_ordered else sorted(rows, key=repr), called


def _difference(connection, query: ClauseQuery, tally: Counter) -> str | None:
    expected = _answer(connection, query, "off")
    tally["errors"] += expected[0] == "error"
    for mode in ("auto", "prefer", "require"):
        found = _answer(connection, query, mode)
        if mode == "require" and found[0] == "error" and found[1] == "0A000":
            tally["refused"] += 1
            continue
        # which of two errors comes first is open
        if found != expected and not (found[0] == expected[0] == "error"):
            return f"{mode}: expected {str(expected)[:300]}\n   found {str(found)[:300]}"
    return None


@pytest.mark.timeout(36000)
def test_clauses(connection, request, capsys):
    tally = Counter()

    def check(seed: int) -> str | None:
        query = ClauseQueryGenerator(seed).query()
        tally["queries"] += 1
        difference = _difference(connection, query, tally)
        return difference and f"clauses:\n{query.sql} ({query.parameter})\n{difference}"

    seeds, failures = search(request.config, check, seconds_divisor=4)
    with capsys.disabled():
        print(f"\nclauses: seeds {seeds.start} to {seeds.stop - 1}: {dict(tally)}")
    assert not failures, "\n\n".join(failures)
    assert tally["refused"] <= (1 - ENGINE_SHARE_MIN) * tally["queries"]


def _updated(connection, sql: str, fetches: list[str], mode: str) -> tuple:
    """What an update and a deletion of a cursor's rows change."""
    connection.execute(f"SET penumbra.mode = {mode}")
    connection.execute("BEGIN")
    try:
        connection.execute(f"DECLARE c SCROLL CURSOR FOR {sql}")
        for fetch in fetches:
            connection.execute(f"FETCH {fetch} FROM c")
        connection.execute("UPDATE t SET s = 'changed' WHERE CURRENT OF c")
        connection.execute("FETCH NEXT FROM c")
        connection.execute("DELETE FROM t WHERE CURRENT OF c")
        return connection.execute("SELECT count(*), min(id) FILTER (WHERE s = 'changed') FROM t").fetchall()
    except psycopg.Error as error:
        return error.sqlstate
    finally:
        connection.execute("ROLLBACK")


@pytest.mark.parametrize("seed", range(20))
def test_where_current_of(connection, seed):
    """A cursor over one table gives the row to UPDATE and DELETE, whatever its target list and conditions have."""
    generator = ClauseQueryGenerator(seed)
    guard, value = generator.random.choice(GUARDED)
    sql = f"SELECT t.id, {generator.value(guard, value)} FROM t"
    if generator.random.random() < 0.5:
        sql += " WHERE t.id > 0 AND (t.a < 5 OR EXISTS (SELECT 1 FROM w WHERE w.k = t.k AND w.b < 500))"
    fetches = generator.random.choice((["NEXT"], ["5"], ["7", "BACKWARD 3"], ["FIRST"]))
    expected = _updated(connection, sql, fetches, "off")
    for mode in ("auto", "prefer"):
        assert _updated(connection, sql, fetches, mode) == expected, (mode, sql)
