"""Look-ups while others split, empty and reuse the pages of indexes: with one snapshot, a session with ready states and
one without must read the same."""

import random
import threading

import psycopg
import pytest

SETUP = """
CREATE TABLE t (k int, v bigint, u uuid, payload text);
CREATE INDEX t_k ON t (k);
CREATE INDEX t_v_k ON t (v, k);
CREATE INDEX t_u ON t (u);
INSERT INTO t SELECT i * 7 % 20000, i % 300, md5(i::text)::uuid, 'first' FROM generate_series(1, 8000) i;
ANALYZE t;
"""
STATEMENTS = {
    "by_k": "SELECT k, v, payload FROM t WHERE k = $1 ORDER BY k",
    "k_only": "SELECT k FROM t WHERE k = $1",
    "next_k": "SELECT k, v FROM t WHERE k >= $1 ORDER BY k LIMIT 30",
    "last_k": "SELECT k, v FROM t WHERE k < $1 ORDER BY k DESC LIMIT 30",
    "by_v": "SELECT v, k FROM t WHERE v = $1 % 310 ORDER BY v, k",
    "v_from": "SELECT v, k FROM t WHERE v = $1 % 310 AND k > $1 ORDER BY v DESC, k DESC",
    "by_u": "SELECT u, k FROM t WHERE u = md5($1::text)::uuid",
    "next_u": "SELECT u FROM t WHERE u > md5($1::text)::uuid ORDER BY u LIMIT 10",
}
SETTINGS = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off"


def write(connection: psycopg.Connection, seed: int, stop: threading.Event, failures: list) -> None:
    """Bursts of neighbouring keys, which split pages, and deletions of ranges with VACUUM, which frees them."""
    rng = random.Random(seed)
    try:
        while not stop.is_set():
            start = rng.randrange(20000)
            kind = rng.random()
            if kind < 0.5:
                connection.execute("INSERT INTO t SELECT %s + i %% 40, i %% 300, md5((%s + i)::text)::uuid, 'more'"
                                   " FROM generate_series(1, 200) i", (start, start))  # fmt: skip
            elif kind < 0.75:
                connection.execute("DELETE FROM t WHERE k BETWEEN %s AND %s", (start, start + 1500))
            elif kind < 0.9:
                connection.execute("UPDATE t SET v = v + 1, k = k + 1 WHERE k BETWEEN %s AND %s", (start, start + 60))
            else:
                connection.execute("VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t")
    except Exception as error:  # noqa: BLE001
        failures.append(error)


def read(connection: psycopg.Connection, executions: list[tuple[str, int]]) -> list:
    return [connection.execute(f"EXECUTE {name}({number})").fetchall() for name, number in executions]


def comparable(name: str, rows: list) -> list:
    """A scan backward returns the rows of a posting list forward, and deduplication makes such lists between two scans:
    equal keys have no order of rows then, and LIMIT takes any of the last key."""
    last_key = rows[-1][0] if name == "last_k" and rows else None
    return sorted(row[:1] if row[0] == last_key else row for row in rows)


@pytest.mark.timeout(600)
def test_concurrent_writers(server, seed):
    rng = random.Random(seed)
    stop = threading.Event()
    failures: list[Exception] = []
    with server.connect("ready") as stock, server.connect("ready") as ready, server.connect("ready") as first_writer, \
            server.connect("ready") as second_writer:  # fmt: skip
        for connection in (stock, ready, first_writer, second_writer):
            connection.autocommit = True
        ready.execute(SETUP)
        ready.execute("CREATE EXTENSION penumbra_lookup")
        stock.execute("SET penumbra_lookup.max_plans = 0")
        for connection in (stock, ready):
            connection.execute(SETTINGS)
            for name, statement in STATEMENTS.items():
                connection.execute(f"PREPARE {name}(int) AS {statement}")
        writers = [threading.Thread(target=write, args=(connection, number, stop, failures))
                   for number, connection in enumerate((first_writer, second_writer))]  # fmt: skip
        for writer in writers:
            writer.start()
        try:
            for step in range(60):
                executions = [(rng.choice(list(STATEMENTS)), rng.randrange(-5, 20100)) for _ in range(40)]
                stock.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                ready.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                snapshot = stock.execute("SELECT pg_export_snapshot()").fetchone()[0]
                ready.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
                for execution, rows, other_rows in zip(
                    executions, read(stock, executions), read(ready, executions), strict=True
                ):
                    assert comparable(execution[0], rows) == comparable(execution[0], other_rows), (seed, step, execution)
                    if execution[0] in ("next_k", "k_only", "next_u"):
                        assert [row[0] for row in rows] == [row[0] for row in other_rows], (seed, step, execution)
                stock.execute("COMMIT")
                ready.execute("COMMIT")
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        assert not failures
        outcomes = dict(ready.execute("SELECT outcome, executions FROM penumbra_lookup.executions").fetchall())
        assert outcomes["ready"] > 1000
        ready.execute("CREATE EXTENSION amcheck")
        ready.execute("SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 't'::regclass")
