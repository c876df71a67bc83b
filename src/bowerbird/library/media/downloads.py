"""Downloads the images that are due for an account, until its quota is used.

What is done is in the database after each image, so an interrupted download continues where it
stopped. A file is stored under a random name before the row that names it: a killed process leaves
at most a file that nothing names, and a daily task deletes it.
"""

import asyncio
import hashlib
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, TypeAlias

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Refusal
from bowerbird.images import hosts
from bowerbird.library.access.library_lock import lock_library
from bowerbird.model.media import DueImage, FailedImage, KeptImage, file_name
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files.files import Files
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.media import LEFT_OUT, WAITING, MediaStore

if TYPE_CHECKING:
    from bowerbird.images.fetching import FetchedImage, Fetcher, Reason

    Outcome: TypeAlias = "_Outcome | Reason | Refusal"

Progress = Callable[[int, int], Awaitable[None]]

# An image that cannot be fetched now is tried again after these seconds, and then left out.
RETRIES_S: Final = (60, 600, 3_600, 21_600)
_CONCURRENT: Final = 4
_BATCH: Final = 40
# After so many failures in a row, the other images of a host wait.
_FAILURES_OF_HOST: Final = 3
_HOST_PAUSE_S: Final = 600
_ID_BYTES: Final = 16


class _Outcome(Enum):
    KEPT = auto()
    # It is fetched again.
    AGAIN = auto()
    # No post has it any more.
    UNWANTED = auto()
    # Its host fails at the moment.
    HOST_WAITS = auto()
    FULL = auto()
    SWITCHED_OFF = auto()


_ENDS: Final = frozenset({_Outcome.FULL, _Outcome.SWITCHED_OFF})


class Downloads:
    def __init__(self, database: Database, files: Files, clock: Clock, quota: int) -> None:
        self._database = database
        self._files = files
        self._clock = clock
        self._quota = quota
        self._store = MediaStore(database)
        self._libraries = LibraryStore(database)

    async def run(self, account_id: int, fetcher: "Fetcher", progress: Progress) -> None:
        """`progress` may raise an exception to stop it."""
        counts = await self._store.counts(account_id)
        total = sum(counts.values())
        done = total - sum(n for (state, _), n in counts.items() if state == WAITING)
        turn = _Turn(self, account_id, fetcher)
        while due := await self._store.due_sources(account_id, self._clock(), _BATCH):
            outcomes = await turn.take(due)
            await self._record(account_id, list(zip(due, outcomes, strict=True)))
            for outcome in outcomes:
                if isinstance(outcome, Refusal):
                    raise outcome
            if not _ENDS.isdisjoint(outcomes):
                return
            done += len(due)
            await progress(min(done, total), total)

    async def keep(self, account_id: int, due: DueImage, fetched: "FetchedImage") -> _Outcome:
        content_hash = hashlib.sha256(fetched.content).digest()
        known = await self._store.by_content(self._database, account_id, content_hash)
        image = KeptImage(
            media_id=known or secrets.token_hex(_ID_BYTES),
            type=fetched.format.type,
            bytes=len(fetched.content),
            width=fetched.format.width,
            height=fetched.format.height,
        )
        name = file_name(account_id, image.media_id)
        if not known:
            await self._files.put(name, fetched.content)

        async def work(transaction: Transaction) -> tuple[_Outcome, str]:
            await lock_library(self._libraries, transaction, account_id)
            used = await self._store.by_content(transaction, account_id, content_hash)
            if known and not used:
                # The last post with the file was removed just now.
                return _Outcome.AGAIN, ""
            new = None if used else image
            outcome = await self._put(transaction, account_id, due, new, used)
            if outcome is _Outcome.KEPT and new is not None:
                await self._store.put_file(
                    transaction, account_id, new, content_hash, self._clock()
                )
            return outcome, used or image.media_id

        outcome, used = await self._database.write(work, account_id)
        if not known and (outcome is not _Outcome.KEPT or used != image.media_id):
            await self._files.delete(name)
        return outcome

    async def _put(
        self,
        transaction: Transaction,
        account_id: int,
        due: DueImage,
        new: KeptImage | None,
        used: str,
    ) -> _Outcome:
        """Records that an image has a file: a new one, or one that is used already."""
        state = await self._store.account(transaction, account_id)
        if state is None or not state.is_keeping or state.is_clearing:
            return _Outcome.SWITCHED_OFF
        if new is not None and state.bytes + new.bytes > self._quota:
            await self._store.is_full(transaction, account_id, self._quota)
            return _Outcome.FULL
        media_id = used if new is None else new.media_id
        if not await self._store.source_is_kept(transaction, account_id, due.url_key, media_id):
            return _Outcome.UNWANTED
        if new is not None:
            await self._store.take_room(transaction, account_id, new.bytes)
        return _Outcome.KEPT

    async def _record(self, account_id: int, taken: Sequence[tuple[DueImage, "Outcome"]]) -> None:
        """Stores why images were not fetched, and when to try again."""
        now = self._clock()
        failures = [found for due, outcome in taken if (found := _failure(due, outcome, now))]
        if not failures:
            return

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account_id)
            for failure in failures:
                await self._store.source_failed(transaction, account_id, failure)

        await self._database.write(work, account_id)


class _Turn:
    """Fetches images, a few at the same time, and leaves hosts alone that fail."""

    def __init__(self, downloads: Downloads, account_id: int, fetcher: "Fetcher") -> None:
        self._downloads = downloads
        self._account_id = account_id
        self._fetcher = fetcher
        self._slots = asyncio.Semaphore(_CONCURRENT)
        self._failures: Counter[str] = Counter()
        self._has_ended = False

    async def take(self, due: Sequence[DueImage]) -> "list[Outcome]":
        return await asyncio.gather(*(self._one(image) for image in due))

    async def _one(self, due: DueImage) -> "Outcome":
        from bowerbird.images.fetching import TEMPORARY, NotFetched  # noqa: PLC0415 - httpx2

        host = hosts.host_of(due.url)
        async with self._slots:
            if self._has_ended:
                return _Outcome.AGAIN
            if self._failures[host] >= _FAILURES_OF_HOST:
                return _Outcome.HOST_WAITS
            try:
                fetched = await self._fetcher.fetch(due.url, due.instance)
                outcome = await self._downloads.keep(self._account_id, due, fetched)
            except NotFetched as problem:
                is_temporary = problem.reason in TEMPORARY
                self._failures[host] = self._failures[host] + 1 if is_temporary else 0
                return problem.reason
            except Refusal as refused:
                self._has_ended = True
                return refused
            self._failures[host] = 0
            self._has_ended |= outcome in _ENDS
            return outcome


def _failure(due: DueImage, outcome: "Outcome", now: int) -> FailedImage | None:
    from bowerbird.images.fetching import TEMPORARY, Reason  # noqa: PLC0415 - httpx2

    if outcome is _Outcome.HOST_WAITS:
        due_at = now + _HOST_PAUSE_S * MICROSECONDS
        return FailedImage(due.url_key, WAITING, Reason.BUSY, due.tries, due_at)
    if not isinstance(outcome, Reason):
        return None
    if outcome in TEMPORARY and due.tries < len(RETRIES_S):
        due_at = now + RETRIES_S[due.tries] * MICROSECONDS
        return FailedImage(due.url_key, WAITING, outcome, due.tries + 1, due_at)
    return FailedImage(due.url_key, LEFT_OUT, outcome, due.tries + 1, now)
