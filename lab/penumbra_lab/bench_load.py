"""`penumbra bench load`: how fast the cache is filled, and how large it becomes."""

import statistics
import time

from penumbra_lab.bench import cached_bytes, loaded_server, warm
from penumbra_lab.result import start_document
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, megabytes, number, plain_table
from penumbra_lab.workload import read_workload


def bench_load(name: str, size: float | None, runs: int, keep: bool) -> dict:
    workload = read_workload(name)
    size = size or workload.size_default
    with loaded_server(workload, size, keep) as server:
        warm(server, workload.tables)
        document = start_document("load", f"loading {name}, {workload.size_name} {size:g}", server)
        document["size"] = {workload.size_name: size}
        document["loads"] = [_load(server, table, runs) for table in workload.tables]
    return document


def _load(server: PrivateServer, table: str, runs: int) -> dict:
    """One backend loads the whole table, so megabytes per second are per core."""
    seconds, cpu_seconds = [], []
    with server.connect() as connection, console.status(f"load {table}"):
        pid = connection.execute("SELECT pg_backend_pid()").fetchone()[0]
        heap_bytes = connection.execute(
            "SELECT pg_relation_size(%s::regclass)", (table,)
        ).fetchone()[0]
        for _ in range(runs):
            connection.execute("SELECT penumbra.unload(%s::regclass)", (table,))
            cpu_before, begin = _cpu_seconds(pid), time.perf_counter()
            connection.execute("SELECT penumbra.load(%s::regclass)", (table,))
            seconds.append(time.perf_counter() - begin)
            cpu_seconds.append(_cpu_seconds(pid) - cpu_before)
        cached = cached_bytes(connection, table)
    median = statistics.median(seconds)
    return {
        "table": table,
        "heap_bytes": heap_bytes,
        "cached_bytes": cached,
        "cached_share": cached / heap_bytes if heap_bytes else 0.0,
        "seconds": seconds,
        "backend_cpu_seconds": cpu_seconds,
        "heap_megabytes_per_second": heap_bytes / 1e6 / median,
    }


def _cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100.0


def load_table(document: dict):
    rows = [
        [entry["table"], megabytes(entry["heap_bytes"]), megabytes(entry["cached_bytes"]),
         f"{entry['cached_share']:.1%}", f"{statistics.median(entry['seconds']):.2f}",
         f"{statistics.median(entry['backend_cpu_seconds']):.2f}",
         number(entry["heap_megabytes_per_second"])]
        for entry in document["loads"]
    ]  # fmt: skip
    columns = ["table", "heap", "cached", "share", "seconds", "CPU seconds", "heap MB/s"]
    return plain_table(document["title"], columns, rows)
