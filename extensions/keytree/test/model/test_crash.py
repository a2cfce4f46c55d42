"""Servers killed while they write: after replay the index holds what the heap holds."""

import os
import random
import signal
import threading
import time

import psycopg
import pytest
from conftest import assert_index_is_heap, wait_until_gone

ROUNDS = int(os.environ.get("KEYTREE_CRASH_ROUNDS", "10"))


def _write(server, seed: str) -> None:
    """Until the connection breaks; statements are small, so that a kill meets all stages of splits."""
    pick = random.Random(seed)
    try:
        with server.connect() as connection:
            connection.autocommit = True
            while True:
                start = pick.randrange(1 << 22)
                connection.execute(pick.choice((
                    f"INSERT INTO t SELECT ({start} + i * 7919) % 4194304, md5(({start} + i)::text)::uuid FROM generate_series(1, 800) i",
                    f"INSERT INTO t SELECT {start} + i, md5(i::text)::uuid FROM generate_series(1, 800) i",
                    "INSERT INTO t SELECT NULL, NULL FROM generate_series(1, 300) i",
                    f"DELETE FROM t WHERE k BETWEEN {start} AND {start + 400000}",
                    f"UPDATE t SET k = k + 1 WHERE k BETWEEN {start} AND {start + 20000}",
                    "VACUUM (INDEX_CLEANUP ON) t",
                    "CHECKPOINT" if pick.random() < 0.1 else "SELECT 1")))  # fmt: skip
    except psycopg.OperationalError:
        return


def _connect_after_restart(server) -> psycopg.Connection:
    deadline = time.monotonic() + 120
    while True:
        try:
            connection = server.connect()
            connection.autocommit = True
            connection.execute("SELECT 1")
            return connection
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _backends(server) -> list[int]:
    with server.connect() as connection:
        return [row[0] for row in connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")]  # fmt: skip


@pytest.mark.timeout(120 + 30 * ROUNDS)
@pytest.mark.slow
def test_killed_while_writing(server, seed):
    pick = random.Random(seed)
    with server.connect() as connection:
        connection.execute("CREATE TABLE t (k int8, u uuid)")
        connection.execute("CREATE INDEX t_k ON t USING keytree (k)")
        connection.execute("CREATE INDEX t_u ON t USING keytree (u)")
    for number in range(ROUNDS):
        writers = [
            threading.Thread(target=_write, args=(server, f"{seed} {number} {i}")) for i in range(3)
        ]
        for writer in writers:
            writer.start()
        time.sleep(pick.uniform(0.05, 1.0))
        postmaster = server.postmaster_pid()
        if number % 2 == 0:
            victims = _backends(server)
            server.kill(pick.choice(victims) if victims else postmaster, signal.SIGKILL)
        else:
            server.kill(postmaster, signal.SIGKILL)
        for writer in writers:
            writer.join(60)
            assert not writer.is_alive()
        if number % 2 == 1:
            wait_until_gone(server, postmaster)
            server.start()
        with _connect_after_restart(server) as connection:
            assert_index_is_heap(connection, "t", "k")
            assert_index_is_heap(connection, "t", "u")
            if connection.execute("SELECT count(*) FROM t").fetchone()[0] > 60000:
                connection.execute("TRUNCATE t")
