"""Random histories of every operation on the tuples of a few pages.

One driver makes one step after the other, in several sessions with open transactions. After each step every session
that has a transaction, and one that has none, reads twice within one snapshot, by PostgreSQL's executor and from the
cache; the rows must be the same.
Nothing runs beside the driver, so a seed is a history.
"""

import random
import time
from collections import Counter, deque

import psycopg
import pytest
from harness import assert_verified
from penumbra_lab.server import PrivateServer, run_directory
from psycopg.adapt import Transformer
from psycopg.pq import ExecStatus, TransactionStatus

LEVELS = ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
STRENGTHS = ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")
CALM_STEPS = ("vacuum", "freeze", "no skipping", "transactions", "finish prepared", "look")
WRITERS = 3
ROWS = 150
# Rows that no step changes fill pages of the same chunk: a table is never changed as a whole.
STILL = 1_000_000
# A writer that waits waits for an idle session, so for ever.
LOCK_TIMEOUT = "5ms"
QUERIES = (
    "SELECT id, k, n, note FROM histories",
    "SELECT id, note FROM histories WHERE k % 3 = 1",
    "SELECT count(*), sum(n), min(k), max(note), count(note) FROM histories",
    "SELECT k % 5, count(*), sum(n), min(id) FROM histories WHERE n > 2 GROUP BY k % 5",
)
TABLE = """
CREATE TABLE histories (id integer, k integer, n integer, note text, filler char(300)) WITH (fillfactor = 80);
ALTER TABLE histories ALTER note SET STORAGE EXTERNAL;
ALTER TABLE histories ALTER filler SET STORAGE PLAIN;
INSERT INTO histories SELECT 1000000 + g, g, g, 'still', 'x' FROM generate_series(1, 60) AS g;
INSERT INTO histories SELECT g, g % 7, 0, 'note ' || g, 'x' FROM generate_series(1, 150) AS g;
CREATE UNIQUE INDEX ON histories (id);
CREATE INDEX ON histories (k);
"""


def are_same(rows: list[tuple], others: list[tuple]) -> bool:
    return rows == others or sorted(rows, key=repr) == sorted(others, key=repr)


class Session:
    def __init__(self, server, name: str, threads: int = 0):
        self.name = name
        self.connection = server.connect(
            lock_timeout=LOCK_TIMEOUT, statement_timeout="20min", penumbra__threads_per_query=str(threads),
            plan_cache_mode="force_generic_plan",
        )  # fmt: skip
        self.numbers: dict[str, int] = {}  # of queries that are prepared, for either mode
        self.savepoints: list[str] = []
        self.cursor_rows: list | None = None  # what an open cursor will give in all

    @property
    def status(self) -> TransactionStatus:
        return self.connection.info.transaction_status

    @property
    def is_idle(self) -> bool:
        return self.status == TransactionStatus.IDLE

    def run(self, sql: str) -> None:
        """A step may fail, as those of applications do; the transaction then goes on from a savepoint or ends."""
        try:
            self.connection.execute(sql)
        except (psycopg.errors.LockNotAvailable, psycopg.errors.SerializationFailure,
                psycopg.errors.UniqueViolation, psycopg.errors.QueryCanceled):  # fmt: skip
            if self.status == TransactionStatus.INERROR and self.savepoints:
                self.connection.execute(f"ROLLBACK TO {self.savepoints[-1]}")
            else:
                self.end("ROLLBACK")

    def end(self, how: str) -> None:
        self.savepoints.clear()
        self.cursor_rows = None
        try:
            self.connection.execute(how)
        except psycopg.errors.SerializationFailure:
            self.connection.execute("ROLLBACK")

    def prepare(self, query: str) -> tuple[str, str]:
        """To plan takes longer than to run, so most queries are planned once for each mode and invalidation."""
        if query not in self.numbers:
            number = len(self.numbers)
            self.connection.execute(
                f"PREPARE off{number} AS {query}; PREPARE prefer{number} AS {query}"
            )
            self.numbers[query] = number
        number = self.numbers[query]
        return f"EXECUTE off{number}", f"EXECUTE prefer{number}"

    def answers(self, query: str, is_prepared: bool = False) -> tuple[list, list] | None:
        """By PostgreSQL's executor and by ours, in any order. None: the transaction cannot go on."""
        try:
            off, prefer = self.prepare(query) if is_prepared else (query, query)
            statements = f"SET penumbra.mode = off; {off}; SET penumbra.mode = prefer; {prefer}"
            # a standby replays beside us
            results = self.results(
                f"BEGIN ISOLATION LEVEL REPEATABLE READ; {statements}; COMMIT"
                if self.is_idle
                else statements
            )
        except psycopg.errors.SerializationFailure:
            self.end("ROLLBACK")
            return None
        return results[0], results[1]

    def results(self, statements: str) -> list[list[tuple]]:
        """The rows of those that have any; psycopg's cursors take longer than the server."""
        connection = self.connection.pgconn
        found = []
        failed = None
        connection.send_query(statements.encode())
        while result := connection.get_result():
            if result.status == ExecStatus.TUPLES_OK:
                rows = Transformer(self.connection)
                rows.set_pgresult(result)
                found.append(rows.load_rows(0, result.ntuples, tuple))
            elif result.status == ExecStatus.FATAL_ERROR:
                failed = result
        if failed:
            raise psycopg.errors.error_from_result(failed)
        return found


class History:
    def __init__(self, server, seed: int):
        self.choose = random.Random(seed)
        self.next_id = ROWS + 1
        self.next_name = 0
        self.calm = 0  # steps for which nothing is loaded and few transactions stay open, so that pointers are reused
        self.prepared: list[str] = []
        self.done: Counter = Counter()
        self.served: Counter = Counter()
        self.log: deque[str] = deque(maxlen=30)
        self.owner = Session(server, "owner", threads=1)
        self.writers = [Session(server, f"writer {number}") for number in range(WRITERS)]
        self.readers = [Session(server, f"reader {level}") for level in LEVELS]
        self.servers = [[self.owner, *self.readers, *self.writers]]
        for sql in ("CREATE EXTENSION IF NOT EXISTS penumbra", "CREATE EXTENSION IF NOT EXISTS penumbra_test", "DROP TABLE IF EXISTS histories", TABLE,
                    "VACUUM ANALYZE histories", "SELECT penumbra.load('histories')"):  # fmt: skip
            self.owner.connection.execute(sql)

    # -- steps of writers -------------------------------------------------------------------------

    def ids(self) -> str:
        # the oldest rows are gone before long
        first = self.choose.choice((1, max(1, self.next_id - ROWS)))
        return ", ".join(
            str(self.choose.randint(first, self.next_id)) for _ in range(self.choose.randint(1, 4))
        )

    def name(self) -> str:
        self.next_name += 1
        return f"s{self.next_name}"

    def new_rows(self, most: int = 5) -> str:
        first = self.next_id
        self.next_id += self.choose.randint(1, most)
        return (f"SELECT g, g % 7, 0, CASE WHEN g % 11 = 0 THEN NULL ELSE 'new ' || g END, 'x'"
                f" FROM generate_series({first}, {self.next_id - 1}) AS g")  # fmt: skip

    def write(self, writer: Session) -> None:
        ids = self.ids()
        statements = {
            "insert": f"INSERT INTO histories {self.new_rows()}",
            "append": f"INSERT INTO histories {self.new_rows(40)}",
            "insert or update": f"INSERT INTO histories SELECT g, 1, 1, 'again', 'x' FROM unnest(ARRAY[{ids}]) AS g"
                                " GROUP BY g ON CONFLICT (id) DO UPDATE SET n = histories.n + 1",
            "insert or nothing": f"INSERT INTO histories SELECT g, 1, 1, 'once', 'x' FROM unnest(ARRAY[{ids}]) AS g"
                                 " ON CONFLICT (id) DO NOTHING",
            "hot update": f"UPDATE histories SET n = n + 1 WHERE id IN ({ids})",
            "cold update": f"UPDATE histories SET k = k + 1 WHERE id IN ({ids})",
            "two updates": f"UPDATE histories SET n = n + 1 WHERE id IN ({ids});"
                           f"UPDATE histories SET note = 'twice' WHERE id IN ({ids})",
            "key update": f"UPDATE histories SET id = -id WHERE id IN ({ids})",
            "toast": f"UPDATE histories SET note = repeat(md5(n::text), 70) WHERE id IN ({ids})",
            "delete": f"DELETE FROM histories WHERE id IN ({ids})",
            "delete many": f"DELETE FROM histories WHERE id < {STILL} AND k = {self.choose.randint(0, 9)}",
            "insert, delete": f"INSERT INTO histories {self.new_rows()};"
                              f"DELETE FROM histories WHERE id = {self.next_id - 1}",
            **{f"lock {strength}": f"SELECT id FROM histories WHERE id IN ({ids}) FOR {strength}"
                                   f" {self.choose.choice(('', 'SKIP LOCKED'))}" for strength in STRENGTHS},
        }  # fmt: skip
        step = self.choose.choice(list(statements))
        self.note(step, writer)
        writer.run(statements[step])

    def begin(self, writer: Session) -> None:
        self.note("begin", writer)
        writer.run(f"BEGIN ISOLATION LEVEL {self.choose.choice(LEVELS)}")

    def nest(self, writer: Session) -> None:
        step = self.choose.choice(("SAVEPOINT", "SAVEPOINT", "ROLLBACK TO", "RELEASE"))
        if step != "SAVEPOINT" and not writer.savepoints:
            return
        self.note(step.lower(), writer)
        name = self.name() if step == "SAVEPOINT" else writer.savepoints[-1]
        writer.run(f"{step} {name}")
        if step == "SAVEPOINT":
            writer.savepoints.append(name)
        elif step == "RELEASE":
            writer.savepoints.pop()

    def finish(self, writer: Session) -> None:
        step = self.choose.choices(("COMMIT", "ROLLBACK", "PREPARE TRANSACTION"), (6, 3, 1))[0]
        self.note(step.lower(), writer)
        if step.startswith("PREPARE") and len(self.prepared) < 5:
            name = self.name()
            writer.end(f"PREPARE TRANSACTION '{name}'")
            if self.owner.connection.execute(
                "SELECT count(*) FROM pg_prepared_xacts WHERE gid = %s", (name,)
            ).fetchone()[0]:
                self.prepared.append(name)
        else:
            writer.end(step if not step.startswith("PREPARE") else "COMMIT")

    def step_of_writer(self) -> None:
        writer = self.choose.choice(self.writers)
        if writer.is_idle:
            self.choose.choices((self.begin, self.write), (1, 9) if self.calm else (2, 1))[0](
                writer
            )
        else:
            self.choose.choices(
                (self.write, self.nest, self.finish), (6, 2, 9) if self.calm else (6, 2, 2)
            )[0](writer)

    # -- steps of readers and of the owner ----------------------------------------------------------

    def step_of_reader(self) -> None:
        """A snapshot grows old, or a new one is taken."""
        reader = self.choose.choice(self.readers)
        level = reader.name.split("reader ")[1]
        if reader.is_idle:
            self.note("snapshot", reader)
            only = self.choose.choice(("", "READ ONLY"))
            reader.run(f"BEGIN ISOLATION LEVEL {level} {only}")
            self.check(reader)
        elif reader.cursor_rows is None and self.choose.random() < 0.5:
            self.open_cursor(reader)
        else:
            self.note("end of snapshot", reader)
            self.close_cursor(reader)
            reader.end("COMMIT")

    def open_cursor(self, reader: Session) -> None:
        """A scan of which part is read now and part after other steps; a join, for which a cursor is ours."""
        query = "SELECT id, n, note FROM histories, generate_series(1, 1)"
        answers = reader.answers(query)
        if answers is None:
            return
        self.note("cursor", reader)
        reader.connection.execute(f"DECLARE c CURSOR FOR {query}")
        first = reader.connection.execute("FETCH 5 FROM c").fetchall()
        reader.cursor_rows = [answers[0], first]

    def close_cursor(self, reader: Session) -> None:
        if reader.cursor_rows is None:
            return
        expected, first = reader.cursor_rows
        rows = first + reader.connection.execute("FETCH ALL FROM c").fetchall()
        assert are_same(rows, expected), self.report(reader, "cursor")
        reader.connection.execute("CLOSE c")
        reader.cursor_rows = None

    def step_of_owner(self) -> None:
        is_quiet = not self.prepared and all(
            session.is_idle for session in (*self.writers, *self.readers)
        )
        steps = {
            "vacuum": "VACUUM (TRUNCATE off) histories",
            "freeze": "VACUUM (FREEZE, TRUNCATE off) histories",
            "no skipping": "VACUUM (DISABLE_PAGE_SKIPPING, TRUNCATE off) histories",
            "refresh": "SELECT penumbra.refresh('histories')",
            "load": "SELECT penumbra.load('histories', ARRAY['id', 'k', 'n', 'note'])",
            "vacuum, refresh": "VACUUM (TRUNCATE off) histories",
            "new column": "SELECT penumbra.load('histories', ARRAY['filler'])",
            "transactions": "DO 'BEGIN FOR i IN 1..20 LOOP PERFORM txid_current(); COMMIT; END LOOP; END'",
            "finish prepared": "",
            "look": "SET penumbra.mode = off; SET enable_seqscan = off;"
                    "SELECT count(n) FROM histories WHERE id > 0; RESET enable_seqscan",
        }  # fmt: skip
        if self.choose.random() < 0.04:
            steps["unload"] = "SELECT penumbra.unload('histories')"
            steps["new pages"] = "SELECT penumbra_test.add_new_pages('histories', 2)"
            if is_quiet:
                steps["vacuum full"] = "VACUUM FULL histories"
                steps["shorten"] = "VACUUM histories"
                steps["missing value"] = (
                    f"ALTER TABLE histories ADD {self.name()} integer DEFAULT {self.next_id}"
                )
                steps["truncate and copy"] = (
                    "BEGIN; CREATE TEMP TABLE kept AS SELECT * FROM histories; TRUNCATE histories;"
                    " INSERT INTO histories SELECT * FROM kept; DROP TABLE kept; COMMIT"
                )
        step = self.choose.choice(CALM_STEPS if self.calm else list(steps))
        self.note(step, self.owner)
        if step == "finish prepared":
            if self.prepared:
                name = self.prepared.pop(self.choose.randrange(len(self.prepared)))
                self.owner.run(f"{self.choose.choice(('COMMIT', 'ROLLBACK'))} PREPARED '{name}'")
            return
        # a cleanup lock would wait for the page that an idle cursor has pinned
        if step in ("freeze", "no skipping") and any(reader.cursor_rows for reader in self.readers):
            return
        self.owner.run(steps[step])
        if step in ("vacuum, refresh", "vacuum full", "truncate and copy"):
            self.owner.run("VACUUM (TRUNCATE off) histories")
            self.owner.run("SELECT penumbra.load('histories', ARRAY['id', 'k', 'n', 'note'])")

    def new_column(self) -> str:
        number = self.choose.randint(1, 1_000_000)
        return self.choose.choice((
            "integer", f"integer DEFAULT {number}", f"integer DEFAULT {number} NOT NULL", f"text DEFAULT 'old {number}'",
            f"varchar(20) DEFAULT '{number}'", f"numeric DEFAULT {number}.5",
        ))  # fmt: skip

    def alter_in_vain(self) -> None:
        """A column is loaded in the transaction that adds it and does not stay; the next column has its number."""
        name = self.name()
        run = self.owner.connection.execute
        added = f"ALTER TABLE histories ADD {name}"
        end = self.choose.choice(("ROLLBACK", "ROLLBACK TO s", "ROLLBACK PREPARED 'in vain'"))
        self.note(f"alter, {end.split(' s')[0].split(chr(39))[0].strip().lower()}", self.owner)
        run(f"BEGIN; SAVEPOINT s; {added} {self.new_column()}")
        for change in (f"ALTER TABLE histories ALTER {name} SET DEFAULT '77'",
                       f"ALTER TABLE histories ALTER {name} TYPE varchar",
                       f"ALTER TABLE histories DROP {name}; {added} {self.new_column()}"):  # fmt: skip
            if self.choose.random() < 0.2:
                run(f"SAVEPOINT change; {change}")
                if self.choose.random() < 0.3:
                    run("ROLLBACK TO change")
        try:
            run(f"SELECT penumbra.load('histories', ARRAY['{name}'])")
        except psycopg.Error:  # the change of type rewrote the table
            run("ROLLBACK TO s")
        if end.startswith("ROLLBACK P"):
            run("PREPARE TRANSACTION 'in vain'")
        run(end)
        is_generated = self.choose.random() < 0.1
        kind = "integer GENERATED ALWAYS AS (n + 1) STORED" if is_generated else self.new_column()
        run(f"{added} {kind}")
        for query in (f"SELECT id, {name} FROM histories", f"SELECT count(*), min({name}), max({name}) FROM histories"):
            answers = self.owner.answers(query)
            assert answers is None or are_same(*answers), self.report(self.owner, query)
        if is_generated or self.choose.random() < 0.5:
            run(f"ALTER TABLE histories DROP {name}")
        if end == "ROLLBACK TO s":
            run(self.choose.choice(("COMMIT", "ROLLBACK")))

    def patch(self) -> None:
        """New rows that are decided, where nobody holds the horizon back, and a patch of these."""
        self.note("patch", self.owner)
        self.owner.run(self.choose.choice((
            f"UPDATE histories SET n = n + 1 WHERE id IN ({self.ids()})",
            f"UPDATE histories SET note = 'patched ' || n WHERE id IN ({self.ids()})",
            f"INSERT INTO histories {self.new_rows(2)}",
        )))  # fmt: skip
        self.owner.run("SELECT penumbra.refresh('histories')")

    def settle(self) -> None:
        """Everything ends, and all pages can be cached: the next steps write to pages that are."""
        self.note("settle", self.owner)
        self.calm = 40
        self.end_all()
        if self.choose.random() < 0.5:
            self.alter_in_vain()
        self.owner.run("VACUUM (TRUNCATE off) histories")
        self.owner.run("SELECT penumbra.load('histories', ARRAY['id', 'k', 'n', 'note'])")

    # -- driver -----------------------------------------------------------------------------------

    def note(self, step: str, session: Session) -> None:
        self.done[step] += 1
        self.log.append(f"{session.name}: {step}")

    def report(self, session: Session, query: str) -> str:
        return f"{session.name}: {query}\nafter\n  " + "\n  ".join(self.log)

    def check(self, session: Session) -> None:
        query = self.choose.choice(QUERIES)
        answers = session.answers(query, is_prepared=self.choose.random() < 0.9)
        assert answers is None or are_same(*answers), self.report(session, query)

    def step(self) -> None:
        self.calm = max(self.calm - 1, 0)
        self.choose.choices((self.step_of_writer, self.step_of_reader, self.step_of_owner, self.settle, self.patch),
                            (60, 3, 20, 0, 20) if self.calm else (60, 10, 15, 2, 8))[0]()  # fmt: skip
        for sessions in self.servers:
            # who has no transaction sees what the others without one do
            idle = [session for session in sessions if session.is_idle]
            for session in sessions:
                if session.status == TransactionStatus.INTRANS:
                    self.check(session)
            if idle:
                self.check(self.choose.choice(idle))

    def verify(self, session: Session, served: Counter) -> None:
        assert_verified(session.connection, "histories", may_be_stale=True)
        cursor = session.connection.execute(
            "SELECT * FROM penumbra.explain_coverage('histories', ARRAY['id', 'k', 'n', 'note'])"
        )
        found = dict(
            zip((column.name for column in cursor.description), cursor.fetchone(), strict=True)
        )
        served.update(
            found | {"patches": max(found["chunks"] - 1, 0)}
        )  # the table has the pages of one chunk

    def verify_all(self) -> None:
        self.verify(self.owner, self.served)

    def end_all(self) -> None:
        for session in (*self.writers, *self.readers):
            self.close_cursor(session)
            session.end("ROLLBACK")
        while self.prepared:
            self.owner.run(f"ROLLBACK PREPARED '{self.prepared.pop()}'")

    def close(self) -> None:
        self.end_all()
        for session in (*self.writers, *self.readers):
            session.connection.close()


class HistoryOnAStandby(History):
    """Some readers are on a standby, which replays each step before they read, unless what they hold stops it."""

    def __init__(self, server, standby, seed: int):
        super().__init__(server, seed)
        self.primary = server.connect()
        self.served_by_standby: Counter = Counter()
        self.standby_owner = Session(standby, "owner on the standby")
        # at READ COMMITTED two statements would have two snapshots, between which the standby replays
        self.standby_readers = [
            Session(standby, f"standby's {name} reader REPEATABLE READ")
            for name in ("first", "second")
        ]
        self.readers += self.standby_readers
        self.servers.append(self.standby_readers)

    def catch_up(self) -> None:
        # its commit flushes all WAL before
        end = self.primary.execute("SELECT pg_logical_emit_message(true, 'step', '')").fetchone()[0]
        may_wait = all(reader.is_idle for reader in self.standby_readers)
        deadline = time.monotonic() + (1200 if may_wait else 0.02)
        while not self.standby_owner.connection.execute(
            "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (end,)
        ).fetchone()[0]:
            if time.monotonic() > deadline:
                assert not may_wait, "the standby does not replay"
                return
            time.sleep(0.001)

    def step(self) -> None:
        super().step()
        if self.choose.random() < 0.2:
            step = self.choose.choices(("load", "refresh", "unload", "feedback"), (4, 8, 1, 1))[0]
            self.note(step, self.standby_owner)
            if step == "feedback":
                self.set_feedback()
            else:
                self.standby_owner.run(f"SELECT penumbra.{step}('histories')")

    def set_feedback(self) -> None:
        """With it the standby's snapshots hold the primary's horizon, without it they stop the replay."""
        state = self.choose.choice(("on", "off"))
        self.standby_owner.run(f"ALTER SYSTEM SET hot_standby_feedback = {state}")
        self.standby_owner.run("SELECT pg_reload_conf()")

    def check(self, session: Session) -> None:
        if session in self.standby_readers:
            self.catch_up()
        super().check(session)

    def verify_all(self) -> None:
        super().verify_all()
        self.catch_up()
        self.verify(self.standby_owner, self.served_by_standby)

    def close(self) -> None:
        super().close()
        self.standby_owner.connection.close()
        self.primary.close()


def run(history: History, steps: int) -> None:
    number = 0
    try:
        for number in range(1, steps + 1):
            history.step()
            if number % 10 == 1:
                history.verify_all()
    finally:
        print(f"step {number} of {steps}: {history.done}")
        history.close()


@pytest.fixture()
def standby(server):
    standby = PrivateServer(
        run_directory("test-differential-standby"),
        server.settings
        | {"max_standby_streaming_delay": "-1", "wal_receiver_status_interval": "1s"},
    )
    standby.copy_as_standby(server)
    with standby:
        yield standby
    standby.remove()


@pytest.mark.sized
def test_histories(server, pytestconfig):
    steps = pytestconfig.getoption("histories")
    history = History(server, pytestconfig.getoption("seed"))
    run(history, steps)
    if steps >= 2000:
        seldom = [step for step, count in history.done.items() if count < 2]
        assert len(history.done) > 30 and len(seldom) < 5, history.done
        assert all(history.served[pages] > 0 for pages in
                   ("pages_from_cache", "pages_row_by_row", "pages_from_heap", "patches")), history.served  # fmt: skip
    plan = history.owner.connection.execute(f"SET penumbra.mode = prefer; EXPLAIN {QUERIES[0]}")
    plan.nextset()
    plan = plan.fetchall()
    assert "Penumbra" in plan[0][0], plan
    history.owner.connection.execute("DROP TABLE histories")
    history.owner.connection.close()
    print(history.served)


@pytest.mark.sized
def test_histories_on_a_standby(server, standby, pytestconfig):
    steps = pytestconfig.getoption("histories") // 5
    history = HistoryOnAStandby(server, standby, pytestconfig.getoption("seed"))
    run(history, steps)
    if steps >= 400:
        assert all(
            history.served_by_standby[pages] > 0
            for pages in ("pages_from_cache", "pages_from_heap")
        )
    history.owner.connection.execute("DROP TABLE histories")
    history.owner.connection.close()
    print(history.served_by_standby)
