"""Groups of commands: loaded when they run, with suggestions and clear failures."""

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import click

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
