"""Servers that are crashed, and what every test of this folder compares."""

import time

import pytest
from penumbra_lab.server import PrivateServer, run_directory

SETTINGS = {
    "shared_preload_libraries": "penumbra",
    "shared_buffers": "128MB",
    "penumbra.memory": "128MB",
    "penumbra.auto_load": "off",
    "autovacuum": "off",
    "timezone": "UTC",
    "wal_level": "replica",
    "max_wal_senders": "4",
    "hot_standby": "on",
    "max_standby_streaming_delay": "-1",
}
ROWS = 60000
WAIT_SECONDS = 30


def pytest_addoption(parser):
    parser.addoption("--kills", type=int, default=6, help="rounds of test_kills.py")
    parser.addoption(
        "--power-losses", type=int, default=4, help="states of the disk in test_power_loss.py"
    )
    parser.addoption("--kill-seed", type=int, default=1, help="what is done in them, and when")


@pytest.fixture()
def make_server(request):
    """Makes servers that are gone after the test."""
    made = []

    def make(name: str, **settings: str) -> PrivateServer:
        server = PrivateServer(
            run_directory(f"test-crash-{name}"),
            SETTINGS | {key.replace("__", "."): value for key, value in settings.items()},
            initdb_options=("--encoding=UTF8", "--no-locale"),
        )
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
        connection.execute("CREATE EXTENSION penumbra")
        make_table(connection, "t")
    return server


def make_table(connection, name: str, rows: int = ROWS) -> None:
    connection.execute(
        f"CREATE TABLE {name} AS SELECT g AS id, g % 97 AS grp, (g % 1000) / 8.0::numeric AS amount,"
        f" 'text ' || g % 1234 AS words FROM generate_series(1, {rows}) AS g"
    )
    connection.execute(f"ALTER TABLE {name} ADD PRIMARY KEY (id)")
    connection.execute(f"VACUUM ANALYZE {name}")


QUERY = "SELECT grp, count(*), sum(amount), min(words), max(id) FROM {} GROUP BY grp ORDER BY grp"


def answer(connection, mode: str, table: str = "t"):
    connection.execute(f"SET penumbra.mode = '{mode}'")
    return connection.execute(QUERY.format(table)).fetchall()


def assert_same(connection, table: str = "t") -> list:
    """Both executors agree; returns the answer."""
    expected = answer(connection, "off", table)
    assert answer(connection, "require", table) == expected
    return expected


def cached_pages(connection, table: str = "t") -> int:
    row = connection.execute(
        "SELECT coalesce(sum(cached_pages), 0) FROM penumbra.tables WHERE relid = %s::regclass",
        (table,),
    ).fetchone()
    return int(row[0])


def wait_for(what: str, is_true) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_true():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def is_stopped(connection, kind: str = "client backend") -> bool:
    """Whether a process waits at a stop point."""
    return connection.execute(
        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = %s AND wait_event = 'advisory')",
        (kind,),
    ).fetchone()[0]
