"""Prints an expected failure as one sentence instead of a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click


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
