"""Reads the word index: which posts match a query, and how often. Keeps it short of segments.

SQLite merges parts of its index within a transaction that changes posts, and that can take longer
than the change itself. A change of many posts merges a little in each of its transactions.
"""

from bisect import bisect
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import accumulate, pairwise
from typing import Final

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.words import WordQuery
from bowerbird.storage.database import Row, Store, Transaction, place_values
from bowerbird.storage.sqlite.word_reads import LENGTH_BYTES

# A tsvector stores at most this many positions per word.
_MAX_OCCURRENCES: Final = 255
_LIMIT: Final = 1.64493406685
# What ts_rank returns for a word that occurs once, twice, …, and the values between them.
_RANKS: Final = [*accumulate(1 / (n * n) / _LIMIT for n in range(1, _MAX_OCCURRENCES + 1))]
_BETWEEN: Final = [_RANKS[0] / 2, *((low + high) / 2 for low, high in pairwise(_RANKS))]


class Occurrences(Struct, frozen=True):
    """How often some posts have some words.

    Posts one by one: one byte per word, and the number of all words in `LENGTH_BYTES`.
    """

    numbers: Sequence[int]
    cells: bytes


class WordIndex(Store):
    resource = "word_index"

    async def holders(self, account: Account, queries: Sequence[WordQuery]) -> list[str]:
        """The numbers of the posts that match each query, separated by commas, in any order."""
        if not queries:
            return []
        texts = [self._database.match(query).wanted or "" for query in queries]
        unlike = list(dict.fromkeys(texts))
        values = {"queries": unlike, **place_values(account)}
        rows = await self._database.lists(account).slow_rows(self._sql["holders"], values)
        found = {unlike[position]: numbers or "" for position, numbers in rows}
        return [found.get(text, "") for text in texts]

    async def matches(self, account: Account, query: WordQuery) -> str | None:
        """The numbers of the posts that match the wanted parts; None if the index cannot tell."""
        match = self._database.match(query)
        if match.wanted is None or any(WordQuery((part,)).wanted_terms for part in match.rest):
            return None
        return (await self.holders(account, [query]))[0]

    async def occurrences(
        self, account: Account, words: Sequence[str], numbers: Sequence[int]
    ) -> Occurrences:
        """How often these posts have each word. Posts without any of the words are left out."""
        if not words or not numbers:
            return Occurrences((), b"")
        values = {
            "account_id": account.account_id,
            "any_word": self._database.counting(words),
            "words": [self._database.counting([word]) for word in words],
            "counted": len(words),
            "numbers": numbers,
            "first": min(numbers),
            "last": max(numbers),
            **place_values(account),
        }
        rows = await self._database.lists(account).slow_rows(self._sql["occurrences"], values)
        # SQLite returns the cells.
        cells = [row[1] if isinstance(row[1], bytes) else _from_ranks(row) for row in rows]
        return Occurrences([row[0] for row in rows], b"".join(cells))


def _from_ranks(row: Row) -> bytes:
    _, ranks, whole, divided = row
    counts = bytes([bisect(_BETWEEN, rank) for rank in ranks])
    length: int = round(whole / divided)
    return counts + length.to_bytes(LENGTH_BYTES, "little")


_MERGED_FROM: Final = 2


class WordSegments(Store):
    resource = "word_segments"

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


# A page takes 0.1 to 0.2 ms. FTS5 itself merges as many pages as were written, times the levels of
# its index, in steps of hundreds.
AFTER_DELETING: Final = 16
AFTER_ADDING: Final = 48
# After the posts of an import. FTS5 would merge about 60 pages for each of its transactions.
AFTER_IMPORTING: Final = 96


class WordMerging(Store):
    resource = "word_merging"

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
