"""Fixtures: a private server without Penumbra, whose state is thrown away."""

import pytest

from penumbra_lab.server import Installation, PrivateServer
from penumbra_lab.state import state_directory


@pytest.fixture(scope="session")
def stock_server():
    directory = state_directory() / "test-lab"
    server = PrivateServer(directory, {"fsync": "off", "timezone": "UTC"}, Installation.find())
    server.remove()
    try:
        with server:
            yield server
    finally:
        server.remove()
