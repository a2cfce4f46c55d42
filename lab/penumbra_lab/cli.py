"""The command `penumbra`: every command is registered here."""

import sys
from importlib import import_module

import click
import psycopg

from penumbra_lab.errors import LabError
from penumbra_lab.server import terminate_like_interrupt
from penumbra_lab.show import console

EXIT_INTERRUPTED = 130


# Each command, and where it is: MODULE:NAME of penumbra_lab.commands.
COMMANDS = {
    "advise": "advise:advise",
    "backtrace": "backtrace:backtrace",
    "bench": "bench:bench",
    "compare": "compare:compare",
    "compress": "compress:compress",
    "dashboard": "watch:dashboard",
    "demo": "demo:demo",
    "environment": "environment:show_environment",
    "metrics": "watch:metrics",
    "report": "compare:report",
    "status": "watch:status",
    "top": "watch:top",
    "tune": "tune:tune",
}
MISSING_PACKAGE = "needs the Python package {}: `pipx install penumbra-lab` has all"


class Commands(click.Group):
    """Imports a command when it is called: without a package that some need, the others work."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, function = COMMANDS[name].partition(":")
        try:
            return getattr(import_module(f"penumbra_lab.commands.{module}"), function)
        except ModuleNotFoundError as error:
            return _unavailable(name, MISSING_PACKAGE.format(error.name))


def _unavailable(name: str, reason: str) -> click.Command:
    def fail(**_arguments) -> None:
        raise LabError(f"{name} {reason}")

    arguments = click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)
    return click.Command(name, {"ignore_unknown_options": True}, fail, [arguments], reason,
                         add_help_option=False)  # fmt: skip


SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=Commands, context_settings=SETTINGS)
@click.version_option(package_name="penumbra-lab")
def commands() -> None:
    """Demonstrates, measures and compares Penumbra, with private servers under .penumbra/, and
    watches it on any other."""


def _told() -> tuple[type[Exception], ...]:
    """What is told in one line."""
    duckdb = sys.modules.get("duckdb")
    return (LabError, psycopg.Error, *((duckdb.Error,) if duckdb else ()))


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
    except ModuleNotFoundError as error:
        print(f"penumbra: this {MISSING_PACKAGE.format(error.name)}", file=sys.stderr)
        sys.exit(1)
    except _told() as error:
        print(f"penumbra: {str(error).strip()}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
