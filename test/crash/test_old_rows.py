"""Cached rows when numbers pass by the billion, tuples are damaged or being moved, and in very many partitions."""

import subprocess
import threading
from pathlib import Path

import psycopg
import pytest
from conftest import is_stopped, wait_for

TABLE = """
CREATE TABLE r (id integer, n integer, filler char(200)) WITH (fillfactor = 70);
ALTER TABLE r ALTER filler SET STORAGE PLAIN;
INSERT INTO r SELECT g, 0, 'x' FROM generate_series(1, 6000) AS g;
CREATE INDEX ON r (id)"""
HALF_OF_A_CIRCLE = 1 << 30  # P3's rule W1; a circle of numbers has four of these
PARTITIONS = 1000


@pytest.fixture()
def old(make_server):
    """A connection to a server that can skip transaction numbers and damage tuples, with a cached table."""
    server = make_server(
        "old", autovacuum_freeze_max_age="2000000000", max_prepared_transactions="2"
    )
    server.start()
    library = server.directory / "old_rows.so"
    headers = subprocess.run(
        [server.installation.program("pg_config"), "--includedir-server"], capture_output=True, text=True, check=True
    ).stdout.strip()  # fmt: skip
    source = Path(__file__).with_name("old_rows.c")
    common = source.parents[2] / "common"
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{headers}", f"-I{common}", "-o", library, source], check=True)
    with server.connect() as connection:
        for statement in (
            "CREATE EXTENSION penumbra",
            "CREATE EXTENSION penumbra_test",
            f"CREATE FUNCTION skip_transactions(bigint) RETURNS bigint AS '{library}' LANGUAGE C",
            f"CREATE FUNCTION damage_tuple(oid, tid, text) RETURNS void AS '{library}' LANGUAGE C",
            f"CREATE FUNCTION move_tuples(oid, bigint, integer) RETURNS void AS '{library}' LANGUAGE C",
            # that one can be frozen, too
            "UPDATE pg_database SET datallowconn = true",
            *TABLE.split(";\n"),
            "VACUUM r",
            "SELECT penumbra.load('r', '{id, n}')",
        ):
            connection.execute(statement)
        connection.server = server
        yield connection


def compare(connection: psycopg.Connection, table: str = "r") -> tuple:
    answers = []
    for mode in ("off", "require"):
        connection.execute(f"SET penumbra.mode = '{mode}'")
        answers.append(
            connection.execute(f"SELECT count(*), sum(n), sum(id), min(id) FROM {table}").fetchone()
        )
    connection.execute("RESET penumbra.mode")
    assert answers[0] == answers[1]
    return answers[0]


def mismatches(connection: psycopg.Connection, table: str = "r") -> int:
    query = "SELECT sum(mismatches) FROM penumbra.verify(%s::regclass)"
    return int(connection.execute(query, (table,)).fetchone()[0])


def served(connection: psycopg.Connection) -> tuple[int, int, int]:
    return connection.execute(
        "SELECT pages_from_cache - pages_row_by_row, pages_row_by_row, pages_from_heap"
        " FROM penumbra.explain_coverage('r', '{id, n}')"
    ).fetchone()


def load_anew(connection: psycopg.Connection) -> None:
    connection.execute("SELECT penumbra.unload('r')")
    connection.execute("SELECT penumbra.load('r', '{id, n}')")


def write(connection: psycopg.Connection, number: int) -> None:
    """A page gets a new row in place of one, another loses one."""
    connection.execute(f"UPDATE r SET n = n + 1 WHERE id % 1000 = {number}")
    connection.execute(f"DELETE FROM r WHERE id % 1000 = {500 + number}")


def skip(connection: psycopg.Connection, numbers: int) -> None:
    connection.execute("SELECT skip_transactions(%s)", (numbers,))
    connection.execute("SELECT pg_current_xact_id()")


def freeze_everything(connection: psycopg.Connection) -> None:
    for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall():
        with connection.server.connect(name) as other:
            other.execute("VACUUM (FREEZE)")


@pytest.mark.timeout(240)
@pytest.mark.slow
def test_transaction_numbers_go_round(old):
    """Rule W1: a chunk proves rows for 2^30 numbers. Rows that are older than half of all numbers look new, no more."""
    write(old, 1)
    compare(old)
    pages, by_row, heap = served(old)
    assert pages > 100 and by_row > 0 and heap == 0
    # left for days: one that has written to the cached pages, too
    old.execute(
        "BEGIN; DELETE FROM r WHERE id = 7; UPDATE r SET n = 100 WHERE id = 8; INSERT INTO r VALUES (9000, 9, 'y')"
    )
    old.execute("PREPARE TRANSACTION 'left'")
    before = compare(old)
    skip(old, HALF_OF_A_CIRCLE - 100_000)
    assert compare(old) == before and served(old)[1] > 0
    skip(old, 200000)
    assert compare(old) == before
    assert served(old)[1] == 0 < served(old)[2], "rows are proven 2^30 numbers after the load"
    assert mismatches(old) == 0
    old.execute("SELECT penumbra.refresh('r')")
    assert compare(old) == before
    old.execute("COMMIT PREPARED 'left'")
    assert compare(old) != before
    for turn in range(6):
        load_anew(old)
        write(old, 10 + turn)
        compare(old)
        assert mismatches(old) == 0
        assert served(old)[1] > 0
        freeze_everything(old)
        assert mismatches(old) == 0
        compare(old)
        skip(old, HALF_OF_A_CIRCLE - 50_000)
        write(old, 20 + turn)
        compare(old)
        assert mismatches(old) == 0
        skip(old, 100000)
        write(old, 30 + turn)
        compare(old)
        assert mismatches(old) == 0
    (number,) = old.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()
    assert number > 1 << 32, "the numbers did not go round"


def operate(connection: psycopg.Connection, how: str, tids: str) -> None:
    (found,) = connection.execute(tids).fetchone()
    connection.execute(f"SELECT heap_force_{how}('r', %s::tid[])", (found,))


@pytest.mark.timeout(120)
def test_surgery(old):
    """pg_surgery changes tuples under WAL: what it freezes or kills is read as PostgreSQL reads it."""
    old.execute("CREATE EXTENSION pg_surgery")
    write(old, 1)
    compare(old)
    old.execute("SELECT penumbra.refresh('r')")
    before = compare(old)
    # rows that the cache knows as dead to all, and new ones that are in a patch
    for condition in ("id % 1000 = 1", "id % 1000 = 600", "id = 77"):
        operate(old, "freeze", f"SELECT array_agg(ctid) FROM r WHERE {condition}")
        assert compare(old) == before and mismatches(old) == 0
    old.execute("DELETE FROM r WHERE id < 10")
    compare(old)
    old.execute("SELECT penumbra.refresh('r')")
    compare(old)
    # the first page's tuples, among them those that are dead
    operate(
        old, "freeze", "SELECT array_agg(format('(0,%s)', g)::tid) FROM generate_series(1, 9) AS g"
    )
    assert compare(old)[0] > before[0] - 9, "no row came back"
    assert mismatches(old) == 0
    old.execute("SELECT penumbra.refresh('r')")
    compare(old)
    operate(old, "kill", "SELECT array_agg(ctid) FROM r WHERE id BETWEEN 100 AND 110")
    compare(old)
    assert mismatches(old) == 0


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("how", ["delete", "pointer", "value"])
@pytest.mark.parametrize("row", [3300, 1003], ids=["unchanged page", "patched page"])
def test_damage_without_wal_is_detected(old, how, row):
    write(old, 1)
    compare(old)
    old.execute("SELECT penumbra.refresh('r')")
    assert served(old)[1] == 0 == mismatches(old)
    (tid,) = old.execute(f"SELECT ctid FROM r WHERE id = {row}").fetchone()
    old.execute("SELECT damage_tuple('r'::regclass, %s, %s)", (tid, how))
    assert mismatches(old) > 0


@pytest.mark.timeout(120)
def test_rows_are_not_read_while_others_move_them(old):
    """Between the look at a page and the reading of its rows nothing is pinned, so pruning may defragment it."""
    write(old, 1)
    expected = old.execute("SELECT sum(id) FROM r").fetchone()
    (block,) = old.execute(
        "SELECT (ctid::text::point)[0]::bigint FROM r WHERE id % 1000 = 1 LIMIT 1"
    ).fetchone()
    answers = []

    def read(reader: psycopg.Connection) -> None:
        reader.execute("SET penumbra.stop_points = 'scan-after-validation'")
        answers.append(reader.execute("SELECT sum(id) FROM r").fetchone())

    def move(mover: psycopg.Connection) -> None:
        mover.execute("SELECT move_tuples('r'::regclass, %s, 1000)", (block,))

    key = "penumbra_test.stop_point_key('scan-after-validation')"
    is_moving = "SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = %s"
    with old.server.connect() as reader, old.server.connect() as mover:
        old.execute(f"SELECT pg_advisory_lock({key})")
        reader.execute("SET penumbra.mode = 'require'")
        threads = [threading.Thread(target=read, args=(reader,))]
        threads[0].start()
        wait_for("the reader does not stop", lambda: is_stopped(old))
        threads.append(threading.Thread(target=move, args=(mover,)))
        threads[1].start()
        wait_for("the mover has no lock", lambda: old.execute(is_moving, (mover.info.backend_pid,)).fetchone()[0])
        old.execute(f"SELECT pg_advisory_unlock({key})")
        for thread in threads:
            thread.join()
    assert answers == [expected]
    assert served(old)[1] > 0, "no rows were proven one by one"


@pytest.mark.timeout(240)
@pytest.mark.slow
def test_a_thousand_partitions(make_server):
    server = make_server(
        "partitions", max_locks_per_transaction="256", shared_buffers="256MB", fsync="off"
    )
    server.start()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION penumbra")
        connection.execute(
            "CREATE TABLE p (id integer, n integer, filler char(900)) PARTITION BY RANGE (id)"
        )
        for number in range(1, PARTITIONS + 1):
            first = 100 * number
            connection.execute(
                f"CREATE TABLE p{number} PARTITION OF p FOR VALUES FROM ({first}) TO ({first + 100})"
                " WITH (fillfactor = 80)"
            )
        connection.execute("ALTER TABLE p ALTER filler SET STORAGE PLAIN")
        connection.execute(
            "INSERT INTO p SELECT g / 70 * 100 + g % 70, 1, 'x'"
            f" FROM generate_series(70, 70 * {PARTITIONS + 1} - 1) AS g"
        )
        connection.execute("VACUUM")
        connection.execute("SELECT penumbra.load('p')")
        before = compare(connection, "p")
        assert (
            connection.execute("SELECT count(*) FROM penumbra.get_tables()").fetchone()[0] == PARTITIONS
        )
        connection.execute("UPDATE p SET n = n + 1 WHERE id % 100 = 5")
        connection.execute("DELETE FROM p WHERE id % 500 = 6")
        after = compare(connection, "p")
        assert after[1] == before[1] + PARTITIONS - PARTITIONS / 5
        connection.execute("SELECT penumbra.refresh('p')")
        assert compare(connection, "p") == after
        connection.execute("DROP TABLE p17")
        compare(connection, "p")
        assert sum(mismatches(connection, f"p{number}") for number in range(100, 1000, 90)) == 0
