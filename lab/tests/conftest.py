"""Fixtures: state of this run alone, private servers, which are thrown away, and a browser."""

import contextlib
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

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


@contextlib.contextmanager
def _served(name: str, settings: dict[str, str]) -> Iterator[PrivateServer]:
    settings = {"fsync": "off", "timezone": "UTC"} | settings
    server = PrivateServer(state_directory() / name, settings, Installation.find())
    try:
        with server:
            yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def stock_server():
    with _served("test-lab", {"autovacuum": "off"}) as server:
        yield server


@pytest.fixture(scope="session")
def watched_server():
    """With Penumbra, and the texts of statements."""
    settings = {"autovacuum": "off", "max_connections": "30",
                "shared_preload_libraries": "pg_stat_statements, penumbra",
                "penumbra.memory": "64MB", "penumbra.auto_load": "off"}  # fmt: skip
    with _served("test-watch", settings) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-dev-shm-usage"]  # for root, for containers
        started = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=options)
        yield started
        started.close()
