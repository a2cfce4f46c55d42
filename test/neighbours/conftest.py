"""Servers beside other software, and what every test of this folder compares."""

import subprocess
import time

import pytest
from penumbra_lab.server import Installation, PrivateServer, run_directory

SETTINGS = {
    "shared_preload_libraries": "penumbra",
    "shared_buffers": "64MB",
    "penumbra.memory": "128MB",
    "penumbra.auto_load": "off",
    "autovacuum": "off",
    "fsync": "off",
    "timezone": "UTC",
}
MODES = ("off", "auto", "prefer")
WAIT_SECONDS = 60


@pytest.fixture(scope="session")
def empty_server():
    """Initialised, never started: what every server of a run is a copy of."""
    server = PrivateServer(run_directory("test-neighbours-empty"), {})
    server.create()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def make_server(empty_server):
    """Makes servers that are gone after the module's tests."""
    made = []

    def make(name: str, settings: dict[str, str] | None = None) -> PrivateServer:
        server = PrivateServer(run_directory(f"test-neighbours-{name}"), SETTINGS | (settings or {}))
        made.append(server)
        server.directory.mkdir(parents=True)
        server.take_over()
        subprocess.run(["cp", "-a", empty_server.data, server.data], check=True)
        server.start()
        return server

    yield make
    for server in reversed(made):
        server.stop("immediate")
        server.remove()


@pytest.fixture(scope="session")
def installed_libraries() -> set[str]:
    return {path.stem for path in Installation.find().library_directory.glob("*.so") if path.exists()}


def needs_extension(connection, name: str) -> None:
    """Creates it; skips where it is not installed."""
    if not rows(connection, f"SELECT FROM pg_available_extensions WHERE name = '{name}'"):
        pytest.skip(f"{name} is not installed: its package stands in packages.txt, [neighbours]")
    connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}")


def fill(connection) -> None:
    """Two tables in the cache."""
    connection.execute("""
        CREATE EXTENSION penumbra;
        CREATE TABLE t (id bigint PRIMARY KEY, grp int, amount numeric(10, 2), note text);
        CREATE TABLE u (grp int PRIMARY KEY, name text);
        INSERT INTO t SELECT g, g % 20, (g % 1000) / 8.0, 'note ' || g % 100 FROM generate_series(1, 40000) g;
        INSERT INTO u SELECT g, 'u' || g FROM generate_series(0, 19) g""")
    connection.execute("VACUUM ANALYZE t, u")
    connection.execute("SELECT penumbra.load('t'), penumbra.load('u')")


def plan(connection, query: str) -> str:
    return "\n".join(line for (line,) in rows(connection, query.replace("SELECT", "EXPLAIN (COSTS OFF) SELECT", 1)))


def is_in_vectors(connection, query: str) -> bool:
    return "Custom Scan (Penumbra" in plan(connection, query)


def assert_same(connection, *queries: str) -> None:
    """In every mode."""
    for query in queries:
        answers = {}
        for mode in MODES:
            connection.execute(f"SET penumbra.mode = {mode}")
            answers[mode] = rows(connection, query)
        connection.execute("RESET penumbra.mode")
        assert answers["off"], query
        assert all(answer == answers["off"] for answer in answers.values()), query


def rows(connection, sql: str) -> list[tuple]:
    return connection.execute(sql).fetchall()


def wait_until(condition, failure: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, failure
        time.sleep(0.05)
