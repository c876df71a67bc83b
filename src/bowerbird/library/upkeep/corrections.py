"""Writes what earlier releases stored as this one does: words, traits, times of posts.

Posts that an earlier release stored have words of an older form, which find them until their turn
comes. Their notes are among these words. Each turn is one transaction, so an interrupted run
continues where it stopped.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from bowerbird import errors
from bowerbird.clock import Clock, month_of
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing.bookmark_row import (
    Row,
    counted_words,
    stored_post,
    traits_of,
    words_of,
)
from bowerbird.library.upkeep.checks import Comparison
from bowerbird.library.vectors.builds import StaleVectors, text_hash, text_of_rendering
from bowerbird.model import events, languages
from bowerbird.model.accounts import Account
from bowerbird.model.events import Happening
from bowerbird.model.posts import traits
from bowerbird.model.posts.bookmarks import Post
from bowerbird.search.words.readings import READINGS
from bowerbird.search.words.tokens import index_form
from bowerbird.storage.bookmarks.word_index import WordSegments
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService
from bowerbird.storage.words.word_counts import BEFORE_ALL, ListedPost, UncountedPost

_ACCOUNTS_PER_PAGE: Final = 500
_DATED: Final = ("tweet_details.posted_at",)
# Between two turns, for other writers.
_PAUSE_S: Final = 0.02
EVERY_S: Final = 3_600.0


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


Progress = Callable[[int, int], Awaitable[None]]


class Reindexing(TimedService):
    def __init__(
        self,
        database: Database,
        clock: Clock,
        pause_s: float = _PAUSE_S,
        posts_per_turn: int = turns.POSTS_PER_TURN,
    ) -> None:
        super().__init__(database, clock)
        self._pause_s = pause_s
        self._posts_per_turn = posts_per_turn
        self._counts = self._stores.word_counts
        self._vectors = StaleVectors(database)

    async def due_accounts(self, after: int, *, job_kind: str) -> Sequence[int]:
        """The next accounts with something to do that have no job of this kind."""
        return await self._counts.due_accounts(after, _ACCOUNTS_PER_PAGE, job_kind=job_kind)

    async def accounts_without_readings(self, after: int) -> Sequence[int]:
        """The next accounts with Japanese posts that were written without the dictionary."""
        if not READINGS.are_indexed:
            return []
        while page := await self._counts.japanese_accounts(after, _ACCOUNTS_PER_PAGE):
            # One statement per account, because all of them together may exceed the time limit.
            due = [one for one in page if await self._counts.lacks_readings(one, index_form())]
            if due:
                return due
            after = page[-1]
        return []

    async def run(self, account_id: int, progress: Progress) -> None:
        last = BEFORE_ALL
        while True:
            await self._complete_counts(account_id)
            account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
            if account is None:
                raise errors.account_gone()
            posts, last = await self._next(account, last)
            if not posts:
                return
            await self.write(account, posts)
            await progress(await self._counts.total(account), account.total)
            await asyncio.sleep(self._pause_s)

    async def _complete_counts(self, account_id: int) -> None:
        """Adds the changes that imports have left, each in a transaction of its own."""

        async def work(library: LockedLibrary) -> bool:
            has_added = await self._counts.add_pending(library)
            if has_added and not await self._counts.is_pending(library.transaction, account_id):
                # Cached answers about misspelled words did not know the new words.
                await self._stores.libraries.touch(library)
            return has_added

        while await self._locked(account_id, work, is_service=True):  # noqa: ASYNC110 - leaves time for other writers
            await asyncio.sleep(self._pause_s)

    async def _next(
        self, account: Account, last: ListedPost
    ) -> tuple[list[UncountedPost], ListedPost]:
        """Posts of an old form, then Japanese ones after `last`, and the last of these."""
        limit, form = self._posts_per_turn, index_form()
        found = await self._counts.uncounted(account, limit)
        if not found and READINGS.are_indexed:
            japanese = await self._counts.without_readings(account, last, limit, form)
            found = [(number, size) for (_, number), size in japanese]
            if found:
                last = japanese[turns.fitting(size for _, size in found) - 1][0]
        if not found:
            return [], last
        numbers = [number for number, _ in found[: turns.fitting(size for _, size in found)]]
        return await self._counts.uncounted_posts(account, numbers, form), last

    async def write(self, account: Account, posts: Sequence[UncountedPost]) -> None:
        """Leaves out the posts that have changed since they were read."""
        rows = await asyncio.to_thread(_rows_of, posts)
        hashes = {post.number: post.content_hash for post in posts}

        async def work(library: LockedLibrary) -> None:
            stored = await self._counts.still_uncounted(library, list(hashes), index_form())
            current = [row for row in rows if stored.get(row["number"]) == hashes[row["number"]]]
            readable = [row for row in current if row["words"] is not None]
            # Their old words stay in the index, and they count as posts without words.
            lost = [{**row, "words": ""} for row in current if row["words"] is None]
            for write, some in (
                (self._stores.upserts.reword, readable),
                (self._stores.upserts.count_words, lost),
            ):
                counted = await counted_words(
                    self._database, library, [row["number"] for row in some]
                )
                await write(library, some, counted)
            await self._stores.upserts.set_traits(library, current)
            renderings = {post.number: post.rendering for post in posts}
            of_current = {row["number"]: renderings[row["number"]] for row in current}
            await self._mark_stale_vectors(library, of_current)
            happened = await self._date(library, account, [row["number"] for row in readable])
            await self._stores.libraries.touch(library, happened, self._clock())

        await self._locked(account.account_id, work, is_service=True)

    async def _date(
        self, library: LockedLibrary, account: Account, numbers: Sequence[int]
    ) -> Sequence[Happening]:
        """Posts that were stored without a time get one, and the article that they quote."""
        undated = await self._stores.checks.undated(library, numbers)
        if not undated:
            return ()
        stored = await self._stores.checks.by_numbers(library.transaction, account, undated)
        # Those that cannot be read as a whole stay as they are.
        comparisons = [one for one in map(Comparison, stored) if one.is_fixable and not one.is_lost]
        rows = [one.row(one.words() if one.lacks_article else None) for one in comparisons]
        reworded = [row["number"] for row in rows if row["words"] is not None]
        counted = await counted_words(self._database, library, reworded)
        await self._stores.upserts.update(library, rows, counted)
        renderings = {row["number"]: row["rendering"] for row in rows}
        await self._mark_stale_vectors(library, {one: renderings[one] for one in reworded})
        return events.of_contents(dict.fromkeys([row["post_id"] for row in rows], _DATED))

    async def _mark_stale_vectors(self, library: Writable, renderings: Mapping[int, bytes]) -> None:
        """An earlier release embedded less of a post, too."""
        await self._vectors.mark(
            library.transaction,
            library.account_id,
            list(renderings),
            lambda number: text_hash(text_of_rendering(renderings[number])),
        )


def _rows_of(posts: Sequence[UncountedPost]) -> list[Row]:
    return [_row_of(post, stored_post(post.rendering)) for post in posts]


def _row_of(post: UncountedPost, content: Post | None) -> Row:
    row = {"number": post.number, "word_form": index_form()}
    if content is not None:
        return {**row, "words": words_of(content), **traits_of(content)}
    # Those that cannot be read have neither words nor traits. `bowerbird check` reports them.
    prints = dict.fromkeys(("text_print", "link_print", "picture_print"))
    media = post.media | traits.LOOKED_AT
    return {**row, "words": None, "media": media, "language": languages.UNKNOWN, **prints}
