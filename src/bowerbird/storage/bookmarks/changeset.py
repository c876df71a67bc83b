"""Reads and writes the bookmarks that a changeset edits, inside the caller's transaction."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.storage.bookmarks.word_index import AFTER_DELETING, WordMerging
from bowerbird.storage.database import Database, Reader, Row, Store, Transaction
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.words.word_counts import WordCounts

# The vector store's count is lowered while the vectors still exist to be counted.
_REMOVED: Final = (
    "remove_bookmarks",
    "remove_content",
    "remove_words",
    "uncount_vectors",
    "remove_vectors",
)
_names = msgspec.json.Decoder(list[str]).decode


class EditablePost(Struct):
    """The part of a bookmark that a changeset can edit."""

    post_id: str
    number: int
    is_read: bool
    is_archived: bool
    # Label names as they are displayed.
    tags: list[str]


class ChangesetStore(Store):
    resource = "changeset"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._counts = WordCounts(database)
        self._merging = WordMerging(database)

    async def remove(
        self,
        transaction: Transaction,
        library: LockedLibrary,
        numbers: Sequence[int],
        counted: Mapping[str, int],
    ) -> None:
        """Deletes bookmarks. `LabelStore.detach_all` detaches their labels.

        `counted`: the occurrences of words in those of them that are counted.
        """
        if not numbers:
            return
        values = {"account_id": library.account_id, "place": library.place, "numbers": numbers}
        async with self._merging.bounded(transaction, AFTER_DELETING):
            for name in _REMOVED:
                await transaction.run(self._sql[name], values)
        await self._counts.change(transaction, library, counted, {})

    async def posts(
        self, transaction: Transaction, library: LockedLibrary, post_ids: Sequence[str]
    ) -> dict[str, EditablePost]:
        values = {"account_id": library.account_id, "place": library.place, "post_ids": post_ids}
        return _posts_by_id(await transaction.rows(self._sql["posts"], values))

    async def posts_with_sizes(
        self, transaction: Transaction, library: LockedLibrary, post_ids: Sequence[str]
    ) -> tuple[dict[str, EditablePost], dict[str, int]]:
        """The bookmarks that exist, and the bytes that are stored per bookmark."""
        values = {"account_id": library.account_id, "place": library.place, "post_ids": post_ids}
        rows = await transaction.rows(self._sql["posts_with_sizes"], values)
        sizes = {row[0]: row[5] for row in rows}
        return _posts_by_id([row[:5] for row in rows]), sizes

    async def sizes(
        self, reader: Reader, account_id: int, place: int, post_ids: Sequence[str]
    ) -> dict[str, int]:
        """The stored bytes of the bookmarks that exist."""
        values = {"account_id": account_id, "place": place, "post_ids": post_ids}
        rows = await reader.rows(self._sql["posts_with_sizes"], values)
        return {row[0]: row[5] for row in rows}

    async def posts_of_label(
        self,
        transaction: Transaction,
        library: LockedLibrary,
        label_id: int,
        numbers: tuple[int, int],
    ) -> dict[str, EditablePost]:
        """The label's bookmarks after the first number, up to the second."""
        after, last = numbers
        values = {"account_id": library.account_id, "place": library.place, "label_id": label_id}
        values |= {"after": after, "last": last}
        return _posts_by_id(await transaction.rows(self._sql["posts_of_label"], values))

    async def sizes_of_label(
        self,
        transaction: Transaction,
        library: LockedLibrary,
        label_id: int,
        *,
        after: int,
        limit: int,
    ) -> Sequence[tuple[int, int]]:
        """(number, stored bytes) of the label's bookmarks after a number."""
        values = {"account_id": library.account_id, "place": library.place, "label_id": label_id}
        values |= {"after": after, "limit": limit}
        rows = await transaction.rows(self._sql["sizes_of_label"], values)
        return [(number, size) for number, size in rows]

    async def set_tags(
        self, transaction: Transaction, library: LockedLibrary, tags: Mapping[int, bytes | None]
    ) -> None:
        """Stores each bookmark number's tags, already encoded."""
        rows = [
            {"account_id": library.account_id, "place": library.place, "number": n, "tags": t}
            for n, t in tags.items()
        ]
        await transaction.run_many(self._sql["set_tags"], rows)

    async def set_flags(
        self, transaction: Transaction, library: LockedLibrary, posts: Sequence[EditablePost]
    ) -> None:
        rows = [
            {
                "account_id": library.account_id,
                "number": post.number,
                "is_read": post.is_read,
                "is_archived": post.is_archived,
            }
            for post in posts
        ]
        await transaction.run_many(self._sql["set_flags"], rows)


def _posts_by_id(rows: Sequence[Row]) -> dict[str, EditablePost]:
    # Each name is in memory once, however many posts have the label.
    known: dict[str, str] = {}
    return {
        post_id: EditablePost(
            post_id,
            number,
            bool(is_read),
            bool(is_archived),
            [known.setdefault(name, name) for name in _names(tags)] if tags else [],
        )
        for post_id, number, is_read, is_archived, tags in rows
    }
