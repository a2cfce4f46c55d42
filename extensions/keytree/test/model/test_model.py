"""Random work on tables with keytree indexes; the heap, read sequentially, says what the answers are."""

import os
import random
import threading
import time

import psycopg
import pytest
from conftest import SCANS, answer, assert_index_is_heap

SECONDS = float(os.environ.get("KEYTREE_TEST_SECONDS", "12"))
# How a key is made of a number.
KEYS = {
    "int2": "((({n}) % 65536) - 32768)::int2",
    "int4": "(({n})::int8 * 4001 % 2147483647)::int4",
    "int8": "(({n})::int8 % 1048576 * 8796093022207 - 4611686018427387904)",
    "uuid": "md5((({n}) / 2)::text)::uuid",
    "timestamp": "(timestamp '1990-01-01' + ({n}) * interval '1 minute')",
}


class Model:
    """One table per key type; duplicates come in runs, NULLs now and then."""

    def __init__(self, connection: psycopg.Connection, seed: int) -> None:
        self.connection = connection
        self.random = random.Random(seed)
        for name, expression in KEYS.items():
            connection.execute(
                f"CREATE TABLE {name}_t (n int, k {name}, pad text DEFAULT repeat('x', 20))"
            )
            connection.execute(f"CREATE INDEX {name}_i ON {name}_t USING keytree (k)")
            assert "{n}" in expression

    def key(self, name: str, number: str) -> str:
        return f"CASE WHEN ({number}) % 29 = 7 THEN NULL ELSE {KEYS[name].format(n=number)} END"

    def change(self, name: str) -> None:
        pick, table = self.random, f"{name}_t"
        start, rows = pick.randrange(1 << 20), pick.choice((1, 10, 300, 3000))
        numbers = pick.choice((f"{start} + i", f"{start} + i * 101", f"{start} - i", f"{start} + i / 40",
                               f"(({start} + i)::int8 * 7919) % 1048576", f"{start} % 1000"))  # fmt: skip
        statement = pick.choice((
            f"INSERT INTO {table} SELECT abs(m), {self.key(name, 'abs(m)')} FROM generate_series(1, {rows}) i,"
            f" LATERAL (SELECT ({numbers})::int8 AS m) x",
            f"DELETE FROM {table} WHERE n BETWEEN {start} AND {start + rows * 30}",
            f"DELETE FROM {table} WHERE n % {pick.randrange(2, 9)} = 0 AND n < {start}",
            f"UPDATE {table} SET pad = pad || 'y' WHERE n BETWEEN {start} AND {start + rows * 3}",
            f"UPDATE {table} SET n = n + 1, k = {self.key(name, 'n + 1')} WHERE n % 7 = {start % 7} AND n > {start}",
            f"VACUUM {table}",
            f"VACUUM (INDEX_CLEANUP ON) {table}",
            f"REINDEX INDEX {name}_i",
        ))  # fmt: skip
        self.connection.execute(statement)

    def query(self, name: str) -> str:
        pick = self.random
        bounds = [KEYS[name].format(n=pick.randrange(1 << 20)) for _ in range(12)]
        conditions = [f"k {operator} {bounds[0]}" for operator in ("<", "<=", "=", ">=", ">")]
        conditions += [f"k BETWEEN {bounds[1]} AND {bounds[2]}", f"k > {bounds[3]} AND k <= {bounds[4]} AND k < {bounds[5]}",
                       f"k = ANY (ARRAY[{', '.join(bounds)}])",
                       f"k = ANY (ARRAY(SELECT k FROM {name}_t WHERE n % 97 = {pick.randrange(97)}))",
                       "k IS NULL", "k IS NOT NULL", "true"]  # fmt: skip
        inner = (f"SELECT k FROM {name}_t WHERE {pick.choice(conditions)} ORDER BY k {pick.choice(('', 'DESC'))}"
                 f" {pick.choice(('', f'LIMIT {pick.randrange(1, 2000)}'))}")  # fmt: skip
        return f"SELECT count(*), md5(string_agg(coalesce(k::text, '-'), ',')) FROM ({inner}) AS t"


@pytest.mark.timeout(900)
def test_one_session(server, seed):
    with server.connect() as connection:
        connection.autocommit = True
        model = Model(connection, seed)
        deadline = time.monotonic() + SECONDS
        steps = 0
        while steps <= 20 or time.monotonic() < deadline:
            name = model.random.choice(tuple(KEYS))
            model.change(name)
            steps += 1
            query = model.query(name)
            expected = answer(connection, "seqscan", query)
            for scan in SCANS:
                assert answer(connection, scan, query) == expected, (scan, query)
            if steps % 25 == 0:
                assert_index_is_heap(connection, f"{name}_t", "k")
        for name in KEYS:
            assert_index_is_heap(connection, f"{name}_t", "k")
        print(f"{steps} steps")


class Workers:
    """Threads that run until told; the first error ends all."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.errors: list[BaseException] = []
        self.threads: list[threading.Thread] = []

    def start(self, work, *arguments) -> None:
        def run() -> None:
            try:
                while not self.stop.is_set():
                    work(*arguments)
            except BaseException as error:
                self.errors.append(error)
                self.stop.set()

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def finish(self, seconds: float, is_enough=lambda: True) -> None:
        """After that time, or when it is enough; if it never is, pytest's limit ends the test."""
        self.stop.wait(seconds)
        while not is_enough() and not self.stop.wait(0.1):
            pass
        self.stop.set()
        for thread in self.threads:
            thread.join(120)
        if self.errors:
            raise self.errors[0]


def _open(server) -> psycopg.Connection:
    connection = server.connect()
    connection.autocommit = True
    return connection


def _write(session: psycopg.Connection, pick: random.Random, owner: int) -> None:
    start, rows = pick.randrange(100000), pick.choice((1, 20, 500))
    step = pick.choice((0, 1, 17, -1))
    insert = f"INSERT INTO t SELECT {owner}, {start} + i * {step}, md5(i::text)::uuid, 'x' FROM generate_series(1, {rows}) i"
    session.execute(pick.choice((
        insert, insert,
        f"DELETE FROM t WHERE owner = {owner} AND k BETWEEN {start} AND {start + 20000}",
        f"UPDATE t SET k = k + 1 WHERE owner = {owner} AND k BETWEEN {start} AND {start + 500}",
        f"BEGIN; {insert}; ROLLBACK")))  # fmt: skip


@pytest.mark.timeout(900)
@pytest.mark.slow
def test_concurrent_sessions(server, seed):
    """Readers compare index and heap in one snapshot while others insert, delete, update and vacuum."""
    with _open(server) as connection:
        connection.execute("CREATE TABLE t (owner int, k int8, u uuid, pad text)")
        connection.execute("CREATE INDEX t_k ON t USING keytree (k)")
        connection.execute("CREATE INDEX t_u ON t USING keytree (u)")
        counts = {"checks": 0, "writes": 0, "vacuums": 0}

        def write(session: psycopg.Connection, pick: random.Random, owner: int) -> None:
            _write(session, pick, owner)
            counts["writes"] += 1

        def vacuum(session: psycopg.Connection) -> None:
            session.execute("VACUUM (INDEX_CLEANUP ON) t")
            counts["vacuums"] += 1

        def read(session: psycopg.Connection, pick: random.Random) -> None:
            low = pick.randrange(110000)
            high = low + pick.choice((0, 5, 1000, 200000))
            column, condition = pick.choice((
                ("k", f"k BETWEEN {low} AND {high}"), ("k", f"k = ANY (ARRAY(SELECT generate_series({low}, {high}, 3)))"),
                ("u", f"u = md5('{low % 600}')::uuid"), ("u", "true")))  # fmt: skip
            query = (f"SELECT count(*), md5(string_agg({column}::text, ',')) FROM (SELECT {column} FROM t"
                     f" WHERE {condition} ORDER BY {column} {pick.choice(('', 'DESC'))}) AS t")  # fmt: skip
            with session.transaction():
                session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                found = {scan: answer(session, scan, query) for scan in (*SCANS, "seqscan")}
            assert all(rows == found["seqscan"] for rows in found.values()), (query, found)
            counts["checks"] += 1

        workers = Workers()
        for number in range(3):
            workers.start(write, _open(server), random.Random(f"{seed} {number}"), number)
        for number in range(2):
            workers.start(read, _open(server), random.Random(f"{seed} reader {number}"))
        workers.start(vacuum, _open(server))
        workers.finish(SECONDS, lambda: min(counts.values()) > 5)
        print(counts)
        assert_index_is_heap(connection, "t", "k")
        assert_index_is_heap(connection, "t", "u")


@pytest.mark.timeout(900)
@pytest.mark.slow
def test_builds_beside_writers(server, seed):
    """Builds with two workers, concurrent ones too, are whole whatever the others write meanwhile."""
    with _open(server) as connection:
        connection.execute("""
            CREATE TABLE t (owner int, k int8, u uuid, pad text) WITH (parallel_workers = 2, fillfactor = 70);
            INSERT INTO t SELECT 9, i, md5(i::text)::uuid, 'x' FROM generate_series(1, 50000) i;
            SET maintenance_work_mem = '96MB'""")
        workers = Workers()
        for number in range(2):
            workers.start(_write, _open(server), random.Random(f"{seed} {number}"), number)
        pick = random.Random(f"{seed} builder")
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and not workers.stop.is_set():
            column = pick.choice("ku")
            concurrently = pick.choice(("", "CONCURRENTLY"))
            connection.execute(f"CREATE INDEX {concurrently} built ON t USING keytree ({column})")
            connection.execute("UPDATE t SET pad = 'y' WHERE owner = 9 AND k % 20 = 0")
            connection.execute(f"REINDEX INDEX {pick.choice(('', 'CONCURRENTLY'))} built")
            connection.execute("SELECT penumbra_keytree.keytree_check('built')")
            connection.execute("DROP INDEX built")
        workers.finish(0)
        connection.execute("CREATE INDEX built ON t USING keytree (k)")
        assert_index_is_heap(connection, "t", "k")


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_readers_disturbed_by_writers(server, seed):
    """The last leaf is read while it is written, until some reads without lock had to be done again."""
    with _open(server) as connection:
        connection.execute("CREATE UNLOGGED TABLE t (owner int, k int8)")
        connection.execute("CREATE INDEX t_k ON t USING keytree (k)")
        connection.execute("INSERT INTO t SELECT 0, 1000000 + i FROM generate_series(1, 100) i")
        disturbed = [0, 0]

        def write(session: psycopg.Connection, pick: random.Random) -> None:
            # just before the rows of owner 0; VACUUM leaves no other page, so the next ones go there too
            rows = pick.choice((100, 20000))
            session.execute(f"INSERT INTO t SELECT 1, i FROM generate_series(1, {rows}) i")
            session.execute("DELETE FROM t WHERE owner = 1")
            session.execute("VACUUM (INDEX_CLEANUP ON) t")

        def compare_scans(session: psycopg.Connection, pick: random.Random) -> None:
            query = f"SELECT count(*), sum(k), min(k), max(k) FROM (SELECT k FROM t ORDER BY k {pick.choice(('', 'DESC'))}) x"
            with session.transaction():
                session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                found = {scan: answer(session, scan, query) for scan in (*SCANS, "seqscan")}
            assert all(rows == found["seqscan"] for rows in found.values()), found

        def read(session: psycopg.Connection, pick: random.Random, number: int) -> None:
            if pick.random() < 0.03:
                compare_scans(session, pick)
            # each takes all entries of the last page, which is long enough for the writer to come in between
            lookups = (
                "SELECT min(last), max(last), count(*) FROM generate_series(1, 2000) g,"
                " LATERAL (SELECT k AS last FROM t WHERE k > g - g ORDER BY k DESC LIMIT 1) x"
            )
            scan = pick.choice(("indexscan", "indexonlyscan"))
            assert answer(session, scan, lookups) == [(1000100, 1000100, 2000)]
            disturbed[number] = session.execute(
                "SELECT disturbed FROM penumbra_keytree.keytree_leaf_reads()"
            ).fetchone()[0]
            if sum(disturbed) >= 3:
                workers.stop.set()

        workers = Workers()
        workers.start(write, _open(server), random.Random(f"{seed} writer"))
        for number in range(2):
            workers.start(read, _open(server), random.Random(f"{seed} {number}"), number)
        workers.finish(120)
        assert_index_is_heap(connection, "t", "k")
        if sum(disturbed) == 0:  # that is the scheduler's doing
            pytest.skip("no writer came between two looks of a reader")
