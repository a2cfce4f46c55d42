"""The command `penumbra`."""

import sys
from pathlib import Path

import click
import duckdb
import psycopg

from penumbra_lab.analysis.comparison import compare_runs
from penumbra_lab.analysis.document import make_run
from penumbra_lab.bench import bench_workload
from penumbra_lab.compress_advice import compress
from penumbra_lab.crash_file import Symbolizer, find_crash_files
from penumbra_lab.crash_show import crash_markdown, crash_view, list_table, read_crash_files
from penumbra_lab.errors import LabError
from penumbra_lab.reporting.commands import compare, report
from penumbra_lab.reporting.report import write_report
from penumbra_lab.run.commands import bench, fail_on_differences, show_environment
from penumbra_lab.run.recording import conclude
from penumbra_lab.server import terminate_like_interrupt
from penumbra_lab.show import console, query_table
from penumbra_lab.state import report_path
from penumbra_lab.tune.command import tune

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
    outcome = bench_workload("tpch", scale, runs, with_duckdb=True, keep=keep)
    conclude(outcome, query_table)
    queries = outcome.document["sections"]["queries"]
    shown = next(name for name in queries if name.startswith("q01"))
    console.print(f"\nThe plan of {shown}:\n")
    console.print(queries[shown]["plan"], markup=False, highlight=False, soft_wrap=True)
    run = make_run(outcome.document, "demo", "this run")
    write_report(compare_runs([run]), report_path())
    console.print(f"\nReport: {report_path()}")
    fail_on_differences(outcome.document)


commands.add_command(bench)
commands.add_command(compress)
commands.add_command(tune)
commands.add_command(show_environment)
commands.add_command(compare)
commands.add_command(report)


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
