"""postgres_fdw over two servers: what docs/scale_out.md says is sent, what runs in vectors there, faults."""

import contextlib
import os
import signal
import threading
import time

import psycopg
import pytest
from conftest import MODES, rows, wait_until
from psycopg import sql

ORDERS_PER_SERVER = 5000
SERVERS = (1, 2)
# What the page recommends.
SERVER_OPTIONS = {"fetch_size": "10000", "use_remote_estimate": "true", "async_capable": "true"}
# A remote query has to end so soon; the ones that are ended would take days.
SOON_SECONDS = 20

# {lines} and {orders} are foreign tables, or the same rows in tables of the coordinator.
FILTER = "SELECT order_id, line, amount FROM {lines} WHERE part = 7 AND amount > 40 ORDER BY 1, 2"
JOIN = """SELECT o.status, count(*), sum(l.amount) FROM {orders} o JOIN {lines} l USING (order_id)
    WHERE o.customer < 40 GROUP BY o.status ORDER BY 1"""
GROUPS_BY_KEY = "SELECT order_id, sum(amount), count(*) FROM {lines} GROUP BY order_id HAVING sum(amount) > 190 ORDER BY 1"
JOINED_GROUPS_BY_KEY = """SELECT o.order_id, sum(l.amount) FROM {orders} o JOIN {lines} l USING (order_id)
    WHERE o.status <> 'open' GROUP BY o.order_id HAVING sum(l.amount) > 190 ORDER BY 1"""
TOTALS = "SELECT count(*), sum(amount), avg(amount), min(note), max(order_id) FROM {lines}"
OTHER_GROUPS = "SELECT part, count(*), sum(amount), max(note) FROM {lines} GROUP BY part ORDER BY part"
SEMIJOIN = """SELECT status, count(*) FROM {orders} o
    WHERE EXISTS (SELECT FROM {lines} l WHERE l.order_id = o.order_id AND l.amount < 2) GROUP BY 1 ORDER BY 1"""
QUERIES = {name: globals()[name] for name in (
    "FILTER", "JOIN", "GROUPS_BY_KEY", "JOINED_GROUPS_BY_KEY", "TOTALS", "OTHER_GROUPS", "SEMIJOIN")}  # fmt: skip

SCHEMA = {
    "orders": "order_id int NOT NULL, customer int, day date, status text",
    "lines": "order_id int NOT NULL, line int, part int, amount numeric(10, 2), note text",
    "by_day": "day date, status text, lines bigint, amount numeric",
    "endless_{n}": "found bigint",
    "settings_{n}": "name text, setting text",
}


def fill(connection, orders: str, lines: str, first: int, last: int) -> None:
    connection.execute(f"""
        INSERT INTO {orders} SELECT g, g % 400, date '2024-01-01' + g % 30,
            (ARRAY['open', 'paid', 'sent'])[1 + g % 3] FROM generate_series({first}, {last}) g;
        INSERT INTO {lines} SELECT g / 4, g % 4, g % 97, (g * 7919 % 10000) / 100.0, 'note ' || g % 1000
            FROM generate_series({first} * 4, {last} * 4 + 3) g""")


class Cluster:
    """A coordinator and two servers, each with half of the orders."""

    def __init__(self, make_server):
        self.remotes = {n: make_server(f"remote-{n}") for n in SERVERS}
        self.coordinator = make_server("coordinator")
        for n, remote in self.remotes.items():
            with remote.connect() as connection:
                self._fill_remote(connection, n)
        with self.coordinator.connect() as connection:
            self._fill_coordinator(connection)

    @staticmethod
    def range(n: int) -> tuple[int, int]:
        return 1 + (n - 1) * ORDERS_PER_SERVER, n * ORDERS_PER_SERVER

    def _fill_remote(self, connection, n: int) -> None:
        connection.execute("CREATE EXTENSION penumbra; CREATE EXTENSION penumbra_test; CREATE ROLE fdw_reader LOGIN")
        for table in ("orders", "lines"):
            connection.execute(f"CREATE TABLE {table} ({SCHEMA[table]})")
        connection.execute("ALTER TABLE orders ADD PRIMARY KEY (order_id); CREATE INDEX ON lines (order_id)")
        fill(connection, "orders", "lines", *self.range(n))
        connection.execute(f"""
            CREATE VIEW by_day AS SELECT o.day, o.status, count(*) AS lines, sum(l.amount) AS amount
                FROM orders o JOIN lines l USING (order_id) GROUP BY 1, 2;
            CREATE VIEW endless_{n} AS SELECT count(*) FILTER (WHERE a.note || b.note || c.note LIKE '%x%') AS found
                FROM lines a JOIN lines b ON a.line = b.line JOIN lines c ON b.line = c.line;
            CREATE VIEW settings_{n} AS SELECT name, setting FROM pg_settings;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO fdw_reader""")
        connection.execute("VACUUM ANALYZE")
        self.load(connection)

    @staticmethod
    def load(connection) -> None:
        connection.execute("SELECT penumbra.load('orders'), penumbra.load('lines')")

    def _fill_coordinator(self, connection) -> None:
        connection.execute("CREATE EXTENSION penumbra; CREATE EXTENSION penumbra_test; CREATE EXTENSION postgres_fdw")
        for table in ("orders", "lines"):
            connection.execute(f"CREATE TABLE {table} ({SCHEMA[table]}) PARTITION BY RANGE (order_id)")
            connection.execute(f"CREATE TABLE local_{table} ({SCHEMA[table]})")
        fill(connection, "local_orders", "local_lines", 1, len(SERVERS) * ORDERS_PER_SERVER)
        for n, remote in self.remotes.items():
            connection.execute(f"""
                CREATE SERVER s{n} FOREIGN DATA WRAPPER postgres_fdw
                    OPTIONS (host '{remote.socket_directory}', port '5432', dbname 'postgres');
                CREATE USER MAPPING FOR CURRENT_USER SERVER s{n} OPTIONS (user 'fdw_reader')""")
            for option, value in SERVER_OPTIONS.items():
                connection.execute(f"ALTER SERVER s{n} OPTIONS (ADD {option} '{value}')")
            first, last = self.range(n)
            for table in ("orders", "lines"):
                connection.execute(f"""
                    CREATE FOREIGN TABLE {table}_{n} PARTITION OF {table} FOR VALUES FROM ({first}) TO ({last + 1})
                        SERVER s{n} OPTIONS (table_name '{table}')""")
            connection.execute(f"CREATE FOREIGN TABLE by_day_{n} ({SCHEMA['by_day']}) SERVER s{n} OPTIONS (table_name 'by_day')")
            for view in ("endless_{n}", "settings_{n}"):
                connection.execute(f"CREATE FOREIGN TABLE {view.format(n=n)} ({SCHEMA[view]}) SERVER s{n}")
        connection.execute("VACUUM ANALYZE")
        connection.execute("SELECT penumbra.load('local_orders'), penumbra.load('local_lines')")

    def connect(self, **settings: str):
        """To the coordinator, as the page recommends."""
        partitionwise = {"enable_partitionwise_aggregate": "on", "enable_partitionwise_join": "on"}
        return self.coordinator.connect(**(partitionwise | settings))

    def set_remote(self, connection, **settings: str) -> None:
        """Settings of the sessions that postgres_fdw opens from now on; by default one that the page recommends."""
        settings = {"cursor_tuple_fraction": "1"} | settings
        options = " ".join(f"-c {name.replace('__', '.')}={value}" for name, value in settings.items())
        for n in SERVERS:
            has = rows(connection, f"SELECT FROM pg_foreign_server WHERE srvname = 's{n}' AND srvoptions::text LIKE '%options=%'")
            connection.execute(sql.SQL("ALTER SERVER {} OPTIONS ({} options {})").format(
                sql.Identifier(f"s{n}"), sql.SQL("SET" if has else "ADD"), sql.Literal(options)))  # fmt: skip


@pytest.fixture(scope="module")
def cluster(make_server):
    return Cluster(make_server)




FOREIGN = {"orders": "orders", "lines": "lines"}
LOCAL = {"orders": "local_orders", "lines": "local_lines"}
BY_DAY = "SELECT day, status, sum(lines), sum(amount) FROM ({}) d GROUP BY 1, 2 ORDER BY 1, 2"
BY_DAY_FOREIGN = BY_DAY.format("SELECT * FROM by_day_1 UNION ALL SELECT * FROM by_day_2")
BY_DAY_LOCAL = BY_DAY.format("SELECT day, status, 1 AS lines, amount FROM local_orders JOIN local_lines USING (order_id)")
ENDLESS = "SELECT sum(found) FROM (SELECT found FROM endless_1 UNION ALL SELECT found FROM endless_2) e"


def remote_sql(connection, query: str) -> list[str]:
    plan = rows(connection, f"EXPLAIN (VERBOSE, COSTS OFF) {query}")
    return [line.partition("Remote SQL: ")[2] for (line,) in plan if "Remote SQL: " in line]


def async_scans(connection, query: str) -> int:
    return sum("Async Foreign Scan" in line for (line,) in rows(connection, f"EXPLAIN (COSTS OFF) {query}"))


def assert_same_as_local(connection, *queries: str) -> None:
    """Foreign tables in every mode of the coordinator, and the same rows in its own tables without Penumbra."""
    for query in queries or QUERIES.values():
        connection.execute("SET penumbra.mode = off")
        expected = rows(connection, query.format(**LOCAL))
        assert expected
        for mode in MODES:
            connection.execute(f"SET penumbra.mode = {mode}")
            assert rows(connection, query.format(**FOREIGN)) == expected, (mode, query)


class RemoteStatements:
    """What postgres_fdw had each server run, by its penumbra.statements."""

    def __init__(self, cluster: Cluster):
        self.connections = [remote.connect() for remote in cluster.remotes.values()]
        for connection in self.connections:
            connection.execute("SELECT penumbra.reset_statistics()")

    def counts(self) -> list[tuple[int, int, int]]:
        """Of each server: calls, of these in vectors, of these not at all."""
        return [rows(connection, """
            SELECT sum(calls)::int, sum(calls_in_vectors)::int, sum(calls_not)::int FROM penumbra.statements
            WHERE userid = 'fdw_reader'::regrole""")[0] for connection in self.connections]  # fmt: skip


def run_remotely(cluster: Cluster, connection, query: str) -> list[tuple[int, int, int]]:
    statements = RemoteStatements(cluster)
    assert rows(connection, query)
    counts = statements.counts()
    for remote in statements.connections:
        remote.close()
    return counts


@pytest.mark.parametrize("remote_mode", MODES)
def test_answers(cluster, remote_mode):
    with cluster.connect() as connection:
        cluster.set_remote(connection, penumbra__mode=remote_mode)
        for n in SERVERS:
            modes = f"SELECT setting FROM settings_{n} WHERE name = 'penumbra.mode'"
            assert rows(connection, modes) == [(remote_mode,)]
        assert_same_as_local(connection)
        assert rows(connection, BY_DAY_FOREIGN) == rows(connection, BY_DAY_LOCAL)


def test_what_is_sent(cluster):
    with cluster.connect() as connection:
        cluster.set_remote(connection)
        sent = {name: remote_sql(connection, query.format(**FOREIGN)) for name, query in QUERIES.items()}
        assert all(len(queries) == len(SERVERS) for name, queries in sent.items() if name != "SEMIJOIN")
        for query in sent["FILTER"]:
            assert "WHERE" in query and "part = 7" in query and "GROUP BY" not in query
        for query in sent["JOIN"]:
            assert "INNER JOIN" in query and "customer < 40" in query and "GROUP BY" not in query
        for query in sent["GROUPS_BY_KEY"]:
            assert "GROUP BY" in query and "HAVING" in query and "sum(amount)" in query
        for query in sent["JOINED_GROUPS_BY_KEY"]:
            assert "INNER JOIN" in query and "GROUP BY" in query and "HAVING" in query
        for query in [*sent["TOTALS"], *sent["OTHER_GROUPS"]]:
            assert query.endswith(" FROM public.lines") and "(" not in query


def test_what_is_sent_without_the_settings_here(cluster):
    with cluster.coordinator.connect() as connection:
        cluster.set_remote(connection)
        for query in (GROUPS_BY_KEY, JOINED_GROUPS_BY_KEY, JOIN):
            for sent in remote_sql(connection, query.format(**FOREIGN)):
                assert "GROUP BY" not in sent and "JOIN" not in sent


def test_servers_work_at_once(cluster):
    """That they do is seen, too, where both have a query to be cancelled."""
    query = GROUPS_BY_KEY.format(**FOREIGN)
    with cluster.connect() as connection:
        cluster.set_remote(connection)
        assert async_scans(connection, query) == len(SERVERS)
        connection.execute("ALTER SERVER s2 OPTIONS (SET async_capable 'false')")
        assert async_scans(connection, query) == 1
        connection.execute("ALTER SERVER s2 OPTIONS (SET async_capable 'true')")
        # an aggregate that is not sent is computed in part above each scan, and these wait for each other
        assert async_scans(connection, TOTALS.format(**FOREIGN)) == 0
        connection.execute("SET enable_partitionwise_aggregate = off")
        assert async_scans(connection, TOTALS.format(**FOREIGN)) == len(SERVERS)


@pytest.mark.parametrize("name", ["FILTER", "JOIN", "GROUPS_BY_KEY", "JOINED_GROUPS_BY_KEY"])
def test_runs_in_vectors_there(cluster, name):
    query = QUERIES[name].format(**FOREIGN)
    with cluster.connect() as connection:
        cluster.set_remote(connection)
        assert run_remotely(cluster, connection, query) == [(1, 1, 0)] * len(SERVERS)
        # how the page says to see it
        for sent, remote in zip(remote_sql(connection, query), cluster.remotes.values(), strict=True):
            with remote.connect(cursor_tuple_fraction="1") as there:
                plan = "\n".join(line for (line,) in rows(there, f"EXPLAIN {sent}"))
                assert "Custom Scan (Penumbra" in plan
        here = "\n".join(line for (line,) in rows(connection, f"EXPLAIN (ANALYZE) {query}"))
        assert "Foreign Scan" in here and "Penumbra" not in here


def test_cursors_are_planned_for_their_first_rows(cluster):
    """Either of the two ways of the page takes a query to vectors that is PostgreSQL's without."""
    query = JOINED_GROUPS_BY_KEY.format(**FOREIGN)
    with cluster.connect() as connection:
        cluster.set_remote(connection, cursor_tuple_fraction="0.1")
        assert run_remotely(cluster, connection, query) == [(1, 0, 1)] * len(SERVERS)
        connection.execute("ALTER SERVER s1 OPTIONS (DROP options); ALTER SERVER s2 OPTIONS (DROP options)")
        assert run_remotely(cluster, connection, query) == [(1, 0, 1)] * len(SERVERS)
        for remote in cluster.remotes.values():
            with remote.connect() as there:
                there.execute("ALTER ROLE fdw_reader SET cursor_tuple_fraction = 1")
    with cluster.connect() as connection:  # anew, and so are its sessions there
        assert run_remotely(cluster, connection, query) == [(1, 1, 0)] * len(SERVERS)
        for remote in cluster.remotes.values():
            with remote.connect() as there:
                there.execute("ALTER ROLE fdw_reader RESET cursor_tuple_fraction")


def test_views_that_aggregate(cluster):
    with cluster.connect() as connection:
        cluster.set_remote(connection)
        ((calls, _, calls_not),) = set(run_remotely(cluster, connection, BY_DAY_FOREIGN))
        assert (calls, calls_not) == (1, 0)
        for sent in remote_sql(connection, BY_DAY_FOREIGN):
            assert sent.startswith("SELECT day, status, lines, amount FROM public.by_day")
        assert rows(connection, BY_DAY_FOREIGN) == rows(connection, BY_DAY_LOCAL)


# Some are sent whole, others row by row.
WRITES = (
    "INSERT INTO {lines} SELECT order_id, 4, 7, order_id % 90, 'inserted' FROM {orders} WHERE order_id % 50 = 7",
    "UPDATE {lines} SET amount = amount + 50, note = 'updated' WHERE part = 7",
    "UPDATE {lines} l SET amount = 0 FROM {orders} o WHERE o.order_id = l.order_id AND o.customer = 12",
    "DELETE FROM {orders} WHERE customer = 13",
    "INSERT INTO {orders} VALUES (1, 1, '2024-02-29', 'open'), (10000, 2, NULL, NULL)",
)


def write(connection, statement: str) -> None:
    """The same to the foreign tables and to the coordinator's own."""
    counts = [connection.execute(statement.format(**tables)).rowcount for tables in (FOREIGN, LOCAL)]
    assert counts[0] == counts[1] > 0, statement


def test_reads_after_writes(cluster):
    with cluster.connect() as connection, cluster.connect() as other:
        for n in SERVERS:
            with cluster.remotes[n].connect() as there:
                there.execute("ALTER TABLE orders DROP CONSTRAINT orders_pkey")
        cluster.set_remote(connection, penumbra__mode="prefer")
        for statement in WRITES:
            before = rows(other, TOTALS.format(**FOREIGN))
            with connection.transaction():
                with connection.transaction(force_rollback=True):
                    write(connection, "DELETE FROM {lines} WHERE part < 50")
                    assert_same_as_local(connection, TOTALS)
                write(connection, statement)
                assert_same_as_local(connection, TOTALS, JOINED_GROUPS_BY_KEY)
                assert rows(other, TOTALS.format(**FOREIGN)) == before
        assert_same_as_local(connection)
        assert rows(other, BY_DAY_FOREIGN) == rows(connection, BY_DAY_LOCAL)


def is_running(remote) -> bool:
    """Whether the engine runs a query of postgres_fdw there."""
    with remote.connect() as connection:
        return rows(connection, """
            SELECT count(*) FROM pg_stat_activity a JOIN penumbra_test.budget() b USING (pid)
            WHERE usename = 'fdw_reader' AND state = 'active' AND b.callers > 0""") == [(1,)]  # fmt: skip


def is_at_rest(server) -> bool:
    """No query of postgres_fdw, and nobody has threads or memory of the engine."""
    with server.connect() as connection:
        return rows(connection, """
            SELECT callers + tickets + waiting + memory_bytes,
                (SELECT count(*) FROM pg_stat_activity WHERE usename = 'fdw_reader' AND state = 'active')
            FROM penumbra_test.budget() WHERE pid IS NULL""") == [(0, 0)]  # fmt: skip


@contextlib.contextmanager
def endless_query(cluster: Cluster, connection):
    """Goes on until both servers run their part of it; what it ended with and when, afterwards."""
    ended = {}

    def run() -> None:
        try:
            connection.execute(ENDLESS)
        except psycopg.Error as error:
            ended["error"] = error
        ended["at"] = time.monotonic()

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: all(is_running(remote) for remote in cluster.remotes.values()), "the servers do not run it")
    yield ended
    thread.join(SOON_SECONDS)
    assert not thread.is_alive()


def assert_ends_soon(cluster: Cluster, since: float) -> None:
    wait_until(lambda: all(is_at_rest(remote) for remote in cluster.remotes.values()), "it goes on over there")
    assert time.monotonic() - since < SOON_SECONDS
    assert is_at_rest(cluster.coordinator)


def end_by_timeout(connection, _cluster) -> None:
    """Which it has been waiting for."""


def end_by_cancel(connection, _cluster) -> None:
    connection.cancel()


def end_by_termination(connection, cluster) -> None:
    with cluster.coordinator.connect() as other:
        other.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))


@pytest.mark.parametrize(("end", "sqlstate"), [
    (end_by_timeout, "57014"), (end_by_cancel, "57014"), (end_by_termination, "57P01"),
])  # fmt: skip
def test_ends_on_the_servers(cluster, end, sqlstate):
    connection = cluster.connect(statement_timeout="3s" if end is end_by_timeout else "0")
    with contextlib.closing(connection):
        cluster.set_remote(connection)
        with endless_query(cluster, connection) as ended:
            end(connection, cluster)
        assert ended["error"].sqlstate == sqlstate
        assert_ends_soon(cluster, ended["at"])
        if not connection.closed:
            assert_same_as_local(connection, TOTALS)


def test_ends_when_the_coordinator_has_died(cluster):
    """With client_connection_check_interval, which a server needs to look for its client while it computes."""
    connection = cluster.connect()
    with contextlib.closing(connection):
        cluster.set_remote(connection, client_connection_check_interval="500ms")
        with endless_query(cluster, connection) as ended:
            cluster.coordinator.crash()
        assert connection.broken
    cluster.coordinator.start()
    assert_ends_soon(cluster, ended["at"])
    with cluster.connect() as connection:
        assert_same_as_local(connection, TOTALS)


def restart_remote(cluster: Cluster, n: int) -> None:
    remote = cluster.remotes[n]
    wait_until(lambda: not remote.processes(), "processes outlive their postmaster")
    remote.start()
    with remote.connect() as there:
        cluster.load(there)


def assert_goes_on_without(cluster: Cluster, connection) -> None:
    """The second server is away: the rest is as it was."""
    with pytest.raises(psycopg.errors.SqlclientUnableToEstablishSqlconnection, match='could not connect to server "s2"'):
        connection.execute(TOTALS.format(**FOREIGN))
    first, last = cluster.range(1)
    for query in (TOTALS, OTHER_GROUPS):
        query = query.replace("FROM {lines}", f"FROM {{lines}} WHERE order_id BETWEEN {first} AND {last}")
        assert_same_as_local(connection, query)
    connection.execute("SET penumbra.mode = require")
    assert rows(connection, TOTALS.format(**LOCAL))


def test_a_server_dies_between_two_fetches(cluster):
    with cluster.connect() as connection:
        cluster.set_remote(connection)
        connection.execute("ALTER SERVER s1 OPTIONS (SET fetch_size '100'); ALTER SERVER s2 OPTIONS (SET fetch_size '100')")
        connection.execute("BEGIN")
        connection.execute("DECLARE c CURSOR FOR SELECT order_id, amount FROM lines WHERE amount > 1")
        assert len(rows(connection, "FETCH 10 FROM c")) == 10
        os.kill(cluster.remotes[2].postmaster_pid(), signal.SIGKILL)
        with pytest.raises(psycopg.Error) as died:
            connection.execute("FETCH ALL FROM c")
        assert died.value.sqlstate == "08006"
        connection.execute("ROLLBACK")
        assert_goes_on_without(cluster, connection)
        restart_remote(cluster, 2)
        assert_same_as_local(connection)
        for n in SERVERS:
            connection.execute(f"ALTER SERVER s{n} OPTIONS (SET fetch_size '{SERVER_OPTIONS['fetch_size']}')")
        assert run_remotely(cluster, connection, GROUPS_BY_KEY.format(**FOREIGN)) == [(1, 1, 0)] * len(SERVERS)


def test_a_server_dies_while_it_computes(cluster):
    with cluster.connect() as connection:
        cluster.set_remote(connection)
        with endless_query(cluster, connection) as ended:
            cluster.remotes[2].crash()
        assert ended["error"].sqlstate == "08006"
        wait_until(lambda: is_at_rest(cluster.remotes[1]), "the other server goes on")
        assert_goes_on_without(cluster, connection)
        restart_remote(cluster, 2)
        assert_same_as_local(connection)
        assert is_at_rest(cluster.coordinator)
