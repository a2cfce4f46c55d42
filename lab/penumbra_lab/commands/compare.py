"""The command line of what judges and shows results: `penumbra compare`, `penumbra report`."""

from pathlib import Path

import click

from penumbra_lab.analysis.comparison import compare_runs
from penumbra_lab.analysis.document import load_runs
from penumbra_lab.analysis.verdict import CONFIDENCE, MARGIN, Outcome
from penumbra_lab.reporting.report import write_report
from penumbra_lab.reporting.terminal import print_comparison
from penumbra_lab.run.recording import latest_result
from penumbra_lab.show import console
from penumbra_lab.state import report_path

# Of `compare`; 1 is an error, 2 a wrong option.
EXIT_SLOWER, EXIT_UNCLEAR = 3, 4


def _comparison_options(function):
    for option in reversed((
        click.option("--baseline", help="The variant to compare with (default: the first)."),
        click.option("--confidence", type=click.FloatRange(min=0.5, max=0.9999), show_default=True,
                     default=CONFIDENCE, help="That all verdicts together are right."),
        click.option("--margin", type=click.FloatRange(min=0.001, max=10), show_default=True,
                     default=MARGIN, help="What cannot rule out a larger difference than this share"
                                          " is called too noisy, not equal."),
    )):  # fmt: skip
        function = option(function)
    return function


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@_comparison_options
@click.option("--fail-on-slower", is_flag=True,
              help=f"Exit with status {EXIT_SLOWER} when anything got worse.")  # fmt: skip
@click.option("--fail-on-unclear", is_flag=True,
              help=f"Exit with status {EXIT_UNCLEAR} when anything is too noisy.")  # fmt: skip
def compare(
    files: tuple[Path, ...], fail_on_slower: bool, fail_on_unclear: bool, **options
) -> None:
    """Compares runs, FILES of `penumbra bench`: each with the first, or the variants of one."""
    comparison = compare_runs(load_runs(files), **options)
    print_comparison(comparison)
    if fail_on_slower and comparison.has(Outcome.WORSE):
        raise SystemExit(EXIT_SLOWER)
    if fail_on_unclear and comparison.has(Outcome.UNCLEAR):
        raise SystemExit(EXIT_UNCLEAR)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A .html, .md or .png file; may be repeated (default .penumbra/report.html).",
)
@_comparison_options
def report(files: tuple[Path, ...], outputs: tuple[Path, ...], **options) -> None:
    """Makes one page of runs, FILES of `penumbra bench` (default: the latest result)."""
    files = files or (latest_result(),)
    comparison = compare_runs(load_runs(files), **options)
    for output in outputs or [report_path()]:
        write_report(comparison, output)
        console.print(f"Report: {output}")
