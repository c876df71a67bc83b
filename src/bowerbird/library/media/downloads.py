"""Downloads the images that are due for an account, until its quota is used.

What is done is in the database after each image, so an interrupted download continues where it
stopped. A file is stored under a random name before the row that names it: a killed process leaves
at most a file that nothing names, and a daily task deletes it.
"""

import asyncio
import hashlib
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Refusal
from bowerbird.images import hosts
from bowerbird.model.posts.media import DueImage, FailedImage, KeptImage, file_name
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.files import Files
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.media import LEFT_OUT, WAITING, MediaStore
from bowerbird.storage.stores import TimedService

if TYPE_CHECKING:
    from bowerbird.images.fetching import FetchedImage, Fetcher, Reason

    Outcome: TypeAlias = "_Outcome | Reason | Refusal"

Progress = Callable[[int, int], Awaitable[None]]

# An image that cannot be fetched now is tried again after these seconds, for a week, and then left
# out.
RETRIES_S: Final = (60, 600, 3_600, 21_600, 86_400, 172_800, 172_800, 172_800)
_CONCURRENT: Final = 6
# Recorded in one transaction, so that few wait for the disk.
_BATCH: Final = 24
# A video may take 30 ms; most images take less than the way to a thread.
_HASHED_AT_ONCE: Final = 1 << 18
# Lists load a larger image in a small rendition.
_SMALL_ENOUGH: Final = 25_000
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
    # A video for which there is none; images go on.
    NO_ROOM = auto()
    SWITCHED_OFF = auto()


_ENDS: Final = frozenset({_Outcome.FULL, _Outcome.SWITCHED_OFF})


class _Stored(NamedTuple):
    image: KeptImage
    content_hash: bytes
    # Whether the file was stored just now.
    is_new: bool


class _Taken(NamedTuple):
    """An image whose files are stored: itself, and perhaps its small rendition."""

    due: DueImage
    files: tuple[_Stored, ...]


class Downloads(TimedService):
    def __init__(
        self, database: Database, files: Files, clock: Clock, quota: int, video_quota: int | None
    ) -> None:
        """`video_quota` is None if no videos are kept."""
        super().__init__(database, clock)
        self._files = files
        self._quota = quota
        self._video_quota = video_quota

    async def run(self, account_id: int, fetcher: "Fetcher", progress: Progress) -> None:
        """`progress` may raise an exception to stop it."""
        counts = await self._stores.media.counts(account_id)
        total = sum(counts.values())
        done = total - sum(n for (state, _), n in counts.items() if state == WAITING)
        turn = _Turn(self, account_id, fetcher)
        while due := await self._stores.media.due_sources(account_id, self._clock(), _BATCH):
            video_room = None
            if self._video_quota is not None:
                used = await self._stores.media.video_bytes(account_id)
                video_room = max(self._video_quota - used, 0)
            outcomes = await self._kept(account_id, await turn.take(due, video_room))
            await self._record(account_id, list(zip(due, outcomes, strict=True)))
            for outcome in outcomes:
                if isinstance(outcome, Refusal):
                    raise outcome
            if not _ENDS.isdisjoint(outcomes):
                return
            done += len(due)
            await progress(min(done, total), total)

    async def _kept(
        self, account_id: int, fetched: "Sequence[Outcome | _Taken]"
    ) -> "list[Outcome]":
        """The outcomes, after what was fetched is recorded."""
        taken = [one for one in fetched if isinstance(one, _Taken)]
        kept = iter(await self._keep(account_id, taken) if taken else ())
        return [next(kept) if isinstance(one, _Taken) else one for one in fetched]

    async def store(self, account_id: int, fetched: "FetchedImage") -> _Stored:
        """Stores a file, unless the account has one with this content."""
        is_large = len(fetched.content) > _HASHED_AT_ONCE
        hashed = asyncio.to_thread(hashlib.sha256, fetched.content) if is_large else None
        content_hash = (await hashed if hashed else hashlib.sha256(fetched.content)).digest()
        known = await self._stores.media.by_content(self._library(account_id), content_hash)
        image = KeptImage(
            media_id=known or secrets.token_hex(_ID_BYTES),
            type=fetched.format.type,
            bytes=len(fetched.content),
            width=fetched.format.width,
            height=fetched.format.height,
        )
        if not known:
            await self._files.put(file_name(account_id, image.media_id), fetched.content)
        return _Stored(image, content_hash, is_new=not known)

    async def _keep(self, account_id: int, taken: Sequence[_Taken]) -> list[_Outcome]:
        """Records in one transaction that images have files, and deletes files without a use."""

        async def work(library: LockedLibrary) -> tuple[list[_Outcome], set[str]]:
            state = await self._stores.media.account(library)
            if state is None or not state.is_keeping or state.is_clearing:
                return [_Outcome.SWITCHED_OFF] * len(taken), set()
            recording = _Recording(self._stores.media, library, self._clock())
            has_video = any(one.files[0].image.is_video for one in taken)
            video_room = self._video_quota or 0
            if has_video:
                video_room -= await self._stores.media.video_bytes_within(library)
            rooms = {False: self._quota - state.bytes, True: video_room}
            outcomes = [await recording.keep(one, rooms) for one in taken]
            if recording.used:
                await self._stores.media.take_room(
                    library, len(recording.used), recording.bytes[False]
                )
            if _Outcome.FULL in outcomes:
                await self._stores.media.is_full(library, self._quota)
            return outcomes, recording.used

        outcomes, used = await self._locked(account_id, work)
        stored = [each.image.media_id for one in taken for each in one.files if each.is_new]
        unused = [file_name(account_id, each) for each in stored if each not in used]
        if unused:
            await self._files.delete(*unused)
        return outcomes

    async def _record(self, account_id: int, taken: Sequence[tuple[DueImage, "Outcome"]]) -> None:
        """Stores why images were not fetched, and when to try again."""
        now = self._clock()
        failures = [found for due, outcome in taken if (found := _failure(due, outcome, now))]
        if not failures:
            return

        async def work(library: LockedLibrary) -> None:
            for failure in failures:
                await self._stores.media.source_failed(library, failure)

        await self._locked(account_id, work)


class _Recording:
    """Records images within one transaction."""

    def __init__(self, store: MediaStore, library: Writable, now: int) -> None:
        self._store = store
        self._library = library
        self._now = now
        # The new files that are needed, and the size of images and of videos.
        self.used: set[str] = set()
        self.bytes = {False: 0, True: 0}

    async def keep(self, taken: _Taken, rooms: Mapping[bool, int]) -> _Outcome:
        """`rooms` has that for images, and for videos."""
        ids: list[str] = []
        new: list[_Stored] = []
        for each in taken.files:
            used = await self._store.by_content(self._library, each.content_hash)
            if not used and not each.is_new:
                # The last post with the file was removed just now.
                return _Outcome.AGAIN
            ids.append(used or each.image.media_id)
            if not used:
                new.append(each)
        size = sum(each.image.bytes for each in new)
        is_video = taken.files[0].image.is_video
        if new and self.bytes[is_video] + size > rooms[is_video]:
            return _Outcome.NO_ROOM if is_video else _Outcome.FULL
        media_id, small_id = ids[0], ids[-1] if ids[-1] != ids[0] else None
        if not await self._store.source_is_kept(
            self._library, taken.due.url_key, media_id, small_id
        ):
            return _Outcome.UNWANTED
        for each in new:
            await self._store.put_file(self._library, each.image, each.content_hash, self._now)
        self.used |= {each.image.media_id for each in new}
        self.bytes[is_video] += size
        return _Outcome.KEPT


class _Turn:
    """Fetches images, a few at the same time, and leaves hosts alone that fail."""

    def __init__(self, downloads: Downloads, account_id: int, fetcher: "Fetcher") -> None:
        self._downloads = downloads
        self._account_id = account_id
        self._fetcher = fetcher
        self._slots = asyncio.Semaphore(_CONCURRENT)
        self._failures: Counter[str] = Counter()
        self._has_ended = False

    async def take(
        self, due: Sequence[DueImage], video_room: int | None
    ) -> "list[Outcome | _Taken]":
        return await asyncio.gather(*(self._one(image, video_room) for image in due))

    async def _one(self, due: DueImage, video_room: int | None) -> "Outcome | _Taken":
        from bowerbird.images.fetching import TEMPORARY, NotFetched  # noqa: PLC0415 - httpx2

        host = hosts.host_of(due.url)
        async with self._slots:
            if self._has_ended:
                return _Outcome.AGAIN
            if self._failures[host] >= _FAILURES_OF_HOST:
                return _Outcome.HOST_WAITS
            try:
                fetched = await self._fetcher.fetch(due.url, due.instance, video_room)
                small = await self._small(due, fetched)
                files = [
                    await self._downloads.store(self._account_id, each)
                    for each in (fetched, small)
                    if each is not None
                ]
            except NotFetched as problem:
                is_temporary = problem.reason in TEMPORARY
                self._failures[host] = self._failures[host] + 1 if is_temporary else 0
                return problem.reason
            except Refusal as refused:
                self._has_ended = True
                return refused
            self._failures[host] = 0
            return _Taken(due, tuple(files))

    async def _small(self, due: DueImage, image: "FetchedImage") -> "FetchedImage | None":
        """The small rendition of a large image. Lists show the image if there is none."""
        from bowerbird.images.fetching import NotFetched  # noqa: PLC0415 - httpx2

        if not due.small_url or len(image.content) <= _SMALL_ENOUGH:
            return None
        try:
            small = await self._fetcher.fetch(due.small_url, due.instance)
        except NotFetched:
            return None
        return small if len(small.content) < len(image.content) else None


def _failure(due: DueImage, outcome: "Outcome", now: int) -> FailedImage | None:
    from bowerbird.images.fetching import RETRIED, Reason  # noqa: PLC0415 - httpx2

    if outcome is _Outcome.HOST_WAITS:
        due_at = now + _HOST_PAUSE_S * MICROSECONDS
        return FailedImage(due.url_key, WAITING, Reason.BUSY, due.tries, due_at)
    if outcome is _Outcome.NO_ROOM:
        outcome = Reason.ROOM
    if not isinstance(outcome, Reason):
        return None
    if outcome in RETRIED and due.tries < len(RETRIES_S):
        due_at = now + RETRIES_S[due.tries] * MICROSECONDS
        return FailedImage(due.url_key, WAITING, outcome, due.tries + 1, due_at)
    return FailedImage(due.url_key, LEFT_OUT, outcome, due.tries + 1, now)
