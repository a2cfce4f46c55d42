"""`penumbra bench keytree`: keytree indexes beside btree's, in turns on one server."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import psycopg

from penumbra_lab.dataset import step_bars
from penumbra_lab.run.document import Metric, RunDocument, Variant, median_ratio, medians
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.recording import MILLISECONDS, Outcome, alternating, measurement, record
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, plain_table
from penumbra_lab.state import state_directory

SETTINGS = {
    "shared_preload_libraries": "penumbra_keytree",
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "maintenance_work_mem": "512MB",
    "autovacuum": "off",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
}
METHODS = ("btree", "keytree")
VARIANTS = [Variant("btree", "btree", {}), Variant("keytree", "penumbra_keytree", {})]
SIZE = Metric("size", "bytes", "lower")
NANOSECONDS = Metric("time", "ns", "lower")

RANDOM_INT8 = "('x' || left(md5(i::text), 16))::bit(64)::int8"
RANDOM_INT4 = "('x' || left(md5({salt} || i::text), 8))::bit(32)::int4"
UUID = "md5(i::text)::uuid"
ARRAY_KEYS = 1000
ARRAYS = 200
FORCE_LOOKUPS = """
    SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off;
    SET enable_bitmapscan = off; SET enable_material = off; SET enable_memoize = off"""


@dataclass(frozen=True)
class Case:
    """measure(connection, method, rows) does the work once and returns what it cost."""

    workload: str
    metric: Metric
    target: float  # of keytree's cost divided by btree's
    measure: Callable[[psycopg.Connection, str, int], float]


def _milliseconds(connection: psycopg.Connection, statement: str) -> float:
    began = time.perf_counter()
    connection.execute(statement)
    return 1000 * (time.perf_counter() - began)


def _insert_into_four(kind: str):
    def measure(connection: psycopg.Connection, method: str, rows: int) -> float:
        connection.execute(f"""
            DROP TABLE IF EXISTS filled;
            CREATE {kind} TABLE filled (a int4, b int4, c int4, d int4);
            CREATE INDEX ON filled USING {method} (a); CREATE INDEX ON filled USING {method} (b);
            CREATE INDEX ON filled USING {method} (c); CREATE INDEX ON filled USING {method} (d);
            CHECKPOINT""")
        return _milliseconds(connection, "INSERT INTO filled SELECT * FROM four")

    return measure


def _create_index(column: str):
    def measure(connection: psycopg.Connection, method: str, rows: int) -> float:
        connection.execute("DROP INDEX IF EXISTS built; CHECKPOINT")
        return _milliseconds(connection, f"CREATE INDEX built ON source USING {method} ({column})")

    return measure


def _size_after_inserts(column: str, column_type: str):
    def measure(connection: psycopg.Connection, method: str, rows: int) -> float:
        connection.execute(f"""
            DROP TABLE IF EXISTS filled;
            CREATE UNLOGGED TABLE filled (a {column_type});
            CREATE INDEX filled_a ON filled USING {method} (a);
            INSERT INTO filled SELECT {column} FROM source""")
        return connection.execute("SELECT pg_relation_size('filled_a')").fetchone()[0]

    return measure


def _join(connection: psycopg.Connection, method: str, rows: int) -> float:
    return _milliseconds(
        connection, f"SELECT count(*) FROM source s JOIN {method}_table t ON t.id = s.id"
    )


def _arrays(connection: psycopg.Connection, method: str, rows: int) -> float:
    step = rows // ARRAY_KEYS
    return _milliseconds(connection, f"""
        DO $$ BEGIN FOR k IN 1..{ARRAYS} LOOP
            PERFORM count(*) FROM {method}_table WHERE id = ANY (ARRAY(
                SELECT i * {step} - k % {step} FROM generate_series(1, {ARRAY_KEYS}) i));
        END LOOP; END $$""")  # fmt: skip


def _prepared_lookup(connection: psycopg.Connection, method: str, rows: int) -> float:
    looked_up = connection.execute(f"""
        SELECT ns_per_execution FROM penumbra_bench.exec_query_in_key_loop(
            'SELECT id FROM {method}_table WHERE id = $1', 200000,
            ARRAY(SELECT i * 7919::int8 % {rows} + 1 FROM generate_series(1, 20000) i))""")
    return float(looked_up.fetchone()[0])


def cases() -> list[Case]:
    return [
        Case("insert, 4 indexes, unlogged", MILLISECONDS, 0.5, _insert_into_four("UNLOGGED")),
        Case("insert, 4 indexes, logged", MILLISECONDS, 0.6, _insert_into_four("")),
        Case("nested-loop join", MILLISECONDS, 0.5, _join),
        Case(f"= ANY of {ARRAY_KEYS} keys", MILLISECONDS, 0.4, _arrays),
        Case("prepared lookup in the server", NANOSECONDS, 0.85, _prepared_lookup),
        Case("CREATE INDEX, int8", MILLISECONDS, 0.4, _create_index("random")),
        Case("CREATE INDEX, int8 ascending", MILLISECONDS, 0.4, _create_index("place")),
        Case("CREATE INDEX, one value", MILLISECONDS, 0.4, _create_index("same")),
        Case("CREATE INDEX, uuid", MILLISECONDS, 0.4, _create_index("u")),
        Case("size after inserts, int8", SIZE, 0.55, _size_after_inserts("random", "int8")),
        Case("size after inserts, uuid", SIZE, 0.65, _size_after_inserts("u", "uuid")),
    ]


def _load(connection: psycopg.Connection, rows: int) -> None:
    four = ", ".join(f"{RANDOM_INT4.format(salt=salt)} AS c{salt}" for salt in range(4))
    connection.execute(f"""
        CREATE EXTENSION penumbra_keytree; CREATE EXTENSION penumbra_bench;
        CREATE UNLOGGED TABLE four AS SELECT {four} FROM generate_series(1, {rows}) i;
        CREATE UNLOGGED TABLE source AS SELECT i::int8 AS id, {RANDOM_INT8} AS random, {UUID} AS u,
                row_number() OVER () AS place, 42::int8 AS same
            FROM (SELECT i FROM generate_series(1, {rows}) i ORDER BY md5(i::text)) shuffled""")
    for method in METHODS:
        connection.execute(
            f"CREATE UNLOGGED TABLE {method}_table AS"
            f" SELECT i::int8 AS id FROM generate_series(1, {rows}) i"
        )
        connection.execute(f"CREATE INDEX ON {method}_table USING {method} (id)")
        connection.execute(f"VACUUM ANALYZE {method}_table")
    connection.execute("VACUUM ANALYZE source")
    connection.execute("VACUUM ANALYZE four")
    connection.execute(FORCE_LOOKUPS)


def bench_keytree(rows: int, rounds: int) -> Outcome:
    server = PrivateServer(state_directory() / "server-keytree", SETTINGS)
    server.remove()
    try:
        with server, server.connect() as connection:
            _load(connection, rows)
            run = RunDocument(
                "keytree", f"keytree beside btree, {rows:,} rows", describe_private(server),
                alternating(rounds, rows=rows), VARIANTS,
            )  # fmt: skip
            run.content["sections"] = {"cases": []}
            return record(run, lambda: _measure_cases(connection, run, rows, rounds))
    finally:
        server.remove()


def _measure_cases(
    connection: psycopg.Connection, run: RunDocument, rows: int, rounds: int
) -> None:
    with step_bars(console) as progress:
        task = progress.add_task("keytree", total=len(cases()))
        for case in cases():
            progress.update(task, description=case.workload)
            with measurement(run, connection) as samples:
                for block in range(rounds):
                    # who goes first changes from round to round
                    for method in METHODS if block % 2 == 0 else reversed(METHODS):
                        value = case.measure(connection, method, rows)
                        samples.add(case.workload, method, case.metric, value, block)
            run.content["sections"]["cases"].append(
                {"workload": case.workload, "target": case.target,
                 "ratio": round(median_ratio(run.content, case.workload, "keytree", "btree"), 3)}
            )  # fmt: skip
            progress.advance(task)


def keytree_table(document: dict):
    by_workload = {case["workload"]: case for case in document["sections"]["cases"]}
    units = {case.workload: case.metric.unit for case in cases()}
    rows = []
    for (workload, _, _), row in medians(document).items():
        case = by_workload[workload]
        shown = [f"{row[method]:,.0f} {units[workload]}" for method in METHODS]
        rows.append([workload, *shown, f"{case['ratio']:.2f}", f"{case['target']:.2f}"])
    return plain_table(document["title"], ["", "btree", "keytree", "ratio", "at most"], rows)
