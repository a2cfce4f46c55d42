"""`penumbra bench load`: how fast the cache is filled, and how large it becomes."""

import time

from penumbra_lab.bench.queries import cached_bytes, loaded_server, warm
from penumbra_lab.run.document import Metric, RunDocument, Variant, medians
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.recording import Outcome, alternating, measurement, record
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, megabytes, number, plain_table
from penumbra_lab.workload import read_workload

SECONDS = Metric("time", "s", "lower")
CPU_SECONDS = Metric("CPU time", "s", "lower")
# The kernel counts in these.
CPU_SECONDS_MIN = 0.01


def bench_load(name: str, size: float | None, runs: int, keep: bool) -> Outcome:
    workload = read_workload(name)
    size = size or workload.size_default
    with loaded_server(workload, size, keep) as server:
        warm(server, workload.tables)
        run = RunDocument(
            "load", f"loading {name}, {workload.size_name} {size:g}", describe_private(server),
            alternating(runs, **{workload.size_name: size}),
            [Variant("penumbra", "Penumbra", {})],
        )  # fmt: skip
        run.content["sections"] = {"tables": []}

        def load_tables() -> None:
            for table in workload.tables:
                _load(server, run, table, runs)

        return record(run, load_tables)


def _load(server: PrivateServer, run: RunDocument, table: str, runs: int) -> None:
    """One backend loads the whole table, so megabytes per second are per core."""
    with server.connect() as connection, console.status(f"load {table}"):
        pid = connection.execute("SELECT pg_backend_pid()").fetchone()[0]
        heap_bytes = connection.execute(
            "SELECT pg_relation_size(%s::regclass)", (table,)
        ).fetchone()[0]
        with measurement(run, connection) as samples:
            for block in range(runs):
                connection.execute("SELECT penumbra.unload(%s::regclass)", (table,))
                cpu_before, begin = _cpu_seconds(pid), time.perf_counter()
                connection.execute("SELECT penumbra.load(%s::regclass)", (table,))
                seconds = time.perf_counter() - begin
                cpu_seconds = max(_cpu_seconds(pid) - cpu_before, CPU_SECONDS_MIN)
                samples.add(table, "penumbra", SECONDS, seconds, block)
                samples.add(table, "penumbra", CPU_SECONDS, cpu_seconds, block)
        cached = cached_bytes(connection, table)
    run.content["sections"]["tables"].append(
        {"table": table, "heap_bytes": heap_bytes, "cached_bytes": cached}
    )


def _cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * CPU_SECONDS_MIN


def load_table(document: dict):
    found = medians(document)
    rows = []
    for entry in document["sections"]["tables"]:
        heap_bytes, cached = entry["heap_bytes"], entry["cached_bytes"]
        seconds, cpu_seconds = (
            found[entry["table"], metric.name, None]["penumbra"]
            for metric in (SECONDS, CPU_SECONDS)
        )
        share = cached / heap_bytes if heap_bytes else 0.0
        rows.append([entry["table"], megabytes(heap_bytes), megabytes(cached), f"{share:.1%}",
                     f"{seconds:.2f}", f"{cpu_seconds:.2f}",
                     number(heap_bytes / 1e6 / seconds)])  # fmt: skip
    columns = ["table", "heap", "cached", "share", "seconds", "CPU seconds", "heap MB/s"]
    return plain_table(document["title"], columns, rows)
