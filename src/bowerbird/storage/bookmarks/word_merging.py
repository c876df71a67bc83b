"""Keeps short what the full-text index does besides a change of posts.

SQLite merges parts of its index within a transaction that changes posts, and that can take longer
than the change itself. A change of several posts in turns merges a little in each of them, and an
import merges in transactions of its own.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from bowerbird.errors import Refusal
from bowerbird.storage.database import Database, Transaction

# A page takes 0.1 to 0.2 ms. FTS5 itself merges as many pages as were written, times the levels of
# its index, in steps of hundreds.
AFTER_DELETING: Final = 16
AFTER_ADDING: Final = 48
# For the posts of an import. FTS5 would merge about 60 pages for each of its transactions.
_APART: Final = 96


class WordMerging:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("word_merging")

    @asynccontextmanager
    async def bounded(self, transaction: Transaction, pages: int) -> AsyncIterator[None]:
        """After the changes inside it, the index is merged, but only this many pages of it."""
        if not self._sql["pause_index_merge"]:
            yield
            return
        await transaction.run(self._sql["pause_index_merge"], {})
        yield
        await transaction.run(self._sql["merge_index"], {"pages": pages})
        # An error leaves out this, and undoes the pause together with the rest of the transaction.
        await transaction.run(self._sql["resume_index_merge"], {})

    @asynccontextmanager
    async def paused(self, transaction: Transaction) -> AsyncIterator[None]:
        """The changes inside it merge nothing. Call `merge_apart` after the transaction."""
        if not self._sql["pause_index_merge"]:
            yield
            return
        await transaction.run(self._sql["pause_index_merge"], {})
        yield
        await transaction.run(self._sql["resume_index_merge"], {})

    async def merge_apart(self, account_id: int) -> None:
        """Merges what a transaction of an import has left, in a transaction of its own."""
        if not self._sql["pause_index_merge"]:
            return
        # The posts are written. If the index cannot be merged now, later writes do it.
        with suppress(Refusal):
            await self._database.write(self.merge, account_id)

    async def merge(self, transaction: Transaction) -> None:
        await transaction.run(self._sql["merge_index"], {"pages": _APART})
