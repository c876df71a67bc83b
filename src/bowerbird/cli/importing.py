"""Placeholder replaced in this change."""

import click


@click.command("import")
def import_files() -> None:
    pass
