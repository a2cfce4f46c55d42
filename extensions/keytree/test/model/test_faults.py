"""A full disk, cancelled statements, readers that keep VACUUM waiting, two libraries with one resource manager id."""

import threading
import time

import psycopg
import pytest
from conftest import assert_index_is_heap
from penumbra_lab.errors import LabError
from penumbra_lab.small_disk import SmallDisk


def _wait_for(condition, what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


@pytest.fixture()
def disk(make_server, server):
    try:
        small = SmallDisk(server.directory / "disk", 2 << 20)
    except LabError as error:
        pytest.skip(str(error))
    yield small
    server.stop("immediate")
    small.remove()


@pytest.mark.timeout(300)
def test_disk_full(disk, server):
    with server.connect() as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{disk.path}'")
        connection.execute("CREATE TABLE t (k int8)")
        connection.execute("CREATE INDEX t_k ON t USING keytree (k) TABLESPACE small")
        insert = "INSERT INTO t SELECT (i * 7919 + {0} * 104729) % 1048573 FROM generate_series(1, 4000) i"
        with pytest.raises(psycopg.errors.DiskFull, match="could not extend file"):
            for number in range(200):
                connection.execute(insert.format(number))
        assert number > 3
        assert_index_is_heap(connection, "t", "k")
        # splits at other places, a build, a sort that spills
        for again in range(1, 4):
            with pytest.raises(psycopg.errors.DiskFull):
                connection.execute(insert.format(number + again))
        with pytest.raises(psycopg.errors.DiskFull):
            connection.execute("CREATE INDEX t_k2 ON t USING keytree (k) TABLESPACE small")
        connection.execute("SET temp_tablespaces = small")
        connection.execute("SET maintenance_work_mem = '1MB'")
        with pytest.raises(psycopg.errors.DiskFull):
            connection.execute("REINDEX INDEX t_k")
        connection.execute("RESET temp_tablespaces")
        assert_index_is_heap(connection, "t", "k")
    server.restart()
    with server.connect() as connection:
        assert_index_is_heap(connection, "t", "k")
        disk.resize(32 << 20)
        for again in range(4):
            connection.execute(insert.format(number + again))
        connection.execute("CREATE INDEX t_k2 ON t USING keytree (k) TABLESPACE small")
        connection.execute("DELETE FROM t WHERE k % 3 = 0")
        connection.execute("VACUUM t")
        assert_index_is_heap(connection, "t", "k")


def _wait_event(server, pid: int) -> str | None:
    with server.connect() as connection:
        row = connection.execute(
            "SELECT wait_event FROM pg_stat_activity WHERE pid = %s", (pid,)
        ).fetchone()
        return row[0]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("first_reads", [0, 3])
def test_vacuum_waits_for_index_only_scans(server, first_reads):
    """Their pin protects TIDs that they have not returned, also when they took no lock; the waiting can be cancelled."""
    with server.connect() as reader, server.connect() as vacuumer:
        reader.execute("CREATE TABLE t (k int8)")
        reader.execute("CREATE INDEX t_k ON t USING keytree (k)")
        reader.execute("INSERT INTO t SELECT generate_series(1, 10000)")
        reader.execute("VACUUM t")
        reader.execute("DELETE FROM t WHERE k % 2 = 0")
        reader.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        for _ in range(first_reads):
            reader.execute("SELECT k FROM t WHERE k = 5001")
        before = reader.execute(
            "SELECT without_lock, with_lock FROM penumbra_keytree.keytree_leaf_reads()"
        ).fetchone()
        reader.execute(
            "BEGIN; DECLARE c CURSOR FOR SELECT k FROM t WHERE k BETWEEN 5000 AND 5010 ORDER BY k"
        )
        assert reader.execute("FETCH 1 FROM c").fetchone() == (5001,)
        after = reader.execute(
            "SELECT without_lock, with_lock FROM penumbra_keytree.keytree_leaf_reads()"
        ).fetchone()
        assert (after[0] - before[0], after[1] - before[1]) == ((1, 0) if first_reads else (0, 1))

        pid = vacuumer.info.backend_pid
        errors = []

        def vacuum() -> None:
            try:
                vacuumer.execute("VACUUM (INDEX_CLEANUP ON) t")
            except psycopg.Error as error:
                errors.append(error)

        for cancelled in (True, False):
            thread = threading.Thread(target=vacuum)
            thread.start()
            _wait_for(
                lambda: _wait_event(server, pid) in ("BufferPin", "BufferCleanup"),  # until 18, since 19
                "VACUUM does not wait for the pin",
            )
            if cancelled:
                with server.connect() as other:
                    other.execute("SELECT pg_cancel_backend(%s)", (pid,))
                thread.join(60)
                assert [error.sqlstate for error in errors] == ["57014"]
            else:
                assert reader.execute("FETCH ALL FROM c").fetchall() == [
                    (k,) for k in (5003, 5005, 5007, 5009)
                ]
                reader.execute("COMMIT")
                thread.join(60)
            assert not thread.is_alive()
        assert len(errors) == 1
        assert_index_is_heap(vacuumer, "t", "k")


def _cancel_in_the_middle(server, connection, prepare: str, statement: str) -> None:
    """After half of the time that it takes; once more where it was done before it could be cancelled."""
    connection.execute(prepare)
    begin = time.monotonic()
    connection.execute(statement)
    seconds = (time.monotonic() - begin) / 2
    cancel = (
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = %s AND state = 'active'"
    )
    deadline = time.monotonic() + 60
    with server.connect() as other:
        while time.monotonic() < deadline:
            connection.execute(prepare)
            ended = threading.Event()

            def cancel_until_ended(ended=ended, delay=seconds) -> None:
                ended.wait(delay)
                while not ended.is_set():
                    other.execute(cancel, (connection.info.backend_pid,))

            canceller = threading.Thread(target=cancel_until_ended)
            canceller.start()
            try:
                connection.execute(statement)
            except psycopg.errors.QueryCanceled:
                return
            finally:
                ended.set()
                canceller.join()
            seconds *= 0.9
    raise AssertionError(f"never cancelled: {statement}")


def _cancel_at_its_begin(connection, call: str) -> None:
    """It may be done too soon to be met in the middle. A sequence tells whether it came to its end."""
    connection.execute("DROP SEQUENCE IF EXISTS ended")
    connection.execute("CREATE SEQUENCE ended")
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute(f"SELECT pg_cancel_backend(pg_backend_pid()), {call}, nextval('ended')")
    assert connection.execute("SELECT is_called FROM ended").fetchone() == (False,), call


@pytest.mark.timeout(600)
def test_cancel(server):
    with server.connect() as connection:
        connection.execute("CREATE TABLE t (k int8)")
        connection.execute("INSERT INTO t SELECT i % 100000 FROM generate_series(1, 200000) i")
        build = "CREATE INDEX t_k ON t USING keytree (k)"
        _cancel_in_the_middle(server, connection, "DROP INDEX IF EXISTS t_k", build)
        connection.execute(build)
        connection.execute("DELETE FROM t WHERE k % 10 = 0")
        connection.execute("SET enable_seqscan = off")
        for statement in (
            "SELECT count(*) FROM t WHERE k >= 0",
            "SELECT count(*) FROM (SELECT k FROM t ORDER BY k DESC OFFSET 0) x",
        ):
            _cancel_in_the_middle(server, connection, "SELECT", statement)
        for function in ("keytree_check", "keytree_stats"):
            _cancel_at_its_begin(connection, f"penumbra_keytree.{function}('t_k')")
        fill = "INSERT INTO t SELECT -i FROM generate_series(1, 20000) i; DELETE FROM t WHERE k < 0"
        vacuum = "VACUUM (INDEX_CLEANUP ON) t"
        _cancel_in_the_middle(server, connection, fill, vacuum)
        assert_index_is_heap(connection, "t", "k")
        connection.execute(vacuum)
        assert_index_is_heap(connection, "t", "k")


@pytest.mark.timeout(120)
def test_resource_manager_id_is_taken(make_server):
    """Two libraries with one id: the server does not start, and says why."""
    server = make_server("id", wal_consistency_checking="")
    server.create()
    other = server.directory / "other_library.so"
    other.write_bytes((server.installation.library_directory / "penumbra_keytree.so").read_bytes())
    server.settings["shared_preload_libraries"] = f"{other}, penumbra_keytree"
    with pytest.raises(LabError):
        server.start()
    log = server.log.read_text()
    assert "failed to register custom resource manager" in log
    assert "already registered with the same ID" in log
