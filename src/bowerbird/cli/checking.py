"""Placeholder replaced in this change."""

import click


@click.command()
def check() -> None:
    pass


@click.command()
def doctor() -> None:
    pass
