"""Reads and writes the bookmarks that a changeset edits, inside the caller's transaction.

Also which notes are not indexed yet, and which posts are not shown again as the one of a day.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.storage.bookmarks.word_index import AFTER_DELETING, WordMerging
from bowerbird.storage.database import (
    Database,
    Readable,
    Row,
    Store,
    Writable,
    place_values,
)
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
        self, library: LockedLibrary, numbers: Sequence[int], counted: Mapping[str, int]
    ) -> None:
        """Deletes bookmarks. `LabelStore.detach_all` detaches their labels.

        `counted`: the occurrences of words in those of them that are counted.
        """
        if not numbers:
            return
        async with self._merging.bounded(library.transaction, AFTER_DELETING):
            for name in _REMOVED:
                await self._do(library, name, numbers=numbers)
        await self._counts.change(library, counted, {})

    async def posts(
        self, library: LockedLibrary, post_ids: Sequence[str]
    ) -> dict[str, EditablePost]:
        return _posts_by_id(await self._of(library, "posts", post_ids=post_ids))

    async def posts_with_sizes(
        self, library: LockedLibrary, post_ids: Sequence[str]
    ) -> tuple[dict[str, EditablePost], dict[str, int]]:
        """The bookmarks that exist, and the bytes that are stored per bookmark."""
        rows = await self._of(library, "posts_with_sizes", post_ids=post_ids)
        sizes = {row[0]: row[5] for row in rows}
        return _posts_by_id([row[:5] for row in rows]), sizes

    async def sizes(self, library: Readable, place: int, post_ids: Sequence[str]) -> dict[str, int]:
        """The stored bytes of the bookmarks that exist."""
        rows = await self._of(library, "posts_with_sizes", place=place, post_ids=post_ids)
        return {row[0]: row[5] for row in rows}

    async def posts_of_label(
        self, library: LockedLibrary, label_id: int, numbers: tuple[int, int]
    ) -> dict[str, EditablePost]:
        """The label's bookmarks after the first number, up to the second."""
        values = {"label_id": label_id, "after": numbers[0], "last": numbers[1]}
        return _posts_by_id(await self._of(library, "posts_of_label", **values))

    async def sizes_of_label(
        self, library: LockedLibrary, label_id: int, *, after: int, limit: int
    ) -> Sequence[tuple[int, int]]:
        """(number, stored bytes) of the label's bookmarks after a number."""
        values = {"label_id": label_id, "after": after, "limit": limit}
        rows = await self._of(library, "sizes_of_label", **values)
        return [(number, size) for number, size in rows]

    async def set_tags(self, library: LockedLibrary, tags: Mapping[int, bytes | None]) -> None:
        """Stores each bookmark number's tags, already encoded."""
        rows = [{"number": number, "tags": one} for number, one in tags.items()]
        await self._do_many(library, "set_tags", rows)

    async def set_flags(self, library: LockedLibrary, posts: Sequence[EditablePost]) -> None:
        rows = [
            {"number": post.number, "is_read": post.is_read, "is_archived": post.is_archived}
            for post in posts
        ]
        await self._do_many(library, "set_flags", rows)


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


# A prime. It times the number of a bookmark, which has 40 bits, fits into 63.
_MODULUS: Final = 1_000_003
_numbers: Final = msgspec.json.Decoder(list[int]).decode


class AnnotationStore(Store):
    resource = "annotations"

    async def highlight_count(self, account: Account) -> int:
        """How many passages all posts have together."""
        values = {"account_id": account.account_id, **place_values(account)}
        rows = await self._read_slowly("highlight_count", **values)
        return int(rows[0][0])

    async def not_again(self, library: Readable) -> list[int]:
        """The numbers of the posts that are not shown again as the one of a day."""
        rows = await self._of(library, "not_again")
        return _numbers(rows[0][0]) if rows else []

    async def set_not_again(self, library: Writable, numbers: Sequence[int]) -> None:
        await self._do(library, "set_not_again", numbers=msgspec.json.encode(numbers).decode())

    async def in_order_of_day(self, account: Account, day: int, limit: int) -> Sequence[int]:
        """The numbers of posts that may have a note or highlights, and may be shown again.

        `day`: a random number; each one gives another order.
        """
        left_out = await self.not_again(Readable(self._database, account.account_id))
        values = {
            "account_id": account.account_id,
            **place_values(account),
            "factor": 1 + day % (_MODULUS - 1),
            "shift": day // _MODULUS % _MODULUS,
            "modulus": _MODULUS,
            "limit": limit,
            "not_again": left_out,
        }
        return [row[0] for row in await self._read_slowly("in_order_of_day", **values)]
