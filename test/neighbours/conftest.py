"""Servers beside other software, and what every test of this folder compares."""

import subprocess
import time

import pytest
from penumbra_lab.server import PrivateServer, run_directory

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


def rows(connection, sql: str) -> list[tuple]:
    return connection.execute(sql).fetchall()


def wait_until(condition, failure: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, failure
        time.sleep(0.05)
