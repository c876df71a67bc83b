"""Finds out which images the posts of an account have, and removes those that no post has."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from bowerbird.clock import Clock
from bowerbird.images import hosts
from bowerbird.images.hosts import AllowedHosts
from bowerbird.library.access.turns import lock_library
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.posts.media import ImageLink, UnknownPost, file_name, shown_urls, video_urls
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files import Files
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.media import MediaStore

# Both keep a transaction short.
_POSTS_PER_TRANSACTION: Final = 20
_LINKS_PER_TRANSACTION: Final = 100
_NOT_ALLOWED: Final = "host"

Links = dict[UnknownPost, list[ImageLink]]
Report = Callable[[], Awaitable[None]]
"""Called between two transactions. Raises an exception to stop."""


class ImageNoting:
    def __init__(
        self,
        database: Database,
        files: Files,
        clock: Clock,
        allowed: AllowedHosts,
        *,
        with_videos: bool,
    ) -> None:
        self._database = database
        self._files = files
        self._clock = clock
        self._allowed = allowed
        self._with_videos = with_videos
        self._store = MediaStore(database)
        self._libraries = LibraryStore(database)

    async def note(self, account: Account, report: Report) -> None:
        """Records the images of posts that are new or have changed."""
        after = 0
        while posts := await self._store.unknown_posts(account, after, _POSTS_PER_TRANSACTION):
            for some in self._in_parts(posts):
                await self._note(account.account_id, some)
                await report()
            after = posts[-1].number

    async def remove_lost(self, account_id: int, report: Report) -> None:
        """Removes the images of posts that are gone for good."""
        after = ""
        while posts := await self._store.lost_posts(account_id, after, _POSTS_PER_TRANSACTION):
            await self._remove(account_id, posts, only_lost=True)
            after = posts[-1]
            await report()

    async def remove_all(self, account_id: int, report: Report) -> None:
        while posts := await self._store.some_posts(account_id, _POSTS_PER_TRANSACTION):
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
        async def work(transaction: Transaction) -> list[str]:
            await lock_library(self._libraries, transaction, account_id)
            lost = await self._store.put_links(transaction, account_id, posts, self._clock())
            return await self._store.remove_unlinked(transaction, account_id, lost)

        await self._delete(account_id, await self._database.write(work, account_id))

    async def _remove(self, account_id: int, posts: list[str], *, only_lost: bool) -> None:
        async def work(transaction: Transaction) -> list[str]:
            await lock_library(self._libraries, transaction, account_id)
            lost = []
            for post_id in posts:
                # It may have been saved again since.
                if only_lost and not await self._store.is_lost(transaction, account_id, post_id):
                    continue
                lost += await self._store.remove_post(transaction, account_id, post_id)
            return await self._store.remove_unlinked(transaction, account_id, lost)

        await self._delete(account_id, await self._database.write(work, account_id))

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
