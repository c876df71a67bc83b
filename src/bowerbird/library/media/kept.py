"""The kept images of an account: which are kept, their files, and whether it keeps any."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.model.accounts import Account
from bowerbird.model.jobs import MEDIA
from bowerbird.model.posts.media import (
    KIND,
    KeptImage,
    KnownImage,
    MediaAccount,
    file_name,
    url_key,
)
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.files import Files, OpenFile
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.media import KEPT, LEFT_OUT, WAITING
from bowerbird.storage.stores import Service, TimedService

# More than the pictures of any page; the rest is described. A page of an export has 128 posts.
SHOWN_MAX: Final = 5_200


class KeptImages(Service):
    def __init__(self, database: Database, files: Files) -> None:
        super().__init__(database)
        self._files = files

    async def among(self, account: Account, urls: Iterable[str]) -> dict[str, KeptImage]:
        """The kept images among these URLs, in one read."""
        found = await self.known(account, urls)
        return {url: image.file for url, image in found.items() if image.file is not None}

    async def known(self, account: Account, urls: Iterable[str]) -> dict[str, KnownImage]:
        """What is known about these URLs, in one read."""
        by_key = {url_key(url): url for url in list(dict.fromkeys(urls))[:SHOWN_MAX] if url}
        if not by_key:
            return {}
        found = await self._stores.media.known(account.account_id, list(by_key))
        return {by_key[key]: image for key, image in found.items()}

    async def by_key(self, account: Account, keys: Sequence[str]) -> dict[str, KnownImage]:
        """What is known about the URLs with these keys."""
        return await self._stores.media.known(account.account_id, keys[:SHOWN_MAX]) if keys else {}

    async def find(self, account: Account, media_id: str) -> KeptImage:
        found = await self._stores.media.file(account.account_id, media_id)
        if found is None:
            raise errors.not_found("image", media_id)
        return found

    async def open(
        self, account: Account, image: KeptImage, first: int = 0, end: int = 0
    ) -> OpenFile:
        """The bytes from `first` up to `end`, or all."""
        opened = await self.find_file(account, image, first, end)
        if opened is None:
            raise errors.not_found("image", image.media_id)
        return opened

    async def find_file(
        self, account: Account, image: KeptImage, first: int = 0, end: int = 0
    ) -> OpenFile | None:
        """None if the file is gone, for example because only the database was restored."""
        return await self._files.open(file_name(account.account_id, image.media_id), first, end)


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


class MediaPreferences(TimedService):
    def __init__(self, database: Database, clock: Clock, settings: Settings) -> None:
        super().__init__(database, clock)
        self.is_offered = settings.keep_media == "on"
        self._quota = settings.media_quota_mb * MEGABYTE
        self._keeps_videos = self.is_offered and settings.keep_video == "on"
        self._video_quota = settings.video_quota_mb * MEGABYTE

    async def state(self, account: Account) -> MediaState:
        held = await self._stores.media.account(self._library(account.account_id))
        counts = await self._stores.media.counts(account.account_id) if held else {}
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

        async def work(library: LockedLibrary) -> None:
            await self._stores.media.switch(library, is_keeping=is_keeping)
            if is_keeping:
                await self._start(library)

        await self._locked(account.account_id, work)

    async def clear(self, account: Account) -> None:
        """Turns the switch off and deletes all images that are kept."""

        async def work(library: LockedLibrary) -> None:
            await self._stores.media.begin(library)
            await self._stores.media.clear(library)
            await self._start(library)

        await self._locked(account.account_id, work)

    async def _start(self, library: Writable) -> None:
        await self._stores.jobs.add_own(library, KIND, MEDIA, self._clock())


def _sum(counts: dict[tuple[str, str], int], wanted: str) -> int:
    return sum(count for (state, _), count in counts.items() if state == wanted)
