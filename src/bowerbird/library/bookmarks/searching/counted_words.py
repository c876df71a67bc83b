"""The words that stored posts are counted with: those that their stored JSON gives."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from bowerbird.library.bookmarks.writing.bookmark_row import words_of
from bowerbird.model import json_depth
from bowerbird.model.posts.bookmarks import Post
from bowerbird.search.words.tokens import COUNTED_FORM
from bowerbird.storage.database import Database
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.words.word_counts import WordCounts, occurrences

# More takes too long on the event loop.
_FEW_BYTES: Final = 8_192

_decode = msgspec.json.Decoder(Post).decode


class CountedWords:
    def __init__(self, database: Database) -> None:
        self._counts = WordCounts(database)

    async def of(self, library: LockedLibrary, numbers: Sequence[int]) -> Counter[str]:
        """The occurrences of words in those bookmarks that are counted.

        Call it before they change: the words of the index cannot be read.
        """
        if not numbers:
            return Counter()
        renderings = await self._counts.counted_renderings(library, numbers, COUNTED_FORM)
        if sum(map(len, renderings)) <= _FEW_BYTES or not _is_on_event_loop():
            return stored_occurrences(renderings)
        return await asyncio.to_thread(stored_occurrences, renderings)


def _is_on_event_loop() -> bool:
    """Transactions of SQLite run on a thread of their own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def stored_occurrences(renderings: Sequence[bytes]) -> Counter[str]:
    return occurrences(stored_words(rendering) or "" for rendering in renderings)


def stored_words(rendering: bytes) -> str | None:
    """The tokens of a stored post; None if it cannot be decoded."""
    post = stored_post(rendering)
    return None if post is None else words_of(post)


def stored_post(rendering: bytes) -> Post | None:
    """A post from its stored JSON; None if it cannot be decoded."""
    try:
        return _decode(json_depth.cut(rendering + b"}"))
    except msgspec.MsgspecError:
        return None
