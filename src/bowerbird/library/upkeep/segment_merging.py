"""Merges the segments of SQLite's word index in the background.

An import leaves a dozen of them, and FTS5 itself merges only four of the same level. Each makes
every search slower, most of all one with many words.
"""

import asyncio
from typing import Final

from bowerbird.storage.bookmarks.word_index import WordSegments
from bowerbird.storage.database import Database

EVERY_S: Final = 3_600.0
# After each transaction, so that other writers do not wait.
_PAUSE_S: Final = 0.02


class SegmentMerging:
    def __init__(self, database: Database, pause_s: float = _PAUSE_S) -> None:
        self._segments = WordSegments(database)
        self._pause_s = pause_s

    async def run(self) -> None:
        """A run that is interrupted continues the next time."""
        if not self._segments.exist:
            return
        while await self._segments.merge():  # noqa: ASYNC110 - a pause, nothing is awaited
            await asyncio.sleep(self._pause_s)
