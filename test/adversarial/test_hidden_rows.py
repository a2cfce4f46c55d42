"""What a role sees must not depend on rows that row-level security hides from it: in answers, plans, errors, notices or views.

Two databases are alike but for the values of the hidden rows, which have the same sizes. What PostgreSQL itself, in mode
off, lets out is not held against the cache.
"""

import re

import psycopg
import pytest
from conftest import SLOWNESS, connect

SETUP = """
CREATE TABLE secrets (id int, owner text, amount int, note text, f float8, n numeric);
INSERT INTO secrets SELECT g, CASE WHEN g % 10 < 3 THEN 'stranger' ELSE 'somebody' END,
    CASE WHEN g % 10 < 3 THEN g % 100 ELSE {amount} END, CASE WHEN g % 10 < 3 THEN 'mine ' || g % 10 ELSE {note} END,
    CASE WHEN g % 10 < 3 THEN g ELSE {f} END, CASE WHEN g % 10 < 3 THEN g / 4.0 ELSE {n} END
    FROM generate_series(1, 15000) AS g;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON secrets USING (owner = current_user);
GRANT SELECT ON secrets TO stranger;
CREATE VIEW barrier WITH (security_barrier) AS SELECT id, amount, note, f, n FROM secrets WHERE owner = current_user;
GRANT SELECT ON barrier TO stranger;
CREATE TABLE guesses AS SELECT g AS guess, 'hidden' || g % 10 AS word FROM generate_series(1, 800) AS g;
GRANT SELECT ON guesses TO stranger;
ALTER TABLE secrets SET (autovacuum_enabled = off);
VACUUM secrets;
VACUUM ANALYZE guesses;
SELECT penumbra.load('secrets');
SELECT penumbra.load('guesses');
CREATE FUNCTION tell(int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $f$ BEGIN RAISE NOTICE 'seen %', $1; RETURN true; END $f$;
"""
HIDDEN = [
    {"amount": "700 + g % 10", "note": "'hidden' || g % 10", "f": "g", "n": "12.25"},
    {"amount": "5", "note": "'HIDDEN' || g % 10", "f": "1e300", "n": "99.75"},
]
CONDITIONS = [
    "true", "amount = 5", "amount > 600", "amount BETWEEN 700 AND 705", "amount IN (5, 700)", "note = 'hidden7'", "note LIKE 'hid%'",
    "note > 'mine 9'", "f > 1e299", "n < 100", "1 / (amount - 5) IS NOT NULL", "1 / (amount - 700) IS NOT NULL",
    "(100 / amount) > 3 AND tell(amount)", "tell(amount)", "f * f > 0", "note::int > 0", "sqrt(5 - amount) >= 0", "amount + 2147483640 > 0",
]  # fmt: skip
TARGETS = [
    "count(*)", "sum(amount), min(note), max(note)", "count(DISTINCT amount), max(f)", "max(1 / (amount - 5))", "sum(f * 1e10)", "array_agg(id ORDER BY id)",
]
SHAPES = [
    "SELECT {target} FROM {table} WHERE {condition}",
    "SELECT amount % 3, {target} FROM {table} WHERE {condition} GROUP BY 1 ORDER BY 1",
    "SELECT * FROM (SELECT amount, note, id FROM {table} WHERE {condition} ORDER BY amount DESC, id LIMIT 5) AS s",
    "SELECT DISTINCT amount FROM {table} WHERE {condition} ORDER BY 1",
    "SELECT {target} FROM {table} JOIN guesses ON amount = guess WHERE {condition}",
    "SELECT {target}, count(guess) FROM guesses LEFT JOIN {table} ON amount = guess AND {condition}",
    "SELECT {target} FROM {table} JOIN guesses ON note = word AND guess < 11 AND tell(amount + guess) WHERE {condition}",
    "SELECT count(*), sum(guess) FROM guesses WHERE EXISTS (SELECT FROM {table} WHERE amount = guess AND {condition})",
    "SELECT count(*) FROM guesses WHERE guess NOT IN (SELECT amount FROM {table} WHERE {condition})",
    "SELECT {target} FROM {table} WHERE amount > (SELECT min(guess) FROM guesses WHERE word = note) AND {condition}",
]
EXPLAIN = "EXPLAIN (ANALYZE, VERBOSE, TIMING OFF, SUMMARY OFF, COSTS {costs}) "
# What everybody may read of the cache.
VIEWS = [
    "SELECT * FROM penumbra.tables ORDER BY relname", "SELECT relname, heap_pages, lost_pages, stale_at IS NULL, reason, remedy FROM penumbra.staleness ORDER BY 1", "SELECT * FROM penumbra.columns ORDER BY relname, column_name", "SELECT * FROM penumbra.get_columns() ORDER BY relid, attnum", "SELECT * FROM penumbra.explain_coverage('secrets')", "SELECT * FROM penumbra.verify('secrets')",
    "SELECT * FROM pg_stats WHERE tablename = 'secrets'",
]  # fmt: skip


@pytest.fixture(scope="module")
def databases(server):
    names = [f"hidden_{number}" for number in range(len(HIDDEN))]
    for name, values in zip(names, HIDDEN, strict=True):
        with server.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        with connect(server, name) as connection:
            for statement in SETUP.format(**values).split(";\n"):
                if statement.strip():
                    connection.execute(statement)
    yield names
    with server.connect() as connection:
        for name in names:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Observer:
    """Everything that a session of the role lets it see of a statement."""

    def __init__(self, server, database: str, mode: str) -> None:
        self._connection = connect(server, database, "stranger")
        self._notices: list[str] = []
        self._connection.add_notice_handler(lambda diagnostic: self._notices.append(diagnostic.message_primary))
        self._connection.execute(f"SET penumbra.mode = {mode}")
        self._connection.execute("SET jit = off")
        self._connection.execute("SET max_parallel_workers_per_gather = 0")
        oids = self._connection.execute("SELECT oid FROM pg_class WHERE relname IN ('secrets', 'guesses')")
        # whole numbers: a cost may contain such digits
        self._oids = re.compile(rf"\b({'|'.join(str(oid) for (oid,) in oids)})\b")

    def see(self, sql: str) -> tuple:
        self._notices.clear()
        try:
            seen = [tuple(self._oids.sub("OID", str(value)) for value in row) for row in self._connection.execute(sql).fetchall()]
        except psycopg.Error as error:
            diagnostic = error.diag
            seen = [(error.sqlstate, diagnostic.message_primary, diagnostic.message_detail, diagnostic.context)]
        return (seen, list(self._notices))


@pytest.fixture(scope="module")
def observers(server, databases):
    return {mode: [Observer(server, database, mode) for database in databases] for mode in ("off", "auto", "prefer")}


def differs(observers: list[Observer], sql: str) -> str:
    first, second = (observer.see(sql) for observer in observers)
    if first == second:
        return ""
    lines = [f"{a} | {b}" for a, b in zip(first[0], second[0], strict=False) if a != b] or [str(first)[:200], str(second)[:200]]
    return f"{sql}: " + " || ".join(lines[:4])[:600]


def probes(is_long: bool):
    """Every condition with every shape and target; in the short form with one of them."""
    for table in ("secrets", "barrier"):
        for number, condition in enumerate(CONDITIONS):
            combinations = [(shape, target) for shape in SHAPES for target in (TARGETS if "{target}" in shape else [""])]
            for shape, target in combinations if is_long else [combinations[(5 * number) % len(combinations)]]:
                yield shape.format(table=table, condition=condition, target=target)


@pytest.mark.timeout(1800 * SLOWNESS)
@pytest.mark.parametrize("mode", ["auto", "prefer"])
@pytest.mark.parametrize("prefix", ["", EXPLAIN.format(costs="OFF"), EXPLAIN.format(costs="ON"), "EXPLAIN "],
                         ids=["answers", "analysed", "analysed with costs", "costs"])  # fmt: skip
def test_queries_do_not_tell_of_hidden_rows(observers, mode, prefix, is_long):
    found = []
    for query in probes(is_long):
        different = differs(observers[mode], prefix + query)
        if different and not differs(observers["off"], prefix + query):
            found.append(different)
    assert not found, f"{len(found)} differ:\n" + "\n".join(found[:6])


@pytest.mark.timeout(300 * SLOWNESS)
def test_views_do_not_tell_of_hidden_rows(observers):
    found = [different for view in VIEWS if (different := differs(observers["auto"], view))]
    assert not found, "\n".join(found)
