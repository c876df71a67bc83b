"""`--help` of every command."""

import subprocess
import sys

import click

from bowerbird.cli import program
from bowerbird.cli.lazy_commands import LazyCommands


def test_the_help_of_every_command_shows_an_example() -> None:
    for command in _leaves(program):
        with click.Context(command) as context:
            help_text = command.get_help(context)
        assert "\n  Example:\n    " in help_text, command.name


def test_an_unknown_command_gets_a_suggestion_out_of_all_commands() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "bowerbird", "workr"], capture_output=True, check=False
    )

    assert b"Did you mean 'worker'?" in ran.stderr


def test_a_command_imports_only_its_own_code() -> None:
    program = (
        "import sys; from click.testing import CliRunner; from bowerbird.cli import program;"
        "assert CliRunner().invoke(program, ['import', '--help']).exit_code == 0;"
        "print(*(name for name in sys.modules if name.startswith('bowerbird.cli.commands.')))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert ran.stdout.split() == [b"bowerbird.cli.commands.import_files"]


def _leaves(command: click.Command) -> list[click.Command]:
    if isinstance(command, LazyCommands):
        command.load_all()
    if isinstance(command, click.Group):
        return [leaf for part in command.commands.values() for leaf in _leaves(part)]
    return [command]
