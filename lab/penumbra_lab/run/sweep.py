"""`penumbra bench pgbench`: workloads over client counts, on servers that take turns.

A block is one repetition of everything. Servers of ours are started anew several times, since two
starts of the same server differ by more than two runs of one; and there are several blocks to a
start, since one pgbench is faster than the next for as long as it lives (where the scheduler put
it), so that many short measurements tell more than a few long ones. Within a block every
measurement is made on all servers in turn, from block to block and from measurement to measurement
in the opposite order (ABBA), and the measurements run forth and back, so that drift falls on all
alike.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from penumbra_lab.run import watch
from penumbra_lab.run.cpus import parse_cpus
from penumbra_lab.run.document import Axis, Metric, RunDocument, utc_now
from penumbra_lab.run.levels import Level, random_keys, run_level
from penumbra_lab.run.pgbench import Workload, jobs_for, run_pgbench, throughput
from penumbra_lab.run.recording import Outcome, one_line, record
from penumbra_lab.run.targets import EXTENSION, Target
from penumbra_lab.show import console

THROUGHPUT = Metric("throughput", "transactions/s", "higher")
# Of the backends: it varies far less than throughput where the machine has other things to do.
SERVER_CPU = Metric("server CPU", "µs/transaction", "lower")
LEVEL_TIME = Metric("time", "ns/execution", "lower")
LEVEL_CPU = Metric("server CPU", "ns/execution", "lower")
CLIENTS = Axis("clients", "clients")
WIRE_LEVEL = "lookup, wire"
# Drawing the bar costs CPU time, which the run's own cost is bounded by.
REFRESHES_PER_SECOND = 2


@dataclass(frozen=True)
class Design:
    repetitions: int
    starts: int  # that the repetitions are spread over
    seconds: int
    warmup_seconds: int
    seed: int
    protocol: str
    clients: tuple[int, ...]
    workloads: tuple[Workload, ...]
    levels: tuple[Level, ...]
    scale: int
    client_cpus: str | None

    def begins_start(self, block: int) -> bool:
        return block == 0 or self._start(block) > self._start(block - 1)

    def _start(self, block: int) -> int:
        return block * self.starts // self.repetitions

    @property
    def client_cpu_count(self) -> int:
        if self.client_cpus:
            return len(parse_cpus(self.client_cpus))
        return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Step:
    """One kind of measurement: a workload at a number of clients, or a level of the lookup."""

    workload: Workload | None
    clients: int = 1
    level: Level | None = None
    is_wire_level: bool = False

    @property
    def description(self) -> str:
        if self.level:
            return self.level.name
        if self.is_wire_level:
            return WIRE_LEVEL
        return f"{self.workload.name}, {self.clients} client{'s' if self.clients > 1 else ''}"


def steps(design: Design) -> list[Step]:
    found = [Step(workload, clients) for workload in design.workloads for clients in design.clients]
    if design.levels:
        lookup = Workload(WIRE_LEVEL, "select-only")
        found += [Step(lookup, is_wire_level=True), *(Step(None, level=lv) for lv in design.levels)]
    return found


def turns(design: Design, block: int, targets: list[Target]) -> Iterator[tuple[Step, list[Target]]]:
    """Steps forth and back from block to block; targets from step to step as well."""
    planned = steps(design)
    for number, step in enumerate(planned if block % 2 == 0 else reversed(planned)):
        yield step, targets if (number + block) % 2 == 0 else targets[::-1]


def sweep_bars() -> Progress:
    return Progress(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"), TextColumn("time left"), TimeRemainingColumn(),
        console=console, refresh_per_second=REFRESHES_PER_SECOND,
    )  # fmt: skip


class Sweep:
    """Runs a design on targets and fills a document, sample by sample."""

    def __init__(self, design: Design, targets: list[Target], run: RunDocument, progress: Progress):
        self.design = design
        self.targets = targets
        self.run = run
        self.progress = progress
        self.watchers: dict[str, watch.Watcher] = {}
        self.keys = random_keys(design.scale, design.seed)

    def execute(self) -> None:
        design, count = self.design, len(self.targets)
        warmups = len(design.workloads) * design.warmup_seconds
        measured = design.repetitions * len(steps(design)) * design.seconds
        total = count * (design.starts * warmups + measured)
        self.task = self.progress.add_task("", total=total)
        try:
            for block in range(design.repetitions):
                if design.begins_start(block):
                    for target in self.targets:
                        self._start(target, block)
                for step, in_turn in turns(design, block, self.targets):
                    for target in in_turn:
                        self._measure(step, target, block)
        finally:
            for watcher in self.watchers.values():
                watcher.connection.close()

    def _describe(self, block: int, target: Target, what: str) -> None:
        variant = f", {target.plan.label}" if len(self.targets) > 1 else ""
        of = f"block {block + 1} of {self.design.repetitions}"
        self.progress.update(self.task, description=f"{of}: {what}{variant}")

    def _start(self, target: Target, block: int) -> None:
        self._describe(block, target, "start")
        if watcher := self.watchers.pop(target.name, None):
            watcher.connection.close()
        target.start()
        with target.connect() as connection:
            _refresh_tables(connection)
            if self.design.levels:
                connection.execute(f"CREATE EXTENSION IF NOT EXISTS {EXTENSION}")
            for statement in target.plan.after_start:
                connection.execute(statement)
            _prewarm(connection)
        self.watchers[target.name] = watch.Watcher(target.connect(), target.postmaster_pid)
        self._describe(block, target, "warm-up")
        for workload in self.design.workloads:
            if self.design.warmup_seconds:
                self._pgbench(target, workload, max(self.design.clients), block,
                              self.design.warmup_seconds)  # fmt: skip
                self.progress.advance(self.task, self.design.warmup_seconds)

    def _pgbench(self, target: Target, workload: Workload, clients: int, block: int,
                 seconds: int) -> float:  # fmt: skip
        design = self.design
        arguments = [
            "-n", "-M", design.protocol, "-c", str(clients),
            "-j", str(jobs_for(clients, design.client_cpu_count)),
            "-T", str(seconds), "--random-seed", str(design.seed + block),
            *workload.options_at(design.scale),
        ]  # fmt: skip
        output = run_pgbench(target.pgbench, arguments, target.environment(), design.client_cpus)
        return throughput(output)

    def _measure(self, step: Step, target: Target, block: int) -> None:
        self._describe(block, target, step.description)
        started_at, order = utc_now(), self.run.next_order()
        watcher = self.watchers[target.name]
        watcher.start()
        cpu = None
        if step.level:
            is_local = target.postmaster_pid is not None
            with target.connect() as connection:
                value, cpu = run_level(connection, step.level, self.keys, self.design.seconds,
                                       is_local)  # fmt: skip
        else:
            value = self._pgbench(target, step.workload, step.clients, block, self.design.seconds)
        seen = watcher.finish()
        self.run.content["noise"]["measurements"].append({"order": order, **seen})
        common = {"block": block, "order": order, "started_at": started_at,
                  "server_start": target.starts, "noise": watch.flags(seen)}  # fmt: skip
        if step.level or step.is_wire_level:
            ns = 1e9 / value if step.is_wire_level else value
            self.run.add_sample(step.description, target.name, LEVEL_TIME, ns, **common)
            if cpu:
                self.run.add_sample(step.description, target.name, LEVEL_CPU, cpu, **common)
        else:
            at = {"axis": CLIENTS, "x": step.clients, **common}
            self.run.add_sample(step.workload.name, target.name, THROUGHPUT, value, **at)
            if seen["server_cpu_seconds"]:
                cpu = seen["server_cpu_seconds"] * 1e6 / (value * self.design.seconds)
                self.run.add_sample(step.workload.name, target.name, SERVER_CPU, cpu, **at)
        self.progress.advance(self.task, self.design.seconds)


def _refresh_tables(connection: psycopg.Connection) -> None:
    """As pgbench begins by itself, and dirty pages on disk, so that no checkpoint comes later."""
    for statement in (
        "VACUUM pgbench_branches, pgbench_tellers", "TRUNCATE pgbench_history", "CHECKPOINT"
    ):  # fmt: skip
        # A role that may only read measures reading.
        with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


def _prewarm(connection: psycopg.Connection) -> None:
    """A freshly started server reads its tables once, as far as the extension is to be had."""
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
    except psycopg.Error:
        return
    connection.execute(
        "SELECT sum(pg_prewarm(oid)) FROM pg_class WHERE relkind IN ('r', 'i')"
        " AND relname LIKE 'pgbench\\_%' AND pg_table_is_visible(oid)"
    )


def execute_sweep(sweep: Sweep) -> Outcome:
    outcome = record(sweep.run, sweep.execute, lambda error: _cause(sweep.targets, error))
    starts = [target.starts for target in sweep.targets if target.starts is not None]
    outcome.document["design"]["server_starts"] = max(starts, default=-1) + 1
    return outcome


def _cause(targets: list[Target], error: Exception) -> str:
    for target in targets:
        if cause := target.cause_of_death():
            return f"the server of {target.plan.label!r} stopped in mid-run: {cause}"
    return one_line(error)
