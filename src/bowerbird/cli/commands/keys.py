"""`key`: creates, lists and revokes an account's API keys."""

import click

from bowerbird.cli import tables, tokens
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
    text = tokens.of_account(email, Keys, lambda keys, owner: keys.create(owner, name))
    tokens.print_new("key", text)


@key.command("list")
@click.argument("email")
def list_keys(email: str) -> None:
    r"""List the keys of an account: id, state, time of creation, name.

    The keys themselves are not stored, only their hashes. The columns are tab-separated when the
    output is not a terminal.

    \b
    Example:
      bowerbird key list you@example.com
    """
    found = tokens.of_account(email, Keys, lambda keys, owner: keys.all(owner))
    tables.print_rows(("Id", "State", "Created (UTC)", "Name"), [_row(key) for key in found])


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
    return [key.key_id, tokens.state(key.revoked_at), tokens.second(key.created_at), key.name]
