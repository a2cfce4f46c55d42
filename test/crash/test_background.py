"""Loading in the background, and loads whose process or database goes away."""

import contextlib
import threading
import time

import psycopg
import pytest
from conftest import assert_same, cached_pages, is_stopped, make_table, wait_for


def is_cached(connection, table: str) -> bool:
    return cached_pages(connection, table) > 0


def used_bytes(connection) -> int:
    return int(connection.execute("SELECT sum(used_bytes) FROM penumbra.get_memory()").fetchone()[0])


class Holder:
    """A session that holds others at a stop point."""

    def __init__(self, server, name: str, database: str = "postgres"):
        self.connection = server.connect(database)
        self.connection.execute("CREATE EXTENSION IF NOT EXISTS penumbra_test")
        self.connection.execute("SELECT pg_advisory_lock(penumbra_test.stop_point_key(%s))", (name,))

    def __enter__(self):
        return self.connection

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def start(server, statement: str, database: str = "postgres", **settings: str):
    """Runs a statement in another session; returns the thread and the list that gets its error."""
    errors = []

    def run() -> None:
        try:
            with server.connect(database, **settings) as connection:
                connection.execute(statement)
        except psycopg.Error as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, errors


@pytest.fixture()
def loading_server(make_server):
    """A server whose launcher and workers work, and stop after each chunk while somebody holds that stop point."""
    server = make_server(
        "background", penumbra__auto_load="on", penumbra__stop_points="load-after-chunk"
    )
    server.start()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION penumbra")
    return server


@pytest.mark.timeout(240)
def test_what_is_wanted_during_a_refresh_is_loaded_after_it(loading_server):
    server = loading_server
    with server.connect() as connection:
        for table in ("stale", "during", "later"):
            make_table(connection, table)
        connection.execute("SELECT penumbra.load('stale')")
        connection.execute("UPDATE stale SET grp = grp + 1 WHERE id % 3 = 0")
        connection.execute("VACUUM stale")
        with Holder(server, "load-after-chunk") as holder:
            # reads from the heap what was written: the worker, with nothing else to do, refreshes it
            connection.execute("SET penumbra.mode = 'prefer'")
            connection.execute("SELECT count(grp) FROM stale")
            wait_for("the worker does not refresh", lambda: is_stopped(holder, "penumbra worker"))
            connection.execute("SET penumbra.mode = 'auto'")
            connection.execute("SELECT sum(amount) FROM during")
        wait_for(
            "what was wanted during the refresh is lost", lambda: is_cached(connection, "during")
        )
        connection.execute("SELECT sum(amount) FROM later")
        wait_for("the launcher does not wake any more", lambda: is_cached(connection, "later"))
        assert_same(connection, "stale")


@pytest.mark.timeout(240)
def test_databases_that_let_nobody_in(loading_server):
    server = loading_server
    with server.connect() as connection:
        connection.execute("CREATE DATABASE closed")
        make_table(connection, "t")
        with server.connect("closed") as inside:
            inside.execute("CREATE EXTENSION penumbra")
            make_table(inside, "unloved")
            connection.execute("ALTER DATABASE closed ALLOW_CONNECTIONS false")
            inside.execute("SELECT sum(amount) FROM unloved")
            connection.execute("SELECT sum(amount) FROM t")
            wait_for("other databases starve", lambda: is_cached(connection, "t"))
            assert not is_cached(inside, "unloved")
            # what is wanted of it later is dropped, too, and it is served again when it lets workers in
            inside.execute("SELECT sum(amount) FROM unloved")
            connection.execute("ALTER DATABASE closed ALLOW_CONNECTIONS true")

            def is_served() -> bool:
                inside.execute("SELECT sum(amount) FROM unloved")
                return is_cached(inside, "unloved")

            wait_for("it is not served again", is_served)
    assert "FATAL" not in server.log_tail(1000)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_each_database_has_its_turn(loading_server):
    """Three workers for four databases: who was served before waits for the one who was not."""
    server = loading_server
    names = ["one", "two", "three", "four"]
    with server.connect() as connection, contextlib.ExitStack() as stack:
        inside = {}
        for name in names:
            connection.execute(f"CREATE DATABASE {name}")
            inside[name] = stack.enter_context(server.connect(name))
            inside[name].execute("CREATE EXTENSION penumbra")
            for table in ("t", "u"):
                make_table(inside[name], table)
        holders = {name: Holder(server, "load-after-chunk", name) for name in names[:3]}
        stopped = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'penumbra worker' AND wait_event = 'advisory'"
        for count, name in enumerate(names[:3], 1):
            inside[name].execute("SELECT sum(amount) FROM t")
            wait_for(
                f"no worker for {name}",
                lambda count=count: connection.execute(stopped).fetchone()[0] == count,
            )
        for name in names:
            inside[name].execute("SELECT sum(amount) FROM u")
        # a second worker for the first database would stop as well: the lock goes from its holder to the
        # worker and then to this session
        again = threading.Thread(
            target=lambda: holders.update(again=Holder(server, "load-after-chunk", "one"))
        )
        again.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = " \
            "(SELECT oid FROM pg_database WHERE datname = 'one')"  # fmt: skip
        wait_for("nobody waits", lambda: connection.execute(waiting).fetchone()[0] == 2)
        rested = (
            "SELECT clock_timestamp() > backend_start + interval '1.1 s' FROM pg_stat_activity"
            " WHERE backend_type = 'penumbra worker' AND datname = 'one'"
        )
        wait_for("the pause does not end", lambda: connection.execute(rested).fetchone()[0])
        holders["one"].connection.close()
        again.join(60)
        wait_for("the fourth starves", lambda: is_cached(inside["four"], "u"))
        for holder in holders.values():
            holder.connection.close()


@pytest.mark.timeout(120)
def test_wishes_need_the_right_to_read(loading_server):
    """Who may not read a table does not have it loaded; through a view or a parent he may."""
    server = loading_server
    with server.connect() as connection:
        for table in ("forbidden", "behind", "allowed"):
            make_table(connection, table)
        connection.execute("CREATE VIEW shown AS SELECT amount FROM behind")
        connection.execute("CREATE TABLE parent (id int, amount numeric) PARTITION BY RANGE (id)")
        connection.execute(
            "CREATE TABLE child PARTITION OF parent FOR VALUES FROM (0) TO (1000000)"
        )
        connection.execute("INSERT INTO parent SELECT id, amount FROM behind")
        connection.execute("VACUUM ANALYZE child")
        connection.execute("CREATE ROLE reader")
        connection.execute("GRANT SELECT ON shown, parent TO reader")
        connection.execute("GRANT SELECT (amount) ON allowed TO reader")
        connection.execute("SET ROLE reader")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT sum(amount) FROM forbidden")
        for relation in ("shown", "parent", "allowed"):
            connection.execute(f"SELECT sum(amount) FROM {relation}")
        connection.execute("RESET ROLE")
        for table in ("behind", "child", "allowed"):
            wait_for(f"{table} is not loaded", lambda table=table: is_cached(connection, table))
        workers = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'penumbra worker'"
        wait_for("the worker does not end", lambda: connection.execute(workers).fetchone()[0] == 0)
        assert not is_cached(connection, "forbidden")


@pytest.mark.timeout(120)
def test_a_load_while_its_database_is_dropped(server):
    with server.connect() as connection:
        connection.execute("CREATE DATABASE doomed")
        with server.connect("doomed") as inside:
            inside.execute("CREATE EXTENSION penumbra")
            make_table(inside, "t")
            with Holder(server, "drop-database"):
                dropping, errors = start(
                    server, "DROP DATABASE doomed", penumbra__stop_points="drop-database"
                )
                wait_for("the drop does not stop", lambda: is_stopped(connection))
                inside.execute("SELECT penumbra.load('t')")
                assert used_bytes(connection) > 0
                inside.close()
        dropping.join(60)
        assert not errors, errors
        assert used_bytes(connection) == 0


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_database_that_moves_leaves_nothing_behind(server):
    """Its tables keep their file numbers in another tablespace."""
    with server.connect() as connection:
        connection.execute("SET allow_in_place_tablespaces = on")
        connection.execute("CREATE TABLESPACE elsewhere LOCATION ''")
        connection.execute("CREATE DATABASE moved")
        used = []
        for _ in range(2):
            with server.connect("moved") as inside:
                if not used:
                    inside.execute("CREATE EXTENSION penumbra")
                    make_table(inside, "t")
                inside.execute("SELECT penumbra.load('t')")
            used.append(used_bytes(connection))
            connection.execute("ALTER DATABASE moved SET TABLESPACE elsewhere")
        assert used[0] == used[1] > 0


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_databases_dropped_elsewhere(server, make_server):
    """On a standby nobody sees a database being dropped."""
    with server.connect() as primary:
        primary.execute("CREATE DATABASE remote")
        with server.connect("remote") as inside:
            inside.execute("CREATE EXTENSION penumbra")
            make_table(inside, "t")
        make_table(primary, "u")
        standby = make_server("standby")
        standby.copy_as_standby(server)
        standby.start()
        with standby.connect() as reader:
            with standby.connect("remote") as inside:
                inside.execute("SELECT penumbra.load('t')")
            reader.execute("SELECT penumbra.load('u')")
            before = used_bytes(reader)
            primary.execute("DROP DATABASE remote")
            exists = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = 'remote')"
            wait_for("the drop is not replayed", lambda: not reader.execute(exists).fetchone()[0])
            assert used_bytes(reader) == before
            assert reader.execute("SELECT penumbra.forget_dropped_databases()").fetchone()[0] == 1
            assert 0 < used_bytes(reader) < before
            assert_same(reader, "u")


@pytest.mark.timeout(120)
def test_a_terminated_load_is_counted_once(server):
    with server.connect() as connection, Holder(server, "load-after-chunk"):
        loading, errors = start(
            server, "SELECT penumbra.load('t')", penumbra__stop_points="load-after-chunk"
        )
        wait_for("the load does not stop", lambda: is_stopped(connection))
        chunks = "SELECT chunks_loaded FROM penumbra.activity"
        before = connection.execute(chunks).fetchone()[0]
        left = "SELECT extract(epoch FROM time_left) >= 0, chunks_done FROM penumbra.progress"
        assert connection.execute(left).fetchone() == (True, 1)
        connection.execute("SELECT pg_terminate_backend(pid) FROM penumbra.progress")
        loading.join(60)
        assert isinstance(errors[0], psycopg.errors.AdminShutdown), errors
        wait_for(
            "it goes on",
            lambda: connection.execute("SELECT count(*) FROM penumbra.progress").fetchone()[0] == 0,
        )
        assert connection.execute(chunks).fetchone()[0] == before + 1
        assert_same(connection)


@pytest.mark.timeout(60)
def test_a_terminated_launcher_comes_back(loading_server):
    find = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'penumbra launcher'"
    with loading_server.connect() as connection:
        wait_for("a launcher", lambda: connection.execute(find).fetchone())
        before = connection.execute(find).fetchone()[0]
        connection.execute("SELECT pg_terminate_backend(%s)", (before,))
        wait_for(
            "another launcher",
            lambda: connection.execute(find).fetchone() not in (None, (before,)),
        )


@pytest.mark.timeout(120)
def test_fast_shutdown_under_load(loading_server):
    server = loading_server
    with server.connect() as connection:
        for table in ("by_hand", "by_worker"):
            make_table(connection, table, 200000)
        holder = Holder(server, "load-after-chunk")
        loading, errors = start(server, "SELECT penumbra.load('by_hand')")
        connection.execute("SELECT sum(amount) FROM by_worker")
        wait_for("the worker does not load", lambda: is_stopped(connection, "penumbra worker"))
        # and loads that do not stop
        threads = [start(server, f"SELECT penumbra.load('{name}') FROM generate_series(1, 1000)"
                                 " WHERE penumbra.unload('by_worker') >= 0",
                         penumbra__stop_points="")[0] for name in ("by_worker", "by_worker")]  # fmt: skip
        wait_for("nobody loads", lambda: connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active'").fetchone()[0] >= 4)  # fmt: skip
        started = time.monotonic()
        server.stop("fast")
        assert time.monotonic() - started < 10
        holder.connection.close()
    for thread in (loading, *threads):
        thread.join(60)
    assert "database system is shut down" in server.log_tail()
    assert "PANIC" not in server.log_tail(1000)
    assert "signal" not in server.log_tail(1000)
    server.start()
    assert "database system was shut down at" in server.log_tail()
    with server.connect() as connection:
        assert connection.execute("SELECT count(*) FROM by_hand").fetchone()[0] == 200000
