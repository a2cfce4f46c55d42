"""Fixtures: state of this run alone, a private server without Penumbra; both are thrown away."""

import shutil

import pytest

from penumbra_lab.server import Installation, PrivateServer, run_directory
from penumbra_lab.state import state_directory


@pytest.fixture(scope="session", autouse=True)
def state():
    """Servers and runs of benches beside those of another run, with the same installations."""
    installations = list(state_directory().glob("postgresql-*"))
    place = run_directory("lab")
    place.mkdir()
    for installation in installations:
        (place / installation.name).symlink_to(installation)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENUMBRA_STATE", str(place))
        yield
    shutil.rmtree(place)


@pytest.fixture(scope="session")
def stock_server():
    directory = state_directory() / "test-lab"
    server = PrivateServer(directory, {"fsync": "off", "timezone": "UTC"}, Installation.find())
    try:
        with server:
            yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def watched_server():
    """With Penumbra, and the texts of statements."""
    directory = state_directory() / "test-watch"
    settings = {"fsync": "off", "timezone": "UTC", "autovacuum": "off", "max_connections": "30",
                "shared_preload_libraries": "pg_stat_statements, penumbra",
                "penumbra.memory": "64MB", "penumbra.auto_load": "off"}  # fmt: skip
    server = PrivateServer(directory, settings, Installation.find())
    try:
        with server:
            yield server
    finally:
        server.remove()
