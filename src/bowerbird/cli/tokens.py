"""What the commands `key` and `device` share."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.clock import Clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.model.instants import without_offset
from bowerbird.storage.database import Database

T = TypeVar("T")
Owner = TypeVar("Owner")


def of_account(
    email: str,
    made: Callable[[Database, Clock], Owner],
    action: Callable[[Owner, int], Awaitable[T]],
) -> T:
    """Runs an action on the keys or devices of an account."""

    async def work(opened: LibraryContext) -> T:
        account = await Accounts(opened.database, opened.clock).find(email)
        return await action(made(opened.database, opened.clock), account.account_id)

    return with_library(work)


def print_new(kind: str, text: str) -> None:
    """Only the secret goes to the standard output, so that a script can use it."""
    click.echo(f"Store this {kind} in a safe place. It cannot be shown again.", err=True)
    click.echo(text)


def state(revoked_at: int | None) -> str:
    return "live" if revoked_at is None else "revoked"


def second(moment: int) -> str:
    return without_offset(moment)[:19]


def second_or_never(moment: int | None) -> str:
    return "never" if moment is None else second(moment)
