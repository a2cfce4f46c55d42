"""Every way in which a statement or its server ends, at every stop point of the column cache and within queries of
several threads, while other sessions change what is cached. Afterwards answers are right and nothing stays pinned.
"""

import contextlib
import os
import re
import signal
import socket
import threading

import psycopg
import pytest
from conftest import SLOWNESS, connect, wait_until, wait_until_ready
from penumbra_lab.state import TREE

# No query or load of this server passes these, but the end of a process, DROP DATABASE and a restart; tests are there.
PASSED_ELSEWHERE = {
    "exit-after-unpin": "extensions/columnar/test/t/004_exit.pl",
    "drop-database": "test/crash/test_background.py",
    "disk-before-read": "extensions/columnar/test/t/006_disk.pl",
    "disk-reading": "extensions/columnar/test/t/006_disk.pl",
}
STOP_POINTS = sorted(
    set(
        re.findall(
            r'STOP_POINT\("([^"]+)"\)',
            "".join(path.read_text() for path in TREE.glob("extensions/columnar/src/**/*.c")),
        )
    )
    - PASSED_ELSEWHERE.keys()
)
ROWS = 20_000
THREADED_ROWS = 300_000
SUM = "SELECT count(*), sum(a), min(t), sum(length(t)) FROM {}"
# Runs for minutes in several threads: every row another group, and every character looked at.
LONG_QUERY = "SELECT count(*) FROM (SELECT t || a, count(*), sum(a * a) FROM {} WHERE t || t LIKE '%a%e%i%o%u%' OR a * 3 > 0 GROUP BY 1) AS g"


def make_attacked(server, database: str) -> None:
    """Anew: pages unchanged since they were loaded, pages changed since, and a map page whose stamp is out of date."""
    with connect(server, database) as connection:
        connection.execute("DROP TABLE IF EXISTS attacked")
        connection.execute(f"CREATE TABLE attacked AS SELECT g AS a, 'text ' || g % 999 AS t FROM generate_series(1, {ROWS}) AS g")
        connection.execute("VACUUM ANALYZE attacked")
        connection.execute("SELECT penumbra.load('attacked')")
        connection.execute("UPDATE attacked SET t = 'changed' WHERE a % 5000 = 0")
        connection.execute("VACUUM attacked")


def load_threaded(server, database: str) -> None:
    with connect(server, database) as connection:
        connection.execute(f"CREATE TABLE IF NOT EXISTS threaded AS SELECT g AS a, repeat('text ', 9) || g AS t FROM generate_series(1, {THREADED_ROWS}) AS g")
        connection.execute("VACUUM ANALYZE threaded")
        connection.execute("SELECT penumbra.load('threaded')")


@pytest.fixture()
def attacked(server, database):
    make_attacked(server, database)
    return database


@pytest.fixture()
def threaded(server, attacked):
    load_threaded(server, attacked)
    return attacked


def backend_is(server, pid: int, condition: str) -> bool:
    with server.connect() as connection:
        (found,) = connection.execute(f"SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND {condition}", (pid,)).fetchone()
    return found > 0


class Victim:
    """A session whose statement runs in a thread of its own; it holds no transaction when it is made."""

    def __init__(self, server, database: str, *settings: str) -> None:
        self.server = server
        self.connection = connect(server, database)
        self.pid = self.connection.info.backend_pid
        for setting in ("penumbra.mode = prefer", "max_parallel_workers_per_gather = 2", "penumbra.threads_per_query = 2", *settings):
            self.connection.execute(f"SET {setting}")
        self.result: object = None
        self._thread: threading.Thread | None = None

    def begin(self, sql: str) -> None:
        def run() -> None:
            try:
                self.result = self.connection.execute(sql).fetchall()
            except psycopg.Error as error:
                self.result = error.sqlstate or "gone"

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def wait_for_threads(self) -> None:
        wait_until(lambda: len(os.listdir(f"/proc/{self.pid}/task")) > 1, "the query runs in one thread")

    def wait_at_stop_point(self) -> None:
        wait_until(lambda: backend_is(self.server, self.pid, "wait_event_type = 'Lock' AND wait_event = 'advisory'"), "nobody stops there")

    def wait(self) -> None:
        self._thread.join(60 * SLOWNESS)
        assert not self._thread.is_alive(), "the statement does not end"

    def finish(self) -> object:
        self.wait()
        self.connection.close()
        return self.result


def send(server, function: str, pid: int) -> None:
    with server.connect() as connection:
        connection.execute(f"SELECT {function}({pid})")


# How a statement ends that waits or works: settings made before it, and what is done to it then.
EXITS = {
    "cancel": ((), lambda server, victim: send(server, "pg_cancel_backend", victim.pid)),
    "terminate": ((), lambda server, victim: send(server, "pg_terminate_backend", victim.pid)),
    "statement_timeout": (("statement_timeout = '500ms'",), None),
    "lock_timeout": (("lock_timeout = '500ms'",), None),
    "client is gone": (("client_connection_check_interval = '50ms'",), lambda _, victim: shut(victim)),
}
HARD_EXITS = {
    "fast shutdown": lambda server, _: server.restart(),
    "immediate shutdown": lambda server, _: (server.stop("immediate"), server.start()),
    "kill -9": lambda server, victim: (server.kill(victim.pid, signal.SIGKILL), wait_until_ready(server, victim.pid)),
}
# What other sessions do meanwhile; a load holds a lock that keeps the last two waiting.
OTHERS = {
    "nothing": "SELECT 1",
    "unload": "SELECT penumbra.unload(oid) FROM pg_class WHERE relname IN ('attacked', 'threaded')",
    "refresh": "SELECT penumbra.refresh(oid) FROM pg_class WHERE relname IN ('attacked', 'threaded')",
    "update": "UPDATE attacked SET t = t || 'x' WHERE a % 1000 = 1",
    "vacuum": "VACUUM attacked",
    "truncate": "TRUNCATE attacked",
    "drop": "DROP TABLE attacked",
}


def shut(victim: Victim) -> None:
    with socket.socket(fileno=os.dup(victim.connection.fileno())) as connection:
        connection.shutdown(socket.SHUT_RDWR)


def do_meanwhile(server, database: str, what: str) -> None:
    """With a timeout: a statement that has to wait for the victim has been in its way as well."""
    with connect(server, database) as connection:
        connection.execute(f"SET statement_timeout = '{int(500 * SLOWNESS)}ms'")
        connection.execute("SET lock_timeout = '100ms'")
        with contextlib.suppress(psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled):
            connection.execute(OTHERS[what])


def assert_sound(server, database: str) -> None:
    """Answers are those of mode off, verify() finds nothing, and all memory of the cache can be given back."""
    wait_until_ready(server)
    with connect(server, database) as connection:
        tables = [name for (name,) in connection.execute("SELECT relname FROM pg_class WHERE relname IN ('attacked', 'threaded')")]
        for table in tables:
            connection.execute("SET penumbra.mode = off")
            expected = connection.execute(SUM.format(table)).fetchall()
            connection.execute("SET penumbra.mode = prefer")
            assert connection.execute(SUM.format(table)).fetchall() == expected, table
            for row in connection.execute(f"SELECT mismatches, problem FROM penumbra.verify('{table}')").fetchall():
                assert row == (0, None), (table, row)
            connection.execute(f"SELECT penumbra.load('{table}')")
            assert connection.execute(SUM.format(table)).fetchall() == expected, table
            connection.execute(f"SELECT penumbra.unload('{table}')")

        def used() -> int:
            return connection.execute("SELECT coalesce(sum(used_bytes), 0)::bigint FROM penumbra.get_memory()").fetchone()[0]

        # A session that was terminated may still be on its way out.
        wait_until(lambda: used() == 0, f"{used()} bytes of the cache stay in use: somebody holds a pin", 20)


def statement_that_passes(stop_point: str) -> str:
    if stop_point.startswith("load-"):
        return "SELECT penumbra.unload('attacked'), penumbra.load('attacked')"
    if stop_point.startswith("planning-"):
        return "SELECT count(*) FROM attacked x JOIN attacked y USING (a) WHERE x.a % 3 = 1 AND y.a > 2000"
    return "SELECT penumbra.refresh('attacked')" if stop_point.startswith("patch-") else SUM.format("attacked")


@contextlib.contextmanager
def held(server, database: str, stop_point: str):
    """Whoever has the stop point among its settings waits there."""
    with connect(server, database) as keeper:
        keeper.execute("SELECT pg_advisory_lock(penumbra_test.stop_point_key(%s))", (stop_point,))
        yield
        with contextlib.suppress(psycopg.OperationalError):
            keeper.close()


def end_at(server, database: str, stop_point: str, way: str, meanwhile: str) -> None:
    settings, exit_by = EXITS[way] if way in EXITS else ((), HARD_EXITS[way])
    with held(server, database, stop_point):
        victim = Victim(server, database, f"penumbra.stop_points = '{stop_point}'", *settings)
        victim.begin(statement_that_passes(stop_point))
        victim.wait_at_stop_point()
        do_meanwhile(server, database, meanwhile)
        if exit_by:
            exit_by(server, victim)
        result = victim.finish()
    assert isinstance(result, str), f"{way} at {stop_point}: the statement went on to its end"


def test_the_stop_points_are_known():
    assert len(STOP_POINTS) >= 8


@pytest.mark.timeout(1800 * SLOWNESS)
@pytest.mark.parametrize("stop_point", STOP_POINTS)
def test_exits_at_stop_points(server, attacked, stop_point, is_long):
    """The short form goes round the other sessions' deeds, so that each exit meets some and each deed too."""
    deeds = list(OTHERS)
    turn = STOP_POINTS.index(stop_point)
    for number, way in enumerate(EXITS):
        for meanwhile in deeds if is_long else [deeds[(turn + number) % len(deeds)]]:
            end_at(server, attacked, stop_point, way, meanwhile)
            assert_sound(server, attacked)
            make_attacked(server, attacked)


@pytest.mark.kills
@pytest.mark.timeout(1800 * SLOWNESS)
@pytest.mark.parametrize("way", HARD_EXITS)
@pytest.mark.slow
def test_ends_of_the_server_at_stop_points(server, attacked, way, is_long):
    points = STOP_POINTS if is_long else STOP_POINTS[list(HARD_EXITS).index(way) :: 4]
    for number, stop_point in enumerate(points):
        end_at(server, attacked, stop_point, way, list(OTHERS)[number % len(OTHERS)])
        assert_sound(server, attacked)
        make_attacked(server, attacked)


def end_within(server, database: str, way: str, meanwhile: str) -> None:
    settings, exit_by = EXITS[way] if way in EXITS else ((), HARD_EXITS[way])
    victim = Victim(server, database, *settings)
    victim.begin(LONG_QUERY.format("threaded"))
    victim.wait_for_threads()
    do_meanwhile(server, database, meanwhile)
    if exit_by:
        exit_by(server, victim)
    victim.finish()


@pytest.mark.timeout(1800 * SLOWNESS)
@pytest.mark.parametrize("way", [way for way in EXITS if way != "lock_timeout"])
def test_exits_within_queries_of_threads(server, threaded, way, is_long):
    for meanwhile in OTHERS if is_long else ("unload",):
        end_within(server, threaded, way, meanwhile)
        assert_sound(server, threaded)
        make_attacked(server, threaded)
        load_threaded(server, threaded)


@pytest.mark.kills
@pytest.mark.timeout(1800 * SLOWNESS)
@pytest.mark.parametrize("way", HARD_EXITS)
@pytest.mark.slow
def test_ends_of_the_server_within_queries_of_threads(server, threaded, way):
    end_within(server, threaded, way, "nothing")
    assert_sound(server, threaded)


@pytest.mark.timeout(600 * SLOWNESS)
@pytest.mark.parametrize("timeout", ["idle_in_transaction_session_timeout", "transaction_timeout"])
def test_a_cursor_is_open_when_the_session_ends(server, threaded, timeout):
    """FATAL while the plan of a cursor holds its pins and its threads."""
    for query in ("SELECT a, t FROM threaded WHERE a > 0", LONG_QUERY.format("threaded"), "SELECT t, a FROM threaded ORDER BY t DESC, a"):
        victim = Victim(server, threaded)
        if not victim.connection.execute("SELECT 1 FROM pg_settings WHERE name = %s", (timeout,)).fetchall():
            pytest.skip(f"no {timeout} in this version")
        victim.connection.execute("BEGIN")
        victim.connection.execute(f"DECLARE c NO SCROLL CURSOR FOR {query}")
        victim.connection.execute("FETCH 5 FROM c")
        victim.connection.execute(f"SET {timeout} = '100ms'")
        wait_until(lambda pid=victim.pid: not backend_is(server, pid, "true"), "the session stays")
        victim.connection.close()
        assert_sound(server, threaded)
        load_threaded(server, threaded)
