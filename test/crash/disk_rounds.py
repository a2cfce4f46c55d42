"""Rounds of what uses the disk cache: sessions that write, load and compare tables larger than memory and it together.

Commits are asynchronous now and then, so that WAL is lost, too, when the server is killed.
"""

import collections
import contextlib
import functools
import random
import re
import threading
import time

import psycopg

TABLES = ("a", "b", "c", "d")
ROWS = 60000
WAIT_SECONDS = 60
QUERIES = (
    "SELECT k, count(*), sum(amount), min(u), max(u), sum(id) FROM {} GROUP BY k ORDER BY k",
    "SELECT count(*), count(DISTINCT u), sum(length(u)), sum(amount) FROM {}",
    "SELECT id, k, amount, u FROM {} WHERE k = 7 ORDER BY id",
)
INSERT = (
    "INSERT INTO {} SELECT g, g % 97, g % 1000 / 8.0, md5(g::text) || md5((-g)::text) || repeat('in columns ', 7)"
    " FROM generate_series({}, {}) g"
)
SETTINGS = {
    "penumbra__memory": "16MB",
    "penumbra__disk_cache_size": "24MB",
    "penumbra__disk_cache_compression": "on",
    "penumbra__auto_load": "on",
    "max_wal_size": "256MB",
    "wal_writer_delay": "10s",
    "statement_timeout": "60s",
    "max_parallel_workers_per_gather": "1",
}


def make_tables(server) -> None:
    """Tables in a server that was started, all loaded, as far as there is room, and saved."""
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION penumbra")
        for table in TABLES:
            connection.execute(
                f"CREATE TABLE {table} (id int, k int, amount numeric(10,3), u text) WITH (fillfactor = 50)"
            )
            connection.execute(INSERT.format(table, 1, ROWS))
            connection.execute(f"CREATE INDEX ON {table} (id)")
            connection.execute(f"VACUUM ANALYZE {table}")
            connection.execute("SELECT penumbra.load(%s)", (table,))
        wait_until(lambda: disk_has(connection, "NOT is_pending"))


def disk_has(connection, condition: str) -> bool:
    return connection.execute(f"SELECT {condition} FROM penumbra.disk").fetchone()[0]


def wait_until(is_true) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Round:
    """Sessions that write, load and compare until they are ended or cut off."""

    def __init__(self, server, seed: str):
        self.server = server
        self.ends = threading.Event()
        self.wrong: list[str] = []
        self.threads = [
            threading.Thread(target=self._run, args=(action, random.Random(f"{seed} {number}")))
            for number, action in enumerate((write, write, load, self._compare))
        ]
        for thread in self.threads:
            thread.start()

    def _run(self, action, pick: random.Random) -> None:
        while not self.ends.is_set():
            try:
                with self.server.connect() as connection:
                    while not self.ends.is_set():
                        action(connection, pick)
            except psycopg.OperationalError:
                time.sleep(0.02)  # the server is gone, or restarts
            except Exception as error:
                self.wrong.append(f"{action.__name__}: {error!r}")
                return

    def _compare(self, connection, pick: random.Random) -> None:
        problem = find_difference(connection, pick.choice(TABLES))
        if problem:
            self.wrong.append(problem)

    def end(self) -> None:
        self.ends.set()
        for thread in self.threads:
            thread.join(WAIT_SECONDS)
            assert not thread.is_alive()
        assert not self.wrong, self.wrong[:3]


def write(connection, pick: random.Random) -> None:
    table = pick.choice(TABLES)
    start = pick.randrange(ROWS)
    end = start + pick.choice((0, 10, 300, 4000))
    with contextlib.suppress(
        psycopg.errors.DeadlockDetected,
        psycopg.errors.LockNotAvailable,
        psycopg.errors.QueryCanceled,
    ):
        connection.execute(f"SET synchronous_commit = {pick.choice(('on', 'off'))}")
        kind = pick.random()
        if kind < 0.35:
            connection.execute(
                f"UPDATE {table} SET amount = amount + 1, u = md5(u) || u WHERE id BETWEEN {start} AND {end}"
                " AND length(u) < 200"
            )
        elif kind < 0.5:
            connection.execute(
                f"UPDATE {table} SET k = (k + 1) % 97 WHERE id BETWEEN {start} AND {end}"
            )
        elif kind < 0.6:
            connection.execute(f"DELETE FROM {table} WHERE id BETWEEN {start} AND {end}")
            connection.execute(INSERT.format(table, start, end))
        elif kind < 0.7:
            with contextlib.suppress(ZeroDivisionError), connection.transaction():
                connection.execute(f"DELETE FROM {table} WHERE id BETWEEN {start} AND {end}")
                raise ZeroDivisionError
        elif kind < 0.93:
            connection.execute(f"VACUUM {table}")
        elif kind < 0.96:
            connection.execute("CHECKPOINT")
        elif kind < 0.98:
            connection.execute(f"VACUUM FULL {table}")
        else:
            with connection.transaction():
                connection.execute(f"TRUNCATE {table}")
                connection.execute(INSERT.format(table, 1, ROWS))


def load(connection, pick: random.Random) -> None:
    connection.execute("SET client_min_messages = error")
    table = pick.choice(TABLES)
    if pick.random() < 0.2:
        load_in_vain(connection, table, pick)
        return
    connection.execute(
        pick.choice(
            ("SELECT penumbra.load(%s)", "SELECT penumbra.load(%s)", "SELECT penumbra.refresh(%s)",
             "SELECT penumbra.load(%s, ARRAY['k', 'amount'])", "SELECT penumbra.unload(%s)")
        ),
        (table,),
    )  # fmt: skip


def load_in_vain(connection, table: str, pick: random.Random) -> None:
    """Saves a column that is never committed, in a transaction that the kill may end."""
    with contextlib.suppress(
        ZeroDivisionError,
        psycopg.errors.DeadlockDetected,
        psycopg.errors.LockNotAvailable,
        psycopg.errors.QueryCanceled,
    ), connection.transaction():  # fmt: skip
        connection.execute(f"ALTER TABLE {table} ADD added int DEFAULT {pick.randrange(1000)}")
        connection.execute("SELECT penumbra.load(%s, ARRAY['added'])", (table,))
        time.sleep(pick.random() / 2)
        raise ZeroDivisionError


def find_difference_of_default(connection, table: str) -> str | None:
    """A column is added whose number may be that of one in the cache that was not committed."""
    connection.execute(f"ALTER TABLE {table} ADD added int DEFAULT 1001")
    problem = find_difference(connection, table, ("SELECT added, count(*) FROM {} GROUP BY added",))
    connection.execute(f"ALTER TABLE {table} DROP added")
    return problem


def find_difference(connection, table: str, queries: tuple[str, ...] = QUERIES) -> str | None:
    """What differs between the cache and the table for one snapshot; None: nothing."""
    for query in queries:
        try:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                answers = []
                for mode in ("off", "prefer"):
                    connection.execute(f"SET LOCAL penumbra.mode = '{mode}'")
                    answers.append(connection.execute(query.format(table)).fetchall())
        except psycopg.errors.SerializationFailure:
            continue
        if answers[0] != answers[1]:
            return f"{table}: {query}: {set(answers[0]) ^ set(answers[1])}"
    return None


def wait_for_server(server) -> psycopg.Connection:
    """A session of a server that has found what was saved, and has restarted if one of its processes died."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection = server.connect()
            time.sleep(0.1)
            wait_until(functools.partial(disk_has, connection, "state NOT IN ('opening', 'stopped')"))
            return connection
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, server.log_tail()
            time.sleep(0.05)


def check(server, counts: collections.Counter) -> None:
    """What was taken over is what the tables have, without a fault."""
    with wait_for_server(server) as connection:
        disk = connection.execute(
            "SELECT state, restored_chunks, segments_read, read_errors, damaged, write_errors FROM penumbra.disk"
        ).fetchone()
        log = server.log.read_text(errors="replace")
        assert disk[0] == "open" and disk[3:] == (0, 0, 0), (disk, server.log_tail(40))
        refused = set(re.findall(r"cached columns on disk are not used: (.*)", log))
        # the second where such a start was killed before it had saved anything
        assert refused <= {
            "WAL begins with a new segment, as after pg_resetwal",
            "it does not belong to this state of the data directory",
        }, refused
        counts["recoveries with chunks"] += disk[1] > 0
        for table in TABLES:
            problem = find_difference(connection, table) or find_difference_of_default(connection, table)
            assert not problem, problem
            counts["tables from disk"] += connection.execute(
                "SELECT pages_from_cache > 0 FROM penumbra.explain_coverage(%s)", (table,)
            ).fetchone()[0]
            wrong = connection.execute(
                "SELECT * FROM penumbra.verify(%s) WHERE mismatches > 0 OR problem IS NOT NULL",
                (table,),
            ).fetchall()
            assert not wrong, wrong
        counts["segments read"] += connection.execute(
            "SELECT segments_read FROM penumbra.disk"
        ).fetchone()[0]
    log = server.log.read_text(errors="replace")
    assert not re.search(r"PANIC|TRAP|terminated by signal (?!9)", log), server.log_tail(60)
