"""Whether an account keeps the images of its posts, and how far that is."""

from typing import Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.access.turns import lock_library
from bowerbird.model.accounts import Account
from bowerbird.model.jobs import MEDIA
from bowerbird.model.posts.media import KIND, MediaAccount
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.media import KEPT, LEFT_OUT, WAITING, MediaStore
from bowerbird.storage.upkeep.jobs import JobStore

MEGABYTE: Final = 1_000_000
# The reason of a video for which the quota has no room, as in images/fetching.py.
NO_ROOM: Final = "room"


class MediaState(Struct, frozen=True):
    """What the account page says about kept images."""

    # Whether the operator lets accounts keep images.
    is_offered: bool
    is_keeping: bool
    is_clearing: bool
    is_full: bool
    kept: int
    waiting: int
    # The number of images that are not kept, by reason.
    left_out: dict[str, int]
    bytes: int
    quota: int
    # Whether the operator lets accounts keep videos, how much, and how many have no room.
    keeps_videos: bool
    video_quota: int
    without_room: int

    @property
    def total(self) -> int:
        return self.kept + self.waiting + sum(self.left_out.values())


class MediaPreferences:
    def __init__(self, database: Database, clock: Clock, settings: Settings) -> None:
        self._database = database
        self._clock = clock
        self._store = MediaStore(database)
        self._libraries = LibraryStore(database)
        self._jobs = JobStore(database)
        self.is_offered = settings.keep_media == "on"
        self._quota = settings.media_quota_mb * MEGABYTE
        self._keeps_videos = self.is_offered and settings.keep_video == "on"
        self._video_quota = settings.video_quota_mb * MEGABYTE

    async def state(self, account: Account) -> MediaState:
        held = await self._store.account(self._database, account.account_id)
        counts = await self._store.counts(account.account_id) if held else {}
        # Without a row, the account has not decided, and no worker has looked at it.
        held = held or MediaAccount(is_keeping=self.is_offered)
        return MediaState(
            is_offered=self.is_offered,
            is_keeping=held.is_keeping,
            is_clearing=held.is_clearing,
            is_full=held.full_at == self._quota,
            kept=_sum(counts, KEPT),
            waiting=_sum(counts, WAITING),
            left_out={
                reason: count for (state, reason), count in counts.items() if state == LEFT_OUT
            },
            bytes=held.bytes,
            quota=self._quota,
            keeps_videos=self._keeps_videos,
            video_quota=self._video_quota,
            without_room=sum(n for (_, reason), n in counts.items() if reason == NO_ROOM),
        )

    async def switch(self, account: Account, *, is_keeping: bool) -> None:
        """Images that are kept already stay when the switch is turned off."""
        if is_keeping and not self.is_offered:
            raise errors.invalid("keep", "is not possible: this server keeps no images")

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account.account_id)
            await self._store.switch(transaction, account.account_id, is_keeping=is_keeping)
            if is_keeping:
                await self._start(transaction, account.account_id)

        await self._database.write(work, account.account_id)

    async def clear(self, account: Account) -> None:
        """Turns the switch off and deletes all images that are kept."""

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account.account_id)
            await self._store.begin(transaction, account.account_id)
            await self._store.clear(transaction, account.account_id)
            await self._start(transaction, account.account_id)

        await self._database.write(work, account.account_id)

    async def _start(self, transaction: Transaction, account_id: int) -> None:
        await self._jobs.add_own(transaction, account_id, KIND, MEDIA, self._clock())


def _sum(counts: dict[tuple[str, str], int], wanted: str) -> int:
    return sum(count for (state, _), count in counts.items() if state == wanted)
