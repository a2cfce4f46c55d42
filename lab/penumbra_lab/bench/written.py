"""`penumbra bench written`: what is left of the cache's speed when tables are written.

Each measurement is a transaction of one snapshot: the query on Penumbra, then on PostgreSQL's own
executor, so that the answers can be compared at any time. What is written are copies in a schema of
their own, on the server of `bench tpch`.
"""

import contextlib
import itertools
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import psycopg

from penumbra_lab.bench.queries import STOCK_AND_PENUMBRA, loaded_server
from penumbra_lab.dataset import step_bars
from penumbra_lab.errors import LabError
from penumbra_lab.measure import choose_jit, in_mode, refusal_of_plan, run_paired
from penumbra_lab.run.document import Metric, RunDocument, medians
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.pgbench import child, find_pgbench, last_error, throughput
from penumbra_lab.run.recording import (
    MILLISECONDS,
    Outcome,
    Samples,
    alternating,
    measurement,
    record,
)
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, milliseconds, plain_table, ratio
from penumbra_lab.system import PostgresSystem
from penumbra_lab.workload import Query, read_workload

SHARES = (0.001, 0.01, 0.05, 0.2)
UPDATES_PER_SECOND = (320, 3200)
ROWS_PER_SECOND, ROWS_PER_INSERT = 20_000, 200
NOTHING_WRITTEN = "nothing written"
PARTS = ("shares", "refreshed", "streams", "appends")
SEARCH_PATH = "written,public"
# The table grows while it is measured, so a time alone would not tell.
ROW_RATE = Metric("rows aggregated", "1/s", "higher")

COPY_OF_LINEITEM = """
    DROP TABLE IF EXISTS written.lineitem;
    CREATE TABLE written.lineitem (LIKE public.lineitem) WITH (autovacuum_enabled = {autovacuum});
    INSERT INTO written.lineitem SELECT * FROM public.lineitem;
    ALTER TABLE written.lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber)"""
# What the queries ask for, so what the worker would cache.
LINEITEM_COLUMNS = ["l_returnflag", "l_linestatus", "l_quantity", "l_extendedprice", "l_discount",
                    "l_tax", "l_shipdate"]  # fmt: skip
# Every row has a place between 0 and 1; shares that grow take each row once.
UPDATE_SHARE = """
    UPDATE written.lineitem SET l_quantity = l_quantity % 50 + 1
    WHERE (hashint8(l_orderkey * 8 + l_linenumber)::bigint + 2147483648) / 4294967296.0
        <@ numrange({low}, {high})"""
# TPC-H's orders use the first 8 keys of each 32, and each order has a first line.
UPDATE_SCRIPT = """\\set i random(0, {orders} - 1)
\\set key (:i / 8) * 32 + :i % 8 + 1
UPDATE written.lineitem SET l_quantity = l_quantity % 50 + 1
WHERE l_orderkey = :key AND l_linenumber = 1;
"""
EVENTS = """
    CREATE TABLE written.events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at timestamptz NOT NULL, user_id integer NOT NULL, kind text NOT NULL,
        amount numeric(12, 2) NOT NULL, response_ms integer NOT NULL);
    INSERT INTO written.events (at, user_id, kind, amount, response_ms)
    SELECT now() - interval '1 day' * (1 - i / {rows}::float8), {values}
    FROM generate_series(1, {rows}) i;
    CREATE INDEX ON written.events (at)"""
EVENT_VALUES = """(random() * 100000)::integer, 'kind ' || i % 8,
        (random() * 1000)::numeric(12, 2), (random() * 5000)::integer"""
INSERT_SCRIPT = f"""INSERT INTO written.events (at, user_id, kind, amount, response_ms)
    SELECT clock_timestamp(), {EVENT_VALUES} FROM generate_series(1, {ROWS_PER_INSERT}) i;
"""
EVENT_COLUMNS = ["at", "kind", "amount", "response_ms"]
AGGREGATES = "SELECT kind, count(*), sum(amount), avg(response_ms), max(at) FROM events"
GROUPS = "GROUP BY kind ORDER BY kind"


def _query(name: str, sql: str) -> Query:
    return Query(name, name, sql, sql)


EVENT_QUERIES = (
    _query("last hour", f"{AGGREGATES} WHERE at >= now() - interval '1 hour' {GROUPS}"),
    _query("all events", f"{AGGREGATES} {GROUPS}"),
)


@dataclass(frozen=True)
class Form:
    scale: float
    runs: int
    stream_seconds: int
    pause_seconds: int  # after a stream, until it is measured what the worker has mended


FULL = Form(scale=1, runs=5, stream_seconds=60, pause_seconds=30)
SHORT = Form(scale=0.1, runs=3, stream_seconds=10, pause_seconds=10)


@dataclass(frozen=True)
class Bench:
    """One step is one thing that was written, and the queries that are measured then."""

    run: RunDocument
    server: PrivateServer
    system: PostgresSystem
    form: Form
    queries: tuple[Query, ...]
    table: str
    columns: list[str]
    metric: Metric
    jit: dict[str, str]  # what stock PostgreSQL is measured with, by query

    def prepare(self, script: str) -> None:
        """Makes the table, vacuumed, in shared buffers and cached."""
        for statement in [*script.split(";\n"), "CHECKPOINT", f"VACUUM (ANALYZE) {self.table}"]:
            self.system.connection.execute(statement)
        self.system.connection.execute("SELECT pg_prewarm(%s::regclass)", (self.table,))
        self.system.connection.execute(
            "SELECT penumbra.load(%s::regclass, %s)", (self.table, self.columns)
        )
        for query in self.queries:
            self.jit.setdefault(query.name, choose_jit(query, in_mode(self.system, "off"))[0])

    def measure_base(self) -> None:
        """What the other steps are compared with, once for the first part that has it."""
        known = {entry["base"] for entry in self.run.content["sections"]["steps"]}
        if f"{self.queries[0].name}, {NOTHING_WRITTEN}" not in known:
            self.measure(NOTHING_WRITTEN, range(self.form.runs))

    def refresh(self, step: str) -> None:
        began = time.monotonic()
        self.system.connection.execute("SELECT penumbra.refresh(%s::regclass)", (self.table,))
        self.run.content["sections"]["refreshes"].append(
            {"refresh": step, "milliseconds": round(1000 * (time.monotonic() - began), 1)}
        )

    def measure(self, step: str, blocks: Iterable[int], warm: bool = True) -> None:
        workloads = {query: f"{query.name}, {step}" for query in self.queries}
        if warm:
            for query in self.queries:
                run_paired(self.system, query, self.jit[query.name])
        with measurement(self.run, None) as samples:
            for block in blocks:
                for query, workload in workloads.items():
                    self._add(samples, workload, block, query)
        for query, workload in workloads.items():
            self.run.content["sections"]["steps"].append(
                {"query": query.name, "step": step, "workload": workload,
                 "base": f"{query.name}, {NOTHING_WRITTEN}", **self._served(),
                 "refusal": refusal_of_plan(in_mode(self.system, "auto").explain(query.sql))}
            )  # fmt: skip

    def stream(self, step: str, script: str, rate: int) -> None:
        """Measures while pgbench runs the script, and what is left after it."""
        path = self.server.directory / "written.sql"
        path.write_text(script)
        command = [find_pgbench(self.server.installation.bin_directory), "-n", "-M", "prepared",
                   "-c", "2", "-R", str(rate), "-T", str(self.form.stream_seconds),
                   "-f", str(path)]  # fmt: skip
        with child(command, self.server.environment()) as writer:
            blocks = itertools.takewhile(lambda _: writer.poll() is None, itertools.count())
            self.measure(step, blocks, warm=False)
            output, errors = writer.communicate()
        if writer.returncode != 0:
            raise LabError(f"pgbench failed: {last_error(errors)}")
        self.run.content["sections"]["streams"].append(
            {"stream": step, "transactions/s asked": rate,
             "transactions/s": round(throughput(output), 1)}
        )  # fmt: skip
        time.sleep(self.form.pause_seconds)
        self.measure(f"{self.form.pause_seconds} s after {step}", range(self.form.runs))

    def _add(self, samples: Samples, workload: str, block: int, query: Query) -> None:
        answers = run_paired(self.system, query, self.jit[query.name])
        for variant, answer in zip(("penumbra", "stock"), answers, strict=True):
            value = 1000 * answer.seconds
            if self.metric is ROW_RATE:
                value = sum(int(row[1]) for row in answer.rows) / answer.seconds
            samples.add(workload, variant, self.metric, value, block)

    def _served(self) -> dict[str, int]:
        row = self.system.connection.execute(
            "SELECT pages_from_cache, pages_row_by_row, pages_from_heap"
            " FROM penumbra.explain_coverage(%s::regclass, %s)",
            (self.table, self.columns),
        ).fetchone()
        names = ("pages cached", "pages row by row", "pages of the heap")
        return dict(zip(names, row, strict=True))


def bench_written(form: Form, keep: bool, parts: Collection[str] = PARTS) -> Outcome:
    workload = read_workload("tpch")
    queries = tuple(query for query in workload.queries if query.name[:3] in ("q01", "q06"))
    with loaded_server(workload, form.scale, keep) as server:
        design = alternating(form.runs, scale=form.scale, stream_seconds=form.stream_seconds)
        run = RunDocument(
            "written", f"written tables, scale {form.scale:g}", describe_private(server),
            design | {"subject": "penumbra"}, STOCK_AND_PENUMBRA,
            "Speed before, while and after a cached table is written",
        )  # fmt: skip
        run.content["sections"] = {"steps": [], "refreshes": [], "streams": []}
        try:
            return record(run, lambda: _measure(run, server, form, queries, parts))
        finally:
            # Where the server is gone, the next run drops it.
            with contextlib.suppress(psycopg.Error), server.connect() as connection:
                connection.execute("DROP SCHEMA IF EXISTS written CASCADE")


def _measure(
    run: RunDocument, server: PrivateServer, form: Form, queries: tuple[Query, ...],
    parts: Collection[str],
) -> None:  # fmt: skip
    steps = {"shares": len(SHARES), "refreshed": len(SHARES), "streams": len(UPDATES_PER_SECOND),
             "appends": 2}  # fmt: skip
    with step_bars(console) as progress:
        task = progress.add_task("", total=sum(steps[part] for part in parts))

        def next_step(text: str) -> str:
            progress.update(task, description=text)
            progress.advance(task)
            return text

        with server.connect() as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
            connection.execute("DROP SCHEMA IF EXISTS written CASCADE")
            connection.execute("CREATE SCHEMA written")
        lines = ("written.lineitem", LINEITEM_COLUMNS, MILLISECONDS, {})
        with server.connect(search_path=SEARCH_PATH) as connection:
            system = PostgresSystem("server", connection, {})
            bench = Bench(run, server, system, form, queries, *lines)
            for part in ("shares", "refreshed"):
                if part in parts:
                    _measure_shares(bench, next_step, is_refreshed=part == "refreshed")
        server.restart({"penumbra.auto_load": "on"})
        with server.connect(search_path=SEARCH_PATH) as connection:
            system = PostgresSystem("server", connection, {})
            if "streams" in parts:
                _measure_streams(Bench(run, server, system, form, queries, *lines), next_step)
            if "appends" in parts:
                events = Bench(run, server, system, form, EVENT_QUERIES, "written.events",
                               EVENT_COLUMNS, ROW_RATE, {})  # fmt: skip
                _measure_appends(events, next_step)


def _measure_shares(lines: Bench, next_step: Callable[[str], str], is_refreshed: bool) -> None:
    """Without vacuum and without the worker, at once or after what that would do."""
    lines.prepare(COPY_OF_LINEITEM.format(autovacuum="off"))
    lines.measure_base()
    low = 0.0
    for share in SHARES:
        step = next_step(f"{share * 100:g} % updated" + (", refreshed" if is_refreshed else ""))
        lines.system.connection.execute(UPDATE_SHARE.format(low=low, high=share))
        low = share
        if is_refreshed:
            lines.refresh(step)
        lines.measure(step, range(lines.form.runs))


def _measure_streams(lines: Bench, next_step: Callable[[str], str]) -> None:
    lines.prepare(COPY_OF_LINEITEM.format(autovacuum="on"))
    lines.measure_base()
    script = UPDATE_SCRIPT.format(orders=int(1_500_000 * lines.form.scale))
    for rate in UPDATES_PER_SECOND:
        lines.stream(next_step(f"{rate:,} updates/s"), script, rate)


def _measure_appends(events: Bench, next_step: Callable[[str], str]) -> None:
    step = next_step(f"{ROWS_PER_SECOND:,} inserts/s")
    rows = int(6_000_000 * events.form.scale)
    events.prepare(EVENTS.format(rows=rows, values=EVENT_VALUES))
    events.measure_base()
    events.stream(step, INSERT_SCRIPT, ROWS_PER_SECOND // ROWS_PER_INSERT)
    step = next_step(f"{step}, an old snapshot open")
    # Vacuum can make nothing all-visible that is inserted from now on.
    with events.server.connect() as old:
        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT")
        events.stream(step, INSERT_SCRIPT, ROWS_PER_SECOND // ROWS_PER_INSERT)


def written_table(document: dict):
    """How much faster than stock, and how much of the speed of the untouched table is left."""
    found = {workload: (metric, row) for (workload, metric, _), row in medians(document).items()}
    rows = []
    for entry in document["sections"]["steps"]:
        if entry["workload"] not in found:
            continue  # its stream ended before the first measurement
        metric, row = found[entry["workload"]]
        is_rate = metric == ROW_RATE.name
        speed = {name: value if is_rate else 1 / value for name, value in row.items()}
        base = found[entry["base"]][1]["penumbra"]
        shown = [f"{row[name] / 1e6:,.1f} M/s" if is_rate else milliseconds(row[name] / 1000)
                 for name in ("stock", "penumbra")]  # fmt: skip
        rows.append([
            entry["query"], entry["step"], *shown, ratio(speed["penumbra"] / speed["stock"]),
            f"{speed['penumbra'] / (base if is_rate else 1 / base):.0%}",
            "yes" if not entry["refusal"] else "no",
        ])  # fmt: skip
    title = f"{document['title']}: median milliseconds, or rows per second; answers equal"
    columns = ["query", "written", "PostgreSQL", "Penumbra", "vs PostgreSQL", "of all cached",
               "engine"]  # fmt: skip
    return plain_table(title, columns, rows)
