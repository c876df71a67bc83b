"""Copies the kept images of the posts of a PDF export to its folder."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from bowerbird.exports import posts_file
from bowerbird.exports.posts_file import Picture, Pictures
from bowerbird.images import drawings, hosts
from bowerbird.library.media.kept import KeptImages
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.media import KeptImage, image_urls
from bowerbird.requests import limits
from bowerbird.storage.database import Database
from bowerbird.storage.files.files import Files
from bowerbird.storage.media import MediaStore

_DEMO: Final = hosts.DEMO_HOST.encode()
# The typesetter reads no others.
_READABLE: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


class ExportPictures:
    """The pictures of one export. Those beyond the limit are described, as without them."""

    def __init__(self, database: Database, files: Files, folder: Path) -> None:
        self._database = database
        self._store = MediaStore(database)
        self._kept = KeptImages(database, files)
        self._folder = folder
        self._pictures: Pictures = {}
        self._copied: set[str] = set()
        self._room = limits.EXPORT_PICTURES_BYTES_MAX
        self._has_any: bool | None = None

    async def add(self, account: Account, page: bytes) -> None:
        """Copies the images of a page of posts, which are JSON separated by commas."""
        if self._has_any is None:
            state = await self._store.account(self._database, account.account_id)
            self._has_any = state is not None and state.files > 0
        has_drawings = _DEMO in page
        if not self._has_any and not has_drawings:
            return
        urls = await asyncio.to_thread(_urls, page)
        if has_drawings:
            await asyncio.to_thread(self._draw, urls)
        for url, image in (await self._kept.among(account, urls)).items():
            if image.type in _READABLE and await self._copy(account, image):
                self._pictures[url] = Picture(image.media_id, image.width, image.height)

    def _draw(self, urls: Sequence[str]) -> None:
        """The pictures of the demo, which are part of the package."""
        for url in urls:
            if drawing := drawings.by_url().get(url):
                self._folder.mkdir(exist_ok=True)
                (self._folder / drawing.file).write_bytes(drawing.content)
                self._pictures[url] = Picture(drawing.file, drawing.width, drawing.height)

    async def finish(self) -> Path | None:
        """The folder with the pictures; None if there are none."""
        if not self._pictures:
            return None
        await asyncio.to_thread(posts_file.write, self._folder, self._pictures)
        return self._folder

    async def _copy(self, account: Account, image: KeptImage) -> bool:
        if image.media_id in self._copied:
            return True
        if image.bytes > self._room:
            return False
        opened = await self._kept.find_file(account, image)
        if opened is None:
            return False
        content = b"".join([part async for part in opened.chunks])
        self._folder.mkdir(exist_ok=True)
        await asyncio.to_thread((self._folder / image.media_id).write_bytes, content)
        self._room -= image.bytes
        self._copied.add(image.media_id)
        return True


def _urls(page: bytes) -> list[str]:
    posts: list[dict[str, Any]] = msgspec.json.decode(json_depth.cut(b"[%b]" % page))
    details = [post.get("tweet_details") for post in posts]
    return [url for each in details if isinstance(each, dict) for url in image_urls(each)]
