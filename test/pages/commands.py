"""What the command line of `penumbra` takes, without running it."""

import shlex

import click
from penumbra_lab.cli import commands


def options(command: click.Command = commands, context: click.Context | None = None) -> set[str]:
    """Of all commands."""
    context = click.Context(command, context)
    found = {name for parameter in command.get_params(context) for name in (*parameter.opts, *parameter.secondary_opts)}
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found |= options(command.get_command(context, name), context)
    return {name for name in found if name.startswith("-")}


def check_arguments(line: str) -> None:
    """The command exists and takes these options; values are not looked at."""
    words = shlex.split(line, comments=True)[1:]
    command: click.Command = commands
    context = click.Context(command, info_name="penumbra", **commands.context_settings)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words.pop(0))
        assert found, f"no such command: {line}"
        command, context = found, click.Context(found, context, info_name=found.name)
    try:
        command.make_parser(context).parse_args(words)
    except click.UsageError as error:
        raise AssertionError(f"{line}: {error.message}") from error
