"""`--help` of every command."""

import click

from bowerbird.cli import commands


def test_the_help_of_every_command_shows_an_example() -> None:
    for command in _leaves(commands):
        with click.Context(command) as context:
            help_text = command.get_help(context)
        assert "\n  Example:\n    " in help_text, command.name


def _leaves(command: click.Command) -> list[click.Command]:
    if isinstance(command, click.Group):
        return [leaf for part in command.commands.values() for leaf in _leaves(part)]
    return [command]
