"""`imports` lists, undoes and confirms imports; `sources` is about connected sources."""

from collections.abc import Sequence
from typing import Final

import click

from bowerbird.cli.commands.credentials import of_account
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, interruptible, json_option, moment_column, print_listing
from bowerbird.library.connections import connections
from bowerbird.library.connections.connecting import revoke
from bowerbird.library.connections.connections import Connections
from bowerbird.library.imports.runs import ImportRuns, Run
from bowerbird.library.imports.undoing import UndoOutcome
from bowerbird.library.ingest.runs import FinishedRun, IngestRuns
from bowerbird.model.arrival import IngestRun, RunState
from bowerbird.model.connections import Connection
from bowerbird.requests.limits import PAGE_MAX

_COLUMNS: Final[Sequence[Column[Run]]] = (
    Column("id", "Id", lambda run: run.run_id),
    Column("state", "State", lambda run: run.state),
    Column(
        "started_at", "Started (UTC)", lambda run: run.started_at, lambda run: run.started_at[:19]
    ),
    Column("source", "Source", lambda run: run.source),
    Column("kind", "Kind", lambda run: run.kind),
    Column("client", "Client", lambda run: run.client),
    Column("new", "New", lambda run: run.counts.new),
    Column("changed", "Changed", lambda run: run.counts.changed),
    Column("unchanged", "Unchanged", lambda run: run.counts.unchanged),
    Column("deleted_here", "Deleted here", lambda run: run.counts.ignored_deleted),
    Column(
        "undo_until",
        "Undo until (UTC)",
        lambda run: run.undo_until,
        lambda run: (run.undo_until or "")[:19],
    ),
)
_HELD_COLUMNS: Final[Sequence[Column[IngestRun]]] = (
    Column("run", "Run", lambda run: run.run_id),
    moment_column("ended_at", "Ended (UTC)", lambda run: run.updated_at),
    Column("x_account", "X account", lambda run: run.source_user_id),
    Column("missing_posts", "Missing posts", lambda run: run.candidates - run.removed),
)


@click.group()
def imports() -> None:
    """List imports, undo one of them, and confirm removals at X."""


@imports.command("list")
@click.argument("email")
@json_option
def list_imports(email: str, *, as_json: bool) -> None:
    r"""List the imports of an account, the latest first.

    The columns are tab-separated when the output is not a terminal.

    \b
    Example:
      bowerbird imports list you@example.com
    """

    async def work(opened: LibraryContext) -> list[Run]:
        account = await opened.account(email)
        runs = ImportRuns(opened.database, opened.clock)
        found: list[Run] = []
        cursor = None
        while True:
            page = await runs.list(account, PAGE_MAX, cursor)
            found += page.runs
            if page.next_cursor is None:
                return found
            cursor = page.next_cursor

    print_listing(with_library(work), _COLUMNS, as_json=as_json)


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

    async def work(opened: LibraryContext) -> tuple[bool, UndoOutcome]:
        account = await opened.account(email)
        runs = ImportRuns(opened.database, opened.clock)
        was_undone = (await runs.get(account, run_id)).state is RunState.UNDONE
        return was_undone, await runs.undo(account, run_id)

    again = f"bowerbird imports undo {email.strip()} {run_id}"
    sentence = " before the import was undone completely. To continue, run the command again: "
    with interruptible(f"{sentence}{again}"):
        was_undone, outcome = with_library(work)
    if was_undone:
        click.echo(
            "This import was already undone, so nothing changed. The undo removed "
            f"{outcome.removed}, restored {outcome.restored} and kept {outcome.kept}."
        )
        return
    click.echo(f"removed {outcome.removed}")
    click.echo(f"restored {outcome.restored}")
    click.echo(f"kept {outcome.kept}")


@imports.command()
@click.argument("email")
@click.argument("run_id", metavar="[RUN]", required=False)
@json_option
def removals(email: str, run_id: str | None, *, as_json: bool) -> None:
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
        account = await opened.account(email)
        return await IngestRuns(opened.database, opened.clock).held(account)

    async def confirmed(opened: LibraryContext) -> FinishedRun:
        account = await opened.account(email)
        runs = IngestRuns(opened.database, opened.clock)
        return await runs.confirm_removals(account, run_id or "")

    if run_id:
        if as_json:
            raise click.UsageError("--json lists runs; it cannot be used with RUN.")
        click.echo(f"removed {with_library(confirmed).removed}")
        return
    print_listing(with_library(listed), _HELD_COLUMNS, as_json=as_json)


_SOURCE_COLUMNS: Final[Sequence[Column[Connection]]] = (
    Column("id", "Id", lambda source: source.connection_id),
    Column("network", "Network", lambda source: source.title),
    Column("name", "Name", lambda source: source.name),
    Column("state", "State", lambda source: source.state),
    moment_column("last_run_at", "Last run (UTC)", lambda source: source.last_run_at),
    moment_column("next_run_at", "Next run (UTC)", lambda source: source.next_run_at),
    Column("new", "New", lambda source: source.new),
    Column("total", "Total", lambda source: source.total),
    Column("problem", "Problem", connections.sentence),
)


@click.group()
def sources() -> None:
    """List, run, pause and disconnect the accounts whose saved posts are read by themselves."""


@sources.command("list")
@click.argument("email")
@json_option
def list_sources(email: str, *, as_json: bool) -> None:
    r"""List the sources of an account: id, network, name, state, runs, counts, problem.

    The runs are the last and the next one, and the counts are the new posts of the last run and of
    all runs. Tokens are never shown. The columns are tab-separated when the output is not a
    terminal.

    \b
    Example:
      bowerbird sources list you@example.com
    """
    found = of_account(email, Connections, lambda sources, owner: sources.all(owner))
    print_listing(found, _SOURCE_COLUMNS, as_json=as_json)


@sources.command()
@click.argument("email")
@click.argument("source_id", metavar="ID")
def run(email: str, source_id: str) -> None:
    r"""Let the worker read a source now, also if it is paused.

    For X this is the consent to the cost of a first run; see docs/sources.md.

    \b
    Example:
      bowerbird sources run you@example.com 3f9c01ab77aa52d1
    """
    of_account(email, Connections, lambda sources, owner: sources.run_now(owner, source_id))
    click.echo(f"A worker reads source {source_id} next.")


@sources.command()
@click.argument("email")
@click.argument("source_id", metavar="ID")
def pause(email: str, source_id: str) -> None:
    r"""Stop reading a source until `run` resumes it.

    \b
    Example:
      bowerbird sources pause you@example.com 3f9c01ab77aa52d1
    """
    of_account(email, Connections, lambda sources, owner: sources.pause(owner, source_id))
    click.echo(f"Paused source {source_id}.")


@sources.command()
@click.argument("email")
@click.argument("source_id", metavar="ID")
def disconnect(email: str, source_id: str) -> None:
    r"""Delete a source and its tokens. Its posts stay.

    \b
    Example:
      bowerbird sources disconnect you@example.com 3f9c01ab77aa52d1
    """

    async def work(opened: LibraryContext) -> Connection:
        account = await opened.account(email)
        connections = Connections(opened.database, opened.clock)
        removed = await connections.disconnect(account, source_id)
        await revoke(opened.settings, opened.clock, account.account_id, removed)
        return removed

    removed = with_library(work)
    click.echo(f"Disconnected {removed.title} {removed.name}".rstrip() + ".")
