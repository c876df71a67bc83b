"""`backup` and `restore`: copy a SQLite library to one file, and back."""

from pathlib import Path

import click

from bowerbird.cli.context import require_library, settings_from_environment
from bowerbird.cli.output import progress_bars
from bowerbird.clock import system_clock
from bowerbird.connections.records import FILE as SOURCES_KEY
from bowerbird.settings import Settings
from bowerbird.storage.backup import archives, copies
from bowerbird.storage.backup.archives import LastBackup
from bowerbird.storage.sqlite.database import FILE_NAME


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def backup(file: Path, *, force: bool) -> None:
    r"""Copy the library to FILE while the server runs.

    The copy is a consistent snapshot, and the command verifies it before it creates FILE. The
    copy includes files and secrets, so protect it as well as the library.

    \b
    Example:
      bowerbird backup /var/backups/bowerbird-monday.tar
    """
    settings = _sqlite_settings("pg_dump")
    require_library(settings)
    with progress_bars() as advance:
        manifest = copies.back_up(
            settings.data_dir, file, overwrite=force, clock=system_clock, advance=advance
        )
    size = sum(member.size for member in manifest.members.values())
    _remember(settings.data_dir, LastBackup(system_clock(), size))
    click.echo(
        f"Wrote and verified {file}: the database and {_files(len(manifest.members) - 1)}, "
        f"{size / 1e6:,.1f} MB."
    )
    if (settings.data_dir / SOURCES_KEY).exists():
        click.echo(
            f"The key of connected sources, {settings.data_dir / SOURCES_KEY}, is not in it. Keep "
            "a copy in another place. Without it, people have to connect their sources again."
        )


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def restore(file: Path, *, yes: bool) -> None:
    r"""Replace the library with the backup in FILE. Stop the server first.

    The command verifies FILE completely before it changes anything, and keeps the previous
    library next to the new one. ETags that clients received before the restore become invalid.

    \b
    Example:
      bowerbird restore /var/backups/bowerbird-monday.tar
    """
    settings = _sqlite_settings("pg_restore")
    library = settings.data_dir / FILE_NAME
    # Before the question: nobody should have to confirm what cannot be done.
    made_at = copies.outline(file).made_at
    if library.exists() and not yes:
        copies.require_unused(settings.data_dir)
        folder = settings.data_dir.absolute()
        click.confirm(f"Replace the library in {folder} with the backup of {made_at}?", abort=True)
    with progress_bars() as advance:
        restored = copies.restore(settings.data_dir, file, advance)
    click.echo(f"Restored {library} as of {restored.manifest.made_at}.")
    for name in restored.migrated:
        click.echo(f"applied {name}")
    if restored.kept:
        kept = " and ".join(map(str, restored.kept))
        click.echo(f"The previous library is kept as {kept}. Delete it when you no longer need it.")


def _remember(folder: Path, backup: LastBackup) -> None:
    """Notes the time for `doctor` and the operator's page. The backup is good without it."""
    try:
        archives.remember_last(folder, backup)
    except OSError as error:
        click.echo(f"Cannot note the time of this backup in {folder}: {error.strerror}.", err=True)


def _sqlite_settings(tool: str) -> Settings:
    settings = settings_from_environment()
    if not settings.is_sqlite:
        raise click.ClickException(
            f"This library uses PostgreSQL. Use {tool} instead; see docs/postgresql.md."
        )
    return settings


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
