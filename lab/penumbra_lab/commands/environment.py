"""The command `penumbra environment`."""

import json
from pathlib import Path

import click

from penumbra_lab.run.environment import describe_machine


@click.command("environment")
@click.option("--data-directory", default=None,
              type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="The server's: its filesystem is described too.")  # fmt: skip
def show_environment(data_directory: Path | None) -> None:
    """Prints this machine as JSON, for --server-machine of a run from another one."""
    print(json.dumps(describe_machine(data_directory), indent=1))
