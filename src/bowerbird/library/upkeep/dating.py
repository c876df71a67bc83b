"""Gives a time to posts that an earlier release stored without one.

Each turn is one transaction, so an interrupted run continues where it stopped.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from bowerbird.clock import Clock, month_of
from bowerbird.library.access import plans
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.bookmarks.searching.counted_words import CountedWords
from bowerbird.library.upkeep.comparisons import Comparison
from bowerbird.library.vectors.embedding_text import text_hash, text_of_rendering
from bowerbird.library.vectors.stale_vectors import StaleVectors
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.checks import CheckStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore

_ACCOUNTS_PER_PAGE: Final = 500
_POSTS_PER_TURN: Final = 100
# Between two turns, for other writers.
_PAUSE_S: Final = 0.02


class Dating:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._accounts = AccountStore(database)
        self._libraries = LibraryStore(database)
        self._store = CheckStore(database)
        self._upserts = UpsertStore(database)
        self._counted = CountedWords(database)
        self._vectors = StaleVectors(database)

    async def due_accounts(self, after: int) -> Sequence[int]:
        """The next accounts with posts that have no time."""
        return await self._store.accounts_with_undated(after, _ACCOUNTS_PER_PAGE)

    async def run(self, account_id: int) -> None:
        account = await self._accounts.by_id(account_id, month_of(self._clock()))
        if account is None:
            raise plans.account_gone()

        async def work(transaction: Transaction, after: int) -> int | None:
            library = await lock_library(self._libraries, transaction, account_id)
            numbers = await self._store.undated(transaction, account_id, after, _POSTS_PER_TURN)
            stored = await self._store.by_numbers(transaction, account, numbers)
            # Those that cannot be read stay as they are; `bowerbird check` reports them.
            comparisons = [Comparison(one) for one in stored]
            rows = [_row(one) for one in comparisons if one.is_fixable and not one.is_lost]
            renderings = {row["number"]: row["rendering"] for row in rows}
            reworded = [row["number"] for row in rows if row["words"] is not None]
            counted = await self._counted.of(transaction, library, reworded)
            await self._upserts.update(transaction, library, rows, counted)
            await self._vectors.mark(
                transaction,
                account_id,
                reworded,
                lambda number: text_hash(text_of_rendering(renderings[number])),
            )
            if rows:
                await self._libraries.touch(transaction, account_id)
            return numbers[-1] if len(numbers) == _POSTS_PER_TURN else None

        after: int | None = 0
        while after is not None:
            after = await self._database.write(partial(work, after=after))
            await asyncio.sleep(_PAUSE_S)


def _row(comparison: Comparison) -> dict[str, Any]:
    """The row of a post with its time. Its words change only if it gets an article too."""
    if comparison.lacks_article:
        return comparison.row(comparison.words())
    return {**comparison.row(""), "words": None}
