"""The state of the service and its open jobs, for the operator."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock, day_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.upkeep import health, installation_checks
from bowerbird.library.upkeep.health import Result
from bowerbird.model.jobs import OpenJob
from bowerbird.model.words import ListedVectorStore
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.accounts.credentials import VersionUseStore
from bowerbird.storage.backup import archives
from bowerbird.storage.backup.archives import LastBackup
from bowerbird.storage.checks import CheckStore
from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.storage.words.vectors import VectorStore

PER_PAGE: Final = 10
_FIRST: Final = (-1, 0, "")
T = TypeVar("T")
_KEPT: Final = 60 * MICROSECONDS


class Remembered(Generic[T]):
    """Computes the value once, however many callers wait for it."""

    def __init__(self, compute: Callable[[], Awaitable[T]], clock: Clock) -> None:
        self._compute = compute
        self._clock = clock
        self._computing: asyncio.Task[T] | None = None
        self._started_at = 0

    async def get(self) -> T:
        """A caller that is cancelled does not stop the work for the others."""
        if self._computing is None or self._is_outdated(self._computing):
            self._started_at = self._clock()
            self._computing = asyncio.ensure_future(_run(self._compute))
            # Retrieve the exception; asyncio warns otherwise.
            self._computing.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(self._computing)

    def _is_outdated(self, computing: "asyncio.Task[T]") -> bool:
        if not computing.done():
            return False
        has_failed = computing.cancelled() or computing.exception() is not None
        return has_failed or not 0 <= self._clock() - self._started_at < _KEPT


async def _run(compute: Callable[[], Awaitable[T]]) -> T:
    return await compute()


class OpenJobs:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = JobStore(database)
        self._clock = clock

    async def page(self, after: tuple[int, int, str] = _FIRST) -> Sequence[OpenJob]:
        """By account, the oldest first, and one more than a page if there are more."""
        return await self._store.open_page(after, PER_PAGE + 1)

    async def retry(self, account_id: int, job_id: str) -> None:
        if not await self._store.retry(account_id, job_id):
            raise Refusal(
                Code.NOT_FOUND, "The job has not failed, or the same work is queued or running."
            )

    async def cancel(self, account_id: int, job_id: str) -> None:
        """Ends a waiting job; the worker of a running one notices within a second or two."""
        if not await self._store.cancel(account_id, job_id, now=self._clock()):
            raise Refusal(Code.NOT_FOUND, "The job has already ended.")


CALLED_DAYS: Final = 90
# More accounts than this are not counted.
MAX_COUNTED: Final = 10_000
STORES_PER_PAGE: Final = 10
_FIRST_STORE: Final = (-1, b"")
# The page does not wait longer for checks. They continue, and the next visit shows them.
_WAIT_S: Final = 10.0


class UsedVersion(Struct, frozen=True):
    """A version of the API that was called recently."""

    version: str
    accounts: int
    # Days since 1970, UTC.
    last_day: int


class State(Struct, frozen=True):
    accounts: int
    engine: str
    database_bytes: int
    free_bytes: int
    backup: LastBackup | None
    versions: list[UsedVersion]
    results: list[Result]


class Overview:
    def __init__(self, settings: Settings, database: Database, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._jobs = JobStore(database)
        self._accounts = AccountStore(database)
        self._checks = CheckStore(database)
        self._uses = VersionUseStore(database)
        self._stores = VectorStore(database)
        self._state = Remembered(self._read_state, clock)
        self._installation = Remembered(self._check_installation, clock)

    async def state(self) -> State:
        """At most a minute old."""
        return await self._state.get()

    async def installation(self) -> list[Result] | None:
        """The checks that take long; None while they still run."""
        try:
            async with asyncio.timeout(_WAIT_S):
                return await self._installation.get()
        except TimeoutError:
            return None

    async def stores(self, after: tuple[int, bytes] = _FIRST_STORE) -> Sequence[ListedVectorStore]:
        """The vector stores of all accounts, and one more than a page if there are more."""
        return await self._stores.page(after, STORES_PER_PAGE + 1)

    async def _read_state(self) -> State:
        now, settings = self._clock(), self._settings
        engine, size = await self._checks.engine()
        called = await self._uses.callers(day_of(now) - CALLED_DAYS)
        backup = health.backup(settings, now)
        return State(
            accounts=await self._accounts.count_up_to(MAX_COUNTED + 1),
            engine=engine,
            database_bytes=size,
            free_bytes=health.free_bytes(settings),
            backup=archives.read_last(settings.data_dir) if settings.is_sqlite else None,
            versions=[UsedVersion(*row) for row in called],
            results=[
                health.address(settings),
                health.data_folder(settings),
                *([backup] if backup is not None else []),
                await health.jobs(settings, self._jobs, now, is_quick=True),
            ],
        )

    async def _check_installation(self) -> list[Result]:
        results = await installation_checks.database(self._settings)
        async for result in installation_checks.installation(self._settings):
            results.append(result)
        return results
