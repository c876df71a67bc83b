"""`key`: creates, lists and revokes an account's API keys."""

from collections.abc import Sequence
from typing import Final

import click

from bowerbird.cli import tokens
from bowerbird.cli.output import Column, json_option, print_listing
from bowerbird.clock import date_of_day
from bowerbird.library.accounts.keys import Keys
from bowerbird.model.accounts import Key
from bowerbird.model.instants import with_offset


def _last_used(key: Key) -> str | None:
    return None if key.last_used_day is None else date_of_day(key.last_used_day).isoformat()


_COLUMNS: Final[Sequence[Column[Key]]] = (
    Column("id", "Id", lambda key: key.key_id),
    Column("state", "State", lambda key: tokens.state(key.revoked_at)),
    Column(
        "created_at",
        "Created (UTC)",
        lambda key: with_offset(key.created_at),
        lambda key: tokens.second(key.created_at),
    ),
    Column("last_used_on", "Last used", _last_used, lambda key: _last_used(key) or "never"),
    Column("begins_with", "Begins with", lambda key: key.shown),
    Column("name", "Name", lambda key: key.name),
)


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
@json_option
def list_keys(email: str, *, as_json: bool) -> None:
    r"""List the keys of an account: id, state, creation, last use, first characters, name.

    The keys themselves are not stored, only their hashes. The columns are tab-separated when the
    output is not a terminal.

    \b
    Example:
      bowerbird key list you@example.com
    """
    found = tokens.of_account(email, Keys, lambda keys, owner: keys.all(owner))
    print_listing(found, _COLUMNS, as_json=as_json)


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
