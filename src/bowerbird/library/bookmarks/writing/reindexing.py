"""Writes the words of posts in the current form of the index, and completes their counts.

Posts that an earlier release stored have words of an older form, which find them until their turn
comes. Each turn is one transaction, so an interrupted run continues where it stopped.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from bowerbird.clock import Clock, month_of
from bowerbird.library.access import plans, turns
from bowerbird.library.access.turns import lock_library
from bowerbird.library.bookmarks.searching.counted_words import stored_words
from bowerbird.library.vectors.sweeps import StaleVectors, text_hash, text_of_rendering
from bowerbird.model.accounts import Account
from bowerbird.search.words.tokens import INDEX_FORM
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.word_counts import UncountedPost, WordCounts

Progress = Callable[[int, int], Awaitable[None]]

_ACCOUNTS_PER_PAGE: Final = 500
# Between two turns, for other writers.
_PAUSE_S: Final = 0.02


class Reindexing:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        pause_s: float = _PAUSE_S,
        posts_per_turn: int = turns.POSTS_PER_TURN,
    ) -> None:
        self._database = database
        self._clock = clock
        self._pause_s = pause_s
        self._posts_per_turn = posts_per_turn
        self._accounts = AccountStore(database)
        self._libraries = LibraryStore(database)
        self._counts = WordCounts(database)
        self._upserts = UpsertStore(database)
        self._vectors = StaleVectors(database)

    async def due_accounts(self, after: int, *, job_kind: str) -> Sequence[int]:
        """The next accounts with something to do that have no job of this kind."""
        return await self._counts.due_accounts(after, _ACCOUNTS_PER_PAGE, job_kind=job_kind)

    async def run(self, account_id: int, progress: Progress) -> None:
        while True:
            await self._complete_counts(account_id)
            account = await self._accounts.by_id(account_id, month_of(self._clock()))
            if account is None:
                raise plans.account_gone()
            posts = await self._next(account)
            if not posts:
                break
            await self.write(account_id, posts)
            await progress(await self._counts.total(account), account.total)
            await asyncio.sleep(self._pause_s)

    async def _complete_counts(self, account_id: int) -> None:
        """Adds the changes that imports have left, each in a transaction of its own."""

        async def work(transaction: Transaction) -> bool:
            library = await lock_library(self._libraries, transaction, account_id)
            has_added = await self._counts.add_pending(transaction, library)
            if has_added and not await self._counts.is_pending(transaction, account_id):
                # Cached answers about misspelled words did not know the new words.
                await self._libraries.touch(transaction, account_id)
            return has_added

        while await self._database.write(work):  # noqa: ASYNC110 - leaves time for other writers
            await asyncio.sleep(self._pause_s)

    async def _next(self, account: Account) -> list[UncountedPost]:
        """The posts of the next turn."""
        found = await self._counts.uncounted(account, self._posts_per_turn)
        if not found:
            return []
        fitting = turns.fitting(size for _, size in found)
        return await self._counts.uncounted_posts(account, [one for one, _ in found[:fitting]])

    async def write(self, account_id: int, posts: Sequence[UncountedPost]) -> None:
        """Leaves out the posts that have changed since they were read."""
        rows = await asyncio.to_thread(_rows_of, posts)
        hashes = {post.number: post.content_hash for post in posts}

        async def work(transaction: Transaction) -> None:
            library = await lock_library(self._libraries, transaction, account_id)
            stored = await self._counts.still_uncounted(transaction, library, list(hashes))
            current = [row for row in rows if stored.get(row["number"]) == hashes[row["number"]]]
            readable = [row for row in current if row["words"] is not None]
            await self._upserts.reword(transaction, library, readable, {})
            # Their old words stay in the index, and they count as posts without words.
            lost = [{**row, "words": ""} for row in current if row["words"] is None]
            await self._upserts.count_words(transaction, library, lost, {})
            await self._mark_stale_vectors(transaction, account_id, posts, current)
            await self._libraries.touch(transaction, account_id)

        await self._database.write(work)

    async def _mark_stale_vectors(
        self,
        transaction: Transaction,
        account_id: int,
        posts: Sequence[UncountedPost],
        current: Sequence[dict[str, Any]],
    ) -> None:
        """An earlier release embedded less of a post, too."""
        renderings = {post.number: post.rendering for post in posts}
        await self._vectors.mark(
            transaction,
            account_id,
            [row["number"] for row in current],
            lambda number: text_hash(text_of_rendering(renderings[number])),
        )


def _rows_of(posts: Sequence[UncountedPost]) -> list[dict[str, Any]]:
    return [
        {
            "number": post.number,
            "words": stored_words(post.rendering),
            "word_form": INDEX_FORM,
        }
        for post in posts
    ]
