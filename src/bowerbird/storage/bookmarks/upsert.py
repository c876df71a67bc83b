"""Reads and writes the bookmarks of an import."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from bowerbird.model.accounts import Account
from bowerbird.model.arrival import ExistingBookmark
from bowerbird.model.instants import UNKNOWN
from bowerbird.model.labels import name_key
from bowerbird.storage.database import Database, Readable, Row, Store, place_of
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.words.word_counts import Abbreviations, WordCounts, occurrences

T = TypeVar("T")

# Their words are found in a millisecond or two.
_FEW_CHARACTERS: Final = 8_000
_names = msgspec.json.Decoder(list[str]).decode


class StoredPost(NamedTuple):
    existing: ExistingBookmark
    rendering: bytes


class UpsertStore(Store):
    resource = "upsert"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._counts = WordCounts(database)
        self._abbreviations = Abbreviations(database)

    async def stored(
        self, account: Account, post_ids: Sequence[str]
    ) -> dict[str, ExistingBookmark]:
        """The library's bookmarks of these posts, read without a lock."""
        place = place_of(account.local_number)
        return await self.existing(Readable(self._database, account.account_id), place, post_ids)

    async def existing(
        self, library: Readable, place: int, post_ids: Sequence[str]
    ) -> dict[str, ExistingBookmark]:
        """The library's bookmarks of these posts, without their content: faster."""
        return _existing(await self._of(library, "known", place=place, post_ids=post_ids))

    async def posts(
        self, library: Readable, place: int, post_ids: Sequence[str]
    ) -> dict[str, StoredPost]:
        """The library's bookmarks of these posts, with their content."""
        rows = await self._of(library, "known_posts", place=place, post_ids=post_ids)
        existing = _existing([row[:-1] for row in rows])
        return {row[0]: StoredPost(existing[row[0]], row[-1]) for row in rows}

    async def with_changed_content(
        self, library: Readable, place: int, hashes: Mapping[str, bytes]
    ) -> dict[str, StoredPost]:
        """The library's bookmarks of these posts, with content only where the hash differs."""
        found = await self.existing(library, place, list(hashes))
        posts = {post_id: StoredPost(one, b"") for post_id, one in found.items()}
        changed = [one for one in found if found[one].content_hash != hashes[one]]
        if changed:
            posts |= await self.posts(library, place, changed)
        return posts

    async def renderings(self, opened: LockedLibrary, numbers: Sequence[int]) -> dict[int, bytes]:
        rows = await self._of(opened, "renderings", numbers=numbers)
        return dict(tuple(row) for row in rows)

    async def threads(self, library: Readable, post_ids: Sequence[str]) -> set[tuple[str, str]]:
        """The posts among these that their author continued, with the author's key."""
        rows = await self._of(library, "threads", post_ids=post_ids)
        return {(thread, author_key) for thread, author_key in rows}

    async def insert(self, opened: LockedLibrary, bookmarks: Sequence[dict[str, Any]]) -> None:
        """A row also has the values of its library."""
        for name in ("insert_bookmark", "put_content"):
            await opened.transaction.run_many(self._sql[name], bookmarks)
        await self._put_words(opened, bookmarks)
        await self._counts.add(opened, await self._occurrences(bookmarks))

    async def update(
        self, opened: LockedLibrary, bookmarks: Sequence[dict[str, Any]], counted: Mapping[str, int]
    ) -> None:
        """A row without words keeps those that are stored.

        `counted`: the occurrences of words in the other rows before, as far as they are counted.
        """
        await self._do_many(opened, "update_bookmark", bookmarks)
        await self._do_many(opened, "put_content", bookmarks)
        reworded = [row for row in bookmarks if row["words"] is not None]
        await self.reword(opened, reworded, counted)

    async def rewrite(
        self, opened: LockedLibrary, bookmark: dict[str, Any], counted: Mapping[str, int]
    ) -> None:
        """Writes another content of a stored bookmark. Without words it keeps those it has."""
        await self._do(opened, "set_rendering", **bookmark)
        if bookmark["words"] is not None:
            await self.reword(opened, [bookmark], counted)
        await self._do(opened, "set_content_hash", **bookmark, unknown=UNKNOWN)

    async def set_traits(self, opened: LockedLibrary, rows: Sequence[dict[str, Any]]) -> None:
        """Of stored bookmarks: a row has the number, the media, the language and the prints."""
        await self._do_many(opened, "set_traits", rows)

    async def reword(
        self, opened: LockedLibrary, bookmarks: Sequence[dict[str, Any]], counted: Mapping[str, int]
    ) -> None:
        """Indexes other words of stored bookmarks. A row has the words and their form."""
        if not bookmarks:
            return
        await self._do_many(opened, "drop_words", bookmarks)
        await self._put_words(opened, bookmarks)
        await self.count_words(opened, bookmarks, counted)

    async def count_words(
        self, opened: LockedLibrary, bookmarks: Sequence[dict[str, Any]], counted: Mapping[str, int]
    ) -> None:
        """Counts the words of stored bookmarks, and marks them as counted."""
        if not bookmarks:
            return
        numbers, form = [row["number"] for row in bookmarks], bookmarks[0]["word_form"]
        await self._do(opened, "set_word_form", numbers=numbers, word_form=form)
        after = await self._occurrences(bookmarks)
        await self._counts.change(opened, counted, after)

    async def _put_words(self, opened: LockedLibrary, rows: Sequence[dict[str, Any]]) -> None:
        if not rows:
            return
        stored = self._database.stored_words

        def words() -> str:
            by_number = {row["number"]: stored(row["words"]) for row in rows}
            return msgspec.json.encode(by_number).decode()

        await self._do(opened, "put_words", words=await self._computed(rows, words))
        await self._abbreviations.learn(opened, [row["words"] for row in rows])

    async def _occurrences(self, rows: Sequence[dict[str, Any]]) -> Counter[str]:
        return await self._computed(rows, lambda: occurrences(row["words"] for row in rows))

    async def _computed(self, rows: Sequence[dict[str, Any]], work: Callable[[], T]) -> T:
        """The result of work that takes 4 ms for the words of a text of 9 kB."""
        if sum(len(row["words"]) for row in rows) <= _FEW_CHARACTERS:
            return work()
        return await self._database.computed(work)


def _existing(rows: Sequence[Row]) -> dict[str, ExistingBookmark]:
    existing = {}
    for post_id, *first, is_read, is_archived, completeness, order_source, tags in rows:
        state = bool(is_read), bool(is_archived), _tag_keys(tags), completeness, order_source
        existing[post_id] = ExistingBookmark(*(*first, *state))
    return existing


def _tag_keys(tags: bytes | None) -> frozenset[str]:
    return frozenset() if tags is None else frozenset(map(name_key, _names(tags)))
