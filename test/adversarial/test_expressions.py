"""Deep, wide and huge expressions over cached tables: answers and errors of mode off in every mode, and memory in bounds."""

import hashlib

import psycopg
import pytest
from conftest import SLOWNESS, Memory, cache_table, connect

MODES = ("off", "auto", "prefer")
# What a query may take beyond what it takes of PostgreSQL: the cache's pages that it reads, and its own budget.
WORK_MEM_BYTES = 64 << 20
OWN_BYTES = 96 << 20
ROWS = 400_000
BIG = {"short": [0, 8191, 100 << 20], "long": [0, 1, 2000, 8191, 1 << 20, 100 << 20, 1000 << 20]}


@pytest.fixture(scope="module")
def tables(server):
    with server.connect() as connection:
        connection.execute("CREATE DATABASE expressions")
    with connect(server, "expressions") as connection:
        connection.execute(f"CREATE TABLE tall AS SELECT g AS a, (g % 1000)::bigint AS b, (g % 77) / 8.0::numeric AS n, g / 3.0::float8 AS f,"
                           f" 'text ' || g % 5000 AS t, g % 2 = 0 AS p FROM generate_series(1, {ROWS}) AS g")  # fmt: skip
        connection.execute("INSERT INTO tall VALUES (NULL, NULL, NULL, NULL, NULL, NULL), (0, 0, 0, 0, '', false)")
        # 400 bytes a row are 1,600 columns of 1 bit and a byte, mostly null.
        connection.execute("CREATE TABLE wide (" + ", ".join(f"c{i} smallint" for i in range(1600)) + ")")
        connection.execute("INSERT INTO wide (" + ", ".join(f"c{i}" for i in range(1600)) + ") SELECT "
                           + ", ".join(f"CASE WHEN g % 7 = {i % 7} THEN g % {i + 2} END" for i in range(1600)) + " FROM generate_series(1, 1000) AS g")  # fmt: skip
        for table in ("tall", "wide"):
            cache_table(connection, table)
    yield "expressions"
    with server.connect() as connection:
        connection.execute("DROP DATABASE expressions WITH (FORCE)")


class Run:
    """A query in a session of its own: what it answered, and the most memory that the session held."""

    def __init__(self, server, database: str, mode: str, query: str, work_mem_bytes: int = WORK_MEM_BYTES) -> None:
        with connect(server, database) as connection:
            connection.execute(f"SET penumbra.mode = {mode}")
            connection.execute(f"SET work_mem = {work_mem_bytes >> 10}")
            connection.execute("SET hash_mem_multiplier = 1")
            connection.execute("SET jit = off")
            connection.execute(f"SET statement_timeout = '{int(240 * SLOWNESS)}s'")
            raw = connection.pgconn
            try:
                result = raw.exec_(query.encode())
            except psycopg.OperationalError as error:
                self.answer = ("the session ended", str(error)[:200])
                self.peak_bytes = 0
                return
            state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
            if raw.status != psycopg.pq.ConnStatus.OK:
                self.answer, self.peak_bytes = ("the session ended", result.error_message.decode()[:200]), 0
                return
            if state:
                self.answer = ("error", state.decode())
            else:
                rows = sorted(
                    (tuple(result.get_value(row, column) for column in range(result.nfields)) for row in range(result.ntuples)), key=repr
                )
                self.answer = (len(rows), hashlib.sha256(repr(rows).encode()).hexdigest(), repr(rows)[:200])
            self.peak_bytes = Memory(connection).peak_bytes()


def check(server, database: str, query: str, row_bytes: int = 0, work_mem_bytes: int = WORK_MEM_BYTES) -> None:
    """The same answer in each mode; a row of a query's input or output may be held a few times. With more work_mem no
    more is taken than with little, which is for queries that hold nothing.
    """
    stock = Run(server, database, "off", query)
    with connect(server, database) as connection:
        (cached,) = connection.execute("SELECT sum(used_bytes)::bigint FROM penumbra.get_memory()").fetchone()
    for mode in MODES[1:]:
        run = Run(server, database, mode, query, work_mem_bytes)
        assert run.answer == stock.answer, f"{mode}: {query[:200]}"
        limit = stock.peak_bytes + cached + WORK_MEM_BYTES + OWN_BYTES + 3 * row_bytes
        if SLOWNESS == 1:
            assert run.peak_bytes <= limit, f"{mode} took {run.peak_bytes >> 20} MB, off {stock.peak_bytes >> 20} MB: {query[:200]}"


def nested(levels: int, head: str, tail: str, middle: str) -> str:
    return head * levels + middle + tail * levels


def repeated(count: int, separator: str, terms: list[str]) -> str:
    return separator.join(terms[i % len(terms)].format(i=i) for i in range(count))


def deep(count: int) -> dict[str, str]:
    """Expressions of so many terms or levels, by name."""
    return {
        "sum of columns": "sum(" + repeated(count, " + ", ["b"]) + ")",
        "sum of constants": "sum(" + repeated(count, " + ", ["b * {i}", "n", "{i}"]) + ")",
        "float sum": "count(*) FILTER (WHERE " + repeated(count, " - ", ["f"]) + " < 0)",
        "parentheses to the right": "sum(" + nested(count, "(b + ", ")", "1") + ")",
        "parentheses to the left": "sum(" + "(" * count + "b" + " - n)" * count + ")",
        "CASE in ELSE": "sum(" + nested(count, "CASE WHEN b = 7 THEN 1 ELSE b + ", " END", "2") + ")",
        "CASE in WHEN": "count(" + nested(count, "CASE WHEN ", " > 0 THEN 1 ELSE 2 END", "b") + ")",
        "CASE of many branches": "sum(CASE b " + repeated(count, " ", ["WHEN {i} THEN n + {i}"]) + " ELSE 0 END)",
        "functions": "max(" + nested(count, "abs(", ")", "b") + ")",
        "coalesce": "sum(" + nested(count, "coalesce(nullif(b, 3), ", ")", "b") + ")",
        "text": "max(" + nested(min(count, 500), "upper(lower(", "))", "t") + ")",
        "concatenation": "max(length(" + repeated(min(count, 300), " || ", ["t", "'x'"]) + "))",
        "casts": "sum(" + nested(count, "((", "::bigint)::numeric)", "b") + ")",
        "AND": "count(*) FILTER (WHERE " + repeated(count, " AND ", ["b <> {i}", "n <> {i}"]) + ")",
        "OR": "count(*) FILTER (WHERE " + repeated(count, " OR ", ["b = {i}", "t = 'text {i}'"]) + ")",
        "AND in OR": "count(*) FILTER (WHERE " + nested(count, "(b > 5 AND (p OR ", "))", "n > 1") + ")",
        "NOT": "count(*) FILTER (WHERE " + nested(count, "NOT (", ")", "p") + ")",
        "overflow at the end": "sum(" + repeated(count, " + ", ["a"]) + " + 2147483647)",
        "division by zero inside": "sum(" + nested(count, "1 + (", ")", "1 / (a - a)") + ")",
    }


@pytest.mark.timeout(3600 * SLOWNESS)
@pytest.mark.parametrize("name", deep(1))
def test_deep(server, tables, name, is_long):
    for count in (1, 2, 300, 1000, 3000) if is_long else (1000,):
        check(server, tables, f"SELECT {deep(count)[name]} FROM tall WHERE a <= {4_000_000 // count if is_long else 3000}")


@pytest.mark.timeout(3600 * SLOWNESS)
@pytest.mark.parametrize("terms", [1200, 1400, 3000])
@pytest.mark.slow
def test_deep_over_many_rows(server, tables, terms, is_long):
    """In the engine's threads: their stacks are smaller than the process's."""
    if terms != 1400 and not is_long:
        pytest.skip("in the long form")
    check(server, tables, f"SELECT count(*) FROM tall WHERE {repeated(terms, ' + ', ['b'])} > 0")
    check(server, tables, f"SELECT count(*), max(b) FROM tall WHERE {nested(terms, '(p OR (b > 3 AND ', '))', 'p')} GROUP BY p")


@pytest.mark.timeout(3600 * SLOWNESS)
def test_too_deep_is_the_same_error(server, tables):
    """54001, as of PostgreSQL's own walk over the expression."""
    for levels in (5_000, 30_000):
        check(server, tables, f"SELECT count(*) FROM tall WHERE {nested(levels, '(b + ', ')', '1')} > 0 AND a < 100")
        check(server, tables, f"SELECT count(*) FROM tall WHERE {nested(levels, 'NOT (', ')', 'p')} AND a < 100")


LISTS = [
    "b IN ({numbers})", "a NOT IN ({numbers})", "n IN ({numbers})", "t IN ({texts})", "f IN ({numbers})", "a IN ({numbers}, NULL)",
    "t = ANY (ARRAY[{texts}])", "b = ANY ('{{{numbers}}}')", "a <> ALL ('{{{numbers}}}'::int[])", "b + 1 IN ({numbers})",
    "(a, b) IN ({pairs})",
]  # fmt: skip


@pytest.mark.timeout(3600 * SLOWNESS)
@pytest.mark.parametrize("condition", LISTS)
def test_long_lists(server, tables, condition, is_long):
    for length in (0, 1, 10_000, 100_000) if is_long else (10_000,):
        if not length and "ANY" not in condition and "ALL" not in condition:
            continue
        lists = {
            "numbers": ",".join(str(3 * i) for i in range(length)),
            "texts": ",".join(f"'text {7 * i}'" for i in range(length)),
            "pairs": ",".join(f"({i}, {i % 1000})" for i in range(min(length, 1000)) or [1]),
        }
        if not length and "ARRAY[" in condition:
            continue
        # PostgreSQL looks into a list of texts without a hash table for ALL and for unhashable types.
        check(server, tables, f"SELECT count(*), min(a), sum(b) FROM tall WHERE {condition.format(**lists)} AND a < 8000")


@pytest.mark.timeout(3600 * SLOWNESS)
def test_wide(server, tables, is_long):
    columns = [f"c{i}" for i in range(1600)]
    queries = [
        "SELECT * FROM wide",
        "SELECT count(*) FROM wide WHERE " + " + ".join(f"coalesce({column}, 0)" for column in columns[:1000]) + " > 100",
        "SELECT " + ", ".join(f"sum({column})" for column in columns[:1000]) + " FROM wide",
        "SELECT c0, " + ", ".join(f"{('min', 'max', 'count', 'avg')[i % 4]}({column})" for i, column in enumerate(columns[:1000])) + " FROM wide GROUP BY c0",
        "SELECT DISTINCT " + ", ".join(columns[:1500]) + " FROM wide",
        "SELECT * FROM wide ORDER BY " + ", ".join(columns[:1000]) + " LIMIT 100",
        "SELECT " + ", ".join(columns[:60]) + ", count(*) FROM wide GROUP BY " + ", ".join(columns[:60]),
        "SELECT " + ", ".join(f"count(*) FILTER (WHERE b % {i + 2} = 0)" for i in range(1000)) + " FROM tall WHERE a < 5000",
        "SELECT " + ", ".join(f"sum(b + {i})" for i in range(1664)) + " FROM tall WHERE a < 5000",
        "SELECT " + ", ".join(f"sum(b + {i})" for i in range(1665)) + " FROM tall WHERE a < 5000",
    ]  # fmt: skip
    for query in queries if is_long else queries[::3]:
        # the engine has a vector of 2048 rows for each expression
        check(server, tables, query, len(columns) * 2048 * 8)


HUGE_QUERIES = [
    "SELECT count(*), sum(length(v)), max(id) FROM {}",
    "SELECT id, octet_length(v), md5(v) FROM {} ORDER BY id",
    "SELECT max(v) IS NULL, min(left(v, 10)) FROM {}",
    "SELECT length(v), count(*) FROM {} GROUP BY v ORDER BY 1",
    "SELECT count(DISTINCT v) FROM {}",
    "SELECT id FROM {} WHERE v LIKE '%yz' ORDER BY v",
    "SELECT sum(length(upper(v))) FROM {} WHERE v >= 'x'",
    "SELECT sum(length(v || v)) FROM {}",
    "SELECT id, substr(v, 1, 3) FROM {} WHERE id % 2 = 0",
    "SELECT max(length(replace(v, 'x', 'xyzxyz'))) FROM {}",
]


@pytest.mark.timeout(3600 * SLOWNESS)
@pytest.mark.slow
def test_huge_values(server, database, is_long):
    """In the cache where they fit into it: values that do not compress, so that each takes its bytes."""
    with connect(server, database) as connection:
        for size in BIG["long" if is_long else "short"]:
            name = f"huge_{size}"
            rows = max(1, min(300, (20 << 20) // max(size, 1)))
            connection.execute(f"CREATE TABLE {name} (id int, v text)")
            # Random hexadecimal digits once, then repeated: text that compresses has other bounds.
            connection.execute(f"ALTER TABLE {name} ALTER v SET STORAGE EXTERNAL")
            block = "(SELECT string_agg(md5(g::text || r::text), '') FROM generate_series(1, 4096) AS g)"
            connection.execute(f"INSERT INTO {name} SELECT r, left(repeat({block}, {size // (4096 * 32) + 1}), {size}) FROM generate_series(1, {rows}) AS r")
            cache_table(connection, name)
    for size in BIG["long" if is_long else "short"]:
        for query in HUGE_QUERIES if is_long or size < 100 << 20 else HUGE_QUERIES[:2]:
            check(server, database, query.format(f"huge_{size}"), size)


@pytest.mark.timeout(3600 * SLOWNESS)
@pytest.mark.slow
def test_many_large_values(server, database, is_long):
    """More rows in a vector than values of this size fit into memory: stock holds one of them at a time."""
    size, rows = (1 << 20, 1000) if is_long else (200_000, 1500)
    with connect(server, database) as connection:
        connection.execute("CREATE TABLE large (id int, v text)")
        connection.execute(f"INSERT INTO large SELECT g, repeat('word ', {size // 5}) || g FROM generate_series(1, {rows}) AS g")
        connection.execute("VACUUM ANALYZE large")
        connection.execute("SELECT penumbra.load('large')")
    for expression in ("max(upper(v))", "sum(length(v || v))", "max(left(v || id, -5))", "count(*) FILTER (WHERE v LIKE '%x%')", "sum(length(replace(v, 'w', 'www')))"):
        check(server, database, f"SELECT id % 3, {expression} FROM large GROUP BY 1", size)
    check(server, database, "SELECT sum(length(v || v)) FROM large", size, 1 << 30)
