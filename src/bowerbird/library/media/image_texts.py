"""Reads the text in the kept images of an account, and stores it with their posts.

The text is part of a post, as what a source says about it is: found by words, exported, restored.
A killed worker reads at most one image again.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from bowerbird.clock import Clock
from bowerbird.images.text_reading import TextReader
from bowerbird.library.access.turns import lock_library
from bowerbird.library.imports.intake import Intake
from bowerbird.model.accounts import Account
from bowerbird.model.posts.bookmarks import IMAGE_TEXT_MAX, ImageText
from bowerbird.model.posts.media import UnreadImage, file_name
from bowerbird.sources.found import mark
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files import Files
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.media import MediaStore

Progress = Callable[[int, int], Awaitable[None]]

_PER_READ: Final = 50


class ImageTexts:
    def __init__(self, database: Database, files: Files, clock: Clock) -> None:
        self._database = database
        self._files = files
        self._store = MediaStore(database)
        self._libraries = LibraryStore(database)
        self._intake = Intake(database, clock)

    async def run(self, account: Account, progress: Progress) -> None:
        """`progress` may raise an exception to stop it."""
        done = 0
        async with TextReader() as reader:
            while unread := await self._store.unread(account.account_id, _PER_READ):
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
            await self._intake.take(account, [found], run_id=None)

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account.account_id)
            await self._store.is_read(transaction, account.account_id, image, text)

        await self._database.write(work, account.account_id)
