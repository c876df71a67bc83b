"""`imports`: lists an account's imports, undoes one, and confirms removals."""

import click

from bowerbird.cli import tables
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.imports.runs import ImportRuns, Run
from bowerbird.library.imports.undoing import UndoOutcome
from bowerbird.library.ingest.runs import FinishedRun, IngestRuns
from bowerbird.model.ingest import IngestRun
from bowerbird.model.instants import without_offset
from bowerbird.requests.limits import PAGE_MAX

_COLUMNS = (
    *("Id", "State", "Started (UTC)", "Source", "Kind", "Client"),
    *("New", "Changed", "Unchanged", "Deleted here", "Undo until (UTC)"),
)


@click.group()
def imports() -> None:
    """List imports, undo one of them, and confirm removals at X."""


@imports.command("list")
@click.argument("email")
def list_imports(email: str) -> None:
    r"""List the imports of an account, the latest first.

    The columns are tab-separated when the output is not a terminal.

    \b
    Example:
      bowerbird imports list you@example.com
    """

    async def work(opened: LibraryContext) -> list[Run]:
        account = await Accounts(opened.database, opened.clock).find(email)
        runs = ImportRuns(opened.database, opened.clock)
        found: list[Run] = []
        cursor = None
        while True:
            page = await runs.list(account, PAGE_MAX, cursor)
            found += page.runs
            if page.next_cursor is None:
                return found
            cursor = page.next_cursor

    tables.print_rows(_COLUMNS, [_row(run) for run in with_library(work)])


@imports.command()
@click.argument("email")
@click.argument("run_id", metavar="IMPORT")
def undo(email: str, run_id: str) -> None:
    r"""Undo an import, within 30 days. What the account has changed since stays.

    If the command is interrupted, run it again.

    \b
    Example:
      bowerbird imports undo you@example.com 5f2c9a7be01d4c3389aa01bc
    """

    async def work(opened: LibraryContext) -> UndoOutcome:
        account = await Accounts(opened.database, opened.clock).find(email)
        return await ImportRuns(opened.database, opened.clock).undo(account, run_id)

    outcome = with_library(work)
    click.echo(f"removed {outcome.removed}")
    click.echo(f"restored {outcome.restored}")
    click.echo(f"kept {outcome.kept}")


@imports.command()
@click.argument("email")
@click.argument("run_id", metavar="[RUN]", required=False)
def removals(email: str, run_id: str | None) -> None:
    r"""Confirm that posts were removed at X.

    If many posts are missing from the list of X at once, the library does not take them as removed
    until somebody confirms it. Without RUN, the command lists such runs: id, end, account at X,
    number of missing posts. With RUN, it confirms them. The account decides what happens to removed
    posts: see `bowerbird account removed-posts`.

    \b
    Example:
      bowerbird imports removals you@example.com
      bowerbird imports removals you@example.com 9d0f5c7e21b84a7c8e3f6a5b4c3d2e1f
    """

    async def listed(opened: LibraryContext) -> list[IngestRun]:
        account = await Accounts(opened.database, opened.clock).find(email)
        return await IngestRuns(opened.database, opened.clock).held(account)

    async def confirmed(opened: LibraryContext) -> FinishedRun:
        account = await Accounts(opened.database, opened.clock).find(email)
        runs = IngestRuns(opened.database, opened.clock)
        return await runs.confirm_removals(account, run_id or "")

    if run_id:
        click.echo(f"removed {with_library(confirmed).removed}")
        return
    header = ("Run", "Ended (UTC)", "X account", "Missing posts")
    tables.print_rows(header, [_held_row(run) for run in with_library(listed)])


def _held_row(run: IngestRun) -> list[str]:
    ended = without_offset(run.updated_at)[:19]
    return [run.run_id, ended, run.source_user_id, str(run.candidates - run.removed)]


def _row(run: Run) -> list[str]:
    counts = run.counts
    numbers = (counts.new, counts.changed, counts.unchanged, counts.ignored_deleted)
    names = [_one_line(text) for text in (run.source, run.kind, run.client)]
    until = "" if run.undo_until is None else run.undo_until[:19]
    return [run.run_id, run.state, run.started_at[:19], *names, *map(str, numbers), until]


def _one_line(text: str) -> str:
    """Clients name themselves, so the name may contain anything."""
    return "".join(character if character.isprintable() else "?" for character in text)
