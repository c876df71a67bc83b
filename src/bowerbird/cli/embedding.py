"""`embed`: builds an account's vectors now, beside a running server or without one."""

import sys
from typing import Final

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.progress import Advance, shown_steps
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.search.models import Models

_INTERRUPTED: Final = 130


@click.command()
@click.argument("email")
def embed(email: str) -> None:
    r"""Build the vectors that search by meaning needs; show how far it is.

    A running server does the same by itself, at low priority. This one does not hold back, and
    whatever both have done is done once. Interrupted, it goes on where it was.

    \b
    Example:
      bowerbird embed you@example.com
    """
    try:
        with shown_steps() as advance:
            made, total = with_library(lambda opened: _embedded(opened, email, advance))
    except KeyboardInterrupt:
        click.echo("Stopped. What was embedded stays; run it again to go on.", err=True)
        sys.exit(_INTERRUPTED)
    click.echo(f"Embedded {made:,} posts; {email.strip()} has {total:,}.")


async def _embedded(opened: LibraryContext, email: str, advance: Advance) -> tuple[int, int]:
    account = await Accounts(opened.database, opened.clock).find(email)
    if account.is_free:
        raise click.ClickException(
            f"{email.strip()} has the free plan, which has no search by meaning. "
            f"Change it with: bowerbird account plan {email.strip()} pro"
        )
    models = Models(opened.settings, is_low_priority=False)

    async def progress(done: int, total: int) -> None:
        advance("Embedding posts", done, total)

    try:
        builds = VectorBuilds(opened.database, models, opened.clock)
        return await builds.build(account.account_id, progress), account.total
    finally:
        await models.close()
