"""`key`: creates, lists and revokes an account's API keys."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from bowerbird.cli import tables
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.clock import date_of_day
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.keys import Keys
from bowerbird.model.accounts import Key
from bowerbird.model.instants import without_offset

T = TypeVar("T")


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
    created = _with_keys(email, lambda keys, account_id: keys.create(account_id, name))
    click.echo("Store this key in a safe place. It cannot be shown again.", err=True)
    click.echo(created.text)


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
    found = _with_keys(email, lambda keys, account_id: keys.all(account_id))
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
    key_id = _with_keys(email, lambda keys, account_id: keys.revoke(account_id, key_or_id))
    click.echo(f"Revoked key {key_id}.")


def _with_keys(email: str, action: Callable[[Keys, int], Awaitable[T]]) -> T:
    async def work(opened: LibraryContext) -> T:
        account = await Accounts(opened.database, opened.clock).find(email)
        return await action(Keys(opened.database, opened.clock), account.account_id)

    return with_library(work)


def _row(key: Key) -> list[str]:
    state = "live" if key.revoked_at is None else "revoked"
    used = "never" if key.last_used_day is None else date_of_day(key.last_used_day).isoformat()
    created = without_offset(key.created_at)[:19]
    return [key.key_id, state, created, used, key.shown, key.name]
