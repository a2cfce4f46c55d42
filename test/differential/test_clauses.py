"""Queries of clause_queries.py, cte_queries.py and recursion_queries.py in every mode: rows, errors and effects are PostgreSQL's own."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import cte_queries
import psycopg
import pytest
import recursion_queries
from clause_queries import (
    CACHED,
    GUARDED,
    INDEXES,
    SETTINGS,
    TABLES,
    ClauseQuery,
    ClauseQueryGenerator,
)
from harness import SQLSTATE_CANCELED, cached_database, search

ENGINE_SHARE_MIN, CTE_ENGINE_SHARE_MIN = 0.3, 0.85
# What PostgreSQL takes too long for: none of CTEs is meant to fail, recursions may overflow.
CTE_ERRORS_SHARE_MAX, RECURSION_ERRORS_SHARE_MAX = 0.01, 0.05


@contextmanager
def _database(server, name: str, tables: str, cached: tuple[str, ...] = CACHED) -> Iterator[psycopg.Connection]:
    with cached_database(server, name, tables, cached) as connection:
        for setting, value in SETTINGS.items():
            connection.execute(f"SET {setting} = '{value}'")
        connection.execute("SET plan_cache_mode = force_generic_plan")
        yield connection


@pytest.fixture(scope="module")
def connection(server):
    with _database(server, "clauses", TABLES) as connection:
        yield connection


@pytest.fixture(scope="module")
def indexed(server):
    with _database(server, "clauses_indexed", TABLES + INDEXES) as connection:
        yield connection


@pytest.fixture(scope="module")
def ctes(server):
    with _database(server, "ctes", cte_queries.TABLES, cte_queries.CACHED) as connection:
        connection.execute(cte_queries.CHANGES)
        yield connection


@pytest.fixture(scope="module")
def recursions(server):
    with _database(server, "recursions", recursion_queries.TABLES, recursion_queries.CACHED) as connection:
        connection.execute(recursion_queries.CHANGES)
        connection.execute("SET statement_timeout = '8s'")
        yield connection


def _fetch_by_cursor(connection, sql: str) -> list[tuple]:
    with connection.transaction():
        connection.execute(f"DECLARE c CURSOR FOR {sql}")
        return [row for count in ("3", "FORWARD 40", "ALL") for row in connection.execute(f"FETCH {count} FROM c")]


def _answer(connection, query: ClauseQuery, mode: str, by_cursor: bool = False) -> tuple:
    """Rows or an error, and what was drawn from the sequence."""
    connection.execute(f"SET penumbra.mode = {mode}")
    connection.execute("SELECT setval('sq', 1, false)")
    sql = query.sql
    try:
        if query.parameter is not None:
            connection.execute("DEALLOCATE ALL")
            connection.execute(f"PREPARE p (text) AS {sql}")
            sql = f"EXECUTE p ('{query.parameter}')"
        if by_cursor and query.parameter is None:
            rows = _fetch_by_cursor(connection, sql)
        else:
            with psycopg.ClientCursor(connection) as cursor:
                rows = cursor.execute(sql).fetchall()
    except psycopg.Error as error:
        return "error", error.sqlstate, str(error).splitlines()[0]
    called = connection.execute("SELECT is_called, last_value FROM sq").fetchone()
    if query.draws_max is not None:
        called = max(called[1], query.draws_max)
    rows = [tuple("NaN" if value != value else value for value in row) for row in rows]  # NaN differs from itself
    return "rows", rows if query.is_ordered else sorted(rows, key=repr), called


def _difference(reference, connection, query: ClauseQuery, tally: Counter) -> str | None:
    expected = _answer(reference, query, "off")
    tally["errors"] += expected[0] == "error"
    if expected[1] == SQLSTATE_CANCELED:
        tally["slow"] += 1
        return None
    for mode, by_cursor in (("auto", False), ("prefer", False), ("require", False), ("prefer", True)):
        found = _answer(connection, query, mode, by_cursor)
        if found[1] == SQLSTATE_CANCELED:  # a machine that stands still lets the timeout pass
            found = _answer(connection, query, mode, by_cursor)
        if mode == "require" and found[0] == "error" and found[1] == "0A000":
            tally["refused"] += 1
            continue
        # without indexes PostgreSQL, too, may ask for rows that raise an error
        if found[0] == "error" and expected[0] == "rows" and _answer(connection, query, "off")[0] == "error":
            continue
        # which of two errors comes first is open
        if found != expected and not (expected[0] == "error" and (found[0] == "error" or query.may_succeed)):
            return f"{mode}{' by cursor' * by_cursor}: expected {str(expected)[:300]}\n   found {str(found)[:300]}"
    return None


@pytest.mark.timeout(36000)
@pytest.mark.sized
def test_clauses(connection, indexed, request, capsys):
    """
    PostgreSQL answers with indexes, without which its nested loops take most of the time; Penumbra has them for every
    other query.
    """
    tally = Counter()

    def check(seed: int) -> str | None:
        query = ClauseQueryGenerator(seed).query()
        tally["queries"] += 1
        difference = _difference(indexed, indexed if seed % 2 else connection, query, tally)
        return difference and f"clauses:\n{query.sql} ({query.parameter})\n{difference}"

    seeds, failures = search(request.config, check, seconds_divisor=4)
    with capsys.disabled():
        print(f"\nclauses: seeds {seeds.start} to {seeds.stop - 1}: {dict(tally)}")
    assert not failures, "\n\n".join(failures)
    assert tally["refused"] <= (1 - ENGINE_SHARE_MIN) * tally["queries"]


# Of how many seeds one has it.
CTE_SETTINGS = (("work_mem", "64kB", "4MB", 5), ("penumbra.threads_per_query", "0", "2", 3))


def _search_with_settings(name, connection, generator, errors_share_max, request, capsys):
    tally = Counter()

    def check(seed: int) -> str | None:
        for setting, value, usual, every in CTE_SETTINGS:
            connection.execute(f"SET {setting} = '{usual if seed % every else value}'")
        query = generator(seed).query()
        tally["queries"] += 1
        difference = _difference(connection, connection, query, tally)
        return difference and f"{name}:\n{query.sql} ({query.parameter})\n{difference}"

    seeds, failures = search(request.config, check, queries_divisor=4, seconds_divisor=8)
    with capsys.disabled():
        print(f"\n{name}: seeds {seeds.start} to {seeds.stop - 1}: {dict(tally)}")
    assert not failures, "\n\n".join(failures)
    assert tally["errors"] <= errors_share_max * tally["queries"]
    assert tally["refused"] <= (1 - CTE_ENGINE_SHARE_MIN) * tally["queries"]


@pytest.mark.timeout(36000)
@pytest.mark.sized
def test_ctes(ctes, request, capsys):
    _search_with_settings("ctes", ctes, cte_queries.CteQueryGenerator, CTE_ERRORS_SHARE_MAX, request, capsys)


@pytest.mark.timeout(36000)
@pytest.mark.sized
def test_recursions(recursions, request, capsys):
    generator = recursion_queries.RecursionQueryGenerator
    _search_with_settings("recursions", recursions, generator, RECURSION_ERRORS_SHARE_MAX, request, capsys)


MOVES = ("NEXT", "NEXT", "1", "5", "40", "FIRST", "LAST", "PRIOR", "ABSOLUTE 7", "ABSOLUTE -3", "RELATIVE -2", "BACKWARD 3",
         "FORWARD 0", "BACKWARD ALL", "ALL")  # fmt: skip


def _cursor_steps(generator: ClauseQueryGenerator, is_scrolled: bool) -> list[tuple[str, str]]:
    """Moves and changes of the row that they reach."""
    random = generator.random
    forward = [move for move in MOVES if move in ("NEXT", "1", "5", "40")]
    return [(random.choice(MOVES if is_scrolled else forward), random.choice(("", "UPDATE", "UPDATE", "DELETE"))) for _ in range(8)]


def _change_rows(connection, table: str, sql: str, options: str, steps: list[tuple[str, str]], mode: str) -> list:
    """
    What a cursor's steps do: how many rows each fetches, which SQLSTATE ends it, and whether a change is one of the
    row that was fetched last; at the end how many rows there are.
    """
    connection.execute(f"SET penumbra.mode = {mode}")
    seen = []
    connection.execute("BEGIN")
    try:
        connection.execute(f"UPDATE {table} SET a = a WHERE id % 97 = 3")
        connection.execute(f"DECLARE c {options.format(sql=sql)}")
        for move, change in steps:
            rows = connection.execute(f"FETCH {move} FROM c").fetchall()
            seen.append(len(rows))
            if change == "UPDATE":
                changed = connection.execute(f"UPDATE {table} SET s = 'changed' WHERE CURRENT OF c RETURNING id").fetchall()
            elif change == "DELETE":
                changed = connection.execute(f"DELETE FROM {table} WHERE CURRENT OF c RETURNING id").fetchall()
            else:
                continue
            assert not rows or not changed or changed[0][0] == rows[-1][0], f"{mode}: {changed} is not {rows[-1]}: {sql}"
            seen.append(len(changed))
        connection.execute("CLOSE c")
        return [*seen, connection.execute(f"SELECT count(*), count(*) FILTER (WHERE s = 'changed') FROM {table}").fetchone()]
    except psycopg.Error as error:
        return [*seen, error.sqlstate]
    finally:
        connection.execute("ROLLBACK")


@pytest.fixture(scope="module")
def partitioned(connection):
    """The same rows, in partitions of which one is not cached, and a column is at another place in one."""
    connection.execute("CREATE TABLE pt (LIKE t) PARTITION BY RANGE (id)")
    for name, bounds in {"pt_1": "(MINVALUE) TO (50)", "pt_2": "(50) TO (400)", "pt_3": "(400) TO (MAXVALUE)"}.items():
        connection.execute(f"CREATE TABLE {name} PARTITION OF pt FOR VALUES FROM {bounds}")
    connection.execute("INSERT INTO pt SELECT * FROM t")
    connection.execute("VACUUM ANALYZE pt")
    for name in ("pt_1", "pt_3"):
        connection.execute("SELECT penumbra.load(%s::regclass)", (name,))
    return connection


CURSORS = ("SCROLL CURSOR FOR {sql}", "NO SCROLL CURSOR FOR {sql}", "CURSOR FOR {sql}", "SCROLL CURSOR WITH HOLD FOR {sql}",
           "CURSOR FOR {sql} FOR UPDATE", "CURSOR FOR {sql} LIMIT 60")  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_where_current_of(partitioned, seed):
    """A cursor over one table gives the row to UPDATE and DELETE, whatever its target list and conditions have."""
    generator = ClauseQueryGenerator(seed)
    random = generator.random
    guard, value = random.choice(GUARDED)
    table = random.choice(("t", "t", "pt"))
    output = random.choice((f", {generator.value(guard, value)}", "", ", t.s, t.a"))
    condition = random.choice((
        "", " WHERE t.id > 0 AND (t.a < 5 OR EXISTS (SELECT 1 FROM w WHERE w.k = t.k AND w.b < 500))", " WHERE t.k % 3 <> 1", " WHERE t.s < 'zzz'",
    ))  # fmt: skip
    sql = f"SELECT t.id{output} FROM {table} AS t{condition}"
    options = random.choice(CURSORS)
    steps = _cursor_steps(generator, "SCROLL" in options and "NO SCROLL" not in options)
    expected = _change_rows(partitioned, table, sql, options, steps, "off")
    for mode in ("auto", "prefer", "require"):
        found = _change_rows(partitioned, table, sql, options, steps, mode)
        if mode == "require" and found[-1] == "0A000":
            continue
        assert found == expected, (mode, options, sql, steps)


LOOP = """
CREATE FUNCTION change_all(mode text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c CURSOR FOR SELECT id, s FROM changed WHERE a < 8;
  rows int := 0;
  total bigint := 0;
  wrong int := 0;
  found_id int;
BEGIN
  PERFORM set_config('penumbra.mode', mode, true);
  FOR row IN c LOOP
    UPDATE changed SET s = 'u' WHERE CURRENT OF c RETURNING id INTO found_id;
    rows := rows + 1;
    total := total + row.id;
    wrong := wrong + (found_id IS DISTINCT FROM row.id)::int;
  END LOOP;
  RETURN format('%s rows, %s in all, %s wrong', rows, total, wrong);
END $$"""


def test_current_rows_of_chunks_patches_and_the_heap(connection):
    """Each row of a loop is the one that WHERE CURRENT OF changes, wherever it was read and wherever it lies on its page."""
    connection.execute("SET penumbra.mode = off")
    connection.execute("CREATE TABLE changed AS SELECT g AS id, g % 10 AS a, repeat('x', g % 50) AS s FROM generate_series(1, 40000) AS g")
    connection.execute("DELETE FROM changed WHERE id % 7 = 0")
    connection.execute("VACUUM ANALYZE changed")
    connection.execute("SELECT penumbra.load('changed')")
    connection.execute("UPDATE changed SET a = a + 1 WHERE id BETWEEN 300 AND 330")
    connection.execute("DELETE FROM changed WHERE id % 5003 = 1")
    connection.execute("SELECT penumbra.refresh('changed')")
    connection.execute("INSERT INTO changed SELECT g, 1, 'late' FROM generate_series(50001, 50300) AS g")
    connection.execute("UPDATE changed SET a = a + 1 WHERE id % 2000 = 7")
    connection.execute(LOOP)
    seen = {}
    for mode in ("off", "auto", "prefer", "require"):
        with connection.transaction(force_rollback=True):
            (seen[mode],) = connection.execute("SELECT change_all(%s)", (mode,)).fetchone()
    assert "0 wrong" in seen["off"] and set(seen.values()) == {seen["off"]}, seen


CAUGHT = """
CREATE FUNCTION fails_with() RETURNS int STABLE LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('clauses.state') <> '' THEN
    RAISE EXCEPTION 'told to' USING ERRCODE = current_setting('clauses.state');
  END IF;
  RETURN 5;
END $$;
CREATE FUNCTION caught(state text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  n int;
  seen text := '';
BEGIN
  FOR round IN 0..2 LOOP
    PERFORM set_config('clauses.state', CASE round WHEN 0 THEN '' ELSE state END, true);
    BEGIN
      SELECT count(*) INTO n FROM t WHERE a < fails_with();
      seen := seen || n || ' ';
    EXCEPTION WHEN OTHERS THEN
      seen := seen || SQLSTATE || ' ';
    END;
  END LOOP;
  RETURN seen;
END $$"""


def test_errors_of_all_classes_are_caught(connection):
    """An error of an expression that is evaluated at a node's start ends the block that catches it, and no more."""
    connection.execute(CAUGHT)
    warnings: list[str] = []
    connection.add_notice_handler(lambda notice: warnings.append(f"{notice.severity}: {notice.message_primary}"))
    for state in ("22012", "40001", "53100", "53200", "54001", "58030", "P0001", "XX000", "XX001"):
        seen = []
        for mode in ("off", "require"):
            connection.execute(f"SET penumbra.mode = {mode}")
            connection.execute("DISCARD PLANS")
            with connection.transaction():
                seen += connection.execute("SELECT caught(%s)", (state,)).fetchone()
        assert seen[0] == seen[1] and seen[0].count(state) == 2, (state, seen)
        assert not warnings, (state, warnings)


@pytest.mark.parametrize("mode", ["off", "auto", "prefer"])
def test_data_is_changed_once_beside_subqueries_that_can_fail(connection, mode):
    """What is evaluated when a node starts must not run the WITH queries of the statement, too."""
    connection.execute("CREATE TABLE IF NOT EXISTS changes (x integer)")
    connection.execute(f"SET penumbra.mode = {mode}")
    changing = "WITH changing AS (INSERT INTO changes VALUES (1) RETURNING x)"
    for condition in ("t.a = (SELECT x FROM u WHERE x = 3 LIMIT 2 OFFSET 29)", "t.a > 5 OR t.k = (SELECT b / k FROM w WHERE k = 7)",
                      "t.a = (SELECT b FROM w WHERE k = 3) AND t.k > (SELECT count(*) FROM changing)"):
        connection.execute("TRUNCATE changes")
        connection.execute(f"{changing} SELECT count(*) FROM t WHERE {condition}")
        assert connection.execute("SELECT count(*) FROM changes").fetchone() == (1,), condition
