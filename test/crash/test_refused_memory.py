"""The kernel refuses memory, as with vm.overcommit_memory = 2: less is cached, statements fail, and nothing crashes.

A touch of memory for cached columns that the kernel refuses would be SIGBUS. Here it refuses nothing (refuse_memory.c
does), so the test looks at what the range has: no more than what was granted and is counted.
"""

import os
import subprocess
from pathlib import Path

import psycopg
import pytest
from conftest import answer, assert_same, make_table
from penumbra_lab.server import server_user

# Places in lists of free pages stay: a unit for each size class.
LISTS = 19 * 4096


@pytest.fixture()
def refusing(tmp_path, monkeypatch):
    """A file that refuses memory while it is there."""
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    library = tmp_path / "refuse_memory.so"
    source = Path(__file__).with_name("refuse_memory.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wall", "-O1", "-o", library, source], check=True)
    file = tmp_path / "refuse"
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("REFUSE_MEMORY", str(file))
    return file


def range_bytes(server) -> int:
    """What the range of cached columns has of memory."""
    for descriptor in Path(f"/proc/{server.postmaster_pid()}/fd").iterdir():
        if os.readlink(descriptor).startswith("/memfd:penumbra"):
            return os.stat(descriptor).st_blocks * 512
    raise AssertionError("no range")


def counted_bytes(connection) -> int:
    return connection.execute(
        "SELECT used_bytes FROM penumbra.memory WHERE size_class = 'all'"
    ).fetchone()[0]


def pages_from_heap(connection, name: str) -> int:
    return connection.execute(
        f"SELECT pages_from_heap FROM penumbra.explain_coverage('{name}')"
    ).fetchone()[0]


def test_memory_is_refused(make_server, refusing):
    server = make_server("refused", penumbra__memory="64MB")
    server.start()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION penumbra")
        for name in ("t", "u"):
            make_table(connection, name)
        assert counted_bytes(connection) == 0
        fell_short = False
        for round_number in range(4):
            refusing.touch()
            for name in ("t", "u"):
                connection.execute(f"SELECT penumbra.load('{name}')")
                fell_short |= pages_from_heap(connection, name) > 10
                assert_same(connection, name)
                # by new sessions too, of which the first call is granted
                with server.connect() as other:
                    other.execute(f"SELECT penumbra.load('{name}')")
                    assert answer(other, "prefer", name) == answer(other, "off", name)
            if round_number % 2 == 0:
                connection.execute("UPDATE t SET grp = grp + 1 WHERE id % 100 = 0")
                connection.execute("SELECT penumbra.refresh('t')")
            assert range_bytes(server) <= counted_bytes(connection) + LISTS
            refusing.unlink()
            connection.execute("SELECT penumbra.unload('t'), penumbra.unload('u')")
            assert counted_bytes(connection) == 0
            assert range_bytes(server) <= LISTS
        for name in ("t", "u"):
            connection.execute(f"SELECT penumbra.load('{name}')")
            assert pages_from_heap(connection, name) < 10
            assert_same(connection, name)
    assert fell_short


# Groups, sorts and joins of so many rows take some 100 MB.
LARGE_QUERY = (
    "SELECT a.words || b.id AS w, sum(a.amount), max(b.words) FROM large a JOIN large b ON a.id = b.id"
    " GROUP BY w ORDER BY w"
)


def outcome(connection, query: str) -> list | None:
    """The answer; None where there was no memory for it."""
    try:
        return connection.execute(query).fetchall()
    except psycopg.errors.OutOfMemory:
        return None


def limit_address_space(process: int, limit: str) -> None:
    command = [*server_user(), "prlimit", f"--pid={process}", f"--as={limit}:"]
    subprocess.run(command, check=True)


@pytest.mark.slow
@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="AddressSanitizer needs address space")
def test_a_session_is_refused_memory(make_server):
    server = make_server(
        "session", work_mem="512MB", penumbra__threads_per_query="2", penumbra__max_threads="3"
    )
    server.start()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION penumbra")
        make_table(connection, "large", rows=200000)
        connection.execute("SELECT penumbra.load('large')")
        connection.execute("SET penumbra.mode = 'off'")
        expected = connection.execute(LARGE_QUERY).fetchall()
    outcomes = []
    for granted_mb in (1, 4, 16, 32, 48, 64, 96, 128, 192, 256, 1024):
        # what a session has taken before it keeps
        with server.connect() as connection:
            process = connection.info.backend_pid
            connection.execute("SET penumbra.mode = 'require'")
            connection.execute("SELECT count(*), min(words) FROM large").fetchall()
            address_space = int(Path(f"/proc/{process}/statm").read_text().split()[0]) * 4096
            limit_address_space(process, str(address_space + (granted_mb << 20)))
            outcomes.append(outcome(connection, LARGE_QUERY))
            assert outcomes[-1] in (None, expected)
            limit_address_space(process, "unlimited")
            assert outcome(connection, LARGE_QUERY) == expected
    assert None in outcomes
    assert outcomes[-1] == expected
    assert "terminated by signal" not in server.log.read_text()
