"""`penumbra bench numeric`: penumbra_numeric against the server's own functions.

Every case is one query in two spellings, {} being the schema of its functions: pg_catalog or
penumbra_numeric. Both run in turn in one session, so that the machine's drift falls on both; what
counts is the median of the paired ratios. Answers are compared first.
"""

import time
from dataclasses import dataclass

import psycopg

from penumbra_lab.dataset import step_bars
from penumbra_lab.errors import LabError
from penumbra_lab.run.document import RunDocument, Variant, median_ratio, medians
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.recording import MILLISECONDS, Outcome, alternating, measurement, record
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, milliseconds, plain_table
from penumbra_lab.state import state_directory

SETTINGS = {"shared_buffers": "512MB", "autovacuum": "off", "jit": "off",
            "max_parallel_workers_per_gather": "0"}  # fmt: skip
SCHEMAS = ("pg_catalog", "penumbra_numeric")
VARIANTS = [Variant(SCHEMAS[0], "PostgreSQL", {}), Variant(SCHEMAS[1], SCHEMAS[1], {})]

# Around the lengths from which the extension's own long arithmetic is taken.
THRESHOLD_LENGTHS = (8, 12, 16, 20, 30, 40, 60, 80, 100, 150, 200, 300)
# The longest: the product of two whole numbers of 65,537 digits would no longer fit numeric.
LENGTHS = sorted({*THRESHOLD_LENGTHS, 400, 1000, 4000, 65_000})

TABLES = """
CREATE TABLE money AS
    SELECT (random() * 1e7)::numeric(12, 2) AS a, (1 + random() * 1e5)::numeric(12, 2) AS b
    FROM generate_series(1, {rows});
CREATE TABLE tiny AS
    SELECT (1 + i % 9)::numeric AS a, (1 + i % 7)::numeric AS b FROM generate_series(1, {rows}) i;
CREATE FUNCTION digits(count int) RETURNS text LANGUAGE sql AS $$
    SELECT '1' || string_agg(floor(random() * 10)::int::text, '') FROM generate_series(2, count) $$;
CREATE TABLE classic AS SELECT digits(200 + i * 40)::numeric AS n FROM generate_series(1, 10) i;
CREATE TABLE long AS
    SELECT length, digits(length)::numeric AS a, digits(length)::numeric AS b,
        ('0.' || left(digits(length), 4000))::numeric AS c,
        ('1.' || left(digits(length), 4000))::numeric AS d
    FROM unnest(ARRAY{lengths}) length;
VACUUM ANALYZE;
"""


@dataclass(frozen=True)
class Case:
    label: str
    query: str
    target: dict[int, float]  # by major version: the most that the ratio may be


def _targets(before_18: float, since_18: float | None = None) -> dict[int, float]:
    since_18 = since_18 or before_18
    return {15: before_18, 16: before_18, 17: before_18, 18: since_18, 19: since_18}


def _rows(label: str, expression: str, table: str, targets: dict[int, float]) -> Case:
    return Case(label, f"SELECT {expression} FROM {table}", targets)


def _long(
    label: str, expression: str, length: int, repeats: int, targets: dict[int, float]
) -> Case:
    source = f"long, generate_series(1, {repeats}) WHERE length = {length}"
    return _rows(label, f"count({expression})", source, targets)


def cases() -> list[Case]:
    small, unset = _targets(1.05), {}
    times, over = "a OPERATOR({0}.*) b", "c OPERATOR({0}./) d"
    cross = "classic x, classic y, generate_series(1, 100)"
    return [
        _rows("sum(a * b), numeric(12,2)", f"{{0}}.sum({times})", "money", _targets(0.6)),
        _rows("sum(a), numeric(12,2)", "{0}.sum(a)", "money", unset),
        _rows("avg(a), numeric(12,2)", "{0}.avg(a)", "money", unset),
        _rows("stddev(a), numeric(12,2)", "{0}.stddev(a)", "money", unset),
        _rows("max(a + b), numeric(12,2)", "{0}.max(a OPERATOR({0}.+) b)", "money", unset),
        _rows("max(a / b), numeric(12,2)", "{0}.max(a OPERATOR({0}./) b)", "money", unset),
        _rows("a < b, numeric(12,2)", "count(nullif({0}.numeric_lt(a, b), false))", "money", unset),
        _rows("round(a, 1), numeric(12,2)", "count({0}.round(a, 1))", "money", unset),
        _rows("sqrt(a), numeric(12,2)", "count({0}.sqrt(a))", "money", unset),
        *(_rows(f"a {sign} b, one digit", f"count(a OPERATOR({{0}}.{sign}) b)", "tiny", small)
          for sign in "+-*/%"),
        _rows("10 x 10 products, 200-600 digits", "count(x.n OPERATOR({0}.*) y.n)", cross,
              _targets(0.4, 0.7)),
        _long("product, 20 digits", times, 20, 100_000, unset),
        _long("product, 40 digits", times, 40, 100_000, small),
        _long("product, 100 digits", times, 100, 50_000, small),
        _long("product, 4,000 digits", times, 4000, 200, _targets(0.15, 0.4)),
        _long("product, 65,000 digits", times, 65_000, 1, _targets(0.02)),
        _long("quotient, 20 digits", over, 20, 50_000, small),
        _long("quotient, 40 digits", over, 40, 50_000, small),
        _long("quotient, 100 digits", over, 100, 20_000, small),
        _long("quotient, 400 digits", over, 400, 2_000, _targets(0.1, 0.8)),
        _long("sqrt, 40 digits", "{0}.sqrt(c)", 40, 20_000, small),
        _long("sqrt, 1,000 digits", "{0}.sqrt(c)", 1000, 500, _targets(0.3)),
        _long("exp, 1,000 digits", "{0}.exp(d)", 1000, 3, _targets(0.3)),
        _long("ln, 1,000 digits", "{0}.ln(d)", 1000, 2, _targets(0.3)),
        _rows("factorial(5,000)", "count({0}.factorial(5000))", "generate_series(1, 3)", unset),
    ]  # fmt: skip


THRESHOLD_EXPRESSIONS = {
    "product": ("a OPERATOR({0}.*) b", 20_000),
    "quotient": ("c OPERATOR({0}./) d", 10_000),
    "remainder": ("a OPERATOR({0}.%) trunc(b, -2)", 10_000),
    "gcd": ("{0}.gcd(a, b)", 2_000),
    "sqrt": ("{0}.sqrt(c)", 5_000),
    "exp": ("{0}.exp(d)", 500),
    "ln": ("{0}.ln(d)", 500),
    "log": ("{0}.log(d, a)", 200),
    "power": ("{0}.power(d, c)", 200),
    "power to 7": ("{0}.power(d, 7)", 5_000),
}


def threshold_cases() -> list[Case]:
    return [_long(f"{name}, {length} digits", expression, length, repeats, {})
            for name, (expression, repeats) in THRESHOLD_EXPRESSIONS.items()
            for length in THRESHOLD_LENGTHS]  # fmt: skip


def bench_numeric(rows: int, runs: int, thresholds: bool = False) -> Outcome:
    server = PrivateServer(state_directory() / "server-numeric", SETTINGS)
    server.remove()
    try:
        with server, server.connect() as connection:
            with console.status("tables"):
                connection.execute("CREATE EXTENSION penumbra_numeric")
                connection.execute("SELECT setseed(0.5)")
                for statement in _statements(TABLES.format(rows=rows, lengths=LENGTHS)):
                    connection.execute(statement)
            run = RunDocument(
                "numeric", f"numeric, {rows:,} rows", describe_private(server),
                alternating(runs, rows=rows), VARIANTS,
            )  # fmt: skip
            run.content["sections"] = {"targets": []}
            chosen = threshold_cases() if thresholds else cases()
            return record(run, lambda: _measure_cases(connection, run, runs, chosen))
    finally:
        server.remove()


def _statements(script: str) -> list[str]:
    return [statement for statement in script.split(";\n") if statement.strip()]


def _measure_cases(
    connection: psycopg.Connection, run: RunDocument, runs: int, chosen: list[Case]
) -> None:
    major = connection.info.server_version // 10000
    with step_bars(console) as progress:
        task = progress.add_task("cases", total=len(chosen))
        for case in chosen:
            _measure(connection, run, case, runs)
            if major in case.target:
                run.content["sections"]["targets"].append(
                    {"case": case.label, "ratio": _ratio(run.content, case.label),
                     "at most": case.target[major]}
                )  # fmt: skip
            progress.advance(task)


def _measure(connection: psycopg.Connection, run: RunDocument, case: Case, runs: int) -> None:
    queries = {schema: case.query.format(schema) for schema in SCHEMAS}
    answers = {schema: connection.execute(query).fetchall() for schema, query in queries.items()}
    if answers[SCHEMAS[0]] != answers[SCHEMAS[1]]:
        raise LabError(f"{case.label}: the answers differ: {answers}")
    with measurement(run, connection) as samples:
        for block in range(runs):
            for schema in SCHEMAS if block % 2 == 0 else reversed(SCHEMAS):
                begin = time.perf_counter()
                connection.execute(queries[schema])
                milliseconds = (time.perf_counter() - begin) * 1000
                samples.add(case.label, schema, MILLISECONDS, milliseconds, block)


def _ratio(document: dict, label: str) -> float:
    return round(median_ratio(document, label, SCHEMAS[1], SCHEMAS[0]), 4)


def numeric_table(document: dict):
    targets = {t["case"]: f"{t['at most']:g}" for t in document["sections"]["targets"]}
    rows = [
        [label, *(milliseconds(row[schema] / 1000) for schema in SCHEMAS),
         f"{_ratio(document, label):.3f}", targets.get(label, "")]
        for (label, _, _), row in medians(document).items()
    ]  # fmt: skip
    title = f"{document['title']}: median milliseconds, and their ratio"
    return plain_table(title, ["", *SCHEMAS, "ratio", "at most"], rows)
