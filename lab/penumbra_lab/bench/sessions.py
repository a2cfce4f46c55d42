"""`penumbra bench sessions`: many sessions of analysts on one machine, alone and beside pgbench.

Each analyst runs TPC-H's queries in an order of its own; one more session asks a short query again
and again. Stock PostgreSQL, Penumbra and DuckDB, which has a cursor of one process for each
session, take turns. A query that is under way at the end counts by the part of its time before.
"""

import contextlib
import math
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from penumbra_lab.bench.queries import (
    DUCKDB_THREADS,
    STOCK_AND_PENUMBRA,
    loaded_server,
    warm,
)
from penumbra_lab.dataset import (
    load_cache,
    load_duckdb,
    make_files,
    progress_bars,
    step_bars,
)
from penumbra_lab.errors import LabError
from penumbra_lab.run.document import Metric, RunDocument, Variant, medians
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.pgbench import find_pgbench, run_pgbench, throughput
from penumbra_lab.run.recording import Outcome, alternating, measurement, record
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, number, plain_table
from penumbra_lab.system import DuckSystem, PostgresSystem
from penumbra_lab.workload import Query, read_workload

QUERIES = Metric("queries", "1/s", "higher")
MEDIAN = Metric("median", "ms", "lower")
P99 = Metric("p99", "ms", "lower")
SHORT_MEDIAN = Metric("short query, median", "ms", "lower")
SHORT_P99 = Metric("short query, p99", "ms", "lower")
MEMORY = Metric("peak memory", "MB", "lower")
THREADS = Metric("runnable engine threads, most", "1", "lower")
TRANSACTIONS = Metric("transactions", "1/s", "higher")

SHORT = "SELECT count(*), sum(c_acctbal) FROM customer WHERE c_mktsegment = 'BUILDING'"
SHORT_PAUSE_SECONDS = 0.05
WRITERS = 2
# A query that takes longer than this many measurements is not waited for.
PATIENCE = 20

System = PostgresSystem | DuckSystem


def percentile(values: list[float], percent: float) -> float:
    """By nearest rank; not a number of none."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


@dataclass(frozen=True)
class Asked:
    began: float
    ended: float

    @property
    def milliseconds(self) -> float:
        return 1000 * (self.ended - self.began)

    def share_before(self, moment: float) -> float:
        return min(1.0, max(0.0, (moment - self.began) / (self.ended - self.began)))


@dataclass
class Session:
    """Asks one query after the other until the end."""

    system: System
    queries: Iterator[str]
    pause_seconds: float = 0.0
    asked: list[Asked] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def work(self, end: float) -> None:
        while time.perf_counter() < end:
            began = time.perf_counter()
            try:
                self.system.run(next(self.queries))
                self.asked.append(Asked(began, time.perf_counter()))
            except (LabError, duckdb.Error) as error:
                self.errors.append(str(error))
            if self.pause_seconds:
                time.sleep(self.pause_seconds)


def shuffled(queries: tuple[Query, ...], seed: str, is_duck: bool) -> Iterator[str]:
    order = random.Random(seed)
    while True:
        for query in order.sample(queries, len(queries)):
            yield query.duckdb_sql if is_duck else query.sql


@dataclass
class Observer:
    """What processes take in memory of their own, and which threads of the engine could run."""

    find_processes: Callable[[], list[int]]
    memory: int = 0
    threads: int = 0
    is_over: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        while not self.is_over.wait(0.1):
            memory = threads = 0
            for process in self.find_processes():
                with contextlib.suppress(OSError):
                    memory += _own_bytes(process)
                    threads += _runnable_engine_threads(process)
            self.memory, self.threads = max(self.memory, memory), max(self.threads, threads)


def _own_bytes(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) << 10
    return 0


def _runnable_engine_threads(process: int) -> int:
    stats = (path.read_text() for path in Path(f"/proc/{process}/task").glob("*/stat"))
    return sum("(penumbra) R " in stat for stat in stats)


@dataclass(frozen=True)
class Bench:
    run: RunDocument
    server: PrivateServer
    duck: duckdb.DuckDBPyConnection | None
    queries: tuple[Query, ...]
    seconds: float

    def measure(self, variant: Variant, analysts: int, has_writers: bool, block: int) -> None:
        is_duck = variant.name == "DuckDB"
        workload = f"{analysts} sessions" + (" beside pgbench" if has_writers else "")
        with contextlib.ExitStack() as stack:
            sessions = [
                Session(self._open(stack, variant),
                        shuffled(self.queries, f"{number} {block}", is_duck))
                for number in range(analysts)
            ]  # fmt: skip
            short = Session(self._open(stack, variant), _endless(SHORT), SHORT_PAUSE_SECONDS)
            observer = Observer((lambda: [os.getpid()]) if is_duck else self.server.processes)
            with measurement(self.run, None) as samples:
                transactions, end = self._run([*sessions, short], observer, variant, has_writers)
                asked = [asked for session in sessions for asked in session.asked]
                begun = end - self.seconds
                values = {
                    QUERIES: sum(query.share_before(end) for query in asked) / self.seconds,
                    MEDIAN: percentile([query.milliseconds for query in asked], 50),
                    P99: percentile([query.milliseconds for query in asked], 99),
                    SHORT_MEDIAN: percentile([query.milliseconds for query in short.asked], 50),
                    SHORT_P99: percentile([query.milliseconds for query in short.asked], 99),
                    MEMORY: observer.memory / 1e6,
                    THREADS: float(observer.threads),
                    TRANSACTIONS: transactions,
                }  # fmt: skip
                for metric, value in values.items():
                    if not math.isnan(value):
                        samples.add(workload, variant.name, metric, value, block)
        errors = [error for session in [*sessions, short] for error in session.errors]
        self.run.content["sections"]["measurements"].append({
            "workload": workload, "variant": variant.name, "queries": len(asked),
            "longest, s": round(max((query.milliseconds for query in asked), default=0) / 1000, 2),
            "seconds": round(max((query.ended for query in asked), default=end) - begun, 1),
            "errors": len(errors), "first error": errors[0] if errors else "",
        })  # fmt: skip

    def _open(self, stack: contextlib.ExitStack, variant: Variant) -> System:
        if variant.name == "DuckDB":
            return DuckSystem(stack.enter_context(self.duck.cursor()))
        settings = variant.settings | {"statement_timeout": f"{self.seconds * PATIENCE:.0f}s"}
        return PostgresSystem(variant.name, stack.enter_context(self.server.connect()), settings)

    def _run(self, sessions: list[Session], observer: Observer, variant: Variant, has_writers: bool
             ) -> tuple[float, float]:  # fmt: skip
        """Transactions per second, and when the measured time ended."""
        end = time.perf_counter() + self.seconds
        threads = [threading.Thread(target=session.work, args=(end,)) for session in sessions]
        watcher = threading.Thread(target=observer.watch)
        for thread in [watcher, *threads]:
            thread.start()
        try:
            return (self._write(variant) if has_writers else math.nan), end
        finally:
            for thread in threads:
                thread.join()
            observer.is_over.set()
            watcher.join()

    def _write(self, variant: Variant) -> float:
        options = ["-n", "-M", "prepared", "-c", str(WRITERS), "-T", str(round(self.seconds))]
        mode = variant.settings["penumbra.mode"]
        environment = self.server.environment() | {"PGOPTIONS": f"-c penumbra.mode={mode}"}
        program = find_pgbench(self.server.installation.bin_directory)
        return throughput(run_pgbench(program, options, environment))


def _endless(sql: str) -> Iterator[str]:
    while True:
        yield sql


def bench_sessions(
    scale: float, counts: tuple[int, ...], seconds: float, rounds: int, with_stock: bool,
    with_duckdb: bool, settings: dict[str, str], keep: bool,
) -> Outcome:  # fmt: skip
    workload = read_workload("tpch")
    variants = STOCK_AND_PENUMBRA if with_stock else STOCK_AND_PENUMBRA[1:]
    if with_duckdb:
        variants = [*variants, Variant("DuckDB", "DuckDB", {})]
    with loaded_server(workload, scale, keep) as server, contextlib.ExitStack() as stack:
        duck = None
        server.restart({"max_connections": str(max(counts) + 40)} | settings)
        with progress_bars(console) as progress:
            if with_duckdb:
                files = make_files(workload, scale, progress)
                duck = stack.enter_context(
                    load_duckdb(workload, scale, files, DUCKDB_THREADS, progress)
                )
            load_cache(server, workload, progress)
        warm(server, workload.tables)
        program = find_pgbench(server.installation.bin_directory)
        run_pgbench(program, ["-i", "-q", "-s", "1"], server.environment())
        design = alternating(rounds, scale=scale) | {"seconds": seconds}
        run = RunDocument(
            "sessions", f"TPC-H, scale {scale:g}, by many sessions", describe_private(server),
            design | {"subject": "penumbra"}, variants, workload.description,
        )  # fmt: skip
        run.content["sections"] = {"measurements": []}
        queries = tuple(query for query in workload.queries if query.name.startswith("q"))
        bench = Bench(run, server, duck, queries, seconds)
        return record(run, lambda: _measure(bench, variants, counts, rounds))


def _measure(bench: Bench, variants: list[Variant], counts: tuple[int, ...], rounds: int) -> None:
    cases = [(variant, count, has_writers) for count in counts for has_writers in (False, True)
             for variant in variants if not (has_writers and variant.name == "DuckDB")]  # fmt: skip
    with step_bars(console) as progress:
        task = progress.add_task("", total=rounds * len(cases))
        for block in range(rounds):
            for variant, count, has_writers in cases if block % 2 == 0 else cases[::-1]:
                progress.update(task, description=f"{variant.label}, {count} sessions")
                bench.measure(variant, count, has_writers, block)
                progress.advance(task)


def sessions_table(document: dict):
    """A row for each number of sessions and system."""
    found = medians(document)
    metrics = (QUERIES, MEDIAN, P99, SHORT_MEDIAN, SHORT_P99, MEMORY, THREADS, TRANSACTIONS)
    errors: dict[tuple[str, str], int] = {}
    for entry in document["sections"]["measurements"]:
        key = entry["workload"], entry["variant"]
        errors[key] = errors.get(key, 0) + entry["errors"]
    rows = []
    for workload, variant in errors:
        values = [found.get((workload, metric.name, None), {}).get(variant) for metric in metrics]
        shown = ["" if value is None else number(value) for value in values]
        rows.append([workload, variant, *shown, str(errors[workload, variant])])
    columns = ["", "", *(f"{metric.name}, {metric.unit}" for metric in metrics), "errors"]
    return plain_table(document["title"], columns, rows)
