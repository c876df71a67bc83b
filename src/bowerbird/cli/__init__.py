"""The command line: one module per group of commands. Every failure is one sentence on stderr."""

import os
import sys
from typing import Final

import click

from bowerbird import __version__
from bowerbird.cli.commands import (
    accounts,
    backups,
    checks,
    devices,
    digests,
    doctor,
    embed,
    import_files,
    imports,
    jobs,
    keys,
    save,
    serve,
    spec,
    sunset,
)
from bowerbird.cli.failures import print_failure_and_exit

# Everything that a command or the server creates is private, also what libraries create.
_UMASK: Final = 0o077


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="bowerbird")
def commands() -> None:
    """A library for the posts you save, reachable by your programs and your agents.

    Settings come from BOWERBIRD_* variables; docs/settings.md lists them.
    """


def _with_line_breaks_kept(command: click.Command) -> click.Command:
    r"""Replaces the two characters "\b" of our raw docstrings by the one that click looks for."""
    if command.help:
        command.help = command.help.replace("\\b\n", "\b\n")
    if isinstance(command, click.Group):
        for part in command.commands.values():
            _with_line_breaks_kept(part)
    return command


for _command in (
    serve.serve,
    serve.worker,
    serve.migrate,
    serve.version,
    accounts.account,
    keys.key,
    devices.device,
    devices.reingest,
    import_files.import_files,
    imports.imports,
    save.save,
    digests.digest,
    embed.embed,
    backups.backup,
    backups.restore,
    jobs.jobs,
    checks.check,
    doctor.doctor,
    sunset.notify_sunset,
    spec.spec,
):
    commands.add_command(_with_line_breaks_kept(_command))


def main() -> None:
    os.umask(_UMASK)
    with print_failure_and_exit():
        commands(prog_name="bowerbird")
    sys.exit(0)
