"""`share`: lists what all accounts share, stops it, and brings in what another account shares."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, moment_column, print_listing
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.sharing.shares import PATH, ShareOverview, Shares
from bowerbird.library.views.views import Views
from bowerbird.model.shares import Audience, Choices, Share, Shared
from bowerbird.requests import decoding
from bowerbird.requests.shares import NewShare

_COLUMNS: Final[Sequence[Column[tuple[Share, str]]]] = (
    Column("id", "Id", lambda row: row[0].share_id),
    # As text: many programs read a JSON number of 19 digits inexactly.
    Column("account", "Account", lambda row: str(row[0].account_id)),
    Column("audience", "Audience", lambda row: row[0].audience.value),
    Column("state", "State", lambda row: row[1]),
    # A secret address would open the list.
    Column(
        "path",
        "Path",
        lambda row: PATH + row[0].address if row[0].audience is Audience.PUBLIC else "secret",
    ),
    Column("shows", "Shows", lambda row: row[0].kind.value),
    Column("title", "Title", lambda row: row[0].choices.title),
    moment_column("created_at", "Created (UTC)", lambda row: row[0].created_at),
)
# Of an exported share, besides what it shows.
_FIELDS: Final = ("audience", "name", "ends_at", *Choices.__struct_fields__)
_SHOWN: Final = {Shared.LABEL: "label_name", Shared.VIEW: "view", Shared.LIST: "list"}


@click.group()
def share() -> None:
    """List what accounts share, stop it, and bring in what a downloaded account shares."""


@share.command("list")
@json_option
def list_shares(*, as_json: bool) -> None:
    r"""List the shared lists and private feeds of all accounts, newest first.

    \b
    Example:
      bowerbird share list
      bowerbird share list --json
    """

    async def work(opened: LibraryContext) -> list[tuple[Share, str]]:
        overview = ShareOverview(opened.database, opened.clock)
        return [(each, overview.state(each)) for each in await overview.all()]

    print_listing(with_library(work), _COLUMNS, as_json=as_json)


@share.command()
@click.argument("share_id", metavar="ID")
def stop(share_id: str) -> None:
    r"""Stop a shared list or a private feed at once. Its account cannot switch it on again.

    \b
    Example:
      bowerbird share stop 9f86d081884c7d65
    """
    with_library(lambda opened: ShareOverview(opened.database, opened.clock).stop(share_id))
    click.echo(f"The share {share_id} is stopped.")


@share.command()
@click.argument("share_id", metavar="ID")
def allow(share_id: str) -> None:
    r"""Allow a share again that was stopped.

    \b
    Example:
      bowerbird share allow 9f86d081884c7d65
    """
    with_library(
        lambda opened: ShareOverview(opened.database, opened.clock).stop(share_id, is_stopped=False)
    )
    click.echo(f"The share {share_id} is allowed again.")


@share.command("import")
@click.argument("email")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def bring_in(email: str, file: Path) -> None:
    r"""Add what a downloaded account shares, which is a JSON file. All of it is switched off.

    Secret addresses are new. Import the posts and labels first: what shows a label or a Smart View
    that the account does not have is left out, and so is what is not valid.

    \b
    Example:
      bowerbird share import you@example.com account.json
    """

    async def work(opened: LibraryContext) -> tuple[int, int]:
        account, found = await opened.account(email), _shares_in(file)
        settings = opened.settings
        shares = Shares(
            opened.database,
            Views(opened.database, Bookmarks(opened.database), opened.clock),
            opened.clock,
            settings.site_origin,
            is_allowed=settings.sharing == "on",
        )
        valid = [one for one in found if one is not None]
        return await shares.bring_in(account, valid), len(found)

    added, count = with_library(work)
    click.echo(f"Added {added} of {count} shares, switched off.", err=True)


def _shares_in(file: Path) -> list[NewShare | None]:
    try:
        account = json.loads(file.read_bytes())
        labels = {one["id"]: one["label_name"] for one in account["labels"]}
        return [_new(one, labels) for one in account["shares"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refusal(Code.INVALID_REQUEST, f"{file} has no shares of an account.") from None


def _new(one: Mapping[str, Any], labels: Mapping[str, str]) -> NewShare | None:
    """None for what is not valid, or shows a label that is not in the file."""
    try:
        kind, target = Shared(one["kind"]), one["target"]
        fields = {name: one[name] for name in _FIELDS if name in one}
        shown = labels[target] if kind is Shared.LABEL else target
        return decoding.decode(msgspec.json.encode({**fields, _SHOWN[kind]: shown}), NewShare)
    except (ValueError, KeyError, TypeError, Refusal):
        return None
