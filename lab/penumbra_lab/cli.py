"""The command `penumbra`."""

import sys
from pathlib import Path

import click
import duckdb
import psycopg

from penumbra_lab.bench import bench_workload
from penumbra_lab.bench_load import bench_load, load_table
from penumbra_lab.bench_numeric import bench_numeric, numeric_table
from penumbra_lab.bench_pgbench import bench_pgbench, pgbench_table
from penumbra_lab.bench_sort import bench_sort, sort_table
from penumbra_lab.crash_file import Symbolizer, find_crash_files
from penumbra_lab.crash_show import crash_markdown, crash_view, list_table, read_crash_files
from penumbra_lab.errors import LabError
from penumbra_lab.report import write_report
from penumbra_lab.result import latest_result, read_document, write_document
from penumbra_lab.server import terminate_like_interrupt
from penumbra_lab.show import console, query_table
from penumbra_lab.state import report_path

EXIT_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="penumbra-lab")
def commands() -> None:
    """Demonstrates, measures and compares Penumbra, with private servers under .penumbra/."""


@commands.command()
@click.option("--scale", type=click.FloatRange(min=0.001), default=1.0, show_default=True,
              help="TPC-H scale factor; 1 is 6 million lines and about 1 GB.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True,
              help="Measured runs of each query on each system, after the warm-up.")  # fmt: skip
@click.option("--keep/--no-keep", default=True, show_default=True,
              help="Keep the loaded server and the generated rows for the next run.")  # fmt: skip
def demo(scale: float, runs: int, keep: bool) -> None:
    """TPC-H on stock PostgreSQL, Penumbra and DuckDB; ends with a table and a report."""
    document = bench_workload("tpch", scale, runs, with_duckdb=True, keep=keep)
    _finish_workload(document)
    shown = next(q for q in document["queries"] if q["name"].startswith("q01"))
    console.print(f"\nThe plan of {shown['name']}:\n")
    console.print(shown["plan"], markup=False, highlight=False, soft_wrap=True)
    write_report(document, report_path())
    console.print(f"\nReport: {report_path()}")
    _fail_on_differences(document)


@commands.group()
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
    """TPC-H tables, queries over one table each."""
    _run_workload("tpch", size, runs, with_duckdb, keep)


@bench.command("wide")
@_workload_options("rows", click.IntRange(min=1000), "Rows (default 2,000,000; about 1 KB each).")
def bench_wide(size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    """One table of 100 skewed columns, many strings and NULLs."""
    _run_workload("wide", size, runs, with_duckdb, keep)


@bench.command("load")
@click.option("--workload", "name", default="tpch", show_default=True)
@click.option("--size", type=click.FloatRange(min=0.001), default=None,
              help="Scale factor or rows; the workload's default.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--keep/--no-keep", default=True, show_default=True)
def bench_loading(name: str, size: float | None, runs: int, keep: bool) -> None:
    """Filling the cache: heap megabytes per second and core, cached bytes per heap byte."""
    document = bench_load(name, size, runs, keep)
    console.print(load_table(document))
    _say_where(document)


@bench.command("numeric")
@click.option("--rows", type=click.IntRange(min=1000), default=1_000_000, show_default=True,
              help="Rows of the tables of short numbers.")  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), default=7, show_default=True,
              help="Measured runs of each query on each side.")  # fmt: skip
def bench_numeric_command(rows: int, runs: int) -> None:
    """penumbra_numeric against the server's own functions: paired, alternating runs."""
    document = bench_numeric(rows, runs)
    console.print(numeric_table(document))
    _say_where(document)


@bench.command("pgbench")
@click.option("--scale", type=click.IntRange(min=1), default=10, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=9, show_default=True)
@click.option("--seconds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Length of one run.")  # fmt: skip
def bench_pgbench_command(scale: int, rounds: int, seconds: int) -> None:
    """What preloading the library costs pgbench -S and TPC-B: paired, alternating runs."""
    document = bench_pgbench(scale, rounds, seconds)
    console.print(pgbench_table(document))
    _say_where(document)


@bench.command("sort")
@click.option("--elements", type=click.IntRange(min=1), default=1_000_000, show_default=True,
              help="Elements of the large arrays.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True,
              help="Measured turns of each pair.")  # fmt: skip
def bench_sort_command(elements: int, rounds: int) -> None:
    """Array sorts of every type beside intarray's, ORDER BY and (from 18) array_sort."""
    document = bench_sort(elements, rounds)
    console.print(sort_table(document))
    _say_where(document)


@commands.command()
@click.argument("result", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--output", type=click.Path(path_type=Path), default=None,
              help="The HTML file (default .penumbra/report.html).")  # fmt: skip
def report(result: Path | None, output: Path | None) -> None:
    """Makes the HTML report of a workload's RESULT (default: the latest tpch or wide run)."""
    document = read_document(result or latest_result("[tw]*"))
    if "queries" not in document:
        raise LabError("only results of a workload (tpch, wide) have a report")
    target = output or report_path()
    write_report(document, target)
    console.print(f"Report: {target}")


@commands.group()
def backtrace() -> None:
    """Crash files that the extension penumbra_backtrace writes."""


def _symbolizer_options(function):
    for option in reversed((
        click.option("--debug-dir", "debug_directories", multiple=True,
                     type=click.Path(path_type=Path, exists=True, file_okay=False),
                     help="Look here first for programs and debug files; may be given again."),
        click.option("--debuginfod", is_flag=True, help="Ask the servers of $DEBUGINFOD_URLS."),
        click.option("--symbolizer", type=click.Path(path_type=Path, exists=True, dir_okay=False),
                     help="The executable penumbra-symbolize."),
    )):  # fmt: skip
        function = option(function)
    return function


@backtrace.command("symbolize")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@_symbolizer_options
def backtrace_symbolize(file: Path, debug_directories: tuple[Path, ...], debuginfod: bool,
                        symbolizer: Path | None) -> None:  # fmt: skip
    """The report of the crash file FILE, on any machine that has programs or debug files of its
    build-ids: installed, or under a --debug-dir (a directory of such files, an unpacked package, a
    copy of /usr/lib/debug)."""
    report = Symbolizer(symbolizer, debug_directories, debuginfod).report(file)
    console.print(report, markup=False, highlight=False, soft_wrap=True, end="")


@backtrace.command("show")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False),
                envvar="PGDATA")  # fmt: skip
@_symbolizer_options
@click.option(
    "--markdown",
    is_flag=True,
    help="For a bug report, without query, user, database and registers.",
)
@click.option("--with-data", is_flag=True, help="With --markdown: leave nothing out.")
def backtrace_show(directory: Path, debug_directories: tuple[Path, ...], debuginfod: bool,
                   symbolizer: Path | None, markdown: bool, with_data: bool) -> None:  # fmt: skip
    """Lists the crash files of DIRECTORY, which holds them or is a data directory (default:
    $PGDATA), and shows the newest."""
    if with_data and not markdown:
        raise click.UsageError("--with-data goes with --markdown")
    paths = find_crash_files(directory)
    if not paths:
        raise LabError(f"no crash files in {directory}: see penumbra_backtrace.crash_directory")
    crashes = read_crash_files(paths)
    try:
        reader = Symbolizer(symbolizer, debug_directories, debuginfod)
    except LabError:
        reader = None  # a report may lie beside the file
    frames = crashes[0].frames(reader)
    if markdown:
        text = crash_markdown(crashes[0], frames, with_data)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        console.print(list_table(crashes))
        console.print(crash_view(crashes[0], frames))


def _run_workload(name: str, size: float | None, runs: int, with_duckdb: bool, keep: bool) -> None:
    document = bench_workload(name, size, runs, with_duckdb, keep)
    _finish_workload(document)
    _fail_on_differences(document)


def _finish_workload(document: dict) -> None:
    console.print(query_table(document))
    _say_where(document)


def _say_where(document: dict) -> None:
    load = document["machine"]["load_average"]
    if load > document["machine"]["cpus"] / 2:
        console.print(f"The machine was busy (load average {load:.1f}): times are unreliable.")
    console.print(f"Result: {write_document(document)}")


def _fail_on_differences(document: dict) -> None:
    wrong = [q for q in document["queries"] if q["differences"]]
    if wrong:
        lines = [f"{q['name']}: {difference}" for q in wrong for difference in q["differences"]]
        raise LabError("answers differ:\n" + "\n".join(lines))


def main() -> None:
    try:
        with terminate_like_interrupt():
            commands(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        console.print("interrupted; servers are stopped", style="yellow")
        sys.exit(EXIT_INTERRUPTED)
    except (LabError, psycopg.Error, duckdb.Error) as error:
        print(f"penumbra: {str(error).strip()}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
