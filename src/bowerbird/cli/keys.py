"""Placeholder replaced in this change."""

import click


@click.group()
def key() -> None:
    pass
