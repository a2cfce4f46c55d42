"""The command `penumbra demo`."""

import click

from penumbra_lab.analysis.comparison import compare_runs
from penumbra_lab.analysis.document import make_run
from penumbra_lab.bench.lookups import bench_lookups, lookups_rows, lookups_table
from penumbra_lab.bench.queries import bench_workload
from penumbra_lab.bench.query_table import query_table
from penumbra_lab.commands.bench import fail_on_differences
from penumbra_lab.reporting.report import write_report
from penumbra_lab.run.recording import conclude
from penumbra_lab.show import console
from penumbra_lab.state import report_path

NEXT = """
Next:
  .venv/bin/penumbra bench --help        other benchmarks, each of the size that you say
  make -C extensions/columnar install    Penumbra into a server of yours: README.md, "Two commands"
  make check                             tests, ten minutes once they are built"""


@click.command()
@click.option("--scale", type=click.FloatRange(min=0.001), default=1.0, show_default=True,
              help="TPC-H scale factor; 1 is 6 million lines and about 1 GB.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True,
              help="Measured runs of each query on each system, after the warm-up.")  # fmt: skip
@click.option("--keep/--no-keep", default=True, show_default=True,
              help="Keep the loaded server and the generated rows for the next run.")  # fmt: skip
def demo(scale: float, runs: int, keep: bool) -> None:
    """TPC-H on stock PostgreSQL, Penumbra and DuckDB; ends with a table and a report."""
    lookups = bench_lookups(scale=1, executions=5_000, rounds=5, seconds=0)
    conclude(lookups, lookups_table)
    outcome = bench_workload("tpch", scale, runs, with_duckdb=True, keep=keep)
    conclude(outcome, query_table)
    queries = outcome.document["sections"]["queries"]
    shown = next(name for name in queries if name.startswith("q01"))
    console.print(f"\nThe plan of {shown}:\n")
    console.print(queries[shown]["plan"], markup=False, highlight=False, soft_wrap=True)
    outcome.document["sections"]["short statements in a loop"] = lookups_rows(lookups.document)
    run = make_run(outcome.document, "demo", "this run")
    write_report(compare_runs([run]), report_path())
    console.print(f"\nReport: {report_path()}")
    console.print(NEXT, soft_wrap=True)
    fail_on_differences(outcome.document)
