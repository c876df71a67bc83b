"""Keeps the images of an account: notes which posts have which, removes some, downloads others.

The text in kept images becomes a part of their posts, as what a source says about a post is.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.images import hosts
from bowerbird.images.hosts import AllowedHosts
from bowerbird.library.media.downloads import Downloads, Progress
from bowerbird.library.media.kept import MEGABYTE
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.posts.media import (
    ImageLink,
    MediaAccount,
    UnknownPost,
    file_name,
    folder_of,
    shown_urls,
    video_urls,
)
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.storage.libraries import LockedLibrary

if TYPE_CHECKING:
    from bowerbird.images.fetching import Fetcher


from bowerbird.images.text_reading import TextReader
from bowerbird.library.imports.intake import Intake
from bowerbird.model.posts.bookmarks import IMAGE_TEXT_MAX, ImageText
from bowerbird.model.posts.media import UnreadImage
from bowerbird.sources.found import mark
from bowerbird.storage.stores import Service, TimedService

_PER_READ: Final = 50


class ImageTexts(Service):
    def __init__(self, database: Database, files: Files, clock: Clock) -> None:
        super().__init__(database)
        self._files = files
        self._intake = Intake(database, clock)

    async def run(self, account: Account, progress: Progress) -> None:
        """`progress` may raise an exception to stop it."""
        done = 0
        async with TextReader() as reader:
            while unread := await self._stores.media.unread(account.account_id, _PER_READ):
                for image in unread:
                    await self._read(account, image, reader)
                    done += 1
                    await progress(done, done + 1)

    async def _read(self, account: Account, image: UnreadImage, reader: TextReader) -> None:
        text = image.text
        if text is None:
            content = await self._files.open(file_name(account.account_id, image.media_id), 0, 0)
            parts = [] if content is None else [part async for part in content.chunks]
            text = (await reader.read(b"".join(parts)))[:IMAGE_TEXT_MAX]
        if text:
            found = mark(image.post_id, image_texts=[ImageText(image.url, text)])
            await self._intake.take(account, [found])

        await self._locked(
            account.account_id, lambda library: self._stores.media.is_read(library, image, text)
        )


# Both keep a transaction short.
_POSTS_PER_TRANSACTION: Final = 20
_LINKS_PER_TRANSACTION: Final = 100
_NOT_ALLOWED: Final = "host"

Links = dict[UnknownPost, list[ImageLink]]
Report = Callable[[], Awaitable[None]]
"""Called between two transactions. Raises an exception to stop."""


class ImageNoting(TimedService):
    def __init__(
        self,
        database: Database,
        files: Files,
        clock: Clock,
        allowed: AllowedHosts,
        *,
        with_videos: bool,
    ) -> None:
        super().__init__(database, clock)
        self._files = files
        self._allowed = allowed
        self._with_videos = with_videos

    async def note(self, account: Account, report: Report) -> None:
        """Records the images of posts that are new or have changed."""
        after = 0
        while posts := await self._stores.media.unknown_posts(
            account, after, _POSTS_PER_TRANSACTION
        ):
            for some in self._in_parts(posts):
                await self._note(account.account_id, some)
                await report()
            after = posts[-1].number

    async def remove_lost(self, account_id: int, report: Report) -> None:
        """Removes the images of posts that are gone for good."""
        after = ""
        while posts := await self._stores.media.lost_posts(
            account_id, after, _POSTS_PER_TRANSACTION
        ):
            await self._remove(account_id, posts, only_lost=True)
            after = posts[-1]
            await report()

    async def remove_all(self, account_id: int, report: Report) -> None:
        while posts := await self._stores.media.some_posts(account_id, _POSTS_PER_TRANSACTION):
            await self._remove(account_id, posts, only_lost=False)
            await report()

    def _in_parts(self, posts: Sequence[UnknownPost]) -> Iterator[Links]:
        """A few posts at a time: one alone may have forty images."""
        part: Links = {}
        for post in posts:
            part[post] = self._links(post)
            if sum(map(len, part.values())) >= _LINKS_PER_TRANSACTION:
                yield part
                part = {}
        if part:
            yield part

    async def _note(self, account_id: int, posts: Links) -> None:
        async def work(library: LockedLibrary) -> list[str]:
            lost = await self._stores.media.put_links(library, posts, self._clock())
            return await self._stores.media.remove_unlinked(library, lost)

        await self._delete(account_id, await self._locked(account_id, work))

    async def _remove(self, account_id: int, posts: list[str], *, only_lost: bool) -> None:
        async def work(library: LockedLibrary) -> list[str]:
            lost = []
            for post_id in posts:
                # It may have been saved again since.
                if only_lost and not await self._stores.media.is_lost(library, post_id):
                    continue
                lost += await self._stores.media.remove_post(library, post_id)
            return await self._stores.media.remove_unlinked(library, lost)

        await self._delete(account_id, await self._locked(account_id, work))

    async def _delete(self, account_id: int, media_ids: list[str]) -> None:
        """After the commit. Files that a killed process leaves are found once a day."""
        await self._files.delete(*(file_name(account_id, media_id) for media_id in media_ids))

    def _links(self, post: UnknownPost) -> list[ImageLink]:
        try:
            decoded = msgspec.json.decode(json_depth.cut(post.rendering + b"}"))
        except msgspec.MsgspecError:
            return []
        details = decoded.get("tweet_details")
        if not isinstance(details, dict):
            return []
        instance = hosts.instance_of(_text(decoded, "source"), _text(details, "link"))
        found = shown_urls(decoded)
        if self._with_videos:
            found = dict.fromkeys(video_urls(details), "") | found
        return [
            self._link(url, instance, small)
            for url, small in found.items()
            if hosts.host_of(url) != hosts.DEMO_HOST
        ]

    def _link(self, url: str, instance: str, small_url: str) -> ImageLink:
        is_allowed = self._allowed.has(hosts.host_of(url), instance)
        has_small = self._allowed.has(hosts.host_of(small_url), instance)
        reason = "" if is_allowed else _NOT_ALLOWED
        return ImageLink(url, instance, reason, small_url if has_small else "")


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


# The trash is emptied without a change of the library, so an account is looked at this often.
_LOOK_EVERY: Final = 86_400 * MICROSECONDS
# A file is stored shortly before the row that names it.
_LEFTOVER_S: Final = 86_400.0
_ACCOUNTS_PER_PAGE: Final = 500


class Keeping(TimedService):
    def __init__(
        self,
        database: Database,
        files: Files,
        clock: Clock,
        settings: Settings,
        fetcher: "Callable[[], Fetcher] | None" = None,
    ) -> None:
        super().__init__(database, clock)
        self._files = files
        self._allowed = AllowedHosts.of(settings)
        self._fetcher = fetcher or self._new_fetcher
        self._is_on = settings.keep_media == "on"
        self._quota = settings.media_quota_mb * MEGABYTE
        with_videos = settings.keep_video == "on"
        self._noting = ImageNoting(database, files, clock, self._allowed, with_videos=with_videos)
        video_quota = settings.video_quota_mb * MEGABYTE if with_videos else None
        self._downloads = Downloads(database, files, clock, self._quota, video_quota)
        reads_text = settings.image_text == "on"
        self._texts = ImageTexts(database, files, clock) if reads_text else None

    async def run(self, account_id: int, progress: Progress) -> None:
        """Does what is due. `progress` may raise an exception to stop it."""
        account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
        state = None if account is None else await self._begun(account_id)
        if account is None or state is None:
            return

        async def report() -> None:
            await progress(0, 1)

        if state.is_clearing:
            await self._noting.remove_all(account_id, report)
            await self._transact(account_id, self._stores.media.cleared, is_service=True)
        elif self._is_outdated(account, state):
            if state.is_keeping:
                await self._noting.note(account, report)
            await self._noting.remove_lost(account_id, report)
            await self._transact(
                account_id,
                lambda library: self._stores.media.looked(library, account, self._clock()),
                is_service=True,
            )
        state = await self._stores.media.account(self._library(account_id))
        if state is not None and self._may_download(state):
            async with self._fetcher().asked_by(account_id) as fetcher:
                await self._downloads.run(account_id, fetcher, progress)
        if self._texts is not None:
            await self._texts.run(account, progress)

    async def _begun(self, account_id: int) -> MediaAccount | None:
        """The state of the account, which keeps images unless it decided otherwise."""
        library = self._library(account_id)
        state = await self._stores.media.account(library)
        if state is None and self._is_on:
            await self._locked(account_id, self._stores.media.begin)
            state = await self._stores.media.account(library)
        return state

    async def due_accounts(self, after: int) -> Sequence[int]:
        """A page of the accounts with something to do."""
        now = self._clock()
        return await self._stores.media.due_accounts(
            after,
            _ACCOUNTS_PER_PAGE,
            now=now,
            looked_before=now - _LOOK_EVERY,
            quota=self._quota,
            is_on=self._is_on,
        )

    async def postpone(self, account_id: int, seconds: int) -> None:
        due_at = self._clock() + seconds * MICROSECONDS
        await self._transact(
            account_id,
            lambda library: self._stores.media.postpone_account(library, due_at),
            is_service=True,
        )

    async def delete_leftovers(self) -> None:
        """Deletes files that killed processes left behind."""
        after = 0
        while page := await self._stores.media.accounts_with_files(after, _ACCOUNTS_PER_PAGE):
            for account_id in page:
                await self._delete_leftovers(account_id)
            after = page[-1]

    async def _delete_leftovers(self, account_id: int) -> None:
        async def needed(names: Sequence[str]) -> set[str]:
            by_id = {name.rpartition("/")[2]: name for name in names}
            found = await self._stores.media.existing(account_id, list(by_id))
            return {by_id[media_id] for media_id in found}

        await self._files.delete_under(folder_of(account_id), _LEFTOVER_S, needed)

    def _may_download(self, state: MediaAccount) -> bool:
        is_wanted = self._is_on and state.is_keeping and not state.is_clearing
        return is_wanted and state.full_at != self._quota

    def _is_outdated(self, account: Account, state: MediaAccount) -> bool:
        is_old = state.looked_at < self._clock() - _LOOK_EVERY
        return is_old or (state.epoch, state.version) != (account.epoch, account.version)

    def _new_fetcher(self) -> "Fetcher":
        from bowerbird.images.fetching import Fetcher  # noqa: PLC0415 - imports httpx2

        return Fetcher(self._allowed)
