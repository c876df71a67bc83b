"""Placeholder replaced in this change."""

import click


@click.command()
def backup() -> None:
    pass


@click.command()
def restore() -> None:
    pass
