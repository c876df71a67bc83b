"""The command line: one file a group of commands. Every failure is one sentence on stderr."""

import sys

import click

from bowerbird import __version__
from bowerbird.cli import (
    accounts,
    backups,
    checking,
    digests,
    doctor,
    embedding,
    importing,
    jobs,
    keys,
    notifying,
    serving,
    spec,
)
from bowerbird.cli.failures import told


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="bowerbird")
def commands() -> None:
    """A library for the posts you save, reachable by your programs and your agents.

    Settings come from BOWERBIRD_* variables; docs/settings.md lists them.
    """


def _with_lines_kept(command: click.Command) -> click.Command:
    r"""Docstrings are raw, so click's mark "\b" arrives as two characters; this makes it one."""
    if command.help:
        command.help = command.help.replace("\\b\n", "\b\n")
    if isinstance(command, click.Group):
        for part in command.commands.values():
            _with_lines_kept(part)
    return command


for _command in (
    serving.serve,
    serving.worker,
    serving.migrate,
    serving.version,
    accounts.account,
    keys.key,
    importing.import_files,
    digests.digest,
    embedding.embed,
    backups.backup,
    backups.restore,
    jobs.jobs,
    checking.check,
    doctor.doctor,
    notifying.notify_sunset,
    spec.spec,
):
    commands.add_command(_with_lines_kept(_command))


def main() -> None:
    with told():
        commands(prog_name="bowerbird")
    sys.exit(0)
