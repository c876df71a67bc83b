"""`device`: creates, lists and revokes devices; `reingest`: reads kept pages again."""

from collections.abc import Sequence
from typing import Final

import click

from bowerbird.cli import tokens
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, print_listing
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.devices import Devices
from bowerbird.library.ingest.kept_pages import KeptPages, ReadAgain
from bowerbird.model.devices import Device
from bowerbird.model.instants import with_offset

_COLUMNS: Final[Sequence[Column[Device]]] = (
    Column("id", "Id", lambda device: device.device_id),
    Column("state", "State", lambda device: tokens.state(device.revoked_at)),
    Column(
        "created_at",
        "Created (UTC)",
        lambda device: with_offset(device.created_at),
        lambda device: tokens.second(device.created_at),
    ),
    Column(
        "last_used_at",
        "Last used (UTC)",
        lambda device: None if device.last_used_at is None else with_offset(device.last_used_at),
        lambda device: tokens.second_or_never(device.last_used_at),
    ),
    Column("x_account", "X account", lambda device: device.source_user_id),
    Column("name", "Name", lambda device: device.name),
)


@click.group()
def device() -> None:
    """Create, list and revoke devices, which send posts to an account and cannot read them."""


@device.command()
@click.argument("email")
@click.option("--name", default="", help="A name that identifies the device in the list.")
def create(email: str, name: str) -> None:
    r"""Create a device for an account and print its token. It cannot be shown again.

    \b
    Example:
      bowerbird device create you@example.com --name "Firefox on the laptop"
    """
    token = tokens.of_account(email, Devices, lambda devices, owner: devices.create(owner, name))
    tokens.print_new("token", token)


@device.command("list")
@click.argument("email")
@json_option
def list_devices(email: str, *, as_json: bool) -> None:
    r"""List the devices of an account: id, state, creation, last use, account at X, name.

    The tokens themselves are not stored, only their hashes. The columns are tab-separated when the
    output is not a terminal.

    \b
    Example:
      bowerbird device list you@example.com
    """
    found = tokens.of_account(email, Devices, lambda devices, owner: devices.all(owner))
    print_listing(found, _COLUMNS, as_json=as_json)


@device.command()
@click.argument("email")
@click.argument("token_or_id", metavar="TOKEN-OR-ID")
def revoke(email: str, token_or_id: str) -> None:
    r"""Revoke a device. The server rejects it from the next request.

    \b
    Example:
      bowerbird device revoke you@example.com 3f9c01ab
    """
    revoked = tokens.of_account(
        email, Devices, lambda devices, owner: devices.revoke(owner, token_or_id)
    )
    click.echo(f"Revoked device {revoked}.")


@click.command()
@click.argument("email", required=False)
def reingest(email: str | None) -> None:
    r"""Read the pages again that no reader understood when a device sent them.

    The service keeps such pages for seven days. Run this command after an upgrade. Without EMAIL
    it reads the pages of all accounts. Pages that can be read now are imported, and not kept any
    longer.

    \b
    Example:
      bowerbird reingest
    """

    async def work(opened: LibraryContext) -> list[tuple[str, ReadAgain]]:
        accounts = Accounts(opened.database, opened.clock)
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
