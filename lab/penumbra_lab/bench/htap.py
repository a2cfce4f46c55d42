"""`penumbra bench htap`: CH-benCHmark, TPC-C's transactions beside analytic queries of its tables.

pgbench runs the five transactions in TPC-C's mix; analysts run the 22 queries in random orders. A
grid of writers and analysts gives the frontier of HATtrick (Milkai et al.), with its freshness:
each client numbers its transactions in the database, each query reads the numbers in its snapshot,
and is as stale as the first transaction that it should have seen and did not.
"""

import contextlib
import math
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from penumbra_lab.bench.queries import STOCK_AND_PENUMBRA, loaded_server
from penumbra_lab.dataset import load_cache, progress_bars, step_bars
from penumbra_lab.errors import LabError
from penumbra_lab.measure import Systems, check_query, in_mode, run_paired
from penumbra_lab.run.document import Metric, RunDocument, medians
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.pgbench import find_pgbench, run_pgbench, throughput
from penumbra_lab.run.recording import Outcome, alternating, measurement, one_line, record
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, number, plain_table
from penumbra_lab.system import PostgresSystem
from penumbra_lab.workload import Query, Workload, read_workload

MODES = {variant.name: variant.settings["penumbra.mode"] for variant in STOCK_AND_PENUMBRA}
# TPC-C's mix, in percent.
MIX = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}
# Those that write, so those that are numbered, by pgbench's number of the script.
NUMBERED = [number for number, name in enumerate(MIX)
            if name not in ("order_status", "stock_level")]  # fmt: skip
TRANSACTIONS = Metric("transactions", "1/s", "higher")
QUERIES = Metric("analytic queries", "1/s", "higher")


# TPC-C's consistency conditions 1 to 4 (its clause 3.3.2), as counts of what breaks them.
CONSISTENCY = """
SELECT
    (SELECT count(*) FROM warehouse
     WHERE w_ytd <> (SELECT sum(d_ytd) FROM district WHERE d_w_id = w_id)) AS ytd,
    (SELECT count(*) FROM district
     WHERE d_next_o_id - 1 <> (SELECT max(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id)
    ) AS next_order,
    (SELECT count(*)
     FROM (SELECT max(no_o_id) - min(no_o_id) + 1 - count(*) AS gap
           FROM new_order GROUP BY no_w_id, no_d_id) gaps
     WHERE gap <> 0) AS gaps,
    (SELECT sum(o_ol_cnt) FROM orders) - (SELECT count(*) FROM order_line) AS lines"""


@dataclass(frozen=True)
class Mix:
    """So many clients of each kind at once."""

    writers: int
    analysts: int

    def __str__(self) -> str:
        return f"{_plural(self.writers, 'writer')}, {_plural(self.analysts, 'analyst')}"


def _plural(count: float, what: str) -> str:
    return f"{count:g} {what}{'' if count == 1 else 's'}"


def _asked(rate: int | None) -> str:
    return "" if rate is None else f", {rate} transactions/s asked"


def grid(writers: int, analysts: int) -> list[Mix]:
    """None, half and all of each."""

    def levels(count: int) -> list[int]:
        return sorted({0, (count + 1) // 2, count})

    return [Mix(w, a) for w in levels(writers) for a in levels(analysts) if w or a]


@dataclass(frozen=True)
class Seen:
    """What a query saw: the number of each client's last transaction."""

    began: float
    numbers: dict[int, int]
    query: str = ""
    seconds: float = 0.0


@dataclass
class Analyst:
    """One session that runs the queries round and round until it is stopped."""

    connection: psycopg.Connection
    mode: str
    queries: list[Query]
    jit: dict[str, str]
    random: random.Random
    is_stopped: threading.Event
    finished: list[Seen] = field(default_factory=list)
    failure: Exception | None = None

    def work(self) -> None:
        system = PostgresSystem("analyst", self.connection, {})
        try:
            for query in self._endless_queries():
                seen = self._ask(system, query)
                if self.is_stopped.is_set():
                    return
                self.finished.append(seen)
        except (LabError, psycopg.Error) as error:
            # What still ran at the end was cancelled.
            self.failure = None if self.is_stopped.is_set() else error

    def _endless_queries(self) -> Iterator[Query]:
        while True:
            yield from self.random.sample(self.queries, len(self.queries))

    def _ask(self, system: PostgresSystem, query: Query) -> Seen:
        in_mode(system, self.mode, self.jit[query.name] if self.mode == "off" else "on")
        began = time.time()
        self.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        answer = system.run(query.sql)
        if self.mode != "off":
            # However small the table is: it is the engine whose freshness is asked.
            system.set("penumbra.mode", "prefer")
        numbers = system.run("SELECT client, max(number) FROM freshness GROUP BY client")
        self.connection.execute("COMMIT")
        seen = {int(client): int(number) for client, number in numbers.rows}
        return Seen(began, seen, query.name, answer.seconds)


def staleness(seen: Seen, committed: dict[int, list[float]]) -> float:
    """Seconds from the commit of the first transaction that was not seen to the query's begin."""
    missed = [times[seen.numbers[client]] for client, times in committed.items()
              if len(times) > seen.numbers[client]]  # fmt: skip
    return max(0.0, seen.began - min(missed, default=seen.began))


def read_commits(logs: Iterable[Path]) -> dict[int, list[float]]:
    """From pgbench's logs: when each client's numbered transactions ended."""
    committed: dict[int, list[float]] = {}
    for log in logs:
        for line in log.read_text().splitlines():
            client, _, _, script, seconds, microseconds = map(int, line.split()[:6])
            if script in NUMBERED:
                committed.setdefault(client + 1, []).append(seconds + microseconds / 1e6)
    return committed


@dataclass(frozen=True)
class Point:
    transactions: float  # per second
    queries: float
    seen: list[Seen]
    scores: list[float]  # seconds; of each query


@dataclass(frozen=True)
class Bench:
    run: RunDocument
    server: PrivateServer
    workload: Workload
    warehouses: float
    seconds: int
    rate: int | None  # transactions per second that the writers ask for; None: what they can
    jit: dict[str, str]  # what stock PostgreSQL is measured with, by query
    times: dict[tuple[str, str], list[float]]  # by query and variant

    def measure(self, mix: Mix, variant: str, block: int) -> None:
        self._reset_numbers(mix.writers)
        with measurement(self.run, None) as samples:
            point = self._run_clients(mix, MODES[variant], block)
            if mix.writers:
                samples.add(str(mix), variant, TRANSACTIONS, point.transactions, block)
            if mix.analysts:
                samples.add(str(mix), variant, QUERIES, point.queries, block)
        for seen in point.seen:
            self.times.setdefault((seen.query, variant), []).append(1000 * seen.seconds)
        self.run.content["sections"]["frontier"].append({
            "variant": variant, "writers": mix.writers, "analysts": mix.analysts,
            "transactions": round(point.transactions, 1), "queries": round(point.queries, 3),
            "stale": sum(score > 0 for score in point.scores), "asked": len(point.scores),
            "worst freshness": round(max(point.scores, default=0.0), 3),
        })  # fmt: skip

    def _reset_numbers(self, clients: int) -> None:
        with self.server.connect() as connection:
            connection.execute("TRUNCATE freshness")
            connection.execute(
                "INSERT INTO freshness SELECT i, 0 FROM generate_series(1, %s) i", (clients,)
            )
            connection.execute("CHECKPOINT")
            connection.execute("VACUUM (ANALYZE) freshness")
            connection.execute("SELECT penumbra.load('freshness')")

    def _run_clients(self, mix: Mix, mode: str, block: int) -> Point:
        is_stopped = threading.Event()
        with contextlib.ExitStack() as stack:
            analysts = [
                Analyst(stack.enter_context(self.server.connect()), mode,
                        list(self.workload.queries), self.jit,
                        random.Random(f"{number} {block}"), is_stopped)
                for number in range(mix.analysts)
            ]  # fmt: skip
            began = time.monotonic()
            with _running(analysts, is_stopped):
                transactions, committed = self._write(mix.writers, mode)
            elapsed = time.monotonic() - began
        for analyst in analysts:
            if analyst.failure:
                raise LabError(f"an analyst failed: {one_line(analyst.failure)}")
        finished = [seen for analyst in analysts for seen in analyst.finished]
        scores = [staleness(seen, committed) for seen in finished]
        return Point(transactions, len(finished) / elapsed, finished, scores)

    def _write(self, writers: int, mode: str) -> tuple[float, dict[int, list[float]]]:
        """Transactions per second, and when each client's numbered ones ended."""
        if not writers:
            time.sleep(self.seconds)
            return 0.0, {}
        sizes = {"warehouses": max(1, int(self.warehouses)),
                 "customers": round(3000 * min(1, self.warehouses)),
                 "items": round(100_000 * min(1, self.warehouses))}  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="penumbra-htap-") as directory:
            options = ["-n", "-M", "prepared", "-c", str(writers), "-j", str(min(writers, 2)),
                       "-T", str(self.seconds), "-l", f"--log-prefix={directory}/log"]  # fmt: skip
            if self.rate is not None:
                options += ["-R", str(self.rate)]
            for name, size in sizes.items():
                options += ["-D", f"{name}={size}"]
            for name, percent in MIX.items():
                script = Path(directory, name + ".sql")
                arguments = ", ".join(f":{size}" for size in sizes)
                script.write_text(f"SELECT {name}(:client_id + 1, {arguments});\n")
                options += ["-f", f"{script}@{percent}"]
            environment = self.server.environment() | {"PGOPTIONS": f"-c penumbra.mode={mode}"}
            program = find_pgbench(self.server.installation.bin_directory)
            output = run_pgbench(program, options, environment)
            return throughput(output), read_commits(Path(directory).glob("log.*"))


@contextlib.contextmanager
def _running(analysts: list[Analyst], is_stopped: threading.Event) -> Iterator[None]:
    threads = [threading.Thread(target=analyst.work, daemon=True) for analyst in analysts]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_stopped.set()
        for analyst, thread in zip(analysts, threads, strict=True):
            while thread.is_alive():
                analyst.connection.cancel()  # one that comes between two statements has no effect
                thread.join(0.1)


def bench_htap(
    warehouses: float, writers: int, analysts: int, seconds: int, rounds: int,
    rate: int | None = None,
) -> Outcome:  # fmt: skip
    workload = read_workload("ch")
    with loaded_server(workload, warehouses, keep=False) as server:
        # What is written now is not for a later run, not even for one after a crash.
        (server.directory / "loaded").unlink(missing_ok=True)
        with server.connect() as connection:
            connection.execute((workload.directory / "transactions.sql").read_text())
        server.restart({"penumbra.auto_load": "on"})
        with progress_bars(console) as progress:
            load_cache(server, workload, progress)
        design = alternating(rounds, warehouses=warehouses) | {"seconds": seconds}
        run = RunDocument(
            "htap", f"CH-benCHmark, {_plural(warehouses, 'warehouse')}{_asked(rate)}",
            describe_private(server), design | {"subject": "penumbra"}, STOCK_AND_PENUMBRA,
            workload.description,
        )  # fmt: skip
        run.content["sections"] = {"frontier": [], "queries": {}}
        bench = Bench(run, server, workload, warehouses, seconds, rate, {}, {})
        return record(run, lambda: _measure(bench, grid(writers, analysts), rounds))


def _measure(bench: Bench, mixes: list[Mix], rounds: int) -> None:
    queries = bench.workload.queries
    with bench.server.connect() as one, bench.server.connect() as other, \
            step_bars(console) as progress:  # fmt: skip
        systems = Systems(PostgresSystem("stock", one, {"penumbra.mode": "off"}),
                          PostgresSystem("penumbra", other, {}), None, None)  # fmt: skip
        task = progress.add_task("", total=2 * len(queries) + 2 * rounds * len(mixes))
        checked = bench.run.content["sections"]["queries"]
        for query in queries:
            progress.update(task, description=f"check {query.name}")
            checked[query.name] = check_query(query, systems)
            bench.jit[query.name] = checked[query.name]["stock_jit"]
            progress.advance(task)
        for block in range(rounds):
            for number, mix in enumerate(mixes):
                for variant in list(MODES)[:: 1 if (block + number) % 2 == 0 else -1]:
                    progress.update(task, description=f"{mix}, {variant}")
                    bench.measure(mix, variant, block)
                    progress.advance(task)
        bench.run.content["sections"]["query_times"] = [
            {"query": query.name, **{
                f"{variant}, median ms": round(statistics.median(times), 1) if times else ""
                for variant in MODES for times in [bench.times.get((query.name, variant))]}}
            for query in queries
        ]  # fmt: skip
        for query in queries:
            progress.update(task, description=f"check {query.name} again")
            run_paired(systems.penumbra, query, bench.jit[query.name])
            progress.advance(task)
        consistency = Query("consistency", "TPC-C's consistency", CONSISTENCY, CONSISTENCY)
        broken, _ = run_paired(systems.penumbra, consistency, "off")
        if any(value != b"0" for value in broken.rows[0]):
            raise LabError(f"transactions left inconsistent tables: {broken.rows[0]}")


def htap_table(document: dict):
    """Both rates of both systems for each mix of clients, and how fresh the queries were."""
    found = medians(document)
    rows = []
    for workload in dict.fromkeys(workload for workload, _, _ in found):
        rates = [found.get((workload, metric.name, None), {}).get(variant, math.nan)
                 for metric in (TRANSACTIONS, QUERIES) for variant in MODES]  # fmt: skip
        rows.append([workload, *map(number, rates[:2]), *(f"{rate:,.2f}" for rate in rates[2:]),
                     f"{rates[1] / rates[0]:.2f}", f"{rates[3] / rates[2]:.2f}"])  # fmt: skip
    frontier = document["sections"]["frontier"]
    stale, asked = (sum(point[key] for point in frontier) for key in ("stale", "asked"))
    title = (
        f"{document['title']}: per second; {stale} of {asked} queries were stale, the worst by"
        f" {max((point['worst freshness'] for point in frontier), default=0):g} s"
    )
    columns = ["clients", "tx stock", "tx Penumbra", "queries stock", "queries Penumbra",
               "tx ratio", "queries ratio"]  # fmt: skip
    return plain_table(title, columns, [[cell.replace("nan", "-") for cell in r] for r in rows])
