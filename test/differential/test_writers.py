"""Readers in both modes beside writers and vacuum, at each isolation level."""

import itertools
import random
import threading
import time

import psycopg
import pytest
from harness import assert_verified

ACCOUNTS = 20000
TOTAL = ACCOUNTS * 1000
SECONDS = 8.0
SUM = "SELECT sum(balance), count(*), sum(balance) FILTER (WHERE owner LIKE 'o%'), max(id) FROM accounts"
BY_BRANCH = "SELECT branch, sum(balance), count(*), min(owner) FROM accounts GROUP BY branch ORDER BY branch"


@pytest.fixture()
def accounts(server):
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS penumbra")
        connection.execute("DROP TABLE IF EXISTS accounts")
        connection.execute(
            "CREATE TABLE accounts (id integer PRIMARY KEY, branch integer, balance numeric(12,2),"
            " owner text, changed timestamptz)"
        )
        connection.execute(
            "INSERT INTO accounts SELECT g, g %% 40, 1000, 'owner ' || g %% 977, now()"
            " FROM generate_series(1, %s) AS g",
            (ACCOUNTS,),
        )
        connection.execute("VACUUM ANALYZE accounts")
        connection.execute("SELECT penumbra.load('accounts')")
    yield
    with server.connect() as connection:
        connection.execute("DROP TABLE accounts")


class Traffic:
    """Threads that write until told to stop; the first failure of any is kept."""

    def __init__(self, server):
        self.server = server
        self.stop = threading.Event()
        self.failures: list[BaseException] = []
        self.threads: list[threading.Thread] = []
        self.done: dict[str, int] = {}

    def start(self, name: str, step) -> None:
        def body() -> None:
            try:
                with self.server.connect() as connection:
                    choose = random.Random(name)
                    while not self.stop.is_set():
                        step(connection, choose)
                        self.done[name] = self.done.get(name, 0) + 1
            except BaseException as failure:  # noqa: BLE001
                self.failures.append(failure)
                self.stop.set()

        self.threads.append(threading.Thread(target=body, name=name))
        self.threads[-1].start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(60)


def _transfer(level: str):
    def step(connection: psycopg.Connection, choose: random.Random) -> None:
        source, target = choose.sample(range(1, ACCOUNTS + 1), 2)
        amount = choose.randint(1, 500)
        try:
            with connection.transaction():
                connection.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
                for account, change in sorted([(source, -amount), (target, amount)]):
                    connection.execute(
                        "UPDATE accounts SET balance = balance + %s, changed = now() WHERE id = %s",
                        (change, account),
                    )
                if choose.random() < 0.1:
                    raise psycopg.Rollback
        except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
            pass

    return step


def _vacuum(connection: psycopg.Connection, choose: random.Random) -> None:
    connection.execute("VACUUM accounts")
    time.sleep(0.02)


def _refresh(connection: psycopg.Connection, choose: random.Random) -> None:
    connection.execute("SELECT penumbra.refresh('accounts')")
    time.sleep(0.05)


def _replace_rows(connection: psycopg.Connection, choose: random.Random) -> None:
    """Deletes accounts and inserts them again under another page."""
    first = choose.randint(1, ACCOUNTS - 20)
    with connection.transaction():
        connection.execute(
            "WITH gone AS (DELETE FROM accounts WHERE id BETWEEN %s AND %s RETURNING *)"
            " INSERT INTO accounts SELECT id + 1000000, branch, balance, owner, now() FROM gone",
            (first, first + 10),
        )
        connection.execute("UPDATE accounts SET id = id - 1000000 WHERE id > 1000000")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
def test_money_is_neither_made_nor_lost(server, accounts, level):
    with server.connect() as reader, Traffic(server) as traffic:
        for number in range(2):
            traffic.start(f"transfer {number}", _transfer(level))
        traffic.start("vacuum", _vacuum)
        traffic.start("refresh", _refresh)
        deadline = time.monotonic() + SECONDS
        rounds = 0
        while time.monotonic() < deadline and not traffic.failures:
            rounds += 1
            _read_once(reader, level)
            _read_pair(reader, level)
    assert not traffic.failures, traffic.failures
    assert rounds > 5
    assert all(traffic.done.get(thread.name, 0) > 3 for thread in traffic.threads), traffic.done
    with server.connect() as connection:
        assert_verified(connection, "accounts", may_be_stale=True)
        connection.execute("VACUUM accounts")
        connection.execute("SELECT penumbra.refresh('accounts')")
        assert_verified(connection, "accounts")


def _read_once(reader: psycopg.Connection, level: str) -> None:
    """A sum over a table that is written all the time must be what every commit left."""
    reader.execute("SET penumbra.mode = 'require'")
    try:
        with reader.transaction():
            reader.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            total, count, *_ = reader.execute(SUM).fetchone()
    except psycopg.errors.SerializationFailure:
        return
    assert (total, count) == (TOTAL, ACCOUNTS)


def _read_pair(reader: psycopg.Connection, level: str) -> None:
    """Within one snapshot both executors see the same rows."""
    snapshot_level = "REPEATABLE READ" if level == "READ COMMITTED" else level
    try:
        with reader.transaction():
            reader.execute(f"SET TRANSACTION ISOLATION LEVEL {snapshot_level}")
            answers = []
            for mode in ("require", "off", "require"):
                reader.execute(f"SET LOCAL penumbra.mode = '{mode}'")
                answers.append(reader.execute(BY_BRANCH).fetchall())
    except psycopg.errors.SerializationFailure:
        return
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.timeout(300)
def test_rows_that_move_between_pages_are_seen_once(server, accounts):
    with server.connect() as reader, Traffic(server) as traffic:
        traffic.start("replace", _replace_rows)
        traffic.start("vacuum", _vacuum)
        traffic.start("refresh", _refresh)
        reader.execute("SET penumbra.mode = 'require'")
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and not traffic.failures:
            assert reader.execute(
                "SELECT count(*), count(DISTINCT id), sum(id), sum(balance),"
                " count(*) FILTER (WHERE branch <> id % 40) FROM accounts"
            ).fetchone() == (ACCOUNTS, ACCOUNTS, ACCOUNTS * (ACCOUNTS + 1) // 2, TOTAL, 0)
    assert not traffic.failures, traffic.failures


@pytest.mark.timeout(120)
def test_a_transaction_sees_its_own_writes(server, accounts):
    with server.connect() as connection:
        connection.execute("SET penumbra.mode = 'require'")
        for level in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
            with connection.transaction(force_rollback=True):
                connection.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
                connection.execute("UPDATE accounts SET balance = balance + 1 WHERE id % 50 = 0")
                changed = ACCOUNTS // 50
                assert connection.execute(SUM).fetchone()[0] == TOTAL + changed
                with connection.transaction(force_rollback=True):
                    connection.execute("DELETE FROM accounts WHERE branch = 7")
                    assert connection.execute(SUM).fetchone()[1] == ACCOUNTS - ACCOUNTS // 40
                assert connection.execute(SUM).fetchone()[0] == TOTAL + changed
        assert connection.execute(SUM).fetchone()[0] == TOTAL


@pytest.mark.timeout(120)
def test_write_skew_is_found(server, accounts):
    """Two SERIALIZABLE transactions that each read what the other writes: one must fail."""
    skewed = 0
    for mode in ("off", "require"):
        with server.connect() as left, server.connect() as right:
            for connection in (left, right):
                connection.execute(f"SET penumbra.mode = '{mode}'")
                connection.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
                connection.execute(SUM).fetchone()
            failed = 0
            for connection, account in ((left, 11), (right, 19999)):
                try:
                    connection.execute(
                        "UPDATE accounts SET balance = balance WHERE id = %s", (account,)
                    )
                    connection.execute("COMMIT")
                except psycopg.errors.SerializationFailure:
                    connection.execute("ROLLBACK")
                    failed += 1
            assert failed == 1, mode
            skewed += failed
    assert skewed == 2


@pytest.mark.timeout(120)
def test_an_old_snapshot_keeps_its_rows(server, accounts):
    """A snapshot from before a change sees the old rows, also after vacuum and a reload."""
    with server.connect() as old, server.connect() as writer:
        old.execute("SET penumbra.mode = 'require'")
        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        before = old.execute(BY_BRANCH).fetchall()
        for step in itertools.chain(
            [
                "UPDATE accounts SET balance = 0 WHERE branch < 20",
                "DELETE FROM accounts WHERE branch = 30",
            ],
            [
                "VACUUM accounts",
                "SELECT penumbra.refresh('accounts')",
                "SELECT penumbra.load('accounts')",
            ],
        ):
            writer.execute(step)
            assert old.execute(BY_BRANCH).fetchall() == before, step
        old.execute("COMMIT")
        assert old.execute(BY_BRANCH).fetchall() != before


@pytest.mark.timeout(120)
def test_a_cursor_reads_what_it_began_with(server, accounts):
    with server.connect() as reader, server.connect() as writer:
        reader.execute("SET penumbra.mode = 'require'")
        reader.execute("BEGIN")
        # a join, because a cursor over one table alone keeps PostgreSQL's scan
        reader.execute(
            "DECLARE c CURSOR FOR SELECT id, balance FROM accounts, generate_series(1, 1)"
            " WHERE branch >= 0"
        )
        rows = reader.execute("FETCH 1000 FROM c").fetchall()
        writer.execute("UPDATE accounts SET balance = -1")
        writer.execute("VACUUM accounts")
        while block := reader.execute("FETCH 3000 FROM c").fetchall():
            rows += block
        reader.execute("COMMIT")
        assert len(rows) == ACCOUNTS
        assert all(balance == 1000 for _, balance in rows)
