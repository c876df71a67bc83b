"""`key` and `device`: create, list and revoke what programs call with; `reingest`."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, moment_column, print_listing
from bowerbird.clock import Clock, date_of_day
from bowerbird.library.accounts.tokens import Devices, Keys, Tokens
from bowerbird.library.ingest.kept_pages import KeptPages, ReadAgain
from bowerbird.model.accounts import Device, Key
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
        account = await opened.account(email)
        return await action(made(opened.database, opened.clock), account.account_id)

    return with_library(work)


def print_new(kind: str, text: str) -> None:
    """Only the secret goes to the standard output, so that a script can use it."""
    click.echo(f"Store this {kind} in a safe place. It cannot be shown again.", err=True)
    click.echo(text)


def state(revoked_at: int | None) -> str:
    return "live" if revoked_at is None else "revoked"


def _last_used(key: Key) -> str | None:
    return None if key.last_used_day is None else date_of_day(key.last_used_day).isoformat()


_CREATED: Final[Column[Any]] = moment_column(
    "created_at", "Created (UTC)", lambda each: each.created_at
)
_STATE: Final[Column[Any]] = Column("state", "State", lambda each: state(each.revoked_at))
_NAME: Final[Column[Any]] = Column("name", "Name", lambda each: each.name)

_KEY_COLUMNS: Final[Sequence[Column[Key]]] = (
    Column("id", "Id", lambda key: key.key_id),
    _STATE,
    _CREATED,
    Column("last_used_on", "Last used", _last_used, lambda key: _last_used(key) or "never"),
    Column("begins_with", "Begins with", lambda key: key.shown),
    _NAME,
)
_DEVICE_COLUMNS: Final[Sequence[Column[Device]]] = (
    Column("id", "Id", lambda device: device.device_id),
    _STATE,
    _CREATED,
    moment_column("last_used_at", "Last used (UTC)", lambda device: device.last_used_at),
    Column("x_account", "X account", lambda device: device.source_user_id),
    _NAME,
)


@click.group()
def key() -> None:
    """Create, list and revoke API keys."""


@click.group()
def device() -> None:
    """Create, list and revoke devices, which send posts to an account and cannot read them."""


def _add_commands(
    group: click.Group,
    made: type[Keys] | type[Devices],
    columns: Sequence[Column[Any]],
    *,
    secret: str,
    creates: str,
    lists: str,
) -> None:
    """`secret`: what a person stores. `creates` and `lists` are the help of these commands."""
    kind = made.kind.name
    example = "\n\n\b\nExample:\n  bowerbird " + kind

    def stored(database: Database, clock: Clock) -> Tokens[Any]:
        return made(database, clock)

    @group.command(help=creates)
    @click.argument("email")
    @click.option("--name", default="", help=f"A name that identifies the {kind} in the list.")
    def create(email: str, name: str) -> None:
        created = of_account(email, stored, lambda each, owner: each.issue(owner, name))
        print_new(secret, created.text)

    @group.command(
        "list",
        help=f"List the {kind}s of an account: {lists}.\n\n"
        f"The {secret}s themselves are not stored, only their hashes. The columns are "
        f"tab-separated when the output is not a terminal.{example} list you@example.com",
    )
    @click.argument("email")
    @json_option
    def list_all(email: str, *, as_json: bool) -> None:
        found = of_account(email, stored, lambda each, owner: each.all(owner))
        print_listing(found, columns, as_json=as_json)

    @group.command(
        help=f"Revoke a {kind}. The server rejects it from the next request."
        f"{example} revoke you@example.com 3f9c01ab"
    )
    @click.argument("email")
    @click.argument("token_or_id", metavar=f"{secret.upper()}-OR-ID")
    def revoke(email: str, token_or_id: str) -> None:
        revoked = of_account(email, stored, lambda each, owner: each.revoke(owner, token_or_id))
        click.echo(f"Revoked {kind} {revoked}.")


_add_commands(
    key,
    Keys,
    _KEY_COLUMNS,
    secret="key",  # noqa: S106 - what it is called
    creates="Create a key for an account and print it. It cannot be shown again.\n\n\b\nExample:\n"
    "  bowerbird key create you@example.com --name laptop\n"
    "  KEY=$(bowerbird key create you@example.com)",
    lists="id, state, creation, last use, first characters, name",
)
_add_commands(
    device,
    Devices,
    _DEVICE_COLUMNS,
    secret="token",  # noqa: S106 - what it is called
    creates="Create a device for an account and print its token. It cannot be shown again.\n\n\b\n"
    'Example:\n  bowerbird device create you@example.com --name "Firefox on the laptop"',
    lists="id, state, creation, last use, account at X, name",
)


@click.command()
@click.argument("email", required=False)
def reingest(email: str | None) -> None:
    r"""Read the pages again that no reader understood when a device sent them.

    The service keeps such pages for a year. Run this command after an upgrade. Without EMAIL
    it reads the pages of all accounts. Pages that can be read now are imported, and not kept any
    longer.

    \b
    Example:
      bowerbird reingest
    """

    async def work(opened: LibraryContext) -> list[tuple[str, ReadAgain]]:
        accounts = opened.accounts
        everyone = [one.email or str(one.account_id) for one in await accounts.all()]
        emails = [email] if email else everyone
        pages = KeptPages(opened.database, opened.clock)
        return [(one, await pages.read_again(await accounts.find(one))) for one in emails]

    for name, result in with_library(work):
        if result.pages or email:
            click.echo(
                f"{name}: {result.read:,} of {result.pages:,} kept pages can be read now; "
                f"{result.new:,} new and {result.changed:,} changed posts."
            )
