"""`backup` and `restore`: a SQLite library to one file, and back."""

from pathlib import Path

import click

from bowerbird.cli.context import settings_from_environment
from bowerbird.cli.progress import shown_steps
from bowerbird.clock import system_clock
from bowerbird.settings import Settings
from bowerbird.storage.backup import copies
from bowerbird.storage.sqlite.database import FILE_NAME


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def backup(file: Path, *, force: bool) -> None:
    r"""Copy the library, with its files and secrets, to FILE while the server runs.

    The copy is of one moment, and is checked before it takes its name. Keep it as safe as the
    library itself: it holds everything.

    \b
    Example:
      bowerbird backup /var/backups/bowerbird-monday.tar
    """
    settings = _sqlite_settings("pg_dump")
    with shown_steps() as advance:
        manifest = copies.back_up(
            settings.data_dir, file, overwrite=force, clock=system_clock, advance=advance
        )
    size = sum(member.size for member in manifest.members.values())
    click.echo(
        f"Wrote and checked {file}: the database and {_files(len(manifest.members) - 1)}, "
        f"{size / 1e6:,.1f} MB."
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--yes", is_flag=True, help="Do not ask before the library is replaced.")
def restore(file: Path, *, yes: bool) -> None:
    r"""Replace the library by the copy in FILE. Stop the server first.

    FILE is checked whole before anything is touched, and the library that was there is kept
    beside the new one. What clients remember of it by ETag no longer counts.

    \b
    Example:
      bowerbird restore /var/backups/bowerbird-monday.tar
    """
    settings = _sqlite_settings("pg_restore")
    library = settings.data_dir / FILE_NAME
    if library.exists() and not yes:
        click.confirm(f"Replace the library in {settings.data_dir}?", abort=True)
    with shown_steps() as advance:
        restored = copies.restore(settings.data_dir, file, advance)
    click.echo(f"Restored {library} as it was at {restored.manifest.made_at}.")
    for name in restored.migrated:
        click.echo(f"applied {name}")
    if restored.kept:
        kept = " and ".join(map(str, restored.kept))
        click.echo(f"What was there is kept as {kept}; remove it when you do not need it any more.")


def _sqlite_settings(tool: str) -> Settings:
    settings = settings_from_environment()
    if not settings.is_sqlite:
        raise click.ClickException(
            f"This library is in PostgreSQL: use {tool}, as docs/postgresql.md shows."
        )
    return settings


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
