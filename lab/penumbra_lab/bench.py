"""`penumbra bench tpch | wide`: a workload on stock PostgreSQL, Penumbra and DuckDB in one run."""

import contextlib
from collections.abc import Iterator

import psycopg

from penumbra_lab import machine
from penumbra_lab.dataset import (
    load_cache,
    load_duckdb,
    load_postgresql,
    make_files,
    progress_bars,
    step_bars,
)
from penumbra_lab.errors import LabError
from penumbra_lab.measure import QueryResult, geometric_mean, measure_workload
from penumbra_lab.result import start_document
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console
from penumbra_lab.state import state_directory
from penumbra_lab.system import DuckSystem, PostgresSystem
from penumbra_lab.workload import Workload, read_workload

# Both sides of a comparison get as many threads: PostgreSQL's leader takes part beside its two
# workers, DuckDB and Penumbra use two threads in all on a machine of two CPUs.
PARALLEL_WORKERS = 2
DUCKDB_THREADS = 2


def server_settings() -> dict[str, str]:
    """Good settings for analysis on this machine; the same server serves stock and Penumbra."""
    memory_mb = machine.memory_bytes() >> 20
    return {
        "shared_preload_libraries": "penumbra",
        "shared_buffers": f"{min(memory_mb // 4, 8192)}MB",
        "effective_cache_size": f"{memory_mb * 5 // 8}MB",
        "work_mem": "256MB",
        "maintenance_work_mem": "512MB",
        "max_parallel_workers_per_gather": str(PARALLEL_WORKERS),
        "max_parallel_workers": "8",
        "random_page_cost": "1.1",
        "max_wal_size": "8GB",
        "checkpoint_timeout": "30min",
        "synchronous_commit": "off",
        "timezone": "UTC",
        "penumbra.memory": f"{memory_mb // 4}MB",
        "penumbra.auto": "off",
    }


@contextlib.contextmanager
def loaded_server(workload: Workload, size: float, keep: bool) -> Iterator[PrivateServer]:
    """A running server with the workload's tables, kept for the next run when loading finished."""
    major = machine_major()
    directory = state_directory() / f"server-{workload.name}-{workload.size_text(size)}-{major}"
    server = PrivateServer(directory, server_settings())
    finished = directory / "loaded"
    if not finished.exists():
        server.remove()
    try:
        with server:
            if not finished.exists():
                with progress_bars(console) as progress:
                    files = make_files(workload, size, progress)
                    load_postgresql(server, workload, files, progress)
                finished.touch()
            with server.connect() as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS penumbra")
            yield server
    finally:
        if not finished.exists() or not keep:
            server.remove()


def machine_major() -> int:
    from penumbra_lab.server import Installation

    return Installation.find().major


def warm(server: PrivateServer, tables: tuple[str, ...]) -> None:
    """Heap pages into shared buffers, so that stock PostgreSQL does not pay for the first read."""
    with server.connect(penumbra__mode="off") as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
        for table in tables:
            connection.execute("SELECT pg_prewarm(%s::regclass)", (table,))


def bench_workload(name: str, size: float | None, runs: int, with_duckdb: bool, keep: bool) -> dict:
    workload = read_workload(name)
    size = size or workload.size_default
    with loaded_server(workload, size, keep) as server:
        with progress_bars(console) as progress:
            duck = None
            if with_duckdb:
                files = make_files(workload, size, progress)
                duck = DuckSystem(load_duckdb(workload, size, files, DUCKDB_THREADS, progress))
            load_cache(server, workload.tables, progress)
        warm(server, workload.tables)
        document = start_document(name, f"{workload.name}, {workload.size_name} {size:g}", server)
        document["size"] = {workload.size_name: size}
        document["description"] = workload.description
        document["duckdb_threads"] = DUCKDB_THREADS
        document["tables"] = table_sizes(server, workload.tables)
        with (
            server.connect() as stock_connection,
            server.connect() as penumbra_connection,
            step_bars(console) as progress,
        ):
            stock = PostgresSystem("stock", stock_connection, {"penumbra.mode": "off"})
            penumbra = PostgresSystem("penumbra", penumbra_connection, {"penumbra.mode": "auto"})
            results = measure_workload(workload, stock, penumbra, duck, runs, progress)
        if duck:
            duck.connection.close()
    document["queries"] = [result.as_json() for result in results]
    document["summary"] = summarise(results, with_duckdb)
    return document


def summarise(results: list[QueryResult], with_duckdb: bool) -> dict:
    speedups = [result.ratio("stock") for result in results]
    summary = {
        "speedup_geometric_mean": geometric_mean(speedups),
        "speedup_min": min(speedups),
        "speedup_max": max(speedups),
        "in_vector_engine": sum(not result.refusal for result in results),
        "same_answers": sum(not result.differences for result in results),
    }
    if with_duckdb:
        summary["to_duckdb_geometric_mean"] = geometric_mean([r.ratio("DuckDB") for r in results])
    return summary


def table_sizes(server: PrivateServer, tables: tuple[str, ...]) -> list[dict]:
    """Heap and cached bytes of each table."""
    sizes = []
    with server.connect() as connection:
        for table in tables:
            row = connection.execute(
                "SELECT pg_relation_size(%s::regclass), reltuples::bigint"
                " FROM pg_class WHERE oid = %s::regclass",
                (table, table),
            ).fetchone()
            sizes.append({"table": table, "heap_bytes": row[0], "rows": row[1],
                          "cached_bytes": cached_bytes(connection, table)})  # fmt: skip
    return sizes


def cached_bytes(connection: psycopg.Connection, table: str) -> int:
    try:
        row = connection.execute(
            "SELECT coalesce(sum(bytes), 0)::bigint FROM penumbra.columns"
            " WHERE relation = %s::regclass",
            (table,),
        ).fetchone()
    except psycopg.Error as error:
        raise LabError(f"cannot read the cache's size: {error}") from None
    return row[0]
