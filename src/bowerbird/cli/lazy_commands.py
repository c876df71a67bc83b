"""A group of commands that imports the module of a command when it is used.

Importing all of them takes longer than most commands do.
"""

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click


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
