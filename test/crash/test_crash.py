"""Killed backends, crashed servers: the cache is gone, the answers stay."""

import contextlib
import signal
import threading
import time

import psycopg
import pytest
from conftest import answer, assert_same, cached_pages, make_table


def _wait_for_server(server) -> psycopg.Connection:
    """A connection that outlived the restart after a killed backend."""
    deadline = time.monotonic() + 60
    while True:
        try:
            connection = server.connect()
            time.sleep(0.5)
            connection.execute("SELECT 1")
            return connection
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@pytest.mark.timeout(180)
def test_a_backend_killed_while_loading(server):
    with server.connect() as connection:
        make_table(connection, "large", 400000)
        expected = answer(connection, "off", "large")
    loader = server.connect()
    pid = loader.execute("SELECT pg_backend_pid()").fetchone()[0]

    def load() -> None:
        with pytest.raises(psycopg.OperationalError):
            while True:
                loader.execute("SELECT penumbra.load('large')")
                loader.execute("SELECT penumbra.unload('large')")

    thread = threading.Thread(target=load)
    thread.start()
    time.sleep(0.4)
    server.kill(pid, signal.SIGKILL)
    thread.join(60)
    assert not thread.is_alive()
    with _wait_for_server(server) as connection:
        assert cached_pages(connection, "large") == 0, "a crash restart begins with an empty cache"
        assert answer(connection, "require", "large") == expected
        connection.execute("SELECT penumbra.load('large')")
        assert cached_pages(connection, "large") > 0
        assert assert_same(connection, "large") == expected


@pytest.mark.timeout(180)
def test_a_terminated_loader_leaves_a_usable_cache(server):
    with server.connect() as connection:
        make_table(connection, "large", 400000)
        expected = answer(connection, "off", "large")
        for round_number in range(6):
            with server.connect() as loader:
                pid = loader.execute("SELECT pg_backend_pid()").fetchone()[0]
                function = "pg_cancel_backend" if round_number % 2 else "pg_terminate_backend"
                timer = threading.Timer(
                    0.02 * (round_number + 1),
                    lambda f=function, p=pid: connection.execute(f"SELECT {f}({p})"),
                )
                timer.start()
                try:
                    loader.execute("SELECT penumbra.load('large')")
                except psycopg.Error as error:
                    assert error.sqlstate in ("57014", "57P01", None)
                timer.join()
            assert assert_same(connection, "large") == expected
        connection.execute("SELECT penumbra.load('large')")
        wrong = connection.execute(
            "SELECT * FROM penumbra.verify('large') WHERE mismatches > 0"
        ).fetchall()
        assert not wrong
        connection.execute("SELECT penumbra.unload('large')")
        used = connection.execute("SELECT sum(used_bytes) FROM penumbra.get_memory()").fetchone()[0]
        assert used == 0, "an interrupted load keeps memory"


@pytest.mark.timeout(180)
def test_sessions_that_end_while_they_learn(server):
    """Of patterns, in another session each time: answers stay, and what was remembered goes with its column."""
    with server.connect() as connection:
        make_table(connection, "large", 400000)
        connection.execute("SELECT penumbra.load('large')")
        expected = answer(connection, "off", "large")
        for round_number in range(8):
            with server.connect() as asker:
                pid = asker.execute("SELECT pg_backend_pid()").fetchone()[0]
                function = "pg_cancel_backend" if round_number % 2 else "pg_terminate_backend"
                timer = threading.Timer(
                    0.1 + 0.05 * round_number,
                    lambda f=function, p=pid: connection.execute(f"SELECT {f}({p})"),
                )
                timer.start()
                number = 0
                # A cancel between two queries is nothing.
                with contextlib.suppress(psycopg.Error):
                    while timer.is_alive():
                        number += 1
                        asker.execute(f"SELECT count(*) FROM large WHERE words LIKE '%{number % 60}%'")
                timer.join()
        for number in range(20):
            query = f"SELECT count(*), sum(id) FROM large WHERE words LIKE '%{number}%'"
            connection.execute("SET penumbra.mode = 'off'")
            counted = connection.execute(query).fetchall()
            connection.execute("SET penumbra.mode = 'require'")
            assert connection.execute(query).fetchall() == counted
        assert answer(connection, "require", "large") == expected
        known = connection.execute(f"EXPLAIN (ANALYZE) {query}").fetchall()
        assert any("Remembered Filters" in line for (line,) in known), known
        connection.execute("SELECT penumbra.unload('large')")
        used = connection.execute("SELECT sum(used_bytes) FROM penumbra.get_memory()").fetchone()[0]
        assert used == 0, "an interrupted query keeps memory"


@pytest.mark.timeout(180)
def test_a_crash_between_changes(server):
    """Committed changes are there, the interrupted one is not, from heap and cache alike."""
    with server.connect() as connection:
        connection.execute("SELECT penumbra.load('t')")
        connection.execute("UPDATE t SET amount = amount + 1 WHERE grp = 5")
        expected = answer(connection, "off")
        open_transaction = server.connect()
        open_transaction.execute("BEGIN")
        open_transaction.execute("DELETE FROM t WHERE grp < 50")
        connection.execute("CHECKPOINT")
    server.stop("immediate")
    server.start()
    with server.connect() as connection:
        assert cached_pages(connection) == 0
        assert assert_same(connection) == expected
        connection.execute("SELECT penumbra.load('t')")
        assert assert_same(connection) == expected
        connection.execute("VACUUM t")
        connection.execute("SELECT penumbra.refresh('t')")
        assert assert_same(connection) == expected
    open_transaction.close()


@pytest.mark.timeout(180)
def test_a_clean_restart(server):
    with server.connect() as connection:
        connection.execute("SELECT penumbra.load('t')")
        expected = assert_same(connection)
    server.restart()
    with server.connect() as connection:
        assert assert_same(connection) == expected


@pytest.mark.timeout(180)
def test_a_query_thread_does_not_survive_its_backend(server):
    """SIGKILL in the middle of a vector query: the server restarts, answers, keeps no process."""
    with server.connect() as connection:
        make_table(connection, "large", 400000)
        connection.execute("SELECT penumbra.load('large')")
        expected = answer(connection, "off", "large")
    victim = server.connect()
    pid = victim.execute("SELECT pg_backend_pid()").fetchone()[0]
    victim.execute("SET penumbra.mode = 'require'")

    def query() -> None:
        with pytest.raises(psycopg.OperationalError):
            while True:
                victim.execute(
                    "SELECT words, id, count(*), sum(amount) FROM large GROUP BY 1, 2 LIMIT 3"
                )

    thread = threading.Thread(target=query)
    thread.start()
    time.sleep(0.3)
    server.kill(pid, signal.SIGKILL)
    thread.join(60)
    with _wait_for_server(server) as connection:
        assert answer(connection, "require", "large") == expected
