"""`--help` of every command, and shell completion as docs/self-hosting.md sets it up."""

import os
import subprocess
import sys

import click
import pytest
from click import shell_completion

from bowerbird.cli import program
from bowerbird.cli.command_groups import LazyCommands


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


PROGRAM = (sys.executable, "-m", "bowerbird")


def completed(words: str, number: int) -> list[str]:
    """The words that bash would offer."""
    variables = {
        "_BOWERBIRD_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(number),
    }
    ran = subprocess.run(
        PROGRAM, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    return [line.removeprefix("plain,") for line in ran.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script_and_completes(shell: str) -> None:
    kind = shell_completion.get_completion_class(shell)
    assert kind
    completing = kind(program, {}, "bowerbird", "_BOWERBIRD_COMPLETE")

    def offered(*words: str) -> list[str]:
        return [one.value for one in completing.get_completions(list(words[:-1]), words[-1])]

    assert f"_BOWERBIRD_COMPLETE={shell}_complete" in completing.source()
    assert offered("ac") == ["account"]
    assert offered("jobs", "list", "--js") == ["--json"]


def test_bash_completes_the_commands_of_a_group() -> None:
    assert completed("bowerbird account cre", 2) == ["create"]
