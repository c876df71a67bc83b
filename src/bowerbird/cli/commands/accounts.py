"""`account`: creates, lists, changes, exports and deletes accounts, and lets people sign in."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click

from bowerbird.cli.commands.serve import Port, port_state
from bowerbird.cli.context import (
    LibraryContext,
    one_time_links,
    require_library,
    settings_from_environment,
    with_library,
)
from bowerbird.cli.output import (
    Advance,
    Column,
    interruptible,
    json_option,
    print_listing,
    progress_bars,
    refuse_to_overwrite,
    written_atomically,
)
from bowerbird.library.sign_in.one_time_links import MINUTES
from bowerbird.model.accounts import Account, Membership, Plan, RemovedPostsChoice
from bowerbird.model.instants import with_offset, without_offset
from bowerbird.settings import Settings
from bowerbird.storage.files import Files

if TYPE_CHECKING:
    from bowerbird.library.accounts.account_export import Piece

_PLAN: Final = click.Choice([plan.value for plan in Plan])
_REMOVED_POSTS: Final = click.Choice([choice.value for choice in RemovedPostsChoice])
_COLUMNS: Final[Sequence[Column[Membership]]] = (
    # As text: many programs read a JSON number of 19 digits inexactly.
    Column("id", "Id", lambda member: str(member.account_id)),
    Column("email", "Email", lambda member: member.email),
    Column("plan", "Plan", lambda member: member.plan),
    Column("bookmarks", "Posts", lambda member: member.total),
    Column(
        "created_at",
        "Created",
        lambda member: with_offset(member.created_at),
        lambda member: without_offset(member.created_at)[:10],
    ),
)


@click.group()
def account() -> None:
    """Create, list, change, export and delete accounts."""


@account.command()
@click.argument("email")
@click.option("--plan", type=_PLAN, help="Default: BOWERBIRD_DEFAULT_PLAN.")
def create(email: str, plan: str | None) -> None:
    r"""Create an account and print its id.

    Only the id goes to the standard output, so that a script can use it. Creates the library too if
    the data folder has none.

    \b
    Example:
      bowerbird account create you@example.com
      bowerbird account create friend@example.com --plan pro
    """

    async def work(opened: LibraryContext) -> tuple[int, str]:
        return await opened.accounts.create(email, plan), _place(opened.settings)

    account_id, place = with_library(work, may_create=True)
    given = plan or settings_from_environment().default_plan
    name = email.strip()
    click.echo(f"Created the account {name} with the plan {given} in {place}. Its id:", err=True)
    click.echo(account_id)
    click.echo(f"To create a key for it, run: bowerbird key create {name}", err=True)


@account.command("list")
@json_option
def list_accounts(*, as_json: bool) -> None:
    r"""List all accounts: id, email, plan, number of posts, date of creation.

    The columns are tab-separated when the output is not a terminal.

    \b
    Example:
      bowerbird account list
      bowerbird account list | cut -f2
      bowerbird account list --json
    """
    members = with_library(lambda opened: opened.accounts.all())
    print_listing(members, _COLUMNS, as_json=as_json)


@account.command()
@click.argument("email")
@click.argument("plan", type=_PLAN)
def plan(email: str, plan: str) -> None:
    r"""Change the plan of an account. The new plan applies from the next request.

    \b
    Example:
      bowerbird account plan you@example.com pro
    """
    with_library(lambda opened: opened.accounts.set_plan(email, plan))
    click.echo(f"{email.strip()} now has the plan {plan}.")


@account.command("email")
@click.argument("email")
@click.argument("new")
def change_email(email: str, new: str) -> None:
    r"""Change the email address of an account.

    EMAIL can be an account id, for accounts without an address.

    \b
    Example:
      bowerbird account email you@example.com you@example.org
    """
    with_library(lambda opened: opened.accounts.set_email(email, new))
    click.echo(f"{email.strip()} is now {new.strip()}.")


@account.command()
@click.argument("email")
def link(email: str) -> None:
    r"""Print a link with which the holder of an account signs in to the website, once.

    \b
    Example:
      bowerbird account link you@example.com
    """

    async def work(opened: LibraryContext) -> tuple[str, Settings]:
        found = await opened.account(email)
        token = await one_time_links(opened).create_for(found.account_id)
        return opened.settings.link_url(token), opened.settings

    url, settings = with_library(work)
    click.echo(url)
    click.echo(f"It works once, within {MINUTES} minutes.", err=True)
    # The server may have got its port in another way, such as `serve --port`.
    if not settings.site_url and not settings.base_url:
        click.echo(f"It is for a server at {settings.site_origin}.", err=True)
        if port_state(settings.host, settings.port, "/v1/bookmarks") is not Port.OURS:
            click.echo(
                "No server answers there now. If yours has another port, set BOWERBIRD_PORT here "
                "too.",
                err=True,
            )


@account.command()
@click.argument("email")
def owner(email: str) -> None:
    r"""Make an account the owner's. The owner operates the service on the website.

    There is one owner: the account that owned the service before is an ordinary one afterwards.
    The new owner has to sign in again.

    \b
    Example:
      bowerbird account owner you@example.com
    """
    with_library(lambda opened: opened.accounts.set_owner(email))
    click.echo(f"{email.strip()} is now the owner.")


@account.command("removed-posts")
@click.argument("email")
@click.argument("choice", type=_REMOVED_POSTS)
def removed_posts(email: str, choice: str) -> None:
    r"""Choose what happens to posts that are removed from the bookmarks at X.

    keep leaves them as they are, hide archives them, and trash deletes them, so that they can be
    restored for 30 days. In each case the field removed_at says when they were removed. The choice
    applies to posts that are removed from now on.

    \b
    Example:
      bowerbird account removed-posts you@example.com hide
    """
    with_library(lambda opened: opened.accounts.set_removed_posts(email, choice))
    click.echo(f"Posts of {email.strip()} that are removed at their source: {choice}.")


@account.command()
@click.argument("email")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(email: str, *, yes: bool) -> None:
    r"""Delete an account and all its data: posts, labels, views, keys, exports.

    You cannot undo this. If the command is interrupted, run it again to finish.

    \b
    Example:
      bowerbird account export you@example.com you.json
      bowerbird account delete you@example.com
    """
    require_library(settings_from_environment())
    if not yes:
        click.confirm(f"Permanently delete {email.strip()} and all its posts?", abort=True)
    sentence = ". The account is partly deleted and cannot be used. To finish: bowerbird account "
    with interruptible(f"{sentence}delete {email.strip()}"), progress_bars() as advance:
        removed = with_library(
            lambda opened: opened.accounts.delete(
                email,
                Files(opened.settings),
                lambda done, total: advance("Deleting", done, total),
            )
        )
    click.echo(f"Deleted {email.strip()} and {removed} posts.")


@account.command()
@click.argument("email")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def export(email: str, file: Path, *, force: bool) -> None:
    r"""Write all data of an account to FILE, as JSON.

    The file contains the email address, the plan, the names of keys and devices, call counts,
    labels, Smart Views, digests, the trash, the list of imports, and every post in the format
    of the API. `bowerbird import` reads the posts back.

    \b
    Example:
      bowerbird account export you@example.com you.json
    """
    settings = settings_from_environment()
    require_library(settings)
    refuse_to_overwrite(file, force=force)

    async def work(opened: LibraryContext, output: IO[bytes], advance: Advance) -> int:
        found = await opened.account(email)
        from bowerbird.library.accounts.account_export import (  # noqa: PLC0415 - slow to import
            AccountExports,
        )

        return await _write(
            AccountExports(opened.database, Files(settings)).pieces(found), found, output, advance
        )

    with written_atomically(file) as output, progress_bars() as advance:
        count = with_library(lambda opened: work(opened, output, advance))
    click.echo(f"Wrote {count} posts and all other data of {email.strip()} to {file}.")


async def _write(
    pieces: "AsyncIterator[Piece]", found: Account, output: IO[bytes], advance: Advance
) -> int:
    count = 0
    async for piece in pieces:
        output.write(piece.data)
        count += piece.bookmarks
        advance("Exporting", count, max(count, found.total))
    return count


def _place(settings: Settings) -> str:
    return str(settings.data_dir.absolute()) if settings.is_sqlite else "PostgreSQL"
