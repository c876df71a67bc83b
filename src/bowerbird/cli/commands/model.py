"""`bowerbird model` builds the models for search by meaning, and `bowerbird embed` the vectors."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from bowerbird.cli.context import LibraryContext, settings_from_environment, with_library
from bowerbird.cli.output import Advance, interruptible, progress_bars
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.model_build.build import NotBuilt, build
from bowerbird.search.meaning.models import Models, model_folder


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
    sentence = ". The vectors built so far are stored. To continue, run the command again."
    with interruptible(sentence), progress_bars() as advance:
        embedded, total = with_library(lambda opened: _embed(opened, email, advance))
    click.echo(f"Embedded {embedded:,} posts; {email.strip()} has {total:,}.")


async def _embed(opened: LibraryContext, email: str, advance: Advance) -> tuple[int, int]:
    account = await opened.account(email)
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


_LOWEST_PRIORITY: Final = 19
# The models are not private: another user may run the service.
_UMASK: Final = 0o022


@click.command()
@click.option("--low-priority", is_flag=True, hidden=True)
def model(*, low_priority: bool) -> None:
    r"""Build the models for search by meaning.

    Downloads about 140 MB and takes about a minute. It does nothing if the models are complete. A
    running service uses them without a restart. BOWERBIRD_MODEL_DIR names another folder.

    \b
    Example:
      bowerbird model
    """
    os.umask(_UMASK)
    signal.signal(signal.SIGTERM, _exit)
    if low_priority:
        os.nice(_LOWEST_PRIORITY)
    folder = model_folder(settings_from_environment())
    try:
        with _progress() as report:
            was_missing = build(folder, report)
    except (NotBuilt, OSError) as error:
        raise click.ClickException(
            f"The models for search by meaning were not built: {_sentence(error)} "
            "Everything else works without them. To retry, run: bowerbird model"
        ) from None
    built = "were built in" if was_missing else "are already in"
    click.echo(f"The models for search by meaning {built} {folder}.")


@contextmanager
def _progress() -> Iterator[Advance]:
    """Bars on a terminal; otherwise one line when a step starts."""
    started = set()
    with progress_bars() as advance:

        def report(step: str, done: int, total: int) -> None:
            if step not in started and not sys.stderr.isatty():
                started.add(step)
                click.echo(step)
            advance(step, done, total)

        yield report


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.strerror}: {error.filename}."
    return str(error)


def _exit(number: int, _frame: object) -> None:
    """An exception, so that a build that is stopped removes its files."""
    sys.exit(128 + number)
