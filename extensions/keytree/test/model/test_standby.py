"""Replay elsewhere: a standby that is read while it follows, its promotion, recovery to a point in time."""

import random
import signal
import time

import pytest
from conftest import SCANS, answer, assert_index_is_heap, wait_until_gone

CHANGES = (
    "INSERT INTO t SELECT ({0} + i * 7919) % 1048576, md5((i + {0})::text)::uuid FROM generate_series(1, 2000) i",
    "INSERT INTO t SELECT {0} % 1000, md5('{0}')::uuid FROM generate_series(1, 1500) i",
    "INSERT INTO t SELECT NULL, NULL FROM generate_series(1, 500) i",
    "DELETE FROM t WHERE k BETWEEN {0} AND {0} + 300000",
    "UPDATE t SET k = k + 1 WHERE k BETWEEN {0} AND {0} + 20000",
    "VACUUM (INDEX_CLEANUP ON) t",
)


def _copy_of(make_server, primary, name: str):
    copy = make_server(name)
    copy.copy_as_standby(primary)
    return copy


def _wait_for_replay(primary, standby) -> None:
    target = primary.execute("SELECT pg_current_wal_flush_lsn()").fetchone()[0]
    deadline = time.monotonic() + 120
    while not standby.execute(
        "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (target,)
    ).fetchone()[0]:
        assert time.monotonic() < deadline, "the standby does not replay"
        time.sleep(0.02)


def _wait_until_paused(standby) -> None:
    deadline = time.monotonic() + 60
    while standby.execute("SELECT pg_get_wal_replay_pause_state()").fetchone()[0] != "paused":
        assert time.monotonic() < deadline, "replay does not pause"
        time.sleep(0.02)


def _open(server):
    connection = server.connect()
    connection.autocommit = True
    return connection


def _change(connection, pick: random.Random, times: int) -> None:
    for _ in range(times):
        connection.execute(pick.choice(CHANGES).format(pick.randrange(1 << 20)))


def _make_table(connection) -> None:
    connection.execute("CREATE TABLE t (k int8, u uuid)")
    connection.execute("CREATE INDEX t_k ON t USING keytree (k)")
    connection.execute("CREATE INDEX t_u ON t USING keytree (u)")


@pytest.mark.timeout(300)
def test_standby_answers_and_is_promoted(server, make_server, seed):
    pick = random.Random(seed)
    with _open(server) as primary:
        _make_table(primary)
        standby_server = _copy_of(make_server, server, "standby")
        standby_server.start()
        with _open(standby_server) as standby:
            for _ in range(12):
                _change(primary, pick, 4)
                _wait_for_replay(primary, standby)
                low = pick.randrange(1 << 20)
                query = f"SELECT count(*), md5(string_agg(k::text, ',')) FROM (SELECT k FROM t WHERE k > {low} ORDER BY k) x"
                expected = answer(primary, "seqscan", query)
                for scan in (*SCANS, "seqscan"):
                    assert answer(standby, scan, query) == expected, scan
            standby.execute("SELECT pg_promote()")
            _change(standby, pick, 10)
            for column in ("k", "u"):
                assert_index_is_heap(standby, "t", column)


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_standby_replays_again(server, make_server, seed):
    """Killed after pages were written: replay from the last restartpoint meets pages of the future."""
    pick = random.Random(seed)
    # with full pages only where a record carries them, replay changes pages by what they say
    server.restart({"full_page_writes": "off"})
    with _open(server) as primary:
        _make_table(primary)
        standby_server = _copy_of(make_server, server, "again")
        # few buffers, so that pages reach the disk before the next restartpoint
        standby_server.settings["shared_buffers"] = "1MB"
        standby_server.start()
        for number in range(5):
            with _open(standby_server) as standby:
                _change(primary, pick, 3)
                primary.execute("CHECKPOINT")
                _wait_for_replay(primary, standby)
                standby.execute("CHECKPOINT")
                _change(primary, pick, 12)
                _wait_for_replay(primary, standby)
            postmaster = standby_server.postmaster_pid()
            standby_server.kill(postmaster, signal.SIGKILL)
            wait_until_gone(standby_server, postmaster)
            standby_server.start()
            with _open(standby_server) as standby:
                _wait_for_replay(primary, standby)
                standby.execute("SELECT pg_wal_replay_pause()")
                _wait_until_paused(standby)
                for column in ("k", "u"):
                    assert_index_is_heap(standby, "t", column)
                standby.execute("SELECT pg_wal_replay_resume()")
            print(f"round {number}")


@pytest.mark.timeout(300)
def test_recovery_to_a_point(server, make_server, seed):
    """A backup and the WAL after it, up to a restore point; the primary goes on."""
    pick = random.Random(seed)
    with _open(server) as primary:
        _make_table(primary)
        _change(primary, pick, 10)
        copy = _copy_of(make_server, server, "point")
        _change(primary, pick, 20)
        query = "SELECT count(*), sum(k), sum(hashtext(u::text)) FROM t"
        expected = answer(primary, "seqscan", query)
        primary.execute("SELECT pg_create_restore_point('here')")
        _change(primary, pick, 20)
        with (copy.data / "postgresql.auto.conf").open("a") as settings:
            settings.write("recovery_target_name = 'here'\nrecovery_target_action = 'promote'\n")
        copy.start()
        with _open(copy) as recovered:
            deadline = time.monotonic() + 120
            while recovered.execute("SELECT pg_is_in_recovery()").fetchone()[0]:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert answer(recovered, "seqscan", query) == expected
            for column in ("k", "u"):
                assert_index_is_heap(recovered, "t", column)
