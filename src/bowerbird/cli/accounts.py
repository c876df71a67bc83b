"""Placeholder replaced in this change."""

import click


@click.group()
def account() -> None:
    pass
