"""`--help` of every command."""

import click

from bowerbird.cli import commands


def test_every_command_shows_an_example() -> None:
    for command in _leaves(commands):
        with click.Context(command) as context:
            shown = command.get_help(context)
        assert "\n  Example:\n    " in shown, command.name


def _leaves(command: click.Command) -> list[click.Command]:
    if isinstance(command, click.Group):
        return [leaf for part in command.commands.values() for leaf in _leaves(part)]
    return [command]
