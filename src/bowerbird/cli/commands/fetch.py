"""`fetch`: reads the text of an account's posts that are only links."""

import sys
from typing import Final

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import progress_bars
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.links.reading import LinkReading
from bowerbird.model.links import SENTENCES, LinkCounts

_INTERRUPTED: Final = 130


@click.command("fetch")
@click.argument("email")
def fetch(email: str) -> None:
    r"""Read the text of all posts that are only links, also of those that were given up.

    Each network is asked for one post per second, so thousands of links take hours. The command
    can be interrupted: a running server or worker goes on. At the end it says how many posts have
    no text, and why.

    \b
    Example:
      bowerbird fetch you@example.com
    """

    async def work(opened: LibraryContext) -> tuple[int, LinkCounts]:
        account = await Accounts(opened.database, opened.clock).find(email)
        reading = LinkReading(opened.database, opened.clock, opened.settings)
        if not reading.is_on:
            raise click.ClickException("BOWERBIRD_FETCH_POSTS is off, so no network is asked.")
        total = await reading.ask_again(account)
        with progress_bars() as advance:

            async def report(_done: int, _total: int) -> None:
                left = (await reading.counts(account)).waiting
                advance("posts", max(total - left, 0), total)

            await reading.run(account.account_id, report)
        return total, await reading.counts(account)

    try:
        total, left = with_library(work)
    except KeyboardInterrupt:
        click.echo("Interrupted. A running server or worker goes on.", err=True)
        sys.exit(_INTERRUPTED)
    click.echo(f"links {total}")
    click.echo(f"read {total - left.waiting - left.left}")
    click.echo(f"without a text {left.left}")
    click.echo(f"waiting for their network {left.waiting}")
    for reason, count in left.reasons.items():
        click.echo(f"{count:,} without a text: {SENTENCES[reason]}", err=True)
    if left.waiting:
        click.echo("A running server or worker goes on asking for those that wait.", err=True)
