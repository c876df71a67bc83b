"""`sources`: lists, runs, pauses and disconnects the connected sources of an account."""

import click

from bowerbird.cli import tables, tokens
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.connections import sentences
from bowerbird.library.connections.connections import Connections
from bowerbird.library.connections.revoking import Revoking
from bowerbird.model.connections import Connection


@click.group()
def sources() -> None:
    """List, run, pause and disconnect the accounts whose saved posts are read by themselves."""


@sources.command("list")
@click.argument("email")
def list_sources(email: str) -> None:
    r"""List the sources of an account: id, network, name, state, runs, counts, problem.

    The runs are the last and the next one, and the counts are the new posts of the last run and of
    all runs. Tokens are never shown. The columns are tab-separated when the output is not a
    terminal.

    \b
    Example:
      bowerbird sources list you@example.com
    """
    found = tokens.of_account(email, Connections, lambda sources, owner: sources.all(owner))
    header = (
        *("Id", "Network", "Name", "State", "Last run (UTC)", "Next run (UTC)", "New", "Total"),
        "Problem",
    )
    tables.print_rows(header, [_row(one) for one in found])


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
    tokens.of_account(email, Connections, lambda sources, owner: sources.run_now(owner, source_id))
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
    tokens.of_account(email, Connections, lambda sources, owner: sources.pause(owner, source_id))
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
        account = await Accounts(opened.database, opened.clock).find(email)
        connections = Connections(opened.database, opened.clock)
        removed = await connections.disconnect(account, source_id)
        await Revoking(opened.clock, opened.settings).revoke(account.account_id, removed)
        return removed

    removed = with_library(work)
    click.echo(f"Disconnected {removed.title} {removed.name}".rstrip() + ".")


def _row(source: Connection) -> list[str]:
    last = source.last_run_at
    return [
        source.connection_id,
        source.title,
        source.name,
        source.state,
        "never" if last is None else tokens.second(last),
        tokens.second(source.next_run_at),
        str(source.new),
        str(source.total),
        sentences.sentence(source),
    ]
