"""Corrects what earlier versions stored: notes, dates, languages, traits, the word index.

Posts that an earlier release stored have words of an older form, which find them until their turn
comes. Each turn is one transaction, so an interrupted run continues where it stopped.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from bowerbird import errors
from bowerbird.clock import Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing.bookmark_row import (
    counted_words,
    language_of,
    media_of,
    stored_words,
)
from bowerbird.library.bookmarks.writing.post_documents import PostDocuments
from bowerbird.library.upkeep.checks import Comparison, WordCountChecks
from bowerbird.library.vectors.builds import StaleVectors, text_hash, text_of_rendering
from bowerbird.model import events, json_depth, languages
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import Counts
from bowerbird.model.posts import traits
from bowerbird.model.posts.bookmarks import Post
from bowerbird.search.words.readings import READINGS
from bowerbird.search.words.tokens import index_form
from bowerbird.storage.bookmarks.word_index import WordSegments
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import Service, TimedService
from bowerbird.storage.words.word_counts import (
    BEFORE_ALL,
    ListedPost,
    UncountedPost,
)

_ACCOUNTS_PER_PAGE: Final = 500
# A note may have 20,000 characters, so a transaction indexes only a few.
_NOTES_PER_TRANSACTION: Final = 20


class AnnotationUpkeep(Service):
    def __init__(self, database: Database, pause_s: float) -> None:
        super().__init__(database)
        self._documents = PostDocuments(database)
        self._pause_s = pause_s

    async def run(self) -> None:
        while accounts := await self._stores.annotations.accounts_to_index(_ACCOUNTS_PER_PAGE):
            for account_id in accounts:
                await self._index(account_id)

    async def _index(self, account_id: int) -> None:
        async def some(library: Writable) -> bool:
            numbers = await self._stores.annotations.first_to_index(library, _NOTES_PER_TRANSACTION)
            if not numbers:
                return False
            try:
                opened = await self._stores.libraries.lock(library.transaction, account_id)
            except Refusal as refused:
                # The account is being deleted.
                if refused.code is not Code.NOT_FOUND:
                    raise
            else:
                await self._documents.index(opened, numbers)
                await self._stores.libraries.advance(opened, Counts())
            await self._stores.annotations.delete_indexed(library, numbers[-1])
            return True

        has_more = True
        while has_more:
            has_more = await self._transact(account_id, some, is_service=True)
            await asyncio.sleep(self._pause_s)


_POSTS_PER_TURN: Final = 100
_DATED: Final = ("tweet_details.posted_at",)
_decode: Final = msgspec.json.Decoder(Post).decode
# Between two turns, for other writers.
_PAUSE_S: Final = 0.02


class Dating(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._vectors = StaleVectors(database)

    async def due_accounts(self, after: int) -> Sequence[int]:
        """The next accounts with posts that have no time."""
        return await self._stores.checks.accounts_with_undated(after, _ACCOUNTS_PER_PAGE)

    async def run(self, account_id: int) -> None:
        account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
        if account is None:
            raise errors.account_gone()

        async def work(transaction: Transaction, after: int) -> int | None:
            library = await self._stores.libraries.lock(transaction, account_id)
            numbers = await self._stores.checks.undated(library, after, _POSTS_PER_TURN)
            stored = await self._stores.checks.by_numbers(transaction, account, numbers)
            # Those that cannot be read stay as they are; `bowerbird check` reports them.
            comparisons = [Comparison(one) for one in stored]
            rows = [_row(one) for one in comparisons if one.is_fixable and not one.is_lost]
            renderings = {row["number"]: row["rendering"] for row in rows}
            reworded = [row["number"] for row in rows if row["words"] is not None]
            counted = await counted_words(self._database, library, reworded)
            await self._stores.upserts.update(library, rows, counted)
            await self._vectors.mark(
                transaction,
                account_id,
                reworded,
                lambda number: text_hash(text_of_rendering(renderings[number])),
            )
            if rows:
                fields = dict.fromkeys([row["post_id"] for row in rows], _DATED)
                happened = events.of_contents(fields)
                await self._stores.libraries.touch(library, happened, self._clock())
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


class PostTraits(Service):
    """Finds the traits and the language of posts that an earlier release stored."""

    async def due_accounts(self, after: int) -> Sequence[int]:
        """The next accounts with posts that nothing has looked at."""
        return await self._stores.checks.accounts_without_traits(after, _ACCOUNTS_PER_PAGE)

    async def run(self, account_id: int) -> None:
        async def work(library: LockedLibrary) -> bool:
            found = await self._stores.checks.without_traits(library, _POSTS_PER_TURN)
            if not found:
                return False
            renderings = await self._stores.upserts.renderings(library, list(found))
            rows = [
                {"number": number, **_traits(bits, renderings.get(number, b""))}
                for number, bits in found.items()
            ]
            await self._stores.upserts.set_traits(library, rows)
            await self._stores.libraries.touch(library)
            return True

        while await self._locked(account_id, work, is_service=True):  # noqa: ASYNC110 - leaves time for other writers
            await asyncio.sleep(_PAUSE_S)


def _traits(bits: int, rendering: bytes) -> dict[str, int | str | None]:
    try:
        post = _decode(json_depth.cut(rendering + b"}"))
    except msgspec.MsgspecError:
        # Those that cannot be read have none, and an unknown language.
        prints = dict.fromkeys(("text_print", "link_print", "picture_print"))
        return {"media": bits | traits.LOOKED_AT, "language": languages.UNKNOWN, **prints}
    return {
        "media": media_of(post),
        "language": language_of(post),
        "text_print": traits.text_print(post),
        "link_print": traits.link_print(post),
        "picture_print": traits.picture_print(post),
    }


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


# With pauses that double, these take over a minute.
_RECOUNTS: Final = 12


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
        has_old_posts, last = False, BEFORE_ALL
        while True:
            await self._complete_counts(account_id)
            account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
            if account is None:
                raise errors.account_gone()
            posts, last = await self._next(account, last)
            if not posts:
                break
            has_old_posts = True
            await self.write(account_id, posts)
            await progress(await self._counts.total(account), account.total)
            await asyncio.sleep(self._pause_s)
        # While nodes are replaced, one of release 0.5.0 or before does not know that a post with
        # words of this form is counted, and counts it again when it changes.
        if has_old_posts:
            await self._count_again(account)

    async def _count_again(self, account: Account | None) -> None:
        """Until the counts fit. A library that changes meanwhile is left in peace for longer."""
        checks = WordCountChecks(self._database, fixes=True)
        for attempt in range(_RECOUNTS):
            if account is None or await self._counts.total(account) == account.total:
                break
            await checks.account(account)
            await asyncio.sleep(self._pause_s * 2**attempt)
            account = await self._stores.accounts.by_id(account.account_id, month_of(self._clock()))

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

    async def write(self, account_id: int, posts: Sequence[UncountedPost]) -> None:
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
            await self._mark_stale_vectors(library, posts, current)
            await self._stores.libraries.touch(library)

        await self._locked(account_id, work, is_service=True)

    async def _mark_stale_vectors(
        self, library: Writable, posts: Sequence[UncountedPost], current: Sequence[dict[str, Any]]
    ) -> None:
        """An earlier release embedded less of a post, too."""
        renderings = {post.number: post.rendering for post in posts}
        await self._vectors.mark(
            library.transaction,
            library.account_id,
            [row["number"] for row in current],
            lambda number: text_hash(text_of_rendering(renderings[number])),
        )


def _rows_of(posts: Sequence[UncountedPost]) -> list[dict[str, Any]]:
    return [
        {"number": post.number, "words": stored_words(post.rendering), "word_form": index_form()}
        for post in posts
    ]
