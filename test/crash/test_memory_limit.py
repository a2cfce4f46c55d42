"""A control group's limit on memory, at the server's start and lowered while it runs."""

from pathlib import Path

import pytest
from conftest import assert_same, make_table, wait_for
from penumbra_lab.memory_group import MemoryGroup

MB = 1 << 20


@pytest.fixture()
def group():
    """Of 512 MB; this process and the servers that it starts are in it until the test's end."""
    made = MemoryGroup.create(512 * MB)
    if made is None:
        pytest.skip("no control group may be made here")
    yield made
    made.remove()


@pytest.fixture()
def limited_server(group, make_server):
    server = make_server("limited", penumbra__memory="640MB")
    server.start()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION penumbra")
        make_table(connection, "t")
        connection.execute(
            "CREATE TABLE large AS SELECT md5(g::text) || md5((-g)::text) AS s FROM generate_series(1, 500000) g"
        )
        connection.execute("VACUUM large")
        assert budget(connection) == 640
    yield server
    server.stop()


def budget(connection) -> int:
    return connection.execute("SELECT max(budget_bytes) >> 20 FROM penumbra.memory").fetchone()[0]


def used(connection) -> int:
    return connection.execute("SELECT max(used_bytes) >> 20 FROM penumbra.memory").fetchone()[0]


def test_a_limit_is_lowered_and_raised(group, limited_server):
    limit = group.path / ("memory.max" if group.is_unified else "memory.limit_in_bytes")
    with limited_server.connect() as connection:
        connection.execute("SELECT penumbra.load('t'), penumbra.load('large')")
        assert used(connection) > 16
        for limit_mb, expected in ((512, 128), (256, 64), (64, 16), (4096, 640)):
            limit.write_text(str(limit_mb * MB))
            if limit_mb == 512:
                group.add(limited_server.postmaster_pid())
            # the launcher looks every ten seconds, and when it is woken
            connection.execute("SELECT pg_reload_conf()")
            wait_for("the limit is followed", lambda mb=expected: budget(connection) == mb)
            wait_for("memory goes", lambda mb=expected: used(connection) <= mb)
            assert_same(connection)
    log = limited_server.log.read_text()
    assert "penumbra.memory = 640 MB is more than the 64 MB that this machine" in log


def test_a_server_starts_within_a_limit(group, limited_server):
    limited_server.stop()
    own = Path("/proc/self/cgroup").read_text().splitlines()
    kind = "0::" if group.is_unified else ":memory:"
    own_group = next(line.split(kind, 1)[1] for line in own if kind in line)
    mount = group.path.parent
    try:
        (group.path / "cgroup.procs").write_text("0")
        limited_server.start()
    finally:
        (mount / own_group.lstrip("/") / "cgroup.procs").write_text("0")
    with limited_server.connect() as connection:
        assert budget(connection) == 128
        connection.execute("SELECT penumbra.load('t')")
        assert_same(connection)
    assert "Cached columns take up to 128 MB." in limited_server.log.read_text()
