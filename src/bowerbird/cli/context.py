"""What a command works with: settings, the library that must exist, and links to its site."""

import asyncio
import math
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

import click

from bowerbird.cli import with_suggestion
from bowerbird.clock import Clock, system_clock
from bowerbird.errors import Refusal
from bowerbird.library.access import turns
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.sign_in.one_time_links import OneTimeLinks
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.accounts import Account
from bowerbird.openid.providers import configured
from bowerbird.search.words.readings import READINGS
from bowerbird.settings import PREFIX, Settings
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.opening import open_database
from bowerbird.storage.sqlite import replacing
from bowerbird.storage.sqlite.database import FILE_NAME
from bowerbird.storage.sqlite.schema import require_content

T = TypeVar("T")
Given = ParamSpec("Given")

# A command waits longer for other writers than a request does, but not forever.
_WRITE_WAIT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class LibraryContext:
    settings: Settings
    database: Database
    clock: Clock

    @property
    def accounts(self) -> Accounts:
        return Accounts(self.database, self.clock, self.settings.default_plan)

    async def account(self, email: str) -> Account:
        """The account with this address or id."""
        return await self.accounts.find(email)

    async def write(
        self,
        email: str,
        change: Callable[Concatenate[Transaction, Account, Given], Awaitable[T]],
        *given: Given.args,
        **more: Given.kwargs,
    ) -> T:
        """One change of an account in a transaction of its own."""
        return await turns.change(self.database, await self.account(email), change, *given, **more)


def settings_from_environment() -> Settings:
    return Settings.from_env(os.environ)


def with_library(work: Callable[[LibraryContext], Awaitable[T]], *, may_create: bool = False) -> T:
    """Runs `work` with the library that the environment variables configure.

    Few commands may create a library. The others would hide that they run in the wrong folder.
    """
    settings = settings_from_environment()
    if not may_create:
        require_library(settings)

    async def run() -> T:
        async with opened_library(settings) as opened:
            return await work(opened)

    try:
        return asyncio.run(run())
    except Refusal as refusal:
        raise with_suggestion(refusal) from None


def print_migration(steps: Sequence[str], kept: Path) -> None:
    """On stderr, because other programs read what a listing prints."""
    count = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    click.echo(
        f"Migrated the library to this release ({count}). The database as it was before is kept "
        f"as {kept}.",
        err=True,
    )


@asynccontextmanager
async def opened_library(settings: Settings) -> AsyncIterator[LibraryContext]:
    READINGS.are_indexed = settings.japanese_readings == "on"
    if not settings.is_sqlite:
        from bowerbird.storage.postgres import schema  # noqa: PLC0415 - its driver is slow to import

        await schema.require_ready(settings.database_url)
    # Some commands read the whole library. Without memory mapping that takes little memory, and
    # without a time limit it may take long: no client waits for it.
    database = await open_database(
        settings,
        is_mapped=False,
        read_limit_s=math.inf,
        write_wait_s=_WRITE_WAIT_S,
        report=print_migration,
    )
    try:
        yield LibraryContext(settings, database, system_clock)
    finally:
        await database.close()


_VARIABLE = f"{PREFIX}DATA_DIR"


def require_library(settings: Settings, environment: Mapping[str, str] = os.environ) -> None:
    """Raises if the data folder has no library. It creates nothing, not even the folder."""
    folder = settings.data_dir.absolute()
    if settings.is_sqlite:
        require_content(folder)
    # After an interrupted restore, the next process that opens the folder finishes it.
    if not settings.is_sqlite or (folder / FILE_NAME).exists() or replacing.is_interrupted(folder):
        return
    missing = f"has no {FILE_NAME}" if folder.is_dir() else "does not exist"
    if _VARIABLE in environment:
        reason = f"The setting {_VARIABLE}={environment[_VARIABLE]} chose this folder. Correct it"
    else:
        reason = (
            f"{_VARIABLE} is not set, so the folder is {settings.data_dir} in the current folder. "
            f"Run the command where you run bowerbird serve, or set {_VARIABLE}"
        )
    raise click.ClickException(
        f"There is no library in {folder}: the folder {missing}. {reason}, or create a library "
        "there with: bowerbird migrate"
    )


def one_time_links(opened: LibraryContext) -> OneTimeLinks:
    database, clock = opened.database, opened.clock
    return OneTimeLinks(database, opened.accounts, Sessions(database, clock), clock)


async def owner_link(opened: LibraryContext) -> str | None:
    """A link for the owner; None if the owner is signed in, or can sign in without it."""
    links = one_time_links(opened)
    issuers = {provider.issuer for provider in configured(opened.settings)}
    if await links.has_owner_entered(issuers):
        return None
    return opened.settings.link_url(await links.create_for_owner())
