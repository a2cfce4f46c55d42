"""All extensions in one server, loaded in either order: same answers, and each does its part."""

import ctypes
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import psycopg
import pytest
from penumbra_lab.server import PrivateServer, run_directory

COMMON = Path(__file__).parents[2] / "common"

LIBRARIES = (
    "penumbra",
    "penumbra_backtrace",
    "penumbra_numeric",
    "penumbra_keytree",
    "penumbra_compress",
    "penumbra_lookup",
)
EXTENSIONS = (*LIBRARIES, "penumbra_sort", "penumbra_bench")
ROWS = 60000
WAIT_SECONDS = 60

# In the vector engine; in PostgreSQL's executor with numeric functions replaced; of both.
ENGINE = "SELECT grp, sum(amount), avg(amount), max(amount * 3) FROM t GROUP BY grp ORDER BY grp"
EXECUTOR = "SELECT sum(amount / (id + 1)), stddev(a) FROM t JOIN (VALUES (1, 2.5), (2, 3)) v(i, a) ON i = grp"
SORTED = "SELECT penumbra_sort.sort(array_agg(amount)) FROM t WHERE id % 17 = 0"
SORTED_BY_POSTGRESQL = "SELECT array_agg(amount ORDER BY amount) FROM t WHERE id % 17 = 0"


@pytest.fixture(params=["in order", "reversed"])
def server(request):
    libraries = LIBRARIES if request.param == "in order" else LIBRARIES[::-1]
    server = PrivateServer(
        run_directory("test-coexistence"),
        {
            "shared_preload_libraries": ",".join(libraries),
            "penumbra.memory": "128MB",
            "penumbra.auto_load": "off",
            "penumbra_backtrace.on_error": "all",
            "autovacuum": "off",
        },
        initdb_options=("--encoding=UTF8", "--no-locale"),
    )
    server.start()
    with server.connect() as connection:
        for extension in EXTENSIONS:
            connection.execute(f"CREATE EXTENSION {extension}")
        connection.execute(
            f"CREATE TABLE t AS SELECT g AS id, g % 97 AS grp, (g % 1000) / 8.0::numeric AS amount"
            f" FROM generate_series(1, {ROWS}) AS g"
        )
        connection.execute("VACUUM ANALYZE t")
        connection.execute("CHECKPOINT")
    yield server
    server.remove()


def rows(connection, sql: str) -> list[tuple]:
    return connection.execute(sql).fetchall()


def plan(connection, sql: str) -> str:
    return "\n".join(line for (line,) in rows(connection, f"EXPLAIN (VERBOSE, COSTS OFF) {sql}"))


def set_ours(connection, is_ours: bool) -> None:
    connection.execute(f"SET penumbra.mode = {'auto' if is_ours else 'off'}")
    connection.execute(f"SET penumbra_numeric.rewrite = {'on' if is_ours else 'off'}")


def is_back(server) -> bool:
    """After a crash: the postmaster has seen it, so that who can connect stays connected."""
    if "reinitializing" not in server.log.read_text(errors="replace"):
        return False
    try:
        server.connect().close()
    except psycopg.OperationalError:
        return False
    return True


def wait_until(condition, failure: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, failure
        time.sleep(0.1)


def engine_threads(pid: int) -> list[int]:
    """Of a backend, by the name that the engine gives them."""
    return [
        int(comm.parent.name)
        for comm in Path(f"/proc/{pid}/task").glob("*/comm")
        if int(comm.parent.name) != pid and comm.read_text() == "penumbra\n"
    ]


def test_answers_are_the_servers(server):
    with server.connect() as connection:
        set_ours(connection, False)
        expected = [rows(connection, sql) for sql in (ENGINE, EXECUTOR, SORTED_BY_POSTGRESQL)]
        connection.execute("SELECT penumbra.load('t')")
        set_ours(connection, True)
        assert [rows(connection, sql) for sql in (ENGINE, EXECUTOR, SORTED)] == expected
        assert "Custom Scan (Penumbra Sort)" in plan(connection, ENGINE)
        connection.execute("SET penumbra.mode = require")
        assert rows(connection, ENGINE) == expected[0]
        # What the engine leaves to PostgreSQL calls penumbra_numeric: its functions are in the plan's dependencies.
        set_ours(connection, True)
        connection.execute(f"PREPARE executor AS {EXECUTOR}")
        assert rows(connection, "EXECUTE executor") == expected[1]
        connection.execute("DROP EXTENSION penumbra_numeric CASCADE")
        assert rows(connection, "EXECUTE executor") == expected[1]


def test_compressed_columns_and_keytree_indexes_beside_the_engine(server):
    grouped = "SELECT grp, count(note), sum(amount), max(note) FROM c GROUP BY grp ORDER BY grp"
    by_key = "SELECT id, note FROM c WHERE id BETWEEN 500 AND 510 ORDER BY id"
    with server.connect() as connection:
        connection.execute(
            "CREATE TABLE c (id int, grp int, amount numeric, note text COMPRESSION zstd)"
        )
        filling = "SELECT id, grp, amount, repeat('note ' || id % 50, 40) FROM t"
        connection.execute(f"INSERT INTO c {filling}")
        connection.execute("CREATE INDEX ON c USING keytree (id)")
        connection.execute("VACUUM ANALYZE c")
        connection.execute("CHECKPOINT")
        ((type_name,),) = rows(connection, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute"
                                           " WHERE attrelid = 'c'::regclass AND attname = 'note'")  # fmt: skip
        assert type_name == "compressed_text(zstd,3)"
        set_ours(connection, False)
        plain = f"SELECT grp, count(note), sum(amount), max(note) FROM ({filling}) f(id, grp, amount, note)"
        expected = rows(connection, f"{plain} GROUP BY grp ORDER BY grp")
        assert rows(connection, grouped) == expected
        set_ours(connection, True)
        connection.execute("SELECT penumbra.load('c', ARRAY['id', 'grp', 'amount'])")
        assert rows(connection, grouped) == expected
        assert "Index Scan using c_id_idx" in plan(connection, by_key)
        expected = [(key, f"note {key % 50}" * 40) for key in range(500, 511)]
        assert rows(connection, by_key) == expected
        connection.execute("SELECT penumbra_keytree.keytree_check('c_id_idx')")


def test_errors_of_the_engine_have_stacks(server):
    failing = "SELECT sum(1 / (id - 5)) FROM t"
    with server.connect() as connection:
        connection.execute("SELECT penumbra.load('t')")
        assert "Custom Scan (Penumbra" in plan(connection, failing)
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute(failing)
        stacks = "SELECT count, frames FROM backtrace_errors WHERE sqlstate = '22012'"
        wait_until(lambda: rows(connection, stacks)[0][1].startswith("#"), "no symbols")
        ((count, frames),) = rows(connection, stacks)
        assert count == 1
        assert re.search(r" at \S*/columnar/src/\w+(/\w+)+\.c:\d+", frames)


def test_a_crash_is_reported_and_the_cache_comes_back(server):
    with server.connect() as connection:
        set_ours(connection, False)
        expected = rows(connection, ENGINE)
        connection.execute("SELECT penumbra.load('t')")
        ((pid,),) = rows(connection, "SELECT pg_backend_pid()")
        os.kill(pid, signal.SIGSEGV)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    wait_until(lambda: is_back(server), "the server did not come back")
    with server.connect() as connection:
        names = [name for (name,) in rows(connection, "SELECT pg_ls_dir('pg_crash')")]
        assert any(re.fullmatch(rf"pg_crash_{pid}_\d+\.txt", name) for name in names)
        connection.execute("SELECT penumbra.load('t')")
        connection.execute("SET penumbra.mode = require")
        assert rows(connection, ENGINE) == expected


@pytest.mark.skipif(os.cpu_count() == 1, reason="the engine starts no threads on a single CPU")
def test_a_crash_of_an_engine_thread_is_reported(server):
    with server.connect() as connection:
        # A thread has at least 65,536 rows to itself.
        connection.execute("CREATE TABLE many AS SELECT generate_series(1, 300000) AS id")
        connection.execute("VACUUM ANALYZE many")
        connection.execute("CHECKPOINT")
        connection.execute("SELECT penumbra.load('many')")
        connection.execute("SET penumbra.threads_per_query = 1")
        connection.execute("SET penumbra.mode = require")
        # Who fetches one row keeps the thread: it fills the queue of results and waits, however fast it is.
        connection.execute("BEGIN")
        connection.execute("DECLARE cursor CURSOR FOR SELECT id, count(*) FROM many GROUP BY id")
        assert len(rows(connection, "FETCH 1 FROM cursor")) == 1
        ((pid,),) = rows(connection, "SELECT pg_backend_pid()")
        wait_until(lambda: engine_threads(pid), "no thread of the engine")
        thread = engine_threads(pid)[0]
        assert ctypes.CDLL(None).tgkill(pid, thread, signal.SIGSEGV) == 0
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the crash did not end the process")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("FETCH 1 FROM cursor")
    wait_until(lambda: is_back(server), "the server did not come back")
    crashes = server.data / "pg_crash"
    wait_until(lambda: any(crashes.glob(f"pg_crash_{pid}_*.report")), "no report")
    (file,) = crashes.glob(f"pg_crash_{pid}_*.txt")
    assert "\nthread: penumbra\n" in file.read_text()
    report = file.with_suffix(".report").read_text()
    for function, source in (("Executor::RunThread", "executor.cc"), ("Run", "thread.cc")):
        assert re.search(rf"\b{function}\(.* at \S*/engine/src/execution/{source}:\d+", report)
    assert "PostgresMain" not in report


def test_a_table_hidden_from_queries(server):
    """Citus hides shards from what reads pg_class. The cache's views and functions show and take them all the same."""
    library = server.directory / "hide_relation.so"
    headers = subprocess.run(
        [server.installation.program("pg_config"), "--includedir-server"], capture_output=True, text=True, check=True
    ).stdout.strip()  # fmt: skip
    subprocess.run(
        ["gcc", "-shared", "-fPIC", f"-I{headers}", f"-I{COMMON}", "-o", library, Path(__file__).with_name("hide_relation.c")], check=True
    )  # fmt: skip
    with server.connect() as connection:
        (oid,) = connection.execute("SELECT 't'::regclass::oid").fetchone()
        connection.execute(f"LOAD '{library}'")
        connection.execute(f"SET hide_relation.oid = {oid}")
        assert rows(connection, "SELECT FROM pg_class WHERE relname = 't'") == []
        connection.execute("SELECT penumbra.load('t')")
        assert rows(connection, "SELECT relname, coverage_percent, rows FROM penumbra.tables") == [("t", 100, ROWS)]
        assert rows(connection, "SELECT DISTINCT relname FROM penumbra.columns") == [("t",)]
        assert rows(connection, "SELECT column_name FROM penumbra.columns ORDER BY 1") == [("amount",), ("grp",), ("id",)]
        assert rows(connection, "SELECT column_name FROM penumbra.verify('t') ORDER BY 1") == [("amount",), ("grp",), ("id",)]
        assert "Penumbra" in plan(connection, ENGINE)
        connection.execute("SELECT penumbra.unload('t')")
        assert rows(connection, "SELECT FROM penumbra.tables") == []


def test_load_of_a_distributed_table(server):
    """Citus leaves the table empty, and notes it in pg_dist_partition."""
    with server.connect() as connection:
        notices = []
        connection.add_notice_handler(lambda notice: notices.append((notice.message_primary, notice.message_hint)))
        connection.execute('CREATE TABLE "Sales of a day" (id integer); CREATE TABLE empty (id integer)')
        connection.execute("SET allow_system_table_mods = on")
        connection.execute("CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod \"char\")")
        try:
            connection.execute("""INSERT INTO pg_catalog.pg_dist_partition VALUES ('"Sales of a day"', 'h')""")
            connection.execute("SELECT penumbra.load('empty')")
            assert notices == []
            connection.execute("""SELECT penumbra.load('"Sales of a day"')""")
            ((message, hint),) = notices
            assert message == 'relation "Sales of a day" has no pages of its own, because it is distributed'
            assert hint == """SELECT * FROM run_command_on_placements('public."Sales of a day"', $$SELECT penumbra.load('%s')$$);"""
            connection.execute("CALL penumbra.load_in_parts('\"Sales of a day\"')")
            assert len(notices) == 2
        finally:
            connection.execute("DROP TABLE pg_catalog.pg_dist_partition")
