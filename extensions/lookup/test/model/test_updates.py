"""Sessions on ready states move money between the same few accounts: none is lost or made, and no index differs."""

import random
import threading

import psycopg
import pytest

ACCOUNTS = 6
TRANSFERS = 150
SETUP = f"""
CREATE TABLE accounts (id int PRIMARY KEY, balance int, moved int) WITH (fillfactor = 40);
CREATE INDEX ON accounts (moved);
CREATE TABLE entries (account int REFERENCES accounts, amount int);
INSERT INTO accounts SELECT i, 1000, 0 FROM generate_series(1, {ACCOUNTS}) i;
ANALYZE accounts;
"""
STATEMENTS = {
    "add(int, int)": "UPDATE accounts SET balance = balance + $2 WHERE id = $1 RETURNING balance",
    "add_indexed(int, int)": "UPDATE accounts SET balance = balance + $2, moved = moved + 1 WHERE id = $1 RETURNING balance",
    "add_if_rich(int, int)": "UPDATE accounts SET balance = balance + $2 WHERE id = $1 AND balance > 900 RETURNING balance",
}


def transfer(connection: psycopg.Connection, rng: random.Random, isolation: str) -> None:
    payer, payee = rng.sample(range(1, ACCOUNTS + 1), 2)
    amount = rng.randrange(1, 50)
    name = rng.choice(("add", "add_indexed", "add_if_rich"))
    connection.execute(f"BEGIN ISOLATION LEVEL {isolation}")
    paid = connection.execute(f"EXECUTE {name}({payer}, {-amount})").fetchall()
    if paid and rng.random() < 0.9:
        connection.execute(f"EXECUTE add_indexed({payee}, {amount})")
        connection.execute("INSERT INTO entries VALUES (%s, %s)", (payee, amount))
        connection.execute("COMMIT")
    else:
        connection.execute("ROLLBACK")


def work(
    connection: psycopg.Connection, seed: int, isolation: str, failures: list, transfers: int = TRANSFERS
) -> None:
    rng = random.Random(seed)
    try:
        for _ in range(transfers):
            try:
                transfer(connection, rng, isolation)
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
                connection.execute("ROLLBACK")
    except Exception as error:  # noqa: BLE001
        failures.append(error)


def prepare(connection: psycopg.Connection) -> None:
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET deadlock_timeout = '10ms'")
    for name, statement in STATEMENTS.items():
        connection.execute(f"PREPARE {name} AS {statement}")


def check_accounts(connection: psycopg.Connection) -> None:
    total = "SELECT count(*), sum(balance) FROM accounts"
    assert connection.execute(total).fetchone() == (ACCOUNTS, ACCOUNTS * 1000)
    connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
    connection.execute("SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'accounts'::regclass")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ"])
def test_concurrent_transfers(server, seed, isolation):
    failures: list[Exception] = []
    with server.connect("ready") as first, server.connect("ready") as second, server.connect("ready") as third:
        connections = (first, second, third)
        for connection in connections:
            connection.autocommit = True
        first.execute(SETUP)
        first.execute("CREATE EXTENSION penumbra_lookup")
        for connection in connections:
            prepare(connection)
        workers = [threading.Thread(target=work, args=(connection, seed + number, isolation, failures))
                   for number, connection in enumerate(connections)]  # fmt: skip
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not failures
        check_accounts(first)
        assert first.execute("SELECT count(*) > 50 FROM entries").fetchone()[0]
        outcomes = dict(first.execute("SELECT outcome, executions FROM penumbra_lookup.executions").fetchall())
        assert outcomes["ready"] > TRANSFERS / 2, str(outcomes)


@pytest.mark.timeout(300)
def test_crash(server, seed):
    """What a crash breaks off is undone, and what was committed is there."""
    failures: list[Exception] = []
    with server.connect("ready") as connection:
        connection.autocommit = True
        connection.execute(SETUP)
        connection.execute("CREATE EXTENSION penumbra_lookup")
    for _ in range(3):
        connections = [server.connect("ready") for _ in range(3)]
        for connection in connections:
            connection.autocommit = True
            prepare(connection)
        workers = [threading.Thread(target=work, args=(connection, seed + number, "READ COMMITTED", failures, 10**6))
                   for number, connection in enumerate(connections)]  # fmt: skip
        with server.connect("ready") as connection:
            connection.autocommit = True
            count = "SELECT count(*) FROM entries"
            before = connection.execute(count).fetchone()[0]
            for worker in workers:
                worker.start()
            while connection.execute(count).fetchone()[0] < before + 100:
                assert not failures
        server.crash()
        for worker in workers:
            worker.join()
        assert all(isinstance(failure, psycopg.OperationalError) for failure in failures), failures
        failures.clear()
        server.start()
        with server.connect("ready") as connection:
            check_accounts(connection)
