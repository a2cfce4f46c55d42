"""The command `penumbra`: every command is registered here."""

import sys

import click
import duckdb
import psycopg

from penumbra_lab.commands.backtrace import backtrace
from penumbra_lab.commands.bench import bench
from penumbra_lab.commands.compare import compare, report
from penumbra_lab.commands.compress import compress
from penumbra_lab.commands.demo import demo
from penumbra_lab.commands.environment import show_environment
from penumbra_lab.commands.tune import tune
from penumbra_lab.errors import LabError
from penumbra_lab.server import terminate_like_interrupt
from penumbra_lab.show import console

EXIT_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="penumbra-lab")
def commands() -> None:
    """Demonstrates, measures and compares Penumbra, with private servers under .penumbra/."""


for command in (backtrace, bench, compare, compress, demo, report, show_environment, tune):
    commands.add_command(command)


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
