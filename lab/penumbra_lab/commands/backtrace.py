"""The commands `penumbra backtrace ...`."""

from pathlib import Path

import click

from penumbra_lab.crash_file import Symbolizer, find_crash_files
from penumbra_lab.crash_show import crash_markdown, crash_view, list_table, read_crash_files
from penumbra_lab.errors import LabError
from penumbra_lab.show import console


@click.group()
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
