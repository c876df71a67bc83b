"""`embed`: builds an account's vectors now, with or without a running server."""

import sys
from typing import Final

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.progress import Advance, progress_bars
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.search.meaning.models import Models

_INTERRUPTED: Final = 130


@click.command()
@click.argument("email")
def embed(email: str) -> None:
    r"""Build the vectors that search by meaning needs.

    A running server does the same in the background, at low priority. This command runs at full
    speed, and neither repeats the work of the other. If it is interrupted, run it again to
    continue.

    \b
    Example:
      bowerbird embed you@example.com
    """
    try:
        with progress_bars() as advance:
            embedded, total = with_library(lambda opened: _embed(opened, email, advance))
    except KeyboardInterrupt:
        click.echo(
            "Interrupted. The vectors built so far are stored. To continue, run the command again.",
            err=True,
        )
        sys.exit(_INTERRUPTED)
    click.echo(f"Embedded {embedded:,} posts; {email.strip()} has {total:,}.")


async def _embed(opened: LibraryContext, email: str, advance: Advance) -> tuple[int, int]:
    account = await Accounts(opened.database, opened.clock).find(email)
    if account.is_free:
        raise click.ClickException(
            f"{email.strip()} has the free plan, which does not include search by meaning. "
            f"To change the plan, run: bowerbird account plan {email.strip()} pro"
        )
    models = Models(opened.settings, is_low_priority=False)

    async def progress(done: int, total: int) -> None:
        advance("Embedding posts", done, total)

    try:
        builds = VectorBuilds(opened.database, models, opened.clock)
        return await builds.build(account.account_id, progress), account.total
    finally:
        await models.close()
