"""The commands that watch a server: `penumbra status`, `top`, `metrics`, `dashboard`."""

import contextlib
from collections.abc import Iterator
from typing import TextIO

import click

from penumbra_lab.errors import LabError
from penumbra_lab.show import console
from penumbra_lab.watch.reader import Reader
from penumbra_lab.watch.sampler import Sampler
from penumbra_lab.watch.status import is_well, status_json, status_view
from penumbra_lab.watch.top import watch

EXIT_NEEDS_ATTENTION = 3
ROWS_READ = 100

dsn_option = click.option(
    "--dsn",
    default="",
    help="Connection string; without it, libpq's environment. A role with pg_monitor sees all.",
)


@click.command()
@dsn_option
@click.option("--json", "as_json", is_flag=True, help="All that was read, as JSON.")
@click.option(
    "--rows", type=click.IntRange(min=1), default=8, show_default=True, help="Rows of each table."
)
def status(dsn: str, as_json: bool, rows: int) -> None:
    """What Penumbra does on a server: memory, tables, loads, what is stale and why, what to do.

    Reads only, and works on any PostgreSQL, with or without the extension. The exit status is 0 if
    all is well, 3 if something needs attention, 1 if the server cannot be read.
    """
    with Reader(dsn, "status", max(rows, ROWS_READ)) as reader:
        snapshot = reader.read()
    if as_json:
        click.echo(status_json(snapshot))
    else:
        console.print(status_view(snapshot, rows))
    if not is_well(snapshot):
        raise SystemExit(EXIT_NEEDS_ATTENTION)


def seconds_option(default: float):
    return click.option(
        "--seconds",
        type=click.FloatRange(min=0.5),
        default=default,
        show_default=True,
        help="Between two samples.",
    )


@click.command()
@dsn_option
@seconds_option(2)
@click.option("--count", type=click.IntRange(min=1), help="Ends after so many samples.")
def top(dsn: str, seconds: float, count: int | None) -> None:
    """A server, live in the terminal, with rates since the last sample; q leaves.

    Into a file or a pipe it writes one sample after the other.
    """
    with (
        contextlib.suppress(KeyboardInterrupt),
        Reader(dsn, "top", ROWS_READ) as reader,
        Sampler(reader, seconds) as sampler,
    ):
        watch(sampler, console, count)


@contextlib.contextmanager
def needs_extra() -> Iterator[None]:
    """What only some commands need is installed for them."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise LabError(
            f"Python's package {error.name} is missing: `make venv-watch`, or install"
            " penumbra-lab[watch]"
        ) from error


@click.command()
@dsn_option
@click.option(
    "--postgres-exporter",
    is_flag=True,
    help="Prints queries instead, with which postgres_exporter makes the same metrics.",
)
def metrics(dsn: str, postgres_exporter: bool) -> None:
    """A server's numbers in the format of OpenMetrics, once; `penumbra dashboard` serves them."""
    with needs_extra():
        from penumbra_lab.watch.metrics import exporter_queries, metrics_text
    if postgres_exporter:
        click.echo(exporter_queries(), nl=False)
        return
    with Reader(dsn, "metrics", ROWS_READ) as reader:
        click.echo(metrics_text(reader.read()), nl=False)


@click.command()
@dsn_option
@seconds_option(5)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8710, show_default=True,
              help="0 takes a free one.")  # fmt: skip
@click.option("--token-file", type=click.File(), envvar="PENUMBRA_TOKEN_FILE",
              help="Holds the token that visitors need; without it, one is made up where one is "
              "needed: at any address but this machine's own.")  # fmt: skip
def dashboard(dsn: str, seconds: float, host: str, port: int, token_file: TextIO | None) -> None:
    """A web page of a server, with its last hours, and /metrics for Prometheus."""
    with needs_extra():
        from penumbra_lab.watch.dashboard.serve import choose_token, serve
    token = choose_token(host, token_file.read().strip() if token_file else None)
    with (
        contextlib.suppress(KeyboardInterrupt),
        Reader(dsn, "dashboard", ROWS_READ) as reader,
        Sampler(reader, seconds) as sampler,
    ):
        serve(sampler, host, port, token, click.echo)
