"""The commands `penumbra bench ...`."""

from dataclasses import replace

import click

from penumbra_lab.bench import working_set
from penumbra_lab.bench.advise import advise_table, bench_advise
from penumbra_lab.bench.compress import bench_compress, compress_tables
from penumbra_lab.bench.htap import bench_htap, htap_table
from penumbra_lab.bench.keytree import bench_keytree, keytree_table
from penumbra_lab.bench.keytree_clients import bench_keytree_clients, keytree_clients_table
from penumbra_lab.bench.keytree_working_set import (
    bench_keytree_working_set,
    keytree_working_set_table,
)
from penumbra_lab.bench.load import bench_load, load_table
from penumbra_lab.bench.lookups import (
    bench_lookups,
    bench_lookups_working_set,
    lookups_table,
    lookups_working_set_table,
)
from penumbra_lab.bench.numeric import bench_numeric, numeric_table
from penumbra_lab.bench.pgbench import bench_pgbench
from penumbra_lab.bench.queries import bench_workload
from penumbra_lab.bench.query_table import query_table
from penumbra_lab.bench.scale_out import bench_scale_out, scale_out_table
from penumbra_lab.bench.sessions import bench_sessions, sessions_table
from penumbra_lab.bench.sort import bench_sort, sort_table
from penumbra_lab.bench.written import FULL, PARTS, SHORT, bench_written, written_table
from penumbra_lab.errors import LabError
from penumbra_lab.run.recording import conclude


@click.group()
def bench() -> None:
    """Benchmarks; each writes a JSON result under .penumbra/results."""


def _workload_options(size_name: str, size_type: click.ParamType, help_text: str):
    def decorate(function):
        for option in reversed((
            click.option(f"--{size_name}", "size", type=size_type, default=None, help=help_text),
            click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True,
                         help="Measured runs of each query on each system."),
            click.option("--duckdb/--no-duckdb", "with_duckdb", default=True, show_default=True,
                         help="Measure DuckDB beside PostgreSQL."),
            click.option("--keep/--no-keep", default=True, show_default=True,
                         help="Keep the loaded server for the next run."),
        )):  # fmt: skip
            function = option(function)
        return function

    return decorate


@bench.command("tpch")
@_workload_options("scale", click.FloatRange(min=0.001), "Scale factor (default 1).")
def bench_tpch(size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    """TPC-H: the 22 queries of the standard, and queries over one table each."""
    _run_workload("tpch", size, runs, with_duckdb, keep)


@bench.command("ssb")
@_workload_options("scale", click.FloatRange(min=0.001), "Scale factor (default 1).")
def bench_ssb(size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    """Star Schema Benchmark: 13 queries over a fact table and four dimensions."""
    _run_workload("ssb", size, runs, with_duckdb, keep)


@bench.command("wide")
@_workload_options("rows", click.IntRange(min=1000), "Rows (default 2,000,000; about 1 KB each).")
def bench_wide(size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    """One table of 100 skewed columns, many strings and NULLs."""
    _run_workload("wide", size, runs, with_duckdb, keep)


@bench.command("windows")
@_workload_options("rows", click.IntRange(min=1000), "Rows (default 1,000,000).")
def bench_windows(size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    """Twenty queries with window functions over 10, 10,000 and 1,000,000 partitions."""
    _run_workload("windows", size, runs, with_duckdb, keep)


@bench.command("groupby")
@_workload_options("rows", click.IntRange(min=1000), "Rows (default 2,000,000).")
def bench_groupby(size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    """Groups of 100 to nearly as many as rows: sums, ordered aggregates, roll-ups, sets."""
    _run_workload("groupby", size, runs, with_duckdb, keep)


@bench.command("json")
@_workload_options("rows", click.IntRange(min=1000), "Rows of each table (default 1,000,000).")
def bench_json(size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    """Documents and arrays: the five questions of JSONBench, and fifteen of arrays."""
    _run_workload("json", size, runs, with_duckdb, keep)


@bench.command("text")
@_workload_options("rows", click.IntRange(min=1000), "Rows (default 2,000,000).")
def bench_text(size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    """URLs and lines of a log: patterns, and functions that take text apart and format values."""
    _run_workload("text", size, runs, with_duckdb, keep)


@bench.command("load")
@click.option("--workload", "name", default="tpch", show_default=True)
@click.option("--size", type=click.FloatRange(min=0.001), default=None,
              help="Scale factor or rows; the workload's default.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--keep/--no-keep", default=True, show_default=True)
def bench_loading(name: str, size: float | None, runs: int, keep: bool) -> None:
    """Filling the cache: heap megabytes per second and core, cached bytes per heap byte."""
    conclude(bench_load(name, size, runs, keep), load_table)


@bench.command("advise")
@click.option("--workload", "name", default="tpch", show_default=True)
@click.option("--size", type=click.FloatRange(min=0.001), default=None,
              help="Scale factor or rows; the workload's default.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--keep/--no-keep", default=True, show_default=True)
def bench_advice(name: str, size: float | None, runs: int, keep: bool) -> None:
    """What `penumbra advise` says of a workload's queries, beside what they take."""
    conclude(bench_advise(name, size, runs, keep), advise_table)


@bench.command("compress")
@click.option("--scale", type=click.FloatRange(min=0.001), default=1.0, show_default=True,
              help="Multiplies the numbers of values.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Measured turns of each column.")  # fmt: skip
@click.option("--case", "only", multiple=True,
              type=click.Choice(["jsonb", "json_text", "text", "large"]),
              help="Only this case; may be given again.")  # fmt: skip
def bench_compress_command(scale: float, rounds: int, only: tuple[str, ...]) -> None:
    """Compressed columns beside the server's pglz and lz4: size, insert, COPY, reads, slices."""
    conclude(bench_compress(scale, rounds, only), compress_tables)


@bench.command("numeric")
@click.option("--rows", type=click.IntRange(min=1000), default=1_000_000, show_default=True,
              help="Rows of the tables of short numbers.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=7, show_default=True,
              help="Measured runs of each query on each side.")  # fmt: skip
@click.option("--thresholds", is_flag=True,
              help="Functions by length of their operands instead.")  # fmt: skip
def bench_numeric_command(rows: int, runs: int, thresholds: bool) -> None:
    """penumbra_numeric against the server's own functions: paired, alternating runs."""
    conclude(bench_numeric(rows, runs, thresholds), numeric_table)


@bench.command("keytree")
@click.option("--rows", type=click.IntRange(min=10_000), default=1_000_000, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Measured turns of each pair.")  # fmt: skip
def bench_keytree_command(rows: int, rounds: int) -> None:
    """keytree indexes beside btree's: inserts, joins, arrays, look-ups, builds, sizes."""
    conclude(bench_keytree(rows, rounds), keytree_table)


@bench.command("keytree-clients")
@click.option("--rows", type=click.IntRange(min=1000), default=300_000, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Measured turns of each pair.")  # fmt: skip
@click.option("--seconds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Length of one measurement.")  # fmt: skip
def bench_keytree_clients_command(rows: int, rounds: int, seconds: int) -> None:
    """Four clients on keytree indexes and on btree's: reads, mixes, writes, pgbench -S."""
    conclude(bench_keytree_clients(rows, rounds, seconds), keytree_clients_table)


@bench.command("keytree-working-set")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Measured turns of each pair.")  # fmt: skip
def bench_keytree_working_set_command(rounds: int) -> None:
    """Lookups per second against the working set: up to four times shared_buffers."""
    conclude(bench_keytree_working_set(rounds), keytree_working_set_table)


@bench.command("lookups")
@click.option("--scale", type=click.IntRange(min=1), default=10, show_default=True,
              help="Of pgbench's tables: 100,000 accounts each.")  # fmt: skip
@click.option("--executions", type=click.IntRange(min=100), default=40_000, show_default=True,
              help="Of one loop.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=1), default=7, show_default=True,
              help="Measured turns of each pair.")  # fmt: skip
@click.option("--seconds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Length of one measurement of pgbench.")  # fmt: skip
@click.option("--working-set", "buffers_mb", type=click.IntRange(min=16), default=None,
              help="The curve of look-ups over 1 % to 400 % of so many megabytes of"
                   " shared_buffers instead.")  # fmt: skip
def bench_lookups_command(scale: int, executions: int, rounds: int, seconds: int,
                          buffers_mb: int | None) -> None:  # fmt: skip
    """Short keyed queries with penumbra_lookup and without: loops, pgbench -S, working sets."""
    if buffers_mb is not None:
        outcome = bench_lookups_working_set(buffers_mb, executions, rounds)
        conclude(outcome, lookups_working_set_table)
        return
    conclude(bench_lookups(scale, executions, rounds, seconds), lookups_table)


@bench.command("sort")
@click.option("--elements", type=click.IntRange(min=1), default=1_000_000, show_default=True,
              help="Elements of the large arrays.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Measured turns of each pair.")  # fmt: skip
def bench_sort_command(elements: int, rounds: int) -> None:
    """Array sorts of every type beside intarray's, ORDER BY and (from 18) array_sort."""
    conclude(bench_sort(elements, rounds), sort_table)


@bench.command("written")
@click.option("--short/--full", "is_short", default=False, show_default=True,
              help=f"Scale {SHORT.scale:g} and streams of {SHORT.stream_seconds} s, or scale"
                   f" {FULL.scale:g} and {FULL.stream_seconds} s.")  # fmt: skip
@click.option("--keep/--no-keep", default=True, show_default=True,
              help="Keep the loaded server for the next run.")  # fmt: skip
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, default=PARTS,
              help="What is written; all parts, if none is named.")  # fmt: skip
def bench_written_command(is_short: bool, keep: bool, parts: tuple[str, ...]) -> None:
    """Speed over stock while and after tables are written: updates, streams of them, appends."""
    conclude(bench_written(SHORT if is_short else FULL, keep, parts), written_table)


@bench.command("working-set")
@click.option("--short/--full", "is_short", default=False, show_default=True,
              help="Fewer sizes, rounds and seconds, or all.")  # fmt: skip
@click.option("--memory", "memory_mb", type=click.IntRange(min=16), default=None,
              help=f"Megabytes for cached columns: {working_set.SHORT.memory_mb} or"
                   f" {working_set.FULL.memory_mb}.")  # fmt: skip
def bench_working_set_command(is_short: bool, memory_mb: int | None) -> None:
    """Scans and look-ups of a quarter to four times the memory, beside stock and DuckDB."""
    form = working_set.SHORT if is_short else working_set.FULL
    if memory_mb is not None:
        form = replace(form, memory_mb=memory_mb)
    conclude(working_set.bench_working_set(form), working_set.working_set_table)


@bench.command("htap")
@click.option("--warehouses", type=click.FloatRange(min=0.01), default=2, show_default=True,
              help="Each of 100,000 items and 30,000 customers; below 1: less of one.")  # fmt: skip
@click.option("--writers", type=click.IntRange(1, 20), default=4, show_default=True,
              help="The most sessions of transactions at once.")  # fmt: skip
@click.option("--analysts", type=click.IntRange(1, 20), default=2, show_default=True,
              help="The most sessions of queries at once.")  # fmt: skip
@click.option("--seconds", type=click.IntRange(min=1), default=20, show_default=True,
              help="Of each measurement.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=1), default=1, show_default=True,
              help="Measured turns of each point.")  # fmt: skip
@click.option("--rate", type=click.IntRange(min=1), default=None,
              help="Transactions a second of all writers; not given: what they can.")  # fmt: skip
def bench_htap_command(warehouses: float, writers: int, analysts: int, seconds: int,
                       rounds: int, rate: int | None) -> None:  # fmt: skip
    """CH-benCHmark: transactions and analytic queries at once, their frontier and freshness."""
    outcome = bench_htap(warehouses, writers, analysts, seconds, rounds, rate)
    conclude(outcome, htap_table)
    fail_on_differences(outcome.document)


@bench.command("sessions")
@click.option("--scale", type=click.FloatRange(min=0.001), default=1.0, show_default=True,
              help="Of TPC-H.")  # fmt: skip
@click.option("--sessions", "counts", type=click.IntRange(1, 1000), multiple=True,
              default=(1, 8, 64), show_default=True,
              help="How many at once; may be given again.")  # fmt: skip
@click.option("--seconds", type=click.IntRange(min=1), default=30, show_default=True,
              help="Of each measurement.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=1), default=1, show_default=True,
              help="Measured turns of each point.")  # fmt: skip
@click.option("--stock/--no-stock", "with_stock", default=True, show_default=True,
              help="Measure PostgreSQL without Penumbra.")  # fmt: skip
@click.option("--duckdb/--no-duckdb", "with_duckdb", default=True, show_default=True,
              help="Measure DuckDB, in one process.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="A setting of the server; may be given again.")  # fmt: skip
@click.option("--keep/--no-keep", default=True, show_default=True,
              help="Keep the loaded server for the next run.")  # fmt: skip
def bench_sessions_command(scale: float, counts: tuple[int, ...], seconds: int, rounds: int,
                           with_stock: bool, with_duckdb: bool, settings: tuple[str, ...],
                           keep: bool) -> None:  # fmt: skip
    """1 to 64 analysts at once, alone and beside pgbench: rates, latencies, memory, errors."""
    chosen = {name: value for name, _, value in (setting.partition("=") for setting in settings)}
    outcome = bench_sessions(scale, counts, seconds, rounds, with_stock, with_duckdb, chosen, keep)
    conclude(outcome, sessions_table)


@bench.command("scale-out")
@click.option("--dsn", default="",
              help="Of a Citus coordinator; without it, libpq's environment.")  # fmt: skip
@click.option("--scale", type=click.FloatRange(min=0.001), default=1.0, show_default=True)
@click.option("--workers", "counts", type=click.IntRange(min=1), multiple=True,
              help="So many; may be given again. Default: 1 to all.")  # fmt: skip
@click.option("--shards", type=click.IntRange(min=1), default=32, show_default=True)
@click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True,
              help="Measured runs of each query in each mode.")  # fmt: skip
@click.option("--schema", default="penumbra_scale_out", show_default=True,
              help="Made for the run, and removed afterwards.")  # fmt: skip
def bench_scale_out_command(dsn: str, scale: float, counts: tuple[int, ...], shards: int, runs: int,
                            schema: str) -> None:  # fmt: skip
    """TPC-H on a Citus cluster that is there: time against workers, without and with Penumbra."""
    outcome = bench_scale_out(dsn, schema, scale, shards, runs, counts)
    conclude(outcome, scale_out_table)
    fail_on_differences(outcome.document)


bench.add_command(bench_pgbench)


def _run_workload(name: str, size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    outcome = bench_workload(name, size, runs, with_duckdb, keep)
    conclude(outcome, query_table)
    fail_on_differences(outcome.document)


def fail_on_differences(document: dict) -> None:
    lines = [f"{name}: {difference}" for name, query in document["sections"]["queries"].items()
             for difference in query["differences"].splitlines()]  # fmt: skip
    if lines:
        raise LabError("answers differ:\n" + "\n".join(lines))
