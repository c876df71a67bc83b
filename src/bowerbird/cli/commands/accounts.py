"""`account`: creates, lists, changes, exports and deletes accounts, and lets people sign in."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Final

import click

from bowerbird.cli import atomic_files, tables
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.progress import Advance, progress_bars
from bowerbird.cli.site_links import one_time_links
from bowerbird.library.accounts.account_export import AccountExports, Piece
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.sign_in.one_time_links import MINUTES
from bowerbird.model.accounts import Account, Membership, Plan, RemovedPostsChoice
from bowerbird.model.instants import without_offset
from bowerbird.storage.files.files import Files

_PLAN: Final = click.Choice([plan.value for plan in Plan])
_REMOVED_POSTS: Final = click.Choice([choice.value for choice in RemovedPostsChoice])
_INTERRUPTED: Final = 130


@click.group()
def account() -> None:
    """Create, list, change, export and delete accounts."""


@account.command()
@click.argument("email")
@click.option("--plan", type=_PLAN, help="Default: BOWERBIRD_DEFAULT_PLAN.")
def create(email: str, plan: str | None) -> None:
    r"""Create an account and print its id.

    \b
    Example:
      bowerbird account create you@example.com
      bowerbird account create friend@example.com --plan pro
    """

    async def work(opened: LibraryContext) -> int:
        accounts = Accounts(opened.database, opened.clock, opened.settings.default_plan)
        return await accounts.create(email, plan)

    click.echo(with_library(work))


@account.command("list")
def list_accounts() -> None:
    r"""List all accounts: id, email, plan, number of bookmarks, date of creation.

    The columns are tab-separated when the output is not a terminal.

    \b
    Example:
      bowerbird account list
      bowerbird account list | cut -f2
    """
    members = with_library(lambda opened: Accounts(opened.database, opened.clock).all())
    tables.print_rows(("Id", "Email", "Plan", "Bookmarks", "Created"), [_row(m) for m in members])


@account.command()
@click.argument("email")
@click.argument("plan", type=_PLAN)
def plan(email: str, plan: str) -> None:
    r"""Change the plan of an account. The new plan applies from the next request.

    \b
    Example:
      bowerbird account plan you@example.com pro
    """
    with_library(lambda opened: Accounts(opened.database, opened.clock).set_plan(email, plan))
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
    with_library(lambda opened: Accounts(opened.database, opened.clock).set_email(email, new))
    click.echo(f"{email.strip()} is now {new.strip()}.")


@account.command()
@click.argument("email")
def link(email: str) -> None:
    r"""Print a link with which the holder of an account signs in to the website, once.

    \b
    Example:
      bowerbird account link you@example.com
    """

    async def work(opened: LibraryContext) -> str:
        accounts = Accounts(opened.database, opened.clock)
        found = await accounts.find(email)
        token = await one_time_links(opened).create_for(found.account_id)
        return opened.settings.link_url(token)

    click.echo(with_library(work))
    click.echo(f"It works once, within {MINUTES} minutes.", err=True)


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
    with_library(lambda opened: Accounts(opened.database, opened.clock).set_owner(email))
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
    with_library(
        lambda opened: Accounts(opened.database, opened.clock).set_removed_posts(email, choice)
    )
    click.echo(f"Posts of {email.strip()} that are removed at their source: {choice}.")


@account.command()
@click.argument("email")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(email: str, *, yes: bool) -> None:
    r"""Delete an account and all its data: bookmarks, labels, views, keys, exports.

    You cannot undo this. If the command is interrupted, run it again to finish.

    \b
    Example:
      bowerbird account export you@example.com you.json
      bowerbird account delete you@example.com
    """
    if not yes:
        click.confirm(f"Permanently delete {email.strip()} and all its bookmarks?", abort=True)
    try:
        with progress_bars() as advance:
            removed = with_library(
                lambda opened: Accounts(opened.database, opened.clock).delete(
                    email,
                    Files(opened.settings),
                    lambda done, total: advance("Deleting", done, total),
                )
            )
    except KeyboardInterrupt:
        again = f"bowerbird account delete {email.strip()}"
        click.echo(
            f"Interrupted. The account is partly deleted and cannot be used. To finish: {again}",
            err=True,
        )
        sys.exit(_INTERRUPTED)
    click.echo(f"Deleted {email.strip()} and {removed} bookmarks.")


@account.command()
@click.argument("email")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def export(email: str, file: Path, *, force: bool) -> None:
    r"""Write all data of an account to FILE, as JSON.

    The file contains the email address, the plan, the names of keys and devices, call counts,
    labels, Smart Views, digests, the trash, the list of imports, and every bookmark in the format
    of the API. `bowerbird import` reads the bookmarks back.

    \b
    Example:
      bowerbird account export you@example.com you.json
    """
    atomic_files.refuse_to_overwrite(file, force=force)

    async def work(opened: LibraryContext, output: IO[bytes], advance: Advance) -> int:
        found = await Accounts(opened.database, opened.clock).find(email)
        return await _write(AccountExports(opened.database).pieces(found), found, output, advance)

    with atomic_files.written_atomically(file) as output, progress_bars() as advance:
        count = with_library(lambda opened: work(opened, output, advance))
    click.echo(f"Wrote {count} bookmarks and all other data of {email.strip()} to {file}.")


async def _write(
    pieces: AsyncIterator[Piece], found: Account, output: IO[bytes], advance: Advance
) -> int:
    count = 0
    async for piece in pieces:
        output.write(piece.data)
        count += piece.bookmarks
        advance("Exporting", count, max(count, found.total))
    return count


def _row(member: Membership) -> list[str]:
    day = without_offset(member.created_at)[:10]
    return [str(member.account_id), member.email, member.plan, str(member.total), day]
