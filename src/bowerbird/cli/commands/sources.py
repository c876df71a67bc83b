"""`sources`: lists, runs, pauses and disconnects the connected sources of an account."""

from collections.abc import Sequence
from typing import Final

import click

from bowerbird.cli.commands.credentials import of_account
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, moment_column, print_listing
from bowerbird.library.connections import connections
from bowerbird.library.connections.connecting import Revoking
from bowerbird.library.connections.connections import Connections
from bowerbird.model.connections import Connection

_COLUMNS: Final[Sequence[Column[Connection]]] = (
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
    print_listing(found, _COLUMNS, as_json=as_json)


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
        await Revoking(opened.clock, opened.settings).revoke(account.account_id, removed)
        return removed

    removed = with_library(work)
    click.echo(f"Disconnected {removed.title} {removed.name}".rstrip() + ".")
