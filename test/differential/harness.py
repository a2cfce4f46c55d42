"""Runs one query with the vector engine required and switched off, and compares the answers."""

import contextlib
import dataclasses
import itertools
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

import psycopg
from penumbra_lab.server import PrivateServer
from psycopg import pq
from queries import BY_VALUE, EXACT, ROUNDED, Output, Query
from tables import JOIN_TABLES, NOT_SERVED, TABLES

RECOVERY_SECONDS = 60
# A query of which PostgreSQL takes so long may be past statement_timeout the next time, where it is PostgreSQL's.
SLOW_SECONDS = 5
# Of one answer. With more the query counts as too slow: what compares rows has them several times over.
ROWS_MAX, ROWS_AT_ONCE = 1_000_000, 1000

ROUNDED_RELATIVE_TOLERANCE = 1e-9
REAL_RELATIVE_TOLERANCE = 1e-5
# A refusal in require mode: feature_not_supported.
SQLSTATE_REFUSED = "0A000"
# What values can raise; "cannot convert NaN to integer" is 0A000, a second row of a scalar subquery 21000.
DATA_ERROR = re.compile("22...|0A000|21000")
SQLSTATE_CANCELED = "57014"
OVERFLOW = "value out of range: overflow"
ORDERED_AGGREGATE = re.compile("DISTINCT|ORDER BY")
# How PostgreSQL itself can be made to evaluate conditions of joins in another order.
OTHER_PLANS = (("enable_hashjoin",), ("enable_mergejoin",), ("enable_nestloop",),
               ("enable_hashjoin", "enable_mergejoin"), ("enable_mergejoin", "enable_nestloop"),
               ("enable_hashjoin", "enable_nestloop"))  # fmt: skip


@contextlib.contextmanager
def cached_database(server: PrivateServer, name: str, tables: str, cached: tuple[str, ...]) -> Iterator[psycopg.Connection]:
    """A connection to a new database: tables are the statements that make them, those of `cached` are loaded."""
    with server.connect() as creator:
        creator.execute(f"CREATE DATABASE {name}")
    with server.connect(name) as connection:
        connection.execute("CREATE EXTENSION penumbra")
        connection.execute(tables)
        connection.execute("CHECKPOINT")
        connection.execute("VACUUM (ANALYZE)")
        for table in cached:
            connection.execute("SELECT penumbra.load(%s::regclass)", (table,))
        yield connection


@dataclass(frozen=True)
class Answer:
    rows: list[tuple] | None  # None: an error
    sqlstate: str = ""
    message: str = ""

    @property
    def was_refused(self) -> bool:
        return self.sqlstate == SQLSTATE_REFUSED and "penumbra" in self.message.lower()


@dataclass
class Tally:
    """What ran where; the share of the engine must not shrink unseen."""

    engine: int = 0
    whole: int = 0  # of these: one node is the whole plan
    refused: int = 0
    not_served: int = 0  # with a table that cannot be served, in mode prefer
    other_order: int = 0  # only one mode ended with an error, and no plan of PostgreSQL's does as ours
    other_order_in_auto: int = 0  # of these: also in auto
    slow: int = 0  # PostgreSQL itself takes too long
    errors: int = 0
    reasons: Counter = field(default_factory=Counter)

    @property
    def engine_share(self) -> float:
        total = self.engine + self.refused
        return self.engine / total if total else 1.0

    def __str__(self) -> str:
        lines = [f"{self.engine} in the engine, {self.whole} of them one node, {self.refused} refused ({self.engine_share:.1%} in the"
                 f" engine), {self.errors} of all ended with the same error"]  # fmt: skip
        if self.other_order:
            lines.append(f"{self.other_order} with an error in one mode only, {self.other_order_in_auto} also in auto")
        lines += [f"{self.not_served} with a table that is not served"] if self.not_served else []
        lines += [f"{self.slow} took PostgreSQL too long"] if self.slow else []
        lines += [f"  {count:5} {reason}" for reason, count in self.reasons.most_common(40)]
        return "\n".join(lines)


class ServerCrashed(Exception):
    """A query took the server down; a new connection is there when this is raised."""


class Harness:
    def __init__(self, server: PrivateServer, database: str):
        self.server, self.database = server, database
        self.connection = server.connect(database)
        self.tally = Tally()

    def _reconnect(self) -> None:
        self.connection.close()
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            try:
                self.connection = self.server.connect(self.database)
                break
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        # What was cached is gone.
        for table in (*TABLES, *JOIN_TABLES):
            if any("penumbra.load" in step for step in table.prepare) and not table.is_partitioned:
                self.connection.execute("SELECT penumbra.load(%s::regclass)", (table.name,))

    def set(self, name: str, value: str) -> None:
        statement = ("SELECT set_config(%s, %s, false)", (name, value))
        try:
            self.connection.execute(*statement)
        except psycopg.errors.QueryCanceled:  # a machine that stands still lets the timeout of a seed pass here, too
            self.connection.execute(*statement)

    def reset(self, seed: int, settings: tuple[tuple[str, str, int], ...], role: str = "") -> None:
        """The settings of one seed: name and value, and of how many seeds one has it."""
        self.connection.execute("RESET ALL")
        if role:
            self.connection.execute(f"SET ROLE {role}")
        self.set("statement_timeout", "60s")
        for name, value, every in settings:
            if seed % every == 0:
                self.set(name, value)

    def run(self, query: Query, mode: str) -> Answer:
        self.set("penumbra.mode", mode)
        sql, parameters = query.statement
        if query.is_stored:
            return self._stored(query)
        if not query.is_cursor:
            return self._execute(sql, parameters)
        self._execute("BEGIN", [])
        opened = self._execute(f"DECLARE c CURSOR FOR {sql}", [])
        answers = [opened] if opened.rows is None else []
        answers += [] if answers else [self._execute(f"FETCH {count} FROM c", []) for count in (7, "ALL")]
        self._execute("ROLLBACK", [])
        failed = [answer for answer in answers if answer.rows is None]
        return failed[0] if failed else Answer([row for answer in answers for row in answer.rows])

    def _stored(self, query: Query) -> Answer:
        """Without an order of its own the table's is that of the rows."""
        self._execute("BEGIN", [])
        answer = self._execute(query.stored, [])
        if answer.rows is not None:
            self.set("penumbra.mode", "off")  # until the transaction ends
            answer = self._execute("SELECT * FROM stored", [])
        self._execute("ROLLBACK", [])
        return answer

    def _execute(self, sql: str, parameters: list[str]) -> Answer:
        connection = self.connection.pgconn
        if parameters:
            connection.send_query_params(sql.encode(), [value.encode() for value in parameters])
        else:
            connection.send_query(sql.encode())
        connection.set_chunked_rows_mode(ROWS_AT_ONCE)
        rows, result = [], None
        while (received := connection.get_result()) is not None:
            result = received
            columns = range(result.nfields)
            if len(rows) <= ROWS_MAX:  # the others are let go, at most until statement_timeout
                rows += [tuple(result.get_value(row, column) for column in columns) for row in range(result.ntuples)]
        if len(rows) > ROWS_MAX:
            return Answer(None, SQLSTATE_CANCELED, f"more than {ROWS_MAX} rows")
        if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
            return Answer(rows)
        if self.connection.closed or connection.status != pq.ConnStatus.OK:
            self._reconnect()
            raise ServerCrashed
        state = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
        message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b""
        detail = result.error_field(pq.DiagnosticField.MESSAGE_DETAIL) or b""
        text = message.decode(errors="replace") + (
            ": " + detail.decode(errors="replace") if detail else ""
        )
        return Answer(None, state.decode(), text)

    def is_one_node(self, query: Query) -> bool:
        """Whether the engine runs the whole query, in mode require."""
        sql, parameters = query.statement
        self.set("penumbra.mode", "require")
        plan = self._execute(f"EXPLAIN (COSTS OFF) {sql}", parameters)
        lines = [row[0].decode(errors="replace") for row in plan.rows or []]
        return bool(lines) and lines[0].startswith("Custom Scan (Penumbra") and not any(
            re.match(r"\s*(->  (?!Vector)|SubPlan|InitPlan|CTE)", line) for line in lines)  # fmt: skip

    def check(self, query: Query, count: bool = True) -> str | None:
        """None when both modes agree; else what differs."""
        try:
            return self._check(query, count)
        except ServerCrashed:
            return "the server crashed"

    def _check(self, query: Query, count: bool) -> str | None:
        started = time.monotonic()
        expected = self.run(query, "off")
        is_slow = time.monotonic() - started > SLOW_SECONDS
        if expected.sqlstate == SQLSTATE_CANCELED:
            self.tally.slow += count
            return None
        is_served = not NOT_SERVED.search(query.statement[0])
        found = self.run(query, "require" if is_served else "prefer")
        if not is_served:
            self.tally.not_served += count
            query = query.when_refused()  # it may be, unseen
        elif found.was_refused:
            if count:
                self.tally.refused += 1
                self.tally.reasons[found.message] += 1
            found = self.run(query, "auto")
            if is_slow and found.sqlstate == SQLSTATE_CANCELED:
                self.tally.slow += count
                return None
            query = query.when_refused()
        elif count:
            self.tally.engine += 1
            self.tally.whole += self.is_one_node(query)
        if count and expected.rows is None:
            self.tally.errors += 1
        difference = answer_difference(expected, found, query)
        other_order = (self.tally.other_order, self.tally.other_order_in_auto)
        if difference and self._is_order_of_evaluation(expected, found, query):
            difference = None
        if not count:
            self.tally.other_order, self.tally.other_order_in_auto = other_order
        return difference

    def _is_order_of_evaluation(self, expected: Answer, found: Answer, query: Query) -> bool:
        """Whether PostgreSQL itself answers like this when it evaluates in another order.

        SQL leaves open whether a row that fails one condition reaches another one's division by zero,
        and PostgreSQL stops reading early for max() of a constant.
        """
        if (expected.rows is None) == (found.rows is None):
            return False
        if query.limit and DATA_ERROR.match(expected.sqlstate or found.sqlstate):
            return True  # how many rows below a LIMIT are computed is open
        variants = [
            dataclasses.replace(query, where=(_in_order(list(order)),))
            for order in itertools.permutations(query.where)
            if len(order) > 1
        ]
        if not query.group_by and found.rows is None:
            variants.append(
                dataclasses.replace(query, outputs=(*query.outputs, Output("count(*)")))
            )
        return any(
            answer_difference(self.run(variant, "off"), found, query) is None
            for variant in variants
        ) or self._is_of_another_plan(expected, found, query) or self._is_order_of_rows(expected, found, query)

    def _is_order_of_rows(self, expected: Answer, found: Answer, query: Query) -> bool:
        """Whether PostgreSQL answers so when it groups without a sort, or with one, or finds the rows in another order.

        A sum of squares of floats overflows, unless an infinity came before. Aggregates with an order leave no choice: then
        it is whether the others of the query overflow.
        """
        settings = ("enable_sort", "enable_hashagg")
        if query.group_by and any(answer_difference(self._run_without(query, (setting,)), found, query) is None for setting in settings):
            return True
        if OVERFLOW not in expected.message + found.message:
            return False
        plain = dataclasses.replace(query, outputs=tuple(output for output in query.outputs if not ORDERED_AGGREGATE.search(output.sql)))
        name, _, alias = query.table.partition(" AS ")
        sources = [f"(SELECT * FROM {name} ORDER BY f8_edge {order}) AS {alias or name}" for order in ("DESC", "NULLS FIRST")]
        sources = [] if query.is_joined else sources
        variants = [plain, *(dataclasses.replace(plain, table=source) for source in sources)]
        return {self._run_without(variant, (setting,)).rows is None for variant in variants for setting in settings} == {True, False}

    def _run_without(self, query: Query, settings: tuple[str, ...]) -> Answer:
        """PostgreSQL's answer when it leaves out these ways to execute."""
        for setting in settings:
            self.set(setting, "off")
        answer = self.run(query, "off")
        for setting in settings:
            self.set(setting, "on")
        return answer

    def _is_of_another_plan(self, expected: Answer, found: Answer, query: Query) -> bool:
        """A join's conditions are evaluated for the rows that its inputs have, which depends on the order of joins.

        Not every order can be had from PostgreSQL, so what is left is counted, and has a bound.
        """
        if not query.is_joined or not DATA_ERROR.match(expected.sqlstate or found.sqlstate):
            return False
        for settings in OTHER_PLANS:
            if answer_difference(self._run_without(query, settings), found, query) is None:
                return True
        self.tally.other_order += 1
        if expected.rows is not None and answer_difference(expected, self.run(query, "auto"), query) is not None:
            # Then the error is of the ordinary plan, which takes the place of ours: another order of PostgreSQL's.
            self.tally.other_order_in_auto += 1
        return True

    def find_difference(self, query: Query) -> str | None:
        """check(), with the shortest query that differs."""
        difference = self.check(query)
        if not difference:
            return None
        shortest = self.shorten(query)
        return f"{self.database}:\n{shortest.statement}\n{self.check(shortest, count=False) or difference}"

    def shorten(self, query: Query) -> Query:
        """A query with fewer parts that still fails."""
        progress = True
        while progress:
            progress = False
            for candidate in query.shorter():
                if self.check(candidate, count=False):
                    query, progress = candidate, True
                    break
        return query


FAILURES_SHOWN_MAX = 12


def search(
    config, check: Callable[[int], str | None], queries_divisor: int = 1, seconds_divisor: int = 1
) -> tuple[range, list[str]]:
    """The seeds checked, as many and as long as the options say, and what was found with which of them."""
    first = config.getoption("--seed")
    deadline = time.monotonic() + config.getoption("--seconds") / seconds_divisor
    seeds = range(first, first + config.getoption("--queries") // queries_divisor)
    failures = []
    for seed in seeds:
        if time.monotonic() > deadline or len(failures) >= FAILURES_SHOWN_MAX:
            seeds = range(first, seed)
            break
        failure = check(seed)
        if failure:
            failures.append(f"seed {seed}, {failure}")
    return seeds, failures


def _in_order(conditions: list[str]) -> str:
    """The conjunction, evaluated from left to right."""
    if len(conditions) == 1:
        return conditions[0]
    return f"CASE WHEN {conditions[0]} THEN {_in_order(conditions[1:])} ELSE false END"


def answer_difference(expected: Answer, found: Answer, query: Query) -> str | None:
    if expected.rows is None or found.rows is None:
        if expected.rows is None and found.rows is None:
            if expected.sqlstate == found.sqlstate and expected.message == found.message:
                return None
            if DATA_ERROR.match(expected.sqlstate) and DATA_ERROR.match(found.sqlstate):
                return None  # which of two failing rows or expressions is met first is not defined
        return f"expected {_brief(expected)}\n   found {_brief(found)}"
    return rows_difference(expected.rows, found.rows, query.comparisons, query.is_ordered)


def rows_difference(
    expected: list, found: list, comparisons: list[str], is_ordered: bool
) -> str | None:
    if len(expected) != len(found):
        return f"expected {len(expected)} rows, found {len(found)}"
    if expected == found:
        return None
    if expected and len(comparisons) != len(expected[0]):
        comparisons = [EXACT] * len(expected[0])  # SELECT *
    left = [_normal(row, comparisons) for row in expected]
    right = [_normal(row, comparisons) for row in found]
    if not is_ordered:
        left, right = sorted(left, key=_sort_key), sorted(right, key=_sort_key)
    for number, (a, b) in enumerate(zip(left, right, strict=True)):
        for column, (x, y) in enumerate(zip(a, b, strict=True)):
            if x != y and not (comparisons[column] == ROUNDED and _is_close(x, y)):
                return (
                    f"row {number}, column {column + 1}:\nexpected {_show(x)}\n   found {_show(y)}"
                )
    return None


def _normal(row: tuple, comparisons: list[str]) -> tuple:
    return tuple(_value(value) if comparison == BY_VALUE else value
                 for value, comparison in zip(row, comparisons, strict=True))  # fmt: skip


def _value(value: bytes | None) -> bytes | None:
    """One spelling for equal numbers, also in arrays."""
    if value is None:
        return None
    if value[:1] == b"{" and value[-1:] == b"}":
        return b"{%s}" % b",".join(_value(element) or b"" for element in value[1:-1].split(b","))
    try:
        number = Decimal(value.decode(errors="replace"))
    except InvalidOperation:
        return value.rstrip(b" ")
    if not number.is_finite():
        return value
    return b"0" if number == 0 else b"%s" % str(number.normalize()).encode()


def _sort_key(row: tuple) -> tuple:
    return tuple((value is not None, value or b"") for value in row)


def _is_close(x: bytes | None, y: bytes | None) -> bool:
    if x is None or y is None:
        return False
    a, b = float(x), float(y)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) == math.isnan(b)
    # A real shows six to nine digits.
    digits = len(x.lstrip(b"-0.").replace(b".", b"").split(b"e")[0])
    tolerance = REAL_RELATIVE_TOLERANCE if digits <= 9 else ROUNDED_RELATIVE_TOLERANCE
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-9)


def _show(value: bytes | None) -> str:
    return "NULL" if value is None else value.decode(errors="replace")[:300]


def _brief(answer: Answer) -> str:
    if answer.rows is not None:
        return f"{len(answer.rows)} rows"
    return f"error {answer.sqlstate}: {answer.message}"


def assert_verified(
    connection: psycopg.Connection, table: str, *, may_be_stale: bool = False
) -> None:
    """penumbra.verify() finds every page that would be served equal to the heap's.

    Right after writes there may be no such page.
    """
    columns = connection.execute(
        "SELECT column_name, rows_checked, mismatches, problem FROM penumbra.verify(%s::regclass)",
        (table,),
    ).fetchall()
    assert columns or may_be_stale, f"nothing of {table} is cached"
    wrong = [column for column in columns if column[2]]
    assert not wrong, wrong
