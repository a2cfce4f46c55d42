"""Servers with penumbra_keytree, and what its tests compare: the index's answers with the heap's."""

import os
import time

import pytest
from penumbra_lab.server import PrivateServer, run_directory

SETTINGS = {
    "shared_preload_libraries": "penumbra_keytree",
    "shared_buffers": "64MB",
    "autovacuum": "off",
    "fsync": "off",
    "wal_level": "replica",
    "max_wal_senders": "4",
    "wal_consistency_checking": "all",
    "max_wal_size": "2GB",
    "wal_keep_size": "2GB",  # for a standby that lags behind a checkpoint
}
SCANS = ("indexscan", "indexonlyscan", "bitmapscan")


@pytest.fixture()
def seed():
    """Fixed, so that a suite that passed passes; KEYTREE_TEST_SEED tries another one."""
    return int(os.environ.get("KEYTREE_TEST_SEED", 1))


@pytest.fixture()
def make_server():
    """Makes servers that are gone after the test."""
    made = []

    def make(name: str, **settings: str) -> PrivateServer:
        server = PrivateServer(run_directory(f"test-keytree-{name}"), SETTINGS | settings,
                               initdb_options=("--encoding=UTF8", "--no-locale"))  # fmt: skip
        made.append(server)
        return server

    yield make
    for server in reversed(made):
        server.remove()


@pytest.fixture()
def server(make_server):
    server = make_server("main")
    server.start()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION penumbra_keytree")
    return server


def wait_until_gone(server: PrivateServer, postmaster: int) -> None:
    """After SIGKILL of the postmaster, until its children have noticed."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(postmaster, 0)
        except ProcessLookupError:
            break
        time.sleep(0.02)
    server.stop("immediate")
    (server.data / "postmaster.pid").unlink(missing_ok=True)


def choose_scan(connection, scan: str) -> None:
    for kind in (*SCANS, "seqscan"):
        connection.execute(f"SET enable_{kind} = {kind == scan}")
    connection.execute(f"SET enable_sort = {scan in ('seqscan', 'bitmapscan')}")


def answer(connection, scan: str, query: str) -> list:
    choose_scan(connection, scan)
    return connection.execute(query).fetchall()


def assert_index_is_heap(connection, table: str, column: str) -> None:
    """Every entry and no other, in order both ways, by each kind of scan; and the tree is whole."""
    connection.execute(
        "SELECT penumbra_keytree.keytree_check(indexrelid) FROM pg_index JOIN pg_class ON oid = indexrelid"
        " WHERE indrelid = %s::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'keytree')",
        (table,),
    )
    for scan, identity in (("indexscan", "ctid"), ("bitmapscan", "ctid"), ("indexonlyscan", "1")):
        for direction, disorder in (("", "<"), ("DESC", ">")):
            inner = f"SELECT {column}{', ctid' if identity == 'ctid' else ''} FROM {table} ORDER BY {column} {direction}"
            query = (
                f"SELECT count(*), count({column}), sum(hashtextextended(({column}, {identity})::text, 0)),"
                f" count(*) FILTER (WHERE {column} {disorder} before) FROM"
                f" (SELECT *, lag({column}) OVER () AS before FROM ({inner}) AS t) AS t"
            )
            found, expected = (answer(connection, kind, query)[0] for kind in (scan, "seqscan"))
            assert found == expected, (table, column, scan, direction)
            assert found[3] == 0, (table, column, scan, direction)
