"""The command line: one module per group of commands. Every failure is one sentence on stderr."""

import os
import sys
from typing import Final

import click

from bowerbird import __version__
from bowerbird.cli.command_groups import LazyCommands, Source, print_failure_and_exit

# Everything that a command or the server creates is private, also what libraries create.
_UMASK: Final = 0o077

# The module in `commands`, and the function there.
_SOURCES: Final = {
    "serve": ("serve", "serve"),
    "worker": ("serve", "worker"),
    "migrate": ("serve", "migrate"),
    "version": ("serve", "version"),
    "account": ("accounts", "account"),
    "key": ("credentials", "key"),
    "device": ("credentials", "device"),
    "reingest": ("credentials", "reingest"),
    "sources": ("sources", "sources"),
    "webhook": ("webhook", "webhook"),
    "import": ("import_files", "import_files"),
    "export": ("export_files", "export"),
    "imports": ("imports", "imports"),
    "save": ("save", "save"),
    "fetch": ("save", "fetch"),
    "rule": ("rules", "rule"),
    "digest": ("digests", "digest"),
    "embed": ("model", "embed"),
    "model": ("model", "model"),
    "backup": ("backups", "backup"),
    "restore": ("backups", "restore"),
    "jobs": ("jobs", "jobs"),
    "share": ("shares", "share"),
    "check": ("checks", "check"),
    "doctor": ("doctor", "doctor"),
    "notify-sunset": ("sunset", "notify_sunset"),
    "spec": ("spec", "spec"),
}


@click.group(
    cls=LazyCommands,
    sources={
        name: Source(f"{__name__}.commands.{module}", function)
        for name, (module, function) in _SOURCES.items()
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="bowerbird")
def program() -> None:
    """A library for the posts you save, reachable by your programs and your agents.

    Settings come from BOWERBIRD_* variables; docs/settings.md lists them.
    """


def main() -> None:
    os.umask(_UMASK)
    with print_failure_and_exit():
        program(prog_name="bowerbird")
    sys.exit(0)
