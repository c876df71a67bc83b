"""`share`: lists what all accounts share, and stops it."""

from collections.abc import Sequence
from typing import Final

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, moment_column, print_listing
from bowerbird.library.sharing.overview import ShareOverview
from bowerbird.library.sharing.shares import PATH
from bowerbird.model.shares import Audience, Share

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


@click.group()
def share() -> None:
    """List what accounts share, and stop it."""


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
