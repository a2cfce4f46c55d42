"""What sends SQL, pools it, dumps and replicates: what docs/neighbours.md says of each."""

import contextlib
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from conftest import MODES, assert_same, fill, is_in_vectors, plan, rows, wait_until

GROUPED = "SELECT grp, count(*), sum(amount), max(note) FROM t WHERE id > {} GROUP BY grp ORDER BY grp"
JOINED = "SELECT name, sum(amount) FROM t JOIN u USING (grp) GROUP BY name ORDER BY name"
# A prepared statement may have a generic plan from its sixth execution on.
EXECUTIONS = 8


@pytest.fixture(scope="module")
def server(make_server):
    server = make_server("clients", {
        "shared_preload_libraries": "penumbra", "wal_level": "logical", "penumbra.auto_load": "on",
    })  # fmt: skip
    with server.connect() as connection:
        fill(connection)
        connection.execute("SECURITY LABEL FOR penumbra ON TABLE t IS 'pin'")
    return server


@pytest.fixture()
def connection(server):
    with server.connect() as connection:
        yield connection


def in_all_modes(connection, run) -> None:
    """What it returns is the same."""
    answers = []
    for mode in MODES:
        connection.execute(f"SET penumbra.mode = {mode}")
        answers.append(run())
    connection.execute("RESET penumbra.mode")
    assert answers[0] and answers[1:] == answers[:1] * (len(MODES) - 1)


def test_psycopg_prepared(connection):
    connection.prepare_threshold = 0
    query = GROUPED.format("%s")

    def run() -> list:
        return [connection.execute(query, (n * 1000,)).fetchall() for n in range(EXECUTIONS)]

    in_all_modes(connection, run)
    statement = "SELECT count(*), sum(generic_plans) FROM pg_prepared_statements WHERE statement LIKE 'SELECT grp%'"
    ((count, generic_plans),) = rows(connection, statement)
    assert count == 1 and generic_plans > 0


def test_psycopg_named_cursors(connection):
    def run() -> list:
        with connection.transaction(), connection.cursor("c") as cursor:
            cursor.itersize = 1000
            cursor.execute("SELECT id, amount, note FROM t WHERE grp < 5 ORDER BY id")
            return list(cursor)

    in_all_modes(connection, run)
    assert len(run()) == 10000


def test_psycopg_scrollable_cursor(connection):
    def run() -> list:
        with connection.transaction(), connection.cursor("c", scrollable=True) as cursor:
            cursor.execute(JOINED)
            forward = cursor.fetchall()
            cursor.scroll(0, "absolute")
            return [forward, cursor.fetchmany(3)]

    in_all_modes(connection, run)


def test_psycopg_pipeline(connection):
    def run() -> list:
        with connection.pipeline():
            cursors = [connection.execute(GROUPED.format("%s"), (n,)) for n in range(EXECUTIONS)]
            cursors.append(connection.execute(JOINED))
        return [cursor.fetchall() for cursor in cursors]

    in_all_modes(connection, run)


def test_sqlalchemy(server):
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed: pip install sqlalchemy")
    orm = pytest.importorskip("sqlalchemy.orm")

    class Base(orm.DeclarativeBase):
        pass

    class T(Base):
        __tablename__ = "t"
        id = sqlalchemy.Column(sqlalchemy.BigInteger, primary_key=True)
        grp = sqlalchemy.Column(sqlalchemy.Integer)
        amount = sqlalchemy.Column(sqlalchemy.Numeric)

    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(server.conninfo()))
    grouped = sqlalchemy.select(T.grp, sqlalchemy.func.sum(T.amount), sqlalchemy.func.count()).group_by(T.grp).order_by(T.grp)
    answers = []
    for mode in MODES:
        with orm.Session(engine) as session:
            session.execute(sqlalchemy.text(f"SET penumbra.mode = {mode}"))
            groups = [session.execute(grouped.where(T.id > 100 * n)).all() for n in range(EXECUTIONS)]
            read = sqlalchemy.select(T).where(T.amount > 5).execution_options(yield_per=1000)
            answers.append((groups, sum(row.id for row in session.scalars(read))))
    engine.dispose()
    assert answers[0][1] > 0 and answers[1:] == answers[:1] * (len(MODES) - 1)


@pytest.fixture()
def pool(server):
    """Connection strings of two pools in transaction mode: of one and of two sessions."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if not program:
        pytest.skip("PgBouncer is not installed: its package stands in packages.txt, [neighbours]")
    directory = server.socket_directory
    settings = directory / "pgbouncer.ini"
    settings.write_text(f"""
[databases]
one = host={directory} dbname=postgres user=postgres pool_size=1
two = host={directory} dbname=postgres user=postgres pool_size=2
[pgbouncer]
pool_mode = transaction
auth_type = any
listen_addr =
listen_port = 6432
unix_socket_dir = {directory}
""")
    as_user = ["-u", "postgres"] if os.geteuid() == 0 else []
    process = subprocess.Popen([program, *as_user, settings], stderr=subprocess.PIPE, text=True)

    def is_there() -> bool:
        assert process.poll() is None, process.stderr.read()
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(f"host={directory} port=6432 dbname=one").close()
            return True
        return False

    try:
        wait_until(is_there, "PgBouncer does not answer")
        yield f"host={directory} port=6432 dbname={{}}"
    finally:
        process.terminate()
        process.communicate()


def through_pool(pool: str, database: str):
    connection = psycopg.connect(pool.format(database), autocommit=True)
    connection.prepare_threshold = None
    return connection


def test_pgbouncer_set_local(server, pool, connection):
    """Some clients set the mode for a transaction; no other one sees it, and none gets another's answer."""
    queries = [GROUPED.format(n * 100) for n in range(4)] + [JOINED]
    expected = [rows(connection, query) for query in queries]

    def client(number: int) -> list:
        wrong = []
        with through_pool(pool, "two") as pooled:
            for n in range(20):
                with pooled.transaction():
                    mode = ("require", "off", None)[number % 3]
                    if mode:
                        pooled.execute(f"SET LOCAL penumbra.mode = {mode}")
                    found = (*rows(pooled, "SHOW penumbra.mode")[0], rows(pooled, queries[n % 5]))
                    wrong += [found] if found != (mode or "auto", expected[n % 5]) else []
        return wrong

    with ThreadPoolExecutor(9) as clients:
        assert list(clients.map(client, range(9))) == [[]] * 9
        ((sessions,),) = rows(connection, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
        assert sessions <= 1 + 2 + 1  # this one, and of the pools


def test_pgbouncer_set(pool):
    """It holds for whoever gets the session next."""
    with through_pool(pool, "one") as first, through_pool(pool, "one") as second:
        first.execute("SET penumbra.mode = off")
        assert rows(second, "SHOW penumbra.mode") == [("off",)]
        first.execute("RESET penumbra.mode")


def test_dump_and_restore(server, connection):
    archive = server.directory / "dump"
    server.run_client("pg_dump", "--format=custom", f"--file={archive}", "postgres")
    connection.execute("CREATE DATABASE restored")
    server.run_client("pg_restore", "--exit-on-error", "--dbname=restored", str(archive))
    with server.connect("restored") as restored:
        assert rows(restored, "SELECT label FROM pg_seclabel WHERE objoid = 't'::regclass AND provider = 'penumbra'") == [("pin",)]
        restored.execute("VACUUM ANALYZE t, u")
        for query in (GROUPED.format(0), JOINED):
            assert_same(restored, query)
            assert rows(restored, query) == rows(connection, query)
        # the new server's worker loads what is asked for
        wait_until(lambda: is_in_vectors(restored, JOINED), "nothing loads it")
        assert_same(restored, JOINED)
    connection.execute("DROP DATABASE restored (FORCE)")


def test_logical_replication(server, connection):
    connection.execute("CREATE TABLE sent AS SELECT * FROM t")
    connection.execute("ALTER TABLE sent ADD PRIMARY KEY (id); CREATE PUBLICATION p FOR TABLE sent")
    connection.execute("CREATE DATABASE subscriber")
    # a subscription to the same server would wait for itself if it made the slot
    connection.execute("SELECT pg_create_logical_replication_slot('s', 'pgoutput')")
    query = "SELECT grp, count(*), sum(amount), sum(id), max(note) FROM sent GROUP BY grp ORDER BY grp"
    with server.connect("subscriber") as subscriber:
        subscriber.execute("CREATE EXTENSION penumbra; CREATE TABLE sent (id bigint PRIMARY KEY, grp int, amount numeric(10, 2), note text)")
        subscriber.execute(f"CREATE SUBSCRIPTION s CONNECTION '{server.conninfo()}' PUBLICATION p WITH (create_slot = false, slot_name = 's')")
        with contextlib.ExitStack() as last:
            last.callback(subscriber.execute, "DROP SUBSCRIPTION s")

            def has_arrived() -> bool:
                return rows(subscriber, query) == rows(connection, query)

            wait_until(has_arrived, "the copy does not arrive")
            subscriber.execute("VACUUM ANALYZE sent")
            subscriber.execute("SELECT penumbra.load('sent')")
            assert is_in_vectors(subscriber, query)
            for change in (
                "UPDATE sent SET amount = amount + 1 WHERE id % 500 = 0",
                "DELETE FROM sent WHERE id BETWEEN 10 AND 200",
                "INSERT INTO sent SELECT id + 100000, grp, 5.5, 'new' FROM sent WHERE id < 3000",
            ):
                connection.execute(change)
                wait_until(has_arrived, f"it does not arrive: {change}")
                subscriber.execute("SET penumbra.mode = require")
                assert has_arrived()
                assert_same(subscriber, query)
    connection.execute("DROP DATABASE subscriber (FORCE)")
    connection.execute("DROP PUBLICATION p; DROP TABLE sent")


def test_databases_without_the_extension(server, connection):
    """PostgreSQL alone serves them: nothing of theirs is cached, though the worker loads another database's."""
    query = "SELECT grp, count(*), sum(amount) FROM plain GROUP BY grp ORDER BY grp"
    connection.execute("CREATE DATABASE without")
    with server.connect("without") as without:
        for made in (without, connection):
            made.execute("CREATE TABLE plain AS SELECT g AS id, g % 20 AS grp, g / 8.0 AS amount FROM generate_series(1, 40000) g")
            made.execute("VACUUM ANALYZE plain")
        for _ in range(3):
            assert rows(without, query) == rows(connection, query)
        assert_same(without, query)
        wait_until(lambda: is_in_vectors(connection, query), "the worker loads nothing")
        without.execute("SET penumbra.mode = prefer")
        assert "Penumbra" not in plan(without, query)
        # somebody who takes the extension now finds nothing that was cached before
        without.execute("CREATE EXTENSION penumbra")
        assert rows(without, "SELECT FROM penumbra.tables WHERE relid = 'plain'::regclass") == []
        assert_same(without, query)
    connection.execute("DROP DATABASE without (FORCE)")
    connection.execute("DROP TABLE plain")
