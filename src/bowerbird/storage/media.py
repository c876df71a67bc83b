"""The images of posts: which posts have which, where each came from, and which files are kept."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from bowerbird.model.accounts import Account
from bowerbird.model.posts.media import (
    DueImage,
    FailedImage,
    ImageLink,
    KeptImage,
    KnownImage,
    MediaAccount,
    MediaTotals,
    UnknownPost,
    UnreadImage,
    url_key,
)
from bowerbird.storage.database import (
    Readable,
    Store,
    Values,
    Writable,
    place_values,
)

WAITING: Final = "waiting"
KEPT: Final = "kept"
LEFT_OUT: Final = "left_out"


class MediaStore(Store):
    resource = "media"

    async def account(self, library: Readable) -> MediaAccount | None:
        rows = await self._of(library, "account")
        if not rows:
            return None
        is_keeping, is_clearing, *rest = rows[0]
        return MediaAccount(bool(is_keeping), bool(is_clearing), *rest)

    async def switch(self, library: Writable, *, is_keeping: bool) -> None:
        await self._do(library, "switch", is_keeping=is_keeping)

    async def begin(self, library: Writable) -> None:
        """Keeps the images of an account from now on, unless it has decided."""
        await self._do(library, "begin")

    async def clear(self, library: Writable) -> None:
        await self._do(library, "clear")

    async def cleared(self, library: Writable) -> None:
        await self._do(library, "cleared")

    async def looked(self, library: Writable, account: Account, now: int) -> None:
        """Records that all posts of this state of the library were looked at."""
        await self._do(library, "looked", epoch=account.epoch, version=account.version, now=now)

    async def postpone_account(self, library: Writable, due_at: int) -> None:
        await self._do(library, "postpone_account", due_at=due_at)

    async def due_accounts(
        self, after: int, limit: int, *, now: int, looked_before: int, quota: int, is_on: bool
    ) -> list[int]:
        """Accounts with something to do. `is_on`: whether images may be downloaded."""
        values = {
            "after": after,
            "limit": limit,
            "now": now,
            "looked_before": looked_before,
            "quota": quota,
            "is_on": is_on,
        }
        return [row[0] for row in await self._read_slowly("due_accounts", **values)]

    async def accounts_with_files(self, after: int, limit: int) -> list[int]:
        rows = await self._read_slowly("accounts_with_files", after=after, limit=limit)
        return [row[0] for row in rows]

    async def totals(self, quota: int) -> MediaTotals:
        """The images of all accounts, for the operator."""
        rows = await self._read_slowly("totals")
        states: dict[str, int] = {state: count for state, count in rows}  # noqa: C416 - typed
        [(size, full)] = await self._read_slowly("room_used", quota=quota)
        return MediaTotals(
            kept=states.get(KEPT, 0),
            waiting=states.get(WAITING, 0),
            left_out=states.get(LEFT_OUT, 0),
            bytes=size,
            full=full,
        )

    async def kept_pages(
        self, account_id: int, limit: int
    ) -> AsyncIterator[list[tuple[str, KeptImage]]]:
        """All kept images with their URLs."""
        after = ""
        while True:
            values = {"account_id": account_id, "after": after, "limit": limit}
            rows = await self._read_slowly("kept_page", **values)
            if not rows:
                return
            yield [(url, KeptImage(*file)) for _, url, *file in rows]
            after = rows[-1][0]

    async def counts(self, account_id: int) -> dict[tuple[str, str], int]:
        """The number of images by state and reason."""
        rows = await self._read_slowly("counts", account_id=account_id)
        return {(state, reason): count for state, reason, count in rows}

    async def unknown_posts(self, account: Account, after: int, limit: int) -> list[UnknownPost]:
        values = {
            **place_values(account),
            "after": after,
            "limit": limit,
        }
        return [UnknownPost(*row) for row in await self._read_slowly("unknown_posts", **values)]

    async def put_links(
        self, library: Writable, posts: Mapping[UnknownPost, Sequence[ImageLink]], now: int
    ) -> list[str]:
        """Records the images of posts; returns the keys of those that a post no longer has."""
        ids = [post.post_id for post in posts]
        had = await self._of(library, "links_of", post_ids=ids)
        links = {
            (post.post_id, url_key(link.url)): link
            for post, found in posts.items()
            for link in found
        }
        lost = [(post_id, name) for post_id, name in had if (post_id, name) not in links]
        sources = {name: _source(link, name, now) for (_, name), link in links.items()}
        batches: dict[str, Sequence[Values]] = {
            "put_post": [
                {"post_id": post.post_id, "content_hash": post.content_hash} for post in posts
            ],
            "put_source": list(sources.values()),
            "put_link": [{"post_id": post_id, "url_key": name} for post_id, name in links],
            "delete_link": [{"post_id": post_id, "url_key": name} for post_id, name in lost],
        }
        for name, batch in batches.items():
            if batch:
                await self._do_many(library, name, batch)
        return [name for _, name in lost]

    async def lost_posts(self, account_id: int, after: str, limit: int) -> list[str]:
        values = {"account_id": account_id, "after": after, "limit": limit}
        return [row[0] for row in await self._read_slowly("lost_posts", **values)]

    async def some_posts(self, account_id: int, limit: int) -> list[str]:
        rows = await self._read("some_posts", account_id=account_id, limit=limit)
        return [row[0] for row in rows]

    async def is_lost(self, library: Writable, post_id: str) -> bool:
        """Whether a post is neither in the library nor in the trash."""
        return bool(await self._of(library, "is_lost", post_id=post_id))

    async def remove_post(self, library: Writable, post_id: str) -> list[str]:
        """Forgets a post; returns the keys of its images."""
        values = {"post_id": post_id}
        await self._do(library, "delete_post", **values)
        return [row[0] for row in await self._of(library, "delete_links", **values)]

    async def remove_unlinked(self, library: Writable, url_keys: Sequence[str]) -> list[str]:
        """Forgets images that no post has; returns the ids of files that nothing needs."""
        media_ids: dict[str, None] = {}
        for name in url_keys:
            values = {"url_key": name}
            for files in await self._of(library, "delete_source", **values):
                media_ids |= dict.fromkeys(each for each in files if each is not None)
        removed, size = [], 0
        for media_id in media_ids:
            values = {"media_id": media_id}
            for (count,) in await self._of(library, "delete_file", **values):
                removed.append(media_id)
                size += count
        if removed:
            await self._do(library, "give_back", files=len(removed), bytes=size)
        return removed

    async def due_sources(self, account_id: int, now: int, limit: int) -> list[DueImage]:
        rows = await self._read("due_sources", account_id=account_id, now=now, limit=limit)
        return [DueImage(*row) for row in rows]

    async def by_content(self, library: Readable, content_hash: bytes) -> str:
        """The id of the file with this content, or ''."""
        rows = await self._of(library, "by_content", content_hash=content_hash)
        return str(rows[0][0]) if rows else ""

    async def source_is_kept(
        self, library: Writable, name: str, media_id: str, small_id: str | None
    ) -> bool:
        """False if no post has the image any more."""
        values = {"url_key": name, "media_id": media_id, "small_id": small_id}
        return bool(await self._of(library, "source_is_kept", **values))

    async def source_failed(self, library: Writable, failure: FailedImage) -> None:
        await self._do(library, "source_failed", **msgspec.structs.asdict(failure))

    async def try_again(self, library: Writable, post_ids: Sequence[str], now: int) -> None:
        """Images of these posts that could not be fetched are due again."""
        await self._do(library, "try_again", post_ids=post_ids, now=now)

    async def take_room(self, library: Writable, files: int, size: int) -> None:
        await self._do(library, "take_room", files=files, bytes=size)

    async def video_bytes(self, account_id: int) -> int:
        # It reads all files of the account.
        rows = await self._read_slowly("video_bytes", account_id=account_id)
        return int(rows[0][0])

    async def video_bytes_within(self, library: Writable) -> int:
        rows = await self._of(library, "video_bytes")
        return int(rows[0][0])

    async def is_full(self, library: Writable, quota: int) -> None:
        await self._do(library, "is_full", quota=quota)

    async def put_file(
        self, library: Writable, image: KeptImage, content_hash: bytes, now: int
    ) -> None:
        values = {
            "media_id": image.media_id,
            "content_hash": content_hash,
            "type": image.type,
            "bytes": image.bytes,
            "width": image.width,
            "height": image.height,
            "now": now,
        }
        await self._do(library, "put_file", **values)

    async def file(self, account_id: int, media_id: str) -> KeptImage | None:
        rows = await self._read("file", account_id=account_id, media_id=media_id)
        return KeptImage(*rows[0]) if rows else None

    async def posts_of(self, account_id: int, media_id: str, limit: int) -> list[str]:
        """The posts that have an image with this file."""
        values = {"account_id": account_id, "media_id": media_id, "limit": limit}
        return [row[0] for row in await self._read("posts_of_file", **values)]

    async def known(self, account_id: int, keys: Sequence[str]) -> dict[str, KnownImage]:
        """The images that are known among those with these keys of their URLs."""
        rows = await self._read("known", account_id=account_id, keys=keys)
        return {
            key: KnownImage(state, reason, _file(files[:5]), _file(files[5:]))
            for key, state, reason, *files in rows
        }

    async def unread(self, account_id: int, limit: int) -> list[UnreadImage]:
        """Kept images of posts in which nobody has looked for text."""
        rows = await self._read_slowly("unread_images", account_id=account_id, limit=limit)
        return [UnreadImage(*row) for row in rows]

    async def is_read(self, library: Writable, image: UnreadImage, text: str) -> None:
        await self._do(
            library, "image_is_read", post_id=image.post_id, url_key=image.url_key, text=text
        )

    async def existing(self, account_id: int, media_ids: Sequence[str]) -> set[str]:
        values = {"account_id": account_id, "media_ids": media_ids}
        return {row[0] for row in await self._read_slowly("existing", **values)}


def _file(columns: Sequence[Any]) -> KeptImage | None:
    return None if columns[0] is None else KeptImage(*columns)


def _source(link: ImageLink, name: str, now: int) -> Values:
    return {
        "url_key": name,
        "url": link.url,
        "small_url": link.small_url,
        "instance": link.instance,
        "state": LEFT_OUT if link.reason else WAITING,
        "reason": link.reason,
        "now": now,
    }
