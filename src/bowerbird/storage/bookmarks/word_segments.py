"""The segments of SQLite's word index. A search looks for each of its words in all of them."""

from typing import Final

from bowerbird.storage.database import Database, Transaction

_MERGED_FROM: Final = 2


class WordSegments:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("word_segments")

    @property
    def exist(self) -> bool:
        """Whether the index of this database has segments."""
        return bool(self._sql)

    async def merge(self) -> bool:
        """Merges some pages of small segments; False if there is nothing to merge."""

        async def work(transaction: Transaction) -> bool:
            rows = await transaction.rows(self._sql["merged_from"], {})
            if not rows or rows[0][0] != _MERGED_FROM:
                await transaction.run(self._sql["set_merged_from"], {})
            before = await transaction.rows(self._sql["changes"], {})
            await transaction.run(self._sql["merge"], {})
            after = await transaction.rows(self._sql["changes"], {})
            # The command itself is one change.
            return bool(after[0][0] - before[0][0] > 1)

        return await self._database.write(work)
