"""`penumbra advise`: what Penumbra would bring to a server, before it is installed."""

from pathlib import Path

import click

from penumbra_lab.advise.advice import Adviser
from penumbra_lab.advise.logs import log_format, read_log
from penumbra_lab.advise.report import advice_content, advice_json
from penumbra_lab.advise.server import Server
from penumbra_lab.advise.settings import find_settings
from penumbra_lab.advise.statements import Workload, read_file, read_statement_view
from penumbra_lab.commands.watch import ROWS_READ, dsn_option
from penumbra_lab.reporting.report import write_content
from penumbra_lab.reporting.terminal import print_content
from penumbra_lab.watch.reader import Reader


@click.command()
@dsn_option
@click.option("--queries", "queries_file", type=click.Path(path_type=Path, dir_okay=False),
              help="Statements in a file instead of those of pg_stat_statements: a server's log, "
              "SQL, or CSV with columns query, calls, mean_exec_time.")  # fmt: skip
@click.option("--statements", "statements_max", type=click.IntRange(min=1), default=200,
              show_default=True,
              help="How many of pg_stat_statements or of a log, by their time.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the report to this file: .html or .md.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="All of it, as JSON.")
@click.option("--rows", type=click.IntRange(min=1), default=20, show_default=True,
              help="Rows of each table in the terminal.")  # fmt: skip
def advise(dsn: str, queries_file: Path | None, statements_max: int, output: Path | None,
           as_json: bool, rows: int) -> None:  # fmt: skip
    """What Penumbra would bring to a server: which queries, how much faster, for how much memory,
    and what stands in the way.

    Reads only, executes no statement, and needs no extension on the server. A role with pg_monitor
    sees all roles' statements; it plans those whose tables it may read.
    """
    with Server(dsn) as server:
        advice = Adviser(server).advise(_workload(server, queries_file, statements_max))
        findings = find_settings(server, advice)
        counted = server.ask_extension()
    with Reader(dsn, "advise", ROWS_READ) as reader:
        snapshot = reader.read()
    if as_json:
        click.echo(advice_json(advice, findings, snapshot, counted))
    if output:
        write_content(advice_content(advice, findings, snapshot, counted), output)
    if not as_json and not output:
        print_content(advice_content(advice, findings, snapshot, counted, rows))


def _workload(server: Server, queries_file: Path | None, statements_max: int) -> Workload:
    if queries_file is None:
        return read_statement_view(server, statements_max)
    if log := log_format(queries_file):
        return read_log(queries_file, log, server, statements_max)
    return read_file(queries_file)
