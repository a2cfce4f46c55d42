"""`penumbra bench tpch`, `ssb`, `wide` ...: a workload on PostgreSQL, Penumbra and DuckDB."""

import contextlib
from collections.abc import Iterator
from importlib import metadata

import psycopg

from penumbra_lab.dataset import (
    load_cache,
    load_duckdb,
    load_postgresql,
    make_files,
    progress_bars,
    step_bars,
)
from penumbra_lab.errors import LabError
from penumbra_lab.measure import Systems, measure_workload
from penumbra_lab.run.document import RunDocument, Variant
from penumbra_lab.run.environment import describe_private, memory_bytes
from penumbra_lab.run.recording import Outcome, alternating, record
from penumbra_lab.server import Installation, PrivateServer
from penumbra_lab.show import console
from penumbra_lab.state import only_bench, state_directory
from penumbra_lab.system import DuckSystem, PostgresSystem
from penumbra_lab.workload import Workload, read_workload

# Both sides of a comparison get as many threads: PostgreSQL's leader takes part beside its two
# workers, DuckDB and Penumbra use two threads in all on a machine of two CPUs.
PARALLEL_WORKERS = 2
DUCKDB_THREADS = 2

# The sessions that are compared, by what differs between them.
SESSIONS = {
    name: Variant(name, label, {"penumbra.mode": mode})
    for name, label, mode in (
        ("stock", "PostgreSQL", "off"),
        ("penumbra", "Penumbra", "auto"),
        ("required", "Penumbra, require", "require"),
    )
}
STOCK_AND_PENUMBRA = [SESSIONS["stock"], SESSIONS["penumbra"]]


def server_settings() -> dict[str, str]:
    """Good settings for analysis on this machine; the same server serves stock and Penumbra."""
    memory_mb = memory_bytes() >> 20
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
        "penumbra.auto_load": "off",
    }


@contextlib.contextmanager
def loaded_server(workload: Workload, size: float, keep: bool) -> Iterator[PrivateServer]:
    """A running server with the workload's tables, kept for the next run when loading finished."""
    major = Installation.find().major
    directory = state_directory() / f"server-{workload.name}-{workload.size_text(size)}-{major}"
    server = PrivateServer(directory, server_settings())
    finished = directory / "loaded"
    with only_bench():
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


def warm(server: PrivateServer, tables: tuple[str, ...]) -> None:
    """Heap pages into shared buffers, so that stock PostgreSQL does not pay for the first read."""
    with server.connect(penumbra__mode="off") as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
        for table in tables:
            connection.execute("SELECT pg_prewarm(%s::regclass)", (table,))


def bench_workload(
    name: str, size: float | None, runs: int, with_duckdb: bool, keep: bool
) -> Outcome:
    workload = read_workload(name)
    size = size or workload.size_default
    with loaded_server(workload, size, keep) as server, contextlib.ExitStack() as stack:
        duck = None
        with progress_bars(console) as progress:
            if with_duckdb:
                files = make_files(workload, size, progress)
                connection = load_duckdb(workload, size, files, DUCKDB_THREADS, progress)
                duck = DuckSystem(stack.enter_context(connection))
            load_cache(server, workload, progress)
        warm(server, workload.tables)
        variants = [*STOCK_AND_PENUMBRA, *([SESSIONS["required"]] if workload.require else [])]
        run = workload_document(server, workload, size, runs, variants, duck)
        sessions = {
            variant.name: PostgresSystem(
                variant.name, stack.enter_context(server.connect()), variant.settings
            )
            for variant in variants
        }
        systems = Systems(sessions["stock"], sessions["penumbra"], sessions.get("required"), duck)
        with step_bars(console) as progress:
            return record(run, lambda: measure_workload(run, workload, systems, progress))


def workload_document(server: PrivateServer, workload: Workload, size: float, runs: int,
                      variants: list[Variant], duck: DuckSystem | None,
                      kind: str | None = None) -> RunDocument:  # fmt: skip
    clients = {}
    if duck:
        threads = {"threads": str(DUCKDB_THREADS)}
        variants = [*variants, Variant(duck.name, duck.name, threads)]
        clients["duckdb"] = metadata.version("duckdb")
    design = alternating(runs, **{workload.size_name: size}) | {"subject": "penumbra"}
    run = RunDocument(
        kind or workload.name, f"{workload.name}, {workload.size_name} {size:g}",
        describe_private(server, **clients), design, variants, workload.description,
    )  # fmt: skip
    run.content["sections"] = {"tables": table_sizes(server, workload.tables)}
    if workload.target and duck:
        run.content["sections"]["target"] = vars(workload.target)
    return run


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
            "SELECT coalesce(sum(memory_bytes), 0)::bigint FROM penumbra.columns"
            " WHERE relid = %s::regclass",
            (table,),
        ).fetchone()
    except psycopg.Error as error:
        raise LabError(f"cannot read the cache's size: {error}") from None
    return row[0]
