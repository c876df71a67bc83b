"""Keeps short what the full-text index does besides a change of posts.

SQLite merges parts of its index within a transaction that changes posts, and that can take longer
than the change itself. A change of many posts merges a little in each of its transactions.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from bowerbird.storage.database import Database, Transaction

# A page takes 0.1 to 0.2 ms. FTS5 itself merges as many pages as were written, times the levels of
# its index, in steps of hundreds.
AFTER_DELETING: Final = 16
AFTER_ADDING: Final = 48
# After the posts of an import. FTS5 would merge about 60 pages for each of its transactions.
AFTER_IMPORTING: Final = 96


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
