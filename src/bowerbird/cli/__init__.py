"""The command line: one module per group of commands. Every failure is one sentence on stderr."""

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import click

from bowerbird import __version__
from bowerbird.errors import Refusal
from bowerbird.library.accounts.accounts import HalfDeleted, NoAccount
from bowerbird.library.accounts.tokens import NoLiveDevice, NoLiveKey


class Source(NamedTuple):
    """Where the code of a command is."""

    module: str
    attribute: str


class LazyCommands(click.Group):
    def __init__(self, *, sources: Mapping[str, Source], **options: Any) -> None:
        super().__init__(**options)
        self._sources = sources

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._sources})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._sources:
            self._load(cmd_name)
        else:
            # Click suggests a command with a similar name, out of those that are loaded.
            self.load_all()
        return super().get_command(ctx, cmd_name)

    def load_all(self) -> Mapping[str, click.Command]:
        for name in self._sources:
            self._load(name)
        return self.commands

    def _load(self, name: str) -> None:
        if name not in self.commands:
            source = self._sources[name]
            command = getattr(importlib.import_module(source.module), source.attribute)
            self.add_command(_with_line_breaks_kept(command), name)


def _with_line_breaks_kept(command: click.Command) -> click.Command:
    r"""Replaces the two characters "\b" of our raw docstrings by the one that click looks for."""
    if command.help:
        command.help = command.help.replace("\\b\n", "\b\n")
    if isinstance(command, click.Group):
        for part in command.commands.values():
            _with_line_breaks_kept(part)
    return command


_SUGGESTIONS: Final[dict[type[Refusal], str]] = {
    NoAccount: "To list accounts, run: bowerbird account list",
    HalfDeleted: "To finish, run: bowerbird account delete EMAIL",
    NoLiveKey: "To list keys, run: bowerbird key list EMAIL",
    NoLiveDevice: "To list devices, run: bowerbird device list EMAIL",
}


def with_suggestion(refusal: Refusal) -> Refusal:
    suggestion = _SUGGESTIONS.get(type(refusal))
    if suggestion is None:
        return refusal
    return Refusal(refusal.code, f"{refusal} {suggestion}")


@contextmanager
def print_failure_and_exit() -> Iterator[None]:
    try:
        yield
    except SystemExit:
        raise
    except _expected() as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        click.echo(
            f"Error: {error.strerror or error}: {error.filename or ''}".rstrip(": "), err=True
        )
        sys.exit(1)
    except UnicodeEncodeError as error:
        # UTF-8 has all characters: it only refuses the bytes of an argument that are none.
        sentence = "An argument is not valid UTF-8."
        if error.encoding != "utf-8":
            sentence = f"The output cannot be written as {error.encoding}; set PYTHONUTF8=1."
        click.echo(f"Error: {sentence}", err=True)
        sys.exit(1)


def _expected() -> tuple[type[Exception], ...]:
    """Imported when a command failed, because the modules take longer to import than a command."""
    from bowerbird.errors import Refusal  # noqa: PLC0415
    from bowerbird.settings import BadSetting  # noqa: PLC0415
    from bowerbird.storage.backup.archives import BadArchive  # noqa: PLC0415
    from bowerbird.storage.backup.copies import CopyFailed  # noqa: PLC0415
    from bowerbird.storage.migrations import SchemaProblem  # noqa: PLC0415
    from bowerbird.storage.sqlite.replacing import LibraryInUse  # noqa: PLC0415
    from bowerbird.storage.sqlite.schema import FolderInUse  # noqa: PLC0415
    from bowerbird.wire.deprecation import BadDeprecation  # noqa: PLC0415

    return (
        Refusal,
        BadSetting,
        SchemaProblem,
        FolderInUse,
        BadArchive,
        CopyFailed,
        LibraryInUse,
        BadDeprecation,
    )


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
    "sources": ("imports", "sources"),
    "webhook": ("rules", "webhook"),
    "import": ("import_files", "import_files"),
    "export": ("export_files", "export"),
    "imports": ("imports", "imports"),
    "save": ("save", "save"),
    "fetch": ("save", "fetch"),
    "rule": ("rules", "rule"),
    "digest": ("digests", "digest"),
    "embed": ("model", "embed"),
    "model": ("model", "model"),
    "backup": ("upkeep", "backup"),
    "restore": ("upkeep", "restore"),
    "jobs": ("upkeep", "jobs"),
    "share": ("rules", "share"),
    "check": ("upkeep", "check"),
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
