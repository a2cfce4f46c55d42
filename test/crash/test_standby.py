"""A hot standby with a cache of its own: under replay, after promotion."""

import time

import psycopg
import pytest
from conftest import answer, assert_same, cached_pages


def _make_standby(make_server, primary):
    standby = make_server("standby")
    standby.copy_as_standby(primary)
    standby.start()
    return standby


def _catch_up(
    primary: psycopg.Connection, standby: psycopg.Connection, may_conflict: bool = False
) -> None:
    """Waits until the standby has replayed everything; with a conflict it may stop before."""
    target = primary.execute("SELECT pg_current_wal_flush_lsn()").fetchone()[0]
    deadline = time.monotonic() + 60
    while not standby.execute(
        "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (target,)
    ).fetchone()[0]:
        assert time.monotonic() < deadline, "the standby does not replay"
        if may_conflict and time.monotonic() > deadline - 58:
            return
        time.sleep(0.02)


CHANGES = [
    "UPDATE t SET amount = amount + 1 WHERE id % 500 = 0",
    "DELETE FROM t WHERE id BETWEEN 2000 AND 2300",
    "INSERT INTO t SELECT id + 1000000, grp, amount, words FROM t WHERE id < 700",
    "VACUUM t",
    "UPDATE t SET words = 'changed' WHERE grp = 3",
    "VACUUM (FREEZE) t",
    "SELECT count(*) FROM t WHERE id = 77 FOR UPDATE",
    "CLUSTER t USING t_pkey",
    "VACUUM t",
    "TRUNCATE t",
    "INSERT INTO t SELECT g, g % 97, 1, 'again' FROM generate_series(1, 5000) AS g",
    "VACUUM t",
]


@pytest.mark.timeout(300)
def test_standby_follows_every_change(server, make_server):
    standby = _make_standby(make_server, server)
    with server.connect() as primary, standby.connect() as reader:
        _catch_up(primary, reader)
        reader.execute("SELECT penumbra.load('t')")
        assert cached_pages(reader) > 0
        for change in CHANGES:
            primary.execute(change.replace("SELECT count(*) FROM t WHERE id = 77 FOR UPDATE",
                                           "SELECT 1 FROM t WHERE id = 77 FOR UPDATE"))  # fmt: skip
            _catch_up(primary, reader)
            assert assert_same(reader) == answer(primary, "off"), change
            if change.startswith("VACUUM"):
                reader.execute("SELECT penumbra.refresh('t')")
                assert assert_same(reader) == answer(primary, "off"), f"refreshed after {change}"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_old_snapshot_on_the_standby(server, make_server):
    standby = _make_standby(make_server, server)
    with server.connect() as primary, standby.connect() as reader:
        _catch_up(primary, reader)
        reader.execute("SELECT penumbra.load('t')")
        reader.execute("SET penumbra.mode = 'require'")
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        before = answer(reader, "require")
        primary.execute("UPDATE t SET amount = 0 WHERE grp < 10")
        primary.execute("DELETE FROM t WHERE grp = 11")
        _catch_up(primary, reader, may_conflict=True)
        assert answer(reader, "require") == before
        assert answer(reader, "off") == before
        reader.execute("COMMIT")
        _catch_up(primary, reader)
        assert assert_same(reader) == answer(primary, "off") != before


@pytest.mark.timeout(300)
def test_promotion_keeps_the_cache_right(server, make_server):
    standby = _make_standby(make_server, server)
    with server.connect() as primary, standby.connect() as reader:
        _catch_up(primary, reader)
        reader.execute("SELECT penumbra.load('t')")
        expected = assert_same(reader)
        primary.execute("SELECT pg_switch_wal()")
        server.stop()
        reader.execute("SELECT pg_promote(true, 60)")
        assert assert_same(reader) == expected
        reader.execute("UPDATE t SET amount = amount * 2 WHERE grp = 7")
        changed = assert_same(reader)
        assert changed != expected
        reader.execute("VACUUM t")
        reader.execute("SELECT penumbra.refresh('t')")
        assert assert_same(reader) == changed
