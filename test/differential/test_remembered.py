"""Patterns that are asked again and again of a table that changes: what is remembered of them is never wrong.

After each step of a random history, and beside writers that never stop, each session asks the same few patterns by
PostgreSQL's executor and in vectors, within one snapshot.
"""

import random
import re
import threading
import time

import psycopg
import pytest
from harness import assert_verified

ROWS = 9000
PATTERNS = (
    "url LIKE '%Rare%'",
    "url LIKE '%7f%'",
    "url NOT LIKE '%/a%'",
    "url ~ '[0-9]{5}.*(Rare|ff)'",
    "url ILIKE '%rare%' AND id < 6000",
    "id % 7 = 3 AND url LIKE '%ab%'",
    "length(url) > 50 OR url IS NULL",
    "url LIKE '%nowhere%'",
)
TABLE = f"""
CREATE EXTENSION IF NOT EXISTS penumbra;
DROP TABLE IF EXISTS pages;
CREATE TABLE pages (id integer, url text) WITH (fillfactor = 90);
INSERT INTO pages SELECT g, 'https://example.org/' || md5(g::text) || CASE WHEN g % 90 = 0 THEN 'Rare' ELSE '' END
FROM generate_series(1, {ROWS}) AS g;
CREATE INDEX ON pages (id);
VACUUM (ANALYZE, FREEZE) pages;
SELECT penumbra.load('pages');
"""
NEW_URL = "CASE id % 5 WHEN 0 THEN NULL WHEN 1 THEN 'Rare 12345 ' || id ELSE md5(random()::text) END"
SECONDS = 3


@pytest.fixture()
def pages(server):
    with server.connect() as connection:
        for statement in TABLE.split(";\n"):
            if statement.strip():
                connection.execute(statement)
    yield
    with server.connect() as connection:
        connection.execute("DROP TABLE pages")


def ask(connection: psycopg.Connection, pattern: str) -> None:
    """In one snapshot: the connection is in a transaction that keeps it."""
    query = f"SELECT count(*), sum(id), min(url), max(url) FROM pages WHERE {pattern}"
    answers = {}
    for mode in ("off", "auto"):
        connection.execute(f"SET LOCAL penumbra.mode = {mode}")
        answers[mode] = connection.execute(query).fetchall()
    assert answers["auto"] == answers["off"], (pattern, answers)


def known_rows(connection: psycopg.Connection, pattern: str) -> int:
    lines = connection.execute(f"EXPLAIN (ANALYZE, COSTS OFF) SELECT count(*) FROM pages WHERE {pattern}").fetchall()
    return sum(int(found[1]) for (line,) in lines if (found := re.search(r"Remembered Filters: (\d+) rows", line)))


def few(choose: random.Random) -> str:
    first = choose.randrange(ROWS)
    return f"id BETWEEN {first} AND {first + choose.choice((0, 3, 40, 700))}"


def change(connection: psycopg.Connection, choose: random.Random) -> None:
    where = few(choose)
    connection.execute(choose.choice((
        f"UPDATE pages SET url = {NEW_URL} WHERE {where}",
        f"DELETE FROM pages WHERE {where} AND id % 3 = 0",
        f"INSERT INTO pages SELECT id, {NEW_URL} FROM pages WHERE {where}",
        f"SELECT FROM pages WHERE {where} FOR UPDATE",
    )))  # fmt: skip


def change_in_part(connection: psycopg.Connection, choose: random.Random) -> None:
    """Own writes, some of them undone, that the session sees before they end."""
    connection.execute("BEGIN")
    change(connection, choose)
    connection.execute("SAVEPOINT part")
    change(connection, choose)
    ask(connection, choose.choice(PATTERNS))
    if choose.random() < 0.5:
        connection.execute("ROLLBACK TO part")
    ask(connection, choose.choice(PATTERNS))
    connection.execute(choose.choice(("COMMIT", "ROLLBACK")))


def keep_house(connection: psycopg.Connection, choose: random.Random) -> None:
    step = choose.choices(
        ("VACUUM pages", "VACUUM (FREEZE) pages", "SELECT penumbra.refresh('pages')", "SELECT penumbra.unload('pages')",
         "TRUNCATE pages", "ALTER TABLE pages ALTER url TYPE varchar", "VACUUM FULL pages",
         "ALTER TABLE pages DROP COLUMN IF EXISTS more, ADD COLUMN more integer DEFAULT 1"),
        (8, 2, 8, 3, 1, 1, 1, 1),
    )[0]  # fmt: skip
    connection.execute("SET lock_timeout = '20ms'")
    try:
        connection.execute(step)
    except psycopg.errors.LockNotAvailable:
        return
    if step.startswith("TRUNCATE"):
        connection.execute(f"INSERT INTO pages (id, url) SELECT g, md5(g::text) FROM generate_series(1, {ROWS}) AS g")
    if not step.startswith(("VACUUM (", "VACUUM p")):
        connection.execute("SELECT penumbra.load('pages')")


@pytest.mark.timeout(300)
def test_histories(server, pages, pytestconfig):
    choose = random.Random(pytestconfig.getoption("seed"))
    known = 0
    with server.connect() as writer, server.connect() as reader, server.connect() as old:
        for step in range(pytestconfig.getoption("histories") // 25):
            # TRUNCATE and ALTER TABLE find their moment while there is no old snapshot.
            if step % 12 == 4:
                old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                old.execute("SELECT count(*) FROM pages")
            choose.choices((change, change_in_part, keep_house), (6, 3, 4))[0](writer, choose)
            reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            for pattern in choose.sample(PATTERNS, 2):
                ask(reader, pattern)
                if step % 12 >= 4:
                    ask(old, pattern)
            known += known_rows(reader, choose.choice(PATTERNS))
            reader.execute("COMMIT")
            if step % 12 == 11:
                old.execute("COMMIT")
        assert known > step * ROWS / 10
        assert_verified(reader, "pages", may_be_stale=True)


@pytest.mark.timeout(300)
def test_many_sessions_learn_at_once(server, pages):
    stop, failures, asked = threading.Event(), [], []

    def run(number: int) -> None:
        choose = random.Random(number)
        try:
            with server.connect() as connection:
                while not stop.is_set():
                    if number == 0:
                        choose.choice((change, keep_house))(connection, choose)
                        continue
                    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                    for pattern in choose.sample(PATTERNS, 3):
                        ask(connection, pattern)
                    connection.execute("COMMIT")
                    asked.append(number)
        except psycopg.errors.SerializationFailure:
            pass
        except BaseException as failure:  # noqa: BLE001
            failures.append(failure)
            stop.set()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and not failures:
        time.sleep(0.1)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert len(set(asked)) == 3
