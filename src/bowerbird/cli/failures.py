"""Prints an expected failure as one sentence instead of a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from bowerbird.errors import Refusal
from bowerbird.settings import BadSetting
from bowerbird.storage.backup.archives import BadArchive
from bowerbird.storage.backup.copies import CopyFailed
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.sqlite.replacing import LibraryInUse
from bowerbird.storage.sqlite.schema import FolderInUse
from bowerbird.wire.deprecation import BadDeprecation

_EXPECTED: Final = (
    Refusal,
    BadSetting,
    SchemaProblem,
    FolderInUse,
    BadArchive,
    CopyFailed,
    LibraryInUse,
    BadDeprecation,
)


@contextmanager
def print_failure_and_exit() -> Iterator[None]:
    try:
        yield
    except _EXPECTED as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        click.echo(
            f"Error: {error.strerror or error}: {error.filename or ''}".rstrip(": "), err=True
        )
        sys.exit(1)
