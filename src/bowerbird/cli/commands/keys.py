"""`key`: creates, lists and revokes an account's API keys."""

import click

from bowerbird.cli import tables, tokens
from bowerbird.clock import date_of_day
from bowerbird.library.accounts.keys import Keys
from bowerbird.model.accounts import Key


@click.group()
def key() -> None:
    """Create, list and revoke API keys."""


@key.command()
@click.argument("email")
@click.option("--name", default="", help="A name that identifies the key in the list.")
def create(email: str, name: str) -> None:
    r"""Create a key for an account and print it. It cannot be shown again.

    \b
    Example:
      bowerbird key create you@example.com --name laptop
      KEY=$(bowerbird key create you@example.com)
    """
    created = tokens.of_account(email, Keys, lambda keys, owner: keys.create(owner, name))
    tokens.print_new("key", created.text)


@key.command("list")
@click.argument("email")
def list_keys(email: str) -> None:
    r"""List the keys of an account: id, state, creation, last use, first characters, name.

    The keys themselves are not stored, only their hashes. The columns are tab-separated when the
    output is not a terminal.

    \b
    Example:
      bowerbird key list you@example.com
    """
    found = tokens.of_account(email, Keys, lambda keys, owner: keys.all(owner))
    header = ("Id", "State", "Created (UTC)", "Last used", "Begins with", "Name")
    tables.print_rows(header, [_row(key) for key in found])


@key.command()
@click.argument("email")
@click.argument("key_or_id", metavar="KEY-OR-ID")
def revoke(email: str, key_or_id: str) -> None:
    r"""Revoke a key. The server rejects it from the next request.

    \b
    Example:
      bowerbird key revoke you@example.com 3f9c01ab
    """
    key_id = tokens.of_account(email, Keys, lambda keys, owner: keys.revoke(owner, key_or_id))
    click.echo(f"Revoked key {key_id}.")


def _row(key: Key) -> list[str]:
    state, created = tokens.state(key.revoked_at), tokens.second(key.created_at)
    used = "never" if key.last_used_day is None else date_of_day(key.last_used_day).isoformat()
    return [key.key_id, state, created, used, key.shown, key.name]
