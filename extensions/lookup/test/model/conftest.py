"""A server with penumbra_lookup and two databases: `ready`, and `stock`, where no state is kept."""

import os

import pytest
from penumbra_lab.server import PrivateServer, run_directory

SETTINGS = {
    "shared_preload_libraries": "penumbra_lookup",
    "plan_cache_mode": "force_generic_plan",
    "autovacuum": "off",
    "fsync": "off",
    "jit": "off",
    "max_prepared_transactions": "4",
}
# What PostgreSQL says when a resource owner finds something that nobody gave back.
LEAKS = ("refcount leak", "reference leak", "resource was not closed", "TRAP:", "terminated by signal")


@pytest.fixture()
def seed():
    """Fixed, so that a suite that passed passes; LOOKUP_TEST_SEED tries another one."""
    return int(os.environ.get("LOOKUP_TEST_SEED", 1))


@pytest.fixture()
def steps():
    return int(os.environ.get("LOOKUP_TEST_STEPS", 6000))


@pytest.fixture()
def server():
    server = PrivateServer(run_directory("test-lookup"), SETTINGS, initdb_options=("--encoding=UTF8", "--no-locale"))
    server.start()
    try:
        with server.connect() as connection:
            connection.autocommit = True
            for database in ("stock", "ready"):
                connection.execute(f"CREATE DATABASE {database}")
            connection.execute("ALTER DATABASE stock SET penumbra_lookup.max_plans = 0")
        yield server
        log = server.log.read_text(errors="replace")
        assert not [line for line in log.splitlines() if any(leak in line for leak in LEAKS)]
    finally:
        server.remove()
